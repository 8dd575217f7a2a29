/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls about windows share: their checks. Each raises what is wrong and returns it. */
#ifndef CT_API_WIN_H
#define CT_API_WIN_H

#include "api/api.h"
#include "rma/rma.h"

/* The window behind a handle, in a process where calls are possible. */
int               ct_check_win_slowly(const char *call, ctran_win_t handle);
static inline int ct_check_win(const char *call, ctran_win_t handle, struct ct_win **out)
{
    *out = CT_LIKELY(ct_api_now() == CT_API_RUNNING) ? ct_win_of(handle) : NULL;
    return CT_LIKELY(*out != NULL) ? CTRAN_SUCCESS : ct_check_win_slowly(call, handle);
}

/* Like ct_check_win for a call that leaves a result at `out`, its argument `name`. */
static inline int ct_check_win_for(const char *call, ctran_win_t handle, struct ct_win **win,
                                   const void *out, const char *name)
{
    int rc = ct_check_win(call, handle, win);
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? ct_check_out((*win)->comm, call, out, name) : rc;
}

/* A rank of the window, not CTRAN_PROC_NULL. */
int               ct_check_target_slowly(struct ct_win *win, const char *call, int rank);
static inline int ct_check_target(struct ct_win *win, const char *call, int rank)
{
    return CT_LIKELY(rank >= 0 && (uint32_t)rank < win->n)
               ? CTRAN_SUCCESS
               : ct_check_target_slowly(win, call, rank);
}

/* Of a window that is for streams, else nothing: its context, collective; and the end of what is on
 * streams. win_stream.c */
int  ct_win_open_streams(struct ct_win *win);
void ct_win_settle_streams(struct ct_win *win);

/* CTRAN_ERR_RMA_SYNC. */
int ct_win_wrong_epoch(struct ct_win *win, const char *call, const char *why) CT_COLD;

#endif
