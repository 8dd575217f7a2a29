/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of one host share for a communicator's stream-ordered work: tokens, on which
 * streams wait, and slots, where the two ends of a message meet; stream.h has the protocol and its
 * proof. No CUDA here: plain memory and atomics. The tokens come first, and are pinned.
 */
#ifndef CT_STREAM_TOKENS_H
#define CT_STREAM_TOKENS_H

#include <stdatomic.h>

#include "coll/run/run.h"
#include "mem/mem.h"

enum {
    CT_TOKEN_RANKS = 16, /* at most */
    CT_TOKEN_LANES = 8,  /* messages of one operation, first comer, second comer and way */
    CT_TOKEN_SETS = 48,  /* 0: eager operations; the others: a captured graph each */
    CT_SIGNALS = 64,     /* of a window, from one rank to another, that no wait has taken */
};

struct ct_token {
    _Atomic uint32_t ready, done;
};

/* A place for one signal of a window: window.c. */
struct ct_signal {
    _Atomic uint32_t sent, room;
};

struct ct_token_head {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic int32_t over; /* the error by which all has ended; 0: not */
    _Atomic int32_t  over_by;                       /* the rank that found it */
    _Atomic uint32_t left; /* ranks, a bit each, whose kernels will not run again */
    /* Peers, a bit each, for which a rank's kernels do not wait any more though these may use its
     * memory (gpu/kernels/direct.cuh). */
    _Atomic uint32_t let_go[CT_TOKEN_RANKS];
};

/* What one end says to the other. */
struct ct_offer {
    uint64_t             bytes;
    uint32_t             kind;
    int32_t              tag;
    uint32_t             set, lane; /* of the token, if this end is first */
    bool                 captured;
    bool                 kernel; /* if this end is first: kernels do it, without a token */
    bool                 direct; /* if they meet: a kernel may copy it */
    struct ct_mem_export memory; /* where there are bytes */
};

enum { CT_PRODUCER, CT_CONSUMER };

struct ct_slot {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t came; /* ends, in all turns; see CT_SLOT_CLOSED */
    _Atomic uint64_t taken;                          /* turns whose offers have been read */
    _Atomic uint64_t meeting;                        /* see ct_slot_stay */
    struct ct_offer  by[2];
};
#define CT_SLOT_CLOSED (UINT64_C(1) << 63)

/* Where the ranks compare their k-th collective calls, modulo CT_TOKEN_CALLS. */
struct ct_call_word {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t word;
};
enum {
    CT_TOKEN_CALLS = 512,   /* more than a rank is ahead of another, unless it captures so many, or
                               has no data in as many */
    CT_CALL_NUMBER_AT = 40, /* k modulo 2^24, in a word's upper bits */
};

struct ct_gathering;

struct ct_tokens {
    uint32_t              n, me, depth;
    size_t                pinned_bytes, bytes; /* of all; the pinned ones come first */
    char                 *base;
    struct ct_token_head *head;
    struct ct_token      *token;
    struct ct_signal     *signal;
    struct ct_slot       *slot;
    struct ct_call_word  *call;
    struct ct_gathering  *gathering; /* gathering.h */
};

/* How many bytes n ranks take; and their parts, in memory that begins as zeros. */
size_t ct_tokens_bytes(uint32_t n);
void   ct_tokens_place(struct ct_tokens *t, char *base, uint32_t n, uint32_t me);

/* The token of messages whose first comer is the producer (way CT_PRODUCER) or the consumer. */
static inline struct ct_token *ct_token_at(const struct ct_tokens *t, uint32_t first,
                                           uint32_t second, uint32_t way, uint32_t set,
                                           uint32_t lane)
{
    const size_t pair = ((size_t)first * t->n + second) * 2 + way;
    return &t->token[(pair * CT_TOKEN_SETS + set) * CT_TOKEN_LANES + lane];
}

/* The place of the k-th signal from one rank to another, k from 0 on. */
static inline struct ct_signal *ct_signal_at(const struct ct_tokens *t, uint32_t from, uint32_t to,
                                             uint64_t k)
{
    return &t->signal[((size_t)from * t->n + to) * CT_SIGNALS + k % CT_SIGNALS];
}

/* Before any peer signals: all places for signals to this rank have room. */
void ct_signals_init(const struct ct_tokens *t);

/* Of the k-th message from one rank to another, k from 0 on. */
static inline struct ct_slot *ct_slot_at(const struct ct_tokens *t, uint32_t from, uint32_t to,
                                         uint64_t k)
{
    return &t->slot[((size_t)from * t->n + to) * t->depth + k % t->depth];
}

enum ct_arrival { CT_CAME_FIRST, CT_CAME_SECOND, CT_CAME_MET, CT_CAME_FULL, CT_CAME_CLOSED };

/* One end of message k comes, with its offer. CT_CAME_SECOND: *other is what the other end said.
 * CT_CAME_MET: the same, and the other end stays and will read this one's offer.
 * CT_CAME_FULL: nothing was done, as the other end is `depth` messages behind. CT_CAME_CLOSED:
 * the other end came, and has given up waiting. */
enum ct_arrival ct_slot_come(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k,
                             uint32_t way, const struct ct_offer *mine, struct ct_offer *other);
/* An end that came first may stay for a while: if the other comes meanwhile both know both offers.
 * Then all is as if the consumer had come first. _stay: the other has not come without finding this
 * end there. _has_met: it has come. _leave ends the stay: true if the other end has not come; else
 * this end takes its offer. */
bool ct_slot_stay(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k);
bool ct_slot_has_met(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k);
bool ct_slot_leave(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k);
void ct_slot_take(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k, uint32_t way,
                  struct ct_offer *other);

/* Whether message k, to which one end alone has come, can be given up: from then on the other finds
 * it closed. False: both have come, or it has been closed before. */
bool ct_slot_close(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k);
/* Whether it is so. */
bool ct_slot_is_closed(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k);

/* This rank comes to the k-th collective call, k from 1 on, which `what` describes: not 0, below
 * the bit CT_CALL_NUMBER_AT. The first to come leaves its description. Returns in which bits this
 * one differs from that; 0: in none, or the others are a ring ahead. */
uint64_t ct_call_come(const struct ct_tokens *t, uint64_t k, uint64_t what);

/* Marks all work as over with this error, unless an earlier error is there. */
bool              ct_tokens_end(const struct ct_tokens *t, int error);
static inline int ct_tokens_over(const struct ct_tokens *t)
{
    return atomic_load_explicit(&t->head->over, memory_order_seq_cst);
}

#endif
