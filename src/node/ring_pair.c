/* SPDX-License-Identifier: BSD-3-Clause */
/* What is rare of ring_pair.h: turns. */
#include "node/ring_pair.h"

/* The consumer has read all that was in it, the turn included. */
static bool is_read(const struct ct_ring *r)
{
    return atomic_load_explicit(&r->ctl->head, memory_order_acquire) == r->pos;
}

static bool may_return(struct ct_ring_pair *l, uint64_t cells)
{
    return !l->alone && !l->fresh && cells <= CT_RING_PAIR_MOST &&
           is_read(&l->ring[CT_RING_PAIR_SHORT]) &&
           ct_ring_pair_has_room(&l->ring[CT_RING_PAIR_LONG], 1);
}

char *ct_ring_pair_reserve_long(struct ct_ring_pair *l, size_t hdr_len, size_t len_bytes)
{
    const uint64_t cells = ct_ring_cells(hdr_len, len_bytes);
    if (l->now == CT_RING_PAIR_LONG && may_return(l, cells)) {
        ct_ring_pair_turn(l);
        return ct_ring_pair_reserve(l, hdr_len, len_bytes); /* it is empty: comes back with room */
    }
    char *to = ct_ring_reserve(&l->ring[CT_RING_PAIR_LONG], hdr_len, len_bytes);
    if (to != NULL && l->now == CT_RING_PAIR_SHORT) {
        ct_ring_pair_turn(l);
        l->fresh = true;
    }
    return to;
}

bool ct_ring_pair_follow(struct ct_ring_pair *l, bool *starves)
{
    struct ct_ring *from = &l->ring[l->now], *to = &l->ring[l->now ^ 1];
    if (l->alone || ++l->turns > CT_RING_PAIR_TURNS) {
        return false;
    }
    *starves = ct_ring_consume_all(from, 1);
    to->streak = from->streak - 1; /* the turn was no record */
    l->now ^= 1;
    return true;
}
