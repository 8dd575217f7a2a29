/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of neighbours (chapter 8). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    return ctran_ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, request);
}
NAME(Ineighbor_allgather)

int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    return ctran_ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, request);
}
NAME(Ineighbor_allgather_c)

int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ineighbor_allgatherv", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts,
        w_displs, recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ineighbor_allgatherv)

int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ineighbor_allgatherv_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts,
        w_displs, recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ineighbor_allgatherv_c)

int PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    return ctran_ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, request);
}
NAME(Ineighbor_alltoall)

int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    return ctran_ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, request);
}
NAME(Ineighbor_alltoall_c)

int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ineighbor_alltoallv", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_ineighbor_alltoallv(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ineighbor_alltoallv)

int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ineighbor_alltoallv_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_copy(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_copy(&a, rdispls, n1);
    const int rc = ctran_ineighbor_alltoallv(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ineighbor_alltoallv_c)

int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ineighbor_alltoallw", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const int rc = ctran_ineighbor_alltoallw(sendbuf, w_sendcounts, sdispls, sendtypes, recvbuf,
        w_recvcounts, rdispls, recvtypes, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ineighbor_alltoallw)

int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Ineighbor_alltoallw_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const int rc = ctran_ineighbor_alltoallw(sendbuf, w_sendcounts, sdispls, sendtypes, recvbuf,
        w_recvcounts, rdispls, recvtypes, comm, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Ineighbor_alltoallw_c)

int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm);
}
NAME(Neighbor_allgather)

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    return ctran_neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm);
}
NAME(Neighbor_allgather_c)

int PMPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    return ctran_neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, info, request);
}
NAME(Neighbor_allgather_init)

int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, info, request);
}
NAME(Neighbor_allgather_init_c)

int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_allgatherv", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, w_recvcounts,
        w_displs, recvtype, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Neighbor_allgatherv)

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
        recvtype, comm);
}
NAME(Neighbor_allgatherv_c)

int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_allgatherv_init", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_widen(&a, displs, n0);
    const int rc = ctran_neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf,
        w_recvcounts, w_displs, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Neighbor_allgatherv_init)

int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_allgatherv_init_c", NO_ROOM);
    }
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n0);
    const ctran_aint_t *w_displs = ct_arrays_copy(&a, displs, n0);
    const int rc = ctran_neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf,
        w_recvcounts, w_displs, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Neighbor_allgatherv_init_c)

int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm);
}
NAME(Neighbor_alltoall)

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    return ctran_neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm);
}
NAME(Neighbor_alltoall_c)

int PMPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request *request)
{
    return ctran_neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, info, request);
}
NAME(Neighbor_alltoall_init)

int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
        comm, info, request);
}
NAME(Neighbor_alltoall_init_c)

int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_alltoallv", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_neighbor_alltoallv(sendbuf, w_sendcounts, w_sdispls, sendtype, recvbuf,
        w_recvcounts, w_rdispls, recvtype, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Neighbor_alltoallv)

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    return ctran_neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
        rdispls, recvtype, comm);
}
NAME(Neighbor_alltoallv_c)

int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_alltoallv_init", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_widen(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_widen(&a, rdispls, n1);
    const int rc = ctran_neighbor_alltoallv_init(sendbuf, w_sendcounts, w_sdispls, sendtype,
        recvbuf, w_recvcounts, w_rdispls, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Neighbor_alltoallv_init)

int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n0 + (size_t)n1 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_alltoallv_init_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_aint_t *w_sdispls = ct_arrays_copy(&a, sdispls, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const ctran_aint_t *w_rdispls = ct_arrays_copy(&a, rdispls, n1);
    const int rc = ctran_neighbor_alltoallv_init(sendbuf, w_sendcounts, w_sdispls, sendtype,
        recvbuf, w_recvcounts, w_rdispls, recvtype, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Neighbor_alltoallv_init_c)

int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n1, false)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_alltoallw", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const int rc = ctran_neighbor_alltoallw(sendbuf, w_sendcounts, sdispls, sendtypes, recvbuf,
        w_recvcounts, rdispls, recvtypes, comm);
    return ct_arrays_close(&a, rc);
}
NAME(Neighbor_alltoallw)

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return ctran_neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
        rdispls, recvtypes, comm);
}
NAME(Neighbor_alltoallw_c)

int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_alltoallw_init", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_widen(&a, sendcounts, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_widen(&a, recvcounts, n1);
    const int rc = ctran_neighbor_alltoallw_init(sendbuf, w_sendcounts, sdispls, sendtypes, recvbuf,
        w_recvcounts, rdispls, recvtypes, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Neighbor_alltoallw_init)

int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ct_arrays a;
    const int n0 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_OUT));
    const int n1 = ct_arrays_length(ct_front_blocks(comm, CT_FRONT_IN));
    if (!ct_arrays_open(&a, (size_t)n0 + (size_t)n1, true)) {
        return ct_front_raise(comm, MPI_ERR_NO_MEM, "MPI_Neighbor_alltoallw_init_c", NO_ROOM);
    }
    const ctran_count_t *w_sendcounts = ct_arrays_copy(&a, sendcounts, n0);
    const ctran_count_t *w_recvcounts = ct_arrays_copy(&a, recvcounts, n1);
    const int rc = ctran_neighbor_alltoallw_init(sendbuf, w_sendcounts, sdispls, sendtypes, recvbuf,
        w_recvcounts, rdispls, recvtypes, comm, info, request);
    return ct_arrays_keep(&a, rc, request);
}
NAME(Neighbor_alltoallw_init_c)
