/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages through a process of the tree; see router.h. Used by head/run.c and router_process.c. */
#include "config.h"
#include "launcher/tree/router.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/auth.h"
#include "launcher/launcher.h"
#include "launcher/tree/router_child.h"
#include "launcher/tree/router_events.h"
#include "launcher/tree/router_fence.h"

/* ---- standard input -------------------------------------------------------------------------- */

/* Asks above for the input that all reading children have asked for; reports when no child reads
 * any more. */
static void ask_for_input(struct ct_router *h)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < h->nchildren; i++) {
        const struct ct_router_child *c = &h->children[i];
        least = c->reads && c->in_credit < least ? c->in_credit : least;
    }
    if (least == UINT64_MAX && !h->in_closed) {
        h->in_closed = true;
        h->ops->up(h->arg, CT_MSG_STDIN_CLOSED, NULL, 0);
    } else if (least != UINT64_MAX && least > h->in_credit) {
        struct evbuffer *body = evbuffer_new();
        ct_pack_u32(body, CT_CHAN_STDIN);
        ct_pack_u32(body, (uint32_t)(least - h->in_credit));
        h->in_credit = least;
        h->ops->up(h->arg, CT_MSG_CREDIT, evbuffer_pullup(body, -1), evbuffer_get_length(body));
        evbuffer_free(body);
    }
}

static void stop_reading(struct ct_router_child *c)
{
    if (c->reads) {
        c->reads = false;
        ask_for_input(c->router);
    }
}

/* ---- messages from below --------------------------------------------------------------------- */

static void take_credit(struct ct_router_child *c, struct ct_unpack *in)
{
    in->bad = ct_unpack_u32(in) != CT_CHAN_STDIN;
    c->in_credit += ct_unpack_u32(in);
    if (!in->bad && c->reads) {
        ask_for_input(c->router);
    }
}

/* Passes a message from node to node: down if the node is behind a child, else up. */
static void router_pass_on(struct ct_router *h, enum ct_msg_type type, struct ct_unpack *in)
{
    struct ct_unpack        look = *in;
    struct ct_router_child *c = ct_router_child_of(h, ct_unpack_u32(&look));
    if (c == NULL) {
        h->ops->up(h->arg, type, in->at, in->left);
    } else if (c->joined && !c->gone) {
        ct_conn_send_bytes(c->conn, type, in->at, in->left);
    }
}

static void router_take(struct ct_router_child *c, enum ct_msg_type type, struct ct_unpack *in)
{
    struct ct_router *h = c->router;
    if (!c->joined && type != CT_MSG_HELLO) {
        in->bad = true;
        return;
    }
    switch (type) {
    case CT_MSG_HELLO:
        ct_router_child_take_hello(c, in);
        break;
    case CT_MSG_OUT:
        in->bad = !ct_merge_add(h->merge, c->index, in);
        break;
    case CT_MSG_CREDIT:
        take_credit(c, in);
        break;
    case CT_MSG_STDIN_CLOSED:
        stop_reading(c);
        break;
    case CT_MSG_FENCE:
        ct_router_fence(c, in);
        break;
    case CT_MSG_MODEX_ASK:
    case CT_MSG_MODEX_DATA:
    case CT_MSG_RANKS:
    case CT_MSG_TRACES:
        router_pass_on(h, type, in);
        break;
    case CT_MSG_EVENT_TAKEN:
        ct_router_events_taken(c, in);
        break;
    case CT_MSG_DONE:
        ct_router_child_done(c);
        break;
    case CT_MSG_REFUSED:
        c->done |= !c->remote; /* it has left no process; a router has more to do */
        h->ops->up(h->arg, type, in->at, in->left);
        break;
    default:
        h->ops->up(h->arg, type, in->at, in->left);
    }
}

static void router_child_gone(struct ct_router_child *c, const char *why)
{
    struct ct_router *h = c->router;
    c->gone = true;
    h->ngone++;
    ct_merge_close(h->merge, c->index);
    ct_router_events_leave(c);
    stop_reading(c);
    if (!c->done) {
        h->ops->lost(h->arg, c->span.first, c->remote, why);
    }
    if (h->ngone == h->nchildren) {
        h->ops->over(h->arg);
    }
}

/* ---- messages from above --------------------------------------------------------------------- */

static void take_end(struct ct_router *h, struct ct_unpack *in)
{
    uint32_t grace_ms = ct_unpack_u32(in);
    if (!in->bad) {
        ct_router_end(h, grace_ms);
    }
}

static void pass_input(struct ct_router *h, const struct ct_unpack *in)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        struct ct_router_child *c = &h->children[i];
        if (c->joined && !c->gone && c->reads) {
            ct_conn_send_bytes(c->conn, CT_MSG_STDIN, in->at, in->left);
        }
    }
}

/* Sends a message that the child has not asked for and must not miss. A child for which too many
 * bytes of such messages wait is given up. */
static void broadcast_to(struct ct_router_child *c, enum ct_msg_type type,
                         const struct ct_unpack *in)
{
    const size_t pending = ct_conn_pending(c->conn);
    if (ct_conn_written(c->conn) >= c->broadcast_end) {
        c->broadcast_bytes = 0;
    }
    if (ct_min_size(c->broadcast_bytes, pending) > CT_BROADCAST_BEHIND_MAX) {
        ct_router_child_give_up(c);
        return;
    }
    ct_conn_send_bytes(c->conn, type, in->at, in->left);
    c->broadcast_bytes += ct_conn_pending(c->conn) - pending;
    c->broadcast_end = ct_conn_written(c->conn) + ct_conn_pending(c->conn);
}

static void router_broadcast(struct ct_router *h, enum ct_msg_type type, const struct ct_unpack *in)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        struct ct_router_child *c = &h->children[i];
        if (c->joined && !c->gone && !c->given_up) {
            broadcast_to(c, type, in);
        }
    }
}

void ct_router_down(struct ct_router *h, enum ct_msg_type type, struct ct_unpack *in)
{
    uint32_t channel;
    switch (type) {
    case CT_MSG_STDIN:
        pass_input(h, in);
        break;
    case CT_MSG_START:
    case CT_MSG_SIGNAL:
    case CT_MSG_SIZE:
    case CT_MSG_JOB_EVENT:
    case CT_MSG_OUT_CLOSE:
    case CT_MSG_FAMILY_JOB:
    case CT_MSG_FAMILY_GONE:
    case CT_MSG_RANKS_ASK:
    case CT_MSG_TRACES_ASK:
        router_broadcast(h, type, in);
        break;
    case CT_MSG_EVENT:
        ct_router_events_pass(h, in);
        break;
    case CT_MSG_END:
        take_end(h, in);
        break;
    case CT_MSG_CREDIT:
        channel = ct_unpack_u32(in);
        ct_merge_credit(h->merge, channel, ct_unpack_u32(in));
        break;
    case CT_MSG_FENCE_DONE:
        ct_router_fence_done(h, in);
        break;
    case CT_MSG_MODEX_ASK:
    case CT_MSG_MODEX_DATA:
    case CT_MSG_DATA_ANSWER:
    case CT_MSG_STORES:
    case CT_MSG_SPAWN_ANSWER:
    case CT_MSG_EVENT_PASSED:
    case CT_MSG_FAMILY_MET:
    case CT_MSG_FAMILY_FETCH:
    case CT_MSG_FAMILY_DATA:
    case CT_MSG_RANKS:
    case CT_MSG_TRACES:
        router_pass_on(h, type, in);
        break;
    default:
        in->bad = true;
    }
}

void ct_router_send_down(struct ct_router *h, enum ct_msg_type type, struct evbuffer *body)
{
    struct ct_unpack in = ct_unpack_of(body);
    ct_router_down(h, type, &in);
    evbuffer_free(body);
}

void ct_router_down_u32(struct ct_router *h, enum ct_msg_type type, uint32_t v)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, v);
    ct_router_send_down(h, type, body);
}

void ct_router_end(struct ct_router *h, uint32_t grace_ms)
{
    h->ending = true;
    for (uint32_t i = 0; i < h->nchildren; i++) {
        struct ct_router_child *c = &h->children[i];
        if (c->joined && !c->gone) {
            ct_conn_send_u32(c->conn, CT_MSG_END, grace_ms);
        } else {
            ct_router_child_stop(c);
        }
    }
}

void ct_router_flush(struct ct_router *h, int timeout_ms)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        if (h->children[i].conn != NULL) {
            ct_conn_flush(h->children[i].conn, timeout_ms);
        }
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

size_t ct_router_pids(const struct ct_router *h, bool remote_only, pid_t *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < h->nchildren; i++) {
        const struct ct_router_child *c = &h->children[i];
        if (c->pid > 0 && !c->reaped && (c->remote || !remote_only)) {
            out[n++] = c->pid;
        }
    }
    return n;
}

void ct_router_reaped(struct ct_router *h, pid_t pid, int wait_status)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        struct ct_router_child *c = &h->children[i];
        if (c->pid == pid && !c->reaped) {
            c->reaped = true;
            c->wait_status = wait_status;
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void on_forward(void *arg, const uint8_t *payload, size_t len)
{
    struct ct_router *h = arg;
    h->ops->up(h->arg, CT_MSG_OUT, payload, len);
}

static void on_credit(void *arg, uint32_t source, uint32_t channel, uint32_t len)
{
    struct ct_router *h = arg;
    if (!h->children[source].gone) {
        ct_conn_send_credit(h->children[source].conn, channel, len);
    }
}

static bool router_pack(struct ct_router *h)
{
    struct evbuffer *body = evbuffer_new();
    ct_jobdesc_pack(h->desc, body);
    h->packed_len = evbuffer_get_length(body);
    h->packed = malloc(h->packed_len);
    bool ok =
        h->packed != NULL && evbuffer_remove(body, h->packed, h->packed_len) == (int)h->packed_len;
    evbuffer_free(body);
    return ok;
}

/* The daemon of this node comes first: it has work to do while others are being reached. */
static bool make_children(struct ct_router *h, const struct ct_span *parts, uint32_t n)
{
    bool own = h->mine != CT_NO_NODE;
    h->nchildren = n + own;
    h->children = calloc((size_t)h->nchildren + 1, sizeof *h->children);
    bool ok = h->children != NULL;
    if (ok && own) {
        ok = ct_router_child_init(&h->children[0], h, 0, (struct ct_span){h->mine, 1}, false);
    }
    for (uint32_t i = 0; ok && i < n; i++) {
        ok = ct_router_child_init(&h->children[own + i], h, own + i, parts[i], true);
    }
    return ok;
}

bool ct_router_init(struct ct_router *h, struct event_base *base, const struct ct_jobdesc *desc,
                    struct ct_span span, uint32_t mine, size_t credit_bytes,
                    const struct ct_router_ops *ops, void *arg)
{
    static const struct ct_merge_ops        merge_ops = {on_forward, on_credit};
    static const struct ct_router_child_ops child_ops = {router_take, router_child_gone};
    struct ct_span *parts = calloc((size_t)desc->fan_out + 1, sizeof *parts);
    *h = (struct ct_router){.base = base,
                            .desc = desc,
                            .span = span,
                            .mine = mine,
                            .child_ops = &child_ops,
                            .ops = ops,
                            .arg = arg};
    ct_list_init(&h->fences);
    bool ok = ct_router_events_init(h) && parts != NULL && router_pack(h) &&
              make_children(h, parts, ct_tree_split(span, mine, desc->fan_out, parts));
    free(parts);
    if (ok) {
        h->merge = ct_merge_create(base, h->nchildren, credit_bytes, &merge_ops, h);
    }
    return ok && h->merge != NULL;
}

void ct_router_leave_remote(struct ct_router *h)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        if (h->children[i].remote) {
            ct_router_child_close(&h->children[i]); /* all agents get the same time */
        }
    }
    for (uint32_t i = 0; i < h->nchildren; i++) {
        while (h->children[i].remote && !ct_router_child_reap(&h->children[i])) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
}

void ct_router_start(struct ct_router *h, const char *daemon)
{
    for (uint32_t i = 0; i < h->nchildren; i++) {
        ct_router_child_start(&h->children[i], daemon);
    }
}

void ct_router_fini(struct ct_router *h)
{
    for (uint32_t i = 0; h->children != NULL && i < h->nchildren; i++) {
        ct_router_child_fini(&h->children[i]);
    }
    ct_router_events_fini(h);
    ct_router_fences_fini(h);
    ct_merge_destroy(h->merge);
    free(h->children);
    if (h->packed != NULL) {
        ct_auth_wipe(h->packed, h->packed_len); /* the job's key is in it */
    }
    free(h->packed);
}
