/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies without gaps, or in plain memory; see dense.h. */
#define CT_FOLDER "api"
#include "api/dense.h"

#include <stdlib.h>

/* ---- copies ---------------------------------------------------------------------------------- */

bool ct_copy_get(const struct ct_memory *memory, size_t len_bytes, struct ct_copy *copy)
{
    *copy = (struct ct_copy){.len_bytes = len_bytes, .memory = memory};
    if (memory == NULL) {
        copy->base = calloc(1, len_bytes);
    } else {
        copy->base = memory->stage_get(memory, len_bytes);
    }
    return copy->base != NULL;
}

void ct_copy_put(struct ct_copy *copy)
{
    if (copy->base != NULL && copy->memory != NULL) {
        copy->memory->stage_put(copy->memory, copy->base, copy->len_bytes);
    } else {
        free(copy->base);
    }
    copy->base = NULL;
}

static int no_memory(struct ct_comm *comm, const char *call, size_t bytes)
{
    ct_run_skip(&comm->run);
    ct_error(&comm->p->log,
             "%s: no memory for a copy, of %zu bytes, of a buffer of a derived datatype or in "
             "a device's memory",
             call, bytes);
    return CTRAN_ERR_NO_MEM;
}

static int unreadable(struct ct_comm *comm)
{
    ct_run_skip(&comm->run);
    return CTRAN_ERR_BUFFER;
}

/* A copy of `bytes`, zeros where no element is; d->user is set. */
static int take_copy(struct ct_comm *comm, const char *call, size_t bytes, struct ct_dense *d)
{
    const struct ct_memory *memory = ct_area_is_plain(&d->user) ? NULL : d->user.memory;
    bool                    got = ct_copy_get(memory, bytes, &d->copy);
    d->base = d->copy.base;
    if (got && memory != NULL && bytes > d->user.len_bytes) {
        memset(d->base, 0, bytes);
    }
    return got ? CTRAN_SUCCESS : no_memory(comm, call, bytes);
}

/* d->here is set. */
static int fill_copy(struct ct_comm *comm, struct ct_dense *d)
{
    if (ct_area_transfer(&d->here, &d->user)) {
        return CTRAN_SUCCESS;
    }
    ct_copy_put(&d->copy);
    return unreadable(comm);
}

/* ---- one block ------------------------------------------------------------------------------- */

int ct_dense_open(struct ct_comm *comm, const char *call, const void *buf, size_t count,
                  const struct ct_dtype *type, bool fill, struct ct_dense *d)
{
    ct_dense_none(d);
    if (count * type->size_bytes == 0) {
        return CTRAN_SUCCESS;
    }
    if (CT_LIKELY(comm->p->memory_of == NULL && type->scalar != CT_SCALAR_DERIVED &&
                  type->contiguous)) {
        d->base = (char *)buf;
        return CTRAN_SUCCESS;
    }
    const struct ct_span span = {.buf = (void *)buf, .count = count, .type = type};
    d->user = ct_span_area(comm->p, &span);
    if (d->user.pieces == NULL) {
        d->base = d->user.base;
        return CTRAN_SUCCESS;
    }
    int rc = take_copy(comm, call, d->user.len_bytes, d);
    d->here = (struct ct_area){.base = d->copy.base, .len_bytes = d->user.len_bytes};
    return rc == CTRAN_SUCCESS && fill ? fill_copy(comm, d) : rc;
}

/* Elements that lie in one another. */
static int cannot_reduce(struct ct_comm *comm, const char *call, const struct ct_dtype *type)
{
    comm->run.seq++;
    ct_error(&comm->p->log,
             "%s: elements of this type lie in one another (extent %td, data %td bytes): they "
             "cannot be reduced",
             call, type->extent_bytes, type->true_extent_bytes);
    return CTRAN_ERR_TYPE;
}

int ct_dense_open_elements(struct ct_comm *comm, const char *call, const void *buf, size_t count,
                           const struct ct_dtype *type, bool fill, struct ct_dense *d)
{
    ct_dense_none(d);
    d->base = count > 0 ? (char *)buf : NULL;
    if ((type->scalar != CT_SCALAR_DERIVED && CT_LIKELY(comm->p->memory_of == NULL)) ||
        count == 0) {
        return CTRAN_SUCCESS;
    }
    const struct ct_span span = {.buf = (void *)buf, .count = count, .type = type};
    d->user = ct_span_area(comm->p, &span);
    if (ct_area_is_plain(&d->user) && (type->scalar != CT_SCALAR_DERIVED || type->contiguous)) {
        d->base = type->contiguous ? d->user.base : d->base;
        return CTRAN_SUCCESS;
    }
    if (type->extent_bytes < type->true_extent_bytes) {
        return cannot_reduce(comm, call, type);
    }
    int rc = take_copy(comm, call, count * (size_t)type->extent_bytes, d);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    uintptr_t first = (uintptr_t)d->copy.base - (uintptr_t)type->true_lb_bytes;
    d->here = ct_dtype_area(type, (void *)first, count);
    return fill ? fill_copy(comm, d) : rc;
}

int ct_dense_open_copy(struct ct_comm *comm, const char *call, const struct ct_span *span,
                       bool fill, struct ct_dense *d)
{
    const struct ct_dtype *type = span->type;
    *d = (struct ct_dense){.base = span->buf, .user = ct_span_area(comm->p, span)};
    if (ct_area_is_plain(&d->user)) {
        return CTRAN_SUCCESS;
    }
    const ptrdiff_t last = (ptrdiff_t)(span->count - 1) * type->extent_bytes;
    const ptrdiff_t first = type->true_lb_bytes + (last < 0 ? last : 0);
    const size_t    reach = (size_t)type->true_extent_bytes + (size_t)(last < 0 ? -last : last);
    int             rc = take_copy(comm, call, reach, d);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    d->base = (char *)((uintptr_t)d->copy.base - (uintptr_t)first);
    d->here = ct_dtype_area(type, d->base, span->count);
    return fill ? fill_copy(comm, d) : rc;
}

int ct_dense_close(struct ct_dense *d, bool store)
{
    bool ok = d->copy.base == NULL || !store || ct_area_transfer(&d->user, &d->here);
    ct_copy_put(&d->copy);
    return ok ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}

int ct_dense_open_reduction(struct ct_comm *comm, const char *call, const void *send, size_t nsend,
                            void *recv, size_t nrecv, const struct ct_dtype *type, bool keep,
                            struct ct_dense_ends *e)
{
    const bool in_place = send == CTRAN_IN_PLACE;
    int rc = ct_dense_open_elements(comm, call, send, in_place ? 0 : nsend, type, true, &e->in);
    if (rc == CTRAN_SUCCESS) {
        e->in.base = in_place ? (char *)CTRAN_IN_PLACE : e->in.base;
        rc = ct_dense_open_elements(comm, call, recv, nrecv, type, keep || in_place, &e->out);
        if (rc != CTRAN_SUCCESS) {
            (void)ct_dense_close(&e->in, false);
        }
    }
    return rc;
}

int ct_dense_close_reduction(struct ct_dense_ends *e, bool store)
{
    (void)ct_dense_close(&e->in, false);
    return ct_dense_close(&e->out, store);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static struct ct_area user_block(const struct ct_dense_blocks *d, uint32_t i)
{
    ptrdiff_t      at = d->user.displs[i] * d->type->extent_bytes;
    void          *buf = (void *)((uintptr_t)d->user.base + (uintptr_t)at);
    struct ct_area area = ct_dtype_area(d->type, buf, (size_t)d->user.counts[i]);
    ct_area_set_memory(&area, d->copy.memory);
    return area;
}

/* All blocks, out of the user's memory or back into it. */
static bool transfer_blocks(const struct ct_dense_blocks *d, bool out)
{
    bool ok = true;
    for (uint32_t i = 0; i < d->user.held && ok; i++) {
        struct ct_area area = user_block(d, i);
        char          *at = d->copy.base + d->displs[i] * (ptrdiff_t)d->type->size_bytes;
        size_t         pos = 0;
        ok = out ? ct_area_gather_all(&area, &pos, at, area.len_bytes)
                 : ct_area_scatter_all(&area, &pos, at, area.len_bytes);
    }
    return ok;
}

/* The memory of the first block that there is: all are in one buffer. */
static const struct ct_memory *memory_of(struct ct_process *p, const struct ct_blocks *user,
                                         const struct ct_dtype *type)
{
    for (uint32_t i = 0; i < user->held && CT_UNLIKELY(p->memory_of != NULL); i++) {
        if (user->counts[i] > 0 && type->size_bytes > 0) {
            const uintptr_t at = (uintptr_t)(user->displs[i] * type->extent_bytes);
            return p->memory_of(
                p, (void *)((uintptr_t)user->base + at + (uintptr_t)type->true_lb_bytes));
        }
    }
    return NULL;
}

int ct_dense_open_blocks(struct ct_comm *comm, const char *call, const struct ct_blocks *user,
                         const struct ct_dtype *type, bool fill, struct ct_dense_blocks *d)
{
    *d = (struct ct_dense_blocks){.type = type};
    if (user == NULL) {
        return CTRAN_SUCCESS;
    }
    const struct ct_memory *memory = memory_of(comm->p, user, type);
    d->user = d->blocks = *user;
    d->blocks.unit_elems = type->size_bytes;
    if (type->contiguous && CT_LIKELY(memory == NULL)) {
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
    if (!ct_copy_get(memory, bytes + 1, &d->copy) || d->displs == NULL) {
        (void)ct_dense_close_blocks(d, false);
        return no_memory(comm, call, bytes);
    }
    d->blocks.base = d->copy.base;
    d->blocks.displs = d->displs;
    if (fill && !transfer_blocks(d, true)) {
        (void)ct_dense_close_blocks(d, false);
        return unreadable(comm);
    }
    return CTRAN_SUCCESS;
}

int ct_dense_close_blocks(struct ct_dense_blocks *d, bool store)
{
    bool ok = d->copy.base == NULL || !store || transfer_blocks(d, false);
    ct_copy_put(&d->copy);
    free(d->displs);
    d->displs = NULL;
    return ok ? CTRAN_SUCCESS : CTRAN_ERR_BUFFER;
}
