/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message that several processes would log alike is logged by the first one only. The others do
 * not go on before the message is logged, since one that went on and ended the job could end the
 * first process in the middle.
 *
 * Used by topo, for settings that a node's ranks share; the memory is in pmi's table of records.
 */
#ifndef CT_BASE_LOG_ONCE_H
#define CT_BASE_LOG_ONCE_H

#include "base/log.h"
#include "base/wait.h"

/* That the first may take, which needs to write a line but may not run for long: a bound. */
enum { CT_LOG_ONCE_MS = 10000 };

/* In memory that the processes share; it begins as zeros. */
struct ct_log_once {
    _Atomic uint32_t state; /* see log_once.c */
    uint64_t         text;  /* a digest of what was said */
    struct ct_wake   wake;
};

/* Logs the text as an error of `folder`, unless another process has logged this text. One that
 * differs is logged, after it; and where the other takes longer than limit_ms (CT_LOG_ONCE_MS), as
 * when it has died, each says it. NULL: no other process would log it. Any thread. */
void ct_log_once(struct ct_log_once *once, const struct ct_log *log, const char *folder,
                 const char *text, uint32_t limit_ms);

#endif
