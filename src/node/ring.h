/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of records from one producer to one consumer, in memory that both map.
 *
 * A record is a header word, then its bytes, padded to whole cells of 32 bytes; it never wraps:
 * where it would not fit before the end, a SKIP record fills the rest. A small message is thus one
 * cell, and two of them travel as one cache line. The consumer polls the header word of the next
 * record, so no index is shared on the way there; `head` tells the producer how far the consumer
 * has come.
 *
 * Invariant: the header word behind the last record is 0. The producer clears it before it
 * publishes a record by a store of its header word. That is also the first half of the wake-up
 * protocol of base/wait.h, which decides whether it has to be seq_cst.
 *
 * The consumer trusts nothing: it checks a header word against the ring before use.
 */
#ifndef CT_NODE_RING_H
#define CT_NODE_RING_H

#include <stdatomic.h>

#include "base/base.h"

enum { CT_RING_CELL = 32, CT_RING_WORD = 8 };
enum {
    CT_RING_SKIP = 0, /* the type of a record to pass over, up to the end, */
    CT_RING_TURN = 1, /* or, with this for the length of a header, of one cell: see ring_pair.h */
};

/* Shared part, at the start of a ring's memory; the cells follow. */
struct ct_ring_ctl {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t head; /* cells consumed since the start */
    _Atomic uint32_t starved;                        /* the producer waits for head to move */
    /* The producer's id, and that it has left. */
    CT_ALIGNED(CT_CACHE_LINE) uint32_t producer_id, producer_incarnation;
    _Atomic bool producer_left;
};

/* One side's private view. */
struct ct_ring {
    struct ct_ring_ctl *ctl;
    char               *cells;
    uint64_t            ncells; /* a power of two, at least 4 */
    uint64_t            pos;    /* next cell to write or read, counted since the start */
    uint64_t            seen;   /* producer: head as last read; consumer: head as last published */
    unsigned            streak; /* consumer: records found since there last was none */
    bool                barred; /* producer: a release store will do */
};

/* A record as the consumer sees it; valid until ct_ring_release. */
struct ct_record {
    uint8_t     type, hdr_len;
    size_t      len_bytes; /* of the payload behind the header */
    const char *hdr, *data;
    uint64_t    cells;
};

/* Bytes of memory for a ring of `size_bytes`, a power of two >= 4 cells. */
static inline size_t ct_ring_memory(size_t size_bytes)
{
    return sizeof(struct ct_ring_ctl) + size_bytes;
}

/* The most payload that a record may have, so that two records always fit. */
static inline size_t ct_ring_max_payload(size_t size_bytes, size_t max_hdr)
{
    return size_bytes / 2 - CT_RING_CELL - CT_RING_WORD - max_hdr;
}

static inline void ct_ring_view(struct ct_ring *r, void *memory, size_t size_bytes)
{
    *r = (struct ct_ring){
        .ctl = memory,
        .cells = (char *)memory + sizeof(struct ct_ring_ctl),
        .ncells = size_bytes / CT_RING_CELL,
    };
}

/* ---- the rest is here to be inlined: each message goes through it --------------------------- */

/* A header word: payload length (32 bits), header length (8), type (8), mark (16). */
enum { CT_RING_MARK = 0xc7a1 };

static inline uint64_t ct_ring_pack(uint8_t type, size_t hdr_len, size_t len_bytes)
{
    return (uint64_t)len_bytes | (uint64_t)hdr_len << 32 | (uint64_t)type << 40 |
           (uint64_t)CT_RING_MARK << 48;
}

static inline _Atomic uint64_t *ct_ring_word_at(const struct ct_ring *r, uint64_t pos)
{
    return (_Atomic uint64_t *)(r->cells + (pos & (r->ncells - 1)) * CT_RING_CELL);
}

static inline uint64_t ct_ring_cells(size_t hdr_len, size_t len_bytes)
{
    return (CT_RING_WORD + hdr_len + len_bytes + CT_RING_CELL - 1) / CT_RING_CELL;
}

/* Cells before the memory's end. */
static inline uint64_t ct_ring_to_end(const struct ct_ring *r)
{
    return r->ncells - (r->pos & (r->ncells - 1));
}

/* Whether `cells` more, and the cleared word behind them, fit into what is known to be free. */
static inline bool ct_ring_fits(const struct ct_ring *r, uint64_t cells)
{
    return r->pos + cells + 1 - r->seen <= r->ncells;
}

/* Asks the consumer for its position and returns whether the ring is still full; if it is, the
 * consumer is told that the producer waits. */
bool ct_ring_starve(struct ct_ring *r, uint64_t cells);

static inline bool ct_ring_has_room(struct ct_ring *r, uint64_t cells)
{
    return CT_LIKELY(ct_ring_fits(r, cells)) || ct_ring_starve(r, cells);
}

/* The lines that a record like the last one will be in, some messages from now on: the consumer had
 * them last. */
static inline void ct_ring_own_ahead(const struct ct_ring *r, uint64_t cells)
{
    enum { AHEAD = 8, MOST = 32, LINE = CT_CACHE_LINE / CT_RING_CELL };
    const uint64_t end = r->pos + AHEAD + (cells < MOST ? cells : MOST);
    for (uint64_t at = r->pos + AHEAD; at < end; at += LINE) {
        ct_line_own(ct_ring_word_at(r, at));
    }
}

static inline void ct_ring_publish_word(struct ct_ring *r, uint64_t cells, uint64_t word)
{
    atomic_store_explicit(ct_ring_word_at(r, r->pos + cells), 0, memory_order_relaxed);
    if (CT_LIKELY(r->barred)) {
        atomic_store_explicit(ct_ring_word_at(r, r->pos), word, memory_order_release);
        atomic_signal_fence(
            memory_order_seq_cst); /* the load of the sleeping state comes after it */
    } else {
        atomic_store_explicit(ct_ring_word_at(r, r->pos), word, memory_order_seq_cst);
    }
    r->pos += cells;
    ct_ring_own_ahead(r, cells);
}

/* Producer: room for a record of hdr_len + len_bytes, NULL when there is none now. Fill it, then
 * ct_ring_publish with the same sizes. */
static inline char *ct_ring_reserve(struct ct_ring *r, size_t hdr_len, size_t len_bytes)
{
    uint64_t cells = ct_ring_cells(hdr_len, len_bytes), to_end = ct_ring_to_end(r);
    if (CT_UNLIKELY(cells > to_end)) {
        if (!ct_ring_has_room(r, to_end)) {
            return NULL;
        }
        ct_ring_publish_word(r, to_end, ct_ring_pack(CT_RING_SKIP, 0, 0));
    }
    if (CT_UNLIKELY(!ct_ring_has_room(r, cells))) {
        return NULL;
    }
    return (char *)ct_ring_word_at(r, r->pos) + CT_RING_WORD;
}

static inline void ct_ring_publish(struct ct_ring *r, uint8_t type, size_t hdr_len,
                                   size_t len_bytes)
{
    ct_ring_publish_word(r, ct_ring_cells(hdr_len, len_bytes),
                         ct_ring_pack(type, hdr_len, len_bytes));
}

/* Tells the producer how far the consumer has come; whether it starves for that. */
static inline bool ct_ring_tell(struct ct_ring *r)
{
    r->seen = r->pos;
    atomic_store_explicit(&r->ctl->head, r->pos, memory_order_seq_cst);
    return atomic_load_explicit(&r->ctl->starved, memory_order_seq_cst) != 0 &&
           atomic_exchange_explicit(&r->ctl->starved, 0, memory_order_seq_cst) != 0;
}

/* Gives all cells back, up to and with these. */
static inline bool ct_ring_consume_all(struct ct_ring *r, uint64_t cells)
{
    r->pos += cells;
    return ct_ring_tell(r);
}

/* Gives cells back to the producer: in batches, since each batch costs it a cache miss. */
static inline bool ct_ring_consume(struct ct_ring *r, uint64_t cells)
{
    r->pos += cells;
    return r->pos - r->seen >= r->ncells / 4 && ct_ring_tell(r);
}

/* Consumer: 1 and the next record, 0 when there is none, -1 when the ring's contents are not
 * those of a ring. ct_ring_release gives its cells back; true if the producer starves for them. */
static inline int ct_ring_peek(struct ct_ring *r, struct ct_record *out)
{
    uint64_t word = atomic_load_explicit(ct_ring_word_at(r, r->pos), memory_order_seq_cst);
    if (CT_LIKELY(word == 0)) {
        r->streak = 0;
        return 0;
    }
    out->len_bytes = (uint32_t)word;
    out->hdr_len = (uint8_t)(word >> 32);
    out->type = (uint8_t)(word >> 40);
    if (word >> 48 != CT_RING_MARK) {
        return -1;
    }
    out->cells = out->type != CT_RING_SKIP      ? ct_ring_cells(out->hdr_len, out->len_bytes)
                 : out->hdr_len == CT_RING_TURN ? 1
                                                : ct_ring_to_end(r);
    /* A skip is shorter than the record that did not fit; else one at the beginning, found again
     * and again, would keep the consumer for ever. */
    if (out->cells > ct_ring_to_end(r) || out->cells > r->ncells / 2 + 1) {
        return -1;
    }
    r->streak++;
    __builtin_prefetch((const void *)ct_ring_word_at(r, r->pos + out->cells)); /* read next */
    out->hdr = (const char *)ct_ring_word_at(r, r->pos) + CT_RING_WORD;
    out->data = out->hdr + out->hdr_len;
    return 1;
}

static inline bool ct_ring_release(struct ct_ring *r, const struct ct_record *rec)
{
    return ct_ring_consume(r, rec->cells);
}

#endif
