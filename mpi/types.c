/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a datatype was made. ctran keeps what a constructor was given as large counts; the small
 * forms tell integers and addresses. Types of Fortran's precision (f90.c) are told apart first.
 */
#include "mpi/types.h"

/* What the small forms tell of a type: ctran's counts, the first `ints` of which are integers here,
 * behind the first `head` of the integers. */
struct small {
    MPI_Count nints, ncounts, ntypes;
    MPI_Count ints, head;
    int       combiner;
};

static int small_of(MPI_Datatype datatype, struct small *s)
{
    MPI_Count none;
    int       rc =
        PMPI_Type_get_envelope_c(datatype, &s->nints, &none, &s->ncounts, &s->ntypes, &s->combiner);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    s->head = 0;
    s->ints = s->ncounts;
    switch (s->combiner) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
        s->ints = 2;
        break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        s->ints = 1 + (s->ncounts - 1) / 2;
        break;
    case MPI_COMBINER_RESIZED:
        s->ints = 0;
        break;
    case MPI_COMBINER_SUBARRAY:
        s->head = 1;
        break;
    case MPI_COMBINER_DARRAY:
        s->head = 3;
        break;
    default:
        break;
    }
    return rc;
}

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                             MPI_Count *num_addresses, MPI_Count *num_large_counts,
                             MPI_Count *num_datatypes, int *combiner)
{
    struct ct_f90 f90;
    if (ct_f90_find(datatype, &f90) && num_integers != NULL && num_addresses != NULL &&
        num_large_counts != NULL && num_datatypes != NULL && combiner != NULL) {
        *num_integers = f90.combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2;
        *num_addresses = *num_large_counts = *num_datatypes = 0;
        *combiner = f90.combiner;
        return MPI_SUCCESS;
    }
    return ctran_type_get_envelope(datatype, num_integers, num_addresses, num_large_counts,
                                   num_datatypes, combiner);
}
NAME(Type_get_envelope_c)

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    struct small s;
    if (num_integers == NULL || num_addresses == NULL || num_datatypes == NULL ||
        combiner == NULL) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, "MPI_Type_get_envelope",
                              "num_integers, num_addresses, num_datatypes or combiner is NULL");
    }
    const int rc = small_of(datatype, &s);
    if (rc == MPI_SUCCESS) {
        *num_integers = ct_narrow(s.nints + s.ints);
        *num_addresses = ct_narrow(s.ncounts - s.ints);
        *num_datatypes = ct_narrow(s.ntypes);
        *combiner = s.combiner;
    }
    return rc;
}
NAME(Type_get_envelope)

static void tell_f90(const struct ct_f90 *f90, int array_of_integers[])
{
    int *to = array_of_integers;
    if (f90->combiner != MPI_COMBINER_F90_INTEGER) {
        *to++ = f90->p;
    }
    *to = f90->r;
}

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    struct ct_f90 f90;
    if (ct_f90_find(datatype, &f90) &&
        max_integers >= 2 - (f90.combiner == MPI_COMBINER_F90_INTEGER) &&
        array_of_integers != NULL) {
        tell_f90(&f90, array_of_integers);
        return MPI_SUCCESS;
    }
    return ctran_type_get_contents(datatype, max_integers, max_addresses, max_large_counts,
                                   max_datatypes, array_of_integers, array_of_addresses,
                                   array_of_large_counts, array_of_datatypes);
}
NAME(Type_get_contents_c)

/* false: a count is no int. */
static bool tell(const struct small *s, const int *ints, const MPI_Count *counts,
                 int array_of_integers[], MPI_Aint array_of_addresses[])
{
    for (MPI_Count i = 0; i < s->nints + s->ints; i++) {
        if (i < s->head || i >= s->head + s->ints) {
            array_of_integers[i] = ints[i < s->head ? i : i - s->ints];
        } else if (counts[i - s->head] > INT_MAX || counts[i - s->head] < INT_MIN) {
            return false;
        } else {
            array_of_integers[i] = (int)counts[i - s->head];
        }
    }
    for (MPI_Count i = s->ints; i < s->ncounts; i++) {
        array_of_addresses[i - s->ints] = counts[i];
    }
    return true;
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    static const char call[] = "MPI_Type_get_contents";
    struct small      s;
    int               rc = small_of(datatype, &s);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (max_integers < s.nints + s.ints || max_addresses < s.ncounts - s.ints) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, call,
                              "a maximum is less than what MPI_Type_get_envelope says");
    }
    int       *ints = calloc((size_t)s.nints + 1, sizeof *ints);
    MPI_Count *counts = calloc((size_t)s.ncounts + 1, sizeof *counts);
    if (ints == NULL || counts == NULL) {
        rc = ct_front_raise(MPI_COMM_NULL, MPI_ERR_NO_MEM, call, NO_ROOM);
    } else {
        rc = PMPI_Type_get_contents_c(datatype, s.nints, 0, s.ncounts, max_datatypes, ints, NULL,
                                      counts, array_of_datatypes);
    }
    if (rc == MPI_SUCCESS && !tell(&s, ints, counts, array_of_integers, array_of_addresses)) {
        rc = ct_front_raise(MPI_COMM_NULL, MPI_ERR_VALUE_TOO_LARGE, call,
                            "a count is no int: ask MPI_Type_get_contents_c");
    }
    free(ints);
    free(counts);
    return rc;
}
NAME(Type_get_contents)

/* ---- pairs ----------------------------------------------------------------------------------- */

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype *pair_type)
{
    static const struct {
        MPI_Datatype value, index, pair;
    } pairs[] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
        {MPI_REAL, MPI_REAL, MPI_2REAL},
        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    };
    if (pair_type == NULL) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, "MPI_Type_get_value_index",
                              "pair_type is NULL");
    }
    if (value_type == MPI_DATATYPE_NULL || index_type == MPI_DATATYPE_NULL) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_TYPE, "MPI_Type_get_value_index",
                              "a type is MPI_DATATYPE_NULL");
    }
    *pair_type = MPI_DATATYPE_NULL; /* no pair of these */
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i].value == value_type && pairs[i].index == index_type) {
            *pair_type = pairs[i].pair;
        }
    }
    return MPI_SUCCESS;
}
NAME(Type_get_value_index)
