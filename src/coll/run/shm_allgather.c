/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange of a few bytes over the job's shared allgather (node/shm_allgather.h), for contexts
 * of all its ranks. */
#define CT_FOLDER "run"
#include "coll/run/run.h"
#include "pmi/pmi.h"

/* The process that the shared allgather waits for: ranks of the context are processes of the job.
 * If none is missing, the last one may have been lost right before it opened the gate. */
static struct ct_ep *missing(void *p_)
{
    struct ct_process *p = p_;
    const uint32_t     rank = ct_shm_allgather_missing(&p->job->shm_allgather);
    if (rank == p->job->size) {
        ct_shm_allgather_help(&p->job->shm_allgather);
    }
    return rank < p->job->size && rank != p->job->rank ? ct_ep_get(p, p->job->first + rank) : NULL;
}

/* Whether it can still be opened. From now on the process watches the missing one. */
static int look(struct ct_run_ctx *ctx)
{
    struct ct_process *p = ctx->p;
    ct_domain_enter(p);
    ct_ep_tell(p);
    struct ct_ep *ep = missing(p);
    int           rc = CTRAN_SUCCESS;
    if (ep != NULL) {
        ct_ep_watch(ep);
        rc = ct_p2p_lost(p, ep, ctx->id);
    }
    ct_domain_leave(p);
    return rc;
}

/* If ranks share cores, ranks that have not come need this rank's core: it sleeps at the gate at
 * once. What others want of it meanwhile they get a little later. */
static void make_room(struct ct_process *p, const struct ct_watch *watch)
{
    enum { NAP_NS = 10000000 };
    if (p->job->nlocal > p->job->ncpus) {
        ct_watch_park(watch);
        if (!ct_watch_reached(watch)) {
            ct_placement_give(&p->job->placement);
            ct_watch_sleep(watch, NULL, NAP_NS);
            ct_placement_take(&p->job->placement);
        }
        ct_watch_leave(watch);
    }
}

static int await(struct ct_run_ctx *ctx, const struct ct_watch *watch)
{
    struct ct_process *p = ctx->p;
    int                rc = CTRAN_SUCCESS;
    make_room(p, watch);
    while (rc == CTRAN_SUCCESS && !ct_watch_reached(watch)) {
        ct_domain_enter(p);
        (void)ct_ep_await(p, watch, missing, p);
        ct_domain_leave(p);
        rc = look(ctx);
    }
    return ct_watch_reached(watch) ? CTRAN_SUCCESS : rc;
}

/* Other threads may poll and sleep meanwhile. So this thread sleeps at the gate alone, and polls
 * now and then, in case no other thread does. */
static int await_beside(struct ct_run_ctx *ctx, const struct ct_watch *watch)
{
    enum { NAP_NS = 1000000, LOOK_EVERY = 64 }; /* naps: whoever is looked at costs a descriptor */
    int rc = CTRAN_SUCCESS;
    for (unsigned naps = 1; rc == CTRAN_SUCCESS && !ct_watch_reached(watch); naps++) {
        ct_watch_park(watch);
        if (!ct_watch_reached(watch)) {
            ct_watch_sleep(watch, NULL, NAP_NS);
        }
        ct_watch_leave(watch);
        ct_domain_poke(ctx->p);
        rc = naps % LOOK_EVERY == 0 ? look(ctx) : CTRAN_SUCCESS;
    }
    return ct_watch_reached(watch) ? CTRAN_SUCCESS : rc;
}

int ct_run_shm_allgather(struct ct_run_ctx *ctx, const void *entry, size_t len_bytes)
{
    struct ct_shm_allgather *ag = &ctx->p->job->shm_allgather;
    int                      rc = ag->broken;
    if (rc == CTRAN_SUCCESS) {
        ct_shm_allgather_put(ag, entry, len_bytes);
        const struct ct_watch watch = ct_shm_allgather_watch(ag);
        if (!ct_watch_reached(&watch)) {
            rc = ctx->p->threaded ? await_beside(ctx, &watch) : await(ctx, &watch);
        }
    }
    ag->broken = rc; /* out of step with the others from now on */
    return rc;
}
