/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators with a topology. A grid or a general graph is a split that keeps the first ranks,
 * and the parts of a grid are a split, too. For a distributed graph everybody tells the two ends of
 * each edge that it was given: one exchange of counts, one of edges.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"
#include "comm/vtopo.h"

/* The new communicator gets the topology, or goes. Takes the reference to `topo`, NULL when there
 * was no memory for it. */
static int attach(struct ct_comm *made, struct ct_vtopo *topo, struct ct_comm **out)
{
    if (topo == NULL || !ct_vtopo_meet(topo, made->run.n, made->run.me)) {
        ct_vtopo_drop(topo);
        ct_comm_release(made);
        *out = NULL;
        return CTRAN_ERR_NO_MEM;
    }
    made->topo = topo;
    return CTRAN_SUCCESS;
}

/* The communicator of the first n ranks, in the order of `newrank`; none if a rank had an error
 * before. */
static int first_ranks(struct ct_comm *comm, int n, int before, int newrank, struct ct_comm **out)
{
    bool joins = comm->run.me < (uint32_t)n;
    return ct_comms_split_after(comm, before, joins ? 0 : CTRAN_UNDEFINED, newrank, out);
}

int ct_comm_cart(struct ct_comm *comm, int ndims, const int *dims, const int *periods, bool reorder,
                 struct ct_comm **out)
{
    int n = 1, newrank = 0, rc = CTRAN_SUCCESS;
    for (int i = 0; i < ndims; i++) {
        n *= dims[i];
    }
    if (reorder) {
        rc = ct_comm_cart_map(comm, true, ndims, dims, periods, &newrank);
    }
    rc = first_ranks(comm, n, rc, newrank, out);
    if (rc != CTRAN_SUCCESS || *out == NULL) {
        return rc;
    }
    return attach(*out, ct_vtopo_make_cart(ndims, dims, periods, (int)(*out)->run.me), out);
}

int ct_comm_cart_sub(struct ct_comm *comm, const int *remain, struct ct_comm **out)
{
    const struct ct_vtopo_cart *cart = &comm->topo->cart;
    struct ct_vtopo *topo = ct_vtopo_make_cart(cart->ndims, cart->dims, cart->periods, 0);
    int              color = 0, ndims = 0, rc = CTRAN_ERR_NO_MEM;
    if (topo != NULL) { /* its numbers serve as scratch */
        for (int i = 0; i < cart->ndims; i++) {
            if (remain[i]) {
                topo->cart.dims[ndims] = cart->dims[i];
                topo->cart.periods[ndims++] = cart->periods[i];
            } else {
                color = color * cart->dims[i] + cart->coords[i];
            }
        }
    }
    /* Whatever is wrong here, the others wait for this rank. */
    int split = ct_comm_split(comm, color, 0, out);
    if (topo == NULL || split != CTRAN_SUCCESS) {
        rc = split != CTRAN_SUCCESS ? split : rc;
        if (split == CTRAN_SUCCESS) {
            ct_comm_release(*out);
        }
    } else {
        rc = attach(
            *out,
            ct_vtopo_make_cart(ndims, topo->cart.dims, topo->cart.periods, (int)(*out)->run.me),
            out);
    }
    ct_vtopo_drop(topo);
    return rc;
}

int ct_comm_graph(struct ct_comm *comm, int nnodes, const int *index, const int *edges,
                  bool reorder, struct ct_comm **out)
{
    int newrank = 0, rc = CTRAN_SUCCESS;
    if (reorder) {
        rc = ct_comm_graph_map(comm, true, nnodes, index, edges, &newrank);
    }
    rc = first_ranks(comm, nnodes, rc, newrank, out);
    if (rc != CTRAN_SUCCESS || *out == NULL) {
        return rc;
    }
    return attach(*out, ct_vtopo_make_graph(nnodes, index, edges), out);
}

int ct_comm_dist_graph(struct ct_comm *comm, const struct ct_vtopo_dist *own, int newrank,
                       struct ct_comm **out)
{
    int rc = ct_comm_split(comm, 0, newrank, out);
    return rc == CTRAN_SUCCESS ? attach(*out, ct_vtopo_make_dist(own), out) : rc;
}

/* ---- edges from everywhere ------------------------------------------------------------------- */

/* Edges by the rank they go to (or come from): those of rank r are counts[r], from displs[r] on. */
struct lots {
    ctran_count_t          *counts;
    ctran_aint_t           *displs;
    struct ct_vtopo_triple *edges;
    size_t                  n;
};

static void free_lots(struct lots *lots)
{
    free(lots->counts);
    free(lots->displs);
    free(lots->edges);
}

static bool make_lots(struct lots *lots, uint32_t n)
{
    *lots = (struct lots){.counts = calloc(n, sizeof *lots->counts),
                          .displs = calloc(n, sizeof *lots->displs)};
    return lots->counts != NULL && lots->displs != NULL;
}

/* Counts are known: places, and memory. */
static bool place_lots(struct lots *lots, uint32_t n)
{
    lots->n = 0;
    for (uint32_t r = 0; r < n; r++) {
        lots->displs[r] = (ctran_aint_t)lots->n;
        lots->n += (size_t)lots->counts[r];
    }
    lots->edges = malloc((lots->n + 1) * sizeof *lots->edges);
    return lots->edges != NULL;
}

/* Sends each edge once to each rank at one of its ends. */
static bool sort_out(const struct ct_vtopo_triple *edges, size_t n, uint32_t size, struct lots *out)
{
    if (!make_lots(out, size)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        out->counts[edges[i].source]++;
        out->counts[edges[i].destination] += edges[i].source != edges[i].destination;
    }
    if (!place_lots(out, size)) {
        return false;
    }
    ctran_aint_t *at = out->displs; /* moves on while edges are filed, and is set back */
    for (size_t i = 0; i < n; i++) {
        out->edges[at[edges[i].source]++] = edges[i];
        if (edges[i].source != edges[i].destination) {
            out->edges[at[edges[i].destination]++] = edges[i];
        }
    }
    for (uint32_t r = 0; r < size; r++) {
        at[r] -= out->counts[r];
    }
    return true;
}

int ct_comms_alltoall(struct ct_comm *comm, struct ct_layout layout)
{
    struct ct_run_args args = {
        .ctx = &comm->run,
        .algo = ct_algo_find(CT_ALLTOALL, "linear"),
        .env = {.radix = 2},
        .layout = layout,
        .chunks = 1,
    };
    return ct_run(&args);
}

static int exchange(struct ct_comm *comm, const struct lots *send, struct lots *recv)
{
    uint32_t         n = comm->run.n;
    struct ct_layout sizes = {
        .elem_bytes = sizeof *send->counts,
        .count = n,
        .buf = {{.base = (char *)send->counts}, {.base = (char *)recv->counts}},
    };
    int rc = ct_comms_alltoall(comm, sizes);
    if (rc == CTRAN_SUCCESS && !place_lots(recv, n)) {
        rc = CTRAN_ERR_NO_MEM;
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_blocks out = {(char *)send->edges, 0, n, send->counts, send->displs, 1};
    struct ct_blocks in = {(char *)recv->edges, 0, n, recv->counts, recv->displs, 1};
    struct ct_layout edges = {.elem_bytes = sizeof *send->edges, .buf = {out, in}};
    return ct_comms_alltoall(comm, edges);
}

/* What the edges that came say of this rank. */
static int settle(struct ct_comm *comm, const struct lots *got, bool weighted, bool reorder,
                  struct ct_comm **out)
{
    int *numbers = malloc((4 * got->n + 1) * sizeof *numbers), me = (int)comm->run.me;
    if (numbers == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    struct ct_vtopo_dist own = {
        .weighted = weighted,
        .in = {.peers = numbers, .weights = numbers + got->n},
        .out = {.peers = numbers + 2 * got->n, .weights = numbers + 3 * got->n},
    };
    for (size_t i = 0; i < got->n; i++) {
        const struct ct_vtopo_triple *edge = &got->edges[i];
        if (edge->destination == me) {
            own.in.peers[own.in.n] = edge->source;
            own.in.weights[own.in.n++] = edge->weight;
        }
        if (edge->source == me) {
            own.out.peers[own.out.n] = edge->destination;
            own.out.weights[own.out.n++] = edge->weight;
        }
    }
    int rc = reorder ? ct_comm_dist_graph_reorder(comm, &own, out)
                     : ct_comm_dist_graph(comm, &own, 0, out);
    free(numbers);
    return rc;
}

int ct_comm_dist_graph_from(struct ct_comm *comm, const struct ct_vtopo_triple *edges, size_t n,
                            bool weighted, bool reorder, struct ct_comm **out)
{
    struct lots send = {0}, recv = {0};
    int         rc = CTRAN_ERR_NO_MEM;
    if (sort_out(edges, n, comm->run.n, &send) && make_lots(&recv, comm->run.n)) {
        rc = exchange(comm, &send, &recv);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = settle(comm, &recv, weighted, reorder, out);
    }
    free_lots(&send);
    free_lots(&recv);
    return rc;
}
