/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of match.h. */
#include "p2p/match.h"

#include <stdlib.h>
#include <string.h>

static bool is_wild(const struct ct_p2p_key *key)
{
    return key->src == CTRAN_ANY_SOURCE || key->tag == CTRAN_ANY_TAG;
}

/* Whether a message with key `msg` satisfies a receive with key `want`. */
static bool matches(const struct ct_p2p_key *want, const struct ct_p2p_key *msg)
{
    bool tag_fits = want->tag == CTRAN_ANY_TAG ? msg->tag >= 0 : want->tag == msg->tag;
    return want->ctx == msg->ctx && (want->src == msg->src || want->src == CTRAN_ANY_SOURCE) &&
           tag_fits;
}

static inline bool is_same(const struct ct_p2p_key *a, const struct ct_p2p_key *b)
{
    return a->ctx == b->ctx && a->src == b->src && a->tag == b->tag;
}

static unsigned bucket(const struct ct_p2p_key *key)
{
    uint64_t h = key->ctx * 0x9e3779b97f4a7c15u;
    h ^= ((uint64_t)(uint32_t)key->src << 32 | (uint32_t)key->tag) * 0xc2b2ae3d27d4eb4fu;
    return (unsigned)((h ^ h >> 29) * 0x9e3779b97f4a7c15u >> 56) % CT_MATCH_BUCKETS;
}

void ct_match_init(struct ct_match *m)
{
    for (unsigned i = 0; i < CT_MATCH_BUCKETS; i++) {
        ct_list_init(&m->posted[i]);
        ct_list_init(&m->unexpected[i]);
    }
    ct_list_init(&m->posted_wild);
    ct_list_init(&m->unexpected_all);
    m->stamp = 0;
    m->bytes = m->most_bytes = 0;
    memset(m->spare, 0, sizeof m->spare);
    m->oldest = 0;
    ct_slab_init(&m->small, CT_MATCH_SMALL, 64);
}

void ct_match_fini(struct ct_match *m)
{
    for (struct ct_list *node; (node = ct_list_pop(&m->unexpected_all)) != NULL;) {
        ct_match_release(m, CT_LIST_ENTRY(node, struct ct_unexpected, in_order));
    }
    for (unsigned i = 0; i < CT_MATCH_SPARES; i++) {
        free(m->spare[i]);
    }
    ct_slab_fini(&m->small);
}

/* A spare one that is long enough, and not far too long; NULL: there is none. */
static struct ct_unexpected *take_spare(struct ct_match *m, size_t bytes)
{
    enum { TOO_LONG = 4 }; /* times */
    for (unsigned i = 0; i < CT_MATCH_SPARES; i++) {
        struct ct_unexpected *u = m->spare[i];
        if (u != NULL && u->room >= bytes && u->room / TOO_LONG <= bytes) {
            m->spare[i] = NULL;
            return u;
        }
    }
    return NULL;
}

static void put_spare(struct ct_match *m, struct ct_unexpected *u)
{
    unsigned i = 0;
    while (i < CT_MATCH_SPARES && m->spare[i] != NULL) {
        i++;
    }
    if (i == CT_MATCH_SPARES) {
        i = m->oldest;
        m->oldest = (i + 1) % CT_MATCH_SPARES;
        free(m->spare[i]);
    }
    m->spare[i] = u;
}

static struct ct_unexpected *make_long(struct ct_match *m, size_t bytes)
{
    struct ct_unexpected *u = take_spare(m, bytes);
    if (u == NULL && (u = malloc(bytes)) != NULL) {
        u->room = bytes;
    }
    return u;
}

struct ct_unexpected *ct_match_make(struct ct_match *m, size_t len_bytes)
{
    size_t                cost = ct_match_cost(len_bytes);
    struct ct_unexpected *u = cost == CT_MATCH_SMALL ? ct_slab_get(&m->small) : make_long(m, cost);
    if (u != NULL) {
        u->cost = cost;
        m->bytes += cost;
        m->most_bytes = ct_max_size(m->most_bytes, m->bytes);
    }
    return u;
}

void ct_match_release(struct ct_match *m, struct ct_unexpected *u)
{
    m->bytes -= u->cost;
    if (u->cost == CT_MATCH_SMALL) {
        ct_slab_put(&m->small, u);
    } else if (u->room <= CT_MATCH_SPARE_BYTES) {
        put_spare(m, u);
    } else {
        free(u);
    }
}

void ct_match_post(struct ct_match *m, struct ct_p2p_req *req)
{
    req->stamp = m->stamp++;
    ct_list_append(is_wild(&req->key) ? &m->posted_wild : &m->posted[bucket(&req->key)],
                   &req->node);
}

static struct ct_p2p_req *first_match(struct ct_list *list, const struct ct_p2p_key *key)
{
    CT_LIST_FOR (node, list) {
        struct ct_p2p_req *req = CT_LIST_ENTRY(node, struct ct_p2p_req, node);
        if (matches(&req->key, key)) {
            return req;
        }
    }
    return NULL;
}

/* Like first_match, for keys without wildcards. */
static struct ct_p2p_req *first_same(struct ct_list *list, const struct ct_p2p_key *key)
{
    CT_LIST_FOR (node, list) {
        struct ct_p2p_req *req = CT_LIST_ENTRY(node, struct ct_p2p_req, node);
        if (CT_LIKELY(is_same(&req->key, key))) {
            return req;
        }
    }
    return NULL;
}

struct ct_p2p_req *ct_match_take_posted(struct ct_match *m, const struct ct_p2p_key *key)
{
    struct ct_p2p_req *req = first_same(&m->posted[bucket(key)], key);
    if (CT_UNLIKELY(!ct_list_empty(&m->posted_wild))) {
        struct ct_p2p_req *wild = first_match(&m->posted_wild, key);
        if (wild != NULL && (req == NULL || wild->stamp < req->stamp)) {
            req = wild;
        }
    }
    if (req != NULL) {
        ct_list_remove(&req->node);
    }
    return req;
}

void ct_match_keep(struct ct_match *m, struct ct_unexpected *u)
{
    ct_list_append(&m->unexpected[bucket(&u->key)], &u->in_bucket);
    ct_list_append(&m->unexpected_all, &u->in_order);
}

struct ct_unexpected *ct_match_find_unexpected(struct ct_match *m, const struct ct_p2p_key *key)
{
    if (CT_LIKELY(ct_list_empty(&m->unexpected_all))) {
        return NULL;
    }
    if (is_wild(key)) {
        CT_LIST_FOR (node, &m->unexpected_all) {
            struct ct_unexpected *u = CT_LIST_ENTRY(node, struct ct_unexpected, in_order);
            if (matches(key, &u->key)) {
                return u;
            }
        }
        return NULL;
    }
    CT_LIST_FOR (node, &m->unexpected[bucket(key)]) {
        struct ct_unexpected *u = CT_LIST_ENTRY(node, struct ct_unexpected, in_bucket);
        if (matches(key, &u->key)) {
            return u;
        }
    }
    return NULL;
}

static void forget(struct ct_unexpected *u)
{
    ct_list_remove(&u->in_bucket);
    ct_list_remove(&u->in_order);
}

struct ct_unexpected *ct_match_take_unexpected(struct ct_match *m, const struct ct_p2p_key *key)
{
    struct ct_unexpected *u = ct_match_find_unexpected(m, key);
    if (u != NULL) {
        forget(u);
    }
    return u;
}

void ct_match_discard(struct ct_match *m, struct ct_unexpected *u)
{
    forget(u);
    ct_match_release(m, u);
}

void ct_match_for_posted(struct ct_match *m, void (*fn)(struct ct_p2p_req *, void *), void *arg)
{
    for (unsigned i = 0; i <= CT_MATCH_BUCKETS; i++) {
        struct ct_list *list = i < CT_MATCH_BUCKETS ? &m->posted[i] : &m->posted_wild;
        CT_LIST_FOR (node, list) {
            fn(CT_LIST_ENTRY(node, struct ct_p2p_req, node), arg);
        }
    }
}

bool ct_match_drop(struct ct_match *m, const struct ct_ep *ep, uint64_t sender_id)
{
    CT_LIST_FOR (node, &m->unexpected_all) {
        struct ct_unexpected *u = CT_LIST_ENTRY(node, struct ct_unexpected, in_order);
        if (u->rendezvous && u->ep == ep && u->sender_id == sender_id) {
            ct_match_discard(m, u);
            return true;
        }
    }
    return false;
}
