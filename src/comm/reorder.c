/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New ranks for grids and graphs, by where ranks stand (topo/reorder.h). What all ranks know, a
 * grid or a general graph, each works out for itself once all have told where they stand. The edges
 * of a distributed graph are brought to rank 0, which tells all what comes of them; then each rank
 * gets the edges of the node that it has become:
 *
 *   all to all   how many edges each has, and whether it has the memory
 *   to 0         the edges that go out, each once
 *   all to all   where each stands
 *   from 0       who becomes which node
 *   one to one   a node's edges, in their order
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"
#include "comm/vtopo.h"
#include "pmi/pmi.h"

/* ---- what all know --------------------------------------------------------------------------- */

/* The place of `rank` in an order. */
static int place_of(const uint32_t *at, uint32_t n, uint32_t rank)
{
    for (uint32_t i = 0; i < n; i++) {
        if (at[i] == rank) {
            return (int)i;
        }
    }
    return CTRAN_UNDEFINED;
}

/* Memory for the locations of the first n ranks, which are filled in, and behind them for an order;
 * NULL with *rc. Together all ranks call this, whatever has happened to them. */
static struct ct_location *find_locations(struct ct_comm *comm, bool together, uint32_t n, int *rc)
{
    struct ct_location *locations =
        malloc(((size_t)n + 1) * (sizeof *locations + sizeof(uint32_t)));
    if (together) {
        *rc = ct_comms_locations(comm, n, locations);
    } else {
        *rc = locations != NULL ? ct_comm_locations(comm, n, locations) : CTRAN_ERR_NO_MEM;
    }
    if (*rc != CTRAN_SUCCESS) {
        free(locations);
        return NULL;
    }
    return locations;
}

int ct_comm_cart_map(struct ct_comm *comm, bool together, int ndims, const int *dims,
                     const int *periods, int *newrank)
{
    uint32_t n = 1;
    int      rc;
    for (int i = 0; i < ndims; i++) {
        n *= (uint32_t)dims[i];
    }
    struct ct_location *locations = find_locations(comm, together, n, &rc);
    if (locations == NULL) {
        return rc;
    }
    uint32_t *at = (uint32_t *)(locations + n);
    rc = ct_reorder_cart(locations, ndims, dims, periods, at);
    if (rc == CTRAN_SUCCESS) {
        *newrank = place_of(at, n, comm->run.me);
    }
    free(locations);
    return rc;
}

/* The graph's edges; NULL without memory. */
static struct ct_reorder_edge *list_edges(int nnodes, const int *index, const int *edges)
{
    size_t                  n = nnodes > 0 ? (size_t)index[nnodes - 1] : 0;
    struct ct_reorder_edge *list = malloc((n + 1) * sizeof *list);
    for (int v = 0, i = 0; list != NULL && v < nnodes; v++) {
        for (; i < index[v]; i++) {
            list[i] = (struct ct_reorder_edge){(uint32_t)v, (uint32_t)edges[i], 1};
        }
    }
    return list;
}

int ct_comm_graph_map(struct ct_comm *comm, bool together, int nnodes, const int *index,
                      const int *edges, int *newrank)
{
    uint32_t                n = (uint32_t)nnodes;
    int                     rc;
    struct ct_location     *locations = find_locations(comm, together, n, &rc);
    struct ct_reorder_edge *list = locations != NULL ? list_edges(nnodes, index, edges) : NULL;
    if (locations != NULL && list == NULL) {
        rc = CTRAN_ERR_NO_MEM;
    } else if (locations != NULL) {
        uint32_t *at = (uint32_t *)(locations + n);
        rc = ct_reorder_graph(locations, n, list, n > 0 ? (size_t)index[n - 1] : 0, at);
        *newrank = rc == CTRAN_SUCCESS ? place_of(at, n, comm->run.me) : *newrank;
    }
    free(locations);
    free(list);
    return rc;
}

/* ---- distributed graphs ---------------------------------------------------------------------- */

/* What a rank says of itself first. */
struct own_part {
    uint64_t node; /* its host */
    uint32_t in, out;
    uint32_t weighted, ok;
};

struct dist {
    struct ct_comm             *comm;
    const struct ct_vtopo_dist *own;
    struct own_part            *parts;  /* of all ranks */
    uint32_t                   *orders; /* the result and, before it, an error */
    ctran_count_t              *counts; /* of messages to all, and from all */
    ctran_aint_t               *displs;
    struct ct_vtopo_triple     *edges, *all; /* own, and at rank 0 those of all */
    size_t                      nall;
    int                        *numbers[2]; /* edges on their way: own, and those that come */
};

static size_t numbers_of(const struct own_part *p)
{
    return (p->weighted ? 2 : 1) * ((size_t)p->in + p->out);
}

static void free_dist(struct dist *d)
{
    free(d->parts);
    free(d->orders);
    free(d->counts);
    free(d->displs);
    free(d->edges);
    free(d->all);
    free(d->numbers[0]);
    free(d->numbers[1]);
}

/* What can be had before anything is known of the others. */
static bool make_first(struct dist *d)
{
    size_t n = d->comm->run.n;
    d->orders = calloc(n + 1, sizeof *d->orders);
    d->counts = calloc(2 * n, sizeof *d->counts);
    d->displs = calloc(2 * n, sizeof *d->displs);
    d->edges = malloc(((size_t)d->own->out.n + 1) * sizeof *d->edges);
    return d->orders != NULL && d->counts != NULL && d->displs != NULL && d->edges != NULL;
}

/* What takes the others' edges: at rank 0 all of them, else the most that any node has. */
static bool make_second(struct dist *d)
{
    size_t most = 0;
    for (uint32_t r = 0; r < d->comm->run.n; r++) {
        most = ct_max_size(most, numbers_of(&d->parts[r]));
    }
    d->all = malloc((d->comm->run.me == 0 ? d->nall + 1 : 1) * sizeof *d->all);
    d->numbers[0] = malloc((numbers_of(&d->parts[d->comm->run.me]) + 1) * sizeof(int));
    d->numbers[1] = malloc((most + 1) * sizeof(int));
    return d->all != NULL && d->numbers[0] != NULL && d->numbers[1] != NULL;
}

/* Each says whether it is ready: an error of one is everybody's. */
static int agree(struct ct_comm *comm, bool ok)
{
    const uint32_t *all, own = ok;
    void           *memory;
    int             rc = ct_comms_gather(comm, &own, sizeof own, (const void **)&all, &memory);
    for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < comm->run.n; r++) {
        rc = all[r] ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    free(memory);
    return rc;
}

static int learn_parts(struct dist *d)
{
    const struct own_part *all, own = {.node = d->comm->p->job->local_group,
                                       .in = (uint32_t)d->own->in.n,
                                       .out = (uint32_t)d->own->out.n,
                                       .weighted = d->own->weighted,
                                       .ok = make_first(d)};
    void                  *memory;
    size_t                 bytes = d->comm->run.n * sizeof own;
    int rc = ct_comms_gather(d->comm, &own, sizeof own, (const void **)&all, &memory);
    for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < d->comm->run.n; r++) {
        rc = all[r].ok ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
        d->nall += all[r].out;
    }
    if (rc == CTRAN_SUCCESS && memory == NULL) { /* it is by the shared allgather */
        memory = malloc(bytes);
        if (memory != NULL) {
            memcpy(memory, all, bytes);
        }
    }
    d->parts = memory;
    return rc == CTRAN_SUCCESS ? agree(d->comm, d->parts != NULL) : rc;
}

/* Whether a new order can gain anything; all ranks get the same answer, since all have the same
 * data. */
static bool is_of_use(const struct dist *d)
{
    uint32_t n = d->comm->run.n;
    bool     one_host = true;
    for (uint32_t r = 1; r < n; r++) {
        one_host = one_host && d->parts[r].node == d->parts[0].node;
    }
    return !one_host && n <= CT_REORDER_RANKS && d->nall <= CT_REORDER_EDGES;
}

/* One message each way at most, except for the rank that gets them all. */
static int deliver(struct dist *d, size_t elem_bytes, const void *out, void *in)
{
    uint32_t n = d->comm->run.n;
    for (uint32_t r = 1; r < n; r++) {
        d->displs[n + r] = d->displs[n + r - 1] + d->counts[n + r - 1];
    }
    struct ct_layout layout = {
        .elem_bytes = elem_bytes,
        .buf = {{(char *)out, 0, n, d->counts, d->displs, 1},
                {in, 0, n, d->counts + n, d->displs + n, 1}},
    };
    int rc = ct_comms_alltoall(d->comm, layout);
    memset(d->counts, 0, 2 * (size_t)n * sizeof *d->counts);
    return rc;
}

static int bring_edges(struct dist *d)
{
    const struct ct_vtopo_edges *out = &d->own->out;
    uint32_t                     n = d->comm->run.n, me = d->comm->run.me;
    for (int i = 0; i < out->n; i++) {
        d->edges[i] = (struct ct_vtopo_triple){(int)me, out->peers[i],
                                               d->own->weighted ? out->weights[i] : 1};
    }
    d->counts[0] = out->n;
    for (uint32_t r = 0; me == 0 && r < n; r++) {
        d->counts[n + r] = d->parts[r].out;
    }
    return deliver(d, sizeof *d->edges, d->edges, d->all);
}

/* At rank 0: orders[1 + v] is the rank that becomes node v. */
static int work_out(struct dist *d, const struct ct_location *locations)
{
    struct ct_reorder_edge *edges = malloc((d->nall + 1) * sizeof *edges);
    if (edges == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (size_t i = 0; i < d->nall; i++) {
        const struct ct_vtopo_triple *e = &d->all[i];
        edges[i] = (struct ct_reorder_edge){(uint32_t)e->source, (uint32_t)e->destination,
                                            (uint32_t)e->weight};
    }
    int rc = ct_reorder_graph(locations, d->comm->run.n, edges, d->nall, d->orders + 1);
    free(edges);
    return rc;
}

static int tell_order(struct dist *d)
{
    int                 rc;
    struct ct_location *locations = find_locations(d->comm, true, d->comm->run.n, &rc);
    if (d->comm->run.me == 0) {
        rc = rc == CTRAN_SUCCESS ? work_out(d, locations) : rc;
        d->orders[0] = (uint32_t)rc;
    }
    free(locations);
    rc = ct_comms_bcast(d->comm, 0, d->orders, (d->comm->run.n + 1) * sizeof *d->orders);
    return rc == CTRAN_SUCCESS ? (int)d->orders[0] : rc;
}

static int *put(int *at, const int *numbers, size_t n)
{
    if (n > 0) {
        memcpy(at, numbers, n * sizeof *at);
    }
    return at + n;
}

/* Sends this rank's own edges to the rank that has become its node. */
static int hand_over(struct dist *d, uint32_t newrank)
{
    const struct ct_vtopo_dist *own = d->own;
    uint32_t                    n = d->comm->run.n, me = d->comm->run.me;
    int                        *at = d->numbers[0];
    at = put(at, own->in.peers, (size_t)own->in.n);
    at = put(at, own->out.peers, (size_t)own->out.n);
    if (own->weighted) {
        at = put(at, own->in.weights, (size_t)own->in.n);
        (void)put(at, own->out.weights, (size_t)own->out.n);
    }
    d->counts[d->orders[1 + me]] = (ctran_count_t)numbers_of(&d->parts[me]);
    d->counts[n + newrank] = (ctran_count_t)numbers_of(&d->parts[newrank]);
    return deliver(d, sizeof(int), d->numbers[0], d->numbers[1]);
}

/* What came, as the edges of the new rank. */
static struct ct_vtopo_dist edges_of(const struct dist *d, uint32_t newrank)
{
    const struct own_part *p = &d->parts[newrank];
    int                   *at = d->numbers[1];
    struct ct_vtopo_dist   dist = {.weighted = p->weighted};
    dist.in = (struct ct_vtopo_edges){(int)p->in, at, at + p->in + p->out};
    dist.out = (struct ct_vtopo_edges){(int)p->out, at + p->in, at + 2 * (size_t)p->in + p->out};
    return dist;
}

static int reorder(struct dist *d, struct ct_comm **out)
{
    int rc = agree(d->comm, make_second(d));
    rc = rc == CTRAN_SUCCESS ? bring_edges(d) : rc;
    rc = rc == CTRAN_SUCCESS ? tell_order(d) : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    uint32_t newrank = (uint32_t)place_of(d->orders + 1, d->comm->run.n, d->comm->run.me);
    rc = hand_over(d, newrank);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_vtopo_dist dist = edges_of(d, newrank);
    return ct_comm_dist_graph(d->comm, &dist, (int)newrank, out);
}

int ct_comm_dist_graph_reorder(struct ct_comm *comm, const struct ct_vtopo_dist *own,
                               struct ct_comm **out)
{
    struct dist d = {.comm = comm, .own = own};
    int         rc = learn_parts(&d);
    if (rc == CTRAN_SUCCESS) {
        rc = is_of_use(&d) ? reorder(&d, out) : ct_comm_dist_graph(comm, own, 0, out);
    }
    free_dist(&d);
    return rc;
}
