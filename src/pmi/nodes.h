/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the nodes of a job exchange their ranks' records: the first rank of each node, its leader,
 * exchanges records for all ranks of the node while it waits for the job to be complete
 * (ct_job_meet).
 *
 * Leaders meet at a store, which the launcher's daemons hold, or rank 0's process if the launcher
 * has none. Each leader reports the number of its ranks and gets a number; the last one knows the
 * number of nodes, and publishes it. Then the leaders find their neighbours through the store and
 * run one allgather over sockets of their own (pmi/oob), whose result goes into the table that the
 * ranks of a node share (records.h). So a node sends the store a few requests, and other ranks send
 * none. Decisions go to the store's first server, addresses to all servers.
 *
 * A leader has to know only the address of the store, from the environment, or from rank 0 by PMIx,
 * together with the key if the launcher has made none.
 */
#ifndef CT_PMI_NODES_H
#define CT_PMI_NODES_H

#include "pmi/records.h"
#include "pmi/oob/oob.h"

enum { CT_NODES_MAGIC = 0x45524f54 /* "TORE" */ };

/* What leaders are told of the store, as it travels. */
struct ct_nodes_where {
    uint32_t           magic, naddrs;
    uint32_t           by_launcher; /* it has more servers; the first is here, and knows them */
    struct ct_addr     addrs[CT_OOB_REACH_MAX];
    struct ct_auth_key key; /* zero, where the launcher's is used */
};

bool ct_nodes_where_ok(const struct ct_nodes_where *where, size_t len_bytes);

/* What the launcher says in the environment; CT_AGAIN where it has no store. CTRAN_ERR_BOOTSTRAP,
 * logged. */
int ct_nodes_where_told(struct ct_nodes_where *where, const struct ct_log *log);

/* Where other hosts reach this one; their number, 0 is logged. */
uint32_t ct_nodes_reach(const struct ct_job *job, struct ct_addr *reach);

struct ct_nodes_store;

/* Rank 0, where the launcher has no store: opens one, which answers while rank 0 itself exchanges.
 * Fills in *where except the key. Logged. */
int             ct_nodes_store_open(struct ct_nodes_store **store, const struct ct_job *job,
                                    const struct ct_auth_key *key, struct ct_nodes_where *where);
void            ct_nodes_store_close(struct ct_nodes_store *store);
struct ct_loop *ct_nodes_store_loop(struct ct_nodes_store *store);
/* Others may not have read their last answer yet: returns when they have hung up, or have had a
 * while. */
void ct_nodes_store_linger(struct ct_nodes_store *store);

/* A leader, when its node's ranks have all put their records: returns when those of all nodes are
 * in the table, or at `end_ns`. `own`: the store, where rank 0 has it, which goes on until all
 * nodes are done with it. Tells the node's other ranks how it ended. CTRAN_ERR_BOOTSTRAP,
 * CTRAN_ERR_VERSION, ..., logged; CTRAN_ERR_PENDING, not logged: there is events that the job
 * cannot start. */
int ct_nodes_exchange(struct ct_job *job, struct ct_records *records,
                      const struct ct_nodes_where *where, const struct ct_auth_key *key,
                      struct ct_nodes_store *own, uint64_t end_ns);

#endif
