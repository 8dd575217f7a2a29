/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine of a process; see here.h. Used by comm, ended by api. */
#define CT_FOLDER "topo"
#include "topo/here.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi/pmi.h"
#include "topo/rail.h"
#include "topo/share.h"
#include "topo/synthetic.h"

static struct ct_machine_view *view_of(const struct ct_process *p)
{
    return atomic_load_explicit(&p->machine, memory_order_acquire);
}

/* The text that distinguishes the job's part on this node from all others, as in the table of
 * records, and one described machine from another and from the real one; "": there is no process to
 * share with. */
static void name_of(const struct ct_process *p, char *name, size_t cap)
{
    const struct ct_job *job = p->job;
    const char          *machine = p->cfg.machine, *folder = p->cfg.machines;
    uint64_t             what = job->tag * 1099511628211u ^ job->local_group;
    name[0] = '\0';
    if (machine[0] != '\0') {
        what = ct_fnv1a(what, machine, strlen(machine) + 1);
        what = ct_fnv1a(what, folder, strlen(folder) + 1);
    }
    if (job->nlocal > 1) {
        snprintf(name, cap, "%s-machine-%016" PRIx64, job->id, what);
    }
}

static int read_asked(struct ct_machine *m, const struct ct_log *log, void *arg)
{
    const struct ct_config *cfg = arg;
    char                    why[512] = "";
    int                     rc = ct_machine_read(m, cfg, log, why, sizeof why);
    if (rc == CTRAN_ERR_ARG) {
        ct_error(log, "CTRAN_MACHINE=%s: %s", cfg->machine, why);
        rc = CTRAN_ERR_OTHER;
    }
    return rc;
}

static int read_it(struct ct_process *p, struct ct_machine_view **view)
{
    char name[128];
    name_of(p, name, sizeof name);
    int rc = ct_machine_share(view, p->cfg.shm_dir, name, (uint32_t)p->cfg.bootstrap_timeout,
                              read_asked, &p->cfg, &p->log);
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

/* ---- the user's maps ------------------------------------------------------------------------- */

static int check_nic_map(const struct ct_process *p, const struct ct_machine *m, char *why,
                         size_t cap)
{
    struct ct_rails *rails = malloc(sizeof *rails);
    int              rc = CTRAN_ERR_NO_MEM;
    if (rails != NULL) {
        rc = ct_rails_find(m, p->cfg.nic_map, rails, why, cap);
    }
    free(rails);
    return rc;
}

static int check_gpu_map(const struct ct_process *p, const struct ct_machine *m, char *why,
                         size_t cap)
{
    int gpu;
    return ct_rails_gpu_of(m, p->cfg.gpu_map, ct_job_visible_gpus(), p->job->local_index, &gpu, why,
                           cap);
}

int ct_machine_check_maps(struct ct_process *p)
{
    const struct ct_machine *m;
    const bool               nics = p->cfg.nic_map[0] != '\0', gpus = p->cfg.gpu_map[0] != '\0';
    char                     why[512] = "", text[640];
    if (!nics && !gpus) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_machine_here(p, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = nics ? check_nic_map(p, m, why, sizeof why) : CTRAN_SUCCESS;
    const bool of_nics = rc != CTRAN_SUCCESS;
    rc = rc == CTRAN_SUCCESS && gpus ? check_gpu_map(p, m, why, sizeof why) : rc;
    if (rc == CTRAN_ERR_ARG) {
        (void)snprintf(text, sizeof text, "%s is refused: %s (ctran-topology(7))",
                       of_nics ? "CTRAN_NIC_MAP" : "CTRAN_GPU_MAP", why);
        ct_log_once(p->job->once, &p->log, CT_FOLDER, text, CT_LOG_ONCE_MS);
        rc = CTRAN_ERR_CONFIG;
    } else if (rc == CTRAN_ERR_NO_MEM) {
        ct_error(&p->log, "no memory to hold %s against this machine",
                 of_nics ? "CTRAN_NIC_MAP" : "CTRAN_GPU_MAP");
    }
    return rc;
}
