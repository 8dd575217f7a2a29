/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of records from one producer to one consumer, in memory that both map.
 *
 * A record is a header word, then its bytes, padded to whole cells of 64 bytes; it never wraps:
 * where it would not fit before the end, a SKIP record fills the rest. A small message is thus one
 * cell, and travels as one cache line. The consumer polls the header word of the next record, so
 * no index is shared on the way there; `head` tells the producer how far the consumer has come.
 *
 * Invariant: the header word behind the last record is 0. The producer clears it before it
 * publishes a record by a seq_cst store of its header word. That is also the first half of the
 * wake-up protocol of base/wait.h.
 *
 * The consumer trusts nothing: a header word is checked against the ring before use.
 */
#ifndef CT_NET_SHM_RING_H
#define CT_NET_SHM_RING_H

#include <stdatomic.h>

#include "base/base.h"

enum { CT_RING_CELL = 64, CT_RING_WORD = 8 };
enum { CT_RING_SKIP = 0 }; /* the type of a record to pass over */

/* Shared part, at the start of a ring's memory; the cells follow. */
struct ct_ring_ctl {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t head; /* cells consumed since the start */
    _Atomic uint32_t starved;                        /* the producer waits for head to move */
    /* Who the producer says it is, and that it has left. */
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

/* Producer: room for a record of hdr_len + len_bytes, NULL when there is none now. Fill it, then
 * ct_ring_publish with the same sizes. */
char *ct_ring_reserve(struct ct_ring *r, size_t hdr_len, size_t len_bytes);
void  ct_ring_publish(struct ct_ring *r, uint8_t type, size_t hdr_len, size_t len_bytes);

/* Consumer: 1 and the next record, 0 when there is none, -1 when the ring's contents are not
 * those of a ring. ct_ring_release gives its cells back; true if the producer starves for them. */
int  ct_ring_peek(struct ct_ring *r, struct ct_record *out);
bool ct_ring_release(struct ct_ring *r, const struct ct_record *rec);

#endif
