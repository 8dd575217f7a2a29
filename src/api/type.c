/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: their life, what they measure, and what of them a status has. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/api.h"

int ct_check_own_type(const char *call, ctran_datatype_t datatype, struct ct_comm **self,
                      const struct ct_dtype **out)
{
    struct ct_process *p = ct_api_enter(call);
    if (CT_UNLIKELY(p == NULL)) {
        return CTRAN_ERR_OTHER;
    }
    *self = ct_comm_self(p);
    return ct_check_type(*self, call, datatype, out);
}

int ct_check_old_type(const char *call, ctran_datatype_t oldtype, const ctran_datatype_t *newtype,
                      struct ct_comm **self, const struct ct_dtype **old)
{
    int rc = ct_check_own_type(call, oldtype, self, old);
    return rc == CTRAN_SUCCESS ? ct_check_out(*self, call, newtype, "newtype") : rc;
}

/* Like ct_check_own_type, for a call that stores numbers at `a` and, if there are two, at `b`. */
static int check_asked(const char *call, ctran_datatype_t datatype, const void *a, const void *b,
                       const struct ct_dtype **type)
{
    struct ct_comm *self;
    int             rc = ct_check_own_type(call, datatype, &self, type);
    return rc == CTRAN_SUCCESS ? ct_check_out(self, call, a != NULL ? b : NULL, "a result") : rc;
}

int ct_api_give_type(struct ct_comm *self, int rc, const struct ct_dtype *const *made,
                     const char *call, ctran_datatype_t *newtype)
{
    if (rc == CTRAN_SUCCESS) {
        *newtype = ct_dtype_handle(*made);
        return rc;
    }
    return ct_api_raise(self, rc, call, "%s",
                        rc == CTRAN_ERR_COUNT ? "the datatype would be more than memory can hold"
                                              : "for a datatype");
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The datatype that a variable of the program has. */
static int check_named(const char *call, const ctran_datatype_t *datatype, struct ct_comm **self,
                       const struct ct_dtype **type)
{
    return ct_check_own_type(call, datatype != NULL ? *datatype : CTRAN_DATATYPE_NULL, self, type);
}

int ctran_type_commit(ctran_datatype_t *datatype)
{
    static const char      call[] = "ctran_type_commit";
    const struct ct_dtype *type;
    struct ct_comm        *self;
    int                    rc = check_named(call, datatype, &self, &type);
    if (rc == CTRAN_SUCCESS) {
        ct_dtype_commit(type);
    }
    return rc;
}

int ctran_type_free(ctran_datatype_t *datatype)
{
    static const char      call[] = "ctran_type_free";
    const struct ct_dtype *type;
    struct ct_comm        *self;
    int                    rc = check_named(call, datatype, &self, &type);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (type->scalar != CT_SCALAR_DERIVED) {
        return ct_api_raise(self, CTRAN_ERR_TYPE, call, "%s is predefined: it cannot be freed",
                            type->name);
    }
    if (ct_dtype_last_handle(type)) {
        rc = ct_attr_delete_all(ct_dtype_attrs(self->p, type));
        if (rc != CTRAN_SUCCESS) {
            return ct_api_pass(self, rc, call);
        }
    }
    ct_dtype_release(type);
    *datatype = CTRAN_DATATYPE_NULL;
    return CTRAN_SUCCESS;
}

int ctran_type_dup(ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    static const char      call[] = "ctran_type_dup";
    const struct ct_dtype *old, *made = NULL;
    struct ct_comm        *self;
    int                    rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_dtype_dup(old, &made);
    if (rc == CTRAN_SUCCESS) {
        struct ct_attrs *attrs = ct_dtype_attrs(self->p, made);
        rc = ct_attr_copy_all(ct_dtype_attrs(self->p, old), attrs);
        if (rc != CTRAN_SUCCESS) {
            (void)ct_attr_delete_all(attrs); /* the first error is the one to tell */
            ct_dtype_release(made);
            return ct_api_pass(self, rc, call);
        }
    }
    return ct_api_give_type(self, rc, &made, call, newtype);
}

/* ---- measures -------------------------------------------------------------------------------- */

int ctran_type_size(ctran_datatype_t datatype, ctran_count_t *size)
{
    const struct ct_dtype *type;
    int                    rc = check_asked("ctran_type_size", datatype, size, size, &type);
    if (rc == CTRAN_SUCCESS) {
        *size = (ctran_count_t)type->size_bytes;
    }
    return rc;
}

int ctran_type_get_extent(ctran_datatype_t datatype, ctran_count_t *lb, ctran_count_t *extent)
{
    const struct ct_dtype *type;
    int                    rc = check_asked("ctran_type_get_extent", datatype, lb, extent, &type);
    if (rc == CTRAN_SUCCESS) {
        *lb = type->lb_bytes;
        *extent = type->extent_bytes;
    }
    return rc;
}

int ctran_type_get_true_extent(ctran_datatype_t datatype, ctran_count_t *true_lb,
                               ctran_count_t *true_extent)
{
    static const char      call[] = "ctran_type_get_true_extent";
    const struct ct_dtype *type;
    int                    rc = check_asked(call, datatype, true_lb, true_extent, &type);
    if (rc == CTRAN_SUCCESS) {
        *true_lb = type->true_lb_bytes;
        *true_extent = type->true_extent_bytes;
    }
    return rc;
}

int ctran_type_match_size(int typeclass, int size, ctran_datatype_t *datatype)
{
    static const char call[] = "ctran_type_match_size";
    static const struct {
        int              typeclass;
        ctran_datatype_t type;
    } rows[] = {
        {CTRAN_TYPECLASS_INTEGER, CTRAN_INT8_T},
        {CTRAN_TYPECLASS_INTEGER, CTRAN_INT16_T},
        {CTRAN_TYPECLASS_INTEGER, CTRAN_INT32_T},
        {CTRAN_TYPECLASS_INTEGER, CTRAN_INT64_T},
        {CTRAN_TYPECLASS_REAL, CTRAN_FLOAT16},
        {CTRAN_TYPECLASS_REAL, CTRAN_FLOAT},
        {CTRAN_TYPECLASS_REAL, CTRAN_DOUBLE},
        {CTRAN_TYPECLASS_REAL, CTRAN_LONG_DOUBLE},
        {CTRAN_TYPECLASS_COMPLEX, CTRAN_C_FLOAT_COMPLEX},
        {CTRAN_TYPECLASS_COMPLEX, CTRAN_C_DOUBLE_COMPLEX},
        {CTRAN_TYPECLASS_COMPLEX, CTRAN_C_LONG_DOUBLE_COMPLEX},
    };
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (datatype == NULL) {
        return ct_check_out(ct_comm_self(p), call, datatype, "datatype");
    }
    for (size_t i = 0; size > 0 && i < CT_ARRAY_LEN(rows); i++) {
        if (rows[i].typeclass == typeclass &&
            ct_dtype_get(rows[i].type)->size_bytes == (size_t)size) {
            *datatype = rows[i].type;
            return CTRAN_SUCCESS;
        }
    }
    return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call,
                        "there is no datatype of %d bytes in class %d (CTRAN_TYPECLASS_*)", size,
                        typeclass);
}

/* ---- a status -------------------------------------------------------------------------------- */

/* The bytes that a status tells of. */
static int check_status(const char *call, const ctran_status_t *status, ctran_datatype_t datatype,
                        const ctran_count_t *count, const struct ct_dtype **type, size_t *bytes)
{
    struct ct_comm *self;
    int             rc = ct_check_own_type(call, datatype, &self, type);
    if (rc == CTRAN_SUCCESS && status == CTRAN_STATUS_IGNORE) {
        rc = ct_api_raise(self, CTRAN_ERR_ARG, call, "status is CTRAN_STATUS_IGNORE");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(self, call, count, "count");
    }
    if (rc == CTRAN_SUCCESS) {
        int64_t stored;
        memcpy(&stored, status->ctran_internal, sizeof stored);
        *bytes = (size_t)stored;
    }
    return rc;
}

int ctran_get_count(const ctran_status_t *status, ctran_datatype_t datatype, ctran_count_t *count)
{
    const struct ct_dtype *type;
    size_t                 bytes;
    int rc = check_status("ctran_get_count", status, datatype, count, &type, &bytes);
    if (rc == CTRAN_SUCCESS && type->size_bytes == 0) {
        *count = bytes == 0 ? 0 : CTRAN_UNDEFINED;
    } else if (rc == CTRAN_SUCCESS) {
        bool whole = bytes % type->size_bytes == 0;
        *count = whole ? (ctran_count_t)(bytes / type->size_bytes) : CTRAN_UNDEFINED;
    }
    return rc;
}

int ctran_get_elements(const ctran_status_t *status, ctran_datatype_t datatype,
                       ctran_count_t *count)
{
    const struct ct_dtype *type;
    size_t                 bytes, elems;
    int rc = check_status("ctran_get_elements", status, datatype, count, &type, &bytes);
    if (rc == CTRAN_SUCCESS) {
        bool whole = ct_dtype_count_elems(type, bytes, &elems);
        *count = whole ? (ctran_count_t)elems : CTRAN_UNDEFINED;
    }
    return rc;
}

/* ---- addresses ------------------------------------------------------------------------------- */

int ctran_get_address(const void *location, ctran_aint_t *address)
{
    if (address == NULL) {
        return ct_api_raise_anytime(CTRAN_ERR_ARG, "ctran_get_address", "address is NULL");
    }
    *address = (ctran_aint_t)(uintptr_t)location;
    return CTRAN_SUCCESS;
}

ctran_aint_t ctran_aint_add(ctran_aint_t base, ctran_aint_t disp)
{
    return (ctran_aint_t)((uintptr_t)base + (uintptr_t)disp);
}

ctran_aint_t ctran_aint_diff(ctran_aint_t addr1, ctran_aint_t addr2)
{
    return (ctran_aint_t)((uintptr_t)addr1 - (uintptr_t)addr2);
}
