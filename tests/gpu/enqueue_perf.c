/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long stream-ordered calls take: each in a loop, enqueued one after the other, and captured
 * into a graph that is replayed. Prints microseconds and bus bandwidth, as nccl-tests count it.
 *
 *   ctranrun -n 2 enqueue_perf [-b MIN] [-e MAX] [-i LOOPS] [-o OP,...]
 *
 * Bytes are what one rank gives: of the send buffer for sendrecv, allgather and bcast, of each
 * block for alltoall, of the vector for allreduce. The results are looked at once for each size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../func/gpu.h"

enum { IN_GRAPH = 10, WARM = 4 };

static int      rank, size;
static char    *from, *to;
static CUstream stream;

static void must(const char *what, int rc)
{
    if (rc != CTRAN_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, rc);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static int sendrecv(size_t n)
{
    return ctran_sendrecv_enqueue(from, (ctran_count_t)n, CTRAN_BYTE, (rank + 1) % size, 1, to,
                                  (ctran_count_t)n, CTRAN_BYTE, (rank + size - 1) % size, 1,
                                  CTRAN_COMM_WORLD, stream);
}

static int allgather(size_t n)
{
    return ctran_allgather_enqueue(from, (ctran_count_t)n, CTRAN_BYTE, to, (ctran_count_t)n,
                                   CTRAN_BYTE, CTRAN_COMM_WORLD, stream);
}

static int alltoall(size_t n)
{
    return ctran_alltoall_enqueue(from, (ctran_count_t)n, CTRAN_BYTE, to, (ctran_count_t)n,
                                  CTRAN_BYTE, CTRAN_COMM_WORLD, stream);
}

static int bcast(size_t n)
{
    return ctran_bcast_enqueue(rank == 0 ? from : to, (ctran_count_t)n, CTRAN_BYTE, 0,
                               CTRAN_COMM_WORLD, stream);
}

static int allreduce(size_t n)
{
    return ctran_allreduce_enqueue(from, to, (ctran_count_t)(n / sizeof(float)), CTRAN_FLOAT,
                                   CTRAN_SUM, CTRAN_COMM_WORLD, stream);
}

static int reduce_scatter(size_t n)
{
    return ctran_reduce_scatter_block_enqueue(from, to, (ctran_count_t)(n / sizeof(float)),
                                              CTRAN_FLOAT, CTRAN_SUM, CTRAN_COMM_WORLD, stream);
}

static int barrier(size_t n)
{
    (void)n;
    return ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream);
}

static const struct op {
    const char *name;
    int (*call)(size_t n);
    bool blocks_in, blocks_out; /* buffers hold a block for each rank */
    bool sums;                  /* contents are not copied */
} ops[] = {
    {"sendrecv", sendrecv, false, false, false},
    {"allgather", allgather, false, true, false},
    {"alltoall", alltoall, true, true, false},
    {"bcast", bcast, false, false, false},
    {"barrier", barrier, false, false, true},
    {"allreduce", allreduce, false, false, true},
    {"reduce_scatter", reduce_scatter, true, false, true},
};

/* What a link carries for each second, over the time of the operation. */
static double bus_bytes(const struct op *op, size_t n)
{
    if (op->call == allgather || op->call == alltoall || op->call == reduce_scatter) {
        return (double)n * (size - 1);
    }
    return op->call == allreduce ? 2.0 * (double)n * (size - 1) / size : (double)n;
}

/* ---- contents -------------------------------------------------------------------------------- */

static void look_at(const struct op *op, size_t n)
{
    char first, last;
    for (int r = 0; r < (op->blocks_out ? size : 1) && n > 0; r++) {
        const int want = op->call == sendrecv ? (rank + size - 1) % size
                         : op->call == bcast  ? 0
                                              : r;
        if (op->call == bcast && rank == 0) {
            return;
        }
        device_get(&first, to + (size_t)r * n, 1);
        device_get(&last, to + (size_t)r * n + n - 1, 1);
        if (first != (char)(want + 1) || last != (char)(want + 1)) {
            fprintf(stderr, "%s of %zu bytes: rank %d has %d and %d of rank %d\n", op->name, n,
                    rank, first, last, want);
            ctran_abort(CTRAN_COMM_WORLD, 1);
        }
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double longest(double us)
{
    double all;
    must("allreduce", ctran_allreduce(&us, &all, 1, CTRAN_DOUBLE, CTRAN_MAX, CTRAN_COMM_WORLD));
    return all;
}

static double eager(const struct op *op, size_t n, int loops, double *enqueue_us)
{
    for (int i = 0; i < WARM; i++) {
        must(op->name, op->call(n));
    }
    CU(cuStreamSynchronize(stream));
    must("barrier", ctran_barrier(CTRAN_COMM_WORLD));
    const double start = now_us();
    for (int i = 0; i < loops; i++) {
        must(op->name, op->call(n));
    }
    *enqueue_us = (now_us() - start) / loops;
    CU(cuStreamSynchronize(stream));
    return longest((now_us() - start) / loops);
}

static double replayed(const struct op *op, size_t n, int loops)
{
    CUgraph     graph;
    CUgraphExec exec;
    loops = loops / IN_GRAPH > 0 ? loops / IN_GRAPH : 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < IN_GRAPH; i++) {
        must(op->name, op->call(n));
    }
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    must("barrier", ctran_barrier(CTRAN_COMM_WORLD));
    const double start = now_us();
    for (int i = 0; i < loops; i++) {
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    const double us = longest((now_us() - start) / loops / IN_GRAPH);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    return us;
}

static void measure(const struct op *op, size_t n, int loops)
{
    const size_t in = n * (size_t)(op->blocks_in ? size : 1);
    const size_t out = n * (size_t)(op->blocks_out ? size : 1);
    double       enqueue_us;
    from = device_new(in);
    to = device_new(out);
    device_set(from, rank + 1, in);
    device_set(to, 0, out);
    const double us = eager(op, n, loops, &enqueue_us);
    if (!op->sums) {
        look_at(op, n);
    }
    const double graph_us = replayed(op, n, loops);
    if (rank == 0) {
        printf("%-14s %12zu %10.2f %10.2f %9.2f %9.2f %9.2f\n", op->name, n, us, graph_us,
               enqueue_us, bus_bytes(op, n) / us / 1e3, bus_bytes(op, n) / graph_us / 1e3);
        fflush(stdout);
    }
    must("barrier", ctran_barrier(CTRAN_COMM_WORLD)); /* nobody reads it any more */
    device_free(from);
    device_free(to);
}

static bool wanted(const char *list, const char *name)
{
    const char  *at = list;
    const size_t len = strlen(name);
    while (list != NULL && (at = strstr(at, name)) != NULL) {
        if ((at == list || at[-1] == ',') && (at[len] == '\0' || at[len] == ',')) {
            return true;
        }
        at += len;
    }
    return list == NULL;
}

int main(int argc, char **argv)
{
    size_t      least = 8, most = 256 << 20;
    int         loops = 100, c;
    const char *list = "sendrecv,allgather,alltoall,bcast";
    while ((c = getopt(argc, argv, "b:e:i:o:")) != -1) {
        switch (c) {
        case 'b':
            least = strtoull(optarg, NULL, 0);
            break;
        case 'e':
            most = strtoull(optarg, NULL, 0);
            break;
        case 'i':
            loops = atoi(optarg);
            break;
        case 'o':
            list = optarg;
            break;
        default:
            fprintf(stderr, "usage: %s [-b MIN] [-e MAX] [-i LOOPS] [-o OP,...]\n", argv[0]);
            return 2;
        }
    }
    must("init", ctran_init(&argc, &argv));
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    if (!device_open()) {
        ctran_finalize();
        return 77;
    }
    stream = device_stream();
    if (rank == 0) {
        printf(
            "# %d ranks; bytes a rank, us eager, us in a graph, us to enqueue, GB/s eager, graph\n",
            size);
    }
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        for (size_t n = least; n <= most && wanted(list, ops[i].name); n *= n < 1 << 20 ? 8 : 4) {
            measure(&ops[i], n, n >= 64 << 20 ? loops / 5 + 1 : loops);
            if (n == 0 || ops[i].call == barrier) {
                break;
            }
        }
    }
    CU(cuStreamDestroy(stream));
    device_close();
    ctran_finalize();
    return 0;
}
