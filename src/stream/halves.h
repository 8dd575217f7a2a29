/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part that copy engines have in long reductions. Engines use links better than kernels do. So
 * in an allreduce kernels only combine each rank's part, and engines distribute the results
 * afterwards. In a reduce_scatter among more than two ranks, engines first push each rank's summand
 * to the next rank's receive buffer, where kernels find it. The engines' part is an operation of
 * its own, behind that of the kernels or before it.
 */
#ifndef CT_STREAM_HALVES_H
#define CT_STREAM_HALVES_H

#include "stream/context.h"

struct ct_half {
    struct ct_stream_call call;
    struct ct_stream_msg  msgs[2 * CT_TOKEN_RANKS];
};

/* Whether engines have their half of a call, if kernels take it: the same on all ranks. */
bool ct_halves_give(const struct ct_stream_context *c, const struct ct_stream_call *call);
bool ct_halves_hand_out(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* Their half of such a call. */
const struct ct_stream_call *ct_half_giving(struct ct_half *half, const struct ct_stream_context *c,
                                            const struct ct_stream_call *call);
const struct ct_stream_call *ct_half_handing_out(struct ct_half                 *half,
                                                 const struct ct_stream_context *c,
                                                 const struct ct_stream_call    *call);

#endif
