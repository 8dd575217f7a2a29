/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes by decimal digits p and exponent r (MPI-5.0 sec. 19.1.9). Each is a duplicate of the
 * smallest predefined type that has as much, made at the first request for it; the same request
 * gets the same handle, which the program does not free. They live until the process ends. The list
 * is guarded by a lock; entries are only added, so that who looks for one takes no lock. Called by
 * types.c for each question about a datatype.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "mpi/types.h"

struct entry {
    struct ct_f90 f90;
    MPI_Datatype  type;
    struct entry *next;
};

static pthread_mutex_t         lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct entry *) first; /* entries are never taken away */

bool ct_f90_find(MPI_Datatype datatype, struct ct_f90 *out)
{
    const struct entry *e = atomic_load_explicit(&first, memory_order_acquire);
    for (; e != NULL; e = e->next) {
        if (e->type == datatype) {
            *out = e->f90;
            return true;
        }
    }
    return false;
}

/* NULL: nobody has asked for it. Under the lock. */
static struct entry *find(const struct ct_f90 *f90)
{
    struct entry *e = first;
    while (e != NULL &&
           (e->f90.combiner != f90->combiner || e->f90.p != f90->p || e->f90.r != f90->r)) {
        e = e->next;
    }
    return e;
}

/* A new entry. Under the lock. */
static int add(const struct ct_f90 *f90, MPI_Datatype base, struct entry **out)
{
    struct entry *e = malloc(sizeof *e);
    if (e == NULL) {
        return MPI_ERR_NO_MEM;
    }
    const int rc = ct_front_type_like(base, &e->type);
    if (rc != MPI_SUCCESS) {
        free(e);
        return rc;
    }
    e->f90 = *f90;
    e->next = first;
    atomic_store_explicit(&first, e, memory_order_release);
    *out = e;
    return rc;
}

static int give(const char *call, int combiner, int p, int r, MPI_Datatype base,
                MPI_Datatype *newtype)
{
    const struct ct_f90 f90 = {combiner, p, r};
    int                 rc = MPI_SUCCESS;
    if (newtype == NULL || base == MPI_DATATYPE_NULL) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, call,
                              newtype == NULL ? "newtype is NULL"
                                              : "no type has so many digits or such exponents");
    }
    pthread_mutex_lock(&lock);
    struct entry *e = find(&f90);
    if (e == NULL) {
        rc = add(&f90, base, &e);
    }
    pthread_mutex_unlock(&lock);
    if (rc == MPI_SUCCESS) {
        *newtype = e->type;
    }
    return rc;
}

/* The index of the smallest of single, double and quadruple precision with p digits and exponents
 * of r; -1: none has. */
static int precision(int p, int r)
{
    static const int digits[] = {6, 15, 33}, exponents[] = {37, 307, 4931};
    for (int i = 0; i < 3; i++) {
        if ((p == MPI_UNDEFINED || p <= digits[i]) && (r == MPI_UNDEFINED || r <= exponents[i])) {
            return i;
        }
    }
    return -1;
}

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    static const MPI_Datatype types[] = {MPI_REAL4, MPI_REAL8, MPI_REAL16};
    const int                 i = precision(p, r);
    return give("MPI_Type_create_f90_real", MPI_COMBINER_F90_REAL, p, r,
                i >= 0 ? types[i] : MPI_DATATYPE_NULL, newtype);
}
NAME(Type_create_f90_real)

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    static const MPI_Datatype types[] = {MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
    const int                 i = precision(p, r);
    return give("MPI_Type_create_f90_complex", MPI_COMBINER_F90_COMPLEX, p, r,
                i >= 0 ? types[i] : MPI_DATATYPE_NULL, newtype);
}
NAME(Type_create_f90_complex)

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    static const MPI_Datatype types[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
                                         MPI_INTEGER16};
    static const int          digits[] = {2, 4, 9, 18, 38};
    MPI_Datatype              base = MPI_DATATYPE_NULL;
    for (size_t i = sizeof digits / sizeof *digits; i-- > 0;) {
        base = r <= digits[i] ? types[i] : base;
    }
    return give("MPI_Type_create_f90_integer", MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, base,
                newtype);
}
NAME(Type_create_f90_integer)

/* The type of that size in a class: where C has none, Fortran's. */
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int          typeclass, size;
        MPI_Datatype type;
    } more[] = {
        {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
        {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
    };
    for (size_t i = 0; i < sizeof more / sizeof *more && datatype != NULL; i++) {
        if (more[i].typeclass == typeclass && more[i].size == size) {
            *datatype = more[i].type;
            return MPI_SUCCESS;
        }
    }
    return ctran_type_match_size(typeclass, size, datatype);
}
NAME(Type_match_size)

/* One of these is not the program's to free. */
int PMPI_Type_free(MPI_Datatype *datatype)
{
    struct ct_f90 f90;
    if (datatype != NULL && ct_f90_find(*datatype, &f90)) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_TYPE, "MPI_Type_free",
                              "it is one of MPI_Type_create_f90's, which are not freed");
    }
    return ctran_type_free(datatype);
}
NAME(Type_free)
