/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fences in the tree. The contributions of the children to a fence are put together and go up as
 * one message, until a process has the contributions of all ranks that take part. From there the
 * whole goes down again to these children.
 *
 * The list of ranks identifies a fence. There is one fence at a time of each list, because a
 * process comes to the next fence only after this one, and then the answer has passed here. In a
 * job that outlives deaths all fences go to the head, which alone knows whether a rank is missing.
 * Used by router.c.
 */
#include "config.h"
#include "launcher/tree/router_fence.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"
#include "launcher/tree/router_child.h"

struct fence {
    struct ct_list   node;
    uint8_t         *ranks; /* the beginning of the message: how many, and which */
    size_t           ranks_len;
    bool            *wanted; /* by child: it takes part */
    uint32_t         missing;
    bool             here; /* no rank elsewhere takes part */
    uint32_t         status;
    struct evbuffer *data;
};

static void free_fence(struct fence *f)
{
    ct_list_remove(&f->node);
    if (f->data != NULL) {
        evbuffer_free(f->data);
    }
    free(f->wanted);
    free(f->ranks);
    free(f);
}

/* Finds the children that take part, by the list of ranks. */
static bool find_members(struct ct_router *h, struct fence *f)
{
    struct ct_unpack in = {.at = f->ranks, .left = f->ranks_len};
    uint32_t         n = ct_unpack_u32(&in), inside = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = ct_unpack_u32(&in);
        if (rank >= ct_jobdesc_ranks(h->desc)) {
            return false;
        }
        struct ct_router_child *c = ct_router_child_of(h, h->desc->ranks.node_of[rank]);
        if (c != NULL) {
            f->wanted[c->index] = true;
            inside++;
        }
    }
    for (uint32_t i = 0; i < h->nchildren; i++) {
        f->wanted[i] |= n == 0;
        f->missing += f->wanted[i];
    }
    f->here = h->span.n == h->desc->nnodes || (n > 0 && inside == n);
    return true;
}

static struct fence *fence_find(struct ct_router *h, const uint8_t *ranks, size_t len)
{
    for (struct ct_list *l = h->fences.next; l != &h->fences; l = l->next) {
        struct fence *f = CT_LIST_ENTRY(l, struct fence, node);
        if (f->ranks_len == len && memcmp(f->ranks, ranks, len) == 0) {
            return f;
        }
    }
    return NULL;
}

static struct fence *fence_begin(struct ct_router *h, const uint8_t *ranks, size_t len)
{
    struct fence *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    *f = (struct fence){.ranks = malloc(len),
                        .ranks_len = len,
                        .wanted = calloc(h->nchildren, sizeof *f->wanted),
                        .data = evbuffer_new()};
    ct_list_append(&h->fences, &f->node);
    bool ok = f->ranks != NULL && f->wanted != NULL && f->data != NULL;
    if (ok) {
        memcpy(f->ranks, ranks, len);
        ok = find_members(h, f);
    }
    if (!ok) {
        free_fence(f);
        return NULL;
    }
    return f;
}

/* The list of ranks at the beginning of a message; moves on. */
static const uint8_t *take_ranks(struct ct_unpack *in, size_t *len)
{
    const uint8_t *at = in->at;
    uint32_t       n = ct_unpack_u32(in);
    if (in->bad || n > in->left / 4) {
        in->bad = true;
        return NULL;
    }
    *len = 4 + 4 * (size_t)n;
    in->at = at + *len;
    in->left -= 4 * (size_t)n;
    return at;
}

/* All children that take part have come. Returns false when out of memory. */
static bool fence_complete(struct ct_router *h, struct fence *f)
{
    struct evbuffer *body = evbuffer_new();
    size_t           len = f->ranks_len + 4 + evbuffer_get_length(f->data);
    const uint8_t   *bytes = NULL;
    if (body != NULL) {
        evbuffer_add(body, f->ranks, f->ranks_len);
        ct_pack_u32(body, f->status);
        evbuffer_add_buffer(body, f->data);
        bytes = evbuffer_get_length(body) == len ? evbuffer_pullup(body, -1) : NULL;
    }
    struct ct_unpack in = {.at = bytes, .left = len};
    if (bytes != NULL && f->here && !h->desc->recovery) {
        ct_router_fence_done(h, &in);
    } else if (bytes != NULL) {
        h->ops->up(h->arg, CT_MSG_FENCE, bytes, len);
    }
    if (body != NULL) {
        evbuffer_free(body);
    }
    return bytes != NULL;
}

void ct_router_fence(struct ct_router_child *c, struct ct_unpack *in)
{
    struct ct_router *h = c->router;
    size_t            len = 0;
    const uint8_t    *ranks = take_ranks(in, &len);
    uint32_t          status = ct_unpack_u32(in);
    struct fence     *f = in->bad ? NULL : fence_find(h, ranks, len);
    f = f != NULL || in->bad ? f : fence_begin(h, ranks, len);
    if (f == NULL || f->missing == 0 || !f->wanted[c->index]) {
        in->bad = true;
        return;
    }
    f->status = f->status != 0 ? f->status : status;
    /* Without memory the child is lost, with a reason, rather than the fence, without one. */
    in->bad = evbuffer_add(f->data, in->at, in->left) != 0;
    if (--f->missing == 0 && !in->bad) {
        in->bad = !fence_complete(h, f);
    }
}

void ct_router_fence_done(struct ct_router *h, struct ct_unpack *in)
{
    const uint8_t *all = in->at;
    size_t         all_len = in->left, len = 0;
    const uint8_t *ranks = take_ranks(in, &len);
    struct fence  *f = in->bad ? NULL : fence_find(h, ranks, len);
    if (f == NULL) {
        in->bad = true;
        return;
    }
    for (uint32_t i = 0; i < h->nchildren; i++) {
        if (f->wanted[i] && !h->children[i].gone) {
            ct_conn_send_bytes(h->children[i].conn, CT_MSG_FENCE_DONE, all, all_len);
        }
    }
    free_fence(f);
}

void ct_router_fences_fini(struct ct_router *h)
{
    while (!ct_list_empty(&h->fences)) {
        free_fence(CT_LIST_ENTRY(h->fences.next, struct fence, node));
    }
}
