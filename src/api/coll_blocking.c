/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives that return when they are over. */
#define CT_FOLDER "api"
#include "api/coll_call.h"

int ctran_barrier(ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_barrier", .comm = comm};
    return ct_call_barrier(&how);
}

int ctran_bcast(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_bcast", .comm = comm};
    return ct_call_bcast(&how, buffer, count, datatype, root);
}

int ctran_reduce(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
                 ctran_op_t op, int root, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_reduce", .comm = comm};
    return ct_call_reduce(&how, sendbuf, recvbuf, count, datatype, op, root);
}

int ctran_allreduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                    ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_allreduce", .comm = comm};
    return ct_call_allreduce(&how, sendbuf, recvbuf, count, datatype, op);
}

int ctran_scan(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
               ctran_op_t op, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_scan", .comm = comm};
    return ct_call_scan(&how, false, sendbuf, recvbuf, count, datatype, op);
}

int ctran_exscan(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
                 ctran_op_t op, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_exscan", .comm = comm};
    return ct_call_scan(&how, true, sendbuf, recvbuf, count, datatype, op);
}

int ctran_allgather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                    void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                    ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_allgather", .comm = comm};
    return ct_call_allgather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int ctran_gather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                 void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                 ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_gather", .comm = comm};
    return ct_call_gather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
}

int ctran_scatter(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                  void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                  ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_scatter", .comm = comm};
    return ct_call_scatter(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
}

int ctran_alltoall(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                   void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                   ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_alltoall", .comm = comm};
    return ct_call_alltoall(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int ctran_allgatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                     void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                     ctran_datatype_t recvtype, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_allgatherv", .comm = comm};
    return ct_call_allgatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype);
}

int ctran_gatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                  void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                  ctran_datatype_t recvtype, int root, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_gatherv", .comm = comm};
    return ct_call_gatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                           recvtype, root);
}

int ctran_scatterv(const void *sendbuf, const ctran_count_t sendcounts[],
                   const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                   ctran_count_t recvcount, ctran_datatype_t recvtype, int root, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_scatterv", .comm = comm};
    return ct_call_scatterv(&how, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                            recvtype, root);
}

int ctran_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                    const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                    const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                    ctran_datatype_t recvtype, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_alltoallv", .comm = comm};
    return ct_call_alltoallv(&how, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                             rdispls, recvtype);
}

int ctran_alltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                    const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[], void *recvbuf,
                    const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                    const ctran_datatype_t recvtypes[], ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_alltoallw", .comm = comm};
    return ct_call_alltoallw(&how, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                             rdispls, recvtypes);
}

int ctran_reduce_scatter_block(const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                               ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_reduce_scatter_block", .comm = comm};
    return ct_call_reduce_scatter_block(&how, sendbuf, recvbuf, recvcount, datatype, op);
}

int ctran_reduce_scatter(const void *sendbuf, void *recvbuf, const ctran_count_t recvcounts[],
                         ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm)
{
    const struct ct_call how = {.name = "ctran_reduce_scatter", .comm = comm};
    return ct_call_reduce_scatter(&how, sendbuf, recvbuf, recvcounts, datatype, op);
}
