/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi - how a process joins its job: who it is, who is on its host, and the one exchange of
 * addresses. Two ways in: PMIx, under any launcher that speaks it, and alone, as a job of one.
 *
 * From a foreign launcher only put, commit, fence and get are asked (and abort, best effort).
 */
#ifndef CT_PMI_PMI_H
#define CT_PMI_PMI_H

#include "base/base.h"

struct ct_job;

/* One way to be part of a job. A test supplies its own, to hold many ranks in one process. */
struct ct_job_ops {
    const char *name;
    /* Hands over this process's card, and returns when every process has done so or the deadline
     * has passed (CTRAN_ERR_BOOTSTRAP, logged). The bytes are copied. */
    int (*exchange)(struct ct_job *job, const void *card, size_t len_bytes);
    /* The card of process `id`, valid until close; local or one round trip to the node's server.
     * CTRAN_ERR_BOOTSTRAP, logged. */
    int (*lookup)(struct ct_job *job, uint32_t id, const void **card, size_t *len_bytes);
    /* Tells the launcher that the job shall end. Returns when the word is given. */
    void (*abort)(struct ct_job *job, int status, const char *text);
    void (*close)(struct ct_job *job);
};

/* Facts, fixed from open to close. */
struct ct_job {
    const struct ct_job_ops *ops;
    struct ct_process       *p;
    char                     id[64];    /* for names and messages */
    char                     host[256]; /* as the launcher calls it */
    uint32_t                 rank, size;
    uint32_t                 local_index, nlocal; /* among the job's processes on this host */
    uint64_t                 local_group;         /* equal on these, different elsewhere */
    uint32_t                 ncpus;               /* of this host */
};

/* Finds out how the process was started and joins; sets p->job. Errors are logged. */
int ct_job_open(struct ct_process *p);
/* Leaves; p->job becomes NULL. */
void ct_job_close(struct ct_process *p);

/* The two ways; each returns with *job set, or a logged error. */
int  ct_job_open_pmix(struct ct_process *p, struct ct_job **job);
int  ct_job_open_single(struct ct_process *p, struct ct_job **job);
bool ct_job_under_pmix(void);

#endif
