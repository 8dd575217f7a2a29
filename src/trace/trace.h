/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace - what each process of a job has done and what it waits for, in memory of fixed size, for
 * those who look at a job that hangs or is slow. The floors report by the hooks of base/trace.h; no
 * floor but api, which opens the trace, includes this folder.
 *
 * The collective trace has each collective call: communicator, number, arguments, when it began and
 * ended. The wait trace has the waits that last: for which messages of which ranks. Both lie in a
 * segment (format.h), which the launcher's daemon makes and shares with each rank, so that it can
 * be read also when the rank is stopped or dead. Without that launcher the segment is the process's
 * own. dump.c writes it to a file; image.c reads what came from elsewhere.
 *
 * A collective call costs one look at the processor's counter and the stores into one line of the
 * cache; its end is stamped only if the call waited, or with CTRAN_TRACE=times. No lock is taken: a
 * call takes the next entry by an atomic addition, and only the taker of an entry writes it.
 */
#ifndef CT_TRACE_TRACE_H
#define CT_TRACE_TRACE_H

#include "base/base.h"
#include "trace/format.h"
#include "trace/image.h"

/* What the trace is told of the process. */
struct ct_trace_identity {
    const char *job, *host;
    uint32_t    rank, size;
    /* Where the launcher keeps the traces of this host, NULL: it does not, and the slot there. */
    const char *path;
    uint32_t    slot;
};

/* p->trace, unless CTRAN_TRACE is off. A trace that cannot be had is logged and does without:
 * CTRAN_SUCCESS. CTRAN_ERR_CONFIG: CTRAN_TRACE_DUMP makes no sense. */
int  ct_trace_open(struct ct_process *p, const struct ct_trace_identity *who);
void ct_trace_close(struct ct_process *p);

#endif
