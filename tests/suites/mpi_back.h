/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_back.h - the part of the ctran.h for other libraries that is written by hand: counts and
 * displacements are int, the form that every library has. mpi_names.py puts it into that ctran.h,
 * after the names.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int               ctran_count_t;
typedef int               ctran_aint_t;
typedef MPI_User_function ctran_user_function;

/* n numbers as addresses: for good, as the library may read them when the call has returned. */
static inline MPI_Aint *mpi_addresses(const int *from, int n)
{
    MPI_Aint *to = malloc((n > 0 ? (size_t)n : 1) * sizeof *to);
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
    }
    return to;
}

/* The neighbours that data come from, or go to. */
static inline int mpi_degree(MPI_Comm comm, int out)
{
    int kind, degrees[2], weighted;
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        MPI_Cartdim_get(comm, &degrees[0]);
        return 2 * degrees[0];
    }
    if (kind == MPI_GRAPH) {
        int rank;
        MPI_Comm_rank(comm, &rank);
        MPI_Graph_neighbors_count(comm, rank, &degrees[0]);
        return degrees[0];
    }
    MPI_Dist_graph_neighbors_count(comm, &degrees[0], &degrees[1], &weighted);
    return degrees[out];
}

/* Displacements of these are addresses in the narrow form, too. */
#define MPI_WIDE_(call, s, sc, sd, st, r, rc, rd, rt, comm, ...)                                   \
    call(s, sc, mpi_addresses(sd, mpi_degree(comm, 1)), st, r, rc,                                 \
         mpi_addresses(rd, mpi_degree(comm, 0)), rt, comm, ##__VA_ARGS__)
#undef ctran_neighbor_alltoallw
#undef ctran_ineighbor_alltoallw
#undef ctran_neighbor_alltoallw_init
#define ctran_neighbor_alltoallw(...)      MPI_WIDE_(MPI_Neighbor_alltoallw, __VA_ARGS__)
#define ctran_ineighbor_alltoallw(...)     MPI_WIDE_(MPI_Ineighbor_alltoallw, __VA_ARGS__)
#define ctran_neighbor_alltoallw_init(...) MPI_WIDE_(MPI_Neighbor_alltoallw_init, __VA_ARGS__)
