/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self - a process's messages to itself, through a queue.
 */
#define CT_FOLDER "net"
#include <stdlib.h>

#include "net/nvl.h"
#include "net/transports.h"

/* A message on its way; header and payload follow. */
struct message {
    struct ct_list node;
    uint8_t        type;
    size_t         hdr_len, len_bytes;
    CT_ALIGNED(16) char bytes[];
};

struct self {
    struct ct_net      net;
    struct ct_net_link link; /* the only one there can be */
    struct ct_net_env  env;
    void              *peer;
    struct ct_list     queue; /* struct message */
    struct ct_nvl      nvl;   /* from one buffer on a GPU to another */
    struct ct_nvl_peer own;
    struct ct_list     mrs; /* struct self_mr */
};

static int self_open(const struct ct_net_env *env, struct ct_net **net)
{
    struct self *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->net = (struct ct_net){
        .ops = &ct_net_self, .caps = CT_NET_RMA, .eager_bytes = (size_t)env->cfg->eager_limit};
    s->link = (struct ct_net_link){.net = &s->net, .max_slice = 1 << 20};
    s->env = *env;
    ct_list_init(&s->queue);
    ct_list_init(&s->mrs);
    ct_nvl_init(&s->nvl, &s->net, env);
    *net = &s->net;
    return CTRAN_SUCCESS;
}

static void self_close(struct ct_net *net)
{
    struct self *s = CT_CONTAINER_OF(net, struct self, net);
    for (struct ct_list *node; (node = ct_list_pop(&s->queue)) != NULL;) {
        free(CT_LIST_ENTRY(node, struct message, node));
    }
    ct_nvl_fini(&s->nvl);
    free(s);
}

static const void *self_addr(struct ct_net *net, size_t *len_bytes)
{
    struct self *s = CT_CONTAINER_OF(net, struct self, net);
    *len_bytes = sizeof s->env.id;
    return &s->env.id;
}

static const char *self_unreachable(struct ct_net *net, const void *addr, size_t len_bytes)
{
    struct self *s = CT_CONTAINER_OF(net, struct self, net);
    bool         same = len_bytes == sizeof s->env.id && memcmp(addr, &s->env.id, len_bytes) == 0;
    return same ? NULL : "it is another process";
}

static int self_connect(struct ct_net *net, void *peer, uint32_t id, const void *addr,
                        size_t len_bytes, struct ct_net_link **link)
{
    (void)id, (void)addr, (void)len_bytes;
    struct self *s = CT_CONTAINER_OF(net, struct self, net);
    s->peer = peer;
    *link = &s->link;
    return CTRAN_SUCCESS;
}

static void self_disconnect(struct ct_net_link *link)
{
    (void)link;
}

static int self_send(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    struct self    *s = CT_CONTAINER_OF(link, struct self, link);
    size_t          data_at = ct_round_up(slice->hdr_len, 16);
    struct message *m = malloc(sizeof *m + data_at + slice->len_bytes);
    if (m == NULL) {
        return CT_AGAIN;
    }
    m->type = slice->type;
    m->hdr_len = slice->hdr_len;
    m->len_bytes = slice->len_bytes;
    memcpy(m->bytes, slice->hdr, slice->hdr_len);
    if (slice->len_bytes > 0 &&
        !ct_area_gather_all(slice->area, slice->pos, m->bytes + data_at, slice->len_bytes)) {
        free(m);
        return CTRAN_ERR_BUFFER;
    }
    ct_list_append(&s->queue, &m->node);
    s->env.arrived(s->env.arg);
    return CTRAN_SUCCESS;
}

/* Only what is queued now: a handler that answers itself must not keep us here. */
static unsigned self_progress(struct ct_net *net)
{
    struct self   *s = CT_CONTAINER_OF(net, struct self, net);
    struct ct_list now;
    unsigned       n = ct_nvl_progress(&s->nvl);
    if (CT_LIKELY(ct_list_empty(&s->queue))) {
        return n;
    }
    ct_list_init(&now);
    ct_list_splice(&now, &s->queue);
    for (struct ct_list *node; (node = ct_list_pop(&now)) != NULL; n++) {
        struct message *m = CT_LIST_ENTRY(node, struct message, node);
        s->env.deliver(s->peer, m->type, m->bytes, m->hdr_len,
                       m->bytes + ct_round_up(m->hdr_len, 16), m->len_bytes);
        free(m);
    }
    return n;
}

/* ---- one-sided operations: rma.h ------------------------------------------------------------- */

struct self_mr {
    struct ct_net_mr     base;
    struct ct_net_region region;
    struct ct_list       node;
};

/* A packed key is the region's number. */
struct self_rkey {
    struct ct_net_rkey base;
    uint64_t           key;
};

static int self_mem_reg(struct ct_net *net, const struct ct_net_region *region,
                        struct ct_net_mr **mr)
{
    struct self_mr *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    m->base.net = net;
    m->region = *region;
    ct_list_append(&CT_CONTAINER_OF(net, struct self, net)->mrs, &m->node);
    *mr = &m->base;
    return CTRAN_SUCCESS;
}

static void self_mem_dereg(struct ct_net_mr *mr)
{
    struct self_mr *m = CT_CONTAINER_OF(mr, struct self_mr, base);
    ct_list_remove(&m->node);
    free(m);
}

static size_t self_rkey_pack(const struct ct_net_mr *mr, void *out)
{
    const struct self_mr *m = CT_CONTAINER_OF(mr, struct self_mr, base);
    memcpy(out, &m->region.key, sizeof m->region.key);
    return sizeof m->region.key;
}

/* The region with that key, if it is for this process; NULL: there is none (any more). */
static const struct ct_net_region *self_region(const struct self *s, uint64_t key)
{
    CT_LIST_FOR (node, &s->mrs) {
        const struct ct_net_region *r = &CT_LIST_ENTRY(node, struct self_mr, node)->region;
        if (r->key == key) {
            return r->peer == CT_NET_ANY_PEER || r->peer == s->env.id ? r : NULL;
        }
    }
    return NULL;
}

static int self_rkey_open(struct ct_net_link *link, const void *bytes, size_t len_bytes,
                          struct ct_net_rkey **rkey)
{
    const struct self *s = CT_CONTAINER_OF(link, struct self, link);
    uint64_t           key = 0;
    if (len_bytes == sizeof key) {
        memcpy(&key, bytes, sizeof key);
    }
    const struct ct_net_region *r = self_region(s, key);
    if (r == NULL) {
        return CT_REFUSED;
    }
    struct self_rkey *k = calloc(1, sizeof *k);
    if (k == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    k->base.link = link;
    k->base.reach = ct_area_is_plain(r->area) ? CT_NET_REACH_MAPPED : CT_NET_REACH_DEVICE;
    k->base.ops = 1 << CT_NET_OP_GET | 1 << CT_NET_OP_PUT | 1 << CT_NET_OP_ATOMIC;
    k->key = key;
    *rkey = &k->base;
    return CTRAN_SUCCESS;
}

static void self_rkey_close(struct ct_net_rkey *rkey)
{
    free(CT_CONTAINER_OF(rkey, struct self_rkey, base));
}

static void *self_map(struct ct_net_rkey *rkey)
{
    const struct self          *s = CT_CONTAINER_OF(rkey->link, struct self, link);
    const struct ct_net_region *r =
        self_region(s, CT_CONTAINER_OF(rkey, struct self_rkey, base)->key);
    return r != NULL && r->area->pieces == NULL ? r->area->base : NULL;
}

/* Out of a GPU's memory by its copy engine. CTRAN_SUCCESS: comp is told later. */
static int self_get_device(struct self *s, const struct ct_net_rma *op,
                           const struct ct_net_region *r)
{
    struct ct_mem_export whole;
    const bool           can =
        op->op == CT_NET_OP_GET && op->len_bytes > 0 && ct_nvl_export(&s->nvl, r->area, &whole);
    return can ? ct_nvl_get(&s->nvl, &s->own, &whole, op) : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

/* CT_QUEUED: comp is told later. */
static int self_carry_out(struct self *s, const struct ct_net_rma *op)
{
    const struct self_rkey     *k = CT_CONTAINER_OF(op->rkey, struct self_rkey, base);
    const struct ct_net_region *r = self_region(s, k->key);
    if (r == NULL || !ct_net_rma_may(op, r->area->len_bytes, r->access)) {
        return CT_REFUSED;
    }
    if (!ct_area_is_plain(r->area) && self_get_device(s, op, r) == CTRAN_SUCCESS) {
        return CT_QUEUED;
    }
    return ct_net_rma_apply(op, r->area);
}

static int self_reach(struct ct_net_link *link, const struct ct_area *area,
                      enum ct_net_reach *reach)
{
    struct self         *s = CT_CONTAINER_OF(link, struct self, link);
    struct ct_mem_export device;
    *reach = ct_area_is_plain(area) ? CT_NET_REACH_MAPPED : CT_NET_REACH_DEVICE;
    return *reach == CT_NET_REACH_MAPPED || ct_nvl_export(&s->nvl, area, &device)
               ? CTRAN_SUCCESS
               : CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int self_post(struct ct_net_link *link, struct ct_net_rma *const ops[], unsigned n,
                     unsigned *taken)
{
    struct self *s = CT_CONTAINER_OF(link, struct self, link);
    for (*taken = 0; *taken < n; (*taken)++) {
        const struct ct_net_rma *op = ops[*taken];
        int                      rc = self_carry_out(s, op);
        if (rc == CTRAN_SUCCESS && op->op == CT_NET_OP_PUT && op->notify) {
            const struct ct_net_notice notice = {
                CT_CONTAINER_OF(op->rkey, struct self_rkey, base)->key, op->notice, 0};
            const struct ct_net_slice slice = {
                .type = CT_NET_NOTIFY, .hdr_len = sizeof notice, .hdr = &notice};
            rc = self_send(link, &slice);
        }
        if (rc == CT_AGAIN) {
            return rc;
        }
        if (rc != CT_QUEUED) {
            ct_net_comp_now(op->comp, rc);
        }
    }
    return CTRAN_SUCCESS;
}

/* Operations are over when they return, except those of a copy engine. */
static int self_fence(struct ct_net_link *link)
{
    return ct_nvl_fence(&CT_CONTAINER_OF(link, struct self, link)->own);
}

static void self_flush(struct ct_net_link *link, struct ct_net_comp *comp)
{
    ct_nvl_flush(&CT_CONTAINER_OF(link, struct self, link)->own, comp, CTRAN_SUCCESS);
}

static int self_typical(enum ct_net_op op, enum ct_net_reach reach, struct ct_net_cost *cost)
{
    const bool is_device = reach == CT_NET_REACH_DEVICE && op != CT_NET_OP_SEND;
    *cost = (struct ct_net_cost){.lat_ns = is_device ? 15000 : 100,
                                 .bytes_per_us = is_device              ? 20000
                                                 : op == CT_NET_OP_SEND ? 5000
                                                                        : 10000,
                                 .max_bytes = SIZE_MAX,
                                 .flags = is_device ? CT_NET_ASYNC : CT_NET_ORIGIN_COPIES};
    return reach == CT_NET_REACH_WIRED && op != CT_NET_OP_SEND ? CTRAN_ERR_UNSUPPORTED_OPERATION
                                                               : CTRAN_SUCCESS;
}

static int self_query(struct ct_net_link *link, enum ct_net_op op, enum ct_net_reach reach,
                      struct ct_net_cost *cost)
{
    const struct self *s = CT_CONTAINER_OF(link, struct self, link);
    const bool         wants_device = reach == CT_NET_REACH_DEVICE && op == CT_NET_OP_GET;
    return wants_device && !ct_nvl_is_on(&s->nvl) ? CTRAN_ERR_UNSUPPORTED_OPERATION
                                                  : self_typical(op, reach, cost);
}

static const struct ct_net_rma_ops self_rma_ops = {
    .mem_reg = self_mem_reg,
    .mem_dereg = self_mem_dereg,
    .rkey_pack = self_rkey_pack,
    .rkey_open = self_rkey_open,
    .rkey_close = self_rkey_close,
    .map = self_map,
    .reach = self_reach,
    .post = self_post,
    .fence = self_fence,
    .flush = self_flush,
    .query = self_query,
    .typical = self_typical,
};

const struct ct_net_ops ct_net_self = {
    .name = "self",
    .description = "a process's messages to itself",
    .caps = CT_NET_RMA,
    .open = self_open,
    .close = self_close,
    .addr = self_addr,
    .unreachable = self_unreachable,
    .connect = self_connect,
    .disconnect = self_disconnect,
    .watch = ct_net_no_watch,
    .drain = ct_net_no_drain,
    .forget = ct_net_no_forget,
    .send = self_send,
    .flushed = ct_net_all_flushed,
    .rma = &self_rma_ops,
    .progress = self_progress,
    .check_peers = ct_net_no_check,
    .wake = ct_net_no_wake,
    .fd = ct_net_no_fd,
};
