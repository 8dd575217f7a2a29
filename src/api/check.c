/* SPDX-License-Identifier: BSD-3-Clause */
/* Argument checks that several calls share. */
#define CT_FOLDER "api"
#include <inttypes.h>

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
    return ct_api_raise(ct_comm_self(p), CTRAN_ERR_COMM, call, "%s",
                        handle == CTRAN_COMM_NULL ? "it is CTRAN_COMM_NULL"
                                                  : "it was freed, or never was one");
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
    const struct ct_topo *topo = (*out)->topo;
    return topo != NULL && topo->kind == kind
               ? CTRAN_SUCCESS
               : ct_api_raise(*out, CTRAN_ERR_TOPOLOGY, call,
                              "the communicator has %s topology, a %s one is needed",
                              topo != NULL ? "another" : "no", names[kind - CTRAN_CART]);
}

int ct_check_count(struct ct_comm *comm, const char *call, ctran_count_t count,
                   ctran_datatype_t datatype, struct ct_span *out)
{
    const struct ct_dtype *type = ct_dtype_get(datatype);
    if (CT_UNLIKELY(count < 0)) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call, "count is %" PRId64 ", must be >= 0",
                            count);
    }
    if (CT_UNLIKELY(type == NULL)) {
        return ct_api_raise(comm, CTRAN_ERR_TYPE, call, "%s",
                            datatype == CTRAN_DATATYPE_NULL ? "it is CTRAN_DATATYPE_NULL"
                                                            : "it is no predefined datatype");
    }
    out->buf = NULL;
    out->type = type;
    out->count = (size_t)count;
    if (CT_UNLIKELY(__builtin_mul_overflow(out->count, type->extent_bytes, &out->bytes))) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "%" PRId64 " elements of %zu bytes are more than memory can hold",
                            count, (size_t)type->extent_bytes);
    }
    return CTRAN_SUCCESS;
}

int ct_check_span(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t count,
                  ctran_datatype_t datatype, struct ct_span *out)
{
    int rc = ct_check_count(comm, call, count, datatype, out);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_UNLIKELY(count > 0 && (buf == NULL || buf == CTRAN_IN_PLACE))) {
        return ct_api_raise(comm, CTRAN_ERR_BUFFER, call, "a buffer for %" PRId64 " elements is %s",
                            count,
                            buf == NULL ? "NULL" : "CTRAN_IN_PLACE, which is not possible here");
    }
    out->buf = (void *)buf;
    return CTRAN_SUCCESS;
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
                            "%s is not defined for %s (MPI-4.1 sec. 6.9.2)", (*out)->name,
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

int ct_check_blocks(struct ct_comm *comm, const char *call, const struct ct_span *block)
{
    size_t total;
    if (!__builtin_mul_overflow(block->bytes, comm->run.n, &total) && total <= PTRDIFF_MAX) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
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
