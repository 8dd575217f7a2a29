/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals of windows; ctran_put_signal is in rma.c. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/win.h"

int ctran_signal(int target_rank, ctran_win_t handle)
{
    static const char call[] = "ctran_signal";
    struct ct_win    *win;
    int               rc = ct_check_win(call, handle, &win);
    if (rc != CTRAN_SUCCESS || target_rank == CTRAN_PROC_NULL) {
        return rc;
    }
    rc = ct_check_target(win, call, target_rank);
    return rc == CTRAN_SUCCESS
               ? ct_api_pass(win->comm, ct_win_signal(win, &win->peers[target_rank]), call)
               : rc;
}

static int check_source(const char *call, int source, ctran_count_t count, ctran_win_t handle,
                        struct ct_win **win)
{
    int rc = ct_check_win(call, handle, win);
    if (rc == CTRAN_SUCCESS && source != CTRAN_PROC_NULL) {
        rc = ct_check_target(*win, call, source);
    }
    if (rc == CTRAN_SUCCESS && count < 0) {
        rc = ct_api_raise((*win)->comm, CTRAN_ERR_COUNT, call, "count is %" PRId64 ", must be >= 0",
                          count);
    }
    return rc;
}

/* A wait for a signal, which only its source can end. */
struct blocked_signal {
    struct ct_blocked    base;
    const struct ct_win *win;
    uint32_t             source;
};

static void list_signal(struct ct_blocked *base)
{
    const struct blocked_signal *b = CT_CONTAINER_OF(base, struct blocked_signal, base);
    const struct ct_trace_item   item = {
          .kind = CT_TRACE_RECV,
          .peer = (int32_t)ct_comm_id_of(b->win->comm, b->source),
          .tag = -1,
          .comm = b->win->comm->id,
    };
    ct_blocked_item(base, &item);
}

int ctran_wait_signal(int source_rank, ctran_count_t count, ctran_win_t handle)
{
    static const char call[] = "ctran_wait_signal";
    struct ct_win    *win;
    int               rc = check_source(call, source_rank, count, handle, &win);
    if (rc != CTRAN_SUCCESS || source_rank == CTRAN_PROC_NULL) {
        return rc;
    }
    struct blocked_signal b = {.win = win, .source = (uint32_t)source_rank};
    ct_api_block(&b.base, call, win->comm, source_rank, CT_BLOCKED_NONE);
    b.base.list = list_signal;
    rc = ct_win_wait_signal(win, &win->peers[source_rank], (uint64_t)count);
    ct_blocked_end(&b.base);
    return ct_api_pass(win->comm, rc, call);
}

int ctran_test_signal(int source_rank, ctran_count_t count, ctran_win_t handle, int *flag)
{
    static const char call[] = "ctran_test_signal";
    struct ct_win    *win;
    int               rc = check_source(call, source_rank, count, handle, &win);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(win->comm, call, flag, "flag") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (source_rank == CTRAN_PROC_NULL) {
        *flag = 1;
        return CTRAN_SUCCESS;
    }
    const uint32_t rank = (uint32_t)source_rank;
    *flag = ct_win_signals_from(win, rank) >= (uint64_t)count;
    if (!*flag) {
        (void)ct_domain_poll_once(win->p);
        *flag = ct_win_signals_from(win, rank) >= (uint64_t)count;
    }
    if (!*flag && ct_comm_is_revoked(win->comm)) {
        return ct_api_pass(win->comm, CTRAN_ERR_REVOKED, call);
    }
    return !*flag && win->peers[rank].failed ? ct_api_pass(win->comm, CTRAN_ERR_PROC_FAILED, call)
                                             : CTRAN_SUCCESS;
}
