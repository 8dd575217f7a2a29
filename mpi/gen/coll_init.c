/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives (chapter 6). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return ctran_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        info, request);
}
NAME(Allgather_init)

int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    return ctran_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        info, request);
}
NAME(Allgather_init_c)

int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Allgatherv_init", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts,
        w_displs, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Allgatherv_init)

int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Allgatherv_init_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts,
        w_displs, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Allgatherv_init_c)

int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
NAME(Allreduce_init)

int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    return ctran_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
NAME(Allreduce_init_c)

int PMPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    return ctran_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        info, request);
}
NAME(Alltoall_init)

int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    return ctran_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
        info, request);
}
NAME(Alltoall_init_c)

int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Alltoallv_init", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_alltoallv_init(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Alltoallv_init)

int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Alltoallv_init_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_copy(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_copy(&a, rdispls, n1);
    const int rc = ctran_alltoallv_init(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Alltoallv_init_c)

int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Alltoallw_init", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_alltoallw_init(sendbuf, w_sendcounts, w_sdispls, sendtypes, recvbuf,
        w_recvcounts, w_rdispls, recvtypes, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Alltoallw_init)

int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(sendbuf == MPI_IN_PLACE ? 0 : ct_front_blocks(comm,
        CT_FRONT_ALL));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_ALL));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Alltoallw_init_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_copy(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_copy(&a, rdispls, n1);
    const int rc = ctran_alltoallw_init(sendbuf, w_sendcounts, w_sdispls, sendtypes, recvbuf,
        w_recvcounts, w_rdispls, recvtypes, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Alltoallw_init_c)

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_barrier_init(comm, info, request);
}
NAME(Barrier_init)

int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    return ctran_bcast_init(buffer, count, datatype, root, comm, info, request);
}
NAME(Bcast_init)

int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    return ctran_bcast_init(buffer, count, datatype, root, comm, info, request);
}
NAME(Bcast_init_c)

int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
NAME(Exscan_init)

int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
NAME(Exscan_init_c)

int PMPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    return ctran_gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        info, request);
}
NAME(Gather_init)

int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
        info, request);
}
NAME(Gather_init_c)

int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Gatherv_init", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_gatherv_init(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, root, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Gatherv_init)

int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Gatherv_init_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_gatherv_init(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts, w_displs,
        recvtype, root, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Gatherv_init_c)

int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}
NAME(Reduce_init)

int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}
NAME(Reduce_init_c)

int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    return ctran_reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
        request);
}
NAME(Reduce_scatter_block_init)

int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    return ctran_reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
        request);
}
NAME(Reduce_scatter_block_init_c)

int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_LOCAL));
    if (!ct_arrays_open(&a, (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Reduce_scatter_init", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const int rc = ctran_reduce_scatter_init(sendbuf, recvbuf, w_recvcounts, datatype, op, comm,
        info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Reduce_scatter_init)

int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_LOCAL));
    if (!ct_arrays_open(&a, (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Reduce_scatter_init_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const int rc = ctran_reduce_scatter_init(sendbuf, recvbuf, w_recvcounts, datatype, op, comm,
        info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Reduce_scatter_init_c)

int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
NAME(Scan_init)

int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
NAME(Scan_init_c)

int PMPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    return ctran_scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
        comm, info, request);
}
NAME(Scatter_init)

int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
        comm, info, request);
}
NAME(Scatter_init_c)

int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                       MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Scatterv_init", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_scatterv_init(sendbuf, w_sendcounts, w_displs, sendtype, recvbuf,
        recvcount, recvtype, root, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Scatterv_init)

int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_root_blocks(comm, root));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Scatterv_init_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_scatterv_init(sendbuf, w_sendcounts, w_displs, sendtype, recvbuf,
        recvcount, recvtype, root, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Scatterv_init_c)
