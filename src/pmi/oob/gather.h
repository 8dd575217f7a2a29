/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allgather between agents: takes rounds from an algorithm and moves blocks of the table.
 *
 * The algorithm sends no block before it has it and writes each block once (all allgathers of
 * coll/algo with a free txlag). So an arriving block goes to its place at once, however far ahead
 * its sender is. Messages of a pair come in the order of rounds, so the k-th message of a link
 * belongs to the k-th receive. It knows no sockets but those of peers.c.
 */
#ifndef CT_PMI_OOB_GATHER_H
#define CT_PMI_OOB_GATHER_H

#include "pmi/oob/oob.h"

struct ct_gather;

/* A connection to another agent, or one that an agent has accepted. */
struct ct_link {
    struct ct_wire_conn conn;
    struct ct_gather   *gather;
    struct ct_list      node;     /* of its agent, until it is known who it is */
    void               *owner;    /* its agent, then */
    uint64_t            since_ns; /* when it was accepted */
    bool                stranger; /* has not proved yet that it holds the key */
    uint32_t            rank;     /* of a rank: its place among those of the node, from 1 on */
    struct ct_peer     *peer;     /* of an agent; NULL until then */
};

/* Another agent that this one exchanges messages with. */
struct ct_peer {
    struct ct_gather *gather;
    uint32_t          index; /* of its node */
    struct ct_link   *link;  /* NULL: none just now */
    struct ct_addr   *addrs; /* where it may be reached, one attempt after the other */
    uint32_t          naddrs;
    struct event      again;
    unsigned          attempt;
    bool              ready;
    uint64_t          sent, arrived; /* messages */
    uint32_t          cursor;        /* round that its next message belongs to */
    uint32_t          landed;        /* all its messages of rounds before this one are here */
};

struct ct_gather {
    const struct ct_oob_terms *terms;
    uint32_t                   index, nrounds, next;
    struct ct_env              env;
    unsigned char             *table;
    bool                       begun, ended;
    uint32_t                   npeers;
    struct ct_peer            *peers; /* by index */
    void (*done)(void *arg, int status, const char *why);
    void *arg;
};

/* Finds out who its peers are and connects to them. */
int ct_gather_open(struct ct_gather *g, const struct ct_oob_terms *terms, uint32_t index,
                   unsigned char *table);
/* This node's own block is complete. */
void ct_gather_begin(struct ct_gather *g);
void ct_gather_close(struct ct_gather *g);
/* Sends what may be sent; ends when all is here and gone. */
void ct_gather_go_on(struct ct_gather *g);
/* The number of peers without a connection or with an awaited message, and the first of them. */
uint32_t ct_gather_missing(const struct ct_gather *g, uint32_t *first);

/* peers.c: connections. */
int             ct_peers_open(struct ct_gather *g);
void            ct_peers_close(struct ct_gather *g);
struct ct_peer *ct_peers_find(struct ct_gather *g, uint32_t index);
/* The other end of an accepted connection has said that it belongs to this node. CTRAN_ERR_ARG: not
 * expected. */
int ct_peers_adopt(struct ct_gather *g, struct ct_link *link, uint32_t index);
/* What its connections do with frames and their ends, also those accepted, once adopted. */
int   ct_peers_message(struct ct_link *link, const struct ct_frame *f, const void *body);
void *ct_peers_place(struct ct_link *link, const struct ct_frame *f);
void  ct_peers_closed(struct ct_link *link, const char *why);

/* gather.c: the next message of a peer: where it goes, as at most two pieces of the table.
 * CTRAN_ERR_ARG if none is due or its length is another. */
struct ct_pieces {
    void  *at[2];
    size_t len[2];
};
int ct_gather_due(struct ct_peer *peer, size_t len, struct ct_pieces *pieces);
/* It has been put there. */
void ct_gather_landed(struct ct_peer *peer);

#endif
