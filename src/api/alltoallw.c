/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoallw: each block has a datatype of its own. Its bytes travel as those of alltoallv do: from
 * where they lie if no block has gaps and all is plain memory, else by way of a copy.
 */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/coll_call.h"

/* A buffer of the call. */
struct wide {
    struct ct_area  *areas;  /* where each block lies */
    struct ct_span  *spans;  /* and what it is */
    ctran_count_t   *bytes;  /* of each */
    ctran_aint_t    *displs; /* of what the collective is given */
    struct ct_copy   copy;   /* none: the user's own memory is used */
    bool             gaps;   /* in one of the blocks at least, or it is not plain */
    size_t           total;  /* bytes */
    struct ct_blocks blocks; /* what the collective is given */
};

struct alltoallw {
    struct ct_described d;
    bool                in_place;
    struct wide         send, recv;
};

static void wide_free(struct wide *w, uint32_t n)
{
    for (uint32_t r = 0; w->spans != NULL && r < n; r++) {
        if (w->spans[r].type != NULL) {
            ct_dtype_drop(w->spans[r].type);
        }
    }
    free(w->areas);
    free(w->spans);
    free(w->bytes);
    free(w->displs);
}

static void destroy(struct ct_described *d)
{
    struct alltoallw *a = CT_CONTAINER_OF(d, struct alltoallw, d);
    wide_free(&a->send, d->comm->run.n);
    wide_free(&a->recv, d->comm->run.n);
}

static int check_block(struct ct_comm *comm, const char *call, struct wide *w, uint32_t r,
                       const void *at, ctran_count_t count, ctran_datatype_t type)
{
    int rc = ct_check_placed(comm, call, at, count, type, &w->spans[r]);
    if (rc != CTRAN_SUCCESS) {
        w->spans[r].type = NULL; /* not held */
        return rc;
    }
    ct_dtype_hold(w->spans[r].type);
    if (__builtin_add_overflow(w->total, w->spans[r].bytes, &w->total) || w->total > PTRDIFF_MAX) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "the blocks together are more than memory can hold");
    }
    w->areas[r] = ct_span_area(comm->p, &w->spans[r]);
    w->bytes[r] = (ctran_count_t)w->spans[r].bytes;
    w->gaps = w->gaps || w->areas[r].pieces != NULL;
    return CTRAN_SUCCESS;
}

/* The arguments of one buffer. */
static int check_wide(const struct ct_call *how, struct ct_comm *comm, const void *buf,
                      const ctran_count_t *counts, const ctran_aint_t *displs,
                      const ctran_datatype_t *types, struct wide *w)
{
    const uint32_t n = comm->run.n;
    const char    *call = how->name;
    int            rc = CTRAN_SUCCESS;
    if (counts == NULL || displs == NULL || types == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "the array of %s is NULL",
                            counts == NULL   ? "counts"
                            : displs == NULL ? "displacements"
                                             : "datatypes");
    }
    if (buf == CTRAN_IN_PLACE) {
        return ct_api_raise(comm, CTRAN_ERR_BUFFER, call,
                            "recvbuf is CTRAN_IN_PLACE, which is not possible here");
    }
    w->areas = calloc(n, sizeof *w->areas);
    w->spans = calloc(n, sizeof *w->spans);
    w->bytes = calloc(n, sizeof *w->bytes);
    w->displs = calloc(n, sizeof *w->displs);
    if (w->areas == NULL || w->spans == NULL || w->bytes == NULL || w->displs == NULL) {
        ct_call_skip(how, comm);
        return ct_api_raise(comm, CTRAN_ERR_NO_MEM, call, "for %u blocks", n);
    }
    for (uint32_t r = 0; r < n && rc == CTRAN_SUCCESS; r++) {
        const void *at = (const void *)((uintptr_t)buf + (uintptr_t)displs[r]);
        rc = check_block(comm, call, w, r, at, counts[r], types[r]);
        if (rc == CTRAN_SUCCESS && buf == CTRAN_BOTTOM) {
            rc = ct_check_there(comm, call, &w->areas[r], r);
        }
    }
    return rc;
}

/* The message from a rank to itself has equal lengths as a send and as a receive; in other calls,
 * so do the two blocks of each other rank. */
static int check_pair(struct ct_comm *comm, const char *call, const struct wide *send,
                      const struct wide *recv)
{
    const uint32_t me = comm->run.me;
    int            rc = CTRAN_SUCCESS;
    if (send->bytes[me] != recv->bytes[me]) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "rank %u sends %" PRId64 " bytes to itself and receives %" PRId64
                            ": they must be equal",
                            me, send->bytes[me], recv->bytes[me]);
    }
    for (uint32_t r = 0; r < comm->run.n && rc == CTRAN_SUCCESS; r++) {
        rc = ct_check_disjoint(comm, call, &send->spans[r], &recv->spans[r]);
    }
    return rc;
}

/* Between the user's blocks and the copy. */
static bool transfer(const struct wide *w, uint32_t n, bool out)
{
    bool ok = true;
    for (uint32_t r = 0; w->copy.base != NULL && r < n && ok; r++) {
        size_t pos = 0, len = (size_t)w->bytes[r];
        char  *at = w->copy.base + w->displs[r];
        ok = out ? ct_area_gather_all(&w->areas[r], &pos, at, len)
                 : ct_area_scatter_all(&w->areas[r], &pos, at, len);
    }
    return ok;
}

/* The memory of a block that is not plain; NULL: all are. */
static const struct ct_memory *memory_of(const struct wide *w, uint32_t n)
{
    for (uint32_t r = 0; w->gaps && r < n; r++) {
        if (!ct_area_is_plain(&w->areas[r])) {
            return w->areas[r].memory;
        }
    }
    return NULL;
}

/* What the collective is given, of which a part is found out when it is described. */
static int wide_open(struct ct_described *d, struct wide *w, bool fill)
{
    const uint32_t n = d->comm->run.n;
    char          *base = NULL; /* where one of the blocks lies that are there */
    ctran_aint_t   at = 0;
    w->copy.base = NULL;
    if (w->gaps && !ct_copy_get(memory_of(w, n), w->total + 1, &w->copy)) {
        ct_run_skip(&d->comm->run); /* as the other ranks count it */
        ct_error(&d->comm->p->log, "%s: no memory for a copy, of %zu bytes", d->call, w->total);
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t r = 0; r < n; r++) {
        if (w->bytes[r] > 0) {
            base = base != NULL ? base : w->areas[r].base;
            w->displs[r] =
                w->gaps ? at : (ctran_aint_t)((uintptr_t)w->areas[r].base - (uintptr_t)base);
            at += (ctran_aint_t)w->bytes[r];
        }
    }
    w->blocks = (struct ct_blocks){w->gaps ? w->copy.base : base, 0, n, w->bytes, w->displs, 1};
    if (fill && !transfer(w, n, true)) {
        ct_run_skip(&d->comm->run);
        return CTRAN_ERR_BUFFER;
    }
    return CTRAN_SUCCESS;
}

static int close_both(struct ct_described *d, bool store)
{
    struct alltoallw *a = CT_CONTAINER_OF(d, struct alltoallw, d);
    bool              ok = !store || transfer(&a->recv, d->comm->run.n, false);
    ct_copy_put(&a->send.copy);
    ct_copy_put(&a->recv.copy);
    return ok ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

static int open_both(struct ct_described *d)
{
    struct alltoallw *a = CT_CONTAINER_OF(d, struct alltoallw, d);
    int               rc = a->in_place ? CTRAN_SUCCESS : wide_open(d, &a->send, true);
    rc = rc == CTRAN_SUCCESS ? wide_open(d, &a->recv, a->in_place) : rc;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_coll_alltoallv(&d->coll, a->in_place ? NULL : &a->send.blocks, &a->recv.blocks);
    }
    if (rc != CTRAN_SUCCESS) {
        (void)close_both(d, false);
    }
    return rc;
}

static int inter(const struct ct_call *how, struct ct_comm *comm, const struct ct_side *out,
                 const struct ct_side *in)
{
    if (out->types == NULL || in->types == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, how->name, "the array of datatypes is NULL");
    }
    return ct_inter_all(how, comm, out, in);
}

int ct_call_alltoallw(const struct ct_call *how, const void *sendbuf,
                      const ctran_count_t sendcounts[], const ctran_aint_t sdispls[],
                      const ctran_datatype_t sendtypes[], void *recvbuf,
                      const ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                      const ctran_datatype_t recvtypes[])
{
    static const struct ct_described_ops ops = {sizeof(struct alltoallw), open_both, close_both,
                                                destroy};
    struct alltoallw                     a = {.in_place = sendbuf == CTRAN_IN_PLACE};
    struct ct_comm                      *comm;
    int                                  rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf,
                                    .counts = sendcounts,
                                    .displs = sdispls,
                                    .types = sendtypes,
                                    .each = true,
                                    .by_counts = true};
        const struct ct_side in = {.buf = recvbuf,
                                   .counts = recvcounts,
                                   .displs = rdispls,
                                   .types = recvtypes,
                                   .each = true,
                                   .by_counts = true};
        return inter(how, comm, &out, &in);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_described_init(&a.d, how, comm, &ops);
    rc = check_wide(how, comm, recvbuf, recvcounts, rdispls, recvtypes, &a.recv);
    if (rc == CTRAN_SUCCESS && !a.in_place) {
        rc = check_wide(how, comm, sendbuf, sendcounts, sdispls, sendtypes, &a.send);
        rc = rc == CTRAN_SUCCESS ? check_pair(comm, how->name, &a.send, &a.recv) : rc;
    }
    if (rc != CTRAN_SUCCESS) {
        destroy(&a.d);
        return rc;
    }
    return ct_call_go(how, &a.d);
}
