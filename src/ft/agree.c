/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uniform agreement of the members of a communicator that live, whatever dies meanwhile.
 *
 * The first member that lives leads. It opens a ballot over a tree of all members that it believes
 * to live, and takes it through phases, each of which goes down the tree and comes up again:
 *
 *   COLLECT  each member, once its program has called, answers what it gives: the parts are merged
 *            on the way up. One that has accepted a value answers that instead.
 *   PROPOSE  the leader has heard all. Its value is the one accepted at the highest ballot, if
 *            there is one, else the merged parts. Each member accepts it.
 *   DECIDE   all have accepted: the value is the result, and each call returns.
 *   FORGET   all have the result: no member will ask for it, and each drops what it keeps.
 *
 * When a member of its tree dies the leader opens another ballot over those that are left, from
 * COLLECT on, or from DECIDE on if it has the result. When the leader dies the next member opens
 * one. Ballots are numbered (leader, count), so that of two the one of the later leader is the
 * higher; a member heeds nothing of a ballot below the highest that it has seen.
 *
 * Why it is uniform. Let v be the value with which some process returned, decided at ballot b, and
 * let b' > b be a later ballot that comes to PROPOSE. The members of the tree of b accepted v
 * before any returned. The leader of b' has heard all members of its own tree; these lived when b'
 * began, and a process that lives is in every tree, as nobody is believed dead who is not. So each
 * of them was in the tree of b, and had accepted v before it answered to b': it had not answered to
 * b' when it accepted at b, as it heeds b no more after that. By induction over the ballots
 * between, all of them propose v, and the highest accepted value that the leader of b' hears is v.
 * Hence all that return do so with v, those that die afterwards included.
 *
 * Why it ends. A ballot is given up only when a member dies, and there are finitely many. In the
 * last one all messages arrive, and each member answers as soon as its program has called and it
 * makes progress.
 *
 * A process that returned keeps the agreement until FORGET. If its leader dies before, it asks the
 * new one; one that keeps nothing of it any more has seen FORGET, so it says so.
 *
 * Source: the phases are those of hierarchical uniform consensus with a perfect failure detector
 * (Cachin, Guerraoui, Rodrigues 2011, sec. 5.4), on a tree; contributions and late answers from a
 * log are as in Herault et al. 2015. That returns a phase earlier, and is uniform only among those
 * that live.
 */
#define CT_FOLDER "ft"
#include <inttypes.h>
#include <stdlib.h>

#include "ft/own.h"
#include "pmi/pmi.h"

/* ---- records --------------------------------------------------------------------------------- */

struct ct_ft_op *ct_ft_op_find(struct ct_process *p, const struct ct_ft_key *key)
{
    struct ct_ft_op *op = NULL;
    HASH_FIND(hh, p->ft->ops, key, sizeof *key, op);
    return op;
}

/* Seven sets, in one piece of memory. */
static void place_sets(struct ct_ft_op *op)
{
    uint64_t *at = op->sets;
    op->excluded = at;
    op->mine.failed = at + op->words;
    op->mine.acked = at + 2 * op->words;
    op->sum.failed = at + 3 * op->words;
    op->sum.acked = at + 4 * op->words;
    op->value.failed = at + 5 * op->words;
    op->value.acked = at + 6 * op->words;
}

static struct ct_ft_op *op_make(struct ct_comm *comm, const struct ct_ft_key *key) CT_IN_DOMAIN
{
    const uint32_t   n = ct_ft_size(comm), words = (n + 63) / 64;
    struct ct_ft_op *op = calloc(1, sizeof *op + 7 * words * sizeof(uint64_t));
    if (op == NULL) {
        return NULL;
    }
    op->key = *key;
    op->n = n;
    op->words = words;
    op->me = (uint32_t)ct_ft_member(comm, ct_job_me(comm->p->job));
    place_sets(op);
    ct_comm_hold(comm);
    op->comm = comm;
    HASH_ADD(hh, comm->p->ft->ops, key, sizeof op->key, op);
    return op;
}

struct ct_ft_op *ct_ft_op_for(struct ct_comm *comm, const struct ct_ft_key *key)
{
    struct ct_ft_op *op = ct_ft_op_find(comm->p, key);
    if (op != NULL || key->seq <= comm->nagreements) {
        return op; /* one that has begun here and is not kept is forgotten by all */
    }
    return op_make(comm, key);
}

/* Nobody keeps it any more. */
static void op_drop(struct ct_ft_op *op) CT_IN_DOMAIN
{
    struct ct_process *p = op->comm->p;
    HASH_DEL(p->ft->ops, op);
    ct_comm_drop(op->comm);
    free(op);
    ct_p2p_purge(p); /* of a communicator that was freed meanwhile */
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* The result, for the program: once. */
static void settle(struct ct_ft_op *op) CT_IN_DOMAIN
{
    struct ct_ft_req *req = op->req;
    op->value.v.accepted = CT_FT_DECIDED;
    op->req = NULL;
    if (req == NULL) {
        return;
    }
    if (req->flag != NULL) {
        const uint32_t side = req->comm->remote != NULL ? !ct_ft_side(req->comm, op->me) : 0;
        *req->flag = (int)op->value.v.flags[side];
        req->base.error = op->value.v.error;
    } else {
        req->base.error = ct_ft_shrunk(req, op);
    }
    ct_request_complete(req->p, &req->base);
}

/* Takes up the phase that op->ballot, ->phase, ->excluded and ->value say. */
static void phase_begin(struct ct_ft_op *op) CT_IN_DOMAIN
{
    op->answered = false;
    op->nanswers = 0;
    op->sum.v = (struct ct_ft_value){.flags = {UINT32_MAX, UINT32_MAX}, .proposer = UINT32_MAX};
    memset(op->sum.failed, 0, op->words * sizeof *op->sum.failed);
    memset(op->sum.acked, 0xff, op->words * sizeof *op->sum.acked);
    if (op->phase == CT_FT_PROPOSE && op->value.v.accepted != CT_FT_DECIDED) {
        op->value.v.accepted = op->ballot;
    }
    op->nchildren = ct_ft_send_down(op);
    if (op->phase == CT_FT_DECIDE) {
        settle(op);
    }
}

/* Whether this process and those below it are through with the phase. */
static bool is_complete(const struct ct_ft_op *op)
{
    return op->phase != CT_FT_PHASE_NONE && !op->answered && op->nanswers == op->nchildren &&
           (op->phase != CT_FT_COLLECT || op->contributed);
}

/* As far as it goes without another message. op may be gone afterwards. */
static void advance(struct ct_ft_op *op) CT_IN_DOMAIN
{
    while (is_complete(op)) {
        if (op->phase == CT_FT_COLLECT) {
            ct_ft_merge(op, op->value.v.accepted != 0 ? &op->value : &op->mine);
        }
        op->answered = true;
        if (!ct_ft_leads(op)) {
            ct_ft_send_up(op);
            return;
        }
        ct_ft_phase_next(op);
        phase_begin(op);
        if (op->phase == CT_FT_FORGET) {
            op_drop(op);
            return;
        }
    }
}

static void lead(struct ct_ft_op *op) CT_IN_DOMAIN
{
    ct_ft_ballot_open(op);
    phase_begin(op);
    advance(op);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void contribute(struct ct_ft_op *op, struct ct_ft_req *req, uint32_t word,
                       uint64_t proposal) CT_IN_DOMAIN
{
    const uint32_t side = op->comm->remote != NULL ? ct_ft_side(op->comm, op->me) : 0;
    op->mine.v = (struct ct_ft_value){
        .proposal = proposal, .proposer = op->me, .flags = {UINT32_MAX, UINT32_MAX}};
    op->mine.v.flags[side] = word;
    ct_ft_known(op->comm, op->mine.failed, op->mine.acked);
    op->contributed = true;
    op->req = req;
}

int ct_ft_op_begin(struct ct_comm *comm, struct ct_ft_req *req, uint32_t word, uint64_t proposal)
{
    int rc = ct_ft_size(comm) <= CT_FT_MOST ? CTRAN_SUCCESS : CTRAN_ERR_UNSUPPORTED_OPERATION;
    if (rc != CTRAN_SUCCESS) {
        ct_error(&comm->p->log, "an agreement of %" PRIu32 " processes: at most %d can agree",
                 ct_ft_size(comm), CT_FT_MOST);
        return rc;
    }
    ct_domain_enter(comm->p);
    const struct ct_ft_key key = {comm->id, (uint64_t)comm->nagreements + 1};
    struct ct_ft_op       *op = ct_ft_op_for(comm, &key);
    if (op == NULL) {
        rc = CTRAN_ERR_NO_MEM;
    } else {
        comm->nagreements++;
        contribute(op, req, word, proposal);
        if (ct_ft_is_to_lead(op) && !ct_ft_leads(op)) {
            lead(op);
        } else {
            advance(op);
        }
    }
    ct_domain_leave(comm->p);
    return rc;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void copy(const struct ct_ft_op *op, uint64_t *to, const uint64_t *from)
{
    memcpy(to, from, op->words * sizeof *to);
}

void ct_ft_on_down(struct ct_ft_op *op, const struct ct_ft_hdr *hdr, const struct ct_ft_value *v,
                   const uint64_t *excluded, const uint64_t *failed)
{
    const bool newer = hdr->ballot > op->ballot ||
                       (hdr->ballot == op->ballot && hdr->phase > (uint32_t)op->phase);
    if (!newer || ct_ft_has(excluded, op->me)) {
        return;
    }
    op->ballot = hdr->ballot;
    op->phase = (enum ct_ft_phase)hdr->phase;
    copy(op, op->excluded, excluded);
    if (op->phase != CT_FT_COLLECT && op->value.v.accepted != CT_FT_DECIDED) {
        op->value.v = *v;
        copy(op, op->value.failed, failed);
    }
    phase_begin(op);
    advance(op);
}

void ct_ft_on_up(struct ct_ft_op *op, const struct ct_ft_hdr *hdr, const struct ct_ft_view *part)
{
    if (hdr->ballot != op->ballot || hdr->phase != (uint32_t)op->phase || op->answered) {
        return;
    }
    if (op->phase == CT_FT_COLLECT) {
        ct_ft_merge(op, part);
    }
    op->nanswers++;
    advance(op);
}

void ct_ft_on_forget(struct ct_ft_op *op, const struct ct_ft_hdr *hdr)
{
    if (hdr->ballot == op->ballot && op->phase == CT_FT_DECIDE) {
        op->phase = CT_FT_FORGET;
        (void)ct_ft_send_down(op);
    }
    if (op->value.v.accepted == CT_FT_DECIDED) {
        op_drop(op);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

static void member_fails(struct ct_ft_op *op, uint32_t member) CT_IN_DOMAIN
{
    if (ct_ft_is_to_lead(op)) {
        if (!ct_ft_leads(op) || !ct_ft_has(op->excluded, member)) {
            lead(op);
        }
    } else if (op->value.v.accepted == CT_FT_DECIDED) {
        ct_ft_send_ask(op);
    }
}

void ct_ft_agree_fail(struct ct_ep *ep)
{
    struct ct_ft_op *op, *next;
    HASH_ITER (hh, ep->p->ft->ops, op, next) {
        const int member = ct_ft_member(op->comm, ep->id);
        if (member != CTRAN_UNDEFINED) {
            member_fails(op, (uint32_t)member);
        }
    }
}

uint32_t ct_ft_kept(struct ct_process *p)
{
    ct_domain_enter(p);
    const uint32_t n = HASH_COUNT(p->ft->ops);
    ct_domain_leave(p);
    return n;
}

/* ---- the process's part ---------------------------------------------------------------------- */

static void on_fail(struct ct_ep *ep) CT_IN_DOMAIN
{
    ct_ft_revoke_fail(ep);
    ct_ft_agree_fail(ep);
}

/* No other thread is here yet. */
int ct_ft_init(struct ct_process *p) CT_UNCHECKED
{
    p->ft = calloc(1, sizeof *p->ft);
    if (p->ft == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->ft->p = p;
    ct_list_init(&p->ft->early);
    ct_ft_revoke_register(p);
    ct_ft_agree_register(p);
    ct_ep_register_fail(p, on_fail);
    return CTRAN_SUCCESS;
}

/* Those that others have not heard the end of need this process no more: all have accepted what it
 * knows. No other thread is here any more. */
void ct_ft_end(struct ct_process *p) CT_UNCHECKED
{
    struct ct_ft_op *op, *next;
    if (p->ft == NULL || p->comms == NULL) {
        return;
    }
    HASH_ITER (hh, p->ft->ops, op, next) {
        HASH_DEL(p->ft->ops, op);
        ct_comm_drop(op->comm);
        free(op);
    }
}

void ct_ft_fini(struct ct_process *p) CT_UNCHECKED
{
    if (p->ft == NULL) {
        return;
    }
    for (struct ct_list *node; (node = ct_list_pop(&p->ft->early)) != NULL;) {
        free(CT_LIST_ENTRY(node, struct ct_ft_early, node));
    }
    free(p->ft);
    p->ft = NULL;
}
