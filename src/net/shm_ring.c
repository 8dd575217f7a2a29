/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of shm_ring.h. */
#include "net/shm_ring.h"

/* A header word: payload length (32 bits), header length (8), type (8), mark (16). */
enum { MARK = 0xc7a1 };

static uint64_t pack_word(uint8_t type, size_t hdr_len, size_t len_bytes)
{
    return (uint64_t)len_bytes | (uint64_t)hdr_len << 32 | (uint64_t)type << 40 |
           (uint64_t)MARK << 48;
}

static _Atomic uint64_t *word_at(const struct ct_ring *r, uint64_t pos)
{
    return (_Atomic uint64_t *)(r->cells + (pos & (r->ncells - 1)) * CT_RING_CELL);
}

static uint64_t cells_for(size_t hdr_len, size_t len_bytes)
{
    return (CT_RING_WORD + hdr_len + len_bytes + CT_RING_CELL - 1) / CT_RING_CELL;
}

/* Cells before the memory's end. */
static uint64_t cells_to_end(const struct ct_ring *r)
{
    return r->ncells - (r->pos & (r->ncells - 1));
}

/* Whether `cells` more, and the cleared word behind them, are free. */
static bool has_room(struct ct_ring *r, uint64_t cells)
{
    if (r->pos + cells + 1 - r->seen <= r->ncells) {
        return true;
    }
    r->seen = atomic_load_explicit(&r->ctl->head, memory_order_acquire);
    if (r->pos + cells + 1 - r->seen <= r->ncells) {
        return true;
    }
    /* Say so, then look again: the consumer moves head first and reads `starved` second. */
    atomic_store_explicit(&r->ctl->starved, 1, memory_order_seq_cst);
    r->seen = atomic_load_explicit(&r->ctl->head, memory_order_seq_cst);
    return r->pos + cells + 1 - r->seen <= r->ncells;
}

static void publish_word(struct ct_ring *r, uint64_t cells, uint64_t word)
{
    atomic_store_explicit(word_at(r, r->pos + cells), 0, memory_order_relaxed);
    atomic_store_explicit(word_at(r, r->pos), word, memory_order_seq_cst);
    r->pos += cells;
}

char *ct_ring_reserve(struct ct_ring *r, size_t hdr_len, size_t len_bytes)
{
    uint64_t cells = cells_for(hdr_len, len_bytes), to_end = cells_to_end(r);
    if (CT_UNLIKELY(cells > to_end)) {
        if (!has_room(r, to_end)) {
            return NULL;
        }
        publish_word(r, to_end, pack_word(CT_RING_SKIP, 0, 0));
    }
    if (CT_UNLIKELY(!has_room(r, cells))) {
        return NULL;
    }
    return (char *)word_at(r, r->pos) + CT_RING_WORD;
}

void ct_ring_publish(struct ct_ring *r, uint8_t type, size_t hdr_len, size_t len_bytes)
{
    publish_word(r, cells_for(hdr_len, len_bytes), pack_word(type, hdr_len, len_bytes));
}

/* Gives cells back to the producer: in batches, since each batch costs it a cache miss. */
static bool consume(struct ct_ring *r, uint64_t cells)
{
    r->pos += cells;
    if (r->pos - r->seen < r->ncells / 4) {
        return false;
    }
    r->seen = r->pos;
    atomic_store_explicit(&r->ctl->head, r->pos, memory_order_seq_cst);
    return atomic_load_explicit(&r->ctl->starved, memory_order_seq_cst) != 0 &&
           atomic_exchange_explicit(&r->ctl->starved, 0, memory_order_seq_cst) != 0;
}

/* Fetches what is read next while the caller works on this record. Where records come one after the
 * other, more of them: but only there, since a line that the consumer has looked at costs the
 * producer a miss. */
static void look_ahead(struct ct_ring *r, uint64_t cells)
{
    __builtin_prefetch((const void *)word_at(r, r->pos + cells));
    if (r->streak++ > 0) {
        __builtin_prefetch((const void *)word_at(r, r->pos + cells + 1));
        __builtin_prefetch((const void *)word_at(r, r->pos + cells + 2));
    }
}

int ct_ring_peek(struct ct_ring *r, struct ct_record *out)
{
    uint64_t word = atomic_load_explicit(word_at(r, r->pos), memory_order_seq_cst);
    if (CT_LIKELY(word == 0)) {
        r->streak = 0;
        return 0;
    }
    out->len_bytes = (uint32_t)word;
    out->hdr_len = (uint8_t)(word >> 32);
    out->type = (uint8_t)(word >> 40);
    if (word >> 48 != MARK) {
        return -1;
    }
    out->cells =
        out->type == CT_RING_SKIP ? cells_to_end(r) : cells_for(out->hdr_len, out->len_bytes);
    if (out->cells > cells_to_end(r) || out->cells > r->ncells / 2 + 1) {
        if (out->type != CT_RING_SKIP) {
            return -1;
        }
    }
    look_ahead(r, out->cells);
    out->hdr = (const char *)word_at(r, r->pos) + CT_RING_WORD;
    out->data = out->hdr + out->hdr_len;
    return 1;
}

bool ct_ring_release(struct ct_ring *r, const struct ct_record *rec)
{
    return consume(r, rec->cells);
}
