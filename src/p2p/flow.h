/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow credit: how many bytes a sender may send eagerly, so that messages without a posted receive
 * take bounded memory. Eager messages and announcements are paid for with what they would cost the
 * receiver to keep (ct_match_cost); the receiver gives it back as they are matched, in large sums.
 * Both ends compute the same share: CTRAN_UNEXPECTED_LIMIT, or less where many send.
 *
 *   sender                                    receiver
 *     EAGER, RTS, ...                    ->   keeps what is not matched
 *     credit is used up: sends to this        half of the share is matched:
 *     peer wait in line                  <-   CREDIT (bytes)
 *     STALL: "there are some"            ->   answers as soon as it can give enough back, or
 *                                             when a receive waits that one of them may match:
 *                                        <-   CREDIT (bytes, number)
 *     hands over what there is credit
 *     for, then so many without, as
 *     announcements, in order
 *
 * So messages wait at the sender, in its own requests, until the receiver needs them. A receive for
 * a message far behind in the queue is never starved, and costs an announcement for each message
 * before it. Messages always keep the order of the link.
 *
 * A STALL is answered once and then repeated if the line has not come to its end.
 */
#ifndef CT_P2P_FLOW_H
#define CT_P2P_FLOW_H

#include "p2p/state.h"

/* Hands the send over by its protocol, or puts it in line. */
void ct_flow_send(struct ct_p2p_req *req) CT_IN_DOMAIN;
/* Whether a message of len_bytes may be sent eagerly now, without overtaking messages in the queue;
 * if so, counts it. */
static inline bool ct_flow_may_send(const struct ct_ep *to, size_t len_bytes) CT_IN_DOMAIN
{
    return ct_list_empty(&to->flow.line) &&
           to->flow.used + ct_match_cost(len_bytes) <= to->p->p2p->share;
}

static inline void ct_flow_sent(struct ct_ep *to, size_t len_bytes) CT_IN_DOMAIN
{
    to->flow.used += ct_match_cost(len_bytes);
}

/* It was not, after all. */
static inline void ct_flow_unsent(struct ct_ep *to, size_t len_bytes) CT_IN_DOMAIN
{
    to->flow.used -= ct_match_cost(len_bytes);
}

/* A send that waits in line: takes it out. False: it does not. */
bool ct_flow_withdraw(struct ct_p2p_req *req) CT_IN_DOMAIN;

/* The slow halves of the two below. */
void ct_flow_settle(struct ct_ep *from) CT_IN_DOMAIN;
void ct_flow_pull(struct ct_process *p, const struct ct_ep *from, uint64_t ctx) CT_IN_DOMAIN;

/* A message of the peer's with a payload of len_bytes (0: an announcement) was matched. */
static inline void ct_flow_matched(struct ct_ep *from, size_t len_bytes) CT_IN_DOMAIN
{
    from->flow.owed += ct_match_cost(len_bytes);
    if (CT_UNLIKELY(from->flow.owed >= from->p->p2p->share / 2 ||
                    !ct_list_empty(&from->flow.waits))) {
        ct_flow_settle(from);
    }
}

/* A receive or a probe of (from, ctx) has found no message (from NULL: any source): asks waiting
 * peers to send more. */
static inline void ct_flow_want(struct ct_process *p, const struct ct_ep *from,
                                uint64_t ctx) CT_IN_DOMAIN
{
    if (CT_UNLIKELY(!ct_list_empty(&p->p2p->waiting))) {
        ct_flow_pull(p, from, ctx);
    }
}

/* Calls fn for each send in the queue; fn may remove that send. */
void ct_flow_for_line(struct ct_process *p, void (*fn)(struct ct_p2p_req *, void *),
                      void              *arg) CT_IN_DOMAIN;
/* The peer has failed: nothing is owed to it any more. */
void ct_flow_fail(struct ct_ep *ep) CT_IN_DOMAIN;

void ct_flow_init(struct ct_process *p);

#endif
