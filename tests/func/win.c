/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * win - windows as objects: kinds, sizes, attributes, names, error handlers, hints; memory that is
 * attached and shared; signals; keys of windows that are gone. Operations are in win_ops.c, epochs
 * in win_epochs.c, random epochs in win_random.c.
 */
#include "win.h"

bool win_is_shared(void)
{
    const char *shared = getenv("WIN_SHARED");
    return shared == NULL || strcmp(shared, "0") != 0;
}

long *win_new(ctran_comm_t comm, int longs, ctran_win_t *win)
{
    long *base;
    OK(ctran_win_allocate((ctran_aint_t)(longs * (int)sizeof *base), sizeof *base, CTRAN_INFO_NULL,
                          comm, &base, win));
    memset(base, 0, (size_t)longs * sizeof *base);
    OK(ctran_win_set_errhandler(*win, CTRAN_ERRORS_RETURN));
    OK(ctran_barrier(comm));
    return base;
}

/* ---- attributes, names, hints ---------------------------------------------------------------- */

static int deleted, copied;

static int on_delete(ctran_win_t win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval;
    deleted += value == &deleted && extra == &copied;
    return CTRAN_SUCCESS;
}

static void expect_attr(ctran_win_t win, int key, long wanted)
{
    void *value;
    int   flag;
    OK(ctran_win_get_attr(win, key, &value, &flag));
    EXPECT_EQ(1, flag);
    EXPECT_EQ(wanted, key == CTRAN_WIN_BASE   ? (intptr_t)value
                      : key == CTRAN_WIN_SIZE ? *(ctran_aint_t *)value
                                              : *(int *)value);
}

static void attributes(void)
{
    ctran_win_t win;
    long       *base = win_new(CTRAN_COMM_WORLD, 10 + check_rank, &win);
    int         key, flag;
    void       *value;
    expect_attr(win, CTRAN_WIN_BASE, (intptr_t)base);
    expect_attr(win, CTRAN_WIN_SIZE, (10 + check_rank) * (long)sizeof *base);
    expect_attr(win, CTRAN_WIN_DISP_UNIT, sizeof *base);
    expect_attr(win, CTRAN_WIN_CREATE_FLAVOR, CTRAN_WIN_FLAVOR_ALLOCATE);
    expect_attr(win, CTRAN_WIN_MODEL, CTRAN_WIN_UNIFIED);
    OK(ctran_win_create_keyval(CTRAN_WIN_NULL_COPY_FN, on_delete, &key, &copied));
    OK(ctran_win_get_attr(win, key, &value, &flag));
    EXPECT_EQ(0, flag);
    OK(ctran_win_set_attr(win, key, &copied));
    OK(ctran_win_delete_attr(win, key));
    EXPECT_EQ(0, deleted);
    OK(ctran_win_set_attr(win, key, &deleted));
    OK(ctran_win_get_attr(win, key, &value, &flag));
    EXPECT_PTR(&deleted, value);
    const int freed = key;
    OK(ctran_win_free_keyval(&key));
    EXPECT_EQ(CTRAN_KEYVAL_INVALID, key);
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_win_set_attr(win, freed + 1, NULL));
    EXPECT_RC(CTRAN_ERR_KEYVAL, ctran_win_set_attr(win, CTRAN_WIN_BASE, NULL));
    OK(ctran_win_free(&win));
    EXPECT_EQ(1, deleted);
    EXPECT(win == CTRAN_WIN_NULL);
}

static void names(void)
{
    char        name[CTRAN_MAX_OBJECT_NAME], longer[2 * CTRAN_MAX_OBJECT_NAME];
    int         len;
    ctran_win_t win;
    win_new(CTRAN_COMM_WORLD, 1, &win);
    OK(ctran_win_get_name(win, name, &len));
    EXPECT_EQ(0, len);
    OK(ctran_win_set_name(win, "halo"));
    OK(ctran_win_get_name(win, name, &len));
    EXPECT(strcmp(name, "halo") == 0 && len == 4);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    OK(ctran_win_set_name(win, longer));
    OK(ctran_win_get_name(win, name, &len));
    EXPECT_EQ(CTRAN_MAX_OBJECT_NAME - 1, len);
    OK(ctran_win_get_name(CTRAN_WIN_NULL, name, &len));
    EXPECT(strcmp(name, "CTRAN_WIN_NULL") == 0);
    OK(ctran_win_free(&win));
}

static void expect_hint(ctran_win_t win, const char *key, const char *wanted)
{
    ctran_info_t info;
    char         value[64] = "";
    int          len = sizeof value, flag;
    OK(ctran_win_get_info(win, &info));
    OK(ctran_info_get_string(info, key, &len, value, &flag));
    EXPECT(flag == (wanted != NULL));
    EXPECT(wanted == NULL || strcmp(value, wanted) == 0);
    OK(ctran_info_free(&info));
}

static void hints(void)
{
    ctran_info_t info;
    ctran_win_t  win;
    long        *base;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "no_locks", "true"));
    OK(ctran_info_set(info, "accumulate_ordering", "rar,waw"));
    OK(ctran_info_set(info, "accumulate_ops", "same_op"));
    OK(ctran_info_set(info, "same_size", "true"));
    OK(ctran_info_set(info, "same_disp_unit", "maybe"));
    OK(ctran_info_set(info, "mpi_accumulate_granularity", "8"));
    OK(ctran_info_set(info, "no_such_hint", "true"));
    OK(ctran_win_allocate(64, 1, info, CTRAN_COMM_WORLD, &base, &win));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    expect_hint(win, "no_locks", "true");
    expect_hint(win, "accumulate_ordering", "rar,waw");
    expect_hint(win, "accumulate_ops", "same_op");
    expect_hint(win, "same_size", "true");
    expect_hint(win, "same_disp_unit", "false");
    expect_hint(win, "mpi_accumulate_granularity", "8");
    expect_hint(win, "alloc_shared_noncontig", NULL);
    expect_hint(win, "no_such_hint", NULL);
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock(CTRAN_LOCK_SHARED, 0, 0, win));
    EXPECT_RC(CTRAN_ERR_RMA_SYNC, ctran_win_lock_all(0, win));
    OK(ctran_info_set(info, "accumulate_ordering", "rar,xyz"));
    OK(ctran_win_set_info(win, info));
    expect_hint(win, "accumulate_ordering", "rar,waw");
    OK(ctran_info_set(info, "accumulate_ordering", "none"));
    OK(ctran_win_set_info(win, info));
    expect_hint(win, "accumulate_ordering", "none");
    OK(ctran_info_free(&info));
    OK(ctran_win_free(&win));
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int         told_code;
static ctran_win_t told_win;

static void on_error(ctran_win_t *win, int *code, ...)
{
    told_win = *win;
    told_code = *code;
}

static void error_handlers(void)
{
    ctran_errhandler_t handler, found;
    ctran_win_t        win;
    long               v = 0;
    win_new(CTRAN_COMM_WORLD, 1, &win);
    OK(ctran_win_create_errhandler(on_error, &handler));
    OK(ctran_win_set_errhandler(win, handler));
    EXPECT_RC(CTRAN_ERR_RANK, (ctran_win_fence(0, win),
                               ctran_put(&v, 1, CTRAN_LONG, check_size, 0, 1, CTRAN_LONG, win)));
    EXPECT(told_code == CTRAN_ERR_RANK && told_win == win);
    OK(ctran_win_call_errhandler(win, CTRAN_ERR_OTHER));
    EXPECT_EQ(CTRAN_ERR_OTHER, told_code);
    OK(ctran_win_get_errhandler(win, &found));
    EXPECT(found == handler);
    OK(ctran_errhandler_free(&found));
    EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_comm_set_errhandler(CTRAN_COMM_SELF, handler));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    OK(ctran_errhandler_free(&handler));
    EXPECT_RC(CTRAN_ERR_ERRHANDLER, ctran_win_set_errhandler(win, CTRAN_ERRHANDLER_NULL));
    OK(ctran_win_free(&win));
}

static void bad_windows(void)
{
    ctran_win_t  win = CTRAN_WIN_NULL;
    long        *base;
    ctran_aint_t size, unit;
    EXPECT_RC(CTRAN_ERR_WIN, ctran_win_fence(0, win));
    EXPECT_RC(CTRAN_ERR_WIN, ctran_win_free(&win));
    EXPECT_RC(CTRAN_ERR_WIN, ctran_win_free(NULL));
    EXPECT_RC(CTRAN_ERR_WIN, ctran_win_shared_query(win, 0, &size, &unit, &base));
    EXPECT_RC(CTRAN_ERR_SIZE,
              ctran_win_allocate(-1, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &base, &win));
    EXPECT_RC(CTRAN_ERR_DISP,
              ctran_win_allocate(8, 0, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &base, &win));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_win_create(NULL, 8, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &win));
    EXPECT_RC(CTRAN_ERR_ARG,
              ctran_win_allocate(8, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, NULL, &win));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_win_create_dynamic(CTRAN_INFO_NULL, CTRAN_COMM_NULL, &win));
    win_new(CTRAN_COMM_WORLD, 1, &win);
    EXPECT_RC(CTRAN_ERR_RMA_FLAVOR, ctran_win_attach(win, &size, sizeof size));
    EXPECT_RC(CTRAN_ERR_RMA_FLAVOR, ctran_win_detach(win, &size));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_win_shared_query(win, check_size, &size, &unit, &base));
    OK(ctran_win_free(&win));
}

/* ---- communicators --------------------------------------------------------------------------- */

/* Each rank's number at each other. */
static void put_ranks(ctran_comm_t comm)
{
    ctran_win_t win;
    int         me, n;
    OK(ctran_comm_rank(comm, &me));
    OK(ctran_comm_size(comm, &n));
    long *base = win_new(comm, n, &win);
    long  v = 100 + me;
    OK(ctran_win_fence(0, win));
    for (int t = 0; t < n; t++) {
        OK(ctran_put(&v, 1, CTRAN_LONG, t, me, 1, CTRAN_LONG, win));
    }
    OK(ctran_win_fence(0, win));
    for (int t = 0; t < n; t++) {
        EXPECT_EQ(100 + t, base[t]);
    }
    OK(ctran_win_free(&win));
}

static void communicators(void)
{
    ctran_comm_t comm;
    put_ranks(CTRAN_COMM_SELF);
    put_ranks(CTRAN_COMM_WORLD);
    OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, -check_rank, &comm));
    put_ranks(comm);
    OK(ctran_comm_free(&comm));
}

static void groups(void)
{
    ctran_win_t   win;
    ctran_group_t group, world;
    int           result;
    win_new(CTRAN_COMM_WORLD, 1, &win);
    OK(ctran_win_get_group(win, &group));
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    OK(ctran_group_compare(group, world, &result));
    EXPECT_EQ(CTRAN_IDENT, result);
    OK(ctran_group_free(&world));
    OK(ctran_group_free(&group));
    OK(ctran_win_free(&win));
}

/* More windows than ranges and regions that a process has. */
static void many(void)
{
    enum { MANY = 150 };
    static ctran_win_t wins[MANY];
    static long       *bases[MANY];
    for (int i = 0; i < MANY; i++) {
        bases[i] = win_new(CTRAN_COMM_WORLD, 2, &wins[i]);
    }
    const int next = (check_rank + 1) % check_size;
    for (int i = 0; i < MANY; i++) {
        long v = 1000 * i + check_rank, one = 1, old;
        OK(ctran_win_fence(0, wins[i]));
        OK(ctran_put(&v, 1, CTRAN_LONG, next, 0, 1, CTRAN_LONG, wins[i]));
        OK(ctran_fetch_and_op(&one, &old, CTRAN_LONG, 0, 1, CTRAN_SUM, wins[i]));
        OK(ctran_win_fence(0, wins[i]));
        EXPECT_EQ(1000 * i + (check_rank + check_size - 1) % check_size, bases[i][0]);
        EXPECT_EQ(check_rank == 0 ? check_size : 0, bases[i][1]);
    }
    for (int i = MANY; i-- > 0;) {
        OK(ctran_win_free(&wins[i]));
    }
}

/* ---- shared memory --------------------------------------------------------------------------- */

static void shared_by(const char *noncontig)
{
    ctran_info_t info;
    ctran_win_t  win;
    long        *base, *theirs;
    ctran_aint_t size, unit;
    OK(ctran_info_create(&info));
    OK(ctran_info_set(info, "alloc_shared_noncontig", noncontig));
    const ctran_aint_t longs = 3 + check_rank;
    OK(ctran_win_allocate_shared(longs * (ctran_aint_t)sizeof *base, sizeof *base, info,
                                 CTRAN_COMM_WORLD, &base, &win));
    expect_hint(win, "alloc_shared_noncontig", noncontig);
    OK(ctran_info_free(&info));
    OK(ctran_win_lock_all(CTRAN_MODE_NOCHECK, win));
    for (long i = 0; i < longs; i++) {
        base[i] = 100 * check_rank + i;
    }
    OK(ctran_win_sync(win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_sync(win));
    char *first = NULL;
    for (int r = 0; r < check_size; r++) {
        OK(ctran_win_shared_query(win, r, &size, &unit, &theirs));
        EXPECT_EQ((3 + r) * (long)sizeof *base, size);
        EXPECT_EQ(sizeof *base, unit);
        for (int i = 0; i < 3 + r; i++) {
            EXPECT_EQ(100 * r + i, theirs[i]);
        }
        if (strcmp(noncontig, "false") == 0) {
            EXPECT(first == NULL || first == (char *)theirs);
            first = (char *)theirs + size;
        }
    }
    OK(ctran_win_shared_query(win, CTRAN_PROC_NULL, &size, &unit, &theirs));
    EXPECT_EQ(0, theirs[0]);
    OK(ctran_win_unlock_all(win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_free(&win));
}

static void shared(void)
{
    if (win_is_shared()) {
        shared_by("false");
        shared_by("true");
        return;
    }
    ctran_win_t win;
    long       *base;
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    EXPECT_RC(check_size > 1 ? CTRAN_ERR_RMA_SHARED : CTRAN_SUCCESS,
              ctran_win_allocate_shared(8, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &base, &win));
    if (check_size == 1) {
        OK(ctran_win_free(&win));
    }
}

/* A hint of one rank alone is none: where each rank's memory lies is agreed. */
static void shared_by_some(void)
{
    ctran_info_t info;
    ctran_win_t  win;
    long        *base, *theirs;
    ctran_aint_t size, unit;
    const int    next = (check_rank + 1) % check_size;
    if (!win_is_shared()) {
        return;
    }
    OK(ctran_info_create(&info));
    if (check_rank == 0) {
        OK(ctran_info_set(info, "alloc_shared_noncontig", "true"));
        OK(ctran_info_set(info, "no_locks", "true"));
    }
    OK(ctran_win_allocate_shared(4096, sizeof *base, info, CTRAN_COMM_WORLD, &base, &win));
    OK(ctran_info_free(&info));
    expect_hint(win, "alloc_shared_noncontig", check_size == 1 ? "true" : "false");
    expect_hint(win, "no_locks", check_size == 1 ? "true" : "false");
    base[0] = 100 + check_rank;
    OK(ctran_win_fence(0, win));
    OK(ctran_win_shared_query(win, next, &size, &unit, &theirs));
    EXPECT_EQ(100 + next, theirs[0]);
    OK(ctran_win_fence(0, win));
    OK(ctran_win_free(&win));
}

/* Ranks without memory, and the first that has any. */
static void shared_empty(void)
{
    ctran_win_t  win;
    ctran_aint_t size, unit;
    char        *base, *theirs;
    const int    owner = check_size - 1;
    if (!win_is_shared()) {
        return;
    }
    OK(ctran_win_allocate_shared(check_rank == owner ? 8 : 0, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                                 &base, &win));
    OK(ctran_win_fence(0, win));
    OK(ctran_win_shared_query(win, CTRAN_PROC_NULL, &size, &unit, &theirs));
    EXPECT_EQ(8, size);
    theirs[check_rank % 8] = (char)(check_rank + 1);
    OK(ctran_win_fence(0, win));
    EXPECT(check_rank != owner || theirs == base);
    EXPECT_EQ(check_size <= 8 ? 1 : theirs[0], theirs[0]);
    OK(ctran_win_free(&win));
    OK(ctran_win_allocate_shared(0, 1, CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &base, &win));
    OK(ctran_win_fence(0, win));
    OK(ctran_win_free(&win));
}

/* ---- dynamic windows ------------------------------------------------------------------------- */

static void dynamic(void)
{
    enum { LONGS = 8 };
    static long  memory[3][LONGS];
    ctran_aint_t at[2], all[64][2];
    ctran_win_t  win;
    long         v = 7 + check_rank, got = 0;
    EXPECT(check_size <= 64);
    OK(ctran_win_create_dynamic(CTRAN_INFO_NULL, CTRAN_COMM_WORLD, &win));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    expect_attr(win, CTRAN_WIN_CREATE_FLAVOR, CTRAN_WIN_FLAVOR_DYNAMIC);
    expect_attr(win, CTRAN_WIN_BASE, 0);
    OK(ctran_win_attach(win, memory[0], sizeof memory[0]));
    OK(ctran_win_attach(win, memory[2], sizeof memory[2]));
    EXPECT_RC(CTRAN_ERR_RMA_ATTACH, ctran_win_attach(win, &memory[0][1], sizeof(long)));
    EXPECT_RC(CTRAN_ERR_RMA_ATTACH, ctran_win_detach(win, &memory[0][1]));
    OK(ctran_get_address(memory[0], &at[0]));
    OK(ctran_get_address(memory[2], &at[1]));
    OK(ctran_allgather(at, sizeof at, CTRAN_BYTE, all, sizeof at, CTRAN_BYTE, CTRAN_COMM_WORLD));
    const int next = (check_rank + 1) % check_size;
    OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, next, 0, win));
    OK(ctran_put(&v, 1, CTRAN_LONG, next, all[next][1] + 8, 1, CTRAN_LONG, win));
    OK(ctran_win_flush(next, win));
    OK(ctran_get(&got, 1, CTRAN_LONG, next, all[next][1] + 8, 1, CTRAN_LONG, win));
    OK(ctran_win_unlock(next, win));
    EXPECT_EQ(v, got);
    /* What is not attached is refused, and is an error of the synchronisation; nothing changes. */
    OK(ctran_win_lock(CTRAN_LOCK_SHARED, next, 0, win));
    OK(ctran_put(&v, 1, CTRAN_LONG, next, all[next][0] + (ctran_aint_t)sizeof memory[0], 1,
                 CTRAN_LONG, win));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, ctran_win_flush(next, win));
    OK(ctran_win_unlock(next, win));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    EXPECT_EQ(0, memory[1][0]);
    EXPECT_EQ(7 + (check_rank + check_size - 1) % check_size, memory[2][1]);
    OK(ctran_win_detach(win, memory[0]));
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_win_lock_all(0, win));
    OK(ctran_put(&v, 1, CTRAN_LONG, next, all[next][0], 1, CTRAN_LONG, win));
    EXPECT_RC(CTRAN_ERR_RMA_RANGE, ctran_win_unlock_all(win));
    OK(ctran_win_free(&win));
    EXPECT_EQ(0, memory[0][0]);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void signals(void)
{
    enum { ROUNDS = 200, LONGS = 64 };
    ctran_win_t win;
    long       *base = win_new(CTRAN_COMM_WORLD, LONGS * check_size, &win), mine[LONGS];
    const int   next = (check_rank + 1) % check_size,
              last = (check_rank + check_size - 1) % check_size;
    int flag;
    OK(ctran_test_signal(last, 0, win, &flag));
    EXPECT_EQ(1, flag);
    EXPECT_RC(CTRAN_ERR_RMA_SYNC,
              ctran_put_signal(mine, LONGS, CTRAN_LONG, next, 0, LONGS, CTRAN_LONG, win));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_wait_signal(last, -1, win));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_wait_signal(check_size, 1, win));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_test_signal(last, 1, win, NULL));
    OK(ctran_win_lock_all(CTRAN_MODE_NOCHECK, win));
    for (int i = 1; i <= ROUNDS; i++) {
        for (int k = 0; k < LONGS; k++) {
            mine[k] = 1000 * i + k;
        }
        OK(ctran_put_signal(mine, LONGS, CTRAN_LONG, next, LONGS * check_rank, LONGS, CTRAN_LONG,
                            win));
        if (i % 3 == 0) {
            do {
                OK(ctran_test_signal(last, 2 * i - 1, win, &flag));
            } while (!flag);
        } else {
            OK(ctran_wait_signal(last, 2 * i - 1, win));
        }
        for (int k = 0; k < LONGS; k++) {
            EXPECT_EQ(1000 * i + k, base[LONGS * last + k]);
        }
        OK(ctran_signal(last, win)); /* it may put again */
        OK(ctran_wait_signal(next, check_size == 2 ? 2 * i : check_size == 1 ? 2 * i : i, win));
        if (check_size > 2) {
            OK(ctran_signal(next, win));
        }
        OK(ctran_signal(CTRAN_PROC_NULL, win));
    }
    OK(ctran_win_unlock_all(win));
    OK(ctran_win_free(&win));
}

/* A long put with gaps, whose signal comes before that of a short one behind it. */
static void signals_in_order(void)
{
    enum { ROUNDS = 10, LONGS = 20000 };
    ctran_win_t      win;
    ctran_datatype_t gaps;
    long            *base = win_new(CTRAN_COMM_WORLD, 2 * LONGS + 1, &win);
    long            *mine = calloc(LONGS, sizeof *mine);
    const int        next = (check_rank + 1) % check_size,
              last = (check_rank + check_size - 1) % check_size;
    EXPECT(mine != NULL);
    OK(ctran_type_vector(LONGS, 1, 2, CTRAN_LONG, &gaps));
    OK(ctran_type_commit(&gaps));
    OK(ctran_win_lock_all(CTRAN_MODE_NOCHECK, win));
    for (int i = 1; i <= ROUNDS; i++) {
        for (int k = 0; k < LONGS; k++) {
            mine[k] = i;
        }
        OK(ctran_put_signal(mine, LONGS, CTRAN_LONG, next, 0, 1, gaps, win));
        OK(ctran_put_signal(mine, 1, CTRAN_LONG, next, 2 * LONGS, 1, CTRAN_LONG, win));
        OK(ctran_wait_signal(last, 2 * i - 1, win));
        EXPECT_EQ(i, ((volatile long *)base)[2 * LONGS - 2]);
        OK(ctran_wait_signal(last, 2 * i, win));
        EXPECT_EQ(i, ((volatile long *)base)[2 * LONGS]);
        OK(ctran_win_flush(next, win));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    OK(ctran_win_unlock_all(win));
    OK(ctran_type_free(&gaps));
    OK(ctran_win_free(&win));
    free(mine);
}

/* ---- windows that are gone ------------------------------------------------------------------- */

/* A window at the address of one that was freed is another one. */
static void again(void)
{
    enum { LONGS = 16 };
    static long memory[LONGS];
    ctran_win_t win, old;
    const int   next = (check_rank + 1) % check_size;
    for (int i = 0; i < 20; i++) {
        long v = i;
        memset(memory, 0, sizeof memory);
        OK(ctran_win_create(memory, sizeof memory, sizeof(long), CTRAN_INFO_NULL, CTRAN_COMM_WORLD,
                            &win));
        OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
        OK(ctran_win_fence(0, win));
        OK(ctran_put(&v, 1, CTRAN_LONG, next, i % LONGS, 1, CTRAN_LONG, win));
        OK(ctran_accumulate(&v, 1, CTRAN_LONG, next, (i + 1) % LONGS, 1, CTRAN_LONG, CTRAN_SUM,
                            win));
        OK(ctran_win_fence(0, win));
        EXPECT(memory[i % LONGS] == i && memory[(i + 1) % LONGS] == i);
        old = win;
        OK(ctran_win_free(&win));
        EXPECT(win == CTRAN_WIN_NULL);
    }
    (void)old;
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"attributes", attributes},
        {"names", names},
        {"hints", hints},
        {"error_handlers", error_handlers},
        {"bad_windows", bad_windows},
        {"communicators", communicators},
        {"groups", groups},
        {"many", many},
        {"shared", shared},
        {"shared_by_some", shared_by_some},
        {"shared_empty", shared_empty},
        {"dynamic", dynamic},
        {"signals", signals},
        {"signals_in_order", signals_in_order},
        {"again", again},
        {"wrong_epochs", win_wrong_epochs},
        {"fences", win_fences},
        {"locks", win_locks},
        {"nocheck", win_nocheck},
        {"pscw", win_pscw},
        {"bad_arguments", win_bad_arguments},
        {"no_process", win_no_process},
        {"long", win_long},
        {"requests", win_requests},
        {"units", win_units},
        {"counters", win_counters},
        {"misaligned", win_misaligned},
        {"placed", win_placed},
        {"empty_members", win_empty_members},
        {"flush_local", win_flush_local},
    };
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    check_run(subjects, LEN(subjects));
    return check_end();
}
