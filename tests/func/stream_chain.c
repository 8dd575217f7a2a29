/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long broadcasts by copy engine, which go down a chain of ranks in pieces: of all roots, lengths
 * and places; with ranks that come to it in the order of the chain, against it and in others, so
 * that pieces are pulled and pushed; many under way; in graphs. With "die" a rank in the middle
 * ends without having come.
 */
#include <unistd.h>

#include "check.h"
#include "gpu.h"

enum { MIB = 1 << 20, ROOM = 20 * MIB, SPARE = 64, MANY = 12 };

static CUstream       stream;
static ctran_comm_t   comm;
static unsigned char *host;
static char          *buf; /* of ROOM bytes and SPARE */

static unsigned char value(uint64_t key, size_t i)
{
    return (unsigned char)(i * 13 ^ i >> 9 ^ i >> 17 ^ mix(key) >> (8 * (i % 8)));
}

static void prepare(size_t shift, size_t n, int root, uint64_t key)
{
    memset(host, CANARY, shift + n + SPARE);
    for (size_t i = 0; i < n && check_rank == root; i++) {
        host[shift + i] = value(key, i);
    }
    device_put(buf, host, shift + n + SPARE);
}

static void look(size_t shift, size_t n, uint64_t key)
{
    size_t wrong = 0;
    device_get(host, buf, shift + n + SPARE);
    for (size_t i = 0; i < n; i++) {
        wrong += host[shift + i] != value(key, i);
    }
    EXPECT_EQ(0, wrong);
    for (size_t i = 0; i < SPARE; i++) {
        EXPECT_EQ(CANARY, host[shift + n + i]);
    }
}

static void put(size_t shift, size_t n, int root)
{
    OK(ctran_bcast_enqueue(buf + shift, (ctran_count_t)n, CTRAN_BYTE, root, comm, stream));
}

/* ---- who comes when -------------------------------------------------------------------------- */

enum { TOGETHER, DOWN, UP, ANYHOW, ORDERS };

/* The turn of this rank, of as many as there are ranks. */
static int turn_of(int order, int root, uint64_t key)
{
    const int place = (check_rank - root + check_size) % check_size;
    switch (order) {
    case TOGETHER:
        return 0;
    case DOWN:
        return place;
    case UP:
        return check_size - 1 - place;
    default:
        return (int)(mix(key * 64 + (uint64_t)check_rank) % (uint64_t)check_size);
    }
}

static void of_orders(void)
{
    static const size_t lengths[] = {4 * MIB - 1, 4 * MIB, 5 * MIB + 12345, ROOM};
    uint64_t            key = 1;
    for (size_t l = 0; l < LEN(lengths); l++) {
        for (int order = 0; order < ORDERS; order++, key++) {
            const size_t n = lengths[l], shift = key % 2 * 5;
            const int    root = (int)(key % (uint64_t)check_size);
            const size_t bytes = n == ROOM ? n - shift : n;
            prepare(shift, bytes, root, key);
            for (int turn = 0; turn < check_size; turn++) {
                OK(ctran_barrier(CTRAN_COMM_WORLD));
                if (turn_of(order, root, key) == turn) {
                    put(shift, bytes, root);
                }
            }
            CU(cuStreamSynchronize(stream));
            look(shift, bytes, key);
            OK(ctran_barrier(CTRAN_COMM_WORLD));
        }
    }
}

/* More than may be under way, with something short between. */
static void of_many(void)
{
    const size_t n = 4 * MIB;
    prepare(0, n, 0, 99);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int i = 0; i < MANY; i++) {
        put(0, n, i % check_size);
        put(n / 2, 1000, i % check_size);
    }
    CU(cuStreamSynchronize(stream));
    look(0, n, 99);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
}

static void of_graphs(void)
{
    const size_t n = 4 * MIB + 77;
    CUgraph      graph;
    CUgraphExec  exec;
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    put(0, n, 0);
    put(0, n, check_size - 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (uint64_t turn = 0; turn < 5; turn++) {
        prepare(0, n, 0, 1000 + turn);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (turn % 2 == 0) { /* an eager one between */
            put(0, n, 0);
        }
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        look(0, n, 1000 + turn);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* ---- the end --------------------------------------------------------------------------------- */

static void dies(void)
{
    int error = CTRAN_SUCCESS;
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    if (check_rank == 1) {
        _exit(0);
    }
    (void)ctran_bcast_enqueue(buf, ROOM, CTRAN_BYTE, 0, comm, stream); /* perhaps it is known */
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
        {"orders", of_orders}, {"many", of_many}, {"graphs", of_graphs}};
    const bool to_die = argc > 1 && strcmp(argv[1], "die") == 0;
    check_start(to_die ? 1 : argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    host = malloc(ROOM + SPARE);
    buf = device_new(ROOM + SPARE);
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
    if (to_die) {
        dies();
    }
    check_run(subjects, LEN(subjects));
    OK(ctran_comm_free(&comm));
    device_free(buf);
    free(host);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
