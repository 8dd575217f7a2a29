/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi/store - the job's key-value service, by which processes find data about processes that they
 * are not connected to yet.
 *
 * Keys and values are bytes, of bounded size. A server holds a part of the keys and answers many
 * requests of a connection at once, in the order in which they can be answered: wait, watch and
 * barrier stay with it until their time has come. Rendezvous hashing, which each client computes by
 * itself, distributes the keys over several servers. Keys that begin with '@' are the first
 * server's alone, so that decisions (identities, commits) are made in one place. Connections carry
 * the proof of the job's key before anything else.
 *
 *   server.c   connections and limits      table.c   the keys, and who waits for them
 *   client.c   requests of one process     shard.c   one server as a client sees it
 *   proto.c    requests and replies as bytes          sync.c    a client that blocks
 *   places.c   where the servers are                  show.c    what they hold, for people
 *
 * This header is the folder's face.
 */
#ifndef CT_PMI_STORE_STORE_H
#define CT_PMI_STORE_STORE_H

#include <stdio.h>

#include "pmi/wire/wire.h"

#define CT_STORE_CONTEXT "ctran store"

/* The key under which a launcher says where all its servers are (ct_store_places_pack). */
#define CT_STORE_PLACES "@places"

enum {
    CT_STORE_KEY_MAX = 1024,         /* bytes, of a key */
    CT_STORE_VALUE_MAX = 256 * 1024, /* and of a value */
    CT_STORE_SERVERS_MAX = 64        /* that share the keys of a job; their places fit a value */
};

/* What a server can be asked. `found` of the reply is told with each.
 *   SET      the key has this value from now on; number: its version
 *   GET      found: the key has a value, which follows; number: its version
 *   WAIT     the same, as soon as the key has a value
 *   ADD      adds `number` to the decimal number that the key holds (none: 0); number: the sum
 *   CAS      sets the value if the key holds `expected`, or with number 1 if it has none; found:
 *            that was so; the value that it holds afterwards follows
 *   CHECK    like GET, without the value
 *   DELETE   found: the key had a value
 *   LIST     the keys that begin with `key`, in order, after `expected` and at most `number` of
 *            them; found: there are more. In the reply's value each has its length before it
 *   WATCH    waits until the key's version (0 without a value) is not `number`; then as GET
 *   BARRIER  waits until `number` requests are at this key's barrier
 *   WAITS    as LIST, of the keys at which requests wait; behind each is a text that says which */
enum ct_store_op {
    CT_STORE_SET = 1,
    CT_STORE_GET,
    CT_STORE_WAIT,
    CT_STORE_ADD,
    CT_STORE_CAS,
    CT_STORE_CHECK,
    CT_STORE_DELETE,
    CT_STORE_LIST,
    CT_STORE_WATCH,
    CT_STORE_BARRIER,
    CT_STORE_WAITS,
    CT_STORE_OPS
};

struct ct_bytes {
    const void *at;
    uint32_t    len;
};

struct ct_store_request {
    uint8_t         op; /* enum ct_store_op */
    uint32_t        timeout_ms;
    int64_t         number;
    struct ct_bytes key, expected, value;
};

struct ct_store_reply {
    int             status; /* CTRAN_SUCCESS, or why it was not done */
    bool            found;
    int64_t         number;
    struct ct_bytes value;
};

/* The bytes of a text without its end. */
struct ct_bytes ct_bytes_of(const char *text);

/* What a server holds at most; 0 stands for the default behind it. */
struct ct_store_limits {
    size_t   memory;          /* bytes of keys, values and waiting requests: 256 MiB */
    uint32_t connections;     /* 16384 */
    uint32_t strangers;       /* connections without a proof; the oldest goes: 1024 */
    uint32_t requests;        /* that wait, of one connection: 4096 */
    uint32_t proof_ms;        /* until the proof is done: 10 s */
    size_t   output;          /* bytes that a connection may leave unread: 4 MiB */
    uint32_t longest_wait_ms; /* of a request that waits: 1 day */
};

struct ct_store_stats {
    uint64_t requests, keys, memory, connections, strangers;
    uint64_t refused, dropped; /* strangers without a proof; others for what they did */
    uint64_t turned_away;      /* since clients had all places */
};

struct ct_store_server;

/* Listens on *addr (port 0: any; it is then filled in) and serves from the loop. Logged. */
int  ct_store_server_open(struct ct_store_server **server, struct ct_loop *loop,
                          struct ct_addr *addr, const struct ct_auth_key *key,
                          const struct ct_store_limits *limits);
void ct_store_server_close(struct ct_store_server *server);
/* Sets a key, from the thread that runs the loop or before there is one. CTRAN_ERR_NO_MEM. */
int ct_store_server_set(struct ct_store_server *server, struct ct_bytes key, struct ct_bytes value);
void ct_store_server_stats(const struct ct_store_server *server, struct ct_store_stats *stats);

struct ct_store;

/* The answer to a request, from the loop, exactly once; its value is valid during the call. Status
 * besides the server's: CTRAN_ERR_TIMEOUT, the deadline has passed; CTRAN_ERR_SYSTEM, the
 * connection was lost after a request that changes something had gone out: it may or may not have
 * been done. A callback
 * may make requests; it must not close the client. */
typedef void (*ct_store_fn)(void *arg, const struct ct_store_reply *reply);

/* A client of these servers; nothing is connected before the first request needs it. A connection
 * that fails is tried again, with exponential back-off and jitter, as long as requests wait. */
int ct_store_open(struct ct_store **store, struct ct_loop *loop, const struct ct_addr *servers,
                  uint32_t nservers, const struct ct_auth_key *key);

/* Where a server is: its host may have several addresses, which are tried in turn. */
struct ct_store_place {
    uint32_t       naddrs; /* at least 1 */
    struct ct_addr addrs[CT_WIRE_REACH_MAX];
};

int ct_store_open_at(struct ct_store **store, struct ct_loop *loop,
                     const struct ct_store_place *places, uint32_t n,
                     const struct ct_auth_key *key);
/* A client that knew the first servers of a store gets to know the others as well, places[their
 * number] on. Before that only keys that begin with '@' are to be asked for. CTRAN_ERR_NO_MEM. */
int      ct_store_extend(struct ct_store *store, const struct ct_store_place *places, uint32_t n);
uint32_t ct_store_servers(const struct ct_store *store);

/* Whether this one of a job's nodes has a server, where a launcher has them: at most
 * CT_STORE_SERVERS_MAX nodes, evenly spread, the first among them. */
bool ct_store_serves(uint32_t node, uint32_t nnodes);

/* Places as the value of a key, of at most CT_STORE_VALUE_MAX bytes, and back. The numbers are of
 * bytes, and of places; 0: it is none. */
uint32_t ct_store_places_pack(const struct ct_store_place *places, uint32_t n, unsigned char *out);
uint32_t ct_store_places_unpack(struct ct_store_place places[CT_STORE_SERVERS_MAX],
                                const void *value, uint32_t len);
/* Requests that are under way are dropped without an answer. */
void ct_store_close(struct ct_store *store);

/* Asks; the bytes are copied. CTRAN_ERR_ARG for an op, a key or a value beyond the limits,
 * CTRAN_ERR_NO_MEM; then there is no answer. LIST asks one server of `shard`, see below. */
int ct_store_ask(struct ct_store *store, const struct ct_store_request *req, ct_store_fn fn,
                 void *arg);
/* Like ct_store_ask of a certain server, whatever the key. */
int ct_store_ask_shard(struct ct_store *store, uint32_t shard, const struct ct_store_request *req,
                       ct_store_fn fn, void *arg);
/* Requests under way with this arg are given up without an answer: nothing comes of them that could
 * find it gone. The servers may still carry out the requests. */
void ct_store_forget(struct ct_store *store, const void *arg);

/* Which of n servers has the key. */
uint32_t ct_store_shard_of(struct ct_bytes key, uint32_t nservers);

/* The next of the keys in a reply to LIST, of which *rest is what is left; false: there is none, or
 * none that is whole. */
bool ct_store_next_key(struct ct_bytes *rest, struct ct_bytes *key);

/* Asks and runs the loop until the answer is there; the reply's value is in memory that the caller
 * frees (NULL if empty). Not from a callback. Returns the reply's status; CTRAN_ERR_PENDING if the
 * loop was stopped before (ct_loop_stop_init). */
int ct_store_call(struct ct_store *store, const struct ct_store_request *req,
                  struct ct_store_reply *reply, void **memory);
int ct_store_call_shard(struct ct_store *store, uint32_t shard, const struct ct_store_request *req,
                        struct ct_store_reply *reply, void **memory);

/* Prints the keys of one server that begin with `prefix`, in order: by themselves, with what they
 * hold, or those at which requests wait, with how many. Blocks. */
enum ct_store_show { CT_STORE_SHOW_KEYS, CT_STORE_SHOW_VALUES, CT_STORE_SHOW_WAITS };
int ct_store_show(struct ct_store *store, uint32_t shard, const char *prefix,
                  enum ct_store_show what, uint32_t timeout_ms, FILE *out);

#endif
