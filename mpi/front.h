/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - what the files of MPI's front end share. Each call of mpi.h is a strong PMPI_ name and
 * a weak MPI_ one. Handles are ctran's own: same values, same pointers; so is a status. Most
 * definitions are written by generate.py (gen/); those that are no mere change of names stand in
 * the files of this folder. Nothing here has a state but what handles.c, f90.c and tool*.c say.
 */
#ifndef MPI_FRONT_H
#define MPI_FRONT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ctran.h"
#include "front/front.h"
#include "mpi/gen/handles.h"
#include "mpi/mpi.h"

_Static_assert(sizeof(MPI_Status) == sizeof(ctran_status_t), "one layout");
_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "addresses have the size of large counts");

/* The name that tools may take for themselves. */
#define NAME(name)                                                                                 \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

/* A result that the small form has as int. */
static inline int ct_narrow(ctran_count_t value)
{
    return value > INT_MAX || value < INT_MIN ? MPI_UNDEFINED : (int)value;
}

/* What is not here: MPI_ERR_UNSUPPORTED_OPERATION, by comm's error handler. */
int ct_refuse(MPI_Comm comm, const char *call) __attribute__((visibility("hidden"), cold));

/* Copies of arrays, most of them with wider elements. Few lie on the stack; many, and those that a
 * request reads as long as it lasts, in one block of the heap. */
enum { CT_ARRAYS_HERE = 128 };
struct ct_arrays {
    int64_t *next, *heap; /* heap: NULL: there is none */
    int64_t  here[CT_ARRAYS_HERE];
};
#define NO_ROOM "for arrays of counts"

static inline int ct_arrays_length(ctran_count_t n)
{
    return n < 0 || n > INT_MAX ? 0 : (int)n;
}

/* Room for all arrays of a call together. false: no memory. */
static inline bool ct_arrays_open(struct ct_arrays *a, size_t total, bool lasts)
{
    a->heap = NULL;
    a->next = a->here;
    if (lasts || total > CT_ARRAYS_HERE) {
        a->heap = a->next = malloc((total > 0 ? total : 1) * sizeof *a->heap);
    }
    return a->next != NULL;
}

/* NULL for NULL. */
static inline int64_t *ct_arrays_widen(struct ct_arrays *a, const int *from, int n)
{
    int64_t *to = a->next;
    if (from == NULL) {
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
    }
    a->next += n;
    return to;
}

static inline int64_t *ct_arrays_copy(struct ct_arrays *a, const int64_t *from, int n)
{
    int64_t *to = a->next;
    if (from == NULL) {
        return NULL;
    }
    memcpy(to, from, (size_t)n * sizeof *to);
    a->next += n;
    return to;
}

static inline int ct_arrays_close(struct ct_arrays *a, int rc)
{
    free(a->heap);
    return rc;
}

/* The request, if there is one, keeps them. */
static inline int ct_arrays_keep(struct ct_arrays *a, int rc, const MPI_Request *request)
{
    if (rc != MPI_SUCCESS) {
        return ct_arrays_close(a, rc);
    }
    ct_front_keep(*request, a->heap);
    return rc;
}

#endif
