/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring pair from one process to another: two rings that work as one. The short ring, which fits
 * into the nearest cache, is used as long as the consumer keeps up; the long ring holds all other
 * records, and all long ones. Through a ring of 256 KiB messages of 1 KiB come 1.5 to 2.2 times as
 * slowly as through one of 8 KiB, since each line has been forgotten by the time that it comes
 * round.
 *
 * A TURN record says that the next one is in the other ring. From the short ring the producer turns
 * where a record has no place there; back to it when the consumer has read all that was there.
 *
 * Invariant: the short ring always has room for a turn. Order is that of records and turns: the
 * consumer looks at one of the rings only.
 */
#ifndef CT_NODE_RING_PAIR_H
#define CT_NODE_RING_PAIR_H

#include "node/ring.h"

enum {
    CT_RING_PAIR_SHORT_BYTES = 8 << 10,
    CT_RING_PAIR_LEAST = 8 * CT_RING_PAIR_SHORT_BYTES, /* a long ring of less is alone */
    CT_RING_PAIR_MOST =
        CT_RING_PAIR_SHORT_BYTES / 4 / CT_RING_CELL, /* cells of a record in the short one */
    /* In a row: more of them without a record is rubbish. (One without may be, where the memory of
     * a message could not be read.) */
    CT_RING_PAIR_TURNS = 1000,
};

enum { CT_RING_PAIR_LONG, CT_RING_PAIR_SHORT };

struct ct_ring_pair {
    struct ct_ring ring[2];
    uint8_t        now;   /* the one in use */
    bool           alone; /* there is no short one */
    bool           fresh; /* producer: nothing has been written to the long one since the turn */
    unsigned       turns; /* consumer: without a record since */
};

/* Bytes for the short ring beside a long one. */
static inline size_t ct_ring_pair_short_memory(size_t ring_bytes)
{
    return ring_bytes < CT_RING_PAIR_LEAST ? 0 : ct_ring_memory(CT_RING_PAIR_SHORT_BYTES);
}

static inline void ct_ring_pair_view(struct ct_ring_pair *l, void *ring, size_t ring_bytes,
                                     void *short_ring)
{
    *l = (struct ct_ring_pair){.now = CT_RING_PAIR_LONG, .alone = ring_bytes < CT_RING_PAIR_LEAST};
    ct_ring_view(&l->ring[CT_RING_PAIR_LONG], ring, ring_bytes);
    if (!l->alone) {
        ct_ring_view(&l->ring[CT_RING_PAIR_SHORT], short_ring, CT_RING_PAIR_SHORT_BYTES);
    }
}

/* ---- producer: as of a ring ------------------------------------------------------------------ */

/* Where there is no room it does not say so to the consumer: there is the long one. */
static inline bool ct_ring_pair_has_room(struct ct_ring *r, uint64_t cells)
{
    if (CT_LIKELY(ct_ring_fits(r, cells))) {
        return true;
    }
    r->seen = atomic_load_explicit(&r->ctl->head, memory_order_acquire);
    return ct_ring_fits(r, cells);
}

static inline void ct_ring_pair_turn(struct ct_ring_pair *l)
{
    ct_ring_publish_word(&l->ring[l->now], 1, ct_ring_pack(CT_RING_SKIP, CT_RING_TURN, 0));
    l->now ^= 1;
}

/* The long ring, and back to the short one if the consumer has come to its end. */
char *ct_ring_pair_reserve_long(struct ct_ring_pair *l, size_t hdr_len, size_t len_bytes);

static inline char *ct_ring_pair_reserve(struct ct_ring_pair *l, size_t hdr_len, size_t len_bytes)
{
    struct ct_ring *r = &l->ring[CT_RING_PAIR_SHORT];
    const uint64_t  cells = ct_ring_cells(hdr_len, len_bytes);
    if (CT_UNLIKELY(l->now != CT_RING_PAIR_SHORT || cells > CT_RING_PAIR_MOST)) {
        return ct_ring_pair_reserve_long(l, hdr_len, len_bytes);
    }
    const uint64_t to_end = ct_ring_to_end(r);
    if (CT_UNLIKELY(cells > to_end) && ct_ring_pair_has_room(r, to_end + 1)) {
        ct_ring_publish_word(r, to_end, ct_ring_pack(CT_RING_SKIP, 0, 0));
    }
    if (CT_UNLIKELY(cells > ct_ring_to_end(r) || !ct_ring_pair_has_room(r, cells + 1))) {
        return ct_ring_pair_reserve_long(l, hdr_len, len_bytes);
    }
    return (char *)ct_ring_word_at(r, r->pos) + CT_RING_WORD;
}

static inline void ct_ring_pair_publish(struct ct_ring_pair *l, uint8_t type, size_t hdr_len,
                                        size_t len_bytes)
{
    ct_ring_publish(&l->ring[l->now], type, hdr_len, len_bytes);
    l->fresh = false;
}

/* ---- consumer -------------------------------------------------------------------------------- */

static inline struct ct_ring *ct_ring_pair_now(struct ct_ring_pair *l)
{
    return &l->ring[l->now];
}

static inline bool ct_ring_pair_is_turn(const struct ct_record *rec)
{
    return rec->type == CT_RING_SKIP && rec->hdr_len == CT_RING_TURN;
}

/* Goes on in the other ring, after a turn; false: there is none, or there have been too many.
 * *starves: the producer waits for room. */
bool ct_ring_pair_follow(struct ct_ring_pair *l, bool *starves);

#endif
