/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * as_request - programs of blocking collectives as programs of nonblocking ones, or with
 * AS_PERSISTENT of persistent ones: each call begins one and waits for it. Included ahead of a
 * program's sources (-include), so that what is tested of the blocking calls, arguments in error
 * among it, is tested of the others.
 */
#ifndef CT_TESTS_FUNC_AS_REQUEST_H
#define CT_TESTS_FUNC_AS_REQUEST_H

#include "ctran.h"

static inline int as_waited(int rc, ctran_request_t *r)
{
    return rc == CTRAN_SUCCESS ? ctran_wait(r, CTRAN_STATUS_IGNORE) : rc;
}

static inline int as_started(int rc, ctran_request_t *r)
{
    if (rc == CTRAN_SUCCESS) {
        rc = as_waited(ctran_start(r), r);
        const int err = ctran_request_free(r);
        rc = rc == CTRAN_SUCCESS ? err : rc;
    }
    return rc;
}

#ifdef AS_PERSISTENT
#define AS(name, ...)                                                                              \
    __extension__({                                                                                \
        ctran_request_t as_r_ = CTRAN_REQUEST_NULL;                                                \
        as_started(ctran_##name##_init(__VA_ARGS__, CTRAN_INFO_NULL, &as_r_), &as_r_);             \
    })
#else
#define AS(name, ...)                                                                              \
    __extension__({                                                                                \
        ctran_request_t as_r_ = CTRAN_REQUEST_NULL;                                                \
        as_waited(ctran_i##name(__VA_ARGS__, &as_r_), &as_r_);                                     \
    })
#endif

#define ctran_barrier(...)              AS(barrier, __VA_ARGS__)
#define ctran_bcast(...)                AS(bcast, __VA_ARGS__)
#define ctran_reduce(...)               AS(reduce, __VA_ARGS__)
#define ctran_allreduce(...)            AS(allreduce, __VA_ARGS__)
#define ctran_scan(...)                 AS(scan, __VA_ARGS__)
#define ctran_exscan(...)               AS(exscan, __VA_ARGS__)
#define ctran_allgather(...)            AS(allgather, __VA_ARGS__)
#define ctran_gather(...)               AS(gather, __VA_ARGS__)
#define ctran_scatter(...)              AS(scatter, __VA_ARGS__)
#define ctran_alltoall(...)             AS(alltoall, __VA_ARGS__)
#define ctran_allgatherv(...)           AS(allgatherv, __VA_ARGS__)
#define ctran_gatherv(...)              AS(gatherv, __VA_ARGS__)
#define ctran_scatterv(...)             AS(scatterv, __VA_ARGS__)
#define ctran_alltoallv(...)            AS(alltoallv, __VA_ARGS__)
#define ctran_alltoallw(...)            AS(alltoallw, __VA_ARGS__)
#define ctran_reduce_scatter_block(...) AS(reduce_scatter_block, __VA_ARGS__)
#define ctran_reduce_scatter(...)       AS(reduce_scatter, __VA_ARGS__)
#define ctran_neighbor_allgather(...)   AS(neighbor_allgather, __VA_ARGS__)
#define ctran_neighbor_allgatherv(...)  AS(neighbor_allgatherv, __VA_ARGS__)
#define ctran_neighbor_alltoall(...)    AS(neighbor_alltoall, __VA_ARGS__)
#define ctran_neighbor_alltoallv(...)   AS(neighbor_alltoallv, __VA_ARGS__)
#define ctran_neighbor_alltoallw(...)   AS(neighbor_alltoallw, __VA_ARGS__)

#endif
