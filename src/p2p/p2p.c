/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting sends and receives, the eager protocol, completion and cancelling. */
#define CT_FOLDER "p2p"
#include <inttypes.h>
#include <stdlib.h>

#include "p2p/flow.h"

/* ---- completion ------------------------------------------------------------------------------ */

static inline void complete(struct ct_p2p_req *req, int error) CT_IN_DOMAIN
{
    if (CT_UNLIKELY(req->id != 0)) {
        ct_rndv_leave(req);
    }
    req->base.error = error;
    ct_request_complete(req->p, &req->base);
}

void ct_p2p_complete(struct ct_p2p_req *req, int error)
{
    complete(req, error);
}

/* A leaf of its own, since completion puts requests back inside the domain. */
static void reqs_lock(struct ct_p2p *s) CT_ACQUIRE(ct_p2p_reqs) CT_UNCHECKED
{
    ct_lock_acquire(&s->reqs_lock);
}

static void reqs_unlock(struct ct_p2p *s) CT_RELEASE(ct_p2p_reqs) CT_UNCHECKED
{
    ct_lock_release(&s->reqs_lock);
}

void ct_p2p_req_put(struct ct_process *p, struct ct_request *base)
{
    struct ct_p2p *s = p->p2p;
    base->magic = 0;
    reqs_lock(s);
    ct_slab_put(&s->reqs, CT_CONTAINER_OF(base, struct ct_p2p_req, base));
    reqs_unlock(s);
}

struct ct_p2p_req *ct_p2p_req_get(struct ct_process *p)
{
    struct ct_p2p *s = p->p2p;
    reqs_lock(s);
    struct ct_p2p_req *req = ct_slab_get(&s->reqs);
    reqs_unlock(s);
    if (req != NULL) {
        req->base.magic = CT_REQUEST_MAGIC;
        req->base.owner = NULL;
        req->base.release = ct_p2p_req_put;
        req->base.cancel = ct_p2p_req_cancel;
        req->base.start = NULL;
        req->base.query = NULL;
        req->base.inactive = false;
    }
    return req;
}

int ct_p2p_wait(struct ct_process *p, struct ct_request *req)
{
    struct ct_waiter w;
    ct_waiter_init(&w, true);
    ct_waiter_join(p, &w, &req, 1);
    while (!ct_request_is_done(req)) {
        ct_waiter_wait(p, &w);
    }
    ct_waiter_part(p, &w, &req, 1);
    return req->error;
}

/* ---- sending --------------------------------------------------------------------------------- */

void ct_p2p_prepare(struct ct_process *p, struct ct_p2p_req *req, bool is_recv, struct ct_ep *ep,
                    struct ct_p2p_key key, const struct ct_area *area)
{
    ct_request_set_done(&req->base, false);
    req->base.waiter = NULL;
    req->base.orphan = false;
    req->base.cancelled = false;
    req->base.source = key.src;
    req->base.tag = key.tag;
    req->base.len_bytes = 0;
    req->p = p;
    req->is_recv = is_recv;
    req->state = is_recv ? CT_P2P_POSTED : CT_P2P_SENDING;
    req->truncated = false;
    req->give_up = CTRAN_SUCCESS;
    req->ep = ep;
    req->key = key;
    req->id = 0;
    req->takes = false;
    req->stays = false;
    req->place = NULL;
    ct_area_copy(&req->area, area);
    ct_list_init(&req->node);
}

static struct ct_p2p_req *req_of(struct ct_ep_op *op)
{
    return CT_CONTAINER_OF(op, struct ct_p2p_req, op);
}

void ct_p2p_post_op(struct ct_p2p_req *req, uint8_t id, const void *hdr, size_t hdr_len,
                    void (*taken)(struct ct_ep_op *op, int status))
{
    struct ct_ep_op *op = &req->op;
    op->id = id;
    op->hdr_len = (uint8_t)hdr_len;
    op->done = taken;
    memcpy(op->hdr, hdr, hdr_len);
    int rc = ct_ep_send(req->ep, op);
    if (CT_LIKELY(rc != CT_QUEUED)) {
        taken(op, rc);
    }
}

static void no_payload(struct ct_ep_op *op)
{
    op->area = NULL;
    op->len_bytes = 0;
    op->pos = 0;
}

static void eager_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    if (CT_UNLIKELY(status == CTRAN_ERR_BUFFER)) { /* unreadable: it has not been sent */
        ct_flow_unsent(req_of(op)->ep, op->len_bytes);
    }
    ct_p2p_complete(req_of(op), status);
}

uint64_t ct_p2p_fetched(struct ct_process *p)
{
    ct_domain_enter(p);
    const uint64_t n = p->p2p->fetched;
    ct_domain_leave(p);
    return n;
}

/* Where ranks share cores it counts, too, how much there is between answers. */
static inline void say(struct ct_ep *to, size_t len_bytes) CT_IN_DOMAIN
{
    if (to->p->p2p->oversubscribed) {
        ct_ep_sent(to, len_bytes);
    }
}

static inline void hear(struct ct_ep *from, size_t len_bytes) CT_IN_DOMAIN
{
    if (from->p->p2p->oversubscribed) {
        ct_ep_received(from, len_bytes);
    }
}

void ct_p2p_hand_over(struct ct_p2p_req *req)
{
    say(req->ep, req->area.len_bytes);
    if (CT_UNLIKELY(req->rendezvous)) {
        no_payload(&req->op);
        ct_rndv_send(req);
        return;
    }
    struct ct_wire_eager hdr = {req->key};
    req->op.area = &req->area;
    req->op.pos = 0;
    req->op.len_bytes = req->area.len_bytes;
    ct_p2p_post_op(req, req->p->p2p->ids.eager, &hdr, sizeof hdr, eager_taken);
}

void ct_p2p_start_send(struct ct_p2p_req *req)
{
    int rc;
    if (CT_UNLIKELY(ct_p2p_is_troubled(req->p->p2p) &&
                    (rc = ct_p2p_lost(req->p, req->ep, req->key.ctx)) != CTRAN_SUCCESS)) {
        ct_p2p_complete(req, rc);
        return;
    }
    req->rendezvous = !ct_p2p_is_eager(req->ep, &req->area);
    ct_flow_send(req);
}

void ct_p2p_start_ssend(struct ct_p2p_req *req)
{
    int rc;
    if (CT_UNLIKELY(ct_p2p_is_troubled(req->p->p2p) &&
                    (rc = ct_p2p_lost(req->p, req->ep, req->key.ctx)) != CTRAN_SUCCESS)) {
        ct_p2p_complete(req, rc);
        return;
    }
    req->rendezvous = true;
    ct_flow_send(req);
}

void ct_p2p_isend(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *to,
                  struct ct_p2p_key key, const struct ct_area *area)
{
    ct_p2p_prepare(p, req, false, to, key, area);
    ct_domain_enter(p);
    ct_p2p_start_send(req);
    ct_domain_leave(p);
}

bool ct_p2p_send_now(struct ct_process *p, struct ct_ep *to, struct ct_p2p_key key,
                     const struct ct_area *area)
{
    const struct ct_wire_eager hdr = {key};
    ct_domain_enter(p);
    bool sent = !ct_p2p_is_troubled(p->p2p) && ct_p2p_is_inline(to, area) &&
                ct_flow_may_send(to, area->len_bytes) &&
                ct_ep_send_now(to, p->p2p->ids.eager, &hdr, sizeof hdr, area);
    if (CT_LIKELY(sent)) {
        ct_flow_sent(to, area->len_bytes);
        say(to, area->len_bytes);
    }
    ct_domain_leave(p);
    return sent;
}

static void stays(struct ct_process *p, struct ct_request *base)
{
    (void)p, (void)base;
}

static void make_sent(struct ct_process *p, struct ct_p2p_req *sent)
{
    sent->p = p;
    sent->base = (struct ct_request){
        .magic = CT_REQUEST_MAGIC,
        .source = CTRAN_ANY_SOURCE,
        .tag = CTRAN_ANY_TAG,
        .release = stays,
        .cancel = ct_p2p_req_cancel,
    };
    ct_request_set_done(&sent->base, true);
}

struct ct_request *ct_p2p_sent(struct ct_process *p)
{
    return &p->p2p->sent.base;
}

void ct_p2p_issend(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *to,
                   struct ct_p2p_key key, const struct ct_area *area)
{
    ct_p2p_prepare(p, req, false, to, key, area);
    ct_domain_enter(p);
    ct_p2p_start_ssend(req);
    ct_domain_leave(p);
}

/* ---- messages without a request ------------------------------------------------------------- */

static void answer_taken(struct ct_ep_op *op, int status)
{
    (void)status;
    free(op);
}

void ct_p2p_answer(struct ct_ep *to, uint8_t id, const void *hdr, size_t hdr_len)
{
    struct ct_ep_op *op = calloc(1, sizeof *op);
    if (op == NULL) {
        ct_ep_fail(to, CTRAN_ERR_NO_MEM);
        return;
    }
    op->id = id;
    op->hdr_len = (uint8_t)hdr_len;
    op->done = answer_taken;
    if (hdr_len > 0) {
        memcpy(op->hdr, hdr, hdr_len);
    }
    if (ct_ep_send(to, op) != CT_QUEUED) {
        free(op);
    }
}

bool ct_p2p_unpack(struct ct_ep *from, const void *hdr, size_t hdr_len, void *wire, size_t len)
{
    if (hdr_len != len) {
        ct_error(&from->p->log,
                 "rank %" PRIu32 " sent a header of %zu bytes instead of %zu; it is "
                 "treated as failed",
                 from->id, hdr_len, len);
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return false;
    }
    memcpy(wire, hdr, len);
    return true;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* The request now has its message: from here on it is about this sender and tag. */
static inline void bind(struct ct_p2p_req *req, struct ct_ep *ep, const struct ct_p2p_key *key,
                        size_t len_bytes) CT_IN_DOMAIN
{
    if (CT_UNLIKELY(req->stays) && ct_p2p_is_pending_loss(req)) {
        req->base.error = CTRAN_SUCCESS;
        ct_request_set_done(&req->base, false);
    }
    req->state = CT_P2P_MATCHED;
    if (req->ep != ep) { /* the peer that the request names is read without the domain */
        req->ep = ep;
    }
    hear(ep, len_bytes);
    req->base.source = key->src;
    req->base.tag = key->tag;
    if (CT_UNLIKELY(req->place != NULL && !req->takes)) {
        req->place(req, len_bytes);
    }
}

/* What `take` makes of a part it makes in the domain, where other threads wait for it: where parts
 * are too long for that they are copied. None is longer than the first. */
static bool takes(struct ct_p2p_req *req, size_t at, size_t len_bytes)
{
    if (at == 0 && !ct_p2p_may_take(req, len_bytes)) {
        req->takes = false;
    }
    return req->takes;
}

size_t ct_p2p_deliver(struct ct_p2p_req *req, size_t at, const void *data, size_t len_bytes)
{
    if (req->takes && takes(req, at, len_bytes) && len_bytes <= req->area.len_bytes - at) {
        req->take(req, at, data, len_bytes);
        return len_bytes;
    }
    return ct_area_scatter(&req->area, &at, data, len_bytes);
}

/* What most messages are: short, for a block of memory with room for them. */
static inline bool is_simple(const struct ct_p2p_req *req, size_t len_bytes)
{
    return ct_block_is_few(len_bytes) && !req->takes && req->area.pieces == NULL &&
           len_bytes <= req->area.len_bytes;
}

static inline void take_eager(struct ct_p2p_req *req, const void *data,
                              size_t len_bytes) CT_IN_DOMAIN
{
    if (is_simple(req, len_bytes)) {
        ct_block_copy_few(req->area.base, data, len_bytes);
        req->base.len_bytes = len_bytes;
    } else {
        req->base.len_bytes = ct_p2p_deliver(req, 0, data, len_bytes);
    }
    if (CT_LIKELY(req->base.len_bytes == len_bytes)) {
        complete(req, CTRAN_SUCCESS);
        return;
    }
    const bool full = req->base.len_bytes == req->area.len_bytes;
    ct_p2p_complete(req, full ? CTRAN_ERR_TRUNCATE : CTRAN_ERR_BUFFER);
}

/* Receives a message that has come, and frees it. */
static void receive(struct ct_p2p_req *req, struct ct_unexpected *u) CT_IN_DOMAIN
{
    struct ct_ep *from = u->ep;
    bind(req, from, &u->key, u->len_bytes);
    from->flow.held--;
    ct_flow_matched(from, u->rendezvous ? 0 : u->len_bytes);
    if (u->rendezvous) {
        no_payload(&req->op);
        ct_rndv_recv(req, from,
                     &(struct ct_rndv_offer){.len_bytes = u->len_bytes,
                                             .sender_id = u->sender_id,
                                             .memory = (enum ct_p2p_memory)u->memory,
                                             .key = u->data,
                                             .key_len = u->key_len});
    } else {
        take_eager(req, u->data, u->len_bytes);
    }
    ct_match_release(&from->p->p2p->match, u);
}

void ct_p2p_irecv_message(struct ct_process *p, struct ct_p2p_req *req, struct ct_unexpected *u,
                          const struct ct_area *area)
{
    ct_p2p_prepare(p, req, true, u->ep, u->key, area);
    ct_domain_enter(p);
    receive(req, u);
    ct_domain_leave(p);
}

/* The error of a receive that a loss has ended before it began. A message that has arrived is
 * received nevertheless, unless the context is over: then earlier messages count no more. (A
 * process that merely left ends no context, and has sent all that others need.) */
static int ended(struct ct_p2p_req *req, bool has_come) CT_IN_DOMAIN
{
    const struct ct_p2p *s = req->p->p2p;
    if (CT_LIKELY(!ct_p2p_is_troubled(s))) {
        return CTRAN_SUCCESS;
    }
    return has_come ? ct_p2p_over(req->p, req->key.ctx)
                    : ct_p2p_lost(req->p, req->ep, req->key.ctx);
}

void ct_p2p_start_recv(struct ct_p2p_req *req)
{
    struct ct_match      *m = &req->p->p2p->match;
    struct ct_unexpected *u = ct_match_find_unexpected(m, &req->key);
    int                   rc = ended(req, u != NULL);
    if (CT_UNLIKELY(rc == CTRAN_ERR_PROC_FAILED && req->stays)) {
        ct_match_post(m, req);
        ct_p2p_lose(req, rc);
    } else if (rc != CTRAN_SUCCESS) {
        ct_p2p_complete(req, rc);
    } else if (u != NULL) {
        receive(req, ct_match_take_unexpected(m, &req->key));
    } else {
        ct_match_post(m, req);
        ct_flow_want(req->p, req->ep, req->key.ctx);
    }
}

void ct_p2p_irecv(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *from,
                  struct ct_p2p_key key, const struct ct_area *area)
{
    ct_p2p_prepare(p, req, true, from, key, area);
    ct_domain_enter(p);
    ct_p2p_start_recv(req);
    ct_domain_leave(p);
}

void ct_p2p_irecv_any(struct ct_process *p, struct ct_p2p_req *req, struct ct_p2p_key key,
                      const struct ct_area *area)
{
    ct_p2p_prepare(p, req, true, NULL, key, area);
    req->stays = true;
    ct_domain_enter(p);
    ct_p2p_start_recv(req);
    ct_domain_leave(p);
}

void ct_p2p_take_recv(struct ct_process *p, struct ct_p2p_req *req, struct ct_ep *from,
                      struct ct_p2p_key key, const struct ct_area *area, ct_p2p_take *take)
{
    ct_p2p_prepare(p, req, true, from, key, area);
    req->takes = true;
    req->take = take;
    ct_domain_enter(p);
    ct_p2p_start_recv(req);
    ct_domain_leave(p);
}

/* A message of a context that was closed here: nobody receives it. */
static bool drops(struct ct_ep *from, const struct ct_p2p_key *key, const struct ct_wire_rts *rts,
                  size_t data_len) CT_IN_DOMAIN
{
    const struct ct_p2p_contexts *contexts = &from->p->p2p->contexts;
    if (CT_LIKELY(contexts->closed == NULL || !contexts->closed(from->p, key->ctx))) {
        return false;
    }
    ct_flow_matched(from, rts != NULL ? 0 : data_len);
    if (rts != NULL) {
        ct_rndv_drop(from, rts->sender_id);
    }
    return true;
}

/* Keeps a message of len_bytes whose receive has not been posted; data: what has come of it. */
static void keep(struct ct_ep *from, const struct ct_p2p_key *key, const struct ct_wire_rts *rts,
                 const void *data, size_t data_len, size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_match *m = &from->p->p2p->match;
    if (drops(from, key, rts, data_len)) {
        return;
    }
    struct ct_unexpected *u = ct_match_make(m, data_len);
    if (u == NULL) {
        ct_error(&from->p->log,
                 "no memory for a message of %zu bytes from rank %" PRIu32
                 " that came before its receive; that rank is treated as failed",
                 len_bytes, from->id);
        ct_ep_fail(from, CTRAN_ERR_NO_MEM);
        return;
    }
    u->key = *key;
    u->ep = from;
    u->rendezvous = rts != NULL;
    u->len_bytes = len_bytes;
    u->key_len = 0;
    if (rts != NULL) {
        u->key_len = (uint16_t)data_len;
        u->sender_id = rts->sender_id;
        u->memory = (uint8_t)rts->memory;
    }
    if (data_len > 0) {
        ct_block_copy(u->data, data, data_len);
    }
    from->flow.held++;
    ct_match_keep(m, u);
    ct_p2p_tell_watchers(from->p);
}

static void on_eager(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                     size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_eager wire;
    if (CT_UNLIKELY(hdr_len != sizeof wire)) {
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    struct ct_p2p_req *req = ct_match_take_posted(&from->p->p2p->match, &wire.key);
    if (CT_LIKELY(req != NULL)) {
        bind(req, from, &wire.key, len_bytes);
        ct_flow_matched(from, len_bytes);
        take_eager(req, data, len_bytes);
    } else {
        keep(from, &wire.key, NULL, data, len_bytes, len_bytes);
    }
}

static void on_rts(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                   size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_wire_rts wire;
    if (CT_UNLIKELY(hdr_len != sizeof wire || len_bytes > CT_EP_MAX_RKEY)) {
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    if (CT_UNLIKELY(wire.memory >= CT_P2P_MEMORIES)) {
        ct_ep_fail(from, CTRAN_ERR_INTERN);
        return;
    }
    struct ct_p2p_req *req = ct_match_take_posted(&from->p->p2p->match, &wire.key);
    if (req != NULL) {
        bind(req, from, &wire.key, wire.len_bytes);
        ct_flow_matched(from, 0);
        no_payload(&req->op);
        ct_rndv_recv(req, from,
                     &(struct ct_rndv_offer){.len_bytes = wire.len_bytes,
                                             .sender_id = wire.sender_id,
                                             .memory = (enum ct_p2p_memory)wire.memory,
                                             .key = data,
                                             .key_len = len_bytes});
    } else {
        keep(from, &wire.key, &wire, data, len_bytes, wire.len_bytes);
    }
}

/* ---- cancel ---------------------------------------------------------------------------------- */

static bool has_no_message(const struct ct_p2p_req *req)
{
    return req->state == CT_P2P_POSTED &&
           (!ct_request_is_done(&req->base) || ct_p2p_is_pending_loss(req));
}

static void end_unmatched(struct ct_p2p_req *req, int error) CT_IN_DOMAIN
{
    ct_list_remove(&req->node);
    ct_p2p_complete(req, error);
}

static void withdraw(struct ct_p2p_req *req, int error) CT_IN_DOMAIN
{
    if (ct_flow_withdraw(req)) {
        ct_p2p_complete(req, error);
    } else if (req->id != 0) {
        ct_rndv_withdraw(req, error);
    }
}

void ct_p2p_end(struct ct_p2p_req *req, int error)
{
    if (has_no_message(req)) {
        end_unmatched(req, error);
    } else if (!ct_request_is_done(&req->base) && !req->is_recv) {
        withdraw(req, error);
    }
}

void ct_p2p_cancel(struct ct_p2p_req *req, int error)
{
    struct ct_process *p = req->p;
    ct_domain_enter(p);
    ct_p2p_end(req, error);
    ct_domain_leave(p);
}

int ct_p2p_req_cancel(struct ct_request *base)
{
    struct ct_p2p_req *req = CT_CONTAINER_OF(base, struct ct_p2p_req, base);
    struct ct_process *p = req->p;
    ct_domain_enter(p);
    if (has_no_message(req)) {
        base->cancelled = true; /* first: completion may release it */
        end_unmatched(req, CTRAN_SUCCESS);
    }
    ct_domain_leave(p);
    return CTRAN_SUCCESS;
}

/* ---- init and fini --------------------------------------------------------------------------- */

void ct_p2p_reqs_init(struct ct_p2p *s)
{
    ct_slab_init(&s->reqs, sizeof(struct ct_p2p_req), 64);
}

void ct_p2p_set_threaded(struct ct_process *p)
{
    ct_lock_set(&p->p2p->reqs_lock, p->threaded);
}

/* No other thread is here yet. */
int ct_p2p_init(struct ct_process *p) CT_UNCHECKED
{
    struct ct_p2p *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->p2p = s;
    ct_match_init(&s->match);
    ct_list_init(&s->watchers);
    s->oversubscribed = ct_ep_is_oversubscribed(p);
    make_sent(p, &s->sent);
    ct_lock_init(&s->reqs_lock, p->threaded);
    ct_p2p_reqs_init(s);
    s->ids.eager = ct_ep_register(p, on_eager);
    s->ids.rts = ct_ep_register(p, on_rts);
    ct_rndv_register(p);
    ct_flow_init(p);
    ct_p2p_failure_register(p);
    return CTRAN_SUCCESS;
}

/* No other thread is here any more. */
void ct_p2p_fini(struct ct_process *p) CT_UNCHECKED
{
    struct ct_p2p *s = p->p2p;
    if (s == NULL) {
        return;
    }
    HASH_CLEAR(hh, s->active);
    ct_p2p_kinds_fini(p);
    ct_match_fini(&s->match);
    free(s->lost);
    ct_slab_fini(&s->reqs);
    ct_lock_fini(&s->reqs_lock);
    free(s);
    p->p2p = NULL;
}

void ct_p2p_set_contexts(struct ct_process *p, const struct ct_p2p_contexts *contexts)
{
    p->p2p->contexts = contexts != NULL ? *contexts : (struct ct_p2p_contexts){0};
    if (contexts == NULL) {
        atomic_store_explicit(&p->p2p->nrevoked, 0, memory_order_relaxed);
    }
}
