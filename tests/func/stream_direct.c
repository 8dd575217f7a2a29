/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stream-ordered calls by kernels that work on the ranks' own buffers: collectives and messages of
 * the lengths for which ranks gather, of all kinds, at odd places, in place, in graphs, together
 * with others; what does not go this way; and their end when a rank dies. CTRAN_STREAM_STAY makes
 * ranks wait for each other, so that it is known which calls go this way; with the argument "apart"
 * they need not, and each goes as it happens. With "die" rank 1 ends in the middle.
 */
#include <unistd.h>

#include "check.h"
#include "gpu.h"

#include "api/api.h"
#include "stream/context.h"

enum { MOST_RANKS = 8, BLOCK = 800 << 10, SPARE = 64, ROOM = 2 * MOST_RANKS * (BLOCK + SPARE) };

static CUstream       stream;
static bool           apart;
static ctran_comm_t   comm;
static unsigned char *host;
static char          *from, *to; /* of ROOM bytes */

static unsigned char value(int key, int rank, size_t i)
{
    return (unsigned char)(mix((uint64_t)key * 64 + (uint64_t)rank) >> (8 * (i % 8)) ^ i * 13 ^
                           i >> 9);
}

static void fill(char *at, size_t n, int key, int rank, size_t first)
{
    for (size_t i = 0; i < n; i++) {
        host[i] = value(key, rank, first + i);
    }
    device_put(at, host, n);
}

static void look(const char *at, size_t n, int key, int rank, size_t first)
{
    device_get(host, at, n);
    for (size_t i = 0; i < n; i++) {
        if (host[i] != value(key, rank, first + i)) {
            EXPECT_EQ(value(key, rank, first + i), host[i]);
            return;
        }
    }
}

/* Operations that went this way so far. */
static uint64_t direct(void)
{
    struct ct_comm *c;
    OK(ct_check_comm("stream_direct", comm, &c));
    return c->stream->direct_ops;
}

/* Where ranks wait for each other: `more` did since it was `before`. */
static void went(uint64_t before, uint64_t more)
{
    if (!apart) {
        EXPECT_EQ(before + more, direct());
    }
}

/* Operations of all ways so far: a reduction of which copy engines have half makes two. */
static uint32_t operations(void)
{
    struct ct_comm *c;
    OK(ct_check_comm("stream_direct", comm, &c));
    return c->stream->enqueued;
}

static void made(uint32_t before, uint32_t more)
{
    if (getenv("CT_HALVES") != NULL && check_size > 1) {
        EXPECT_EQ(before + more, operations());
    }
}

static int right(int by)
{
    return (check_rank + by) % check_size;
}

static int left(int by)
{
    return (check_rank + check_size - by) % check_size;
}

/* ---- collectives ----------------------------------------------------------------------------- */

enum what { ALLGATHER, ALLGATHER_IN_PLACE, ALLTOALL, BCAST, SCATTER, GATHER, MOVES };

static void put_moves(enum what what, size_t n, size_t shift, int root)
{
    const ctran_count_t c = (ctran_count_t)n;
    char *const s = from + shift, *const r = to + shift;
    switch (what) {
    case ALLGATHER:
        OK(ctran_allgather_enqueue(s, c, CTRAN_BYTE, r, c, CTRAN_BYTE, comm, stream));
        break;
    case ALLGATHER_IN_PLACE:
        OK(ctran_allgather_enqueue(CTRAN_IN_PLACE, 0, CTRAN_BYTE, r, c, CTRAN_BYTE, comm, stream));
        break;
    case ALLTOALL:
        OK(ctran_alltoall_enqueue(s, c, CTRAN_BYTE, r, c, CTRAN_BYTE, comm, stream));
        break;
    case BCAST:
        OK(ctran_bcast_enqueue(r, c, CTRAN_BYTE, root, comm, stream));
        break;
    case SCATTER:
        OK(ctran_scatter_enqueue(s, c, CTRAN_BYTE, r, c, CTRAN_BYTE, root, comm, stream));
        break;
    default:
        OK(ctran_gather_enqueue(s, c, CTRAN_BYTE, r, c, CTRAN_BYTE, root, comm, stream));
        break;
    }
}

static void prepare(enum what what, size_t n, size_t shift, int root, int key)
{
    device_set(to, CANARY, shift + n * (size_t)check_size + SPARE);
    fill(from + shift, n * (size_t)check_size, key, check_rank, 0);
    if (what == ALLGATHER_IN_PLACE) {
        fill(to + shift + (size_t)check_rank * n, n, key, check_rank, 0);
    } else if (what == BCAST && check_rank == root) {
        fill(to + shift, n, key, root, 0);
    }
}

static void look_at_moves(enum what what, size_t n, size_t shift, int root, int key)
{
    const bool   one = what == BCAST || what == SCATTER;
    const bool   gets = what != GATHER || check_rank == root;
    const size_t all = shift + (one ? n : n * (size_t)check_size);
    for (int p = 0; gets && p < (one ? 1 : check_size); p++) {
        const size_t first = what == ALLTOALL || what == SCATTER ? (size_t)check_rank * n : 0;
        look(to + shift + (size_t)p * n, n, key, one ? root : p, first);
    }
    device_get(host, to + (gets ? all : shift), SPARE);
    for (size_t i = 0; i < SPARE; i++) {
        EXPECT_EQ(CANARY, host[i]);
    }
}

static void of_moves(void)
{
    static const size_t shifts[] = {0, 1, 8};
    int                 key = 1;
    for (int what = 0; what < MOVES; what++) {
        for (size_t i = 0; i < LEN(shifts); i++, key++) {
            const size_t n = BLOCK - 5 * i;
            const int    root = key % check_size;
            prepare((enum what)what, n, shifts[i], root, key);
            OK(ctran_barrier(CTRAN_COMM_WORLD));
            const uint64_t before = direct();
            put_moves((enum what)what, n, shifts[i], root);
            put_moves((enum what)what, n, shifts[i], root);
            CU(cuStreamSynchronize(stream));
            went(before, check_size > 1 ? 2 : 0);
            look_at_moves((enum what)what, n, shifts[i], root, key);
            OK(ctran_barrier(CTRAN_COMM_WORLD));
        }
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

static int summand(int rank, size_t i)
{
    return (int)(i % 1009) * 3 + rank * 7;
}

static void put_ints(char *at, size_t n)
{
    int *const ints = (int *)(void *)host;
    for (size_t i = 0; i < n; i++) {
        ints[i] = summand(check_rank, i);
    }
    device_put(at, ints, n * sizeof *ints);
}

static void look_at_sums(const char *at, size_t n, size_t first)
{
    int *const ints = (int *)(void *)host;
    device_get(ints, at, n * sizeof *ints);
    for (size_t i = 0; i < n; i++) {
        int wanted = 0;
        for (int p = 0; p < check_size; p++) {
            wanted += summand(p, first + i);
        }
        if (wanted != ints[i]) {
            EXPECT_EQ(wanted, ints[i]);
            return;
        }
    }
}

/* Vectors of 2.2 MiB, one int shifted now and then; in place on none, some and all ranks. */
static void of_reductions(void)
{
    enum { N = 580001 };
    const size_t part = N / (size_t)check_size;
    for (int turn = 0; turn < 4; turn++) {
        char *const s = from + (turn == 1 ? 4 : 0), *const r = to + (turn == 2 ? 4 : 0);
        const bool in_place = turn == 3 || (turn == 2 && check_rank == 0);
        put_ints(in_place ? r : s, N);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        uint64_t before = direct();
        uint32_t so_far = operations();
        OK(ctran_allreduce_enqueue(in_place ? CTRAN_IN_PLACE : s, r, N, CTRAN_INT, CTRAN_SUM, comm,
                                   stream));
        CU(cuStreamSynchronize(stream));
        went(before, check_size > 1);
        made(so_far, 2);
        look_at_sums(r, N, 0);
        put_ints(in_place ? r : s, N);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        before = direct();
        so_far = operations();
        OK(ctran_reduce_scatter_block_enqueue(in_place ? CTRAN_IN_PLACE : s, r, (ctran_count_t)part,
                                              CTRAN_INT, CTRAN_SUM, comm, stream));
        CU(cuStreamSynchronize(stream));
        went(before, check_size > 1 && turn < 2); /* in place on no rank */
        made(so_far, check_size > 2 && turn < 2 ? 2 : 1);
        look_at_sums(r, part, part * (size_t)check_rank);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
}

/* A rank's vector is memory that cannot be shared: all go another way. */
static void of_unshared(void)
{
    enum { N = 600000 };
    int *pinned;
    CU(cuMemHostAlloc((void **)&pinned, N * sizeof *pinned, 0));
    for (size_t i = 0; i < N; i++) {
        pinned[i] = summand(check_rank, i);
    }
    put_ints(from, N);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    const uint64_t before = direct();
    const void    *s = check_rank == check_size - 1 ? (const void *)pinned : from;
    OK(ctran_allreduce_enqueue(s, to, N, CTRAN_INT, CTRAN_SUM, comm, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT_EQ(before, direct());
    look_at_sums(to, N, 0);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    CU(cuMemFreeHost(pinned));
}

/* A root's block is ordinary memory, which no kernel may touch: it is refused, and all ends. */
static void of_ordinary(void)
{
    ctran_comm_t other;
    int          error = CTRAN_SUCCESS;
    if (check_size < 2) {
        return;
    }
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &other));
    OK(ctran_comm_set_errhandler(other, CTRAN_ERRORS_RETURN));
    OK(ctran_barrier_enqueue(other, stream));
    CU(cuStreamSynchronize(stream));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    void *const buf = check_rank == 0 ? (void *)host : to;
    const int   rc = ctran_bcast_enqueue(buf, BLOCK, CTRAN_BYTE, 0, other, stream);
    EXPECT(rc == CTRAN_ERR_UNSUPPORTED_OPERATION || (check_rank != 0 && rc == CTRAN_SUCCESS));
    while (error == CTRAN_SUCCESS) {
        OK(ctran_comm_get_async_error(other, &error));
    }
    EXPECT_EQ(CTRAN_ERR_UNSUPPORTED_OPERATION, error);
    CU(cuStreamSynchronize(stream));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&other));
}

/* ---- messages -------------------------------------------------------------------------------- */

static void shift_by(int by, char *s, char *r, size_t n)
{
    OK(ctran_sendrecv_enqueue(s, (ctran_count_t)n, CTRAN_BYTE, right(by), 3, r, (ctran_count_t)n,
                              CTRAN_BYTE, left(by), 3, comm, stream));
}

static void of_messages(void)
{
    const size_t n = BLOCK;
    for (int by = 1; by < check_size; by++) {
        fill(from, n, by, check_rank, 0);
        device_set(to, CANARY, n);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        const uint64_t before = direct();
        shift_by(by, from, to, n);
        shift_by(by, from, to, n);
        CU(cuStreamSynchronize(stream));
        went(before, 2);
        look(to, n, by, left(by), 0);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
}

/* To and from each, long ones by kernel and by copy engine and small ones, in one group. */
static void of_groups(void)
{
    static const size_t lengths[] = {BLOCK, 1000, BLOCK / 2 + 3};
    const uint64_t      before = direct();
    fill(from, BLOCK, 77, check_rank, 0);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_group_start());
    for (int by = 1; by < check_size; by++) {
        const ctran_count_t out = (ctran_count_t)lengths[(check_rank + right(by)) % 3];
        const ctran_count_t in = (ctran_count_t)lengths[(check_rank + left(by)) % 3];
        for (int twice = 0; twice < 2; twice++) {
            OK(ctran_send_enqueue(from, out, CTRAN_BYTE, right(by), 0, comm, stream));
            OK(ctran_recv_enqueue(to + (size_t)(2 * left(by) + twice) * BLOCK, in, CTRAN_BYTE,
                                  left(by), 0, comm, stream));
        }
    }
    OK(ctran_group_end());
    CU(cuStreamSynchronize(stream));
    EXPECT(direct() - before <= 1);
    for (int by = 1; by < check_size; by++) {
        for (int twice = 0; twice < 2; twice++) {
            look(to + (size_t)(2 * left(by) + twice) * BLOCK, lengths[(check_rank + left(by)) % 3],
                 77, left(by), 0);
        }
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
}

/* A message into a longer receive, and one whose sender comes long after its receiver. */
static void of_one_way(void)
{
    for (int late = 0; late < 2 && check_size > 1; late++) {
        fill(from, BLOCK, late, check_rank, 0);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (check_rank == 1) {
            OK(ctran_recv_enqueue(to, BLOCK + 1000, CTRAN_BYTE, 0, 0, comm, stream));
        } else if (check_rank == 0) {
            OK(ctran_send_enqueue(from, BLOCK, CTRAN_BYTE, 1, 0, comm, stream));
        }
        CU(cuStreamSynchronize(stream));
        if (check_rank == 1) {
            look(to, BLOCK, late, 0, 0);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static void of_graphs(void)
{
    const size_t n = BLOCK, N = 540000;
    CUgraph      graph;
    CUgraphExec  exec;
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    put_moves(ALLGATHER, n, 0, 0);
    if (check_size > 1) {
        shift_by(1, from, to + (size_t)check_size * n, n);
    }
    OK(ctran_allreduce_enqueue(from, to + (size_t)(check_size + 1) * n, (ctran_count_t)N, CTRAN_INT,
                               CTRAN_MAX, comm, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (int turn = 0; turn < 5; turn++) {
        fill(from, N * 4, turn, check_rank, 0);
        device_set(to, CANARY, (size_t)(check_size + 1) * n);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (turn % 2 == 0) { /* eager ones between */
            put_moves(ALLTOALL, n / (size_t)check_size * 2, 0, 0);
        }
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        for (int p = 0; p < check_size; p++) {
            look(to + (size_t)p * n, n, turn, p, 0);
        }
        if (check_size > 1) {
            look(to + (size_t)check_size * n, n, turn, left(1), 0);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Rank 1 has its kernel behind a wait that never ends, and dies: the others' kernels end. */
static void dies(void)
{
    CUdeviceptr at;
    uint32_t   *word;
    int         error = CTRAN_SUCCESS;
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    if (check_rank == 1) {
        CU(cuMemHostAlloc((void **)&word, sizeof *word, 0));
        *word = 0;
        CU(cuMemHostGetDevicePointer(&at, word, 0));
        CU(cuStreamWaitValue32(stream, at, 1, CU_STREAM_WAIT_VALUE_EQ));
    }
    const uint64_t before = direct();
    put_moves(ALLGATHER, BLOCK, 0, 0);
    went(before, 1);
    if (check_rank == 1) {
        _exit(0);
    }
    CU(cuStreamSynchronize(stream));
    while (error == CTRAN_SUCCESS) {
        OK(ctran_comm_get_async_error(comm, &error));
    }
    EXPECT_EQ(CTRAN_ERR_PROC_FAILED, error);
    printf("ended\n");
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"moves", of_moves},       {"reductions", of_reductions}, {"unshared", of_unshared},
        {"ordinary", of_ordinary}, {"messages", of_messages},     {"groups", of_groups},
        {"one way", of_one_way},   {"graphs", of_graphs}};
    const bool to_die = argc > 1 && strcmp(argv[1], "die") == 0;
    apart = argc > 1 && strcmp(argv[1], "apart") == 0;
    check_start(to_die || apart ? 1 : argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    host = malloc(ROOM);
    from = device_new(ROOM);
    to = device_new(ROOM);
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
    if (to_die) {
        dies();
    }
    check_run(subjects, LEN(subjects));
    OK(ctran_comm_free(&comm));
    device_free(from);
    device_free(to);
    free(host);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
