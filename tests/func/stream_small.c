/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small stream-ordered sends and receives, which kernels do where there are some: lengths around
 * their limits with either end first, receives that are longer than their messages, groups in which
 * one launch would wait in a circle, small and long messages together, other kernels between, and
 * graphs. Ends are enqueued one after the other by barriers of the host, so that it is known who
 * comes first.
 */
#include "check.h"
#include "gpu.h"

enum { LONGEST = 300 << 10 };

static CUstream      stream;
static unsigned char host[LONGEST + 64];

static unsigned char value(int key, size_t i)
{
    return (unsigned char)(mix((uint64_t)key) >> (8 * (i % 8)) ^ i * 31);
}

static void fill(char *at, size_t n, int key)
{
    for (size_t i = 0; i < n; i++) {
        host[i] = value(key, i);
    }
    device_put(at, host, n);
}

/* n bytes of a message, and what was there before up to `all`. */
static void look(const char *at, size_t n, size_t all, int key)
{
    device_get(host, at, all);
    for (size_t i = 0; i < all; i++) {
        EXPECT_EQ(i < n ? value(key, i) : CANARY, host[i]);
    }
}

static void meet(void)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD));
}

static ctran_comm_t open_comm(void)
{
    ctran_comm_t comm;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
    meet();
    return comm;
}

static void close_comm(ctran_comm_t *comm)
{
    CU(cuStreamSynchronize(stream));
    meet();
    OK(ctran_comm_free(comm));
}

static void send(const char *buf, size_t n, int to, ctran_comm_t comm)
{
    OK(ctran_send_enqueue(buf, (ctran_count_t)n, CTRAN_BYTE, to, 1, comm, stream));
}

static void receive(char *buf, size_t n, int from, ctran_comm_t comm)
{
    OK(ctran_recv_enqueue(buf, (ctran_count_t)n, CTRAN_BYTE, from, 1, comm, stream));
}

/* ---- two ranks ------------------------------------------------------------------------------- */

static const size_t lengths[] = {0,     1,     7,     8,     9,     16,    17,     255,    4080,
                                 4095,  4096,  4097,  8192,  16383, 16384, 16385,  32768,  32769,
                                 65535, 65536, 65537, 70001, 99999, 1,     131072, 262144, 5};

/* One message from rank 0 to rank 1, into a buffer that is longer by `spare`. */
static void one(ctran_comm_t comm, char *buf, size_t n, size_t spare, bool receiver_first)
{
    static int key;
    key++;
    if (check_rank == 0) {
        fill(buf, n, key);
    } else {
        device_set(buf, CANARY, n + spare);
    }
    meet();
    for (int turn = 0; turn < 2; turn++) {
        if (check_rank == 1 && (turn == 0) == receiver_first) {
            receive(buf, n + spare, 0, comm);
        } else if (check_rank == 0 && (turn == 1) == receiver_first) {
            send(buf, n, 1, comm);
        }
        meet();
    }
    CU(cuStreamSynchronize(stream));
    if (check_rank == 1) {
        look(buf, n, n + spare, key);
    }
}

static void of_all_lengths(void)
{
    ctran_comm_t comm = open_comm();
    char        *buf = device_new(LONGEST);
    for (size_t i = 0; check_size > 1 && i < 2 * LEN(lengths); i++) {
        const size_t n = lengths[i / 2];
        one(comm, buf, n, 0, i % 2 != 0);
        one(comm, buf + i % 5, n, i % 3, i % 2 == 0);
        one(comm, buf, n, 20000, i % 2 != 0);
    }
    close_comm(&comm);
    device_free(buf);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Copies of a broadcast are messages, which match in order with all others. */
static bool has_kernels(void)
{
    const char *file = getenv("CTRAN_GPU_KERNELS");
    return ct_kernels_built_in() || (file != NULL && file[0] != '\0');
}

/* A root's broadcast by kernel waits for nobody, so the ranks may have it and a message in any
 * order. */
static void beside_collectives(void)
{
    enum { N = 100, TURNS = 12 };
    ctran_comm_t comm = open_comm();
    char        *buf = device_new(2 * N);
    for (int turn = 0; check_size > 1 && has_kernels() && turn < TURNS; turn++) {
        if (check_rank == 0) {
            fill(buf, N, 2 * turn);
            fill(buf + N, N, 2 * turn + 1);
            OK(ctran_bcast_enqueue(buf, N, CTRAN_BYTE, 0, comm, stream));
            send(buf + N, N, 1, comm);
        } else {
            if (check_rank == 1) {
                receive(buf + N, N, 0, comm);
            }
            OK(ctran_bcast_enqueue(buf, N, CTRAN_BYTE, 0, comm, stream));
        }
        CU(cuStreamSynchronize(stream));
        look(buf, N, N, 2 * turn);
        if (check_rank == 1) {
            look(buf + N, N, N, 2 * turn + 1);
        }
        meet();
    }
    close_comm(&comm);
    device_free(buf);
}

/* Rank 0 has all in one group; the others have come before it, one message after the other. Rank 1
 * receives nothing of rank 0 until rank 2 is through with what it sends to rank 0. */
static void in_a_ring(void)
{
    enum { N = 64, MESSAGES = 8 };
    ctran_comm_t comm = open_comm();
    char        *buf = device_new((MESSAGES + 1) * N), *other = device_new((MESSAGES + 1) * N);
    device_set(other, 0, (MESSAGES + 1) * N);
    fill(buf, (MESSAGES + 1) * N, check_rank);
    if (check_rank == 1) {
        receive(other, N, 2, comm);
        for (int i = 0; i < MESSAGES; i++) {
            receive(other + i * N, N, 0, comm);
        }
    } else if (check_rank == 2) {
        for (int i = 0; i < MESSAGES; i++) {
            send(buf + i * N, N, 0, comm);
        }
        send(buf + MESSAGES * N, N, 1, comm);
    }
    meet();
    if (check_rank == 0) {
        OK(ctran_group_start());
        for (int i = 0; i < MESSAGES; i++) {
            send(buf + i * N, N, 1, comm);
        }
        for (int i = 0; i < MESSAGES; i++) {
            receive(other + i * N, N, 2, comm);
        }
        OK(ctran_group_end());
    }
    CU(cuStreamSynchronize(stream));
    if (check_rank < 2) {
        look(other, (size_t)MESSAGES * N, (size_t)MESSAGES * N, check_rank == 0 ? 2 : 0);
    }
    close_comm(&comm);
    device_free(buf);
    device_free(other);
}

static void in_rings(void)
{
    if (check_size == 3) {
        in_a_ring();
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

enum { ROOM = 32 << 10 };

static size_t grouped(int peer, int k)
{
    enum { FIT = 17 }; /* lengths */
    return lengths[(check_rank + peer + 7 * k) % FIT];
}

/* All to all, itself too, messages of all lengths in one group; `twice`: two to each. */
static void exchange(ctran_comm_t comm, char *from, char *to, bool twice)
{
    OK(ctran_group_start());
    for (int k = 0; k <= twice; k++) {
        for (int i = 0; i < check_size; i++) {
            const int    peer = (check_rank + i) % check_size;
            const size_t at = (size_t)(peer * 2 + k) * ROOM;
            send(from + at, grouped(peer, k), peer, comm);
            receive(to + at, ROOM, peer, comm);
        }
    }
    OK(ctran_group_end());
}

static void verify(char *to, bool twice, int round)
{
    for (int k = 0; k <= twice; k++) {
        for (int peer = 0; peer < check_size; peer++) {
            const size_t n = grouped(peer, k);
            look(to + (size_t)(peer * 2 + k) * ROOM, n, ROOM,
                 round * 100 + peer * 10 + check_rank * 2 + k);
        }
    }
}

static void prepare(char *from, char *to, int round)
{
    for (int peer = 0; peer < check_size; peer++) {
        for (int k = 0; k < 2; k++) {
            fill(from + (size_t)(peer * 2 + k) * ROOM, ROOM,
                 round * 100 + check_rank * 10 + peer * 2 + k);
        }
    }
    device_set(to, CANARY, 2 * ROOM * (size_t)check_size);
}

static void in_groups(void)
{
    enum { ROUNDS = 6 };
    ctran_comm_t comm = open_comm();
    char        *from = device_new(2 * ROOM * (size_t)check_size);
    char        *to = device_new(2 * ROOM * (size_t)check_size);
    for (int round = 0; round < ROUNDS; round++) {
        prepare(from, to, round);
        exchange(comm, from, to, round % 2 != 0);
        CU(cuStreamSynchronize(stream));
        verify(to, round % 2 != 0, round);
        meet();
    }
    close_comm(&comm);
    device_free(from);
    device_free(to);
}

/* Two graphs and eager calls in turn. */
static void in_graphs(void)
{
    enum { ROUNDS = 8, GRAPHS = 2 };
    ctran_comm_t comm = open_comm();
    char        *from = device_new(2 * ROOM * (size_t)check_size);
    char        *to = device_new(2 * ROOM * (size_t)check_size);
    CUgraph      graph[GRAPHS];
    CUgraphExec  ready[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        exchange(comm, from, to, i != 0);
        CU(cuStreamEndCapture(stream, &graph[i]));
        CU(cuGraphInstantiate(&ready[i], graph[i], 0));
    }
    for (int round = 0; round < ROUNDS; round++) {
        const int which = round % (GRAPHS + 1);
        prepare(from, to, round);
        meet();
        if (which < GRAPHS) {
            CU(cuGraphLaunch(ready[which], stream));
        } else {
            exchange(comm, from, to, true);
        }
        CU(cuStreamSynchronize(stream));
        verify(to, which != 0, round);
        meet();
    }
    for (int i = 0; i < GRAPHS; i++) {
        CU(cuGraphExecDestroy(ready[i]));
        CU(cuGraphDestroy(graph[i]));
    }
    close_comm(&comm);
    device_free(from);
    device_free(to);
}

/* Receives by many communicators' kernels, which all wait, and behind them the sends that those of
 * the other rank wait for: they find multiprocessors that are free. Again and again, since it takes
 * receives that have all begun to keep sends out. Only where blocks are counted, STREAM_SMALL_MANY,
 * since elsewhere a device has room for all. */
enum { PAIRS = 6, MANY_BYTES = 64 << 10 };

static void pass_by_many(ctran_comm_t *comm, CUstream *streams, const char *from, char *to)
{
    const int me = check_rank, other = 1 - me;
    for (int i = 0; i < PAIRS; i++) {
        stream = streams[2 * i + me];
        receive(to + (size_t)i * MANY_BYTES, MANY_BYTES, other, comm[2 * i + me]);
    }
    meet();
    for (int i = 0; i < PAIRS; i++) {
        stream = streams[2 * i + other];
        send(from, MANY_BYTES, other, comm[2 * i + other]);
    }
    for (int i = 0; i < 2 * PAIRS; i++) {
        CU(cuStreamSynchronize(streams[i]));
    }
}

static void by_many(void)
{
    enum { ROUNDS = 50 };
    ctran_comm_t   comm[2 * PAIRS];
    const CUstream before = stream;
    CUstream       streams[2 * PAIRS];
    if (getenv("STREAM_SMALL_MANY") == NULL || check_size != 2) {
        return;
    }
    char *from = device_new(MANY_BYTES), *to = device_new(PAIRS * (size_t)MANY_BYTES);
    for (int i = 0; i < 2 * PAIRS; i++) {
        comm[i] = open_comm();
        streams[i] = device_stream();
    }
    for (int round = 0; round < ROUNDS; round++) {
        fill(from, MANY_BYTES, 2 * round + check_rank);
        device_set(to, CANARY, PAIRS * (size_t)MANY_BYTES);
        pass_by_many(comm, streams, from, to);
        for (int i = 0; i < PAIRS; i++) {
            look(to + (size_t)i * MANY_BYTES, MANY_BYTES, MANY_BYTES, 2 * round + 1 - check_rank);
        }
    }
    stream = before;
    for (int i = 0; i < 2 * PAIRS; i++) {
        close_comm(&comm[i]);
        CU(cuStreamDestroy(streams[i]));
    }
    device_free(from);
    device_free(to);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"lengths", of_all_lengths}, {"collectives", beside_collectives},
        {"rings", in_rings},         {"groups", in_groups},
        {"graphs", in_graphs},       {"many communicators", by_many},
    };
    check_start(argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    check_run(subjects, LEN(subjects));
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
