/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front - what the front end of MPI's names (mpi/) takes from the library besides ctran.h. These
 * names are exported under the version CTRAN_PRIVATE, for the libmpi_abi of the same build alone.
 * They may change in every version.
 */
#ifndef CT_FRONT_FRONT_H
#define CT_FRONT_FRONT_H

#include <stdbool.h>

#include "base/config.h"
#include "ctran.h"

#define CT_FRONT_API CTRAN_API

/* How many elements the array of a collective has: one for each rank that blocks go to or come from
 * (the remote group of an inter-communicator), for each of the local group, for each neighbour that
 * data come from or go to. 0 for what is no communicator, or has no neighbours: the call itself
 * tells. Any thread. */
enum ct_front_length { CT_FRONT_ALL, CT_FRONT_LOCAL, CT_FRONT_IN, CT_FRONT_OUT };
CT_FRONT_API int ct_front_blocks(ctran_comm_t comm, enum ct_front_length which);
/* The first of these at the root of a collective, elsewhere 0. */
CT_FRONT_API int ct_front_root_blocks(ctran_comm_t comm, int root);

/* Hands an error of `call`, such as "MPI_Win_create", with a text to comm's error handler, or
 * without a valid one to that of calls that have none. Returns the code that the call returns. */
CT_FRONT_API int ct_front_raise(ctran_comm_t comm, int error, const char *call, const char *text);

/* Has the request of a collective free `memory`, of malloc, when it ends, at once if it has no use
 * for it. By the thread that made the request. */
CT_FRONT_API void ct_front_keep(ctran_request_t request, void *memory);

/* ctran_op_create for a function with int counts. */
typedef void     ct_front_user_function(void *invec, void *inoutvec, int *len,
                                        ctran_datatype_t *datatype);
CT_FRONT_API int ct_front_op_create(ct_front_user_function *user_fn, int commute, ctran_op_t *op);

/* ctran_type_dup of a predefined datatype; operators take the new one, too. */
CT_FRONT_API int ct_front_type_like(ctran_datatype_t predefined, ctran_datatype_t *newtype);

/* The configuration: variable number i, and its value in force or, before init, what would be. A
 * number goes to *number, a text to `text` as ctran_info shows it. Any thread, any time. */
CT_FRONT_API int                  ct_front_vars(void);
CT_FRONT_API const struct ct_var *ct_front_var(int i);
CT_FRONT_API void ct_front_var_value(int i, int64_t *number, char *text, size_t cap);

/* What the library counts: number i, and its value; 0 while the library is not in use. Any
 * thread. */
struct ct_front_counter {
    const char *name, *help;
    bool        is_level; /* it goes up and down */
};
CT_FRONT_API int                            ct_front_counters(void);
CT_FRONT_API const struct ct_front_counter *ct_front_counter(int i);
CT_FRONT_API uint64_t                       ct_front_counter_value(int i);

/* Whether calls are possible now: after an init, before its finalize. */
CT_FRONT_API bool ct_front_is_running(void);

#endif
