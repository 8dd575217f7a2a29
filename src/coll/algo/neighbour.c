/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood exchange: every rank sends a block to each of its destinations and receives one
 * from each of its sources, straight from and into the user's buffers.
 *
 * Source: MPI-4.1, sec. 8.6, which defines neighbourhood collectives by such messages; the order is
 * our own.
 * Restriction: none; a source or destination may come several times, and be the rank itself.
 * Cost: d (a + m b), d the larger of a rank's numbers of sources and destinations. No scratch.
 *
 * Order. A rank takes its edges up by their shift, how far the destination is from the source, and
 * of equal edges by their number: so an edge has the same place among all edges at both ends. A
 * runner that has only so many transfers under way, and starts a round when some are over, cannot
 * end in a circle of ranks that wait for each other, as it could in the program's order, where a
 * message that is first for its sender may be last for its receiver: of the ranks that have not
 * started all, take one whose next edge is first. Whatever it waits for comes before that edge, so
 * the other end has started it, too, and it ends. Two transfers at most share a place, a rank's
 * send and its receive there, fewer than a runner may have under way.
 *
 * Rank 0 of 5, which sends to 1, 4, 1 and 0, and receives from 3, 0 and 4:
 *   place   0,0      0,0          1,0     1,0         1,1     2,0         4,0
 *   edge    from 0   to 0         from 4  to 1        to 1    from 3      to 4
 */
#include <stdlib.h>

#include "coll/algo/step.h"

static int neighbour_compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* By shift and direction, and as they came. */
static int by_pair(const void *left, const void *right)
{
    const struct ct_edge *a = left, *b = right;
    int                   c = neighbour_compare(a->shift, b->shift);
    c = c != 0 ? c : neighbour_compare(a->in, b->in);
    return c != 0 ? c : neighbour_compare(a->nth, b->nth);
}

/* By place, receives first. */
static int neighbour_by_place(const void *left, const void *right)
{
    const struct ct_edge *a = left, *b = right;
    int                   c = neighbour_compare(a->shift, b->shift);
    c = c != 0 ? c : neighbour_compare(a->nth, b->nth);
    return c != 0 ? c : neighbour_compare(b->in, a->in);
}

void ct_algo_order_edges(struct ct_edge *edges, uint32_t nedges, uint32_t n, uint32_t me)
{
    for (uint32_t i = 0; i < nedges; i++) {
        struct ct_edge *e = &edges[i];
        e->shift = e->in ? ct_algo_sub(me, e->peer, n) : ct_algo_sub(e->peer, me, n);
        e->nth = i;
    }
    if (nedges == 0) {
        return;
    }
    qsort(edges, nedges, sizeof *edges, by_pair);
    edges[0].nth = 0;
    for (uint32_t i = 1; i < nedges; i++) {
        const struct ct_edge *before = &edges[i - 1];
        bool                  equal = edges[i].shift == before->shift && edges[i].in == before->in;
        edges[i].nth = equal ? before->nth + 1 : 0;
    }
    qsort(edges, nedges, sizeof *edges, neighbour_by_place);
}

/* As many as the longer buffer has. */
static uint32_t neighbour_nblk(const struct ct_env *env)
{
    uint32_t in = env->near->nsources, out = env->near->ndestinations;
    uint32_t most = in > out ? in : out;
    return most > 0 ? most : 1;
}

static uint32_t neighbour_rounds(const struct ct_env *env, unsigned lane)
{
    (void)lane;
    return env->near->nedges / CT_MAX_STEPS + (env->near->nedges % CT_MAX_STEPS != 0);
}

static unsigned neighbour_round_steps(const struct ct_env *env, unsigned lane, uint32_t r,
                                      struct ct_step *out)
{
    const struct ct_edge *edges = env->near->edges + (size_t)r * CT_MAX_STEPS;
    const uint32_t        left = env->near->nedges - r * CT_MAX_STEPS;
    unsigned              k = 0;
    (void)lane;
    for (; k < left && k < CT_MAX_STEPS; k++) {
        struct ct_slice block = ct_algo_block(edges[k].in ? CT_RECV : CT_SEND, edges[k].block);
        out[k] = edges[k].in ? ct_algo_rx(edges[k].peer, block)
                             : ct_algo_tx(edges[k].peer, block, block);
    }
    return k;
}

const struct ct_algo ct_algo_neighbour = {
    .name = "neighbour",
    .colls = CT_NEAR,
    .lanes = 1,
    .rxlag = CT_LAG_FREE,
    .txlag = CT_LAG_FREE,
    .fits = ct_algo_fits_all,
    .nblk = neighbour_nblk,
    .rounds = neighbour_rounds,
    .tmp = ct_algo_tmp_none,
    .round = neighbour_round_steps,
};
