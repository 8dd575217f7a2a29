/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stream-ordered calls on any number of ranks: each collective and message against what its ranks
 * have put in, groups, order over streams, graphs that are replayed with new contents.
 */
#include "check.h"
#include "gpu.h"

enum { BIG = 1100000 }; /* long enough for several streams */

static CUstream stream;

/* ---- buffers: words that say who sent them, for whom, and in which round --------------------- */

static void *host;

static void fill(void *device, size_t bytes, uint64_t key)
{
    content_fill(host, bytes, key);
    device_put(device, host, bytes);
}

static void look(const void *device, size_t bytes, uint64_t key)
{
    device_get(host, device, bytes);
    EXPECT_CONTENT(host, bytes, key);
}

static const size_t sizes[] = {0, 8, 1000, 65536, BIG};

/* ---- collectives, by the block --------------------------------------------------------------- */

/* What block `at` of rank `who` holds. */
static uint64_t key(int who, int at, int round)
{
    return key_of(who, at, 7, round);
}

struct buffers {
    char  *from, *to; /* a block for each rank */
    size_t n;
};

static char *at(char *buf, const struct buffers *b, int r)
{
    return buf + (size_t)r * b->n;
}

static void open_buffers(struct buffers *b, size_t n)
{
    b->n = n;
    b->from = device_new(n * (size_t)check_size);
    b->to = device_new(n * (size_t)check_size);
    device_set(b->to, 0xee, n * (size_t)check_size);
}

static void fill_blocks(const struct buffers *b, int round)
{
    for (int r = 0; r < check_size; r++) {
        fill(at(b->from, b, r), b->n, key(check_rank, r, round));
    }
}

/* Nobody frees what another may still read. */
static void close_buffers(struct buffers *b)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    device_free(b->from);
    device_free(b->to);
}

enum what { ALLGATHER, ALLTOALL, BCAST, GATHER, SCATTER, RING, WHATS };

static void enqueue(enum what what, const struct buffers *b, int root, ctran_comm_t comm,
                    CUstream on)
{
    const ctran_count_t n = (ctran_count_t)b->n;
    const int           right = (check_rank + 1) % check_size;
    const int           left = (check_rank + check_size - 1) % check_size;
    switch (what) {
    case ALLGATHER:
        OK(ctran_allgather_enqueue(b->from, n, CTRAN_BYTE, b->to, n, CTRAN_BYTE, comm, on));
        break;
    case ALLTOALL:
        OK(ctran_alltoall_enqueue(b->from, n, CTRAN_BYTE, b->to, n, CTRAN_BYTE, comm, on));
        break;
    case BCAST:
        OK(ctran_bcast_enqueue(check_rank == root ? b->from : b->to, n, CTRAN_BYTE, root, comm,
                               on));
        break;
    case GATHER:
        OK(ctran_gather_enqueue(b->from, n, CTRAN_BYTE, b->to, n, CTRAN_BYTE, root, comm, on));
        break;
    case SCATTER:
        OK(ctran_scatter_enqueue(b->from, n, CTRAN_BYTE, b->to, n, CTRAN_BYTE, root, comm, on));
        break;
    default:
        OK(ctran_sendrecv_enqueue(b->from, n, CTRAN_BYTE, right, 3, b->to, n, CTRAN_BYTE, left,
                                  CTRAN_ANY_TAG, comm, on));
        break;
    }
}

static void verify(enum what what, const struct buffers *b, int root, int round)
{
    const int left = (check_rank + check_size - 1) % check_size;
    for (int r = 0; r < check_size; r++) {
        if (what == ALLGATHER || (what == GATHER && check_rank == root)) {
            look(at(b->to, b, r), b->n, key(r, 0, round));
        } else if (what == ALLTOALL) {
            look(at(b->to, b, r), b->n, key(r, check_rank, round));
        }
    }
    if (what == BCAST && check_rank != root) {
        look(b->to, b->n, key(root, 0, round));
    } else if (what == SCATTER) {
        look(b->to, b->n, key(root, check_rank, round));
    } else if (what == RING) {
        look(b->to, b->n, key(left, 0, round));
    }
}

static void collectives(void)
{
    for (size_t i = 0; i < LEN(sizes); i++) {
        for (int what = 0; what < WHATS; what++) {
            struct buffers b;
            const int      root = (what + (int)i) % check_size;
            open_buffers(&b, sizes[i]);
            fill_blocks(&b, what);
            enqueue(what, &b, root, CTRAN_COMM_WORLD, stream);
            CU(cuStreamSynchronize(stream));
            verify(what, &b, root, what);
            close_buffers(&b);
        }
    }
}

static void in_place(void)
{
    struct buffers b;
    open_buffers(&b, 5000);
    fill_blocks(&b, 1);
    CU(cuMemcpyAsync((CUdeviceptr)at(b.to, &b, check_rank), (CUdeviceptr)b.from, b.n, stream));
    OK(ctran_allgather_enqueue(CTRAN_IN_PLACE, 0, CTRAN_DATATYPE_NULL, b.to, (ctran_count_t)b.n,
                               CTRAN_BYTE, CTRAN_COMM_WORLD, stream));
    CU(cuStreamSynchronize(stream));
    verify(ALLGATHER, &b, 0, 1);
    close_buffers(&b);
}

/* Blocks of r * 100 bytes to rank r's left and so on: lengths differ, some are empty. */
static void counted(void)
{
    ctran_count_t send[64], recv[64];
    ctran_aint_t  at_send[64], at_recv[64], end[2] = {0, 0};
    for (int r = 0; r < check_size; r++) {
        send[r] = 100 * ((check_rank + 2 * r) % 5);
        recv[r] = 100 * ((r + 2 * check_rank) % 5);
        at_send[r] = end[0];
        at_recv[r] = end[1] + 16;
        end[0] += (ctran_aint_t)send[r];
        end[1] += (ctran_aint_t)recv[r] + 16;
    }
    char *from = device_new((size_t)end[0]), *to = device_new((size_t)end[1]);
    for (int r = 0; r < check_size; r++) {
        fill(from + at_send[r], (size_t)send[r], key(check_rank, r, 2));
    }
    OK(ctran_alltoallv_enqueue(from, send, at_send, CTRAN_BYTE, to, recv, at_recv, CTRAN_BYTE,
                               CTRAN_COMM_WORLD, stream));
    CU(cuStreamSynchronize(stream));
    for (int r = 0; r < check_size; r++) {
        look(to + at_recv[r], (size_t)recv[r], key(r, check_rank, 2));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    device_free(from);
    device_free(to);
}

/* A communicator's first call, to which one rank has nothing to give. */
static void nothing(void)
{
    enum { N = 100 };
    const int     idle = check_size - 1;
    ctran_count_t n = check_rank == idle ? 0 : N, counts[64];
    ctran_aint_t  at_recv[64];
    ctran_comm_t  comm;
    char         *from = device_new(N), *to = device_new(N * (size_t)check_size);
    for (int r = 0; r < check_size; r++) {
        counts[r] = r == idle ? 0 : N;
        at_recv[r] = (ctran_aint_t)r * N;
    }
    fill(from, N, key(check_rank, 0, 5));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_gatherv_enqueue(from, n, CTRAN_BYTE, to, counts, at_recv, CTRAN_BYTE, 0, comm,
                             stream));
    CU(cuStreamSynchronize(stream));
    for (int r = 0; check_rank == 0 && r < check_size; r++) {
        look(to + at_recv[r], (size_t)counts[r], key(r, 0, 5));
    }
    OK(ctran_barrier(comm));
    OK(ctran_comm_free(&comm));
    device_free(from);
    device_free(to);
}

/* ---- reductions ------------------------------------------------------------------------------ */

static void reductions(void)
{
    enum { N = 5000 };
    int *all = malloc(sizeof(int) * N * (size_t)check_size);
    int *from = device_new(sizeof(int) * N * (size_t)check_size), *to = device_new(sizeof(int) * N);
    EXPECT(all != NULL);
    for (int i = 0; i < N * check_size; i++) {
        all[i] = i % 1000 + check_rank;
    }
    device_put(from, all, sizeof(int) * N * (size_t)check_size);
    const int ranks = check_size * (check_size - 1) / 2;
    OK(ctran_allreduce_enqueue(from, to, N, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD, stream));
    CU(cuStreamSynchronize(stream));
    device_get(all, to, sizeof(int) * N);
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(i % 1000 * check_size + ranks, all[i]);
    }
    OK(ctran_reduce_scatter_block_enqueue(from, to, N, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD,
                                          stream));
    CU(cuStreamSynchronize(stream));
    device_get(all, to, sizeof(int) * N);
    for (int i = 0; i < N; i++) {
        EXPECT_EQ((check_rank * N + i) % 1000 * check_size + ranks, all[i]);
    }
    OK(ctran_scan_enqueue(from, to, N, CTRAN_INT, CTRAN_MAX, CTRAN_COMM_WORLD, stream));
    OK(ctran_reduce_enqueue(check_rank == 0 ? CTRAN_IN_PLACE : to, to, N, CTRAN_INT, CTRAN_MIN, 0,
                            CTRAN_COMM_WORLD, stream));
    CU(cuStreamSynchronize(stream));
    device_get(all, to, sizeof(int) * N);
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(i % 1000 + (check_rank == 0 ? 0 : check_rank), all[i]);
    }
    device_free(from);
    device_free(to);
    free(all);
}

/* A kernel that nobody has used before is enqueued while another stream waits for a peer, which
 * sends only when that call has returned everywhere. */
static void first_use(void)
{
    enum { N = 100 };
    const bool   receives = check_rank % 2 == 0 && check_rank + 1 < check_size;
    const bool   sends = check_rank % 2 == 1;
    int16_t     *from = device_new(sizeof(int16_t) * N), *to = device_new(sizeof(int16_t) * N);
    char        *buf = device_new(N);
    CUstream     other = device_stream();
    ctran_comm_t comm;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_barrier_enqueue(comm, stream));
    OK(ctran_barrier_enqueue(CTRAN_COMM_WORLD, other));
    fill(buf, N, key(check_rank, 0, 8));
    device_set(from, check_rank + 1, sizeof(int16_t) * N);
    if (receives) {
        OK(ctran_recv_enqueue(buf, N, CTRAN_BYTE, check_rank + 1, 0, CTRAN_COMM_WORLD, other));
    }
    OK(ctran_allreduce_enqueue(from, to, N, CTRAN_INT16_T, CTRAN_MAX, comm, stream));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (sends) {
        OK(ctran_send_enqueue(buf, N, CTRAN_BYTE, check_rank - 1, 0, CTRAN_COMM_WORLD, other));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuStreamSynchronize(other));
    look(buf, N, key(receives ? check_rank + 1 : check_rank, 0, 8));
    int16_t most[N];
    device_get(most, to, sizeof most);
    EXPECT_EQ(check_size * 0x101, most[N - 1]);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&comm));
    CU(cuStreamDestroy(other));
    device_free(from);
    device_free(to);
    device_free(buf);
}

/* ---- messages, groups ------------------------------------------------------------------------ */

/* Each to each, several at once, lengths that differ; more than an operation has lanes. */
static void groups(void)
{
    enum { EACH = 11, N = 3000 };
    char *from = device_new(N * EACH * (size_t)check_size);
    char *to = device_new(N * EACH * (size_t)check_size);
    for (int r = 0; r < check_size * EACH; r++) {
        fill(from + r * N, (size_t)N - (size_t)r, key(check_rank, r, 3));
    }
    OK(ctran_group_start());
    for (int k = 0; k < EACH; k++) {
        for (int i = 0; i < check_size; i++) {
            const int r = (check_rank + i) % check_size, out = r * EACH + k;
            OK(ctran_send_enqueue(from + out * N, N - out, CTRAN_BYTE, r, k, CTRAN_COMM_WORLD,
                                  stream));
            OK(ctran_recv_enqueue(to + out * N, N, CTRAN_BYTE, r, k, CTRAN_COMM_WORLD, stream));
        }
    }
    OK(ctran_group_end());
    CU(cuStreamSynchronize(stream));
    for (int r = 0; r < check_size; r++) {
        for (int k = 0; k < EACH; k++) {
            const int in = check_rank * EACH + k;
            look(to + (r * EACH + k) * N, (size_t)(N - in), key(r, in, 3));
        }
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    device_free(from);
    device_free(to);
}

/* A receive for more than what comes: what is behind the message stays. */
static void too_long(void)
{
    enum { N = 5000, MORE = 100000 };
    const int     left = (check_rank + check_size - 1) % check_size;
    const int     right = (check_rank + 1) % check_size;
    char         *from = device_new(MORE), *to = device_new(MORE);
    unsigned char all[MORE];
    fill(from, MORE, key(check_rank, 0, 6));
    for (int n = MORE; n >= N; n -= MORE - N) { /* what is staged has been used before */
        device_set(to, 0xee, MORE);
        OK(ctran_sendrecv_enqueue(from, n, CTRAN_BYTE, right, 3, to, MORE, CTRAN_BYTE, left, 3,
                                  CTRAN_COMM_WORLD, stream));
        CU(cuStreamSynchronize(stream));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    look(to, N, key(left, 0, 6));
    device_get(all, to, MORE);
    for (int i = N; i < MORE; i++) {
        EXPECT_EQ(0xee, all[i]);
    }
    device_free(from);
    device_free(to);
}

/* A message of an operation that its peer reaches only when another one of it is over: rank 0
 * exchanges at once what 1 and 2 do one after the other. */
static void chains(void)
{
    enum { N = 2000 };
    if (check_size < 3 || check_rank > 2) {
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        return;
    }
    char *from = device_new(N), *to = device_new(N);
    for (int round = 0; round < 20; round++) {
        fill(from, N, key(check_rank, 0, round));
        if (check_rank == 0) {
            OK(ctran_sendrecv_enqueue(from, N, CTRAN_BYTE, 1, 0, to, N, CTRAN_BYTE, 2, 0,
                                      CTRAN_COMM_WORLD, stream));
        } else {
            OK(ctran_recv_enqueue(to, N, CTRAN_BYTE, check_rank - 1, 0, CTRAN_COMM_WORLD, stream));
            OK(ctran_send_enqueue(from, N, CTRAN_BYTE, (check_rank + 1) % 3, 0, CTRAN_COMM_WORLD,
                                  stream));
        }
        CU(cuStreamSynchronize(stream));
        look(to, N, key((check_rank + 2) % 3, 0, round));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    device_free(from);
    device_free(to);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* What one stream receives the next call, on another stream, sends: in the order of the calls. */
static void streams(void)
{
    enum { N = 40000, STEPS = 24 };
    const int left = (check_rank + check_size - 1) % check_size;
    const int right = (check_rank + 1) % check_size;
    CUstream  on[3] = {stream, device_stream(), device_stream()};
    char     *bufs[STEPS + 1];
    for (int i = 0; i <= STEPS; i++) {
        bufs[i] = device_new(N);
    }
    fill(bufs[0], N, key(check_rank, 0, 4));
    for (int i = 0; i < STEPS; i++) {
        OK(ctran_sendrecv_enqueue(bufs[i], N, CTRAN_BYTE, right, i, bufs[i + 1], N, CTRAN_BYTE,
                                  left, i, CTRAN_COMM_WORLD, on[i % 3]));
    }
    for (int i = 0; i < 3; i++) {
        CU(cuStreamSynchronize(on[i]));
    }
    look(bufs[STEPS], N, key(((check_rank - STEPS) % check_size + check_size) % check_size, 0, 4));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int i = 0; i <= STEPS; i++) {
        device_free(bufs[i]);
    }
    CU(cuStreamDestroy(on[1]));
    CU(cuStreamDestroy(on[2]));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void replay(enum what what, size_t n, int times)
{
    struct buffers b;
    CUgraph        graph;
    CUgraphExec    exec, second;
    open_buffers(&b, n);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    enqueue(what, &b, 0, CTRAN_COMM_WORLD, stream);
    enqueue(ALLGATHER, &(struct buffers){at(b.to, &b, check_rank), b.from, b.n}, 0,
            CTRAN_COMM_WORLD, stream);
    enqueue(what, &b, 0, CTRAN_COMM_WORLD, stream);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU_REFUSES(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
    for (int i = 0; i < times; i++) {
        CU(cuGraphLaunch(exec, stream));
        if (i % 100 == 7) { /* between replays all else goes on, too */
            OK(ctran_barrier_enqueue(CTRAN_COMM_WORLD, stream));
        }
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    close_buffers(&b);
}

/* The contents of each replay. */
static void replay_contents(enum what what, size_t n, int times)
{
    struct buffers b;
    CUgraph        graph;
    CUgraphExec    exec;
    open_buffers(&b, n);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    enqueue(what, &b, 0, CTRAN_COMM_WORLD, stream);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++) {
        fill_blocks(&b, i);
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        verify(what, &b, 0, i);
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    close_buffers(&b);
}

static void graphs(void)
{
    const int times = (int)size_setting("CT_REPLAYS", 50);
    for (int what = 0; what < WHATS; what++) {
        replay_contents(what, 3000, times / 5 + 1);
    }
    replay(RING, 4096, times);
    replay(ALLTOALL, 64, times);
}

static void captured_reduction(void)
{
    enum { N = 1000 };
    int         host_in[N], host_out[N];
    int        *from = device_new(sizeof host_in), *to = device_new(sizeof host_in);
    CUgraph     graph;
    CUgraphExec exec;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(ctran_allreduce_enqueue(from, to, N, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++) {
            host_in[i] = i * round + check_rank;
        }
        device_put(from, host_in, sizeof host_in);
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        device_get(host_out, to, sizeof host_out);
        for (int i = 0; i < N; i++) {
            EXPECT_EQ(i * round * check_size + check_size * (check_size - 1) / 2, host_out[i]);
        }
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    device_free(from);
    device_free(to);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void arguments(void)
{
    char        *buf = device_new(64);
    ctran_comm_t mine;
    int          error = -1;
    OK(ctran_comm_dup(CTRAN_COMM_SELF, &mine));
    OK(ctran_comm_set_errhandler(mine, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_RANK,
              ctran_recv_enqueue(buf, 8, CTRAN_BYTE, CTRAN_ANY_SOURCE, 0, mine, stream));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_send_enqueue(buf, 8, CTRAN_BYTE, 0, 0, mine, stream));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_send_enqueue(buf, 8, CTRAN_BYTE, 0, -5, mine, stream));
    EXPECT_RC(CTRAN_ERR_ROOT, ctran_bcast_enqueue(buf, 8, CTRAN_BYTE, 1, mine, stream));
    EXPECT_RC(
        CTRAN_ERR_UNSUPPORTED_OPERATION,
        ctran_alltoall_enqueue(CTRAN_IN_PLACE, 0, CTRAN_BYTE, buf, 8, CTRAN_BYTE, mine, stream));
    OK(ctran_send_enqueue(buf, 8, CTRAN_BYTE, CTRAN_PROC_NULL, 0, mine, stream));
    OK(ctran_sendrecv_enqueue(buf, 8, CTRAN_BYTE, 0, 0, buf + 32, 8, CTRAN_BYTE, 0, 0, mine,
                              stream));
    CU(cuStreamSynchronize(stream));
    OK(ctran_comm_get_async_error(mine, &error));
    EXPECT_EQ(CTRAN_SUCCESS, error);
    OK(ctran_comm_free(&mine));
    device_free(buf);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"arguments", arguments},
        {"first_use", first_use},
        {"collectives", collectives},
        {"in_place", in_place},
        {"counted", counted},
        {"nothing", nothing},
        {"short", too_long},
        {"groups", groups},
        {"chains", chains},
        {"streams", streams},
        {"graphs", graphs},
        {"reductions", reductions},
        {"captured", captured_reduction},
    };
    check_start(argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    host = malloc(BIG);
    EXPECT(host != NULL);
    check_run(subjects, LEN(subjects));
    free(host);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
