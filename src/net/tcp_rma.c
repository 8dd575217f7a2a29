/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations (rma.h) over tcp: puts of host memory, straight from the caller's memory to
 * the region's. The target's progress looks the key up for each part and writes the bytes. All else
 * goes by messages of ep.
 *
 *   origin                                   target
 *     PUT (key, offset, put, its length) ->   the socket is read to the region's memory
 *     PUT, ..., on any stream              ->
 *                                        <-   DONE (put, status): all parts have come
 *
 * Invariant: a put is over when DONE has come and all its bytes are acknowledged, since a stream
 * that is connected anew sends again what is not. Parts of a put may come in any order, on
 * different streams, so the target counts their bytes.
 */
#define CT_FOLDER "net"
#include <inttypes.h>
#include <stdlib.h>

#include "net/tcp.h"

enum {
    PART_MOST = 1 << 20, /* of a put, at a time to one stream: what comes behind it waits so long */
    PART_LEAST = 64 << 10,
    SPREAD_FROM = 256 << 10, /* from this length on all streams share the work */
};

/* A packed key is the region's number. */
struct tcp_mr {
    struct ct_net_mr base;
    uint64_t         key;
    uint32_t         peer;
};

struct tcp_rkey {
    struct ct_net_rkey base;
    uint64_t           key;
};

struct tcp_flush {
    struct ct_list      node;
    struct ct_net_comp *comp;
    uint64_t            last_put; /* the last one that it waits for */
};

/* A put of the peer's of which some parts have come. */
struct tcp_arriving {
    struct ct_list node;
    uint64_t       id;
    uint64_t       bytes;
    bool           refused; /* one of the parts */
};

static struct ct_tcp *tcp_rma_tcp_of(struct ct_net *net)
{
    return CT_CONTAINER_OF(net, struct ct_tcp, net);
}

/* ---- the owner ------------------------------------------------------------------------------- */

static int tcp_mem_reg(struct ct_net *net, const struct ct_net_region *region,
                       struct ct_net_mr **mr)
{
    struct tcp_mr *m = ct_area_is_plain(region->area) ? malloc(sizeof *m) : NULL;
    if (m == NULL) {
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    *m = (struct tcp_mr){.base = {net}, .key = region->key, .peer = region->peer};
    *mr = &m->base;
    return CTRAN_SUCCESS;
}

static void withdraw_from(struct ct_tcp_peer *peer, uint64_t key)
{
    for (uint32_t i = 0; i < peer->nlanes; i++) {
        ct_tcp_in_withdraw(&peer->streams[i].in, key);
    }
}

/* Nor does what is on its way reach the memory. */
static void tcp_mem_dereg(struct ct_net_mr *mr)
{
    struct tcp_mr      *m = CT_CONTAINER_OF(mr, struct tcp_mr, base);
    struct ct_tcp      *t = tcp_rma_tcp_of(mr->net);
    struct ct_tcp_peer *peer = NULL, *next;
    if (m->peer != CT_NET_ANY_PEER) {
        HASH_FIND(hh, t->peers, &m->peer, sizeof m->peer, peer);
        if (peer != NULL) {
            withdraw_from(peer, m->key);
        }
    } else {
        HASH_ITER (hh, t->peers, peer, next) {
            withdraw_from(peer, m->key);
        }
    }
    free(m);
}

static size_t tcp_rkey_pack(const struct ct_net_mr *mr, void *out)
{
    const struct tcp_mr *m = CT_CONTAINER_OF(mr, struct tcp_mr, base);
    memcpy(out, &m->key, sizeof m->key);
    return sizeof m->key;
}

/* ---- the origin: keys ------------------------------------------------------------------------ */

static int tcp_rkey_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                         struct ct_net_rkey **rkey)
{
    struct tcp_rkey *k;
    if (len_bytes != sizeof k->key) {
        return CT_REFUSED;
    }
    k = malloc(sizeof *k);
    if (k == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    k->base =
        (struct ct_net_rkey){.link = link, .ops = 1 << CT_NET_OP_PUT, .reach = CT_NET_REACH_WIRED};
    memcpy(&k->key, bytes, sizeof k->key);
    *rkey = &k->base;
    return CTRAN_SUCCESS;
}

static void tcp_rkey_close(struct ct_net_rkey *rkey)
{
    free(CT_CONTAINER_OF(rkey, struct tcp_rkey, base));
}

static void *tcp_map(struct ct_net_rkey *rkey)
{
    (void)rkey;
    return NULL;
}

static int tcp_reach(struct ct_net_link *link, const struct ct_area *area, enum ct_net_reach *reach)
{
    (void)link;
    *reach = CT_NET_REACH_WIRED;
    return ct_area_is_plain(area) ? CTRAN_SUCCESS : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* ---- the origin: puts ------------------------------------------------------------------------ */

void ct_tcp_rma_init(struct ct_tcp_peer *peer)
{
    ct_list_init(&peer->puts);
    ct_list_init(&peer->all_puts);
    ct_list_init(&peer->flushes);
    ct_list_init(&peer->arriving);
}

static struct ct_tcp_put *put_of(struct ct_list *in_peer)
{
    return CT_LIST_ENTRY(in_peer, struct ct_tcp_put, in_peer);
}

/* Flushes that wait for nothing any more. */
static void end_flushes(struct ct_tcp_peer *peer)
{
    while (!ct_list_empty(&peer->flushes)) {
        struct tcp_flush   *f = CT_LIST_ENTRY(peer->flushes.next, struct tcp_flush, node);
        struct ct_net_comp *comp = f->comp;
        if (!ct_list_empty(&peer->all_puts) && put_of(peer->all_puts.next)->id <= f->last_put) {
            return;
        }
        ct_list_remove(&f->node);
        free(f);
        ct_net_comp_later(comp, CTRAN_SUCCESS);
    }
}

static void put_end(struct ct_tcp_put *put, int status)
{
    struct ct_net_comp *comp = put->op->comp;
    ct_list_remove(&put->node);
    ct_list_remove(&put->in_peer);
    free(put);
    ct_net_comp_later(comp, status);
}

static void put_end_if_over(struct ct_tcp_put *put)
{
    struct ct_tcp_peer *peer = put->peer;
    if (put->acked && put->answered) {
        peer->t->events++;
        put_end(put, put->status);
        end_flushes(peer);
    }
}

static int post_put(struct ct_tcp_peer *peer, const struct ct_net_rma *op)
{
    const uint32_t     n = op->len_bytes >= SPREAD_FROM ? peer->nlanes : 1;
    struct ct_tcp_put *put = malloc(sizeof *put);
    if (put == NULL) {
        return CT_AGAIN;
    }
    *put = (struct ct_tcp_put){.op = op, .peer = peer, .id = ++peer->last_put};
    ct_list_append(&peer->puts, &put->node);
    ct_list_append(&peer->all_puts, &put->in_peer);
    for (uint32_t i = 0; i < n; i++) {
        ct_tcp_stream_need(&peer->streams[i]);
        ct_tcp_stream_push(&peer->streams[i]);
    }
    return CTRAN_SUCCESS;
}

static int tcp_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                    unsigned *taken)
{
    struct ct_tcp_peer *peer = ct_tcp_peer_of(link);
    int                 rc = CTRAN_SUCCESS;
    for (*taken = 0; *taken < n && rc == CTRAN_SUCCESS; *taken += rc == CTRAN_SUCCESS) {
        const struct ct_net_rma *op = ops[*taken];
        if (op->op != CT_NET_OP_PUT || (op->len_bytes > 0 && !ct_area_is_plain(op->area))) {
            rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
        } else if (peer->lost) {
            ct_net_comp_now(op->comp, CTRAN_ERR_PROC_FAILED);
        } else {
            rc = peer->left ? CT_AGAIN : post_put(peer, op); /* AGAIN: until env is told */
        }
    }
    return rc;
}

/* Parts are small enough that all streams have their share of a put, where streams go by several
 * links or queues. On one host all go by the same two processors, and each part costs an
 * acknowledgement: there parts are long. */
static size_t tcp_rma_part_of(const struct ct_tcp_peer *peer, const struct ct_tcp_put *put)
{
    size_t left = put->op->len_bytes - put->assigned_bytes;
    size_t part = ct_max_size(put->op->len_bytes / ((size_t)2 * peer->nlanes), PART_LEAST);
    part = peer->nlanes == 1 || peer->near ? PART_MOST : ct_min_size(part, PART_MOST);
    return ct_min_size(left, part);
}

void ct_tcp_rma_feed(struct ct_tcp_stream *stream)
{
    struct ct_tcp_peer *peer = stream->peer;
    if (ct_list_empty(&peer->puts)) {
        return;
    }
    struct ct_tcp_put       *put = CT_LIST_ENTRY(peer->puts.next, struct ct_tcp_put, node);
    const struct ct_net_rma *op = put->op;
    struct ct_tcp_target     to = {.key = CT_CONTAINER_OF(op->rkey, struct tcp_rkey, base)->key,
                                   .offset = op->offset + put->assigned_bytes,
                                   .id = put->id,
                                   .len_bytes = op->len_bytes,
                                   .notice = op->notice,
                                   .notify = op->notify};
    size_t                   len = tcp_rma_part_of(peer, put);
    bool                     last = put->assigned_bytes + len == op->len_bytes;
    struct ct_tcp_frame *f = ct_tcp_out_make(&stream->out, sizeof(struct ct_tcp_head) + sizeof to);
    if (f == NULL) {
        ct_tcp_wait_retry(stream, CT_NS_PER_MS);
        return;
    }
    *(struct ct_tcp_head *)f->bytes =
        (struct ct_tcp_head){.kind = CT_TCP_PUT,
                             .hdr_len = sizeof to,
                             .flags = last || peer->nlanes > 1 ? CT_TCP_ACK_NOW : 0,
                             .len_bytes = (uint32_t)len};
    memcpy(f->bytes + sizeof(struct ct_tcp_head), &to, sizeof to);
    f->put = put;
    f->put_pos = op->pos + put->assigned_bytes;
    f->put_bytes = len;
    put->assigned_bytes += len;
    if (last) {
        ct_list_remove(&put->node);
    }
    ct_tcp_stream_add(stream, f);
}

void ct_tcp_rma_acked(struct ct_tcp *t)
{
    for (struct ct_list *node; (node = ct_list_pop(&t->done)) != NULL;) {
        struct ct_tcp_put *put = CT_LIST_ENTRY(node, struct ct_tcp_put, node);
        put->acked = true;
        put_end_if_over(put);
    }
}

/* Acknowledgements that came with it are in t->done by now. */
void ct_tcp_rma_done(void *stream, const struct ct_tcp_outcome *outcome)
{
    struct ct_tcp_peer *peer = ((struct ct_tcp_stream *)stream)->peer;
    CT_LIST_FOR (node, &peer->all_puts) {
        struct ct_tcp_put *put = put_of(node);
        if (put->id == outcome->id) {
            put->answered = true;
            put->status = outcome->status == CTRAN_SUCCESS ? CTRAN_SUCCESS : CT_REFUSED;
            put_end_if_over(put);
            return;
        }
    }
}

/* ---- the origin: order ----------------------------------------------------------------------- */

static int tcp_fence(struct ct_net_link *link)
{
    return ct_list_empty(&ct_tcp_peer_of(link)->all_puts) ? CTRAN_SUCCESS : CT_AGAIN;
}

static void tcp_flush(struct ct_net_link *link, struct ct_net_comp *comp)
{
    struct ct_tcp_peer *peer = ct_tcp_peer_of(link);
    struct tcp_flush   *f = ct_list_empty(&peer->all_puts) ? NULL : malloc(sizeof *f);
    if (f != NULL) {
        f->comp = comp;
        f->last_put = peer->last_put;
        ct_list_append(&peer->flushes, &f->node);
        return;
    }
    ct_net_comp_now(comp, peer->lost                       ? CTRAN_ERR_PROC_FAILED
                          : ct_list_empty(&peer->all_puts) ? CTRAN_SUCCESS
                                                           : CTRAN_ERR_NO_MEM);
}

/* Guesses, of a network and a host of today; on one host the two ends copy at memory's speed. */
static int tcp_rma_cost_of(bool near, enum ct_net_op op, enum ct_net_reach reach,
                           struct ct_net_cost *cost)
{
    const bool is_put = op == CT_NET_OP_PUT && reach == CT_NET_REACH_WIRED;
    *cost = (struct ct_net_cost){.lat_ns = near ? 15000 : 30000,
                                 .bytes_per_us = (near ? 4000 : 2500) / (is_put ? 1 : 2),
                                 .max_bytes = SIZE_MAX,
                                 .flags = CT_NET_TARGET_CPU};
    return is_put || op == CT_NET_OP_SEND ? CTRAN_SUCCESS : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int tcp_query(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                     struct ct_net_cost *cost)
{
    return tcp_rma_cost_of(ct_tcp_peer_of(link)->near, op, reach, cost);
}

static int tcp_typical(enum ct_net_op op, enum ct_net_reach reach, struct ct_net_cost *cost)
{
    return tcp_rma_cost_of(false, op, reach, cost);
}

/* ---- the target ------------------------------------------------------------------------------ */

static struct ct_tcp_peer *tcp_rma_peer_of(void *stream)
{
    return ((struct ct_tcp_stream *)stream)->peer;
}

const struct ct_area *ct_tcp_rma_place(void *stream, const struct ct_tcp_target *to,
                                       size_t len_bytes)
{
    struct ct_tcp_peer   *peer = tcp_rma_peer_of(stream);
    struct ct_tcp        *t = peer->t;
    const struct ct_area *area = NULL;
    if (t->closing || peer->lost ||
        t->env.region(peer->cookie, to->key, to->offset, len_bytes, CT_NET_REMOTE_WRITE, &area) !=
            CTRAN_SUCCESS) {
        return NULL;
    }
    return area;
}

static struct tcp_arriving *arriving_get(struct ct_tcp_peer *peer, uint64_t id)
{
    CT_LIST_FOR (node, &peer->arriving) {
        struct tcp_arriving *a = CT_LIST_ENTRY(node, struct tcp_arriving, node);
        if (a->id == id) {
            return a;
        }
    }
    struct tcp_arriving *a = calloc(1, sizeof *a);
    if (a != NULL) {
        a->id = id;
        ct_list_append(&peer->arriving, &a->node);
    }
    return a;
}

/* Tells the owner, if the origin wants that, and the origin. */
static void put_arrived(struct ct_tcp_stream *stream, const struct ct_tcp_target *to, bool refused)
{
    struct ct_tcp_peer         *peer = stream->peer;
    struct ct_tcp              *t = peer->t;
    const struct ct_net_notice  notice = {to->key, to->notice, 0};
    const struct ct_tcp_outcome outcome = {.id = to->id,
                                           .status = refused ? CT_REFUSED : CTRAN_SUCCESS};
    const size_t                size = sizeof(struct ct_tcp_head) + sizeof outcome;
    struct ct_tcp_frame        *f = ct_tcp_stream_frame(stream, size);
    t->events++;
    if (f == NULL) {
        ct_tcp_peer_lose(peer, CTRAN_ERR_NO_MEM);
        return;
    }
    ((struct ct_tcp_head *)f->bytes)->kind = CT_TCP_DONE;
    ((struct ct_tcp_head *)f->bytes)->hdr_len = sizeof outcome;
    memcpy(f->bytes + sizeof(struct ct_tcp_head), &outcome, sizeof outcome);
    ct_tcp_stream_add(stream, f);
    ct_tcp_stream_push(stream);
    if (to->notify != 0 && !refused) {
        t->env.deliver(peer->cookie, CT_NET_NOTIFY, &notice, sizeof notice, NULL, 0);
    }
}

/* Most puts come in one part. */
void ct_tcp_rma_placed(void *stream, const struct ct_tcp_target *to, size_t len_bytes, bool landed)
{
    struct ct_tcp_peer        *peer = tcp_rma_peer_of(stream);
    const struct ct_tcp_target copy = *to; /* the stream may go on with the next part */
    bool                       refused = !landed;
    if (peer->t->closing || peer->lost) {
        return;
    }
    if (len_bytes != to->len_bytes) {
        struct tcp_arriving *a = arriving_get(peer, to->id);
        if (a == NULL || len_bytes > to->len_bytes || a->bytes > to->len_bytes - len_bytes) {
            ct_error(peer->t->env.log,
                     "rank %" PRIu32 " has sent parts of a put that are longer than the put, or "
                     "there is no memory to count them; it is treated as failed",
                     peer->id);
            ct_tcp_peer_lose(peer, a == NULL ? CTRAN_ERR_NO_MEM : CTRAN_ERR_INTERN);
            return;
        }
        a->bytes += len_bytes;
        refused = a->refused |= refused;
        if (a->bytes < to->len_bytes) {
            return;
        }
        ct_list_remove(&a->node);
        free(a);
    }
    put_arrived(stream, &copy, refused);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A transport that closes calls no function of its user. */
static void comp_end(const struct ct_tcp *t, struct ct_net_comp *comp, int why)
{
    if (!t->closing) {
        ct_net_comp_later(comp, why);
    }
}

void ct_tcp_rma_quit(struct ct_tcp_peer *peer, int why)
{
    for (struct ct_list *node; (node = ct_list_pop(&peer->arriving)) != NULL;) {
        free(CT_LIST_ENTRY(node, struct tcp_arriving, node));
    }
    for (struct ct_list *node; (node = ct_list_pop(&peer->all_puts)) != NULL;) {
        struct ct_tcp_put  *put = put_of(node);
        struct ct_net_comp *comp = put->op->comp;
        ct_list_remove(&put->node);
        free(put);
        comp_end(peer->t, comp, why);
    }
    for (struct ct_list *node; (node = ct_list_pop(&peer->flushes)) != NULL;) {
        struct tcp_flush   *f = CT_LIST_ENTRY(node, struct tcp_flush, node);
        struct ct_net_comp *comp = f->comp;
        free(f);
        comp_end(peer->t, comp, why);
    }
}

const struct ct_net_rma_ops ct_tcp_rma_ops = {
    .mem_reg = tcp_mem_reg,
    .mem_dereg = tcp_mem_dereg,
    .rkey_pack = tcp_rkey_pack,
    .rkey_open = tcp_rkey_open,
    .rkey_close = tcp_rkey_close,
    .map = tcp_map,
    .reach = tcp_reach,
    .post = tcp_post,
    .fence = tcp_fence,
    .flush = tcp_flush,
    .query = tcp_query,
    .typical = tcp_typical,
};
