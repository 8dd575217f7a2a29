/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream/gathering.h"

#include <string.h>

enum { PAGE = 4096 };

/* Few ranks may be far apart. */
static uint32_t depth_for(uint32_t n)
{
    return n <= 8 ? 64 : 32;
}

static size_t head_bytes(void)
{
    return ct_round_up(sizeof(struct ct_token_head), PAGE);
}

static size_t token_bytes(uint32_t n)
{
    return ct_round_up((size_t)n * n * 2 * CT_TOKEN_SETS * CT_TOKEN_LANES * sizeof(struct ct_token),
                       PAGE);
}

static size_t signal_bytes(uint32_t n)
{
    return ct_round_up((size_t)n * n * CT_SIGNALS * sizeof(struct ct_signal), PAGE);
}

static size_t slot_bytes(uint32_t n)
{
    return (size_t)n * n * depth_for(n) * sizeof(struct ct_slot);
}

size_t ct_tokens_bytes(uint32_t n)
{
    return head_bytes() + token_bytes(n) + signal_bytes(n) + slot_bytes(n) +
           CT_TOKEN_CALLS * sizeof(struct ct_call_word) + ct_gatherings_bytes(n);
}

void ct_tokens_place(struct ct_tokens *t, char *base, uint32_t n, uint32_t me)
{
    t->n = n;
    t->me = me;
    t->depth = depth_for(n);
    t->pinned_bytes = head_bytes() + token_bytes(n) + signal_bytes(n);
    t->bytes = ct_tokens_bytes(n);
    t->base = base;
    t->head = (struct ct_token_head *)(void *)base;
    t->token = (struct ct_token *)(void *)(base + head_bytes());
    t->signal = (struct ct_signal *)(void *)(base + head_bytes() + token_bytes(n));
    t->slot = (struct ct_slot *)(void *)(base + t->pinned_bytes);
    t->call = (struct ct_call_word *)(void *)(base + t->pinned_bytes + slot_bytes(n));
    t->gathering = (struct ct_gathering *)(void *)(t->call + CT_TOKEN_CALLS);
}

void ct_signals_init(const struct ct_tokens *t)
{
    for (uint32_t from = 0; from < t->n; from++) {
        for (uint64_t k = 0; k < CT_SIGNALS; k++) {
            atomic_init(&ct_signal_at(t, from, t->me, k)->room, 1);
        }
    }
}

/* The states of a meeting in a turn; the word only grows. Each of the two ends makes one step, and
 * an end that is too late for its own step finds the other's decision. */
enum { STAYS = 1, APART = 2, MET = 3 };

static uint64_t meeting(uint64_t turn, unsigned state)
{
    return 4 * turn + state;
}

/* The second to come: whether the first stays. If not, it shall not begin to. */
static bool decide(struct ct_slot *slot, uint64_t turn)
{
    uint64_t was = atomic_load_explicit(&slot->meeting, memory_order_acquire);
    uint64_t now;
    do {
        if (was == meeting(turn, APART)) {
            return false;
        }
        now = meeting(turn, was == meeting(turn, STAYS) ? MET : APART);
    } while (!atomic_compare_exchange_weak_explicit(&slot->meeting, &was, now, memory_order_acq_rel,
                                                    memory_order_acquire));
    return now == meeting(turn, MET);
}

enum ct_arrival ct_slot_come(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k,
                             uint32_t way, const struct ct_offer *mine, struct ct_offer *other)
{
    struct ct_slot *slot = ct_slot_at(t, from, to, k);
    const uint64_t  turn = k / t->depth;
    /* With the release of who has read: this end's part may be written again. */
    if (atomic_load_explicit(&slot->taken, memory_order_acquire) < turn) {
        return CT_CAME_FULL;
    }
    slot->by[way] = *mine;
    /* Releases the offer to who comes second, and acquires that of who came first. */
    const uint64_t came = atomic_fetch_add_explicit(&slot->came, 1, memory_order_seq_cst);
    if ((came & CT_SLOT_CLOSED) != 0) {
        return CT_CAME_CLOSED;
    }
    if (came == 2 * turn) {
        return CT_CAME_FIRST;
    }
    *other = slot->by[1 - way];
    if (decide(slot, turn)) {
        return CT_CAME_MET; /* the other end takes, as it is the last to read */
    }
    atomic_store_explicit(&slot->taken, turn + 1, memory_order_release);
    return CT_CAME_SECOND;
}

bool ct_slot_stay(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k)
{
    struct ct_slot *slot = ct_slot_at(t, from, to, k);
    const uint64_t  turn = k / t->depth;
    uint64_t        was = atomic_load_explicit(&slot->meeting, memory_order_acquire);
    return was < meeting(turn, STAYS) &&
           atomic_compare_exchange_strong_explicit(&slot->meeting, &was, meeting(turn, STAYS),
                                                   memory_order_acq_rel, memory_order_acquire);
}

bool ct_slot_has_met(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k)
{
    return atomic_load_explicit(&ct_slot_at(t, from, to, k)->meeting, memory_order_acquire) ==
           meeting(k / t->depth, MET);
}

bool ct_slot_leave(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k)
{
    const uint64_t turn = k / t->depth;
    uint64_t       stays = meeting(turn, STAYS);
    return atomic_compare_exchange_strong_explicit(&ct_slot_at(t, from, to, k)->meeting, &stays,
                                                   meeting(turn, APART), memory_order_acq_rel,
                                                   memory_order_acquire);
}

void ct_slot_take(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k, uint32_t way,
                  struct ct_offer *other)
{
    struct ct_slot *slot = ct_slot_at(t, from, to, k);
    *other = slot->by[1 - way];
    atomic_store_explicit(&slot->taken, k / t->depth + 1, memory_order_release);
}

bool ct_slot_close(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k)
{
    uint64_t one = 2 * (k / t->depth) + 1;
    return atomic_compare_exchange_strong_explicit(&ct_slot_at(t, from, to, k)->came, &one,
                                                   one | CT_SLOT_CLOSED, memory_order_seq_cst,
                                                   memory_order_relaxed);
}

bool ct_slot_is_closed(const struct ct_tokens *t, uint32_t from, uint32_t to, uint64_t k)
{
    return (atomic_load_explicit(&ct_slot_at(t, from, to, k)->came, memory_order_seq_cst) &
            CT_SLOT_CLOSED) != 0;
}

uint64_t ct_call_come(const struct ct_tokens *t, uint64_t k, uint64_t what)
{
    _Atomic uint64_t *word = &t->call[k % CT_TOKEN_CALLS].word;
    const uint64_t    mine = what | k << CT_CALL_NUMBER_AT;
    uint64_t          found = atomic_load_explicit(word, memory_order_relaxed);
    for (;;) {
        /* of so many bits, with their sign */
        const int64_t ahead = (int64_t)(found - (k << CT_CALL_NUMBER_AT)) >> CT_CALL_NUMBER_AT;
        if (found != 0 && ahead >= 0) {
            return ahead == 0 ? found ^ mine : 0;
        }
        if (atomic_compare_exchange_weak_explicit(word, &found, mine, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return 0;
        }
    }
}

bool ct_tokens_end(const struct ct_tokens *t, int error)
{
    int32_t none = 0;
    if (!atomic_compare_exchange_strong_explicit(&t->head->over, &none, error, memory_order_seq_cst,
                                                 memory_order_relaxed)) {
        return false;
    }
    atomic_store_explicit(&t->head->over_by, (int32_t)t->me, memory_order_relaxed);
    return true;
}
