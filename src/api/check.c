/* SPDX-License-Identifier: BSD-3-Clause */
/* Argument checks that several calls share. */
#define CT_FOLDER "api"
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/api.h"

int ct_check_comm(const char *call, ctran_comm_t handle, struct ct_comm **out)
{
    struct ct_process *p = ct_api_enter(call);
    if (CT_UNLIKELY(p == NULL)) {
        return CTRAN_ERR_OTHER;
    }
    *out = ct_comm_of(p, handle);
    if (CT_LIKELY(*out != NULL)) {
        return CTRAN_SUCCESS;
    }
    if (handle == CTRAN_COMM_WORLD || handle == CTRAN_COMM_SELF) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_COMM, call,
                            "CTRAN_COMM_WORLD and CTRAN_COMM_SELF exist from ctran_init to "
                            "ctran_finalize alone; a session has groups");
    }
    return ct_api_raise(ct_comm_self(p), CTRAN_ERR_COMM, call, "%s",
                        handle == CTRAN_COMM_NULL ? "it is CTRAN_COMM_NULL"
                                                  : "it was freed, or never was one");
}

int ct_check_comm_for(const char *call, ctran_comm_t handle, struct ct_comm **comm, const void *out,
                      const char *name)
{
    int rc = ct_check_comm(call, handle, comm);
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? ct_check_out(*comm, call, out, name) : rc;
}

int ct_check_self(const char *call, struct ct_comm **out)
{
    struct ct_process *p = ct_api_enter(call);
    *out = p != NULL ? ct_comm_self(p) : NULL;
    return p != NULL ? CTRAN_SUCCESS : CTRAN_ERR_OTHER;
}

int ct_check_intra(const char *call, ctran_comm_t handle, struct ct_comm **out)
{
    int rc = ct_check_comm(call, handle, out);
    if (CT_UNLIKELY(rc == CTRAN_SUCCESS && (*out)->remote != NULL)) {
        rc = ct_api_raise(*out, CTRAN_ERR_COMM, call,
                          "it is an inter-communicator, which this call does not take");
    }
    return rc;
}

int ct_check_topo(const char *call, ctran_comm_t handle, int kind, struct ct_comm **out)
{
    static const char *const names[] = {"Cartesian", "graph", "distributed graph"};
    int                      rc = ct_check_comm(call, handle, out);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_vtopo *topo = (*out)->topo;
    return topo != NULL && topo->kind == kind
               ? CTRAN_SUCCESS
               : ct_api_raise(*out, CTRAN_ERR_TOPOLOGY, call,
                              "the communicator has %s topology, a %s one is needed",
                              topo != NULL ? "another" : "no", names[kind - CTRAN_CART]);
}

int ct_check_type(struct ct_comm *comm, const char *call, ctran_datatype_t datatype,
                  const struct ct_dtype **out)
{
    const struct ct_dtype *type = ct_dtype_get(datatype);
    if (CT_UNLIKELY(type == NULL)) {
        return ct_api_raise(comm, CTRAN_ERR_TYPE, call, "%s",
                            datatype == CTRAN_DATATYPE_NULL
                                ? "it is CTRAN_DATATYPE_NULL"
                                : "it is no datatype, or one that was freed");
    }
    *out = type;
    return CTRAN_SUCCESS;
}

/* A derived type may be what all elements together do not fit into memory with, and may have been
 * made without being committed. */
static int check_derived(struct ct_comm *comm, const char *call, ctran_count_t count,
                         const struct ct_dtype *type)
{
    ptrdiff_t reach;
    if (!type->committed) {
        return ct_api_raise(comm, CTRAN_ERR_TYPE, call,
                            "the datatype %s was not committed: see ctran_type_commit", type->name);
    }
    if (__builtin_mul_overflow(count, type->extent_bytes, &reach) ||
        __builtin_add_overflow(reach, type->true_extent_bytes, &reach)) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "%" PRId64 " elements, %td bytes apart, are more than memory can hold",
                            count, type->extent_bytes);
    }
    return CTRAN_SUCCESS;
}

int ct_check_count_slowly(struct ct_comm *comm, const char *call, ctran_count_t count,
                          const struct ct_span *span)
{
    if (count < 0) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call, "count is %" PRId64 ", must be >= 0",
                            count);
    }
    size_t bytes;
    if (__builtin_mul_overflow(span->count, span->type->size_bytes, &bytes)) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "%" PRId64 " elements of %zu bytes are more than memory can hold",
                            count, span->type->size_bytes);
    }
    return check_derived(comm, call, count, span->type);
}

/* No data lie in the first page. */
bool ct_type_is_absolute(const struct ct_dtype *type)
{
    enum { FIRST_PAGE = 4096 };
    return type->scalar == CT_SCALAR_DERIVED && (uintptr_t)type->true_lb_bytes >= FIRST_PAGE;
}

int ct_check_no_buffer(struct ct_comm *comm, const char *call, const void *buf,
                       const struct ct_span *span)
{
    return buf == CTRAN_BOTTOM && ct_type_is_absolute(span->type)
               ? CTRAN_SUCCESS
               : ct_api_raise(comm, CTRAN_ERR_BUFFER, call, "a buffer for %zu elements is %s",
                              span->count,
                              buf == NULL ? "NULL, and their datatype has no absolute addresses"
                                          : "CTRAN_IN_PLACE, which is not possible here");
}

int ct_check_there(struct ct_comm *comm, const char *call, const struct ct_area *area, uint32_t r)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct iovec    first;
    unsigned        n = 0;
    size_t          pos = 0;
    unsigned char   in_core;
    if (area->len_bytes == 0 || !ct_area_is_plain(area) ||
        ct_area_next(area, &pos, 1, &first, 1, &n) == 0) {
        return CTRAN_SUCCESS;
    }
    void *at = (void *)((uintptr_t)first.iov_base & ~(page - 1));
    if (mincore(at, page, &in_core) == 0 || errno != ENOMEM) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_BUFFER, call,
                        "a buffer is NULL, and with its displacement as an address block %u is at "
                        "%p, where there is no memory",
                        r, first.iov_base);
}

/* Where the data of a span lie, from the first byte to behind the last. */
static void reach_of(const struct ct_span *span, uintptr_t *first, uintptr_t *end)
{
    const struct ct_dtype *type = span->type;
    const ptrdiff_t        last = (ptrdiff_t)(span->count - 1) * type->extent_bytes;
    *first = (uintptr_t)span->buf + (uintptr_t)type->true_lb_bytes;
    *end = *first + (uintptr_t)type->true_extent_bytes;
    *first += (uintptr_t)(last < 0 ? last : 0);
    *end += (uintptr_t)(last > 0 ? last : 0);
}

int ct_check_disjoint(struct ct_comm *comm, const char *call, const struct ct_span *a,
                      const struct ct_span *b)
{
    uintptr_t a_first, a_end, b_first, b_end;
    if (a->bytes == 0 || b->bytes == 0) {
        return CTRAN_SUCCESS;
    }
    reach_of(a, &a_first, &a_end);
    reach_of(b, &b_first, &b_end);
    if (CT_LIKELY(a_end <= b_first || b_end <= a_first)) {
        return CTRAN_SUCCESS;
    }
    const bool same = a->buf == b->buf && a->type == b->type;
    if (!same && !(a->type->contiguous && b->type->contiguous)) {
        return CTRAN_SUCCESS; /* the elements of one may lie in the gaps of the other */
    }
    return ct_api_raise(comm, CTRAN_ERR_BUFFER, call,
                        "the buffers overlap: use CTRAN_IN_PLACE where the call takes it");
}

int ct_check_op(struct ct_comm *comm, const char *call, ctran_op_t handle,
                const struct ct_dtype *type, const struct ct_op **out)
{
    int rc = ct_check_op_handle(comm, call, handle, out);
    if (rc != CTRAN_SUCCESS || (*out)->user != NULL) {
        return rc;
    }
    if ((*out)->rma_only) {
        return ct_api_raise(comm, CTRAN_ERR_OP, call,
                            "%s is for accumulation in windows only (MPI-4.1 sec. 12.3.4)",
                            (*out)->name);
    }
    if (ct_op_kernel(*out, type) == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_OP, call,
                            "%s is not defined for %s%s (MPI-4.1 sec. 6.9.2)", (*out)->name,
                            type->scalar == CT_SCALAR_DERIVED ? "a derived datatype " : "",
                            type->name);
    }
    return CTRAN_SUCCESS;
}

int ct_check_root(struct ct_comm *comm, const char *call, int root)
{
    if (CT_LIKELY(root >= 0 && (uint32_t)root < comm->run.n)) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_ROOT, call,
                        "root is %d, the communicator has ranks 0 to %u", root, comm->run.n - 1);
}

int ct_check_blocks(struct ct_comm *comm, const char *call, struct ct_span *block)
{
    ctran_count_t  count;
    struct ct_span all = {0};
    if (__builtin_mul_overflow((ctran_count_t)block->count, comm->run.n, &count)) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "%u blocks of %zu elements are more than memory can hold", comm->run.n,
                            block->count);
    }
    int rc = ct_check_count(comm, call, count, ct_dtype_handle(block->type), &all);
    return rc != CTRAN_SUCCESS || all.bytes <= PTRDIFF_MAX
               ? rc
               : ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                              "%u blocks of %zu bytes are more than memory can hold", comm->run.n,
                              block->bytes);
}

int ct_check_counts(struct ct_comm *comm, const char *call, const ctran_count_t *counts,
                    ctran_datatype_t datatype, struct ct_span *out)
{
    ctran_count_t total = 0;
    if (counts == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "the array of counts is NULL");
    }
    for (uint32_t r = 0; r < comm->run.n; r++) {
        int rc = ct_check_count(comm, call, counts[r], datatype, out);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        if (__builtin_add_overflow(total, counts[r], &total)) {
            return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                                "the counts together are more than memory can hold");
        }
    }
    return ct_check_count(comm, call, total, datatype, out);
}
