/* SPDX-License-Identifier: BSD-3-Clause */
/* Of stream_mends: calls that differ, or that are refused, and what the other ranks hear of it. */
#include "stream_mends.h"

/* What ends a communicator's work on one rank does on those that it does not concern, whichever way
 * it goes. */
void told(void)
{
    char        *buf = device_new(64);
    ctran_comm_t comm = open_comm();
    int          error = CTRAN_SUCCESS;
    if (check_rank == 0) {
        EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_sendrecv_enqueue(buf, 32, CTRAN_BYTE, 0, 0, buf + 32, 8,
                                                             CTRAN_BYTE, 0, 0, comm, stream));
    }
    while (error == CTRAN_SUCCESS) {
        OK(ctran_comm_get_async_error(comm, &error));
    }
    EXPECT_EQ(CTRAN_ERR_TRUNCATE, error);
    if (check_size > 1) { /* one rank alone has nothing to do */
        EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_barrier_enqueue(comm, stream));
    }
    close_comm(&comm);
    device_free(buf);
}

static int reduce_from(const void *send, void *recv, bool scatter, ctran_comm_t comm)
{
    enum { MOST = 64 };
    ctran_count_t counts[MOST] = {0, MOST}; /* rank 0 has no result */
    return scatter
               ? ctran_reduce_scatter_enqueue(send, recv, counts, CTRAN_FLOAT, CTRAN_SUM, comm,
                                              stream)
               : ctran_allreduce_enqueue(send, recv, MOST, CTRAN_FLOAT, CTRAN_SUM, comm, stream);
}

/* The others' kernels wait in a reduction for rank 0, whose buffer no kernel can read, sent from or
 * in place: they end, and with the reason. */
void unreachable(void)
{
    static float host[64];
    float       *buf = device_new(2 * sizeof host);
    for (int scatter = 0; scatter < 2; scatter++) {
        ctran_comm_t comm = open_comm();
        int          error = CTRAN_SUCCESS;
        if (getenv("CTRAN_GPU_KERNELS") == NULL || check_size < 2) { /* else memory is copied */
            close_comm(&comm);
            break;
        }
        if (check_rank != 0) {
            OK(reduce_from(buf, buf + LEN(host), scatter, comm));
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (check_rank == 0) {
            EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION,
                      scatter ? reduce_from(CTRAN_IN_PLACE, host, true, comm)
                              : reduce_from(host, buf, false, comm));
        }
        CU(cuStreamSynchronize(stream));
        OK(ctran_comm_get_async_error(comm, &error));
        EXPECT_EQ(CTRAN_ERR_UNSUPPORTED_OPERATION, error);
        EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION, ctran_barrier_enqueue(comm, stream));
        close_comm(&comm);
    }
    device_free(buf);
}

/* A collective that one rank is refused, before its peers could see anything of it, is not taken
 * for its next: all hear of it. */
void refused_alone(void)
{
    enum { N = 1 << 20, WAYS = 2 };
    const int           last = check_size - 1;
    struct ct_gpu      *g = process()->gpu;
    struct ct_gpu_visit v;
    int                 mine;
    char               *buf = device_new(N), *host = malloc(N);
    EXPECT(host != NULL);
    EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_mine(g, &mine));
    for (int way = 0; way < WAYS && is_direct() && check_size > 1; way++) {
        const int    wanted = way == 0 ? CTRAN_ERR_UNSUPPORTED_OPERATION : CTRAN_ERR_ARG;
        ctran_comm_t comm = open_comm();
        int          error = CTRAN_SUCCESS;
        if (way == 1 && ct_gpu_count(g) < 2) {
            close_comm(&comm);
            break;
        }
        if (check_rank != last) {
            OK(ctran_bcast_enqueue(buf, N, CTRAN_BYTE, 0, comm, stream));
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (check_rank == last && way == 0) { /* memory that cannot be shared */
            EXPECT_RC(wanted, ctran_bcast_enqueue(host, N, CTRAN_BYTE, 0, comm, stream));
        } else if (check_rank == last) {
            EXPECT_EQ(CTRAN_SUCCESS, ct_gpu_enter(g, (mine + 1) % ct_gpu_count(g), &v));
            CUstream there = device_stream();
            EXPECT_RC(wanted, ctran_bcast_enqueue(buf, N, CTRAN_BYTE, 0, comm, there));
            CU(cuStreamDestroy(there));
            ct_gpu_leave(g, &v);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_comm_get_async_error(comm, &error));
        EXPECT_EQ(wanted, error);
        CU(cuStreamSynchronize(stream));
        EXPECT_RC(wanted, ctran_bcast_enqueue(buf, N, CTRAN_BYTE, 0, comm, stream));
        close_comm(&comm);
    }
    free(host);
    device_free(buf);
}

enum unlike { COUNT, OPERATOR, TYPE, ROOT, ROOT_OF_SUM, KIND, WAY, BY_COUNTS, NO_COUNTS };

/* Rank 0's call is another than the others', in one respect. */
static int call_unlike(enum unlike in, bool other, char *buf, ctran_comm_t comm)
{
    enum { BYTES = 64 };
    char *const out = buf + BYTES;
    switch (in) {
    case COUNT:
        return ctran_allgather_enqueue(buf, other ? 4 : 8, CTRAN_BYTE, out, other ? 4 : 8,
                                       CTRAN_BYTE, comm, stream);
    case ROOT:
        return ctran_bcast_enqueue(buf, 8, CTRAN_BYTE, other, comm, stream);
    case ROOT_OF_SUM:
        return ctran_reduce_enqueue(buf, out, 2, CTRAN_INT, CTRAN_SUM, other, comm, stream);
    case KIND:
        return other ? ctran_barrier_enqueue(comm, stream)
                     : ctran_bcast_enqueue(buf, 8, CTRAN_BYTE, 0, comm, stream);
    case WAY: /* by kernel, or over the host */
        return ctran_allreduce_enqueue(buf, out, 1, other ? CTRAN_LONG_DOUBLE : CTRAN_DOUBLE,
                                       CTRAN_SUM, comm, stream);
    case BY_COUNTS: /* with data, or without */
    case NO_COUNTS:
        if (other) {
            static ctran_count_t      counts[BYTES];
            static const ctran_aint_t displs[BYTES];
            counts[1] = in == BY_COUNTS ? 8 : 0;
            return ctran_alltoallv_enqueue(buf, counts, displs, CTRAN_BYTE, out, counts, displs,
                                           CTRAN_BYTE, comm, stream);
        }
        return ctran_allreduce_enqueue(buf, out, 2, CTRAN_INT, CTRAN_SUM, comm, stream);
    default:
        return ctran_allreduce_enqueue(buf, out, 2, in == TYPE && other ? CTRAN_FLOAT : CTRAN_INT,
                                       in == OPERATOR && other ? CTRAN_MAX : CTRAN_SUM, comm,
                                       stream);
    }
}

/* The others' kernels wait for rank 0, which makes another call: all hear of it. What this one
 * would have got is not written, and nowhere anything but what the others would have got. */
void unlike(void)
{
    enum { BYTES = 1024, INPUT = 64 };
    const int     mine = check_rank + 1, none = 0xee;
    unsigned char found[BYTES];
    char         *buf = device_new(BYTES);
    for (int in = COUNT; in <= NO_COUNTS && getenv("CTRAN_GPU_KERNELS") != NULL && check_size > 1;
         in++) {
        const int    wanted = in == COUNT ? CTRAN_ERR_TRUNCATE : CTRAN_ERR_OTHER;
        ctran_comm_t comm = open_comm();
        int          error = CTRAN_SUCCESS;
        device_set(buf, mine, INPUT);
        device_set(buf + INPUT, none, BYTES - INPUT);
        if (check_rank != 0) {
            OK(call_unlike(in, false, buf, comm));
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (check_rank == 0) {
            EXPECT_RC(wanted, call_unlike(in, true, buf, comm));
        }
        CU(cuStreamSynchronize(stream));
        while (error == CTRAN_SUCCESS) { /* a kernel that only sends was through before */
            OK(ctran_comm_get_async_error(comm, &error));
        }
        EXPECT_EQ(wanted, error);
        device_get(found, buf, BYTES);
        const bool in_place = in == ROOT || in == KIND; /* of a broadcast */
        const int  first = in_place ? 0 : INPUT, end = in_place ? 8 : INPUT + 8 * check_size;
        for (int i = 0; i < BYTES; i++) {
            if (check_rank == 0 || i < first || i >= end) {
                EXPECT_EQ(i < INPUT ? mine : none, found[i]);
            }
        }
        close_comm(&comm);
    }
    device_free(buf);
}

/* What is small goes by kernel, as its sender says, who comes first; but rank 1 has a collective
 * there: both hear of it, and nothing is put on rank 1's stream that is not there. */
void small_and_counted(void)
{
    enum { N = 8, MOST = 16 };
    static const ctran_count_t counts[MOST] = {N, N, N};
    static const ctran_aint_t  displs[MOST] = {0, N, 2 * N};
    const int                  none = 0xee;
    unsigned char              found[2 * MOST * N];
    char                      *buf = device_new(sizeof found);
    ctran_comm_t               comm = open_comm();
    int                        error = CTRAN_SUCCESS;
    if (!is_direct() || check_size < 2 || check_size > 3) {
        close_comm(&comm);
        device_free(buf);
        return;
    }
    device_set(buf, none, sizeof found);
    if (check_rank == 0) {
        OK(ctran_send_enqueue(buf, N, CTRAN_BYTE, 1, 0, comm, stream));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 1) {
        EXPECT_RC(CTRAN_ERR_OTHER,
                  ctran_alltoallv_enqueue(buf, counts, displs, CTRAN_BYTE, buf + MOST * N, counts,
                                          displs, CTRAN_BYTE, comm, stream));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_get_async_error(comm, &error));
    EXPECT_EQ(CTRAN_ERR_OTHER, error);
    CU(cuStreamSynchronize(stream));
    settle(); /* as the streams have said */
    device_get(found, buf, sizeof found);
    for (size_t i = 0; check_rank == 0 && i < sizeof found; i++) {
        EXPECT_EQ(none, found[i]);
    }
    close_comm(&comm);
    device_free(buf);
}

/* A rank may have nothing to move where others have: it is in step with them all the same, also
 * where it has made many calls more. */
void in_step(void)
{
    enum { N = 16, MOST = 64, TURNS = 1200 };
    static const ctran_aint_t displs[MOST];
    ctran_count_t             counts[MOST] = {0};
    ctran_comm_t              comm = open_comm();
    int                       error = CTRAN_SUCCESS, found = 0, *buf = device_new(2 * N);
    for (int turn = 0; turn < TURNS; turn++) { /* from the last rank to the first, and itself */
        const bool at_end = check_rank == 0 || check_rank == check_size - 1;
        counts[check_size - 1] = check_size > 1 ? N : 0;
        OK(ctran_gatherv_enqueue(buf, at_end && check_rank > 0 ? N : 0, CTRAN_BYTE, buf + N / 4,
                                 counts, displs, CTRAN_BYTE, 0, comm, stream));
        if (turn % 600 == 599) {
            device_put(buf, &turn, sizeof turn);
            OK(ctran_allreduce_enqueue(buf, buf + 1, 1, CTRAN_INT, CTRAN_MAX, comm, stream));
            CU(cuStreamSynchronize(stream));
            device_get(&found, buf + 1, sizeof found);
            EXPECT_EQ(turn, found);
        }
    }
    CU(cuStreamSynchronize(stream));
    OK(ctran_comm_get_async_error(comm, &error));
    EXPECT_EQ(CTRAN_SUCCESS, error);
    close_comm(&comm);
    device_free(buf);
}
