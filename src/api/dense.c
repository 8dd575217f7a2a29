/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies without gaps; see dense.h. */
#define CT_FOLDER "api"
#include "api/dense.h"

#include <stdlib.h>

/* From one area to another of the same length, by way of a small buffer. */
static void transfer(const struct ct_area *to, const struct ct_area *from)
{
    char   flat[16384];
    size_t in = 0, out = 0, n;
    while ((n = ct_area_gather(from, &in, flat, sizeof flat)) > 0) {
        ct_area_scatter(to, &out, flat, n);
    }
}

static int no_memory(struct ct_comm *comm, const char *call, size_t bytes)
{
    ct_run_skip(&comm->run);
    ct_error(&comm->p->log,
             "%s: no memory for a copy without gaps, of %zu bytes, of a buffer of a derived "
             "datatype",
             call, bytes);
    return CTRAN_ERR_NO_MEM;
}

/* A copy of `bytes`, zeros where no element is; d->user is set. */
static int take_copy(struct ct_comm *comm, const char *call, size_t bytes, struct ct_dense *d)
{
    d->copy = calloc(1, bytes);
    d->base = d->copy;
    return d->copy != NULL ? CTRAN_SUCCESS : no_memory(comm, call, bytes);
}

int ct_dense_open(struct ct_comm *comm, const char *call, const void *buf, size_t count,
                  const struct ct_dtype *type, bool fill, struct ct_dense *d)
{
    ct_dense_none(d);
    if (count * type->size_bytes == 0) {
        return CTRAN_SUCCESS;
    }
    if (CT_LIKELY(type->scalar != CT_SCALAR_DERIVED && type->contiguous)) {
        d->base = (char *)buf;
        return CTRAN_SUCCESS;
    }
    d->user = ct_dtype_area(type, (void *)buf, count);
    if (d->user.pieces == NULL) {
        d->base = d->user.base;
        return CTRAN_SUCCESS;
    }
    int rc = take_copy(comm, call, d->user.len_bytes, d);
    d->here = (struct ct_area){.base = d->copy, .len_bytes = d->user.len_bytes};
    if (rc == CTRAN_SUCCESS && fill) {
        transfer(&d->here, &d->user);
    }
    return rc;
}

int ct_dense_open_elements(struct ct_comm *comm, const char *call, const void *buf, size_t count,
                           const struct ct_dtype *type, bool fill, struct ct_dense *d)
{
    d->base = (char *)buf;
    d->copy = NULL;
    if (type->scalar != CT_SCALAR_DERIVED || buf == NULL || count == 0) {
        return CTRAN_SUCCESS;
    }
    d->user = ct_dtype_area(type, (void *)buf, count);
    if (type->contiguous) {
        d->base = d->user.base;
        return CTRAN_SUCCESS;
    }
    if (type->extent_bytes < type->true_extent_bytes) {
        comm->run.seq++;
        ct_error(&comm->p->log,
                 "%s: elements of this type lie in one another (extent %td, data %td bytes): they "
                 "cannot be reduced",
                 call, type->extent_bytes, type->true_extent_bytes);
        return CTRAN_ERR_TYPE;
    }
    int rc = take_copy(comm, call, count * (size_t)type->extent_bytes, d);
    if (rc == CTRAN_SUCCESS) {
        uintptr_t first = (uintptr_t)d->copy - (uintptr_t)type->true_lb_bytes;
        d->here = ct_dtype_area(type, (void *)first, count);
        if (fill) {
            transfer(&d->here, &d->user);
        }
    }
    return rc;
}

void ct_dense_close(struct ct_dense *d, bool store)
{
    if (d->copy != NULL && store) {
        transfer(&d->user, &d->here);
    }
    free(d->copy);
}

int ct_dense_open_reduction(struct ct_comm *comm, const char *call, const void *send, size_t nsend,
                            void *recv, size_t nrecv, const struct ct_dtype *type, bool keep,
                            struct ct_dense_ends *e)
{
    int rc = ct_dense_open_elements(comm, call, send, nsend, type, true, &e->in);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_dense_open_elements(comm, call, recv, nrecv, type, keep || send == NULL, &e->out);
        if (rc != CTRAN_SUCCESS) {
            ct_dense_close(&e->in, false);
        }
    }
    return rc;
}

void ct_dense_close_reduction(struct ct_dense_ends *e, bool store)
{
    ct_dense_close(&e->in, false);
    ct_dense_close(&e->out, store);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static struct ct_area user_block(const struct ct_dense_blocks *d, uint32_t i)
{
    ptrdiff_t at = d->user.displs[i] * d->type->extent_bytes;
    void     *buf = (void *)((uintptr_t)d->user.base + (uintptr_t)at);
    return ct_dtype_area(d->type, buf, (size_t)d->user.counts[i]);
}

/* All blocks, out of the user's memory or back into it. */
static void transfer_blocks(const struct ct_dense_blocks *d, bool out)
{
    for (uint32_t i = 0; i < d->user.held; i++) {
        struct ct_area area = user_block(d, i);
        char          *at = d->copy + d->displs[i] * (ptrdiff_t)d->type->size_bytes;
        size_t         pos = 0;
        if (out) {
            ct_area_gather(&area, &pos, at, area.len_bytes);
        } else {
            ct_area_scatter(&area, &pos, at, area.len_bytes);
        }
    }
}

int ct_dense_open_blocks(struct ct_comm *comm, const char *call, const struct ct_blocks *user,
                         const struct ct_dtype *type, bool fill, struct ct_dense_blocks *d)
{
    *d = (struct ct_dense_blocks){.type = type};
    if (user == NULL) {
        return CTRAN_SUCCESS;
    }
    d->user = d->blocks = *user;
    d->blocks.unit_elems = type->size_bytes;
    if (type->contiguous) {
        d->blocks.base = (char *)((uintptr_t)user->base + (uintptr_t)type->true_lb_bytes);
        return CTRAN_SUCCESS;
    }
    ctran_aint_t total = 0;
    d->displs = malloc(user->held * sizeof *d->displs);
    for (uint32_t i = 0; d->displs != NULL && i < user->held; i++) {
        d->displs[i] = total;
        total += user->counts[i];
    }
    size_t bytes = (size_t)total * type->size_bytes;
    d->copy = malloc(bytes + 1);
    if (d->displs == NULL || d->copy == NULL) {
        ct_dense_close_blocks(d, false);
        return no_memory(comm, call, bytes);
    }
    d->blocks.base = d->copy;
    d->blocks.displs = d->displs;
    if (fill) {
        transfer_blocks(d, true);
    }
    return CTRAN_SUCCESS;
}

void ct_dense_close_blocks(struct ct_dense_blocks *d, bool store)
{
    if (d->copy != NULL && store) {
        transfer_blocks(d, false);
    }
    free(d->copy);
    free(d->displs);
    d->copy = NULL;
    d->displs = NULL;
}
