/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long broadcast by copy engines among more than two ranks. The data go down a chain, from the
 * root to the rank after it and so on, in pieces: a rank sends one piece on while it receives the
 * next. So no link carries more than the whole once each way (the pipelined chain of Patarasuk,
 * Faraj and Yuan, "Pipelined broadcast on Ethernet switched clusters", 2006).
 *
 * It is one message of each rank to the next (exchange.h), whose token counts pieces:
 *
 *     the consumer came first:  ready := 1        the producer pushes piece k:  done := k
 *     the producer came first:  ready := k        the consumer pulls it; behind the last done := 1
 *
 * Who waits for the counter leaves it 0 when it has seen the last piece: before the other end can
 * write there again, which is behind this operation's done where it pulls, and behind the next
 * one's ready where it is pushed to. stream.h
 *
 * Mostly neighbours meet (meet.c), and each pushes. A rank that came second at both ends pulls a
 * piece and then pushes it, one after the other: there a link is idle half of the time.
 */
#ifndef CT_STREAM_CHAIN_H
#define CT_STREAM_CHAIN_H

#include "stream/exchange.h"

struct ct_chain {
    struct ct_stream_call call;
    struct ct_stream_msg  msgs[2];
};

/* Whether a call goes this way: the same on all ranks. */
bool ct_chain_wants(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* What this rank has to do of such a call. */
const struct ct_stream_call *ct_chain_of(struct ct_chain *chain, const struct ct_stream_context *c,
                                         const struct ct_stream_call *call);
/* How many submissions it takes at most. */
uint32_t ct_chain_submissions(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* All of it but the words that do not count: exchange.c's. */
void ct_chain_submit(struct ct_exchange *x, struct ct_memops *m);

#endif
