/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h - datatypes by Fortran's precision (f90.c), as types.c asks for them. */
#ifndef MPI_TYPES_H
#define MPI_TYPES_H

#include "mpi/front.h"

/* What such a type was asked for; MPI_UNDEFINED: p or r was not given. */
struct ct_f90 {
    int combiner, p, r;
};

/* Whether a datatype is one of them. Any thread. */
bool ct_f90_find(MPI_Datatype datatype, struct ct_f90 *out) __attribute__((visibility("hidden")));

#endif
