/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long allreduce: by kernels each rank combines its part of the vector (direct.c), then copy
 * engines hand that out, which links carry faster than what kernels store, and which leaves the
 * multiprocessors alone. It is an operation of its own behind that of the kernels.
 */
#ifndef CT_STREAM_HANDOUT_H
#define CT_STREAM_HANDOUT_H

#include "stream/context.h"

struct ct_handout {
    struct ct_stream_call call;
    struct ct_stream_msg  msgs[2 * CT_TOKEN_RANKS];
};

/* Whether a call is done so, if kernels take it: the same on all ranks. */
bool ct_handout_wants(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* The second half of such a call. */
const struct ct_stream_call *ct_handout_of(struct ct_handout              *handout,
                                           const struct ct_stream_context *c,
                                           const struct ct_stream_call    *call);

#endif
