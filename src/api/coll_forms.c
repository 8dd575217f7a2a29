/* SPDX-License-Identifier: BSD-3-Clause */
/* The collective calls of a communicator, each in its three forms (coll_forms.h). */
#define CT_FOLDER "api"
#include "api/coll_forms.h"

CT_COLL_FORMS(barrier, CT_PARAMS(), ct_call_barrier(&how))

CT_COLL_FORMS(bcast,
              CT_PARAMS(void *buffer, ctran_count_t count, ctran_datatype_t datatype, int root, ),
              ct_call_bcast(&how, buffer, count, datatype, root))

CT_COLL_FORMS(reduce,
              CT_PARAMS(const void *sendbuf, void *recvbuf, ctran_count_t count,
                        ctran_datatype_t datatype, ctran_op_t op, int root, ),
              ct_call_reduce(&how, sendbuf, recvbuf, count, datatype, op, root))

CT_COLL_FORMS(allreduce,
              CT_PARAMS(const void *sendbuf, void *recvbuf, ctran_count_t count,
                        ctran_datatype_t datatype, ctran_op_t op, ),
              ct_call_allreduce(&how, sendbuf, recvbuf, count, datatype, op))

CT_COLL_FORMS(scan,
              CT_PARAMS(const void *sendbuf, void *recvbuf, ctran_count_t count,
                        ctran_datatype_t datatype, ctran_op_t op, ),
              ct_call_scan(&how, false, sendbuf, recvbuf, count, datatype, op))

CT_COLL_FORMS(exscan,
              CT_PARAMS(const void *sendbuf, void *recvbuf, ctran_count_t count,
                        ctran_datatype_t datatype, ctran_op_t op, ),
              ct_call_scan(&how, true, sendbuf, recvbuf, count, datatype, op))

CT_COLL_FORMS(allgather,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, ),
              ct_call_allgather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

CT_COLL_FORMS(gather,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                        int root, ),
              ct_call_gather(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                             root))

CT_COLL_FORMS(scatter,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                        int root, ),
              ct_call_scatter(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                              root))

CT_COLL_FORMS(alltoall,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, ),
              ct_call_alltoall(&how, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

CT_COLL_FORMS(allgatherv,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, const ctran_count_t recvcounts[],
                        const ctran_aint_t displs[], ctran_datatype_t recvtype, ),
              ct_call_allgatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype))

CT_COLL_FORMS(gatherv,
              CT_PARAMS(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                        void *recvbuf, const ctran_count_t recvcounts[],
                        const ctran_aint_t displs[], ctran_datatype_t recvtype, int root, ),
              ct_call_gatherv(&how, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                              recvtype, root))

CT_COLL_FORMS(scatterv,
              CT_PARAMS(const void *sendbuf, const ctran_count_t sendcounts[],
                        const ctran_aint_t displs[], ctran_datatype_t sendtype, void *recvbuf,
                        ctran_count_t recvcount, ctran_datatype_t recvtype, int root, ),
              ct_call_scatterv(&how, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                               recvtype, root))

CT_COLL_FORMS(alltoallv,
              CT_PARAMS(const void *sendbuf, const ctran_count_t sendcounts[],
                        const ctran_aint_t sdispls[], ctran_datatype_t sendtype, void *recvbuf,
                        const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                        ctran_datatype_t recvtype, ),
              ct_call_alltoallv(&how, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype))

CT_COLL_FORMS(alltoallw,
              CT_PARAMS(const void *sendbuf, const ctran_count_t sendcounts[],
                        const ctran_aint_t sdispls[], const ctran_datatype_t sendtypes[],
                        void *recvbuf, const ctran_count_t recvcounts[],
                        const ctran_aint_t rdispls[], const ctran_datatype_t recvtypes[], ),
              ct_call_alltoallw(&how, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes))

CT_COLL_FORMS(reduce_scatter_block,
              CT_PARAMS(const void *sendbuf, void *recvbuf, ctran_count_t recvcount,
                        ctran_datatype_t datatype, ctran_op_t op, ),
              ct_call_reduce_scatter_block(&how, sendbuf, recvbuf, recvcount, datatype, op))

CT_COLL_FORMS(reduce_scatter,
              CT_PARAMS(const void *sendbuf, void *recvbuf, const ctran_count_t recvcounts[],
                        ctran_datatype_t datatype, ctran_op_t op, ),
              ct_call_reduce_scatter(&how, sendbuf, recvbuf, recvcounts, datatype, op))
