/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What copy engines do of long reductions. Kernels combine what they load from the peers, and links
 * carry that at 330 GB/s, but what engines push at 390 (H200). So in an allreduce kernels combine
 * each rank's part alone, and engines hand it out behind them; in a reduce_scatter among more than
 * two engines push each rank's summand to the next one's receive buffer first, where kernels find
 * it. It is an operation of its own, behind the kernels' or in front of it.
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
