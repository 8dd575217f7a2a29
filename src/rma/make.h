/* SPDX-License-Identifier: BSD-3-Clause */
/* What win.c and make.c share: the making of windows. */
#ifndef CT_RMA_MAKE_H
#define CT_RMA_MAKE_H

#include "rma/own.h"

/* All exchanges of a window that has its communicator and its peers. After an error the caller
 * destroys it. */
int ct_win_exchange(struct ct_win *win, const struct ct_win_plan *plan);
/* Messages for the window find it from now on. */
void ct_win_list(struct ct_win *win);
/* Gives back memory of a window, which may be NULL. */
void ct_win_put_memory(struct ct_process *p, void *at);

/* What a rank says of itself, before and after it has allocated and exposed memory. */
struct ct_win_fact {
    int64_t  size_bytes, disp_unit;
    int32_t  rc;
    uint32_t hints;
    uint32_t key_bytes, ctl_key_bytes, export_bytes;
};
/* Why what a rank says cannot be true; NULL: it can. */
const char *ct_win_fact_fault(const struct ct_win_fact *fact);

static inline bool ct_win_is_noncontig(const struct ct_win *win)
{
    return (win->hints & CT_WIN_NONCONTIG) != 0;
}

#endif
