/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client: which server has a key, and requests with their deadlines. A request that waits gets
 * a little more time here than at the server, since the server's answer says more.
 */
#include <stdlib.h>
#include <string.h>

#include "pmi/store/client.h"

enum { PROOF_MS = 20000, LONGEST_MS = INT32_MAX, GRACE_MS = 1000 };

int ct_store_extend(struct ct_store *s, const struct ct_store_place *places, uint32_t n)
{
    struct ct_shard **all = realloc(s->shards, (n + 1) * sizeof(struct ct_shard *));
    if (all == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->shards = all;
    for (; s->nshards < n; s->nshards++) {
        all[s->nshards] = ct_shard_make(s, &places[s->nshards]);
        if (all[s->nshards] == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
    }
    return CTRAN_SUCCESS;
}

int ct_store_open_at(struct ct_store **store, struct ct_loop *loop,
                     const struct ct_store_place *places, uint32_t n, const struct ct_auth_key *key)
{
    struct ct_store *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->loop = loop;
    s->key = *key;
    s->terms = (struct ct_wire_conn_terms){.key = &s->key,
                                           .context = CT_STORE_CONTEXT,
                                           .limit_ms = PROOF_MS,
                                           .traffic = CT_TRAFFIC_STORE};
    int rc = ct_store_extend(s, places, n);
    if (rc != CTRAN_SUCCESS) {
        ct_store_close(s);
        return rc;
    }
    *store = s;
    return CTRAN_SUCCESS;
}

int ct_store_open(struct ct_store **store, struct ct_loop *loop, const struct ct_addr *servers,
                  uint32_t nservers, const struct ct_auth_key *key)
{
    struct ct_store_place *places = calloc(nservers + 1, sizeof *places);
    if (places == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t i = 0; i < nservers; i++) {
        places[i] = (struct ct_store_place){.naddrs = 1, .addrs = {servers[i]}};
    }
    int rc = ct_store_open_at(store, loop, places, nservers, key);
    free(places);
    return rc;
}

void ct_store_close(struct ct_store *s)
{
    for (uint32_t i = 0; i < s->nshards; i++) {
        ct_shard_free(s->shards[i]);
    }
    free(s->shards);
    ct_auth_wipe(&s->key, sizeof s->key);
    free(s);
}

uint32_t ct_store_servers(const struct ct_store *store)
{
    return store->nshards;
}

/* Rendezvous: every server gets a number for this key, the highest wins. FNV-1a, then a finalizer
 * that spreads what differs in the last bytes only. */
uint32_t ct_store_shard_of(struct ct_bytes key, uint32_t nservers)
{
    const unsigned char *at = key.at;
    uint64_t             h = 0xcbf29ce484222325u, best = 0;
    uint32_t             winner = 0;
    if (nservers <= 1 || (key.len > 0 && at[0] == '@')) {
        return 0;
    }
    for (uint32_t i = 0; i < key.len; i++) {
        h = (h ^ at[i]) * 0x100000001b3u;
    }
    for (uint32_t i = 0; i < nservers; i++) {
        uint64_t x = h + (i + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        x ^= x >> 31;
        if (x > best) {
            best = x;
            winner = i;
        }
    }
    return winner;
}

static struct ct_ask *ask_make(struct ct_store *s, const struct ct_store_request *req,
                               ct_store_fn fn, void *arg)
{
    uint32_t       len = CT_STORE_REQUEST_BYTES + req->key.len + req->expected.len + req->value.len;
    struct ct_ask *ask = calloc(1, sizeof *ask + len);
    if (ask == NULL) {
        return NULL;
    }
    const struct ct_bytes *pieces[] = {&req->key, &req->expected, &req->value};
    unsigned char         *at = ask->body + CT_STORE_REQUEST_BYTES;
    ask->id = ++s->next_id;
    ask->op = req->op;
    ask->len = len;
    ask->fn = fn;
    ask->arg = arg;
    ct_store_request_pack(req, ask->body);
    for (size_t i = 0; i < CT_ARRAY_LEN(pieces); i++) {
        if (pieces[i]->len > 0) {
            memcpy(at, pieces[i]->at, pieces[i]->len);
            at += pieces[i]->len;
        }
    }
    return ask;
}

int ct_store_ask_shard(struct ct_store *s, uint32_t shard, const struct ct_store_request *req,
                       ct_store_fn fn, void *arg)
{
    uint32_t       ms = req->timeout_ms < LONGEST_MS ? req->timeout_ms : LONGEST_MS;
    struct timeval limit = ct_wire_timeval(ms + GRACE_MS);
    if (!ct_store_request_fits(req) || shard >= s->nshards) {
        return CTRAN_ERR_ARG;
    }
    struct ct_ask *ask = ask_make(s, req, fn, arg);
    if (ask == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_shard_push(s->shards[shard], ask);
    (void)event_add(&ask->limit, &limit);
    return CTRAN_SUCCESS;
}

int ct_store_ask(struct ct_store *s, const struct ct_store_request *req, ct_store_fn fn, void *arg)
{
    return ct_store_ask_shard(s, ct_store_shard_of(req->key, s->nshards), req, fn, arg);
}

void ct_store_forget(struct ct_store *s, const void *arg)
{
    for (uint32_t i = 0; i < s->nshards; i++) {
        ct_shard_forget(s->shards[i], arg);
    }
}
