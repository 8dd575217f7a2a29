/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * windows - a rank is killed inside an epoch of a window: those that live get CTRAN_ERR_PROC_FAILED
 * from the synchronisation that needs the dead one, its locks are free, and the window can be
 * freed. Run as windows MODE FLAVOR, under ctranrun --enable-recovery; the last rank dies.
 */
#include <signal.h>

#include "../func/check.h"

enum { LONGS = 4 };

static struct {
    const char  *mode;
    int          victim;
    ctran_win_t  win;
    long        *base, memory[LONGS];
    ctran_aint_t at[64];
} w;

static bool is_mode(const char *mode)
{
    return strcmp(w.mode, mode) == 0;
}

static bool is_victim(void)
{
    return check_rank == w.victim;
}

static void die(void)
{
    (void)raise(SIGKILL);
}

/* Where the i-th number of a target is. */
static ctran_aint_t place(int target, int i)
{
    return w.at[target] + i * (ctran_aint_t)sizeof(long);
}

static void open_window(const char *flavor)
{
    ctran_aint_t at = 0;
    w.base = w.memory;
    if (strcmp(flavor, "allocate") == 0) {
        OK(ctran_win_allocate(sizeof w.memory, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &w.base,
                              &w.win));
    } else if (strcmp(flavor, "create") == 0) {
        OK(ctran_win_create(w.memory, sizeof w.memory, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                            &w.win));
    } else {
        OK(ctran_win_create_dynamic(CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &w.win));
        OK(ctran_win_attach(w.win, w.memory, sizeof w.memory));
        OK(ctran_get_address(w.memory, &at));
    }
    memset(w.base, 0, sizeof w.memory);
    OK(ctran_win_set_errhandler(w.win, CTRAN_ERRORS_RETURN));
    OK(ctran_allgather(&at, sizeof at, CTRAN_BYTE, w.at, sizeof at, CTRAN_BYTE, CTRAN_COMM_WORLD));
}

/* The one that dies does so after all others have come here. */
static void begin_together(void)
{
    for (int r = 0; is_victim() && r < check_size - 1; r++) {
        OK(ctran_recv(NULL, 0, CTRAN_BYTE, r, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    }
    if (!is_victim()) {
        OK(ctran_send(NULL, 0, CTRAN_BYTE, w.victim, 0, CTRAN_COMM_WORLD));
    }
}

/* Whatever a call returns, it is this or success; true: it has failed. */
static bool has_failed(int rc)
{
    EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_PROC_FAILED);
    return rc != CTRAN_SUCCESS;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Each of those that live counts up under an exclusive lock at rank 0, which the dead one held. */
static void count_up(void)
{
    for (int i = 0; i < 10; i++) {
        long v;
        OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, 0, 0, w.win));
        OK(ctran_get(&v, 1, CTRAN_LONG, 0, place(0, 1), 1, CTRAN_LONG, w.win));
        OK(ctran_win_flush(0, w.win));
        v++;
        OK(ctran_put(&v, 1, CTRAN_LONG, 0, place(0, 1), 1, CTRAN_LONG, w.win));
        OK(ctran_win_unlock(0, w.win));
    }
}

/* Until all that live have counted. */
static void await_count(void)
{
    long v = 0;
    while (v < 10 * (check_size - 1)) {
        OK(ctran_win_lock(CTRAN_LOCK_SHARED, 0, 0, w.win));
        OK(ctran_get(&v, 1, CTRAN_LONG, 0, place(0, 1), 1, CTRAN_LONG, w.win));
        OK(ctran_win_unlock(0, w.win));
    }
    EXPECT_EQ(10 * (check_size - 1), v);
}

static void lock(int type)
{
    if (is_victim()) {
        OK(ctran_win_lock(type, 0, 0, w.win));
    }
    (void)has_failed(ctran_barrier(CTRAN_COMM_WORLD)); /* the one that dies may be through */
    if (is_victim()) {
        die();
    }
    count_up();
    await_count();
    while (!has_failed(ctran_win_lock(type, w.victim, 0, w.win)) &&
           !has_failed(ctran_win_unlock(w.victim, w.win))) {
    }
}

static void lock_all(void)
{
    OK(ctran_win_lock_all(0, w.win));
    (void)has_failed(ctran_barrier(CTRAN_COMM_WORLD)); /* the one that dies may be through */
    if (is_victim()) {
        die();
    }
    while (!has_failed(ctran_win_flush_all(w.win))) {
    }
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_flush(w.victim, w.win));
    OK(ctran_win_flush(0, w.win));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_unlock_all(w.win));
    count_up();
    await_count();
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Of all kinds, at the one that dies meanwhile. */
static void operations(void)
{
    long one = 1, old;
    bool failed = false;
    OK(ctran_win_lock_all(0, w.win));
    (void)has_failed(ctran_barrier(CTRAN_COMM_WORLD)); /* the one that dies may be through */
    for (int i = 0; !failed; i++) {
        const int t = w.victim;
        if (is_victim() && i == 100) {
            die();
        }
        (void)has_failed(ctran_put(&one, 1, CTRAN_LONG, t, place(t, 0), 1, CTRAN_LONG, w.win));
        (void)has_failed(
            ctran_accumulate(&one, 1, CTRAN_LONG, t, place(t, 1), 1, CTRAN_LONG, CTRAN_SUM, w.win));
        (void)has_failed(
            ctran_fetch_and_op(&one, &old, CTRAN_LONG, t, place(t, 2), CTRAN_SUM, w.win));
        (void)has_failed(ctran_get(&old, 1, CTRAN_LONG, t, place(t, 3), 1, CTRAN_LONG, w.win));
        failed = has_failed(ctran_win_flush(t, w.win));
    }
    OK(ctran_put(&one, 1, CTRAN_LONG, 0, place(0, 0), 1, CTRAN_LONG, w.win));
    OK(ctran_win_flush(0, w.win));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_unlock_all(w.win));
}

/* ---- the others ------------------------------------------------------------------------------ */

static void fence(void)
{
    long one = 1;
    (void)has_failed(ctran_win_fence(0, w.win)); /* the one that dies may be through */
    if (is_victim()) {
        die();
    }
    (void)has_failed(
        ctran_put(&one, 1, CTRAN_LONG, w.victim, place(w.victim, 0), 1, CTRAN_LONG, w.win));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_fence(0, w.win));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_fence(0, w.win));
}

/* It dies without a post, which start waits for; or without a complete, as wait does. */
static void groups(bool posts)
{
    ctran_group_t all;
    OK(ctran_win_get_group(w.win, &all));
    if (posts || !is_victim()) {
        (void)has_failed(ctran_win_post(all, 0, w.win));
    }
    if (is_victim()) {
        die();
    }
    if (posts) {
        (void)has_failed(ctran_win_start(all, 0, w.win));
        (void)has_failed(ctran_win_complete(w.win));
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_wait(w.win));
    } else {
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_start(all, 0, w.win));
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_complete(w.win));
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_win_wait(w.win));
    }
    OK(ctran_group_free(&all));
}

static void wait_for_signal(void)
{
    if (is_victim()) {
        for (int t = 0; t < check_size; t++) {
            OK(ctran_signal(t, w.win));
        }
    }
    (void)has_failed(ctran_barrier(CTRAN_COMM_WORLD)); /* the one that dies may be through */
    if (is_victim()) {
        die();
    }
    OK(ctran_wait_signal(w.victim, 1, w.win));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_wait_signal(w.victim, 2, w.win));
    OK(ctran_wait_signal(w.victim, 1, w.win));
}

int main(int argc, char **argv)
{
    EXPECT(argc == 3);
    w.mode = argv[1];
    check_errors_return();
    OK(ctran_init(NULL, NULL));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    w.victim = check_size - 1;
    open_window(argv[2]);
    begin_together();
    if (is_mode("exclusive") || is_mode("shared")) {
        lock(is_mode("shared") ? CTRAN_LOCK_SHARED : CTRAN_LOCK_EXCLUSIVE);
    } else if (is_mode("lock_all")) {
        lock_all();
    } else if (is_mode("operations")) {
        operations();
    } else if (is_mode("fence")) {
        fence();
    } else if (is_mode("start") || is_mode("wait")) {
        groups(is_mode("wait"));
    } else {
        EXPECT(is_mode("signal"));
        wait_for_signal();
    }
    OK(ctran_win_free(&w.win));
    OK(ctran_finalize());
    printf("done %d\n", check_rank);
    return 0;
}
