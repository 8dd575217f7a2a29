/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives (chapter 6). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return ctran_iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        request);
}
NAME(Iallgather)

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return ctran_iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        request);
}
NAME(Iallgather_c)

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Iallgatherv", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_iallgatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Iallgatherv)

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Iallgatherv_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_iallgatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Iallgatherv_c)

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    return ctran_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}
NAME(Iallreduce)

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return ctran_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}
NAME(Iallreduce_c)

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return ctran_ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        request);
}
NAME(Ialltoall)

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    return ctran_ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        request);
}
NAME(Ialltoall_c)

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ialltoallv", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_ialltoallv(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ialltoallv)

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ialltoallv_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_copy(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_copy(&a, rdispls, n1);
    const int rc = ctran_ialltoallv(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ialltoallv_c)

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ialltoallw", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_ialltoallw(sendbuf, w_sendcounts, w_sdispls, sendtypes, recvbuf,
        w_recvcounts, w_rdispls, recvtypes, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ialltoallw)

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ialltoallw_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_copy(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_copy(&a, rdispls, n1);
    const int rc = ctran_ialltoallw(sendbuf, w_sendcounts, w_sdispls, sendtypes, recvbuf,
        w_recvcounts, w_rdispls, recvtypes, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ialltoallw_c)

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return ctran_ibarrier(comm, request);
}
NAME(Ibarrier)

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request *request)
{
    return ctran_ibcast(buffer, count, datatype, root, comm, request);
}
NAME(Ibcast)

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return ctran_ibcast(buffer, count, datatype, root, comm, request);
}
NAME(Ibcast_c)

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request *request)
{
    return ctran_iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}
NAME(Iexscan)

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return ctran_iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}
NAME(Iexscan_c)

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    return ctran_igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        request);
}
NAME(Igather)

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    return ctran_igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        request);
}
NAME(Igather_c)

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Igatherv", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_igatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, root, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Igatherv)

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Igatherv_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_igatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, root, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Igatherv_c)

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    return ctran_ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}
NAME(Ireduce)

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return ctran_ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}
NAME(Ireduce_c)

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_LOCAL));
    if (!ct_arrays_open(&a, (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ireduce_scatter", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const int rc = ctran_ireduce_scatter(sendbuf, recvbuf, w_recvcounts, datatype, op, comm,
        request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ireduce_scatter)

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_LOCAL));
    if (!ct_arrays_open(&a, (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ireduce_scatter_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const int rc = ctran_ireduce_scatter(sendbuf, recvbuf, w_recvcounts, datatype, op, comm,
        request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ireduce_scatter_c)

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request *request)
{
    return ctran_ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
}
NAME(Ireduce_scatter_block)

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    return ctran_ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
}
NAME(Ireduce_scatter_block_c)

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request *request)
{
    return ctran_iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}
NAME(Iscan)

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return ctran_iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}
NAME(Iscan_c)

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return ctran_iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        request);
}
NAME(Iscatter)

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    return ctran_iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        request);
}
NAME(Iscatter_c)

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Iscatterv", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_iscatterv(sendbuf, w_sendcounts, w_displs, sendtype, recvbuf, recvcount,
        recvtype, root, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Iscatterv)

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Iscatterv_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_iscatterv(sendbuf, w_sendcounts, w_displs, sendtype, recvbuf, recvcount,
        recvtype, root, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Iscatterv_c)
