/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisation of windows: which call may follow which, as MPI-4.1 sec. 12.5 has it. A rank is
 * in one access epoch at most, and in one exposure epoch beside it. A fence opens an epoch in which
 * nothing need be done: as long as nothing has been, another kind of epoch may take its place.
 */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/win.h"

static enum ct_win_access access_of(const struct ct_win *win)
{
    return (enum ct_win_access)atomic_load_explicit(&win->access, memory_order_relaxed);
}

static void set_access(struct ct_win *win, enum ct_win_access access)
{
    atomic_store_explicit(&win->access, (uint8_t)access, memory_order_relaxed);
    atomic_store_explicit(&win->issued, false, memory_order_relaxed);
}

/* Whether no access epoch is open, or one that a fence has opened and that was not used. */
static bool is_idle(const struct ct_win *win)
{
    const enum ct_win_access access = access_of(win);
    return access == CT_ACCESS_NONE || (access == CT_ACCESS_FENCE && !win->issued);
}

static int check_assert(struct ct_win *win, const char *call, int assert, int allowed)
{
    return (assert & ~allowed) == 0
               ? CTRAN_SUCCESS
               : ct_api_raise(win->comm, CTRAN_ERR_ASSERT, call,
                              "assert has the bits %#x, of which this call takes %#x",
                              (unsigned)assert, (unsigned)allowed);
}

/* Describes a wait that may be long. */
#define BLOCKING(win, call, rc, what)                                                              \
    do {                                                                                           \
        struct ct_blocked b_;                                                                      \
        ct_api_block(&b_, call, (win)->comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);                    \
        rc = what;                                                                                 \
        ct_blocked_end(&b_);                                                                       \
    } while (0)

/* ---- fence ----------------------------------------------------------------------------------- */

int ctran_win_fence(int assert, ctran_win_t handle)
{
    static const char call[] = "ctran_win_fence";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc == CTRAN_SUCCESS) {
        rc = check_assert(win, call, assert,
                          CTRAN_MODE_NOSTORE | CTRAN_MODE_NOPUT | CTRAN_MODE_NOPRECEDE |
                              CTRAN_MODE_NOSUCCEED);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (access_of(win) > CT_ACCESS_FENCE || win->exposed) {
        return ct_win_wrong_epoch(win, call, "an epoch of another kind is open");
    }
    if ((assert &CTRAN_MODE_NOPRECEDE) != 0 && win->issued) {
        return ct_win_wrong_epoch(win, call,
                                  "CTRAN_MODE_NOPRECEDE is not so: there were operations");
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, win->comm);
    rc = ct_win_fence(win, (assert &CTRAN_MODE_NOPRECEDE) == 0);
    ct_api_met(&m, rc);
    set_access(win, (assert &CTRAN_MODE_NOSUCCEED) != 0 ? CT_ACCESS_NONE : CT_ACCESS_FENCE);
    return ct_api_pass(win->comm, rc, call);
}

/* ---- post, start, complete, wait ------------------------------------------------------------- */

/* The ranks of a group in the window: new memory. */
static int ranks_of(struct ct_win *win, const char *call, ctran_group_t handle, uint32_t **out,
                    uint32_t *n)
{
    struct ct_group *group = ct_group_of(win->p, handle);
    if (group == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_GROUP, call, "it is no group, or was freed");
    }
    uint32_t *ranks = malloc(ct_max_size(group->n, 1) * sizeof *ranks);
    if (ranks == NULL) {
        return ct_api_raise(win->comm, CTRAN_ERR_NO_MEM, call, "for %u ranks", group->n);
    }
    for (uint32_t i = 0; i < group->n; i++) {
        const int rank = ct_group_find(win->comm->group, ct_group_id_of(group, i));
        if (rank < 0) {
            free(ranks);
            return ct_api_raise(win->comm, CTRAN_ERR_GROUP, call,
                                "its member %u is no rank of the window", i);
        }
        ranks[i] = (uint32_t)rank;
    }
    free(*out);
    *out = ranks;
    *n = group->n;
    return CTRAN_SUCCESS;
}

int ctran_win_post(ctran_group_t group, int assert, ctran_win_t handle)
{
    static const char call[] = "ctran_win_post";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc == CTRAN_SUCCESS) {
        rc = check_assert(win, call, assert,
                          CTRAN_MODE_NOCHECK | CTRAN_MODE_NOSTORE | CTRAN_MODE_NOPUT);
    }
    if (rc == CTRAN_SUCCESS &&
        (win->exposed || (access_of(win) == CT_ACCESS_FENCE && win->issued))) {
        rc = ct_win_wrong_epoch(win, call, "the window is exposed already");
    }
    rc = rc == CTRAN_SUCCESS ? ranks_of(win, call, group, &win->posted, &win->nposted) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (access_of(win) == CT_ACCESS_FENCE) {
        set_access(win, CT_ACCESS_NONE);
    }
    win->exposed = true;
    return ct_api_pass(win->comm, ct_win_post(win, (assert &CTRAN_MODE_NOCHECK) == 0), call);
}

static void mark_started(struct ct_win *win, bool started)
{
    for (uint32_t i = 0; i < win->nstarted; i++) {
        win->peers[win->starts[i]].started = started;
    }
}

int ctran_win_start(ctran_group_t group, int assert, ctran_win_t handle)
{
    static const char call[] = "ctran_win_start";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    rc = rc == CTRAN_SUCCESS ? check_assert(win, call, assert, CTRAN_MODE_NOCHECK) : rc;
    if (rc == CTRAN_SUCCESS && !is_idle(win)) {
        rc = ct_win_wrong_epoch(win, call, "an access epoch is open");
    }
    rc = rc == CTRAN_SUCCESS ? ranks_of(win, call, group, &win->starts, &win->nstarted) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    BLOCKING(win, call, rc, ct_win_start(win, (assert &CTRAN_MODE_NOCHECK) == 0));
    set_access(win, CT_ACCESS_START);
    mark_started(win, true);
    return ct_api_pass(win->comm, rc, call);
}

int ctran_win_complete(ctran_win_t handle)
{
    static const char call[] = "ctran_win_complete";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (access_of(win) != CT_ACCESS_START) {
        return ct_win_wrong_epoch(win, call, "there was no ctran_win_start");
    }
    BLOCKING(win, call, rc, ct_win_complete(win));
    mark_started(win, false);
    set_access(win, CT_ACCESS_NONE);
    return ct_api_pass(win->comm, rc, call);
}

int ctran_win_wait(ctran_win_t handle)
{
    static const char call[] = "ctran_win_wait";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (!win->exposed) {
        return ct_win_wrong_epoch(win, call, "there was no ctran_win_post");
    }
    BLOCKING(win, call, rc, ct_win_wait(win));
    win->exposed = false;
    return ct_api_pass(win->comm, rc, call);
}

int ctran_win_test(ctran_win_t handle, int *flag)
{
    static const char call[] = "ctran_win_test";
    struct ct_win    *win;
    bool              over;
    int               rc = ct_check_win_for(call, handle, &win, flag, "flag");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (!win->exposed) {
        return ct_win_wrong_epoch(win, call, "there was no ctran_win_post");
    }
    rc = ct_win_test(win, &over);
    win->exposed = !over;
    *flag = over;
    return ct_api_pass(win->comm, rc, call);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static int check_lock(struct ct_win *win, const char *call, int assert)
{
    int rc = check_assert(win, call, assert, CTRAN_MODE_NOCHECK);
    if (rc == CTRAN_SUCCESS && (win->hints & CT_WIN_NO_LOCKS) != 0) {
        rc = ct_win_wrong_epoch(win, call, "the window was made with no_locks");
    }
    return rc;
}

static int check_rank_lock(const char *call, int lock_type, int rank, int assert,
                           struct ct_win *win)
{
    int rc = check_lock(win, call, assert);
    if (rc == CTRAN_SUCCESS && lock_type != CTRAN_LOCK_SHARED &&
        lock_type != CTRAN_LOCK_EXCLUSIVE) {
        rc =
            ct_api_raise(win->comm, CTRAN_ERR_LOCKTYPE, call,
                         "it is %d, neither CTRAN_LOCK_SHARED nor CTRAN_LOCK_EXCLUSIVE", lock_type);
    }
    if (rc == CTRAN_SUCCESS && rank != CTRAN_PROC_NULL) {
        rc = ct_check_target(win, call, rank);
    }
    if (rc == CTRAN_SUCCESS && access_of(win) != CT_ACCESS_LOCK && !is_idle(win)) {
        rc = ct_win_wrong_epoch(win, call, "an access epoch of another kind is open");
    }
    if (rc == CTRAN_SUCCESS && rank != CTRAN_PROC_NULL && win->peers[rank].hold != CT_HOLD_NONE) {
        rc = ct_win_wrong_epoch(win, call, "this rank has locked it already");
    }
    return rc;
}

/* Several threads may lock several ranks. */
static void count_locks(struct ct_win *win, int change)
{
    ct_domain_enter(win->p);
    win->nlocked += (uint32_t)change;
    set_access(win, win->nlocked > 0 ? CT_ACCESS_LOCK : CT_ACCESS_NONE);
    ct_domain_leave(win->p);
}

int ctran_win_lock(int lock_type, int rank, int assert, ctran_win_t handle)
{
    static const char call[] = "ctran_win_lock";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    rc = rc == CTRAN_SUCCESS ? check_rank_lock(call, lock_type, rank, assert, win) : rc;
    if (rc != CTRAN_SUCCESS || rank == CTRAN_PROC_NULL) {
        return rc;
    }
    BLOCKING(win, call, rc,
             ct_win_lock(win, &win->peers[rank],
                         lock_type == CTRAN_LOCK_SHARED ? CT_HOLD_SHARED : CT_HOLD_EXCLUSIVE,
                         (assert &CTRAN_MODE_NOCHECK) == 0));
    if (rc == CTRAN_SUCCESS) {
        count_locks(win, 1);
    }
    return ct_api_pass(win->comm, rc, call);
}

int ctran_win_lock_all(int assert, ctran_win_t handle)
{
    static const char call[] = "ctran_win_lock_all";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    rc = rc == CTRAN_SUCCESS ? check_lock(win, call, assert) : rc;
    if (rc == CTRAN_SUCCESS && !is_idle(win)) {
        rc = ct_win_wrong_epoch(win, call, "an access epoch is open");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    BLOCKING(win, call, rc, ct_win_lock_all(win, (assert &CTRAN_MODE_NOCHECK) == 0));
    set_access(win, CT_ACCESS_LOCK_ALL);
    return ct_api_pass(win->comm, rc, call);
}

/* Whether the rank may be flushed or unlocked; CTRAN_PROC_NULL may. */
static int check_held(const char *call, int rank, ctran_win_t handle, bool all_too,
                      struct ct_win **win)
{
    int rc = ct_check_win(call, handle, win);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS || rank == CTRAN_PROC_NULL)) {
        return rc;
    }
    rc = ct_check_target(*win, call, rank);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        const enum ct_win_access access = access_of(*win);
        const bool held = access == CT_ACCESS_LOCK ? (*win)->peers[rank].hold != CT_HOLD_NONE
                                                   : all_too && access == CT_ACCESS_LOCK_ALL;
        rc = CT_LIKELY(held)
                 ? rc
                 : ct_win_wrong_epoch(*win, call, "this rank has not locked the target");
    }
    return rc;
}

int ctran_win_unlock(int rank, ctran_win_t handle)
{
    static const char call[] = "ctran_win_unlock";
    struct ct_win    *win;
    int               rc = check_held(call, rank, handle, false, &win);
    if (rc != CTRAN_SUCCESS || rank == CTRAN_PROC_NULL) {
        return rc;
    }
    rc = ct_win_unlock(win, &win->peers[rank]);
    count_locks(win, -1);
    return ct_api_pass(win->comm, rc, call);
}

static int check_all(const char *call, ctran_win_t handle, bool each_too, struct ct_win **win)
{
    int rc = ct_check_win(call, handle, win);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        const enum ct_win_access access = access_of(*win);
        if (CT_UNLIKELY(access != CT_ACCESS_LOCK_ALL && !(each_too && access == CT_ACCESS_LOCK))) {
            rc = ct_win_wrong_epoch(*win, call,
                                    each_too ? "there is no passive target epoch"
                                             : "there was no ctran_win_lock_all");
        }
    }
    return rc;
}

int ctran_win_unlock_all(ctran_win_t handle)
{
    static const char call[] = "ctran_win_unlock_all";
    struct ct_win    *win;
    int               rc = check_all(call, handle, false, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_win_unlock_all(win);
    set_access(win, CT_ACCESS_NONE);
    return ct_api_pass(win->comm, rc, call);
}

/* ---- flush ----------------------------------------------------------------------------------- */

static inline int flush_one(const char *call, int rank, ctran_win_t handle, bool local)
{
    struct ct_win *win;
    int            rc = check_held(call, rank, handle, true, &win);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS || rank == CTRAN_PROC_NULL)) {
        return rc;
    }
    rc = local ? ct_win_flush_local(win, &win->peers[rank]) : ct_win_flush(win, &win->peers[rank]);
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? rc : ct_api_pass(win->comm, rc, call);
}

static int flush_all(const char *call, ctran_win_t handle, bool local)
{
    struct ct_win *win;
    int            rc = check_all(call, handle, true, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = local ? ct_win_flush_local(win, NULL) : ct_win_flush(win, NULL);
    return ct_api_pass(win->comm, rc, call);
}

int ctran_win_flush(int rank, ctran_win_t win)
{
    return flush_one("ctran_win_flush", rank, win, false);
}

int ctran_win_flush_local(int rank, ctran_win_t win)
{
    return flush_one("ctran_win_flush_local", rank, win, true);
}

int ctran_win_flush_all(ctran_win_t win)
{
    return flush_all("ctran_win_flush_all", win, false);
}

int ctran_win_flush_local_all(ctran_win_t win)
{
    return flush_all("ctran_win_flush_local_all", win, true);
}

/* Memory is unified: what is to be done is to order, and to take in what has come by message. */
int ctran_win_sync(ctran_win_t handle)
{
    static const char call[] = "ctran_win_sync";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc == CTRAN_SUCCESS) {
        atomic_thread_fence(memory_order_seq_cst);
        (void)ct_domain_poll_once(win->p);
        atomic_thread_fence(memory_order_seq_cst);
    }
    return rc;
}
