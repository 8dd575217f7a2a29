/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of shm_share.h. */
#define CT_FOLDER "net"
#include "net/shm_share.h"

#include <sched.h>

/* Blocks: two up to a mebibyte, so that each end copies the same half every time, which is then in
 * its cache; beyond, pieces of 256 KiB, where a system call no longer counts. */
enum { BLOCK = 256 << 10, MOST_BLOCKS = 1 << 15, PAGE = 4096 };

static size_t block_bytes(size_t len_bytes)
{
    size_t block = len_bytes <= 4 * (size_t)BLOCK ? ct_div_up(len_bytes, 2) : BLOCK;
    return ct_round_up(ct_max_size(block, ct_div_up(len_bytes, MOST_BLOCKS)), PAGE);
}

static uint64_t shm_share_pack(uint32_t number, uint32_t front, uint32_t end)
{
    return (uint64_t)number << 32 | (uint64_t)front << 16 | end;
}

static uint32_t shm_share_number_of(uint64_t claim)
{
    return (uint32_t)(claim >> 32);
}

static uint32_t front_of(uint64_t claim)
{
    return claim >> 16 & 0xffff;
}

static uint32_t shm_share_end_of(uint64_t claim)
{
    return claim & 0xffff;
}

/* ---- the reader ------------------------------------------------------------------------------ */

/* Claims the block at the front; false: none of the n is left. */
static bool claim_front(struct ct_shm_offer *offer, uint32_t n, uint32_t *block)
{
    uint64_t now = atomic_load_explicit(&offer->claim, memory_order_relaxed), next;
    do {
        *block = front_of(now);
        next = shm_share_pack(shm_share_number_of(now), *block + 1, shm_share_end_of(now));
        if (*block >= shm_share_end_of(now) || *block >= n) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&offer->claim, &now, next, memory_order_acq_rel,
                                                    memory_order_relaxed));
    return true;
}

static int read_block(const struct ct_shm_mate *owner, char *to, const struct ct_shm_remote *from,
                      size_t block, uint32_t i, uint32_t n)
{
    size_t               at = i * block, len = ct_min_size(n * block, from->len_bytes - at);
    struct ct_shm_remote part = {.addr = from->addr + at, .len_bytes = len, .key = from->key};
    return ct_shm_get(owner, to + at, &part);
}

/* Waits for the blocks that the owner has claimed; it cannot have done more. */
static int shm_share_await(struct ct_shm_offer *offer, uint32_t blocks,
                           const struct ct_shm_mate *owner)
{
    enum { SPINS = 4096 }; /* before the core is given away: it may be the owner's */
    uint32_t done;
    for (unsigned spins = 0;
         (done = atomic_load_explicit(&offer->done, memory_order_acquire)) != blocks;) {
        if (done > blocks) {
            return CTRAN_ERR_INTERN;
        }
        if (++spins % SPINS == 0) {
            if (owner->gone(owner->arg)) {
                return CTRAN_ERR_PROC_FAILED;
            }
            sched_yield();
        }
    }
    return CTRAN_SUCCESS;
}

/* Opens the read to the owner; false: it has another one. If another reader has come first by a
 * moment, nothing is taken back: an owner that is late, and found the word ours before, may have
 * claimed a block already. */
static bool open_offer(struct ct_shm_offer *offer, _Atomic uint32_t *word, uint32_t place, void *to,
                       const struct ct_shm_remote *from, size_t block, uint32_t n)
{
    if (atomic_load_explicit(word, memory_order_relaxed) != 0) {
        return false;
    }
    uint64_t before = atomic_load_explicit(&offer->claim, memory_order_relaxed);
    atomic_store_explicit(&offer->to, (uintptr_t)to, memory_order_relaxed);
    atomic_store_explicit(&offer->from, from->addr, memory_order_relaxed);
    atomic_store_explicit(&offer->len_bytes, from->len_bytes, memory_order_relaxed);
    atomic_store_explicit(&offer->block_bytes, block, memory_order_relaxed);
    atomic_store_explicit(&offer->key, from->key, memory_order_relaxed);
    atomic_store_explicit(&offer->done, 0, memory_order_relaxed);
    atomic_store_explicit(&offer->failed, 0, memory_order_relaxed);
    atomic_store_explicit(&offer->claim, shm_share_pack(shm_share_number_of(before) + 1, 0, n),
                          memory_order_release);
    uint32_t none = 0;
    (void)atomic_compare_exchange_strong_explicit(word, &none, place + 1, memory_order_seq_cst,
                                                  memory_order_relaxed);
    return true;
}

static void close_offer(_Atomic uint32_t *word, uint32_t place)
{
    uint32_t mine = place + 1;
    (void)atomic_compare_exchange_strong_explicit(word, &mine, 0, memory_order_relaxed,
                                                  memory_order_relaxed);
}

int ct_shm_share_read(struct ct_shm_offer *offer, _Atomic uint32_t *word, uint32_t place,
                      const struct ct_shm_mate *owner, void *to, const struct ct_shm_remote *from)
{
    size_t   block = block_bytes(from->len_bytes);
    uint32_t n = (uint32_t)ct_div_up(from->len_bytes, block), taken = 0, i;
    int      rc = CTRAN_SUCCESS;
    if (!open_offer(offer, word, place, to, from, block, n)) {
        return read_block(owner, to, from, block, 0, n);
    }
    for (; taken < n && claim_front(offer, n, &i); taken++) { /* all: nobody shall take the rest */
        rc = rc == CTRAN_SUCCESS ? read_block(owner, to, from, block, i, 1) : rc;
    }
    close_offer(word, place);
    const uint64_t left = atomic_load_explicit(&offer->claim, memory_order_relaxed);
    const uint32_t end = shm_share_end_of(left);
    if (end != taken || front_of(left) != taken) { /* the owner has what is behind these */
        return CTRAN_ERR_INTERN;
    }
    int helped = shm_share_await(offer, n - end, owner);
    rc = rc != CTRAN_SUCCESS ? rc : helped;
    if (rc == CTRAN_SUCCESS && end < n &&
        atomic_load_explicit(&offer->failed, memory_order_relaxed) != 0) {
        rc = read_block(owner, to, from, block, end, n - end); /* what it could not write */
    }
    return rc;
}

/* ---- the owner ------------------------------------------------------------------------------- */

/* The offer as it stood when the block was claimed: its number tells whether what was read before
 * belongs to it. */
static bool claim_back(struct ct_shm_offer *offer, struct ct_shm_remote *to,
                       struct ct_shm_remote *from)
{
    uint64_t now = atomic_load_explicit(&offer->claim, memory_order_acquire), next;
    do {
        uint32_t end = shm_share_end_of(now);
        if (front_of(now) >= end) {
            return false;
        }
        size_t block = atomic_load_explicit(&offer->block_bytes, memory_order_relaxed);
        size_t len = atomic_load_explicit(&offer->len_bytes, memory_order_relaxed);
        size_t at = (end - 1) * block;
        to->addr = atomic_load_explicit(&offer->to, memory_order_relaxed) + at;
        to->len_bytes = at < len ? ct_min_size(block, len - at) : 0;
        from->addr = atomic_load_explicit(&offer->from, memory_order_relaxed) + at;
        from->len_bytes = to->len_bytes;
        from->key = atomic_load_explicit(&offer->key, memory_order_relaxed);
        next = shm_share_pack(shm_share_number_of(now), front_of(now), end - 1);
    } while (!atomic_compare_exchange_weak_explicit(&offer->claim, &now, next, memory_order_acq_rel,
                                                    memory_order_acquire));
    return true;
}

int ct_shm_share_help(struct ct_shm_offer *offer, _Atomic uint32_t *word, uint32_t place,
                      const struct ct_shm_mate *reader)
{
    struct ct_shm_remote to = {.key = 0}, from;
    if (!ct_shm_copies(reader) || !claim_back(offer, &to, &from)) {
        close_offer(word, place);
        return CT_AGAIN;
    }
    const int rc = reader->exposed(reader->arg, &from);
    if (rc != CTRAN_SUCCESS || reader->gone(reader->arg) ||
        ct_shm_put(reader, (const void *)(uintptr_t)from.addr, &to) != CTRAN_SUCCESS) {
        atomic_store_explicit(&offer->failed, 1, memory_order_relaxed);
    }
    if (rc == CT_AGAIN) {
        close_offer(word, place); /* the reader does the rest */
    }
    atomic_fetch_add_explicit(&offer->done, 1, memory_order_release);
    return rc;
}
