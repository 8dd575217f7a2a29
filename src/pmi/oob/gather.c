/* SPDX-License-Identifier: BSD-3-Clause */
/* An allgather between agents: the algorithm's rounds on the table's bytes. See gather.h. */
#define CT_FOLDER "pmi"
#include <stdlib.h>
#include <string.h>

#include "pmi/oob/gather.h"

/* From this block size on, the ring: only neighbours exchange, and all links carry the same
 * load. */
enum { RING_FROM = 1 << 20, RING_NODES = 4 };

const struct ct_algo *ct_oob_algo(const char *name, uint32_t nnodes, size_t block_bytes)
{
    bool ring = nnodes <= RING_NODES || block_bytes >= RING_FROM;
    name = name != NULL ? name : ring ? "bidirectional_ring" : "bruck";
    const struct ct_algo *a = ct_algo_find(CT_ALLGATHER, name);
    struct ct_env         env = {.n = nnodes, .radix = 2, .nblk = nnodes, .inplace = true};
    return a != NULL && a->lanes == 1 && a->rxlag == 1 && a->txlag == CT_LAG_FREE &&
                   (a->traits & CT_STRIDED) == 0 && a->nblk(&env) == nnodes && a->tmp(&env) == 0 &&
                   a->fits(&env)
               ? a
               : NULL;
}

/* A cyclic run of blocks, as pieces of the table. */
static void pieces_of(const struct ct_gather *g, const struct ct_slice *s, struct ct_pieces *p)
{
    const struct ct_oob_shape *shape = &g->terms->shape;
    uint32_t n = g->env.n, at = s->at % n, end = at + s->run < n ? at + s->run : n;
    size_t   from = (size_t)ct_oob_first(shape, at) * shape->entry_bytes;
    p->at[0] = g->table + from;
    p->len[0] = (size_t)ct_oob_first(shape, end) * shape->entry_bytes - from;
    p->at[1] = g->table;
    p->len[1] =
        at + s->run > n ? (size_t)ct_oob_first(shape, at + s->run - n) * shape->entry_bytes : 0;
}

static unsigned steps_of(const struct ct_gather *g, uint32_t r, struct ct_step *steps)
{
    return g->terms->algo->round(&g->env, 0, r, steps);
}

int ct_gather_due(struct ct_peer *peer, size_t len, struct ct_pieces *pieces)
{
    struct ct_gather *g = peer->gather;
    for (; peer->cursor < g->nrounds; peer->cursor++) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       n = steps_of(g, peer->cursor, steps);
        for (unsigned i = 0; i < n; i++) {
            if (steps[i].act == CT_RX && steps[i].peer == peer->index) {
                pieces_of(g, &steps[i].dst, pieces);
                return pieces->len[0] + pieces->len[1] == len ? CTRAN_SUCCESS : CTRAN_ERR_ARG;
            }
        }
    }
    return CTRAN_ERR_ARG;
}

void ct_gather_landed(struct ct_peer *peer)
{
    peer->arrived++;
    peer->landed = ++peer->cursor;
    ct_gather_go_on(peer->gather);
}

/* Whether what round r needs of the one before has come, and its peers can be sent to. */
static bool can_start(struct ct_gather *g, uint32_t r)
{
    struct ct_step steps[CT_MAX_STEPS];
    unsigned       n = r > 0 ? steps_of(g, r - 1, steps) : 0;
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_RX && ct_peers_find(g, steps[i].peer)->landed < r) {
            return false;
        }
    }
    n = r < g->nrounds ? steps_of(g, r, steps) : 0;
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act == CT_TX && !ct_peers_find(g, steps[i].peer)->ready) {
            return false;
        }
    }
    return true;
}

/* An error of the connection is told by its end. */
static void oob_gather_start_round(struct ct_gather *g, uint32_t r)
{
    struct ct_step   steps[CT_MAX_STEPS];
    struct ct_pieces p;
    unsigned         n = steps_of(g, r, steps);
    for (unsigned i = 0; i < n; i++) {
        if (steps[i].act != CT_TX) {
            continue;
        }
        struct ct_peer *peer = ct_peers_find(g, steps[i].peer);
        pieces_of(g, &steps[i].src, &p);
        (void)ct_wire_conn_send_pieces(&peer->link->conn, CT_OOB_BLOCKS, peer->sent++, p.at, p.len);
    }
}

static bool all_gone(const struct ct_gather *g)
{
    for (uint32_t i = 0; i < g->npeers; i++) {
        if (g->peers[i].link != NULL && g->peers[i].link->conn.out_bytes > 0) {
            return false;
        }
    }
    return true;
}

void ct_gather_go_on(struct ct_gather *g)
{
    if (!g->begun || g->ended) {
        return;
    }
    while (g->next < g->nrounds && can_start(g, g->next)) {
        oob_gather_start_round(g, g->next++);
    }
    if (g->next == g->nrounds && can_start(g, g->nrounds) && all_gone(g)) {
        g->ended = true;
        g->done(g->arg, CTRAN_SUCCESS, NULL);
    }
}

void ct_gather_begin(struct ct_gather *g)
{
    g->begun = true;
    ct_gather_go_on(g);
}

uint32_t ct_gather_missing(const struct ct_gather *g, uint32_t *first)
{
    uint32_t missing = 0;
    for (uint32_t i = g->npeers; i-- > 0;) {
        if (!g->peers[i].ready || g->peers[i].landed < g->next) {
            missing++;
            *first = g->peers[i].index;
        }
    }
    return missing;
}

static int oob_gather_compare(const void *a, const void *b)
{
    const struct ct_peer *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static bool oob_gather_known(const struct ct_gather *g, uint32_t index)
{
    for (uint32_t i = 0; i < g->npeers; i++) {
        if (g->peers[i].index == index) {
            return true;
        }
    }
    return false;
}

/* All peers of all rounds. */
static int find_peers(struct ct_gather *g)
{
    for (uint32_t r = 0; r < g->nrounds; r++) {
        struct ct_step steps[CT_MAX_STEPS];
        unsigned       n = steps_of(g, r, steps);
        for (unsigned i = 0; i < n; i++) {
            if ((steps[i].act != CT_TX && steps[i].act != CT_RX) ||
                oob_gather_known(g, steps[i].peer)) {
                continue;
            }
            struct ct_peer *more = realloc(g->peers, (g->npeers + 1) * sizeof *more);
            if (more == NULL) {
                return CTRAN_ERR_NO_MEM;
            }
            g->peers = more;
            more[g->npeers++] = (struct ct_peer){.gather = g, .index = steps[i].peer};
        }
    }
    if (g->npeers > 0) {
        qsort(g->peers, g->npeers, sizeof *g->peers, oob_gather_compare);
    }
    return CTRAN_SUCCESS;
}

int ct_gather_open(struct ct_gather *g, const struct ct_oob_terms *terms, uint32_t index,
                   unsigned char *table)
{
    uint32_t n = ct_oob_nnodes(&terms->shape);
    g->terms = terms;
    g->index = index;
    g->table = table;
    g->env = (struct ct_env){.n = n, .me = index, .radix = 2, .nblk = n, .inplace = true};
    g->nrounds = terms->algo->rounds(&g->env, 0);
    int rc = find_peers(g);
    if (rc != CTRAN_SUCCESS) {
        g->npeers = 0; /* nothing of them has begun */
        return rc;
    }
    return ct_peers_open(g);
}

void ct_gather_close(struct ct_gather *g)
{
    g->ended = true;
    ct_peers_close(g);
    free(g->peers);
    g->peers = NULL;
    g->npeers = 0;
}
