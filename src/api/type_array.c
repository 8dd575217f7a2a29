/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes of parts of arrays: their arguments. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/api.h"

static int check_shape(struct ct_comm *self, const char *call, int ndims, int order)
{
    if (ndims < 1) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "ndims is %d, must be >= 1", ndims);
    }
    if (order != CTRAN_ORDER_C && order != CTRAN_ORDER_FORTRAN) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call,
                            "order is %d, neither CTRAN_ORDER_C nor CTRAN_ORDER_FORTRAN", order);
    }
    return CTRAN_SUCCESS;
}

static int null_array(struct ct_comm *self, const char *call)
{
    return ct_api_raise(self, CTRAN_ERR_ARG, call, "one of the arrays is NULL");
}

/* ---- subarray -------------------------------------------------------------------------------- */

static int check_subarray(struct ct_comm *self, const char *call, const struct ct_subarray *a)
{
    int rc = check_shape(self, call, a->ndims, a->order);
    if (rc == CTRAN_SUCCESS && (a->sizes == NULL || a->subsizes == NULL || a->starts == NULL)) {
        rc = null_array(self, call);
    }
    for (int i = 0; rc == CTRAN_SUCCESS && i < a->ndims; i++) {
        ctran_count_t size = a->sizes[i], sub = a->subsizes[i], start = a->starts[i];
        if (sub < 1 || start < 0 || sub > size || start > size - sub) {
            rc = ct_api_raise(self, CTRAN_ERR_ARG, call,
                              "dimension %d: %" PRId64 " elements from %" PRId64
                              " on are no part of %" PRId64,
                              i, sub, start, size);
        }
    }
    return rc;
}

int ctran_type_create_subarray(int ndims, const ctran_count_t array_of_sizes[],
                               const ctran_count_t array_of_subsizes[],
                               const ctran_count_t array_of_starts[], int order,
                               ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    static const char        call[] = "ctran_type_create_subarray";
    const struct ct_subarray a = {ndims, order, array_of_sizes, array_of_subsizes, array_of_starts};
    const struct ct_dtype   *old, *made = NULL;
    struct ct_comm          *self;
    int                      rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    if (rc == CTRAN_SUCCESS) {
        rc = check_subarray(self, call, &a);
    }
    return rc == CTRAN_SUCCESS
               ? ct_api_give_type(self, ct_dtype_subarray(&a, old, &made), &made, call, newtype)
               : rc;
}

/* ---- darray ---------------------------------------------------------------------------------- */

static int check_dimension(struct ct_comm *self, const char *call, const struct ct_darray *a, int i)
{
    ctran_count_t size = a->gsizes[i], covered;
    int           kind = a->distribs[i], arg = a->dargs[i], n = a->psizes[i];
    if (size < 1 || n < 1) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call,
                            "dimension %d: %" PRId64 " elements on %d processes, both must be >= 1",
                            i, size, n);
    }
    if (kind == CTRAN_DISTRIBUTE_NONE && n != 1) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call,
                            "dimension %d is not distributed, but has %d processes, must have 1", i,
                            n);
    }
    if (kind < CTRAN_DISTRIBUTE_NONE || kind > CTRAN_DISTRIBUTE_CYCLIC) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call,
                            "dimension %d: distribution %d is not known (CTRAN_DISTRIBUTE_*)", i,
                            kind);
    }
    if (kind == CTRAN_DISTRIBUTE_NONE || arg == CTRAN_DISTRIBUTE_DFLT_DARG) {
        return CTRAN_SUCCESS;
    }
    bool enough = __builtin_mul_overflow((ctran_count_t)arg, n, &covered) || covered >= size;
    if (arg < 1 || (kind == CTRAN_DISTRIBUTE_BLOCK && !enough)) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call,
                            "dimension %d: blocks of %d on %d processes do not cover %" PRId64
                            " elements",
                            i, arg, n, size);
    }
    return CTRAN_SUCCESS;
}

static int check_darray(struct ct_comm *self, const char *call, const struct ct_darray *a)
{
    int64_t grid = 1;
    int     rc = check_shape(self, call, a->ndims, a->order);
    if (rc == CTRAN_SUCCESS &&
        (a->gsizes == NULL || a->distribs == NULL || a->dargs == NULL || a->psizes == NULL)) {
        rc = null_array(self, call);
    }
    for (int i = 0; rc == CTRAN_SUCCESS && i < a->ndims; i++) {
        rc = check_dimension(self, call, a, i);
        grid = grid <= INT32_MAX ? grid * a->psizes[i] : grid;
    }
    if (rc == CTRAN_SUCCESS && grid != a->size) {
        rc = ct_api_raise(self, CTRAN_ERR_ARG, call,
                          "psizes make a grid of %" PRId64 " processes, size is %d", grid, a->size);
    }
    if (rc == CTRAN_SUCCESS && (a->rank < 0 || a->rank >= a->size)) {
        rc =
            ct_api_raise(self, CTRAN_ERR_ARG, call, "rank is %d of %d processes", a->rank, a->size);
    }
    return rc;
}

int ctran_type_create_darray(int size, int rank, int ndims, const ctran_count_t array_of_gsizes[],
                             const int array_of_distribs[], const int array_of_dargs[],
                             const int array_of_psizes[], int order, ctran_datatype_t oldtype,
                             ctran_datatype_t *newtype)
{
    static const char      call[] = "ctran_type_create_darray";
    const struct ct_darray a = {
        size,           rank,           ndims, order, array_of_gsizes, array_of_distribs,
        array_of_dargs, array_of_psizes};
    const struct ct_dtype *old, *made = NULL;
    struct ct_comm        *self;
    int                    rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    if (rc == CTRAN_SUCCESS) {
        rc = check_darray(self, call, &a);
    }
    return rc == CTRAN_SUCCESS
               ? ct_api_give_type(self, ct_dtype_darray(&a, old, &made), &made, call, newtype)
               : rc;
}
