/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win_device - windows of which some ranks have memory of a GPU and the others memory of the host:
 * how they are made, long copies, updates, signals. CT_DEVICE=cuda: on the CUDA driver; without, on
 * a stand-in (device.h). Random epochs on such windows are in win_random.c.
 */
#include "device.h"

enum { LONGS = 400000, FEW = 64 };

static struct {
    ctran_win_t win;
    int         kind; /* of this rank's memory */
    long       *base;
} w;

static long host[LONGS];
static int  next, last;

/* The memory of rank `rank` in turn `turn`: so each pair of kinds meets in two turns. */
static int kind_of(int rank, int turn)
{
    return (rank + turn) % 2 == 0 ? DEVICE : HOST;
}

static long number(int rank, int turn, int i)
{
    return 1000000L * (rank + 1) + 100000L * turn + i % 99991;
}

static void fill_host(int rank, int turn)
{
    for (int i = 0; i < LONGS; i++) {
        host[i] = number(rank, turn, i);
    }
}

static void expect_host(int rank, int turn)
{
    for (int i = 0; i < LONGS; i++) {
        if (host[i] != number(rank, turn, i)) {
            check_fail(__FILE__, __LINE__, "element %d is %ld, not %ld", i, host[i],
                       number(rank, turn, i));
        }
    }
}

/* A window on zeros. */
static void win_open(int turn)
{
    w.kind = kind_of(check_rank, turn);
    w.base = mem_new(w.kind, LONGS * sizeof *w.base);
    memset(host, 0, sizeof host);
    mem_put(w.kind, w.base, host, sizeof host);
    OK(ctran_win_create(w.base, sizeof host, sizeof *w.base, CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                        &w.win));
    OK(ctran_win_set_errhandler(w.win, CTRAN_ERRORS_RETURN));
    next = (check_rank + 1) % check_size;
    last = (check_rank + check_size - 1) % check_size;
}

static void win_close(void)
{
    OK(ctran_win_free(&w.win));
    mem_free(w.kind, w.base);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Load and store reach what the processor reaches, and nothing else is said to be so. */
static void queries(void)
{
    ctran_aint_t size, unit;
    void        *at;
    int          flag;
    win_open(0);
    for (int r = 0; r < check_size; r++) {
        OK(ctran_win_shared_query(w.win, r, &size, &unit, &at));
        EXPECT_EQ(sizeof(long), unit);
        EXPECT(kind_of(r, 0) == HOST || (size == 0 && at == NULL));
        EXPECT(r != check_rank || kind_of(r, 0) == DEVICE || at == w.base);
    }
    OK(ctran_win_get_attr(w.win, CTRAN_WIN_BASE, &at, &flag));
    EXPECT(flag && at == w.base);
    win_close();
}

static void expect_hint(ctran_win_t win, const char *wanted)
{
    ctran_info_t info;
    char         value[16] = "";
    int          len = sizeof value, flag;
    OK(ctran_win_get_info(win, &info));
    OK(ctran_info_get_string(info, "ctran_device_memory", &len, value, &flag));
    EXPECT(flag && strcmp(value, wanted) == 0);
    OK(ctran_info_free(&info));
}

/* Memory of a GPU is the window's to allocate, where there is a GPU. */
static void allocated(void)
{
    ctran_info_t info;
    ctran_win_t  win;
    long        *base, v = 70 + check_rank, got = 0;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "ctran_device_memory", "true"));
    OK(ctran_info_set(info, "mpi_minimum_memory_alignment", "65536"));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    if (!mem_is_real()) {
        EXPECT_RC(CTRAN_ERR_UNSUPPORTED_OPERATION,
                  ctran_win_allocate(8, 8, info, CTRAN_COMM_WORLD, &base, &win));
        OK(ctran_info_free(&info));
        return;
    }
    for (int i = 0; i < 40; i++) { /* addresses come again */
        OK(ctran_win_allocate(4 * sizeof v, sizeof v, info, CTRAN_COMM_WORLD, &base, &win));
        EXPECT_EQ(0, (uintptr_t)base % 65536);
        expect_hint(win, "true");
        const int to = (check_rank + 1) % check_size;
        OK(ctran_win_fence(0, win));
        OK(ctran_put(&v, 1, CTRAN_LONG, to, 3, 1, CTRAN_LONG, win));
        OK(ctran_win_fence(0, win));
        mem_get(DEVICE, &got, &base[3], sizeof got);
        EXPECT_EQ(70 + (check_rank + check_size - 1) % check_size, got);
        OK(ctran_win_free(&win));
    }
    OK(ctran_info_free(&info));
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void put_and_get(int turn, int buffer)
{
    long           *buf = mem_new(buffer, sizeof host);
    ctran_request_t req;
    win_open(turn);
    fill_host(check_rank, turn);
    mem_put(buffer, buf, host, sizeof host);
    OK(ctran_win_lock_all(0, w.win));
    OK(ctran_put(buf, 7, CTRAN_LONG, next, 0, 7, CTRAN_LONG, w.win));
    OK(ctran_rput(buf + 7, LONGS - 7, CTRAN_LONG, next, 7, LONGS - 7, CTRAN_LONG, w.win, &req));
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    OK(ctran_win_flush(next, w.win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    mem_get(w.kind, host, w.base, sizeof host);
    expect_host(last, turn);
    OK(ctran_get(buf, LONGS - 9, CTRAN_LONG, last, 0, LONGS - 9, CTRAN_LONG, w.win));
    OK(ctran_rget(buf + LONGS - 9, 9, CTRAN_LONG, last, LONGS - 9, 9, CTRAN_LONG, w.win, &req));
    OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    OK(ctran_win_unlock_all(w.win));
    mem_get(buffer, host, buf, sizeof host);
    expect_host((last + check_size - 1) % check_size, turn);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    win_close();
    mem_free(buffer, buf);
}

static void copies(void)
{
    for (int turn = 0; turn < 2; turn++) {
        put_and_get(turn, HOST);
        put_and_get(turn, DEVICE);
    }
}

/* Every other element here, one behind the other there; and the reverse. */
static void types(void)
{
    enum { HALF = 20000 };
    for (int turn = 0; turn < 2; turn++) {
        ctran_datatype_t every_other;
        long            *buf = mem_new(DEVICE, sizeof host);
        OK(ctran_type_vector(HALF, 1, 2, CTRAN_LONG, &every_other));
        OK(ctran_type_commit(&every_other));
        win_open(turn);
        fill_host(check_rank, turn);
        mem_put(DEVICE, buf, host, sizeof host);
        OK(ctran_win_fence(0, w.win));
        OK(ctran_put(buf, 1, every_other, next, 0, HALF, CTRAN_LONG, w.win));
        OK(ctran_win_fence(0, w.win));
        OK(ctran_get(buf, 1, every_other, check_rank, 0, HALF, CTRAN_LONG, w.win));
        OK(ctran_win_fence(0, w.win));
        mem_get(DEVICE, host, buf, sizeof host);
        for (int i = 0; i < 2 * HALF; i++) {
            EXPECT_EQ(number(i % 2 == 0 ? last : check_rank, turn, i), host[i]);
        }
        EXPECT_RC(CTRAN_ERR_COUNT, ctran_put(buf, FEW, CTRAN_LONG, next, 0, 1, every_other, w.win));
        OK(ctran_put(buf, HALF, CTRAN_LONG, next, 1, 1, every_other, w.win));
        OK(ctran_win_fence(0, w.win));
        mem_get(w.kind, host, w.base, sizeof host);
        for (int i = 0; i < HALF; i++) {
            const int whose = i % 2 == 0 ? (last + check_size - 1) % check_size : last;
            EXPECT_EQ(number(whose, turn, i), host[2 * i + 1]);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        win_close();
        OK(ctran_type_free(&every_other));
        mem_free(DEVICE, buf);
    }
}

/* What a put before it has brought is there when the signal has come. */
static void signals(void)
{
    for (int turn = 0; turn < 2; turn++) {
        win_open(turn);
        fill_host(check_rank, turn);
        OK(ctran_win_lock_all(0, w.win));
        OK(ctran_put_signal(host, LONGS, CTRAN_LONG, next, 0, LONGS, CTRAN_LONG, w.win));
        OK(ctran_wait_signal(last, 1, w.win));
        OK(ctran_win_flush(next, w.win)); /* the buffer is the program's again */
        mem_get(w.kind, host, w.base, sizeof host);
        expect_host(last, turn);
        OK(ctran_win_unlock_all(w.win));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        win_close();
    }
}

/* ---- updates --------------------------------------------------------------------------------- */

/* All ranks add to each; none is lost. */
static void sums(void)
{
    for (int turn = 0; turn < 2; turn++) {
        win_open(turn);
        fill_host(0, turn);
        OK(ctran_win_lock_all(0, w.win));
        for (int r = 0; r < check_size; r++) {
            OK(ctran_accumulate(host, LONGS, CTRAN_LONG, r, 0, LONGS, CTRAN_LONG, CTRAN_SUM,
                                w.win));
        }
        OK(ctran_win_unlock_all(w.win));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        mem_get(w.kind, host, w.base, sizeof host);
        for (int i = 0; i < LONGS; i++) {
            EXPECT_EQ(check_size * number(0, turn, i), host[i]);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        win_close();
    }
}

/* fetch_and_op gives out each number once; compare_and_swap lets one rank in at a time. */
static void counters(void)
{
    enum { TIMES = 20 };
    for (int turn = 0; turn < 2; turn++) {
        long *buf = mem_new(DEVICE, 3 * sizeof *buf), seen = -1, v[3] = {1, 0, 0};
        win_open(turn);
        OK(ctran_win_lock_all(0, w.win));
        for (int i = 0; i < TIMES; i++) {
            mem_put(DEVICE, buf, v, sizeof v);
            OK(ctran_fetch_and_op(buf, &buf[1], CTRAN_LONG, 0, 2, CTRAN_SUM, w.win));
            OK(ctran_win_flush(0, w.win));
            long now[3];
            mem_get(DEVICE, now, buf, sizeof now);
            EXPECT(now[1] > seen && now[1] < TIMES * check_size);
            seen = now[1];
        }
        for (long at = 0, found = -1; found != at;) { /* adds 1 by compare and swap */
            const long swap[3] = {at + 1, 0, at};
            mem_put(DEVICE, buf, swap, sizeof swap);
            OK(ctran_compare_and_swap(buf, &buf[2], &buf[1], CTRAN_LONG, 0, 3, w.win));
            OK(ctran_win_flush(0, w.win));
            mem_get(DEVICE, &found, &buf[1], sizeof found);
            if (found != at) {
                at = found;
                found = -1;
            }
        }
        OK(ctran_win_unlock_all(w.win));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        mem_get(w.kind, host, w.base, sizeof host);
        EXPECT(check_rank != 0 || (host[2] == (long)TIMES * check_size && host[3] == check_size));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        win_close();
        mem_free(DEVICE, buf);
    }
}

/* ---- dynamic windows ------------------------------------------------------------------------- */

/* Ranges of both kinds in one window. */
static void dynamic(void)
{
    enum { BYTES = FEW * sizeof(long) };
    long        *memory[2] = {mem_new(HOST, BYTES), mem_new(DEVICE, BYTES)}, v = 7 + check_rank;
    ctran_aint_t at[2], all[64][2];
    ctran_win_t  win;
    EXPECT(check_size <= 64);
    OK(ctran_win_create_dynamic(CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &win));
    for (int k = 0; k < 2; k++) {
        memset(host, 0, BYTES);
        mem_put(k, memory[k], host, BYTES);
        OK(ctran_win_attach(win, memory[k], BYTES));
        OK(ctran_get_address(memory[k], &at[k]));
    }
    OK(ctran_allgather(at, sizeof at, CTRAN_BYTE, all, sizeof at, CTRAN_BYTE, CTRAN_COMM_WORLD));
    const int to = (check_rank + 1) % check_size;
    OK(ctran_win_lock_all(0, win));
    for (int k = 0; k < 2; k++) {
        OK(ctran_put(&v, 1, CTRAN_LONG, to, all[to][k] + 8, 1, CTRAN_LONG, win));
        OK(ctran_win_flush(to, win));
        OK(ctran_accumulate(&v, 1, CTRAN_LONG, to, all[to][k] + 8, 1, CTRAN_LONG, CTRAN_SUM, win));
    }
    OK(ctran_win_unlock_all(win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    for (int k = 0; k < 2; k++) {
        mem_get(k, host, memory[k], BYTES);
        EXPECT_EQ(0, host[0]);
        EXPECT_EQ(2 * (7 + (check_rank + check_size - 1) % check_size), host[1]);
        OK(ctran_win_detach(win, memory[k]));
    }
    OK(ctran_win_free(&win));
    mem_free(HOST, memory[HOST]);
    mem_free(DEVICE, memory[DEVICE]);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"queries", queries},   {"allocated", allocated}, {"copies", copies},
        {"types", types},       {"signals", signals},     {"sums", sums},
        {"counters", counters}, {"dynamic", dynamic},
    };
    check_start(argc, argv);
    mem_start();
    check_run(subjects, LEN(subjects));
    return check_end();
}
