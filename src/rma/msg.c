/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of windows, for what neither mapped memory nor the transport serves. The progress of
 * the target carries them out in the order in which they come.
 *
 *   origin                                              target
 *     UPDATE: blocks of its memory, operands       ->     updates
 *                                                  <-     answer, with what was there before
 *     SWAP: a place, an operand, what to compare   ->
 *                                                  <-     answer, with what was there before
 *     LOCK                                         ->
 *                                                  <-     answer, once the lock is given
 *     UNLOCK, POST, COMPLETE, SIGNAL               ->
 *     FREE                                         ->    (win.c)
 *                                                  <-     answer, where the window is gone
 *
 * A put is an update of bytes by CTRAN_REPLACE, a get by CTRAN_NO_OP. An origin has at most WINDOW
 * messages out for each target that wait for an answer, and operations leave in their order.
 * Windows are named by the number of their communicator, which no other window ever has.
 *
 * The target trusts nothing: a message that is none ends the peer; one that asks for memory that is
 * not exposed is answered with CT_REFUSED, for a window that is gone with CTRAN_ERR_WIN.
 */
#define CT_FOLDER "rma"
#include <inttypes.h>

#include "rma/own.h"

enum { WINDOW = 32, BLOCKS = CT_RMA_BLOCKS };
enum { WANTS = 1 }; /* flag: what was there before */

struct wire_msg {
    uint64_t win, seq;
    uint8_t  kind, op, scalar, flags;
    uint32_t nblocks;
    uint32_t arg, zero;
};

struct wire_answer {
    uint64_t win, seq;
    int32_t  status;
    uint32_t kind;
};

/* Elements in a row in the target's memory. */
struct wire_block {
    uint64_t at, count;
};

_Static_assert(sizeof(struct wire_msg) == 32 && sizeof(struct wire_answer) == 24 &&
                   sizeof(struct wire_block) == 16,
               "no padding on the wire");

/* A message from when it is made until its answer has come, or, if it gets none, until it is taken.
 */
struct ct_rma_msg {
    struct ct_list      node; /* in peer->sent, while it waits for an answer */
    struct ct_ep_op     op;
    struct ct_win_peer *peer;
    struct ct_rma_op   *of; /* NULL: nobody waits for it any more */
    uint64_t            seq;
    size_t              result_pos, result_bytes;
    struct ct_area      area;
    bool                queued, listed;
    char                payload[];
};

static void lie(struct ct_ep *from, const char *what) CT_IN_DOMAIN
{
    ct_error(&from->p->log, "rank %" PRIu32 " sent %s of a window; it is treated as failed",
             from->id, what);
    ct_ep_fail(from, CTRAN_ERR_INTERN);
}

static struct ct_win *find_win(struct ct_process *p, uint64_t id) CT_IN_DOMAIN
{
    struct ct_win *win = NULL;
    HASH_FIND(hh, p->rma->wins, &id, sizeof id, win);
    return win;
}

static struct ct_win_peer *find_peer(struct ct_win *win, const struct ct_ep *from)
{
    const int rank = ct_group_find(win->comm->group, from->id);
    return rank >= 0 ? &win->peers[rank] : NULL;
}

/* ---- the origin: sending --------------------------------------------------------------------- */

static void msg_drop(struct ct_rma_msg *m)
{
    if (!m->queued && !m->listed) {
        free(m);
    }
}

static void msg_taken(struct ct_ep_op *op, int status) CT_IN_DOMAIN
{
    struct ct_rma_msg *m = CT_CONTAINER_OF(op, struct ct_rma_msg, op);
    (void)status; /* if the peer is lost ct_rma_msg_fail ends what waits */
    m->queued = false;
    msg_drop(m);
}

static struct ct_rma_msg *msg_new(struct ct_win_peer *peer, const struct wire_msg *wire,
                                  size_t payload_bytes)
{
    struct ct_rma_msg *m = malloc(sizeof *m + payload_bytes);
    if (m == NULL) {
        return NULL;
    }
    *m = (struct ct_rma_msg){.peer = peer, .seq = wire->seq};
    m->area = (struct ct_area){.base = m->payload, .len_bytes = payload_bytes};
    m->op = (struct ct_ep_op){.id = peer->win->p->rma->request,
                              .hdr_len = sizeof *wire,
                              .area = payload_bytes > 0 ? &m->area : NULL,
                              .len_bytes = payload_bytes,
                              .done = msg_taken};
    memcpy(m->op.hdr, wire, sizeof *wire);
    ct_list_init(&m->node);
    return m;
}

/* Whatever becomes of it, it frees itself. */
static int msg_send(struct ct_rma_msg *m) CT_IN_DOMAIN
{
    const int rc = ct_ep_send(m->peer->ep, &m->op);
    m->queued = rc == CT_QUEUED;
    msg_drop(m);
    return rc == CT_QUEUED ? CTRAN_SUCCESS : rc;
}

int ct_rma_msg_word(struct ct_win_peer *peer, enum ct_rma_word what, uint32_t arg)
{
    const struct wire_msg wire = {.win = peer->win->id,
                                  .seq = what == CT_RMA_MSG_LOCK ? ++peer->seq : 0,
                                  .kind = (uint8_t)what,
                                  .arg = arg};
    struct ct_rma_msg    *m = msg_new(peer, &wire, 0);
    return m != NULL ? msg_send(m) : CTRAN_ERR_NO_MEM;
}

/* Operands and blocks of the next message of an update. */
struct batch {
    struct wire_block blocks[BLOCKS];
    size_t            nblocks, elems, most_bytes;
};

/* Elements for which there is room, beside one more block; 0: there is none. */
static size_t room(const struct ct_rma_op *op, const struct batch *b)
{
    const size_t size = op->args.elem->size_bytes;
    const bool   brings = op->args.op != CTRAN_NO_OP;
    const size_t taken = (b->nblocks + 1) * sizeof b->blocks[0] + (brings ? b->elems * size : 0);
    if (b->nblocks == BLOCKS || taken >= b->most_bytes) {
        return 0;
    }
    const size_t for_answer = b->most_bytes / size - b->elems;
    return brings ? ct_min_size((b->most_bytes - taken) / size, for_answer) : for_answer;
}

static void collect(struct ct_rma_op *op, struct batch *b)
{
    size_t most;
    b->nblocks = b->elems = 0;
    while (op->target_pos < op->target.len_bytes && (most = room(op, b)) > 0) {
        uintptr_t    at;
        const size_t n = ct_rma_next_run(&op->target, op->args.elem, &op->target_pos, most, &at);
        b->blocks[b->nblocks++] = (struct wire_block){at, n};
        b->elems += n;
    }
}

static struct ct_rma_msg *update_new(struct ct_rma_op *op, const struct batch *b) CT_IN_DOMAIN
{
    const struct ct_rma_args *a = &op->args;
    const bool                brings = a->op != CTRAN_NO_OP, wants = a->result.len_bytes > 0;
    const size_t              bytes = b->elems * a->elem->size_bytes;
    const size_t              table = b->nblocks * sizeof b->blocks[0];
    const struct wire_msg     wire = {.win = op->win->id,
                                      .seq = ++a->peer->seq,
                                      .kind = CT_RMA_MSG_UPDATE,
                                      .op = (uint8_t)(uintptr_t)a->op,
                                      .scalar = (uint8_t)a->elem->scalar,
                                      .flags = wants ? WANTS : 0,
                                      .nblocks = (uint32_t)b->nblocks};
    struct ct_rma_msg        *m = msg_new(a->peer, &wire, table + (brings ? bytes : 0));
    size_t                    pos = op->sent_bytes;
    if (m == NULL) {
        return NULL;
    }
    memcpy(m->payload, b->blocks, table);
    if (brings && !ct_area_gather_all(&a->origin, &pos, m->payload + table, bytes)) {
        op->status = CTRAN_ERR_BUFFER;
    }
    m->result_pos = op->sent_bytes;
    m->result_bytes = wants ? bytes : 0;
    op->sent_bytes += bytes;
    op->sent = op->sent_bytes == op->target.len_bytes;
    return m;
}

static struct ct_rma_msg *swap_new(struct ct_rma_op *op) CT_IN_DOMAIN
{
    const struct ct_rma_args *a = &op->args;
    const size_t              size = a->elem->size_bytes;
    const struct wire_block   block = {a->at, 1};
    const struct wire_msg     wire = {.win = op->win->id,
                                      .seq = ++a->peer->seq,
                                      .kind = CT_RMA_MSG_SWAP,
                                      .scalar = (uint8_t)a->elem->scalar,
                                      .flags = WANTS,
                                      .nblocks = 1};
    struct ct_rma_msg        *m = msg_new(a->peer, &wire, sizeof block + 2 * size);
    if (m == NULL) {
        return NULL;
    }
    memcpy(m->payload, &block, sizeof block);
    memcpy(m->payload + sizeof block, a->origin.base, size);
    memcpy(m->payload + sizeof block + size, a->compare, size);
    m->result_bytes = size;
    op->sent = true;
    return m;
}

static struct ct_rma_msg *next_msg(struct ct_rma_op *op) CT_IN_DOMAIN
{
    struct batch b = {.most_bytes = ct_ep_max_payload(op->args.peer->ep)};
    if (op->args.kind == CT_RMA_CAS) {
        return swap_new(op);
    }
    if (b.most_bytes == 0) {
        return NULL;
    }
    collect(op, &b);
    return update_new(op, &b);
}

/* No more of it is sent. */
static void stop_sending(struct ct_rma_op *op, int status) CT_IN_DOMAIN
{
    op->status = op->status == CTRAN_SUCCESS ? status : op->status;
    op->sent = true;
    ct_list_remove(&op->node);
    if (op->unanswered == 0) {
        ct_rma_op_end(op, op->status);
    }
}

/* False: nothing more can be sent of this one now. */
static bool send_next(struct ct_win_peer *peer, struct ct_rma_op *op) CT_IN_DOMAIN
{
    struct ct_rma_msg *m = next_msg(op);
    if (m == NULL) {
        stop_sending(op, peer->ep->state == CT_EP_FAILED ? peer->ep->why : CTRAN_ERR_NO_MEM);
        return true;
    }
    m->of = op;
    m->listed = true;
    ct_list_append(&peer->sent, &m->node);
    peer->nsent++;
    op->unanswered++;
    if (op->sent) {
        ct_list_remove(&op->node);
    }
    if (op->sent && op->args.result.len_bytes == 0) {
        ct_rma_op_sent(op); /* messages hold copies */
        ct_win_changed(op->win);
    }
    return msg_send(m) == CTRAN_SUCCESS; /* else the peer has failed, which is about to be told */
}

void ct_rma_msg_pump(struct ct_win_peer *peer)
{
    while (!ct_list_empty(&peer->ops) && peer->nsent < WINDOW && !peer->failed &&
           send_next(peer, CT_LIST_ENTRY(peer->ops.next, struct ct_rma_op, node))) {
    }
}

/* ---- the origin: answers --------------------------------------------------------------------- */

static void msg_over(struct ct_rma_msg *m, int status) CT_IN_DOMAIN
{
    struct ct_rma_op *op = m->of;
    ct_list_remove(&m->node);
    m->listed = false;
    m->peer->nsent--;
    msg_drop(m);
    op->status = op->status == CTRAN_SUCCESS ? status : op->status;
    if (--op->unanswered == 0 && op->sent) {
        ct_rma_op_end(op, op->status);
    }
}

/* False: that is no answer to the first that waits. */
static bool take_answer(struct ct_win_peer *peer, const struct wire_answer *wire, const void *data,
                        size_t len_bytes) CT_IN_DOMAIN
{
    struct ct_rma_msg *m =
        ct_list_empty(&peer->sent) ? NULL : CT_LIST_ENTRY(peer->sent.next, struct ct_rma_msg, node);
    const bool fine = wire->status == CTRAN_SUCCESS;
    if (m == NULL || m->seq != wire->seq || len_bytes != (fine ? m->result_bytes : 0) ||
        (!fine && wire->status != CT_REFUSED && ct_error_name(wire->status) == NULL)) {
        return false;
    }
    int    status = wire->status;
    size_t pos = m->result_pos;
    if (len_bytes > 0 && !ct_area_scatter_all(&m->of->args.result, &pos, data, len_bytes)) {
        status = CTRAN_ERR_BUFFER;
    }
    msg_over(m, status);
    return true;
}

static void on_answer(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                      size_t len_bytes) CT_IN_DOMAIN
{
    struct wire_answer wire;
    if (hdr_len != sizeof wire) {
        lie(from, "a false answer");
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    struct ct_win      *win = find_win(from->p, wire.win);
    struct ct_win_peer *peer = win != NULL ? find_peer(win, from) : NULL;
    if (peer == NULL || peer->failed) {
        return; /* the window is gone here */
    }
    if (wire.kind == CT_RMA_MSG_LOCK && peer->asked && wire.seq == peer->seq && len_bytes == 0) {
        if (wire.status == CTRAN_SUCCESS) {
            ct_win_lock_given(peer);
        }
    } else if (wire.kind == CT_RMA_MSG_FREE && len_bytes == 0) {
        peer->frees = true;
        ct_win_changed(win);
    } else if (wire.kind == CT_RMA_MSG_LOCK || !take_answer(peer, &wire, data, len_bytes)) {
        lie(from, "a false answer");
        return;
    }
    ct_rma_msg_pump(peer);
}

/* Messages that still wait for room go with the peer, and free themselves. */
void ct_rma_msg_fail(struct ct_win_peer *peer, int why)
{
    while (!ct_list_empty(&peer->sent)) {
        msg_over(CT_LIST_ENTRY(peer->sent.next, struct ct_rma_msg, node), why);
    }
    while (!ct_list_empty(&peer->ops)) {
        stop_sending(CT_LIST_ENTRY(peer->ops.next, struct ct_rma_op, node), why);
    }
}

/* ---- the target: answers --------------------------------------------------------------------- */

struct answer {
    struct ct_ep_op op;
    struct ct_area  area;
    char            data[];
};

static void answer_taken(struct ct_ep_op *op, int status)
{
    (void)status; /* a peer that is lost needs no answer */
    free(CT_CONTAINER_OF(op, struct answer, op));
}

static struct answer *answer_new(struct ct_ep *to, size_t len_bytes)
{
    struct answer *a = malloc(sizeof *a + len_bytes);
    if (a != NULL) {
        a->area = (struct ct_area){.base = a->data, .len_bytes = len_bytes};
        a->op = (struct ct_ep_op){
            .id = to->p->rma->reply, .hdr_len = sizeof(struct wire_answer), .done = answer_taken};
    }
    return a;
}

static void answer_send(struct ct_ep *to, struct answer *a,
                        const struct wire_answer *wire) CT_IN_DOMAIN
{
    const bool has_data = wire->status == CTRAN_SUCCESS && a->area.len_bytes > 0;
    memcpy(a->op.hdr, wire, sizeof *wire);
    a->op.area = has_data ? &a->area : NULL;
    a->op.len_bytes = has_data ? a->area.len_bytes : 0;
    if (ct_ep_send(to, &a->op) != CT_QUEUED) {
        free(a);
    }
}

static void answer_short(struct ct_ep *to, const struct wire_msg *wire, int status) CT_IN_DOMAIN
{
    struct answer *a = answer_new(to, 0);
    if (a == NULL) {
        ct_ep_fail(to, CTRAN_ERR_NO_MEM);
        return;
    }
    answer_send(to, a, &(struct wire_answer){wire->win, wire->seq, status, wire->kind});
}

void ct_rma_msg_grant(struct ct_win_peer *peer, uint64_t seq)
{
    const struct wire_msg wire = {.win = peer->win->id, .seq = seq, .kind = CT_RMA_MSG_LOCK};
    answer_short(peer->ep, &wire, CTRAN_SUCCESS);
}

/* ---- the target: requests -------------------------------------------------------------------- */

/* A message with consistent parts. */
struct update {
    const struct wire_msg *wire;
    const char            *blocks, *with;
    const struct ct_dtype *elem;
    struct ct_rma_update   u;
    size_t                 elems;
};

static struct wire_block block_of(const struct update *m, uint32_t i)
{
    struct wire_block block;
    memcpy(&block, m->blocks + i * sizeof block, sizeof block);
    return block;
}

/* False: the peer has sent nonsense. Counts are bounded first: a message is never answered by more
 * than one message. */
static bool parse_update(const struct wire_msg *wire, const void *data, size_t len_bytes,
                         size_t most, struct update *out)
{
    const size_t table = (size_t)wire->nblocks * sizeof(struct wire_block);
    *out = (struct update){.wire = wire, .blocks = data, .elem = ct_rma_scalar_type(wire->scalar)};
    if (out->elem == NULL || wire->nblocks == 0 || wire->nblocks > BLOCKS || table > len_bytes) {
        return false;
    }
    out->with = out->blocks + table;
    for (uint32_t i = 0; i < wire->nblocks; i++) {
        const struct wire_block block = block_of(out, i);
        if (block.count > most || (!out->elem->contiguous && block.count > 1)) {
            return false;
        }
        out->elems += block.count;
    }
    const size_t bytes = out->elems * out->elem->size_bytes;
    if (wire->kind == CT_RMA_MSG_SWAP) {
        return out->elems == 1 && wire->nblocks == 1 && bytes <= sizeof(uint64_t) &&
               len_bytes - table == 2 * bytes;
    }
    return bytes <= most && ct_rma_update_of((ctran_op_t)(uintptr_t)wire->op, out->elem, &out->u) &&
           len_bytes - table == (out->u.reads ? 0 : bytes);
}

/* The bytes that the elements of a block span. */
static uint64_t span_of(const struct update *m, const struct wire_block *b)
{
    const uint64_t extent = (uint64_t)m->elem->extent_bytes;
    return b->count > 0 ? (b->count - 1) * extent + (uint64_t)m->elem->true_extent_bytes : 0;
}

static void update_block(const struct update *m, const struct wire_block *b, void *at,
                         const char *with, char *old)
{
    const size_t size = m->elem->size_bytes;
    if (m->wire->kind == CT_RMA_MSG_SWAP) {
        ct_rma_swap_alone(size, at, with, with + size, old);
    } else {
        ct_rma_update_alone(&m->u, at, with, old, b->count);
    }
}

/* Where the blocks lie here. CT_REFUSED: not all of them are exposed. *kind: that of one which is
 * not plain memory; NULL: all are. */
static int place_all(struct ct_win *win, const struct update *m, struct iovec *at,
                     const struct ct_memory **kind) CT_IN_DOMAIN
{
    *kind = NULL;
    for (uint32_t i = 0; i < m->wire->nblocks; i++) {
        const struct wire_block block = block_of(m, i);
        at[i].iov_len = span_of(m, &block);
        at[i].iov_base = ct_win_place(win, block.at, at[i].iov_len);
        if (at[i].iov_base == NULL) {
            return CT_REFUSED;
        }
        const struct ct_memory *k = ct_win_kind_at(win, at[i].iov_base);
        *kind = k != NULL ? k : *kind;
    }
    return CTRAN_SUCCESS;
}

static void update_all(const struct update *m, const struct iovec *at, char *old)
{
    const size_t size = m->elem->size_bytes;
    const char  *with = m->with;
    for (uint32_t i = 0; i < m->wire->nblocks; i++) {
        const struct wire_block block = block_of(m, i);
        update_block(m, &block, at[i].iov_base, with, old);
        with += m->u.reads ? 0 : block.count * size;
        if (old != NULL) {
            old += block.count * size;
        }
    }
}

/* All blocks, or none. */
static int carry_out(struct ct_win *win, const struct update *m, char *old) CT_IN_DOMAIN
{
    struct iovec            at[BLOCKS];
    const struct ct_memory *kind;
    struct ct_rma_stage     stage;
    const bool              changes = m->wire->kind == CT_RMA_MSG_SWAP || !m->u.reads;
    int                     rc = place_all(win, m, at, &kind);
    if (rc == CTRAN_SUCCESS && CT_UNLIKELY(kind != NULL)) {
        rc = ct_rma_stage_open(&stage, kind, at, m->wire->nblocks);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    update_all(m, at, old);
    return CT_LIKELY(kind == NULL) ? rc : ct_rma_stage_close(&stage, changes);
}

static void on_update(struct ct_ep *from, struct ct_win *win, const struct wire_msg *wire,
                      const void *data, size_t len_bytes) CT_IN_DOMAIN
{
    struct update m;
    const bool    wants = (wire->flags & WANTS) != 0;
    if (!parse_update(wire, data, len_bytes, ct_ep_max_payload(from), &m) ||
        (wire->kind == CT_RMA_MSG_SWAP && !wants)) {
        lie(from, "a false message");
        return;
    }
    struct answer *a = answer_new(from, wants ? m.elems * m.elem->size_bytes : 0);
    if (a == NULL) {
        ct_ep_fail(from, CTRAN_ERR_NO_MEM);
        return;
    }
    const int status = carry_out(win, &m, wants ? a->data : NULL);
    answer_send(from, a, &(struct wire_answer){wire->win, wire->seq, status, wire->kind});
}

static void on_word(struct ct_win_peer *peer, const struct wire_msg *wire) CT_IN_DOMAIN
{
    struct ct_win *win = peer->win;
    switch (wire->kind) {
    case CT_RMA_MSG_LOCK:
        ct_win_lock_asked(peer, (enum ct_win_hold)wire->arg, wire->seq);
        break;
    case CT_RMA_MSG_UNLOCK:
        ct_win_lock_returned(peer);
        break;
    case CT_RMA_MSG_POST:
        peer->posts++;
        break;
    case CT_RMA_MSG_COMPLETE:
        peer->completes++;
        break;
    case CT_RMA_MSG_FREE:
        peer->frees = true;
        break;
    default:
        atomic_fetch_add_explicit(&win->ctl->rank[peer - win->peers].signals, 1,
                                  memory_order_release);
    }
    ct_win_changed(win);
}

static void on_request(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                       size_t len_bytes) CT_IN_DOMAIN
{
    struct wire_msg wire;
    if (hdr_len != sizeof wire) {
        lie(from, "a header of wrong length");
        return;
    }
    memcpy(&wire, hdr, sizeof wire);
    struct ct_win      *win = find_win(from->p, wire.win);
    struct ct_win_peer *peer = win != NULL ? find_peer(win, from) : NULL;
    const bool          is_update = wire.kind <= CT_RMA_MSG_SWAP;
    if (wire.kind >= CT_RMA_MSGS || (!is_update && len_bytes > 0) ||
        (win != NULL && peer == NULL) ||
        (wire.kind == CT_RMA_MSG_LOCK && wire.arg != CT_HOLD_SHARED &&
         wire.arg != CT_HOLD_EXCLUSIVE)) {
        lie(from, "a false message");
    } else if (win == NULL) {
        if (is_update || wire.kind == CT_RMA_MSG_LOCK || wire.kind == CT_RMA_MSG_FREE) {
            answer_short(from, &wire, CTRAN_ERR_WIN);
        }
    } else if (is_update) {
        on_update(from, win, &wire, data, len_bytes);
    } else {
        on_word(peer, &wire);
    }
}

void ct_rma_msg_register(struct ct_process *p)
{
    p->rma->request = ct_ep_register(p, on_request);
    p->rma->reply = ct_ep_register(p, on_answer);
}
