/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors. The list itself is CTRAN_ERROR_MAP in the public header: a code is the same number
 * inside and outside of the library. 0 is success; the internal additions are negative.
 */
#ifndef CT_BASE_ERROR_H
#define CT_BASE_ERROR_H

#include <stdbool.h>

#include "ctran.h"

/* Normal answers inside, never seen outside: no room just now, nothing was taken, ask again after
 * progress; and: accepted, its completion will be told. */
enum { CT_AGAIN = -1, CT_QUEUED = -2 };

/* The answer to a one-sided operation that the peer's memory is not exposed for: there is no such
 * key (any more), it is another peer's, it lacks the right, or the range is not within the region.
 * The function that starts such an operation returns the error that MPI names for it. */
enum { CT_REFUSED = -3 };

/* What an error costs, from least to most. */
enum ct_error_lost {
    CT_LOST_nothing,
    CT_LOST_argument,
    CT_LOST_operation,
    CT_LOST_peer,
    CT_LOST_communicator,
    CT_LOST_process
};

/* The name without its prefix ("ERR_TAG"), the text, and the cost; NULL, NULL and
 * CT_LOST_process for a number that is no code. */
const char        *ct_error_name(int code);
const char        *ct_error_text(int code);
enum ct_error_lost ct_error_lost(int code);

#endif
