/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of neighbours: the calls, which block, return at once, or are prepared. */
#define CT_FOLDER "api"
#include "api/coll_call.h"

/* ---- buffers --------------------------------------------------------------------------------- */

/* The same for all neighbours. */
static struct ct_side one(const void *buf, ctran_count_t count, ctran_datatype_t type)
{
    return (struct ct_side){.buf = buf, .count = count, .type = type};
}

/* Blocks of one length, one after the other. */
static struct ct_side row(const void *buf, ctran_count_t count, ctran_datatype_t type)
{
    return (struct ct_side){.buf = buf, .count = count, .type = type, .each = true};
}

static struct ct_side counted(const void *buf, const ctran_count_t *counts,
                              const ctran_aint_t *displs, ctran_datatype_t type)
{
    return (struct ct_side){.buf = buf,
                            .counts = counts,
                            .displs = displs,
                            .type = type,
                            .each = true,
                            .by_counts = true};
}

static struct ct_side typed(const void *buf, const ctran_count_t *counts,
                            const ctran_aint_t *displs, const ctran_datatype_t *types)
{
    return (struct ct_side){.buf = buf,
                            .counts = counts,
                            .displs = displs,
                            .types = types,
                            .each = true,
                            .by_counts = true,
                            .by_types = true};
}

/* ---- forms ----------------------------------------------------------------------------------- */

static struct ct_call at_once(const char *name, ctran_comm_t comm)
{
    return (struct ct_call){.name = name, .comm = comm, .mode = CT_CALL_BLOCKS};
}

static struct ct_call later(const char *name, ctran_comm_t comm, ctran_request_t *request)
{
    return (struct ct_call){
        .name = name, .comm = comm, .mode = CT_CALL_REQUEST, .request = request};
}

static struct ct_call prepared(const char *name, ctran_comm_t comm, ctran_info_t info,
                               ctran_request_t *request)
{
    return (struct ct_call){
        .name = name, .comm = comm, .mode = CT_CALL_PERSISTENT, .info = info, .request = request};
}

/* ---- at once --------------------------------------------------------------------------------- */

int ctran_neighbor_allgather(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                             ctran_datatype_t recvtype, ctran_comm_t comm)
{
    const struct ct_call how = at_once("ctran_neighbor_allgather", comm);
    return ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                            row(recvbuf, recvcount, recvtype));
}

int ctran_neighbor_allgatherv(const void *sendbuf, ctran_count_t sendcount,
                              ctran_datatype_t sendtype, void *recvbuf,
                              const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                              ctran_datatype_t recvtype, ctran_comm_t comm)
{
    const struct ct_call how = at_once("ctran_neighbor_allgatherv", comm);
    return ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                            counted(recvbuf, recvcounts, displs, recvtype));
}

int ctran_neighbor_alltoall(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                            void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                            ctran_comm_t comm)
{
    const struct ct_call how = at_once("ctran_neighbor_alltoall", comm);
    return ct_call_neighbor(&how, row(sendbuf, sendcount, sendtype),
                            row(recvbuf, recvcount, recvtype));
}

int ctran_neighbor_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                             const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                             const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                             ctran_datatype_t recvtype, ctran_comm_t comm)
{
    const struct ct_call how = at_once("ctran_neighbor_alltoallv", comm);
    return ct_call_neighbor(&how, counted(sendbuf, sendcounts, sdispls, sendtype),
                            counted(recvbuf, recvcounts, rdispls, recvtype));
}

int ctran_neighbor_alltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                             const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                             void *recvbuf, const ctran_count_t recvcounts[],
                             const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                             ctran_comm_t comm)
{
    const struct ct_call how = at_once("ctran_neighbor_alltoallw", comm);
    return ct_call_neighbor(&how, typed(sendbuf, sendcounts, sdispls, sendtypes),
                            typed(recvbuf, recvcounts, rdispls, recvtypes));
}

/* ---- as requests ----------------------------------------------------------------------------- */

int ctran_ineighbor_allgather(const void *sendbuf, ctran_count_t sendcount,
                              ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                              ctran_datatype_t recvtype, ctran_comm_t comm,
                              ctran_request_t *request)
{
    const struct ct_call how = later("ctran_ineighbor_allgather", comm, request);
    return ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                            row(recvbuf, recvcount, recvtype));
}

int ctran_ineighbor_allgatherv(const void *sendbuf, ctran_count_t sendcount,
                               ctran_datatype_t sendtype, void *recvbuf,
                               const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                               ctran_datatype_t recvtype, ctran_comm_t comm,
                               ctran_request_t *request)
{
    const struct ct_call how = later("ctran_ineighbor_allgatherv", comm, request);
    return ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                            counted(recvbuf, recvcounts, displs, recvtype));
}

int ctran_ineighbor_alltoall(const void *sendbuf, ctran_count_t sendcount,
                             ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                             ctran_datatype_t recvtype, ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = later("ctran_ineighbor_alltoall", comm, request);
    return ct_call_neighbor(&how, row(sendbuf, sendcount, sendtype),
                            row(recvbuf, recvcount, recvtype));
}

int ctran_ineighbor_alltoallv(const void *sendbuf, const ctran_count_t sendcounts[],
                              const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                              void *recvbuf, const ctran_count_t recvcounts[],
                              const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                              ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = later("ctran_ineighbor_alltoallv", comm, request);
    return ct_call_neighbor(&how, counted(sendbuf, sendcounts, sdispls, sendtype),
                            counted(recvbuf, recvcounts, rdispls, recvtype));
}

int ctran_ineighbor_alltoallw(const void *sendbuf, const ctran_count_t sendcounts[],
                              const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                              void *recvbuf, const ctran_count_t recvcounts[],
                              const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                              ctran_comm_t comm, ctran_request_t *request)
{
    const struct ct_call how = later("ctran_ineighbor_alltoallw", comm, request);
    return ct_call_neighbor(&how, typed(sendbuf, sendcounts, sdispls, sendtypes),
                            typed(recvbuf, recvcounts, rdispls, recvtypes));
}

/* ---- prepared -------------------------------------------------------------------------------- */

int ctran_neighbor_allgather_init(const void *sendbuf, ctran_count_t sendcount,
                                  ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                                  ctran_datatype_t recvtype, ctran_comm_t comm, ctran_info_t info,
                                  ctran_request_t *request)
{
    const struct ct_call how = prepared("ctran_neighbor_allgather_init", comm, info, request);
    return ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                            row(recvbuf, recvcount, recvtype));
}

int ctran_neighbor_allgatherv_init(const void *sendbuf, ctran_count_t sendcount,
                                   ctran_datatype_t sendtype, void *recvbuf,
                                   const ctran_count_t recvcounts[], const ctran_aint_t displs[],
                                   ctran_datatype_t recvtype, ctran_comm_t comm, ctran_info_t info,
                                   ctran_request_t *request)
{
    const struct ct_call how = prepared("ctran_neighbor_allgatherv_init", comm, info, request);
    return ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                            counted(recvbuf, recvcounts, displs, recvtype));
}

int ctran_neighbor_alltoall_init(const void *sendbuf, ctran_count_t sendcount,
                                 ctran_datatype_t sendtype, void *recvbuf, ctran_count_t recvcount,
                                 ctran_datatype_t recvtype, ctran_comm_t comm, ctran_info_t info,
                                 ctran_request_t *request)
{
    const struct ct_call how = prepared("ctran_neighbor_alltoall_init", comm, info, request);
    return ct_call_neighbor(&how, row(sendbuf, sendcount, sendtype),
                            row(recvbuf, recvcount, recvtype));
}

int ctran_neighbor_alltoallv_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                  const ctran_aint_t sdispls[], ctran_datatype_t sendtype,
                                  void *recvbuf, const ctran_count_t recvcounts[],
                                  const ctran_aint_t rdispls[], ctran_datatype_t recvtype,
                                  ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = prepared("ctran_neighbor_alltoallv_init", comm, info, request);
    return ct_call_neighbor(&how, counted(sendbuf, sendcounts, sdispls, sendtype),
                            counted(recvbuf, recvcounts, rdispls, recvtype));
}

int ctran_neighbor_alltoallw_init(const void *sendbuf, const ctran_count_t sendcounts[],
                                  const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                                  void *recvbuf, const ctran_count_t recvcounts[],
                                  const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[],
                                  ctran_comm_t comm, ctran_info_t info, ctran_request_t *request)
{
    const struct ct_call how = prepared("ctran_neighbor_alltoallw_init", comm, info, request);
    return ct_call_neighbor(&how, typed(sendbuf, sendcounts, sdispls, sendtypes),
                            typed(recvbuf, recvcounts, rdispls, recvtypes));
}
