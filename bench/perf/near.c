/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * near.c - exchanges with the neighbours on a closed grid of two dimensions, as nearly square as
 * the number of ranks allows: a block to and from each of four, one call after the other. As the
 * collective of neighbours, and as the same messages posted by hand, with the direction as tag. On
 * few ranks some neighbours are the rank itself, as in programs.
 */
#include "perf.h"

bool perf_near_open(struct perf_job *job)
{
    int dims[2] = {0, 0}, closed[2] = {1, 1}, *near = job->near;
    return ctran_dims_create(job->size, 2, dims) == CTRAN_SUCCESS &&
           ctran_cart_create(CTRAN_COMM_WORLD, 2, dims, closed, 0, &job->grid) == CTRAN_SUCCESS &&
           ctran_cart_shift(job->grid, 0, 1, &near[0], &near[1]) == CTRAN_SUCCESS &&
           ctran_cart_shift(job->grid, 1, 1, &near[2], &near[3]) == CTRAN_SUCCESS;
}

void perf_near_close(struct perf_job *job)
{
    ctran_comm_free(&job->grid);
}

static void neighbor_alltoall(const struct perf_job *job, long iterations)
{
    for (long i = 0; i < iterations; i++) {
        ctran_neighbor_alltoall(job->sbuf, (int)job->bytes, CTRAN_BYTE, job->rbuf, (int)job->bytes,
                                CTRAN_BYTE, job->grid);
    }
}

static void by_hand(const struct perf_job *job, long iterations)
{
    ctran_request_t requests[2 * PERF_NEAR];
    for (long i = 0; i < iterations; i++) {
        for (int b = 0; b < PERF_NEAR; b++) {
            ctran_irecv(job->rbuf + (size_t)b * job->bytes, (int)job->bytes, CTRAN_BYTE,
                        job->near[b], perf_back(b), job->grid, &requests[b]);
        }
        for (int b = 0; b < PERF_NEAR; b++) {
            ctran_isend(job->sbuf + (size_t)b * job->bytes, (int)job->bytes, CTRAN_BYTE,
                        job->near[b], b, job->grid, &requests[PERF_NEAR + b]);
        }
        ctran_waitall(2 * PERF_NEAR, requests, CTRAN_STATUSES_IGNORE);
    }
}

/* clang-format off */
const struct perf_pattern perf_near[] = {
    {.name = "neighbor_alltoall", .share = 1, .run = neighbor_alltoall, .near = true},
    {.name = "neighbor_by_hand", .share = 1, .run = by_hand, .near = true},
    {.name = NULL},
};
/* clang-format on */
