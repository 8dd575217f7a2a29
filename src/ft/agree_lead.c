/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leader's part of an agreement: who leads, ballots, and the value. agree.c explains the whole.
 * Invariant: a process opens a ballot only while all members before it are dead, so two leaders
 * never have ballots of one number, and the later one's are higher.
 */
#define CT_FOLDER "ft"
#include "ft/own.h"

static bool lives(const struct ct_ft_op *op, uint32_t member) CT_IN_DOMAIN
{
    const struct ct_ep *ep = ct_ep_get(op->comm->p, ct_ft_id_of(op->comm, member));
    return ep != NULL && ep->state != CT_EP_FAILED;
}

uint32_t ct_ft_leader(const struct ct_ft_op *op)
{
    uint32_t member = 0;
    while (member < op->me && !lives(op, member)) {
        member++;
    }
    return member;
}

bool ct_ft_is_to_lead(const struct ct_ft_op *op)
{
    return op->contributed && ct_ft_leader(op) == op->me;
}

void ct_ft_ballot_open(struct ct_ft_op *op)
{
    const uint64_t count = ct_ft_leads(op) ? (op->ballot & UINT32_MAX) + 1 : 1;
    const bool     has_result = op->value.v.accepted == CT_FT_DECIDED;
    op->ballot = (uint64_t)op->me << 32 | count;
    op->phase = has_result ? CT_FT_DECIDE : CT_FT_COLLECT;
    memset(op->excluded, 0, op->words * sizeof *op->excluded);
    for (uint32_t i = 0; i < op->n; i++) {
        if (i != op->me && !lives(op, i)) {
            ct_ft_add(op->excluded, i);
        }
    }
}

/* What was accepted wins over what is given, and a later ballot over an earlier one. */
void ct_ft_merge(struct ct_ft_op *op, const struct ct_ft_view *part)
{
    struct ct_ft_value *sum = &op->sum.v;
    const bool          gives = part->v.accepted == 0 && sum->accepted == 0;
    if (part->v.accepted > sum->accepted) {
        *sum = part->v;
        memcpy(op->sum.failed, part->failed, op->words * sizeof *op->sum.failed);
    } else if (gives) {
        sum->flags[0] &= part->v.flags[0];
        sum->flags[1] &= part->v.flags[1];
        if (part->v.proposer < sum->proposer) {
            sum->proposer = part->v.proposer;
            sum->proposal = part->v.proposal;
        }
        for (uint32_t i = 0; i < op->words; i++) {
            op->sum.failed[i] |= part->failed[i];
            op->sum.acked[i] &= part->acked[i];
        }
    }
}

/* All have answered: the value that is proposed to them, or known to be the result. */
static void choose(struct ct_ft_op *op)
{
    struct ct_ft_view *value = &op->value;
    if (value->v.accepted == CT_FT_DECIDED) {
        return;
    }
    value->v = op->sum.v;
    memcpy(value->failed, op->sum.failed, op->words * sizeof *value->failed);
    if (op->sum.v.accepted != 0) {
        return;
    }
    bool unacked = false;
    for (uint32_t i = 0; i < op->words; i++) {
        value->failed[i] |= op->excluded[i];
        unacked |= (value->failed[i] & ~op->sum.acked[i]) != 0;
    }
    value->v.error = unacked ? CTRAN_ERR_PROC_FAILED : CTRAN_SUCCESS;
}

void ct_ft_phase_next(struct ct_ft_op *op)
{
    if (op->phase == CT_FT_COLLECT) {
        choose(op);
        op->phase = op->value.v.accepted == CT_FT_DECIDED ? CT_FT_DECIDE : CT_FT_PROPOSE;
    } else {
        op->phase++;
    }
}
