/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi/oob - the exchange at the start: every rank hands over a record of some bytes, and every node
 * ends with one table of all records, which its ranks share.
 *
 * Each node has an agent. Its ranks connect to it and send their records; the agents find each
 * other through the store and run an allgather over sockets of their own, a node's records being
 * one block. Which agent sends what in which round is decided by coll/algo, whose functions the
 * collectives run as well: the bidirectional ring, Bruck's algorithm or the binomial tree. When the
 * table is complete the agent tells its ranks the place, and they map the table read-only. So the
 * work of a rank does not grow with the number of ranks, and an agent's connections grow with its
 * logarithm only.
 *
 *   gather.c   an allgather between agents, run over their sockets      peers.c   those sockets
 *   node.c     an agent                                                  rank.c    a rank
 *
 * Everything is a state machine over the loop: one process may hold thousands of ranks and agents.
 * This header is the folder's face.
 */
#ifndef CT_PMI_OOB_OOB_H
#define CT_PMI_OOB_OOB_H

#include "coll/algo/algo.h"
#include "pmi/store/store.h"

#define CT_OOB_CONTEXT "ctran oob"

/* How a job lies on its nodes. Slots count ranks node by node; every node has per_node of them but
 * the last, which has what is left. */
struct ct_oob_shape {
    uint32_t nslots, per_node, entry_bytes;
};

static inline uint32_t ct_oob_nnodes(const struct ct_oob_shape *s)
{
    return (uint32_t)ct_div_up(s->nslots, s->per_node);
}

/* The first slot of a node; of one behind the last: nslots. */
static inline uint32_t ct_oob_first(const struct ct_oob_shape *s, uint32_t node)
{
    uint64_t at = (uint64_t)node * s->per_node;
    return at < s->nslots ? (uint32_t)at : s->nslots;
}

/* The algorithm between so many nodes: by name, or NULL for a choice by number and size. NULL when
 * there is none of this name that an exchange can run. */
const struct ct_algo *ct_oob_algo(const char *name, uint32_t nnodes, size_t block_bytes);

/* The store's key for a node's address; returns its length. */
enum { CT_OOB_NAME_MAX = 64, CT_OOB_KEY_SIZE = CT_OOB_NAME_MAX + 16 };
uint32_t ct_oob_key(char out[CT_OOB_KEY_SIZE], const char *name, uint32_t node);

/* Frames: a rank's record (id: its slot); to it, where the table is (CT_OOB_READY_BYTES: pid, fd: 4
 * bytes each, size: 8); between agents, who it is (id: its node), and blocks (id: number of the
 * message on this connection). */
enum { CT_OOB_RECORD = 1, CT_OOB_READY, CT_OOB_HELLO, CT_OOB_BLOCKS };
enum { CT_OOB_READY_BYTES = 16 };

/* What an agent needs. All of it is borrowed until the agent is closed. */
struct ct_oob_terms {
    struct ct_loop           *loop;
    struct ct_store          *store;
    const struct ct_auth_key *key;
    struct ct_oob_shape       shape;
    const char               *name; /* of this exchange, equal everywhere */
    const struct ct_algo     *algo;
    uint32_t                  limit_ms; /* for all of it */
    /* Where other agents reach this host, if not where it listens; the port is filled in. They try
     * one after the other. */
    const struct ct_addr *reach;
    uint32_t              nreach; /* at most CT_OOB_REACH_MAX; 0: at the address it listens on */
};

enum { CT_OOB_REACH_MAX = CT_WIRE_REACH_MAX };

struct ct_oob_node;

/* The exchange has ended for this node: CTRAN_SUCCESS, and its ranks have been told; or why not
 * (logged). Called once, from the loop; must not close the node. */
typedef void (*ct_oob_node_fn)(void *arg, struct ct_oob_node *node, int status);

/* Makes the node's table, listens on *addr (port 0: any; then filled in), and takes part. */
int ct_oob_node_open(struct ct_oob_node **node, const struct ct_oob_terms *terms, uint32_t index,
                     struct ct_addr *addr, ct_oob_node_fn fn, void *arg);
/* Hands over all records of this node's ranks, one after the other, where these need not come over
 * sockets of their own. */
void ct_oob_node_fill(struct ct_oob_node *node, const void *records);
/* Ranks that have mapped the table keep it. */
void ct_oob_node_close(struct ct_oob_node *node);
/* The table: nslots entries of entry_bytes. */
const void *ct_oob_node_table(const struct ct_oob_node *node);

struct ct_oob_rank;

/* The table is ready, and where: `pid` and `fd` of its memory, to be mapped by ct_oob_map. Or an
 * error. Called once, from the loop; must not close the rank. */
typedef void (*ct_oob_rank_fn)(void *arg, struct ct_oob_rank *rank, int status, uint32_t pid,
                               uint32_t fd);

/* Hands a record, which is copied, to the agent. Connecting is tried again, with back-off and
 * jitter, until limit_ms. */
int ct_oob_rank_open(struct ct_oob_rank **rank, struct ct_loop *loop, const struct ct_addr *agent,
                     const struct ct_auth_key *key, const struct ct_oob_shape *shape, uint32_t slot,
                     const void *record, uint32_t limit_ms, ct_oob_rank_fn fn, void *arg);

void ct_oob_rank_close(struct ct_oob_rank *rank);

/* Maps a table of this shape, read-only; CTRAN_ERR_SYSTEM (logged). */
int  ct_oob_map(const struct ct_log *log, const struct ct_oob_shape *shape, uint32_t pid,
                uint32_t fd, const void **table);
void ct_oob_unmap(const struct ct_oob_shape *shape, const void *table);

#endif
