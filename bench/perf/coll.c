/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.c - the collectives, one call after the other without a barrier between them. Where there is
 * a root it goes round the ranks, so that no rank can run ahead: with a fixed root a broadcast
 * would be a stream, and its time that of a send.
 *
 * `bytes` is one rank's block, as in the well-known tests: a message of bcast and the reductions, a
 * block of the others. The reductions add floats. What each call moves, for the check of its data,
 * is said by the flags of the table.
 */
#include "perf.h"

#define COUNT(job)  ((int)(job)->bytes)
#define FLOATS(job) ((int)((job)->bytes / sizeof(float)))

static int root_of(const struct perf_job *job, long i)
{
    return (int)((job->root + i) % job->size);
}

static void barrier(const struct perf_job *job, long iterations)
{
    (void)job;
    for (long i = 0; i < iterations; i++) {
        ctran_barrier(CTRAN_COMM_WORLD);
    }
}

static void bcast(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        int root = root_of(job, i);
        ctran_bcast(root == job->rank ? job->sbuf : job->rbuf, COUNT(job), CTRAN_BYTE, root,
                    CTRAN_COMM_WORLD);
    }
}

static void gather(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_gather(job->sbuf, COUNT(job), CTRAN_BYTE, job->rbuf, COUNT(job), CTRAN_BYTE,
                     root_of(job, i), CTRAN_COMM_WORLD);
    }
}

static void gatherv(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_gatherv(job->sbuf, COUNT(job), CTRAN_BYTE, job->rbuf, job->counts, job->displs,
                      CTRAN_BYTE, root_of(job, i), CTRAN_COMM_WORLD);
    }
}

static void scatter(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_scatter(job->sbuf, COUNT(job), CTRAN_BYTE, job->rbuf, COUNT(job), CTRAN_BYTE,
                      root_of(job, i), CTRAN_COMM_WORLD);
    }
}

static void scatterv(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_scatterv(job->sbuf, job->counts, job->displs, CTRAN_BYTE, job->rbuf, COUNT(job),
                       CTRAN_BYTE, root_of(job, i), CTRAN_COMM_WORLD);
    }
}

static void allgather(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_allgather(job->sbuf, COUNT(job), CTRAN_BYTE, job->rbuf, COUNT(job), CTRAN_BYTE,
                        CTRAN_COMM_WORLD);
    }
}

static void allgatherv(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_allgatherv(job->sbuf, COUNT(job), CTRAN_BYTE, job->rbuf, job->counts, job->displs,
                         CTRAN_BYTE, CTRAN_COMM_WORLD);
    }
}

static void alltoall(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_alltoall(job->sbuf, COUNT(job), CTRAN_BYTE, job->rbuf, COUNT(job), CTRAN_BYTE,
                       CTRAN_COMM_WORLD);
    }
}

static void alltoallv(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_alltoallv(job->sbuf, job->counts, job->displs, CTRAN_BYTE, job->rbuf, job->counts,
                        job->displs, CTRAN_BYTE, CTRAN_COMM_WORLD);
    }
}

static void reduce(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_reduce(job->sbuf, job->rbuf, FLOATS(job), CTRAN_FLOAT, CTRAN_SUM, root_of(job, i),
                     CTRAN_COMM_WORLD);
    }
}

static void allreduce(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_allreduce(job->sbuf, job->rbuf, FLOATS(job), CTRAN_FLOAT, CTRAN_SUM,
                        CTRAN_COMM_WORLD);
    }
}

static void reduce_scatter_block(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_reduce_scatter_block(job->sbuf, job->rbuf, FLOATS(job), CTRAN_FLOAT, CTRAN_SUM,
                                   CTRAN_COMM_WORLD);
    }
}

static void reduce_scatter(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_reduce_scatter(job->sbuf, job->rbuf, job->counts, CTRAN_FLOAT, CTRAN_SUM,
                             CTRAN_COMM_WORLD);
    }
}

static void scan(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_scan(job->sbuf, job->rbuf, FLOATS(job), CTRAN_FLOAT, CTRAN_SUM, CTRAN_COMM_WORLD);
    }
}

static void exscan(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_exscan(job->sbuf, job->rbuf, FLOATS(job), CTRAN_FLOAT, CTRAN_SUM, CTRAN_COMM_WORLD);
    }
}

/* clang-format off */
const struct perf_pattern perf_coll[] = {
    {.name = "barrier", .share = 1, .run = barrier, .sizeless = true},
    {.name = "bcast", .share = 1, .run = bcast, .rooted = true},
    {.name = "gather", .share = 1, .run = gather, .rooted = true, .recv_all = true,
     .to_root = true},
    {.name = "gatherv", .share = 1, .run = gatherv, .rooted = true, .recv_all = true,
     .to_root = true},
    {.name = "scatter", .share = 1, .run = scatter, .rooted = true, .send_all = true},
    {.name = "scatterv", .share = 1, .run = scatterv, .rooted = true, .send_all = true},
    {.name = "allgather", .share = 1, .run = allgather, .recv_all = true},
    {.name = "allgatherv", .share = 1, .run = allgatherv, .recv_all = true},
    {.name = "alltoall", .share = 1, .run = alltoall, .send_all = true, .recv_all = true},
    {.name = "alltoallv", .share = 1, .run = alltoallv, .send_all = true, .recv_all = true},
    {.name = "reduce", .share = 1, .run = reduce, .rooted = true, .to_root = true,
     .combine = PERF_ALL},
    {.name = "allreduce", .share = 1, .run = allreduce, .combine = PERF_ALL},
    {.name = "reduce_scatter_block", .share = 1, .run = reduce_scatter_block, .send_all = true,
     .combine = PERF_ALL},
    {.name = "reduce_scatter", .share = 1, .run = reduce_scatter, .send_all = true,
     .combine = PERF_ALL},
    {.name = "scan", .share = 1, .run = scan, .combine = PERF_PREFIX},
    {.name = "exscan", .share = 1, .run = exscan, .combine = PERF_BEFORE},
    {.name = NULL},
};
/* clang-format on */
