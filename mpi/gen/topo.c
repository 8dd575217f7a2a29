/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies (chapter 8). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    return ctran_cart_coords(comm, rank, maxdims, coords);
}
NAME(Cart_coords)

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *comm_cart)
{
    return ctran_cart_create(comm_old, ndims, dims, periods, reorder, comm_cart);
}
NAME(Cart_create)

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    return ctran_cart_get(comm, maxdims, dims, periods, coords);
}
NAME(Cart_get)

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    return ctran_cart_map(comm, ndims, dims, periods, newrank);
}
NAME(Cart_map)

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    return ctran_cart_rank(comm, coords, rank);
}
NAME(Cart_rank)

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    return ctran_cart_shift(comm, direction, disp, rank_source, rank_dest);
}
NAME(Cart_shift)

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    return ctran_cart_sub(comm, remain_dims, newcomm);
}
NAME(Cart_sub)

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    return ctran_cartdim_get(comm, ndims);
}
NAME(Cartdim_get)

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    return ctran_dims_create(nnodes, ndims, dims);
}
NAME(Dims_create)

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int *weights, MPI_Info info, int reorder,
                           MPI_Comm *comm_dist_graph)
{
    return ctran_dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info,
        reorder, comm_dist_graph);
}
NAME(Dist_graph_create)

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int *sourceweights, int outdegree,
                                    const int destinations[], const int *destweights, MPI_Info info,
                                    int reorder, MPI_Comm *comm_dist_graph)
{
    return ctran_dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
        destinations, destweights, info, reorder, comm_dist_graph);
}
NAME(Dist_graph_create_adjacent)

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int *sourceweights,
                              int maxoutdegree, int destinations[], int *destweights)
{
    return ctran_dist_graph_neighbors(comm, maxindegree, sources, sourceweights, maxoutdegree,
        destinations, destweights);
}
NAME(Dist_graph_neighbors)

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    return ctran_dist_graph_neighbors_count(comm, indegree, outdegree, weighted);
}
NAME(Dist_graph_neighbors_count)

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
                      int reorder, MPI_Comm *comm_graph)
{
    return ctran_graph_create(comm_old, nnodes, indx, edges, reorder, comm_graph);
}
NAME(Graph_create)

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    return ctran_graph_get(comm, maxindex, maxedges, indx, edges);
}
NAME(Graph_get)

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    return ctran_graph_map(comm, nnodes, indx, edges, newrank);
}
NAME(Graph_map)

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    return ctran_graph_neighbors(comm, rank, maxneighbors, neighbors);
}
NAME(Graph_neighbors)

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    return ctran_graph_neighbors_count(comm, rank, nneighbors);
}
NAME(Graph_neighbors_count)

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    return ctran_graphdims_get(comm, nnodes, nedges);
}
NAME(Graphdims_get)

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    return ctran_topo_test(comm, status);
}
NAME(Topo_test)
