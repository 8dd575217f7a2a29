/* SPDX-License-Identifier: BSD-3-Clause */
/* A process started by hand: a job of one rank. */
#define CT_FOLDER "pmi"
#include <stdlib.h>
#include <unistd.h>

#include "pmi/pmi.h"

struct single {
    struct ct_job job;
    void         *record;
    size_t        len_bytes;
};

static const uint32_t zero = 0;

static int single_publish(struct ct_job *job, const void *record, size_t len_bytes)
{
    struct single *s = CT_CONTAINER_OF(job, struct single, job);
    free(s->record);
    s->record = malloc(len_bytes);
    if (s->record == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    memcpy(s->record, record, len_bytes);
    s->len_bytes = len_bytes;
    job->renews_calibration = ct_calibration_load(&job->calibration, &job->p->cfg, &job->p->log);
    return CTRAN_SUCCESS;
}

static int single_meet(struct ct_job *job)
{
    (void)job;
    return CTRAN_SUCCESS;
}

static int single_lookup(struct ct_job *job, uint32_t id, const void **record, size_t *len_bytes)
{
    struct single *s = CT_CONTAINER_OF(job, struct single, job);
    if (id != 0 || s->record == NULL) {
        return CTRAN_ERR_BOOTSTRAP;
    }
    *record = s->record;
    *len_bytes = s->len_bytes;
    return CTRAN_SUCCESS;
}

/* A job of one rank has no peers. */
static int single_key(struct ct_job *job, struct ct_auth_key *key)
{
    (void)job;
    return ct_auth_key_make(key);
}

static void single_abort(struct ct_job *job, int status, const char *text)
{
    (void)job, (void)status, (void)text;
}

static void single_close(struct ct_job *job)
{
    struct single *s = CT_CONTAINER_OF(job, struct single, job);
    free(s->record);
    free(s);
}

static const struct ct_job_ops single_ops = {
    .name = "alone",
    .publish = single_publish,
    .meet = single_meet,
    .lookup = single_lookup,
    .key = single_key,
    .abort = single_abort,
    .close = single_close,
};

int ct_job_open_single(struct ct_process *p, struct ct_job **job)
{
    struct single *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->job = (struct ct_job){.ops = &single_ops,
                             .p = p,
                             .rank = 0,
                             .size = 1,
                             .nlocal = 1,
                             .local_group = 1,
                             .local_ranks = &zero,
                             .app = -1,
                             .universe = -1};
    snprintf(s->job.id, sizeof s->job.id, "p%d", (int)getpid());
    if (gethostname(s->job.host, sizeof s->job.host - 1) != 0) {
        snprintf(s->job.host, sizeof s->job.host, "localhost");
    }
    *job = &s->job;
    return CTRAN_SUCCESS;
}
