/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the client share: requests on their way, and one server as a client sees it. */
#ifndef CT_PMI_STORE_CLIENT_H
#define CT_PMI_STORE_CLIENT_H

#include <uthash.h>

#include "pmi/store/proto.h"
#include "pmi/store/store.h"

/* A request from the call to its answer. */
struct ct_ask {
    UT_hash_handle   hh;     /* by id, once it has gone out */
    struct ct_list   queued; /* until then */
    struct ct_shard *shard;
    uint64_t         id;
    ct_store_fn      fn;
    void            *arg;
    struct event     limit;
    uint8_t          op;
    bool             out; /* has gone out */
    uint32_t         len;
    unsigned char    body[];
};

enum ct_shard_state { CT_SHARD_IDLE, CT_SHARD_CONNECTING, CT_SHARD_READY, CT_SHARD_PAUSING };

struct ct_shard {
    struct ct_store      *store;
    struct ct_store_place place;
    struct ct_wire_conn   conn;
    enum ct_shard_state   state;
    unsigned              first, attempt; /* the address of the last success; tries since then */
    bool                  warned;
    struct event          again;
    struct ct_list        queue;
    struct ct_ask        *out; /* uthash */
};

struct ct_store {
    struct ct_loop           *loop;
    struct ct_auth_key        key;
    struct ct_wire_conn_terms terms;
    uint64_t                  next_id;
    uint32_t                  nshards;
    struct ct_shard         **shards;
};

/* NULL: no memory. */
struct ct_shard *ct_shard_make(struct ct_store *store, const struct ct_store_place *place);
void             ct_shard_free(struct ct_shard *s);
/* Sends it now, or when there is a connection. */
void ct_shard_push(struct ct_shard *s, struct ct_ask *ask);
/* Drops those with this arg. */
void ct_shard_forget(struct ct_shard *s, const void *arg);
/* Takes it off whatever it is on and frees it. */
void ct_ask_drop(struct ct_ask *ask);

#endif
