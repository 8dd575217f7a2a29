/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long broadcast by copy engines among more than two ranks. It goes down a chain, from the root
 * to the rank after it and so on, in pieces: a rank hands on one while it is given the next. So no
 * link carries more than the whole once each way (the pipelined chain of Patarasuk, Faraj and Yuan,
 * "Pipelined broadcast on Ethernet switched clusters", 2008).
 *
 * It is one message of each rank to the next (exchange.h), whose token counts pieces:
 *
 *     the consumer came first:  ready := 1        the producer pushes piece k:  done := k
 *     the producer came first:  ready := k        the consumer pulls it; behind the last done := 1
 *
 * Who waits for the counter leaves it 0 when it has seen the last piece: before the other end can
 * write there again, since that needs the ready or the done of the next operation. stream.h
 */
#ifndef CT_STREAM_CHAIN_H
#define CT_STREAM_CHAIN_H

#include "stream/exchange.h"

/* Operations that may be under way when one is put on a stream, which takes as many submissions as
 * dozens of others. */
enum { CT_CHAIN_PENDING = 8 };

struct ct_chain {
    struct ct_stream_call call;
    struct ct_stream_msg  msgs[2];
};

/* Whether a call goes this way: the same on all ranks. */
bool ct_chain_wants(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* What this rank has to do of such a call. */
const struct ct_stream_call *ct_chain_of(struct ct_chain *chain, const struct ct_stream_context *c,
                                         const struct ct_stream_call *call);
/* All of it but the words that do not count: exchange.c's. */
void ct_chain_submit(struct ct_exchange *x, struct ct_memops *m);

#endif
