/* SPDX-License-Identifier: BSD-3-Clause */
/* Deaths and leaving; see recovery.h. Used by pmix/server.c and head/nodes.c. */
#include "config.h"
#include "launcher/job/recovery.h"

#include <stdlib.h>

int ct_recovery_init(struct ct_recovery *r, bool on, uint32_t nranks,
                     const struct ct_recovery_ops *ops, void *arg)
{
    *r = (struct ct_recovery){.on = on, .nranks = nranks, .ops = ops, .arg = arg};
    r->wants = calloc(nranks, sizeof *r->wants);
    r->ended = calloc(nranks, sizeof *r->ended);
    return r->wants != NULL && r->ended != NULL ? 0 : -1;
}

void ct_recovery_fini(struct ct_recovery *r)
{
    free(r->wants);
    free(r->ended);
}

static void recovery_let_leave(struct ct_recovery *r)
{
    bool wanted = false;
    for (uint32_t i = 0; i < r->nranks; i++) {
        bool wants = r->wants[i] > r->told_leave;
        if (!wants && !r->ended[i] && (r->ops->has_left == NULL || !r->ops->has_left(r->arg, i))) {
            return;
        }
        wanted |= wants;
    }
    if (wanted) {
        r->told_leave++;
        r->ops->tell(r->arg, CT_JOB_EVENT_MAY_LEAVE, UINT32_MAX);
    }
}

void ct_recovery_ended(struct ct_recovery *r, uint32_t rank, enum ct_rank_phase phase)
{
    if (!r->on && phase == CT_PHASE_PLAIN && !r->cannot_meet) {
        r->cannot_meet = true;
        r->ops->tell(r->arg, CT_JOB_EVENT_NO_START, rank);
    }
    if (!r->on || rank >= r->nranks) {
        return;
    }
    r->ended[rank] = true;
    if (phase != CT_PHASE_FINALIZED) {
        r->cannot_meet |= !r->met;
        r->ops->tell(r->arg, r->met ? CT_JOB_EVENT_ENDED : CT_JOB_EVENT_NO_START, rank);
    }
    recovery_let_leave(r); /* a rank that left silently, as a session does, keeps nobody either */
}

bool ct_recovery_fence(struct ct_recovery *r)
{
    r->met |= !r->cannot_meet;
    return r->met || !r->on;
}

void ct_recovery_wants_leave(struct ct_recovery *r, uint32_t rank)
{
    if (r->on && rank < r->nranks) {
        r->wants[rank]++;
        recovery_let_leave(r);
    }
}
