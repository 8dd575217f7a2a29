/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the nodes of a job exchange their ranks' cards: the first rank of each node, its leader, does
 * so for all of them while it waits for everybody (ct_job_meet).
 *
 * Leaders meet at a store in rank 0's process: each says how many ranks it brings, and is given a
 * number; the last one knows how many nodes there are, and says so. Then they find their neighbours
 * through the store and run one allgather over sockets of their own (pmi/oob); what they get goes
 * into the table that their node's ranks share (cards.h). When all have it the store goes. So a
 * node asks the store for a few things, and a rank for nothing.
 *
 * All that PMIx has to carry is where the store is, and the key where no launcher has made one.
 */
#ifndef CT_PMI_NODES_H
#define CT_PMI_NODES_H

#include "pmi/cards.h"
#include "pmi/oob/oob.h"

/* What rank 0 tells the leaders, as it travels. */
struct ct_nodes_where {
    uint32_t           magic, naddrs;
    struct ct_addr     addrs[CT_OOB_REACH_MAX];
    struct ct_auth_key key; /* zero, where the launcher's is used */
};

bool ct_nodes_where_ok(const struct ct_nodes_where *where, size_t len_bytes);

struct ct_nodes_store;

/* Rank 0: opens the store, which answers while rank 0 itself exchanges. Fills in *where but for the
 * key. Logged. */
int  ct_nodes_store_open(struct ct_nodes_store **store, const struct ct_job *job,
                         const struct ct_auth_key *key, struct ct_nodes_where *where);
void ct_nodes_store_close(struct ct_nodes_store *store);

/* A leader, when its node's ranks have all put their cards: returns when those of all nodes are in
 * the table, or at `end_ns`. `own`: the store, on rank 0, which goes on until all nodes are done
 * with it. Tells the node's other ranks how it ended.
 * CTRAN_ERR_BOOTSTRAP, CTRAN_ERR_VERSION, ..., logged. */
int ct_nodes_exchange(const struct ct_job *job, struct ct_cards *cards,
                      const struct ct_nodes_where *where, const struct ct_auth_key *key,
                      struct ct_nodes_store *own, uint64_t end_ns);

#endif
