/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_stream - stream-ordered calls about windows: puts, gets and signals of streams, in calls and
 * in graphs that are replayed; what is refused; what becomes of streams when a rank dies ("die").
 */
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "gpu.h"

enum { LONGS = 3000, ROUNDS = 100 };

static CUstream stream;
static long     host[LONGS];
static int      next, last;

static long number(int rank, int round, int i)
{
    return 1000000L * (rank + 1) + 1000L * round + i % 997;
}

static void fill(long *device, int rank, int round)
{
    for (int i = 0; i < LONGS; i++) {
        host[i] = number(rank, round, i);
    }
    device_put(device, host, sizeof host);
}

static void look(const long *device, int rank, int round)
{
    device_get(host, device, sizeof host);
    for (int i = 0; i < LONGS; i++) {
        if (host[i] != number(rank, round, i)) {
            check_fail(__FILE__, __LINE__, "round %d: element %d is %ld, not %ld", round, i,
                       host[i], number(rank, round, i));
        }
    }
}

/* A window for streams, on memory of the GPU that it allocates. */
static ctran_win_t open_win(ctran_comm_t comm, int longs, long **base)
{
    ctran_info_t info;
    ctran_win_t  win;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "ctran_device_memory", "true"));
    OK(ctran_info_set(info, "ctran_stream_ordered", "true"));
    OK(ctran_win_allocate(longs * (ctran_aint_t)sizeof **base, sizeof **base, info, comm, base,
                          &win));
    OK(ctran_info_free(&info));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    return win;
}

static void settle(void)
{
    CU(cuStreamSynchronize(stream));
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A ring: each rank puts to the next, which tells it when it has looked. */
static void ring(void)
{
    long       *base, *from = device_new(sizeof host), *back = device_new(sizeof host);
    ctran_win_t win = open_win(CTRAN_COMM_WORLD, LONGS, &base);
    for (int round = 0; round < ROUNDS; round++) {
        fill(from, check_rank, round);
        OK(ctran_put_signal_enqueue(from, LONGS, CTRAN_LONG, next, 0, LONGS, CTRAN_LONG, win,
                                    stream));
        OK(ctran_wait_signal_enqueue(last, 1, win, stream));
        OK(ctran_get_enqueue(back, LONGS, CTRAN_LONG, check_rank, 0, LONGS, CTRAN_LONG, win,
                             stream));
        /* From here on the memory may be written to again. */
        OK(ctran_put_signal_enqueue(NULL, 0, CTRAN_LONG, last, 0, 0, CTRAN_LONG, win, stream));
        OK(ctran_wait_signal_enqueue(next, 1, win, stream));
        settle();
        look(back, last, round);
    }
    OK(ctran_win_free(&win));
    device_free(from);
    device_free(back);
}

/* Many signals that nobody has waited for, then waits for several at once. Puts without a signal go
 * before one that has it; gets read a neighbour's memory. */
static void many(void)
{
    enum { PIECES = 60, EACH = LONGS / PIECES, TIMES = 7 };
    long       *base, *from = device_new(sizeof host), *got = device_new(sizeof host);
    ctran_win_t win = open_win(CTRAN_COMM_WORLD, LONGS, &base);
    for (int round = 0; round < TIMES; round++) {
        fill(from, check_rank, round);
        for (int i = 0; i < PIECES; i++) {
            OK(ctran_put_signal_enqueue(from + (ptrdiff_t)i * EACH, EACH, CTRAN_LONG, next,
                                        (ctran_aint_t)i * EACH, EACH, CTRAN_LONG, win, stream));
        }
        OK(ctran_wait_signal_enqueue(last, PIECES / 2, win, stream));
        OK(ctran_wait_signal_enqueue(last, PIECES / 2, win, stream));
        settle();
        look(base, last, round);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_get_enqueue(got, LONGS, CTRAN_LONG, next, 0, LONGS, CTRAN_LONG, win, stream));
        settle();
        look(got, check_rank, round);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_put_enqueue(from, LONGS, CTRAN_LONG, last, 0, LONGS, CTRAN_LONG, win, stream));
        OK(ctran_put_signal_enqueue(from, 1, CTRAN_LONG, last, 0, 1, CTRAN_LONG, win, stream));
        OK(ctran_wait_signal_enqueue(next, 1, win, stream));
        settle();
        look(base, next, round);
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    OK(ctran_win_free(&win));
    device_free(from);
    device_free(got);
}

/* Rank 0's stream waits in one window for a signal that comes when all are through with another
 * window, on another stream: a wait holds up its own window alone. */
static void two_windows(void)
{
    long       *base[2], *from = device_new(sizeof host);
    CUstream    other = device_stream();
    ctran_win_t win[2];
    const bool  waits = check_rank == 0 && check_size > 1;
    for (int i = 0; i < 2; i++) {
        win[i] = open_win(CTRAN_COMM_WORLD, LONGS, &base[i]);
    }
    fill(from, check_rank, 1);
    for (int round = 0; round < 10; round++) {
        if (waits) {
            OK(ctran_wait_signal_enqueue(last, 1, win[0], stream));
        }
        OK(ctran_put_signal_enqueue(from, LONGS, CTRAN_LONG, next, 0, LONGS, CTRAN_LONG, win[1],
                                    other));
        OK(ctran_wait_signal_enqueue(last, 1, win[1], other));
        CU(cuStreamSynchronize(other));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        if (next == 0 && check_size > 1) {
            OK(ctran_put_signal_enqueue(from, LONGS, CTRAN_LONG, next, 0, LONGS, CTRAN_LONG, win[0],
                                        stream));
        }
        settle();
        if (waits) {
            look(base[0], last, 1);
        }
    }
    OK(ctran_win_free(&win[1]));
    OK(ctran_win_free(&win[0]));
    CU(cuStreamDestroy(other));
    device_free(from);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* A round of the ring, replayed with other contents, between rounds by calls. */
static void graphs(void)
{
    long       *base, *from = device_new(sizeof host), *back = device_new(sizeof host);
    ctran_win_t win = open_win(CTRAN_COMM_WORLD, LONGS, &base);
    CUgraph     graph;
    CUgraphExec exec;
    for (int i = 0; i < 70; i++) { /* so that places come again */
        OK(ctran_put_signal_enqueue(NULL, 0, CTRAN_LONG, next, 0, 0, CTRAN_LONG, win, stream));
        OK(ctran_wait_signal_enqueue(last, 1, win, stream));
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(ctran_put_enqueue(from, LONGS / 2, CTRAN_LONG, next, 0, LONGS / 2, CTRAN_LONG, win, stream));
    OK(ctran_put_signal_enqueue(from + LONGS / 2, LONGS - LONGS / 2, CTRAN_LONG, next, LONGS / 2,
                                LONGS - LONGS / 2, CTRAN_LONG, win, stream));
    OK(ctran_wait_signal_enqueue(last, 1, win, stream));
    OK(ctran_get_enqueue(back, LONGS, CTRAN_LONG, check_rank, 0, LONGS, CTRAN_LONG, win, stream));
    OK(ctran_put_signal_enqueue(NULL, 0, CTRAN_LONG, last, 0, 0, CTRAN_LONG, win, stream));
    OK(ctran_wait_signal_enqueue(next, 1, win, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < ROUNDS; round++) {
        fill(from, check_rank, round);
        CU(cuGraphLaunch(exec, stream));
        settle();
        look(back, last, round);
        if (round % 3 == 0) { /* calls between launches, in the same order on all ranks */
            OK(ctran_put_signal_enqueue(from, 1, CTRAN_LONG, next, 0, 1, CTRAN_LONG, win, stream));
            OK(ctran_wait_signal_enqueue(last, 1, win, stream));
        }
    }
    settle();
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_free(&win));
    device_free(from);
    device_free(back);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void refused(void)
{
    long            *base, *from = device_new(sizeof host), plain = 0;
    ctran_win_t      win = open_win(CTRAN_COMM_WORLD, LONGS, &base), other;
    ctran_datatype_t gaps;
    OK(ctran_type_vector(2, 1, 2, CTRAN_LONG, &gaps));
    OK(ctran_type_commit(&gaps));
    EXPECT_RC(CTRAN_ERR_RANK,
              ctran_put_enqueue(from, 1, CTRAN_LONG, check_size, 0, 1, CTRAN_LONG, win, stream));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE,
              ctran_put_enqueue(from, 1, CTRAN_LONG, next, LONGS, 1, CTRAN_LONG, win, stream));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE,
              ctran_get_enqueue(from, 1, CTRAN_LONG, next, -1, 1, CTRAN_LONG, win, stream));
    EXPECT_RC(CTRAN_ERR_COUNT,
              ctran_put_enqueue(from, 1, CTRAN_LONG, next, 0, 2, CTRAN_LONG, win, stream));
    EXPECT_RC(CTRAN_ERR_TYPE,
              ctran_put_enqueue(from, 1, gaps, next, 0, 2, CTRAN_LONG, win, stream));
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_put_enqueue(&plain, 1, CTRAN_LONG, next, 0, 1, CTRAN_LONG, win, stream));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_wait_signal_enqueue(last, 65, win, stream));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_wait_signal_enqueue(last, -1, win, stream));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_wait_signal_enqueue(check_size, 1, win, stream));
    OK(ctran_put_enqueue(from, 1, CTRAN_LONG, CTRAN_PROC_NULL, 0, 1, CTRAN_LONG, win, stream));
    OK(ctran_wait_signal_enqueue(CTRAN_PROC_NULL, 1, win, stream));
    OK(ctran_wait_signal_enqueue(last, 0, win, stream));
    OK(ctran_win_create(from, sizeof host, sizeof *from, CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                        &other));
    OK(ctran_win_set_errhandler(other, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION,
              ctran_put_enqueue(from, 1, CTRAN_LONG, next, 0, 1, CTRAN_LONG, other, stream));
    EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION, ctran_wait_signal_enqueue(last, 1, other, stream));
    OK(ctran_win_free(&other));
    settle();
    OK(ctran_win_free(&win));
    OK(ctran_type_free(&gaps));
    device_free(from);
}

/* Memory of the host on some ranks: their signals go, puts to them do not. */
static void mixed(void)
{
    static long  mine[LONGS];
    long        *from = device_new(sizeof host), *base = device_new(sizeof host);
    ctran_info_t info;
    ctran_win_t  win;
    const bool   is_host = check_rank == 0;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "ctran_stream_ordered", "true"));
    OK(ctran_win_create(is_host ? mine : base, sizeof mine, sizeof *mine, info, CTRAN_COMM_WORLD,
                        &win));
    OK(ctran_info_free(&info));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    EXPECT_RC(next == 0 ? CTRAN_ERR_UNSUPPORTED_OPERATION : CTRAN_SUCCESS,
              ctran_put_enqueue(from, 1, CTRAN_LONG, next, 0, 1, CTRAN_LONG, win, stream));
    OK(ctran_put_signal_enqueue(NULL, 0, CTRAN_LONG, next, 0, 0, CTRAN_LONG, win, stream));
    OK(ctran_wait_signal_enqueue(last, 1, win, stream));
    settle();
    OK(ctran_win_free(&win));
    device_free(from);
    device_free(base);
}

/* ---- a death --------------------------------------------------------------------------------- */

/* The others' streams wait for rank 0's signal, in a call and in a graph, and end. */
static void die(void)
{
    long       *base;
    ctran_win_t win = open_win(CTRAN_COMM_WORLD, LONGS, &base);
    CUgraph     graph;
    CUgraphExec exec;
    int         rc = CTRAN_SUCCESS;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(ctran_wait_signal_enqueue(0, 1, win, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        raise(SIGKILL);
    }
    if (check_rank % 2 == 0) {
        CU(cuGraphLaunch(exec, stream));
    } else {
        rc = ctran_wait_signal_enqueue(0, 1, win, stream);
        EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_PROC_FAILED);
    }
    settle();
    while (rc == CTRAN_SUCCESS) {
        rc = ctran_wait_signal_enqueue(0, 1, win, stream);
    }
    EXPECT_EQ(CTRAN_ERR_PROC_FAILED, rc);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    OK(ctran_win_free(&win));
    puts("ended");
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"ring", ring},     {"many", many},       {"two windows", two_windows},
        {"graphs", graphs}, {"refused", refused}, {"mixed", mixed},
    };
    static const struct subject deaths[] = {{"die", die}};
    const bool                  dies = argc > 1 && strcmp(argv[1], "die") == 0;
    check_start(dies ? 1 : argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    next = (check_rank + 1) % check_size;
    last = (check_rank + check_size - 1) % check_size;
    if (dies) {
        check_run(deaths, LEN(deaths));
        fflush(stdout);
        _exit(0); /* no finalize with a dead rank */
    }
    check_run(subjects, LEN(subjects));
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
