/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Revocation: a reliable broadcast without an order.
 *
 * A process that learns that a communicator is revoked, by its program or by a message, ends what
 * is under way there and tells its neighbours: on the ring of the members, the next that lives
 * after distances of 1, 2, 4, ... from it. So all know it after a logarithm of steps, and no
 * process connects to more than a logarithm of others.
 *
 * It reaches every member that lives if one that knows lives on: a process that knows has told the
 * next living member of the ring, or, when that one dies, tells the one after it
 * (ct_ft_revoke_fail); by induction around the ring all learn of it, whatever else fails.
 *
 * A message may come before this process has opened the communicator, as another may be through
 * with making it earlier: it is kept until then. What comes after the communicator was freed here
 * is dropped: comm remembers the numbers of the last that were freed.
 */
#define CT_FOLDER "ft"
#include <inttypes.h>
#include <stdlib.h>

#include "ft/own.h"
#include "pmi/pmi.h"
#include "rma/rma.h"
#include "stream/stream.h"

struct wire {
    uint64_t comm;
};

/* ---- early messages -------------------------------------------------------------------------- */

static void keep_early(struct ct_ep *from, struct ct_ft_early early, const void *hdr,
                       const void *body) CT_IN_DOMAIN
{
    struct ct_ft       *ft = from->p->ft;
    struct ct_ft_early *e = malloc(sizeof *e + early.hdr_len + early.len_bytes);
    if (e == NULL) {
        ct_ep_fail(from, CTRAN_ERR_NO_MEM);
        return;
    }
    *e = early;
    e->from = from;
    memcpy(e->bytes, hdr, early.hdr_len);
    if (early.len_bytes > 0) {
        memcpy(e->bytes + early.hdr_len, body, early.len_bytes);
    }
    ct_list_init(&e->node);
    ct_list_append(&ft->early, &e->node);
    if (atomic_fetch_add_explicit(&ft->nearly, 1, memory_order_relaxed) >= CT_FT_EARLY) {
        struct ct_list *oldest = ct_list_pop(&ft->early);
        free(CT_LIST_ENTRY(oldest, struct ct_ft_early, node));
        atomic_fetch_sub_explicit(&ft->nearly, 1, memory_order_relaxed);
    }
}

struct ct_comm *ct_ft_comm_for(struct ct_ep *from, uint64_t id, ct_ep_handler handler,
                               const void *hdr, size_t hdr_len, const void *body,
                               size_t len_bytes)
{
    bool            closed;
    struct ct_comm *comm = ct_comm_by_id(from->p, id, &closed);
    if (comm == NULL && !closed) {
        keep_early(from,
                   (struct ct_ft_early){
                       .handler = handler, .hdr_len = hdr_len, .len_bytes = len_bytes, .comm = id},
                   hdr, body);
    }
    return comm;
}

/* Those that were kept for comm come now. */
static void replay(struct ct_comm *comm) CT_IN_DOMAIN
{
    struct ct_ft  *ft = comm->p->ft;
    struct ct_list now;
    ct_list_init(&now);
    CT_LIST_FOR (node, &ft->early) {
        if (CT_LIST_ENTRY(node, struct ct_ft_early, node)->comm == comm->id) {
            ct_list_remove(node);
            ct_list_append(&now, node);
            atomic_fetch_sub_explicit(&ft->nearly, 1, memory_order_relaxed);
        }
    }
    for (struct ct_list *node; (node = ct_list_pop(&now)) != NULL;) {
        struct ct_ft_early *e = CT_LIST_ENTRY(node, struct ct_ft_early, node);
        e->handler(e->from, e->bytes, e->hdr_len, e->bytes + e->hdr_len, e->len_bytes);
        free(e);
    }
}

/* ---- telling --------------------------------------------------------------------------------- */

static bool lives(const struct ct_comm *comm, uint32_t member) CT_IN_DOMAIN
{
    const struct ct_ep *ep = ct_ep_get(comm->p, ct_ft_id_of(comm, member));
    return ep != NULL && ep->state != CT_EP_FAILED;
}

/* Tells the first that lives from distance d on. */
static void tell_at(struct ct_comm *comm, uint32_t me, uint32_t n, uint32_t d) CT_IN_DOMAIN
{
    const struct wire wire = {comm->id};
    for (; d < n; d++) {
        const uint32_t member = (me + d) % n;
        if (lives(comm, member)) {
            struct ct_ep *ep = ct_ep_get(comm->p, ct_ft_id_of(comm, member));
            ct_ft_send(ep, comm->p->ft->revoke, &wire, sizeof wire, NULL, 0);
            return;
        }
    }
}

static void tell(struct ct_comm *comm) CT_IN_DOMAIN
{
    const uint32_t n = ct_ft_size(comm);
    const uint32_t me = (uint32_t)ct_ft_member(comm, ct_job_me(comm->p->job));
    for (uint32_t d = 1; d < n; d *= 2) {
        tell_at(comm, me, n, d);
    }
}

/* ---- being told ------------------------------------------------------------------------------ */

static void mark(struct ct_comm *comm) CT_IN_DOMAIN
{
    if (!atomic_exchange_explicit(&comm->run.revoked, true, memory_order_relaxed)) {
        ct_info(&comm->p->log, "communicator %#" PRIx64 " is revoked", comm->id);
        ct_p2p_revoke(comm->p);
    }
}

/* Those of the library's own that stand and fall with another one. */
struct guarded {
    uint64_t        by;
    struct ct_comm *found;
};

static void find_guarded(struct ct_comm *comm, void *arg)
{
    struct guarded *g = arg;
    if (comm->guard == g->by && !ct_comm_is_revoked(comm) && g->found == NULL) {
        g->found = comm;
    }
}

/* Those are known to one process as they are to the others, so nobody is told. */
static void mark_guarded(struct ct_comm *comm) CT_IN_DOMAIN
{
    struct guarded g;
    do {
        g = (struct guarded){.by = comm->id};
        ct_comm_for_all(comm->p, find_guarded, &g);
        if (g.found != NULL) {
            mark(g.found);
            if (g.found->window != NULL) {
                ct_win_revoke(g.found->window);
            }
        }
    } while (g.found != NULL);
}

static void learn(struct ct_comm *comm) CT_IN_DOMAIN
{
    if (ct_comm_is_revoked(comm)) {
        return;
    }
    mark(comm);
    mark_guarded(comm);
    ct_stream_revoke(comm, CTRAN_ERR_REVOKED);
    tell(comm);
}

static void on_revoke(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *body,
                      size_t len_bytes) CT_IN_DOMAIN
{
    struct wire wire;
    if (!ct_ft_unpack(from, hdr, hdr_len, &wire, sizeof wire)) {
        return;
    }
    struct ct_comm *comm =
        ct_ft_comm_for(from, wire.comm, on_revoke, hdr, hdr_len, body, len_bytes);
    if (comm != NULL) {
        learn(comm);
        ct_comm_drop(comm);
    }
}

void ct_ft_revoke(struct ct_comm *comm)
{
    ct_domain_enter(comm->p);
    learn(comm);
    ct_domain_leave(comm->p);
}

/* ---- failures, and communicators that are opened --------------------------------------------- */

struct revoked {
    const struct ct_ep *ep;
    struct ct_comm     *comms[64];
    size_t              n, skip, seen;
};

/* As many at a time as there is room for: nothing is sent under comm's lock. */
static void find_revoked(struct ct_comm *comm, void *arg)
{
    struct revoked *r = arg;
    if (ct_comm_is_revoked(comm) && comm->guard == 0 &&
        ct_ft_member(comm, r->ep->id) != CTRAN_UNDEFINED && r->seen++ >= r->skip &&
        r->n < CT_ARRAY_LEN(r->comms)) {
        r->comms[r->n++] = comm;
    }
}

void ct_ft_revoke_fail(struct ct_ep *ep)
{
    struct revoked r = {.ep = ep};
    do {
        r.skip += r.n;
        r.n = r.seen = 0;
        ct_comm_for_all(ep->p, find_revoked, &r);
        for (size_t i = 0; i < r.n; i++) {
            tell(r.comms[i]);
        }
    } while (r.n == CT_ARRAY_LEN(r.comms));
}

static void on_open(struct ct_comm *comm)
{
    struct ct_process *p = comm->p;
    const bool         early = atomic_load_explicit(&p->ft->nearly, memory_order_relaxed) > 0;
    if (CT_LIKELY(!early && comm->guard == 0)) {
        return;
    }
    bool            closed;
    struct ct_comm *guard = comm->guard != 0 ? ct_comm_by_id(p, comm->guard, &closed) : NULL;
    ct_domain_enter(p);
    replay(comm);
    if (guard != NULL && ct_comm_is_revoked(guard)) {
        mark(comm);
    }
    ct_domain_leave(p);
    if (guard != NULL) {
        ct_comm_drop(guard);
    }
}

void ct_ft_revoke_register(struct ct_process *p)
{
    p->ft->revoke = ct_ep_register(p, on_revoke);
}

int ct_ft_begin(struct ct_process *p)
{
    ct_comm_on_open(p, on_open);
    return CTRAN_SUCCESS;
}
