/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph topologies: general graphs, and distributed ones. */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/api.h"

/* n ranks of the communicator in a list. */
static int check_ranks(struct ct_comm *comm, const char *call, const char *name, int n,
                       const int *ranks)
{
    if (n < 0 || (n > 0 && ranks == NULL)) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s: there are %d, at %p", name, n,
                            (const void *)ranks);
    }
    for (int i = 0; i < n; i++) {
        if (ranks[i] < 0 || (uint32_t)ranks[i] >= comm->run.n) {
            return ct_api_raise(comm, CTRAN_ERR_RANK, call, "%s[%d] is %d, must be 0 to %" PRIu32,
                                name, i, ranks[i], comm->run.n - 1);
        }
    }
    return CTRAN_SUCCESS;
}

/* ---- general graphs -------------------------------------------------------------------------- */

static int check_graph(struct ct_comm *comm, const char *call, int nnodes, const int *index,
                       const int *edges)
{
    if (nnodes < 0 || (uint32_t)nnodes > comm->run.n) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "nnodes is %d, must be 0 to %" PRIu32,
                            nnodes, comm->run.n);
    }
    if (nnodes > 0 && index == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "index is NULL");
    }
    for (int i = 0; i < nnodes; i++) {
        if (index[i] < (i > 0 ? index[i - 1] : 0)) {
            return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                                "index[%d] is %d, less than the one before it", i, index[i]);
        }
    }
    int n = nnodes > 0 ? index[nnodes - 1] : 0;
    int rc = check_ranks(comm, call, "edges", n, edges);
    for (int i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        if (edges[i] >= nnodes) {
            rc = ct_api_raise(comm, CTRAN_ERR_RANK, call, "edges[%d] is %d, must be 0 to %d", i,
                              edges[i], nnodes - 1);
        }
    }
    return rc;
}

int ctran_graph_create(ctran_comm_t comm_old, int nnodes, const int index[], const int edges[],
                       int reorder, ctran_comm_t *comm_graph)
{
    static const char call[] = "ctran_graph_create";
    struct ct_comm   *comm, *made;
    int               rc = ct_check_intra(call, comm_old, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, comm_graph, "comm_graph");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_graph(comm, call, nnodes, index, edges);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_graph(comm, nnodes, index, edges, reorder != 0, &made);
    ct_api_met(&m, rc);
    return ct_api_give_comm(comm, rc, made, call, comm_graph);
}

int ctran_graph_map(ctran_comm_t handle, int nnodes, const int index[], const int edges[],
                    int *newrank)
{
    static const char call[] = "ctran_graph_map";
    struct ct_comm   *comm;
    int               rc = ct_check_intra(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, newrank, "newrank");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_graph(comm, call, nnodes, index, edges);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_graph_map(comm, false, nnodes, index, edges, newrank);
    ct_api_met(&m, rc);
    return rc == CTRAN_SUCCESS ? rc
                               : ct_api_raise(comm, rc, call, "for a graph of %d nodes", nnodes);
}

static int check_is_graph(const char *call, ctran_comm_t handle, struct ct_comm **comm,
                          const struct ct_vtopo_graph **graph)
{
    int rc = ct_check_topo(call, handle, CTRAN_GRAPH, comm);
    if (rc == CTRAN_SUCCESS) {
        *graph = &(*comm)->topo->graph;
    }
    return rc;
}

int ctran_graphdims_get(ctran_comm_t handle, int *nnodes, int *nedges)
{
    static const char            call[] = "ctran_graphdims_get";
    struct ct_comm              *comm;
    const struct ct_vtopo_graph *graph;
    int                          rc = check_is_graph(call, handle, &comm, &graph);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, nnodes, "nnodes");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, nedges, "nedges");
    }
    if (rc == CTRAN_SUCCESS) {
        *nnodes = graph->nnodes;
        *nedges = graph->nedges;
    }
    return rc;
}

static void copy(int *to, const int *from, int n)
{
    if (n > 0) {
        memcpy(to, from, (size_t)n * sizeof *to);
    }
}

int ctran_graph_get(ctran_comm_t handle, int maxindex, int maxedges, int index[], int edges[])
{
    static const char            call[] = "ctran_graph_get";
    struct ct_comm              *comm;
    const struct ct_vtopo_graph *graph;
    int                          rc = check_is_graph(call, handle, &comm, &graph);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((graph->nnodes > 0 && index == NULL) || (graph->nedges > 0 && edges == NULL)) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s is NULL",
                            index == NULL ? "index" : "edges");
    }
    if (maxindex < graph->nnodes || maxedges < graph->nedges) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                            "there is room for %d nodes and %d edges, the graph has %d and %d",
                            maxindex, maxedges, graph->nnodes, graph->nedges);
    }
    copy(index, graph->index, graph->nnodes);
    copy(edges, graph->edges, graph->nedges);
    return CTRAN_SUCCESS;
}

/* The neighbours of a rank: where they begin, and how many. */
static int find_neighbors(struct ct_comm *comm, const char *call, int rank, const int **first,
                          int *n)
{
    const struct ct_vtopo_graph *graph = &comm->topo->graph;
    if (rank < 0 || rank >= graph->nnodes) {
        return ct_api_raise(comm, CTRAN_ERR_RANK, call, "rank is %d, must be 0 to %d", rank,
                            graph->nnodes - 1);
    }
    int start = rank > 0 ? graph->index[rank - 1] : 0;
    *first = graph->edges + start;
    *n = graph->index[rank] - start;
    return CTRAN_SUCCESS;
}

int ctran_graph_neighbors_count(ctran_comm_t handle, int rank, int *nneighbors)
{
    static const char            call[] = "ctran_graph_neighbors_count";
    struct ct_comm              *comm;
    const struct ct_vtopo_graph *graph;
    const int                   *first;
    int                          rc = check_is_graph(call, handle, &comm, &graph);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, nneighbors, "nneighbors");
    }
    return rc == CTRAN_SUCCESS ? find_neighbors(comm, call, rank, &first, nneighbors) : rc;
}

int ctran_graph_neighbors(ctran_comm_t handle, int rank, int maxneighbors, int neighbors[])
{
    static const char            call[] = "ctran_graph_neighbors";
    struct ct_comm              *comm;
    const struct ct_vtopo_graph *graph;
    const int                   *first;
    int                          n, rc = check_is_graph(call, handle, &comm, &graph);
    if (rc == CTRAN_SUCCESS) {
        rc = find_neighbors(comm, call, rank, &first, &n);
    }
    if (rc == CTRAN_SUCCESS && n > 0 && maxneighbors > 0) {
        rc = ct_check_out(comm, call, neighbors, "neighbors");
    }
    if (rc == CTRAN_SUCCESS) {
        copy(neighbors, first, n < maxneighbors ? n : maxneighbors);
    }
    return rc;
}

/* ---- distributed graphs ---------------------------------------------------------------------- */

/* Whether weights say that there are any; they are NULL or missing where edges are, or negative. */
static int check_weights(struct ct_comm *comm, const char *call, const char *name, int n,
                         const int *weights)
{
    if (weights == CTRAN_UNWEIGHTED || n == 0) {
        return CTRAN_SUCCESS;
    }
    if (weights == NULL || weights == CTRAN_WEIGHTS_EMPTY) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s is %s, but there are %d edges", name,
                            weights == NULL ? "NULL" : "CTRAN_WEIGHTS_EMPTY", n);
    }
    for (int i = 0; i < n; i++) {
        if (weights[i] < 0) {
            return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s[%d] is %d, must be at least 0", name,
                                i, weights[i]);
        }
    }
    return CTRAN_SUCCESS;
}

/* Info, which gives no hints yet, and the two ends' edges. */
static int check_edges(struct ct_comm *comm, const char *call, const char *name, int n,
                       const int *ranks, const char *weights_name, const int *weights)
{
    int rc = check_ranks(comm, call, name, n, ranks);
    return rc == CTRAN_SUCCESS ? check_weights(comm, call, weights_name, n, weights) : rc;
}

int ctran_dist_graph_create_adjacent(ctran_comm_t comm_old, int indegree, const int sources[],
                                     const int *sourceweights, int outdegree,
                                     const int destinations[], const int *destweights,
                                     ctran_info_t info, int reorder, ctran_comm_t *comm_dist_graph)
{
    static const char call[] = "ctran_dist_graph_create_adjacent";
    struct ct_comm   *comm, *made;
    int               rc = ct_check_intra(call, comm_old, &comm);
    (void)info;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, comm_dist_graph, "comm_dist_graph");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_edges(comm, call, "sources", indegree, sources, "sourceweights", sourceweights);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_edges(comm, call, "destinations", outdegree, destinations, "destweights",
                         destweights);
    }
    if (rc == CTRAN_SUCCESS &&
        (sourceweights == CTRAN_UNWEIGHTED) != (destweights == CTRAN_UNWEIGHTED)) {
        rc = ct_api_raise(comm, CTRAN_ERR_ARG, call,
                          "only one of sourceweights and destweights is CTRAN_UNWEIGHTED");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_vtopo_dist own = {
        .weighted = sourceweights != CTRAN_UNWEIGHTED,
        .in = {indegree, (int *)sources, (int *)sourceweights},
        .out = {outdegree, (int *)destinations, (int *)destweights},
    };
    rc = reorder ? ct_comm_dist_graph_reorder(comm, &own, &made)
                 : ct_comm_dist_graph(comm, &own, 0, &made);
    return ct_api_give_comm(comm, rc, made, call, comm_dist_graph);
}

/* The degrees' sum, the number of edges; or the error is raised. */
static int check_degrees(struct ct_comm *comm, const char *call, int n, const int *degrees,
                         int *edges)
{
    int64_t sum = 0;
    if (n > 0 && degrees == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "degrees is NULL");
    }
    for (int i = 0; i < n; i++) {
        sum += degrees[i];
        if (degrees[i] < 0 || sum > INT32_MAX) {
            return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                                "degrees[%d] is %d: below 0, or too many edges", i, degrees[i]);
        }
    }
    *edges = (int)sum;
    return CTRAN_SUCCESS;
}

static struct ct_vtopo_triple *list_edges(int n, const int *sources, const int *degrees,
                                          const int *destinations, const int *weights, int edges)
{
    struct ct_vtopo_triple *list = malloc(((size_t)edges + 1) * sizeof *list);
    for (int i = 0, at = 0; list != NULL && i < n; i++) {
        for (int j = 0; j < degrees[i]; j++, at++) {
            list[at] = (struct ct_vtopo_triple){sources[i], destinations[at],
                                                weights != CTRAN_UNWEIGHTED ? weights[at] : 1};
        }
    }
    return list;
}

int ctran_dist_graph_create(ctran_comm_t comm_old, int n, const int sources[], const int degrees[],
                            const int destinations[], const int *weights, ctran_info_t info,
                            int reorder, ctran_comm_t *comm_dist_graph)
{
    static const char call[] = "ctran_dist_graph_create";
    struct ct_comm   *comm, *made;
    int               edges = 0, rc = ct_check_intra(call, comm_old, &comm);
    (void)info;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, comm_dist_graph, "comm_dist_graph");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_ranks(comm, call, "sources", n, sources);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_degrees(comm, call, n, degrees, &edges);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_edges(comm, call, "destinations", edges, destinations, "weights", weights);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_vtopo_triple *list = list_edges(n, sources, degrees, destinations, weights, edges);
    if (list == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_NO_MEM, call, "for %d edges", edges);
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_dist_graph_from(comm, list, (size_t)edges, weights != CTRAN_UNWEIGHTED,
                                 reorder != 0, &made);
    ct_api_met(&m, rc);
    free(list);
    return ct_api_give_comm(comm, rc, made, call, comm_dist_graph);
}

int ctran_dist_graph_neighbors_count(ctran_comm_t handle, int *indegree, int *outdegree,
                                     int *weighted)
{
    static const char call[] = "ctran_dist_graph_neighbors_count";
    struct ct_comm   *comm;
    int               rc = ct_check_topo(call, handle, CTRAN_DIST_GRAPH, &comm);
    if (rc == CTRAN_SUCCESS && (indegree == NULL || outdegree == NULL || weighted == NULL)) {
        rc = ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s is NULL",
                          indegree == NULL    ? "indegree"
                          : outdegree == NULL ? "outdegree"
                                              : "weighted");
    }
    if (rc == CTRAN_SUCCESS) {
        const struct ct_vtopo_dist *dist = &comm->topo->dist;
        *indegree = dist->in.n;
        *outdegree = dist->out.n;
        *weighted = dist->weighted;
    }
    return rc;
}

static void give_edges(const struct ct_vtopo_edges *edges, int most, int *peers, int *weights)
{
    int n = edges->n < most ? edges->n : most;
    copy(peers, edges->peers, n);
    if (edges->weights != NULL && weights != NULL && weights != CTRAN_UNWEIGHTED &&
        weights != CTRAN_WEIGHTS_EMPTY) {
        copy(weights, edges->weights, n);
    }
}

int ctran_dist_graph_neighbors(ctran_comm_t handle, int maxindegree, int sources[],
                               int *sourceweights, int maxoutdegree, int destinations[],
                               int *destweights)
{
    static const char call[] = "ctran_dist_graph_neighbors";
    struct ct_comm   *comm;
    int               rc = ct_check_topo(call, handle, CTRAN_DIST_GRAPH, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_vtopo_dist *dist = &comm->topo->dist;
    if ((maxindegree > 0 && dist->in.n > 0 && sources == NULL) ||
        (maxoutdegree > 0 && dist->out.n > 0 && destinations == NULL)) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s is NULL",
                            sources == NULL ? "sources" : "destinations");
    }
    if (maxindegree < 0 || maxoutdegree < 0) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "maxindegree is %d, maxoutdegree %d",
                            maxindegree, maxoutdegree);
    }
    give_edges(&dist->in, maxindegree, sources, sourceweights);
    give_edges(&dist->out, maxoutdegree, destinations, destweights);
    return CTRAN_SUCCESS;
}
