/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of the way into the job, and the facts that need no launcher. */
#define CT_FOLDER "pmi"
#include <unistd.h>

#include "pmi/pmi.h"

/* Of the host, not of this rank's own binding: whether ranks have to share cores is a question
 * about all of them. */
static uint32_t online_cpus(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

int ct_job_open(struct ct_process *p)
{
    int rc = ct_job_under_pmix() ? ct_job_open_pmix(p, &p->job) : ct_job_open_single(p, &p->job);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_job *job = p->job;
    job->ncpus = online_cpus();
    snprintf(p->log.who, sizeof p->log.who, "%.64s:%u", job->host, job->rank);
    ct_info(&p->log, "job %s (%s): rank %u of %u, %u of %u on %s, %u cpus", job->id, job->ops->name,
            job->rank, job->size, job->local_index, job->nlocal, job->host, job->ncpus);
    return CTRAN_SUCCESS;
}

void ct_job_close(struct ct_process *p)
{
    if (p->job != NULL) {
        p->job->ops->close(p->job);
        p->job = NULL;
    }
}
