/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives that are prepared once, and started again and again (MPI-4.1 sec. 6.13). */
#define CT_FOLDER "api"
#include "api/coll_call.h"

int ctran_barrier_init(ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_barrier_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_barrier(&how);
}

int ctran_bcast_init(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                     ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_bcast_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_bcast(&how, buffer, count, datatype, root);
}

int ctran_reduce_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                      ctran_datatype_t datatype, ctran_op_t op, int root, ctran_comm_t comm,
                      ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_reduce_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_reduce(&how, sendbuf, recvbuf, count, datatype, op, root);
}

int ctran_allreduce_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                         ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                         ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_allreduce_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_allreduce(&how, sendbuf, recvbuf, count, datatype, op);
}

int ctran_scan_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                    ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm, ctran_info_t info,
                    ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_scan_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_scan(&how, false, sendbuf, recvbuf, count, datatype, op);
}

int ctran_exscan_init(const void *sendbuf, void *recvbuf, ctran_count_t count,
                      ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                      ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_exscan_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_scan(&how, true, sendbuf, recvbuf, count, datatype, op);
}

int ctran_allgather_init(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                         void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                         ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_allgather_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_allgather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int ctran_gather_init(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                      void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                      ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_gather_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_gather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
}

int ctran_scatter_init(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                       void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                       ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_scatter_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_scatter(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
}

int ctran_alltoall_init(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                        ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_alltoall_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_alltoall(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int ctran_allgatherv_init(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                          void *recvbuf, const ctran_count_t recvcounts[],
                          const ctran_aint_t displs[], ctran_datatype_t recvtype, ctran_comm_t comm,
                          ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_allgatherv_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_allgatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype);
}

int ctran_gatherv_init(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                       void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                       ctran_datatype_t recvtype, int root, ctran_comm_t comm, ctran_info_t info,
                       ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_gatherv_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_gatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                           recvtype, root);
}

int ctran_scatterv_init(const void *sendbuf, const ctran_count_t sendcounts[],
                        const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                        ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                        ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_scatterv_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_scatterv(&how, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                            recvtype, root);
}

int ctran_alltoallv_init(const void *sendbuf, const ctran_count_t sendcounts[],
                         const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                         const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                         ctran_datatype_t recvtype, ctran_comm_t comm, ctran_info_t info,
                         ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_alltoallv_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_alltoallv(&how, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                             rdispls, recvtype);
}

int ctran_alltoallw_init(const void *sendbuf, const ctran_count_t sendcounts[],
                         const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                         void *recvbuf, const ctran_count_t recvcounts[],
                         const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                         ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_alltoallw_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_alltoallw(&how, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                             rdispls, recvtypes);
}

int ctran_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                                    ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                    ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_reduce_scatter_block_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_reduce_scatter_block(&how, sendbuf, recvbuf, recvcount, datatype, op);
}

int ctran_reduce_scatter_init(const void *sendbuf, void *recvbuf, const ctran_count_t recvcounts[],
                              ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                              ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_reduce_scatter_init",
                                .comm = comm,
                                .mode = CT_CALL_PERSISTENT,
                                .info = info,
                                .request = request};
    return ct_call_reduce_scatter(&how, sendbuf, recvbuf, recvcounts, datatype, op);
}
