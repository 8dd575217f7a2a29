/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self - a process's messages to itself, through a queue. The smallest transport, and the one to
 * copy for a new one.
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
};

static int self_open(const struct ct_net_env *env, struct ct_net **net)
{
    struct self *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->net = (struct ct_net){.ops = &ct_net_self,
                             .caps = CT_NET_GET | CT_NET_FETCH,
                             .eager_bytes = (size_t)env->cfg->eager_limit};
    s->link = (struct ct_net_link){.net = &s->net, .max_slice = 1 << 20};
    s->env = *env;
    ct_list_init(&s->queue);
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

static int self_get(struct ct_net_link *link, const struct ct_area *area,
                    const struct ct_net_remote *from)
{
    (void)link;
    size_t pos = 0;
    ct_area_scatter(area, &pos, (const void *)(uintptr_t)from->addr, from->len_bytes);
    return CTRAN_SUCCESS;
}

static size_t self_offer(struct ct_net_link *link, const struct ct_area *area, void *note)
{
    return ct_nvl_offer(&CT_CONTAINER_OF(link, struct self, link)->nvl, area, note);
}

static int self_fetch(struct ct_net_link *link, const struct ct_net_fetch *fetch)
{
    struct self *s = CT_CONTAINER_OF(link, struct self, link);
    return ct_nvl_fetch(&s->nvl, &s->own, fetch);
}

const struct ct_net_ops ct_net_self = {
    .struct_size = sizeof(struct ct_net_ops),
    .name = "self",
    .description = "a process's messages to itself",
    .caps = CT_NET_GET | CT_NET_FETCH,
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
    .get = self_get,
    .lent = ct_net_no_lent,
    .view = ct_net_no_view,
    .put = ct_net_no_put,
    .offer = self_offer,
    .fetch = self_fetch,
    .progress = self_progress,
    .check_peers = ct_net_no_check,
    .wake = ct_net_no_wake,
    .fd = ct_net_no_fd,
};
