/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of ring.h that waits for room. */
#include "node/ring.h"

/* Say so, then look again: the consumer moves head first and reads `starved` second. */
bool ct_ring_starve(struct ct_ring *r, uint64_t cells)
{
    r->seen = atomic_load_explicit(&r->ctl->head, memory_order_acquire);
    if (ct_ring_fits(r, cells)) {
        return true;
    }
    atomic_store_explicit(&r->ctl->starved, 1, memory_order_seq_cst);
    r->seen = atomic_load_explicit(&r->ctl->head, memory_order_seq_cst);
    return ct_ring_fits(r, cells);
}
