/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent's connections to its peers. Of two, the one with the lower number connects: it learns
 * the other's address from the store and tries until it is there. A connection that is lost after
 * blocks have gone over it ends the exchange, as no end knows which of them arrived.
 */
#define CT_FOLDER "pmi"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmi/oob/gather.h"

enum { FIRST_PAUSE_MS = 10, LONGEST_PAUSE_MS = 2000, PROOF_MS = 30000, CHOICE_MS = 3000 };

static void connect_to(struct ct_peer *peer);

uint32_t ct_oob_key(char out[CT_OOB_KEY_SIZE], const char *name, uint32_t node)
{
    return (uint32_t)snprintf(out, CT_OOB_KEY_SIZE, "oob/%.*s/%08x", CT_OOB_NAME_MAX - 1, name,
                              node);
}

struct ct_peer *ct_peers_find(struct ct_gather *g, uint32_t index)
{
    uint32_t low = 0, high = g->npeers;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (g->peers[mid].index < index) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < g->npeers && g->peers[low].index == index ? &g->peers[low] : NULL;
}

static void oob_peers_fail(struct ct_gather *g, int status, const char *why)
{
    if (!g->ended) {
        g->ended = true;
        g->done(g->arg, status, why);
    }
}

static void try_again(struct ct_peer *peer)
{
    struct timeval pause = ct_wire_timeval(ct_loop_backoff_ms(
        peer->gather->terms->loop, peer->attempt++, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
    (void)event_add(&peer->again, &pause);
}

static void oob_peers_on_again(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    connect_to(arg);
}

static void oob_peers_use(struct ct_peer *peer, struct ct_link *link)
{
    const struct ct_oob_shape *shape = &peer->gather->terms->shape;
    link->peer = peer;
    link->gather = peer->gather;
    link->conn.max_body =
        (uint32_t)ct_min_size((size_t)shape->nslots * shape->entry_bytes, UINT32_MAX);
    link->conn.max_out = SIZE_MAX; /* the table's own bytes, borrowed */
    peer->link = link;
}

static void oob_peers_on_ready(struct ct_wire_conn *conn)
{
    struct ct_link *link = CT_CONTAINER_OF(conn, struct ct_link, conn);
    (void)ct_wire_conn_send(conn, CT_OOB_HELLO, link->gather->index, NULL, 0, NULL, 0, false);
    link->peer->ready = true;
    ct_gather_go_on(link->gather);
}

static void *oob_peers_on_place(struct ct_wire_conn *conn, const struct ct_frame *f)
{
    return ct_peers_place(CT_CONTAINER_OF(conn, struct ct_link, conn), f);
}

static int oob_peers_on_message(struct ct_wire_conn *conn, const struct ct_frame *f,
                                const void *body)
{
    return ct_peers_message(CT_CONTAINER_OF(conn, struct ct_link, conn), f, body);
}

static void oob_peers_on_drained(struct ct_wire_conn *conn)
{
    ct_gather_go_on(CT_CONTAINER_OF(conn, struct ct_link, conn)->gather);
}

static void oob_peers_on_closed(struct ct_wire_conn *conn, int code, const char *why)
{
    (void)code;
    ct_peers_closed(CT_CONTAINER_OF(conn, struct ct_link, conn), why);
}

static const struct ct_wire_conn_ops ops = {
    .ready = oob_peers_on_ready,
    .place = oob_peers_on_place,
    .message = oob_peers_on_message,
    .drained = oob_peers_on_drained,
    .closed = oob_peers_on_closed,
};

static void connect_to(struct ct_peer *peer)
{
    struct ct_gather         *g = peer->gather;
    struct ct_wire_conn_terms terms = {.key = g->terms->key,
                                       .context = CT_OOB_CONTEXT,
                                       .limit_ms = peer->naddrs > 1 ? CHOICE_MS : PROOF_MS,
                                       .traffic = CT_TRAFFIC_GATHER};
    struct ct_addr           *to = &peer->addrs[peer->attempt % peer->naddrs];
    struct ct_link           *link = calloc(1, sizeof *link);
    if (link == NULL) {
        oob_peers_fail(g, CTRAN_ERR_NO_MEM, "there is no memory for a connection");
        return;
    }
    ct_list_init(&link->node);
    if (ct_wire_conn_connect(&link->conn, g->terms->loop, &ops, &terms, to) != CTRAN_SUCCESS) {
        free(link);
        try_again(peer);
        return;
    }
    oob_peers_use(peer, link);
}

static void on_address(void *arg, const struct ct_store_reply *reply)
{
    struct ct_peer *peer = arg;
    uint32_t        len = reply->value.len, n = len / sizeof *peer->addrs;
    if (reply->status != CTRAN_SUCCESS || n == 0 || n > CT_OOB_REACH_MAX ||
        len != n * sizeof *peer->addrs) {
        oob_peers_fail(peer->gather,
                       reply->status != CTRAN_SUCCESS ? reply->status : CTRAN_ERR_BOOTSTRAP,
                       "the store does not know a node's address");
        return;
    }
    peer->addrs = malloc(len);
    if (peer->addrs == NULL) {
        oob_peers_fail(peer->gather, CTRAN_ERR_NO_MEM, "there is no memory for an address");
        return;
    }
    memcpy(peer->addrs, reply->value.at, len);
    peer->naddrs = n;
    connect_to(peer);
}

int ct_peers_open(struct ct_gather *g)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < g->npeers; i++) {
        (void)evtimer_assign(&g->peers[i].again, g->terms->loop->base, oob_peers_on_again,
                             &g->peers[i]);
    }
    for (uint32_t i = 0; i < g->npeers && rc == CTRAN_SUCCESS; i++) {
        struct ct_peer         *peer = &g->peers[i];
        char                    key[CT_OOB_KEY_SIZE];
        struct ct_store_request req = {.op = CT_STORE_WAIT,
                                       .timeout_ms = g->terms->limit_ms,
                                       .key = {key, ct_oob_key(key, g->terms->name, peer->index)}};
        if (peer->index > g->index) {
            rc = ct_store_ask(g->terms->store, &req, on_address, peer);
        }
    }
    return rc;
}

void ct_peers_close(struct ct_gather *g)
{
    for (uint32_t i = 0; i < g->npeers; i++) {
        struct ct_link *link = g->peers[i].link;
        (void)event_del(&g->peers[i].again);
        ct_store_forget(g->terms->store, &g->peers[i]);
        if (link != NULL) {
            ct_wire_conn_close(&link->conn);
            free(link);
        }
        free(g->peers[i].addrs);
    }
}

int ct_peers_adopt(struct ct_gather *g, struct ct_link *link, uint32_t index)
{
    struct ct_peer *peer = index < g->index ? ct_peers_find(g, index) : NULL;
    if (peer == NULL || peer->link != NULL) {
        return CTRAN_ERR_ARG;
    }
    ct_list_remove(&link->node);
    link->conn.traffic = CT_TRAFFIC_GATHER;
    oob_peers_use(peer, link);
    peer->ready = true;
    ct_gather_go_on(g);
    return CTRAN_SUCCESS;
}

void *ct_peers_place(struct ct_link *link, const struct ct_frame *f)
{
    struct ct_pieces p;
    if (f->type != CT_OOB_BLOCKS || f->id != link->peer->arrived ||
        ct_gather_due(link->peer, f->len, &p) != CTRAN_SUCCESS || p.len[1] > 0) {
        return NULL;
    }
    return p.at[0];
}

int ct_peers_message(struct ct_link *link, const struct ct_frame *f, const void *body)
{
    struct ct_peer  *peer = link->peer;
    struct ct_pieces p;
    if (f->type != CT_OOB_BLOCKS || f->id != peer->arrived ||
        ct_gather_due(peer, f->len, &p) != CTRAN_SUCCESS) {
        return CTRAN_ERR_ARG;
    }
    if (body != p.at[0]) {
        memcpy(p.at[0], body, p.len[0]);
        memcpy(p.at[1], (const unsigned char *)body + p.len[0], p.len[1]);
    }
    ct_gather_landed(peer);
    return CTRAN_SUCCESS;
}

void ct_peers_closed(struct ct_link *link, const char *why)
{
    struct ct_peer *peer = link->peer;
    bool            began = peer->ready && (peer->arrived > 0 || peer->sent > 0);
    peer->link = NULL;
    peer->ready = false;
    free(link);
    if (began) {
        oob_peers_fail(peer->gather, CTRAN_ERR_BOOTSTRAP, why);
    } else if (peer->index > peer->gather->index && !peer->gather->ended) {
        try_again(peer);
    }
}
