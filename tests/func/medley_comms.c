/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators for medley: the world and parts of it in several orders, inter-communicators of
 * uneven and of mingled groups, grids and graphs with edges that occur twice and lead to their own
 * rank.
 */
#include "medley.h"

static void members(ctran_group_t group, int n, int *world_ranks)
{
    ctran_group_t world;
    int           all[MOST_RANKS];
    for (int i = 0; i < n; i++) {
        all[i] = i;
    }
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    OK(ctran_group_translate_ranks(group, n, all, world, world_ranks));
    OK(ctran_group_free(&world));
    OK(ctran_group_free(&group));
}

static void number_slots(struct team *t)
{
    for (int i = 0; i < t->nout; i++) {
        for (int j = 0; j < i; j++) {
            t->out_slot[i] += t->out[i] == t->out[j];
        }
    }
    for (int i = 0; i < t->nin; i++) {
        for (int j = 0; j < i; j++) {
            t->in_slot[i] += t->in[i] == t->in[j];
        }
    }
}

/* MPI-4.1 sec. 8.6: what goes out in one direction comes in from the other. */
static void cart_neighbours(struct team *t)
{
    int ndims = 0;
    OK(ctran_cartdim_get(t->comm, &ndims));
    t->nin = t->nout = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        OK(ctran_cart_shift(t->comm, d, 1, &t->in[2 * d], &t->in[2 * d + 1]));
    }
    for (int i = 0; i < t->nin; i++) {
        t->in[i] = t->in[i] == CTRAN_PROC_NULL ? NOBODY : t->own[t->in[i]];
        t->out[i] = t->in[i];
        t->out_slot[i] = i;
        t->in_slot[i] = i ^ 1;
    }
}

static void graph_neighbours(struct team *t)
{
    int kind, weighted, win[MOST_BLOCKS], wout[MOST_BLOCKS];
    OK(ctran_topo_test(t->comm, &kind));
    if (kind == CTRAN_GRAPH) { /* both ways the same */
        OK(ctran_graph_neighbors_count(t->comm, t->me, &t->nin));
        EXPECT(t->nin <= MOST_BLOCKS);
        OK(ctran_graph_neighbors(t->comm, t->me, t->nin, t->in));
        t->nout = t->nin;
        memcpy(t->out, t->in, sizeof t->in);
    } else {
        OK(ctran_dist_graph_neighbors_count(t->comm, &t->nin, &t->nout, &weighted));
        EXPECT(t->nin <= MOST_BLOCKS && t->nout <= MOST_BLOCKS);
        OK(ctran_dist_graph_neighbors(t->comm, t->nin, t->in, win, t->nout, t->out, wout));
    }
    for (int i = 0; i < t->nin; i++) {
        t->in[i] = t->own[t->in[i]];
    }
    for (int i = 0; i < t->nout; i++) {
        t->out[i] = t->own[t->out[i]];
    }
    number_slots(t);
}

static void team_of(struct team *t, ctran_comm_t comm, const char *name, enum shape shape)
{
    ctran_group_t group;
    *t = (struct team){.comm = comm, .name = name, .shape = shape};
    if (comm == CTRAN_COMM_NULL) {
        return;
    }
    OK(ctran_comm_size(comm, &t->n));
    OK(ctran_comm_rank(comm, &t->me));
    OK(ctran_comm_group(comm, &group));
    members(group, t->n, t->own);
    t->npeers = t->n;
    memcpy(t->peers, t->own, sizeof t->own);
    if (shape == INTER) {
        OK(ctran_comm_remote_size(comm, &t->npeers));
        OK(ctran_comm_remote_group(comm, &group));
        members(group, t->npeers, t->peers);
    } else if (shape == CART) {
        cart_neighbours(t);
    } else if (shape == GRAPH) {
        graph_neighbours(t);
    }
}

static ctran_comm_t part(int color, int key)
{
    ctran_comm_t comm;
    OK(ctran_comm_split(CTRAN_COMM_WORLD, color, key, &comm));
    return comm;
}

/* Of those with the word and those without it; the lowest rank of either, which leads it. */
static ctran_comm_t between(bool ours, int lowest, int lowest_other)
{
    ctran_comm_t half = part(ours, check_rank), comm;
    OK(ctran_intercomm_create(half, 0, CTRAN_COMM_WORLD, ours ? lowest_other : lowest, 7, &comm));
    OK(ctran_comm_free(&half));
    return comm;
}

/* A third of the ranks, and the rest. */
static ctran_comm_t across(void)
{
    const int cut = (check_size + 1) / 3 > 0 ? (check_size + 1) / 3 : 1;
    return between(check_rank < cut, 0, cut);
}

static ctran_comm_t grid(int ndims, int periodic)
{
    int          dims[2] = {0, 0}, periods[2] = {periodic, 0};
    ctran_comm_t comm;
    OK(ctran_dims_create(check_size, ndims, dims));
    OK(ctran_cart_create(CTRAN_COMM_WORLD, ndims, dims, periods, 0, &comm));
    return comm;
}

/* Every pair has an edge, two or none, by its ranks. */
static int edges(int from, int to)
{
    return rng_of((uint64_t)(1000 + from * 64 + to)) % 5 % 3;
}

static ctran_comm_t graph(void)
{
    int          in[MOST_BLOCKS], out[MOST_BLOCKS], ones[MOST_BLOCKS], nin = 0, nout = 0;
    ctran_comm_t comm;
    for (int r = 0; r < check_size; r++) {
        for (int i = edges(r, check_rank); i > 0; i--) {
            in[nin++] = r;
        }
        for (int i = edges(check_rank, r); i > 0; i--) {
            out[nout++] = r;
        }
    }
    for (int i = 0; i < MOST_BLOCKS; i++) {
        ones[i] = 1;
    }
    OK(ctran_dist_graph_create_adjacent(CTRAN_COMM_WORLD, nin, in, ones, nout, out, ones,
                                        CTRAN_INFO_NULL, 0, &comm));
    return comm;
}

/* Every pair has as many edges in both directions, as neighbourhoods of this kind of graph must. */
static ctran_comm_t symmetric_graph(void)
{
    int          index[MOST_RANKS], to[MOST_RANKS * MOST_BLOCKS], n = 0;
    ctran_comm_t comm;
    for (int a = 0; a < check_size; a++) {
        for (int b = 0; b < check_size; b++) {
            for (int i = a < b ? edges(a, b) : edges(b, a); i > 0; i--) {
                to[n++] = b;
            }
        }
        index[a] = n;
    }
    OK(ctran_graph_create(CTRAN_COMM_WORLD, check_size, index, to, 0, &comm));
    return comm;
}

int teams_make(struct team *teams)
{
    struct team *t = teams;
    ctran_comm_t comm;
    EXPECT(check_size <= MOST_RANKS);
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    team_of(t++, comm, "all", INTRA);
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    team_of(t++, comm, "all again", INTRA);
    team_of(t++, part(0, -check_rank), "reversed", INTRA);
    team_of(t++, part(check_rank % 2, check_rank), "odd or even", INTRA);
    team_of(t++, part(check_rank == 0 ? CTRAN_UNDEFINED : 0, check_rank), "without 0", INTRA);
    team_of(t++, part(0, (check_rank * 5 + 2) % 7), "shuffled", INTRA);
    team_of(t++, part(check_rank, 0), "alone", INTRA);
    team_of(t++, grid(1, 1), "ring", CART);
    team_of(t++, grid(2, 1), "grid", CART);
    team_of(t++, graph(), "graph", GRAPH);
    team_of(t++, symmetric_graph(), "symmetric graph", GRAPH);
    if (check_size > 1) {
        team_of(t++, across(), "across", INTER);
        team_of(t++, between(check_rank % 2 == 0, 0, 1), "even and odd", INTER);
    }
    return (int)(t - teams);
}

void teams_free(struct team *teams, int n)
{
    for (int i = 0; i < n; i++) {
        if (teams[i].comm != CTRAN_COMM_NULL) {
            OK(ctran_comm_free(&teams[i].comm));
        }
    }
}
