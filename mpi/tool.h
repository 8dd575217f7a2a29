/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.h - what the files of the tool information interface (MPI-5.0 ch. 15) share. Control
 * variables are those of the configuration, by their numbers there; they are read only, since they
 * are set before the program starts. Their handles, and those of enumerations, are numbers from 1
 * on. Performance variables are what the library counts. There are no events.
 *
 * Errors of these calls are returned: no error handler is asked.
 */
#ifndef MPI_TOOL_H
#define MPI_TOOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "mpi/front.h"

#pragma GCC visibility push(hidden)

/* How many MPI_T_init_thread were not yet finalized. */
extern atomic_int ct_tool_users;

static inline int ct_tool_check(bool valid, int error)
{
    if (atomic_load_explicit(&ct_tool_users, memory_order_relaxed) <= 0) {
        return MPI_T_ERR_NOT_INITIALIZED;
    }
    return valid ? MPI_SUCCESS : error;
}

/* Leaves a text where the caller has *len bytes, and in *len the bytes that all of it takes with
 * its 0. Both may be NULL. */
void ct_tool_text(const char *text, char *out, int *len);

static inline void ct_tool_number(int value, int *out)
{
    if (out != NULL) {
        *out = value;
    }
}

#pragma GCC visibility pop

#endif
