/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective calls of neighbours, each in its three forms (coll_forms.h). */
#define CT_FOLDER "api"
#include "api/coll_forms.h"

/* ---- buffers --------------------------------------------------------------------------------- */

/* One block, which goes to all neighbours. */
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

/* ---- the calls ------------------------------------------------------------------------------- */

CT_COLL_FORMS(neighbor_allgather,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, ),
              ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                               row(recvbuf, recvcount, recvtype)))

CT_COLL_FORMS(neighbor_allgatherv,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, const ctran_count_t recvcounts[],
                        const ctran_aint_t displs[], ctran_datatype_t recvtype, ),
              ct_call_neighbor(&how, one(sendbuf, sendcount, sendtype),
                               counted(recvbuf, recvcounts, displs, recvtype)))

CT_COLL_FORMS(neighbor_alltoall,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, ),
              ct_call_neighbor(&how, row(sendbuf, sendcount, sendtype),
                               row(recvbuf, recvcount, recvtype)))

CT_COLL_FORMS(neighbor_alltoallv,
              CT_PARAMS(const void *sendbuf, const ctran_count_t sendcounts[],
                        const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                        const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                        ctran_datatype_t recvtype, ),
              ct_call_neighbor(&how, counted(sendbuf, sendcounts, sdispls, sendtype),
                               counted(recvbuf, recvcounts, rdispls, recvtype)))

CT_COLL_FORMS(neighbor_alltoallw,
              CT_PARAMS(const void *sendbuf, const ctran_count_t sendcounts[],
                        const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                        void *recvbuf, const ctran_count_t recvcounts[],
                        const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[], ),
              ct_call_neighbor(&how, typed(sendbuf, sendcounts, sdispls, sendtypes),
                               typed(recvbuf, recvcounts, rdispls, recvtypes)))
