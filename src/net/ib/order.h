/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of writes that arrive over several queue pairs (DQPLB; source: NCCLX sec. 4.4.2).
 *
 * Each write of a connection carries a number of 24 bits in its immediate. Writes of one queue pair
 * arrive in order, those of several do not. The receiver notes what has arrived ahead in a window
 * of bits, and moves on when the next number is there. A write that is marked as a notification
 * counts when all writes before it have arrived.
 *
 * Deviation from the source: a window of bits stands in for the hash map, because a sender never
 * has more than CT_IB_WINDOW numbers under way; so no memory is allocated. Bit 29 of the immediate
 * is ours: in place of a write that was refused or given up, the sender sends an empty write with
 * the same number and this bit, so that the receiver moves on. The notification of that write does
 * not count.
 *
 * Pure functions, for the transport and for tests.
 */
#ifndef CT_NET_IB_ORDER_H
#define CT_NET_IB_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CT_IB_SEQ_MASK = (1 << 24) - 1,
    CT_IB_WINDOW = 2048, /* numbers under way; a power of two */
    CT_IB_WORDS = CT_IB_WINDOW / 64,
};

/* The immediate. */
#define CT_IB_IMM_VOID   (UINT32_C(1) << 29)
#define CT_IB_IMM_FAST   (UINT32_C(1) << 30)
#define CT_IB_IMM_NOTIFY (UINT32_C(1) << 31)

struct ct_ib_order {
    uint32_t next; /* the number that is expected, of 24 bits */
    uint64_t ahead[CT_IB_WORDS], notify[CT_IB_WORDS], voided[CT_IB_WORDS]; /* by number */
};

enum ct_ib_order_result {
    CT_IB_ORDER_TAKEN,
    CT_IB_ORDER_LATER, /* beyond the window, or fast and not the next: take others first */
    CT_IB_ORDER_WRONG, /* came before */
};

/* How far a number is ahead of another, modulo 2^24. */
static inline uint32_t ct_ib_seq_ahead(uint32_t seq, uint32_t of)
{
    return (seq - of) & CT_IB_SEQ_MASK;
}

static inline bool ct_ib_order_bit(const uint64_t *bits, uint32_t seq)
{
    return (bits[seq / 64 % CT_IB_WORDS] >> seq % 64 & 1) != 0;
}

static inline void ct_ib_order_set(uint64_t *bits, uint32_t seq, bool value)
{
    const uint64_t bit = UINT64_C(1) << seq % 64;
    uint64_t      *word = &bits[seq / 64 % CT_IB_WORDS];
    *word = value ? *word | bit : *word & ~bit;
}

/* What is told of each notification, in order. */
typedef void (*ct_ib_order_tell)(void *arg, bool is_void);

/* Moves on over all that has arrived. */
static inline void ct_ib_order_advance(struct ct_ib_order *o, ct_ib_order_tell tell, void *arg)
{
    while (ct_ib_order_bit(o->ahead, o->next)) {
        const uint32_t seq = o->next;
        const bool     notifies = ct_ib_order_bit(o->notify, seq);
        const bool     is_void = ct_ib_order_bit(o->voided, seq);
        ct_ib_order_set(o->ahead, seq, false);
        o->next = (seq + 1) & CT_IB_SEQ_MASK;
        if (notifies) {
            tell(arg, is_void);
        }
    }
}

/* A write with this immediate has arrived. */
static inline enum ct_ib_order_result ct_ib_order_take(struct ct_ib_order *o, uint32_t imm,
                                                       ct_ib_order_tell tell, void *arg)
{
    const uint32_t seq = imm & CT_IB_SEQ_MASK, ahead = ct_ib_seq_ahead(seq, o->next);
    if ((imm & CT_IB_IMM_FAST) != 0) { /* the sender has nothing under way elsewhere */
        if (ahead != 0) {              /* those before it may be in another port's queue */
            return ahead < CT_IB_WINDOW ? CT_IB_ORDER_LATER : CT_IB_ORDER_WRONG;
        }
        o->next = (seq + 1) & CT_IB_SEQ_MASK;
        if ((imm & CT_IB_IMM_NOTIFY) != 0) {
            tell(arg, (imm & CT_IB_IMM_VOID) != 0);
        }
        ct_ib_order_advance(o, tell, arg);
        return CT_IB_ORDER_TAKEN;
    }
    if (ahead >= CT_IB_WINDOW) {
        return ahead < (CT_IB_SEQ_MASK + 1) / 2 ? CT_IB_ORDER_LATER : CT_IB_ORDER_WRONG;
    }
    if (ct_ib_order_bit(o->ahead, seq)) {
        return CT_IB_ORDER_WRONG;
    }
    ct_ib_order_set(o->ahead, seq, true);
    ct_ib_order_set(o->notify, seq, (imm & CT_IB_IMM_NOTIFY) != 0);
    ct_ib_order_set(o->voided, seq, (imm & CT_IB_IMM_VOID) != 0);
    ct_ib_order_advance(o, tell, arg);
    return CT_IB_ORDER_TAKEN;
}

/* Whether a number has arrived, as the receiver tells it when a connection is made anew: the next
 * expected number and the bits ahead of it. For numbers of the sender's window. */
static inline bool ct_ib_order_has(uint32_t next, const uint64_t *ahead, uint32_t seq)
{
    const uint32_t distance = ct_ib_seq_ahead(seq, next);
    return distance < CT_IB_WINDOW ? ct_ib_order_bit(ahead, seq) : true;
}

#endif
