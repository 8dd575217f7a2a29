/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carrying a described collective out: plan after plan, at once or in the background. Invariant of
 * the latter: as long as `kind` is not 0 either a plan or messages are under way, and make the task
 * ready; or a step is being taken.
 */
#define CT_FOLDER "coll"
#include <stdlib.h>

#include "coll/coll.h"
#include "pmi/pmi.h"

/* Whether the collective can go through shared memory, which is made when it looks worth it: when
 * the communicator has seen some collectives. Or before its first reduction, since with it the
 * order of sums changes, and equal sums shall be equal whenever they are made. In a job that
 * outlives deaths there is none: who writes and does not wait would not notice that a member is
 * gone. */
static int find_shm_coll(struct ct_comm *comm, uint32_t coll, const struct ct_run_args *args,
                         size_t bytes, bool *shm)
{
    struct ct_run_ctx *run = &comm->run;
    const uint32_t     after = (uint32_t)comm->p->cfg.coll_shm;
    int                rc = CTRAN_SUCCESS;
    if (CT_UNLIKELY(!run->shm_tried && !comm->p->job->events.on && after > 0 && run->n > 1 &&
                    run->n <= CT_SHM_COLL_RANKS && (run->seq >= after || (coll & CT_SUMS) != 0))) {
        rc = ct_shm_coll_open(run);
    }
    *shm = run->shm != NULL && coll == CT_BARRIER;
    if (rc == CTRAN_SUCCESS && run->shm != NULL && bytes > 0 && bytes != CT_BYTES_UNKNOWN) {
        rc = ct_shm_coll_takes(run, coll, &args->layout, shm);
    }
    return rc;
}

/* This rank leaves a plan out: the others count it, and may be through shared memory. */
static int leave_out(struct ct_coll *c, int rc)
{
    if (c->args.number == 0) {
        ct_run_skip(&c->comm->run);
    } else {
        ct_shm_coll_break(&c->comm->run, rc);
    }
    return rc;
}

/* Selects an algorithm and completes the arguments. A collective in the background uses no
 * shm_coll, as ranks wait for a shm_coll inside of the call. */
static int choose(struct ct_coll *c, bool *over_shm)
{
    struct ct_run_args      *args = &c->args;
    const struct ct_chooser *chooser = c->chooser;
    struct ct_select         what = {
                .coll = c->kind,
                .bytes = c->bytes,
                .ordered = args->env.ordered,
                .uneven = args->env.uneven,
                .root = args->env.root,
    };
    int rc = CTRAN_SUCCESS;
    args->task = c->task;
    args->number = c->number != 0 ? c->number : args->number;
    args->ctx = args->ctx != NULL ? args->ctx : &c->comm->run;
    *over_shm = false;
    if (CT_UNLIKELY(ct_comm_is_revoked(c->comm))) {
        return CTRAN_ERR_REVOKED;
    }
    if (args->algo != NULL) { /* it has come with its only one */
        return CTRAN_SUCCESS;
    }
    if (CT_LIKELY(c->task == NULL)) {
        chooser = ct_coll_chooser(c->comm, &rc);
    } else if (chooser == NULL) {
        rc = CTRAN_ERR_NO_MEM;
    }
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return leave_out(c, rc);
    }
    const bool anywhere = c->comm->p->cfg.reproducible && (c->kind & CT_SUMS) != 0;
    if (c->task == NULL && !anywhere) {
        rc = find_shm_coll(c->comm, c->kind, args, c->bytes, &what.shm);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_coll_choose(c->comm->p, chooser, &what, args);
    }
    if (rc == CTRAN_SUCCESS) {
        ct_trace_algorithm(c->comm->p, c->trace, args->algo->name);
    }
    *over_shm = what.shm && rc == CTRAN_SUCCESS && (args->algo->traits & CT_BY_SHM) != 0;
    return rc;
}

/* Another rank may have told of a loss, before the launcher does. */
static void note_loss(struct ct_coll *c, int rc)
{
    if (CT_UNLIKELY(rc == CTRAN_ERR_PROC_FAILED)) {
        ct_shm_coll_break(&c->comm->run, rc);
    }
}

/* ---- at once --------------------------------------------------------------------------------- */

/* More ranks than a shm_coll serves meet by the shared allgather, unless an algorithm is asked
 * for. */
static bool meets_by_allgather(const struct ct_coll *c)
{
    const struct ct_comm *comm = c->comm;
    return c->kind == CT_BARRIER && comm->run.n > CT_SHM_COLL_RANKS &&
           comm->p->cfg.coll_algorithm[0] == '\0' && comm->coll_algorithm == NULL &&
           ct_comm_has_shm_allgather(comm);
}

static int run_plan(struct ct_coll *c)
{
    bool over_shm;
    if (meets_by_allgather(c) && !ct_comm_is_revoked(c->comm)) {
        return ct_run_shm_allgather(&c->comm->run, NULL, 0);
    }
    int rc = choose(c, &over_shm);
    if (rc == CTRAN_SUCCESS) {
        rc = over_shm ? ct_shm_coll_run(&c->args) : ct_run(&c->args);
    }
    note_loss(c, rc);
    return rc;
}

static int run_messages(struct ct_coll *c)
{
    int rc = CTRAN_SUCCESS;
    c->post(c);
    for (size_t i = 0; i < c->nreqs; i++) {
        int err = ct_p2p_wait(c->comm->p, &c->reqs[i].base);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

static int follow(struct ct_coll *c, int rc)
{
    c->kind = 0;
    return CT_LIKELY(c->next == NULL) ? rc : c->next(c, rc);
}

int ct_coll_run(struct ct_coll *c)
{
    int rc = CTRAN_SUCCESS;
    while (c->kind != 0) {
        rc = follow(c, CT_LIKELY(c->post == NULL) ? run_plan(c) : run_messages(c));
    }
    if (CT_UNLIKELY(c->own[0] != NULL || c->own[1] != NULL || c->inter != NULL)) {
        ct_coll_drop(c);
    }
    return rc;
}

int ct_coll_barrier_now(struct ct_comm *comm)
{
    struct ct_coll c;
    ct_coll_init(&c, comm, NULL);
    ct_coll_barrier(&c);
    return ct_coll_run(&c);
}

/* ---- in the background ----------------------------------------------------------------------- */

/* Each moves on what is to be done now. True when that is over, with *rc. */
static bool step_plan(struct ct_coll *c, int *rc)
{
    bool over_shm;
    if (c->plan == NULL) {
        *rc = choose(c, &over_shm);
        *rc = *rc == CTRAN_SUCCESS ? ct_plan_start(&c->args, &c->plan) : *rc;
        if (*rc != CTRAN_SUCCESS) {
            return true;
        }
    }
    if (!ct_plan_step(c->plan)) {
        return false;
    }
    *rc = ct_plan_finish(c->plan);
    c->plan = NULL;
    note_loss(c, *rc);
    return true;
}

static bool step_messages(struct ct_coll *c, int *rc)
{
    struct ct_process *p = c->comm->p;
    if (!c->posted) {
        c->posted = true;
        ct_waiter_init(&c->waiter, false);
        c->waiter.task = c->task;
        c->post(c);
        for (size_t i = 0; i < c->nreqs; i++) {
            ct_waiter_join(p, &c->waiter, &(struct ct_request *){&c->reqs[i].base}, 1);
        }
    }
    while (c->nover < c->nreqs && ct_request_is_done(&c->reqs[c->nover].base)) {
        c->nover++;
    }
    if (c->nover < c->nreqs) {
        return false;
    }
    ct_waiter_part(p, &c->waiter, NULL, 0); /* after who has completed the last of them */
    *rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < c->nreqs && *rc == CTRAN_SUCCESS; i++) {
        *rc = c->reqs[i].base.error;
    }
    return true;
}

bool ct_coll_step(struct ct_coll *c)
{
    while (c->kind != 0) {
        int rc = CTRAN_SUCCESS;
        if (!(c->post == NULL ? step_plan(c, &rc) : step_messages(c, &rc))) {
            return false;
        }
        c->rc = follow(c, rc);
    }
    ct_coll_drop(c);
    return true;
}

/* ---- both ------------------------------------------------------------------------------------ */

void ct_coll_init(struct ct_coll *c, struct ct_comm *comm, struct ct_task *task)
{
    c->comm = comm;
    c->task = task;
    c->chooser = task != NULL ? ct_coll_chooser_hold(comm) : NULL;
    c->trace = NULL;
    c->number = 0;
    c->kind = 0;
    c->plan = NULL;
    c->rc = CTRAN_SUCCESS;
    c->post = NULL;
    c->next = NULL;
    c->own[0] = c->own[1] = NULL;
    c->inter = NULL;
}

void ct_coll_messages(struct ct_coll *c, struct ct_p2p_req *reqs, size_t n,
                      void (*post)(struct ct_coll *c))
{
    c->kind = n > 0 ? CT_ALLTOALL : 0;
    c->post = post;
    c->reqs = reqs;
    c->nreqs = n;
    c->nover = 0;
    c->posted = false;
}

void ct_coll_leave_out(struct ct_coll *c)
{
    if (c->kind != 0 && c->post == NULL) { /* messages have no number */
        (void)leave_out(c, CTRAN_ERR_NO_MEM);
    }
    ct_coll_drop(c);
}

void ct_coll_drop(struct ct_coll *c)
{
    free(c->own[0]);
    free(c->own[1]);
    free(c->inter);
    ct_chooser_drop(c->comm->p, c->chooser);
    c->chooser = NULL;
    c->own[0] = c->own[1] = NULL;
    c->inter = NULL;
}
