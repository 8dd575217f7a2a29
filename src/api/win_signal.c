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

int ctran_wait_signal(int source_rank, ctran_count_t count, ctran_win_t handle)
{
    static const char call[] = "ctran_wait_signal";
    struct ct_win    *win;
    struct ct_blocked b;
    int               rc = check_source(call, source_rank, count, handle, &win);
    if (rc != CTRAN_SUCCESS || source_rank == CTRAN_PROC_NULL) {
        return rc;
    }
    ct_api_block(&b, call, win->comm, source_rank, CT_BLOCKED_NONE);
    rc = ct_win_wait_signal(win, &win->peers[source_rank], (uint64_t)count);
    ct_blocked_end(&b);
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
