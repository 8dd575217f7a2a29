/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of the way into the job, and the facts that need no launcher. */
#define CT_FOLDER "pmi"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmi/pmi.h"

/* Of the host, not of this rank's own binding: whether ranks have to share cores is a question
 * about all of them. */
static uint32_t online_cpus(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* CTRAN_NODE_RANKS: the ranks of this host, so many at a time, as those of hosts of their own.
 * Their share of the cores is theirs. */
static void split_host(struct ct_job *job, uint32_t ranks)
{
    uint32_t node = job->local_index / ranks, first = node * ranks;
    uint32_t n = (uint32_t)ct_min_size(ranks, job->nlocal - first);
    job->ncpus = (uint32_t)ct_max_size((size_t)job->ncpus * n / job->nlocal, 1);
    job->local_group = (job->local_group ^ (node + 1)) * 1099511628211u;
    job->local_index -= first;
    job->local_ranks += first;
    job->nlocal = n;
}

uint32_t ct_job_local_index(const struct ct_job *job, uint32_t id)
{
    const uint32_t *const ranks = job->local_ranks;
    const uint32_t        rank = id - job->first; /* of another job: no rank of this one */
    uint32_t              low = 0, n = job->nlocal;
    if (job->placement.all == NULL || (rank < n && ranks[rank] == rank)) {
        return job->placement.all != NULL ? rank : n; /* on one host each has its own number */
    }
    while (low < n) {
        const uint32_t middle = low + (n - low) / 2;
        if (ranks[middle] == rank) {
            return middle;
        }
        if (ranks[middle] < rank) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    return job->nlocal;
}

int ct_job_key(struct ct_job *job, struct ct_auth_key *key)
{
    const char *hex = getenv(CT_ENV_KEY);
    if (hex == NULL) {
        return job->ops->key(job, key);
    }
    int rc = ct_auth_key_from_hex(key, hex);
    if (rc != CTRAN_SUCCESS) {
        ct_error(&job->p->log, "%s, which the launcher sets, is no key", CT_ENV_KEY);
    }
    return rc;
}

const char *ct_job_told(const char *name)
{
    const char *told = getenv(name), *nspace = getenv("PMIX_NAMESPACE");
    const char *text = told != NULL ? strchr(told, '|') : NULL;
    bool        ours = text != NULL && nspace != NULL && strlen(nspace) == (size_t)(text - told) &&
                memcmp(told, nspace, strlen(nspace)) == 0;
    return ours ? text + 1 : NULL;
}

void ct_job_open_status(const struct ct_job *job)
{
    const char *path = ct_job_told(CT_ENV_STATUS);
    if (path != NULL) {
        ct_blocked_open(path, job->local_index);
    }
}

bool ct_job_slurm_place(const char **addr, const char **kinds)
{
    *addr = getenv("SLURM_TOPOLOGY_ADDR");
    *kinds = getenv("SLURM_TOPOLOGY_ADDR_PATTERN");
    return *addr != NULL && *kinds != NULL;
}

const char *ct_job_visible_gpus(void)
{
    return getenv("CUDA_VISIBLE_DEVICES");
}

uint32_t ct_job_foresee(char *host, size_t cap)
{
    const char *told = getenv("PMIX_HOSTNAME"), *size = getenv(CT_ENV_SIZE);
    int64_t     n;
    if (told != NULL) {
        snprintf(host, cap, "%s", told);
    } else if (gethostname(host, cap) != 0) {
        snprintf(host, cap, "localhost");
    }
    host[cap - 1] = '\0';
    if (!ct_job_under_pmix()) {
        return 1;
    }
    const bool known = size != NULL && ct_config_number(CT_VAR_INT, size, &n);
    return known && n > 0 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

int ct_job_open(struct ct_process *p)
{
    int rc = ct_job_under_pmix() ? ct_job_open_pmix(p, &p->job) : ct_job_open_single(p, &p->job);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_job *job = p->job;
    job->ncpus = online_cpus();
    ct_calibration_guess(&job->calibration);
    if (p->cfg.node_ranks > 0) {
        split_host(job, (uint32_t)p->cfg.node_ranks);
    }
    snprintf(p->log.who, sizeof p->log.who, "%.64s:%u", job->host, job->rank);
    ct_info(&p->log, "job %s (%s): rank %u of %u, %u of %u on %s, %u cpus", job->id, job->ops->name,
            job->rank, job->size, job->local_index, job->nlocal, job->host, job->ncpus);
    return CTRAN_SUCCESS;
}

int ct_job_meet(struct ct_process *p)
{
    struct ct_job *job = p->job;
    if (job->missed) {
        ct_error(&p->log,
                 "this process cannot join job %s any more: an earlier ctran_init has failed, and "
                 "the hosts of a job meet once only; end the job and start it again",
                 job->id);
        return CTRAN_ERR_BOOTSTRAP;
    }
    int rc = job->met ? CTRAN_SUCCESS : job->ops->meet(job);
    job->met = rc == CTRAN_SUCCESS;
    job->missed = rc != CTRAN_SUCCESS && job->nlocal < job->size;
    return rc;
}

void ct_job_close(struct ct_process *p)
{
    if (p->job != NULL) {
        p->job->ops->close(p->job);
        p->job = NULL;
    }
}
