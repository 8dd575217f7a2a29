/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives (chapter 6). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
NAME(Allgather)

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
NAME(Allgather_c)

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Allgatherv", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_allgatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Allgatherv)

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
        comm);
}
NAME(Allgatherv_c)

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    return ctran_allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
NAME(Allreduce)

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    return ctran_allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
NAME(Allreduce_c)

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
NAME(Alltoall)

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
NAME(Alltoall_c)

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Alltoallv", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_alltoallv(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Alltoallv)

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
        recvtype, comm);
}
NAME(Alltoallv_c)

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Alltoallw", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_alltoallw(sendbuf, w_sendcounts, w_sdispls, sendtypes, recvbuf,
        w_recvcounts, w_rdispls, recvtypes, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Alltoallw)

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return ctran_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
        recvtypes, comm);
}
NAME(Alltoallw_c)

int PMPI_Barrier(MPI_Comm comm)
{
    return ctran_barrier(comm);
}
NAME(Barrier)

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return ctran_bcast(buffer, count, datatype, root, comm);
}
NAME(Bcast)

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return ctran_bcast(buffer, count, datatype, root, comm);
}
NAME(Bcast_c)

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    return ctran_exscan(sendbuf, recvbuf, count, datatype, op, comm);
}
NAME(Exscan)

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    return ctran_exscan(sendbuf, recvbuf, count, datatype, op, comm);
}
NAME(Exscan_c)

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return ctran_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
NAME(Gather)

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return ctran_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
NAME(Gather_c)

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Gatherv", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_gatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, root, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Gatherv)

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    return ctran_gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
        comm);
}
NAME(Gatherv_c)

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm)
{
    return ctran_reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}
NAME(Reduce)

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    return ctran_reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}
NAME(Reduce_c)

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_LOCAL));
    if (!ct_arrays_open(&a, (size_t)n0, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Reduce_scatter", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const int rc = ctran_reduce_scatter(sendbuf, recvbuf, w_recvcounts, datatype, op, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Reduce_scatter)

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return ctran_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}
NAME(Reduce_scatter_c)

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return ctran_reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}
NAME(Reduce_scatter_block)

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return ctran_reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}
NAME(Reduce_scatter_block_c)

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    return ctran_scan(sendbuf, recvbuf, count, datatype, op, comm);
}
NAME(Scan)

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    return ctran_scan(sendbuf, recvbuf, count, datatype, op, comm);
}
NAME(Scan_c)

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return ctran_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
NAME(Scatter)

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return ctran_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}
NAME(Scatter_c)

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Scatterv", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_scatterv(sendbuf, w_sendcounts, w_displs, sendtype, recvbuf, recvcount,
        recvtype, root, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Scatterv)

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return ctran_scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
        comm);
}
NAME(Scatterv_c)
