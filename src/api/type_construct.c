/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors of datatypes, but for arrays: their arguments. */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/api.h"

static int check_number(struct ct_comm *self, const char *call, const char *what,
                        ctran_count_t count)
{
    return count >= 0 ? CTRAN_SUCCESS
                      : ct_api_raise(self, CTRAN_ERR_COUNT, call, "%s is %" PRId64 ", must be >= 0",
                                     what, count);
}

/* An array with `count` numbers, which are not negative where `lengths` says so. */
static int check_array(struct ct_comm *self, const char *call, const char *what,
                       ctran_count_t count, const ctran_count_t *array, bool lengths)
{
    if (count > 0 && array == NULL) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "the array of %s is NULL", what);
    }
    for (ctran_count_t i = 0; lengths && i < count; i++) {
        if (array[i] < 0) {
            return ct_api_raise(self, CTRAN_ERR_ARG, call,
                                "number %" PRId64 " of %s is %" PRId64 ", must be >= 0", i, what,
                                array[i]);
        }
    }
    return CTRAN_SUCCESS;
}

int ctran_type_contiguous(ctran_count_t count, ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    static const char      call[] = "ctran_type_contiguous";
    const struct ct_dtype *old, *made = NULL;
    struct ct_comm        *self;
    int                    rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    if (rc == CTRAN_SUCCESS) {
        rc = check_number(self, call, "count", count);
    }
    return rc == CTRAN_SUCCESS ? ct_api_give_type(self, ct_dtype_contiguous(count, old, &made),
                                                  &made, call, newtype)
                               : rc;
}

static int vector(const char *call, ctran_count_t count, ctran_count_t blocklength,
                  ctran_count_t stride, bool in_bytes, ctran_datatype_t oldtype,
                  ctran_datatype_t *newtype)
{
    const struct ct_dtype *old, *made = NULL;
    struct ct_comm        *self;
    int                    rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    if (rc == CTRAN_SUCCESS) {
        rc = check_number(self, call, "count", count);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_number(self, call, "blocklength", blocklength);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_dtype_vector(count, blocklength, stride, in_bytes, old, &made);
    return ct_api_give_type(self, rc, &made, call, newtype);
}

int ctran_type_vector(ctran_count_t count, ctran_count_t blocklength, ctran_count_t stride,
                      ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    return vector("ctran_type_vector", count, blocklength, stride, false, oldtype, newtype);
}

int ctran_type_create_hvector(ctran_count_t count, ctran_count_t blocklength, ctran_count_t stride,
                              ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    return vector("ctran_type_create_hvector", count, blocklength, stride, true, oldtype, newtype);
}

/* All blocks have `length` where `same`; else lengths has one for each. */
static int indexed(const char *call, ctran_count_t count, bool same, const ctran_count_t *lengths,
                   ctran_count_t length, const ctran_count_t *displs, bool in_bytes,
                   ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    const struct ct_dtype     *old, *made = NULL;
    struct ct_comm            *self;
    static const ctran_count_t none = 0; /* an array of lengths that is there, and empty */
    int                        rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    if (rc == CTRAN_SUCCESS) {
        rc = check_number(self, call, "count", count);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = same ? check_number(self, call, "blocklength", length)
                  : check_array(self, call, "block lengths", count, lengths, true);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(self, call, "displacements", count, displs, false);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    lengths = same ? NULL : count > 0 ? lengths : &none;
    rc = ct_dtype_indexed((size_t)count, lengths, length, displs, in_bytes, old, &made);
    return ct_api_give_type(self, rc, &made, call, newtype);
}

int ctran_type_indexed(ctran_count_t count, const ctran_count_t array_of_blocklengths[],
                       const ctran_count_t array_of_displacements[], ctran_datatype_t oldtype,
                       ctran_datatype_t *newtype)
{
    return indexed("ctran_type_indexed", count, false, array_of_blocklengths, 0,
                   array_of_displacements, false, oldtype, newtype);
}

int ctran_type_create_hindexed(ctran_count_t count, const ctran_count_t array_of_blocklengths[],
                               const ctran_count_t array_of_displacements[],
                               ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    return indexed("ctran_type_create_hindexed", count, false, array_of_blocklengths, 0,
                   array_of_displacements, true, oldtype, newtype);
}

int ctran_type_create_indexed_block(ctran_count_t count, ctran_count_t blocklength,
                                    const ctran_count_t array_of_displacements[],
                                    ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    return indexed("ctran_type_create_indexed_block", count, true, NULL, blocklength,
                   array_of_displacements, false, oldtype, newtype);
}

int ctran_type_create_hindexed_block(ctran_count_t count, ctran_count_t blocklength,
                                     const ctran_count_t array_of_displacements[],
                                     ctran_datatype_t oldtype, ctran_datatype_t *newtype)
{
    return indexed("ctran_type_create_hindexed_block", count, true, NULL, blocklength,
                   array_of_displacements, true, oldtype, newtype);
}

/* The objects behind `count` handles, to be freed; NULL in *out where there are none. */
static int find_types(struct ct_comm *self, const char *call, ctran_count_t count,
                      const ctran_datatype_t *handles, const struct ct_dtype ***out)
{
    *out = NULL;
    if (count == 0) {
        return CTRAN_SUCCESS;
    }
    if (handles == NULL) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "the array of datatypes is NULL");
    }
    *out = calloc((size_t)count, sizeof **out);
    if (*out == NULL) {
        return ct_api_raise(self, CTRAN_ERR_NO_MEM, call, "for %" PRId64 " datatypes", count);
    }
    int rc = CTRAN_SUCCESS;
    for (ctran_count_t i = 0; rc == CTRAN_SUCCESS && i < count; i++) {
        (*out)[i] = ct_dtype_get(handles[i]);
        if ((*out)[i] == NULL) {
            rc = ct_api_raise(self, CTRAN_ERR_TYPE, call,
                              "number %" PRId64 " is no datatype, or one that was freed", i);
        }
    }
    return rc;
}

int ctran_type_create_struct(ctran_count_t count, const ctran_count_t array_of_blocklengths[],
                             const ctran_count_t    array_of_displacements[],
                             const ctran_datatype_t array_of_types[], ctran_datatype_t *newtype)
{
    static const char       call[] = "ctran_type_create_struct";
    const struct ct_dtype **types = NULL, *made = NULL;
    struct ct_comm         *self;
    int                     rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(self, call, newtype, "newtype");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_number(self, call, "count", count);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(self, call, "block lengths", count, array_of_blocklengths, true);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(self, call, "displacements", count, array_of_displacements, false);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = find_types(self, call, count, array_of_types, &types);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_dtype_struct((size_t)count, array_of_blocklengths, array_of_displacements, types,
                             &made);
        rc = ct_api_give_type(self, rc, &made, call, newtype);
    }
    free(types);
    return rc;
}

int ctran_type_create_resized(ctran_datatype_t oldtype, ctran_count_t lb, ctran_count_t extent,
                              ctran_datatype_t *newtype)
{
    static const char      call[] = "ctran_type_create_resized";
    const struct ct_dtype *old, *made = NULL;
    struct ct_comm        *self;
    int                    rc = ct_check_old_type(call, oldtype, newtype, &self, &old);
    return rc == CTRAN_SUCCESS ? ct_api_give_type(self, ct_dtype_resized(old, lb, extent, &made),
                                                  &made, call, newtype)
                               : rc;
}
