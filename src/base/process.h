/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank: the root of all mutable state. Internal functions are given a ct_process, so that a
 * test or an emulation can hold many ranks in one operating-system process; only src/api keeps
 * one in a global, for the public interface.
 *
 * Each floor hangs its own state here behind a pointer that it alone looks into, made by its
 * _init and released by its _fini in reverse order of the floors.
 */
#ifndef CT_BASE_PROCESS_H
#define CT_BASE_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/area.h"
#include "base/codes.h"
#include "base/config.h"
#include "base/errhandler.h"
#include "base/info.h"
#include "base/log.h"
#include "base/session.h"

struct ct_process {
    struct ct_log    log;
    struct ct_config cfg;

    /* At any time, before init and after finalize too. */
    struct ct_codes        codes;
    struct ct_infos        infos;
    struct ct_errhandlers  errhandlers;
    struct ct_mpi_sessions sessions;

    /* mem: how the program's memory at an address is read and written, NULL: it is plain. Where no
     * memory is anything else there is no function. */
    const struct ct_memory *(*memory_of)(struct ct_process *p, const void *at);
    struct ct_memory memory; /* what it returns */

    /* From the first init to the end of the process, as are log and cfg: others may be in a later
     * cycle of init and finalize than this process, and send to it already. */
    struct ct_policy *policy;        /* coll: which algorithms run */
    uint64_t          tuning_digest; /* of its table: the same on all ranks, as ep makes sure */
    struct ct_trace  *trace;         /* trace: what this process does; NULL: it is off */
    struct ct_job    *job;           /* pmi: who and where this rank is */
    struct ct_expose *exposed;       /* mem: what the program allocates for all of the host */
    struct ct_ep_set *ep;            /* ep: endpoints and the transports below them */
    struct ct_p2p    *p2p;           /* p2p: matching */
    struct ct_ft     *ft;            /* ft: agreements, and revocations that came early */
    struct ct_ports  *ports;         /* comm: where other processes call */
    _Atomic uint32_t  ncomm_numbers; /* comm: numbers of communicators that were given ... */
    uint32_t          nworlds;       /* ... and worlds that there have been: none comes again */

    /* A cycle, from an init to the last finalize. */
    struct ct_gpu     *gpu;          /* gpu: NULL where there is no driver, or CTRAN_GPU=off */
    struct ct_mem     *mem;          /* mem: registrations, imports, pools */
    int                thread_level; /* CTRAN_THREAD_* provided */
    bool               threaded;     /* several threads may be inside at once: locks are on */
    struct ct_types   *types;        /* dtype: names and attributes of datatypes */
    struct ct_runner  *run;          /* coll/run: plans */
    struct ct_comms   *comms;        /* comm: world, self */
    struct ct_rma     *rma;          /* rma: windows, and the ids of their messages */
    struct ct_streams *streams;      /* stream: contexts and their thread; NULL: none yet */

    /* topo: the machine, from the first question for it to the end of the cycle */
    _Atomic(struct ct_machine_view *) machine;
    _Atomic int                       machine_error;   /* by which it could not be read */
    pthread_mutex_t                   machine_reading; /* one thread at a time; begins as zeros */
};

static inline const struct ct_memory *ct_memory_of(struct ct_process *p, const void *at)
{
    return CT_LIKELY(p->memory_of == NULL) ? NULL : p->memory_of(p, at);
}

#endif
