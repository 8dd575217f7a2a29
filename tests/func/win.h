/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of tests/func/win share. */
#ifndef CT_TESTS_FUNC_WIN_H
#define CT_TESTS_FUNC_WIN_H

#include "check.h"

/* Whether ranks are to share memory: WIN_SHARED=0 says that they do not. */
bool win_is_shared(void);

/* A window of `longs` numbers on each rank, which are zeros, whose errors are returned. */
long *win_new(ctran_comm_t comm, int longs, ctran_win_t *win);

/* win_epochs.c */
void win_wrong_epochs(void);
void win_fences(void);
void win_locks(void);
void win_nocheck(void);
void win_pscw(void);

/* win_ops.c */
void win_bad_arguments(void);
void win_no_process(void);
void win_long(void);
void win_requests(void);
void win_units(void);
void win_counters(void);
void win_misaligned(void);
void win_placed(void);
void win_empty_members(void);
void win_flush_local(void);

#endif
