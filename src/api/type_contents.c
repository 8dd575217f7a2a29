/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was made. */
#define CT_FOLDER "api"
#include <inttypes.h>

#include "api/api.h"

int ctran_type_get_envelope(ctran_datatype_t datatype, ctran_count_t *num_integers,
                            ctran_count_t *num_addresses, ctran_count_t *num_large_counts,
                            ctran_count_t *num_datatypes, int *combiner)
{
    static const char        call[] = "ctran_type_get_envelope";
    const struct ct_dtype   *type;
    struct ct_comm          *self;
    struct ct_dtype_contents c;
    int                      rc = ct_check_own_type(call, datatype, &self, &type);
    if (rc == CTRAN_SUCCESS && (num_integers == NULL || num_addresses == NULL ||
                                num_large_counts == NULL || num_datatypes == NULL)) {
        rc = ct_check_out(self, call, NULL, "a number's address");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(self, call, combiner, "combiner");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_dtype_contents(type, &c);
    *num_integers = (ctran_count_t)c.nints;
    *num_addresses = 0;
    *num_large_counts = (ctran_count_t)c.ncounts;
    *num_datatypes = (ctran_count_t)c.ntypes;
    *combiner = c.combiner;
    return CTRAN_SUCCESS;
}

/* There must be room for all numbers, so that no caller takes a part for the whole. */
static int check_room(struct ct_comm *self, const char *call, const char *what, ctran_count_t most,
                      const void *array, size_t n)
{
    if (most >= 0 && (size_t)most >= n && (array != NULL || n == 0)) {
        return CTRAN_SUCCESS;
    }
    if (array == NULL) {
        return ct_check_out(self, call, array, "an array");
    }
    return ct_api_raise(self, CTRAN_ERR_ARG, call,
                        "there is room for %" PRId64 " %s, the datatype has %zu: see "
                        "ctran_type_get_envelope",
                        most, what, n);
}

int ctran_type_get_contents(ctran_datatype_t datatype, ctran_count_t max_integers,
                            ctran_count_t max_addresses, ctran_count_t max_large_counts,
                            ctran_count_t max_datatypes, int array_of_integers[],
                            ctran_aint_t     array_of_addresses[],
                            ctran_count_t    array_of_large_counts[],
                            ctran_datatype_t array_of_datatypes[])
{
    static const char        call[] = "ctran_type_get_contents";
    const struct ct_dtype   *type;
    struct ct_comm          *self;
    struct ct_dtype_contents c;
    int                      rc = ct_check_own_type(call, datatype, &self, &type);
    (void)max_addresses, (void)array_of_addresses; /* there are none */
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_dtype_contents(type, &c);
    if (c.combiner == CTRAN_COMBINER_NAMED) {
        return ct_api_raise(self, CTRAN_ERR_TYPE, call, "%s is predefined: nothing made it",
                            type->name);
    }
    rc = check_room(self, call, "integers", max_integers, array_of_integers, c.nints);
    if (rc == CTRAN_SUCCESS) {
        rc = check_room(self, call, "large counts", max_large_counts, array_of_large_counts,
                        c.ncounts);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_room(self, call, "datatypes", max_datatypes, array_of_datatypes, c.ntypes);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    for (size_t i = 0; i < c.nints; i++) {
        array_of_integers[i] = c.ints[i];
    }
    for (size_t i = 0; i < c.ncounts; i++) {
        array_of_large_counts[i] = c.counts[i];
    }
    for (size_t i = 0; i < c.ntypes; i++) {
        ct_dtype_take_handle(c.types[i]);
        array_of_datatypes[i] = ct_dtype_handle(c.types[i]);
    }
    return CTRAN_SUCCESS;
}
