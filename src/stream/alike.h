/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the ranks of a host make equal collective stream-ordered calls. */
#ifndef CT_STREAM_ALIKE_H
#define CT_STREAM_ALIKE_H

#include "stream/context.h"

/* Compares a call that is about to be put on a stream with the one that the first rank to come to
 * this place in the order has made; whichever way each goes. Calls that a rank may have no part in
 * (sends, receives, blocks with counts) are not compared, as their messages are; nor is anything
 * where the ranks share no memory. CTRAN_ERR_TRUNCATE: lengths differ; CTRAN_ERR_OTHER: they are
 * other calls, or of another root, operator or type; logged. The caller ends the communicator's
 * work. */
int ct_stream_compare(struct ct_stream_context *c, const struct ct_stream_call *call,
                      bool captured);

#endif
