/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine of a process; see here.h. Used by comm, ended by api. */
#define CT_FOLDER "topo"
#include "topo/here.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "pmi/pmi.h"
#include "topo/share.h"

static struct ct_machine_view *view_of(const struct ct_process *p)
{
    return atomic_load_explicit(&p->machine, memory_order_acquire);
}

/* What tells the job's part on this node from all others, as the table of cards has it; "": there
 * is nobody to share with. */
static void name_of(const struct ct_job *job, char *name, size_t cap)
{
    name[0] = '\0';
    if (job->nlocal > 1) {
        snprintf(name, cap, "%s-machine-%016" PRIx64, job->id,
                 job->tag * 1099511628211u ^ job->local_group);
    }
}

static int read_it(struct ct_process *p, struct ct_machine_view **view)
{
    char name[128];
    name_of(p->job, name, sizeof name);
    int rc =
        ct_machine_share(view, p->cfg.shm_dir, name, (uint32_t)p->cfg.bootstrap_timeout, &p->log);
    if (rc == CTRAN_SUCCESS) {
        atomic_store_explicit(&p->machine, *view, memory_order_release);
    } else {
        atomic_store_explicit(&p->machine_error, rc, memory_order_relaxed);
    }
    return rc;
}

/* Threads that ask at once wait for the first: what hwloc and its plugins load is not made for
 * several at a time. */
int ct_machine_here(struct ct_process *p, const struct ct_machine **m)
{
    struct ct_machine_view *view = view_of(p);
    int                     rc = CTRAN_SUCCESS;
    if (view == NULL) {
        (void)pthread_mutex_lock(&p->machine_reading);
        view = view_of(p);
        rc = atomic_load_explicit(&p->machine_error, memory_order_relaxed);
        if (view == NULL && rc == CTRAN_SUCCESS) {
            rc = read_it(p, &view);
        }
        (void)pthread_mutex_unlock(&p->machine_reading);
    }
    if (view != NULL) {
        *m = ct_machine_of(view);
        rc = CTRAN_SUCCESS;
    }
    return rc;
}

uint32_t ct_machine_reads(const struct ct_process *p)
{
    const struct ct_machine_view *view = view_of(p);
    return view != NULL ? ct_machine_discoveries(view) : 0;
}

void ct_machine_leave(struct ct_process *p)
{
    ct_machine_unshare(atomic_exchange_explicit(&p->machine, NULL, memory_order_acq_rel));
    atomic_store_explicit(&p->machine_error, CTRAN_SUCCESS, memory_order_relaxed);
}
