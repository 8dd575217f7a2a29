/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule of a wait. */
#include "node/backoff.h"

#include "base/blocked.h"
#include "base/clock.h"
#include "base/util.h"

enum ct_wait_advice ct_wait_next(struct ct_wait *w, uint64_t spin_ns, uint64_t yield_ns)
{
    if (w->polls++ == 0) {
        w->start_ns = 0;
        w->yielding = spin_ns == 0;
    }
    /* While it spins the clock is read once in 64 polls: a poll may be cheaper than the clock. */
    if (!w->yielding && w->polls % 64 != 0) {
        return CT_WAIT_POLL;
    }
    uint64_t now = ct_clock_ns();
    if (w->start_ns == 0) {
        w->start_ns = now;
    }
    uint64_t waited = now - w->start_ns;
    yield_ns = ct_max_size(spin_ns * 10, yield_ns);
    w->yielding = waited >= spin_ns;
    if (!w->yielding) {
        return CT_WAIT_POLL;
    }
    ct_blocked_waits(now);
    return waited < spin_ns + yield_ns ? CT_WAIT_YIELD : CT_WAIT_SLEEP;
}
