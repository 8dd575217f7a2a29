/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/gathering.h"

enum { APART = 1, MET = 2 };

static size_t stride(uint32_t n)
{
    return ct_round_up(sizeof(struct ct_gathering) + n * sizeof(struct ct_presence), CT_CACHE_LINE);
}

size_t ct_gatherings_bytes(uint32_t n)
{
    return CT_GATHERINGS * stride(n);
}

static struct ct_gathering *place(const struct ct_tokens *t, uint64_t k)
{
    char *const at = (char *)t->gathering + k % CT_GATHERINGS * stride(t->n);
    return (struct ct_gathering *)(void *)at;
}

static uint64_t turn_of(uint64_t k)
{
    return k / CT_GATHERINGS;
}

/* False: it was decided otherwise. */
static bool decide(struct ct_gathering *g, uint64_t turn, unsigned how)
{
    uint64_t was = atomic_load_explicit(&g->decided, memory_order_acquire);
    while (was <= 2 * turn) {
        if (atomic_compare_exchange_weak_explicit(&g->decided, &was, 2 * turn + how,
                                                  memory_order_acq_rel, memory_order_acquire)) {
            return true;
        }
    }
    return was == 2 * turn + how;
}

bool ct_gathering_come(const struct ct_tokens *t, uint64_t k, const struct ct_presence *mine)
{
    struct ct_gathering *g = place(t, k);
    const uint64_t       turn = turn_of(k);
    /* With the release of who has left: this rank's part may be written again. */
    if (atomic_load_explicit(&g->left, memory_order_acquire) < turn * t->n) {
        return false;
    }
    g->by[t->me] = *mine;
    /* Releases what it brings, and the last acquires that of all. */
    const uint64_t came = atomic_fetch_add_explicit(&g->came, 1, memory_order_acq_rel);
    if (came == (turn + 1) * t->n - 1) {
        (void)decide(g, turn, MET);
    }
    return true;
}

bool ct_gathering_is_decided(const struct ct_tokens *t, uint64_t k)
{
    return atomic_load_explicit(&place(t, k)->decided, memory_order_acquire) > 2 * turn_of(k);
}

bool ct_gathering_close(const struct ct_tokens *t, uint64_t k)
{
    return !decide(place(t, k), turn_of(k), APART);
}

const struct ct_presence *ct_gathering_of(const struct ct_tokens *t, uint64_t k, uint32_t r)
{
    return &place(t, k)->by[r];
}

void ct_gathering_vote(const struct ct_tokens *t, uint64_t k, bool yes)
{
    struct ct_gathering *g = place(t, k);
    if (!yes) {
        atomic_store_explicit(&g->refused, turn_of(k) + 1, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&g->votes, 1, memory_order_acq_rel);
}

bool ct_gathering_has_voted(const struct ct_tokens *t, uint64_t k)
{
    return atomic_load_explicit(&place(t, k)->votes, memory_order_acquire) ==
           (turn_of(k) + 1) * t->n;
}

bool ct_gathering_agreed(const struct ct_tokens *t, uint64_t k)
{
    const uint64_t refused = atomic_load_explicit(&place(t, k)->refused, memory_order_relaxed);
    return refused != turn_of(k) + 1;
}

void ct_gathering_leave(const struct ct_tokens *t, uint64_t k)
{
    atomic_fetch_add_explicit(&place(t, k)->left, 1, memory_order_acq_rel);
}
