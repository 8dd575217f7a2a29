/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of stream_mends share. */
#ifndef CT_TESTS_FUNC_STREAM_MENDS_H
#define CT_TESTS_FUNC_STREAM_MENDS_H

#include "check.h"
#include "gpu.h"

#include "stream/context.h"

extern CUstream stream;

struct ct_process *process(void);
/* The emulated driver alone makes calls fail on demand: emu/cuda/inject.c. */
bool inject(const char *list);
/* A communicator that has made its first stream-ordered call, on all ranks. */
ctran_comm_t open_comm(void);
void         close_comm(ctran_comm_t *comm);
/* Until all that was enqueued is known to be over. */
void settle(void);
bool is_direct(void);

/* Subjects of stream_refused.c. */
void told(void);
void unreachable(void);
void refused_alone(void);
void unlike(void);
void small_and_counted(void);
void in_step(void);

#endif
