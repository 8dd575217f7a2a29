/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives that return at once, with a request (MPI-4.1 sec. 6.12). */
#define CT_FOLDER "api"
#include "api/coll_call.h"

int ctran_ibarrier(ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ibarrier", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_barrier(&how);
}

int ctran_ibcast(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root,
                 ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ibcast", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_bcast(&how, buffer, count, datatype, root);
}

int ctran_ireduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                  ctran_datatype_t datatype, ctran_op_t op, int root, ctran_comm_t comm,
                  ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ireduce", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_reduce(&how, sendbuf, recvbuf, count, datatype, op, root);
}

int ctran_iallreduce(const void *sendbuf, void *recvbuf, ctran_count_t count,
                     ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                     ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iallreduce", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_allreduce(&how, sendbuf, recvbuf, count, datatype, op);
}

int ctran_iscan(const void *sendbuf, void *recvbuf, ctran_count_t count, ctran_datatype_t datatype,
                ctran_op_t op, ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iscan", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_scan(&how, false, sendbuf, recvbuf, count, datatype, op);
}

int ctran_iexscan(const void *sendbuf, void *recvbuf, ctran_count_t count,
                  ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                  ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iexscan", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_scan(&how, true, sendbuf, recvbuf, count, datatype, op);
}

int ctran_iallgather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                     void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                     ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iallgather", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_allgather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int ctran_igather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                  void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                  ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_igather", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_gather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
}

int ctran_iscatter(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                   void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                   ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iscatter", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_scatter(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root);
}

int ctran_ialltoall(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                    void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                    ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ialltoall", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_alltoall(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}

int ctran_iallgatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                      void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                      ctran_datatype_t recvtype, ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iallgatherv", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_allgatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype);
}

int ctran_igatherv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                   void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                   ctran_datatype_t recvtype, int root, ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_igatherv", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_gatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                           recvtype, root);
}

int ctran_iscatterv(const void *sendbuf, const ctran_count_t sendcounts[],
                    const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                    ctran_count_t recvcount, ctran_datatype_t recvtype, int root, ctran_comm_t comm,
                    ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_iscatterv", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_scatterv(&how, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                            recvtype, root);
}

int ctran_ialltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                     const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                     const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                     ctran_datatype_t recvtype, ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ialltoallv", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_alltoallv(&how, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                             rdispls, recvtype);
}

int ctran_ialltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                     const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                     void *recvbuf, const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                     const ctran_datatype_t recvtypes[], ctran_comm_t comm,
                     ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ialltoallw", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_alltoallw(&how, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                             rdispls, recvtypes);
}

int ctran_ireduce_scatter_block(const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                                ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                                ctran_request_t *request)
{
    const struct ct_call how = {.name = "ctran_ireduce_scatter_block",
                                .comm = comm,
                                .mode = CT_CALL_REQUEST,
                                .request = request};
    return ct_call_reduce_scatter_block(&how, sendbuf, recvbuf, recvcount, datatype, op);
}

int ctran_ireduce_scatter(const void *sendbuf, void *recvbuf, const ctran_count_t recvcounts[],
                          ctran_datatype_t datatype, ctran_op_t op, ctran_comm_t comm,
                          ctran_request_t *request)
{
    const struct ct_call how = {
        .name = "ctran_ireduce_scatter", .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
    return ct_call_reduce_scatter(&how, sendbuf, recvbuf, recvcounts, datatype, op);
}
