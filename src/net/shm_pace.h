/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How near a peer's core is (base/far.h): the first part of a long slice is timed now and then. Its
 * source is brought into the cache first, so that what is seen is the ring's lines alone. Where
 * ranks share cores a longer one than the best counts: a part of the ring may well be in the cache
 * of this core, whose ranks have taken turns with others (two that are far: half of all 80 to 100
 * ns, half 170 to 280; near: three quarters below 100).
 *
 * And what reads of a peer's memory take. What is sent again and again without a change stays in
 * the reader's cache; what its owner has written since, as most programs do, has to be fetched from
 * that one's, which takes longer than by a ring up to 64 KiB (two cores of a Xeon: 8 KiB 0.6 to 1.0
 * us and 1.5 to 1.8, 16 KiB 0.9 to 1.3 and 2.6 to 3.0, 64 KiB 2.3 to 4.1 and 4.8 to 7.9). So the
 * reader tells the owner which of the two it finds: ep/far.c goes by it.
 */
#ifndef CT_NET_SHM_PACE_H
#define CT_NET_SHM_PACE_H

#include "base/far.h"
#include "net/net.h"
#include "net/shm_ring.h"

enum {
    CT_SHM_PACE_CROWDED_RANK = CT_FAR_SAMPLES * 5 / 8, /* the sample that counts, from 0, */
    CT_SHM_PACE_CROWDED_NS = 165,                      /* and what makes it far */
};

struct ct_shm_pace {
    bool     far;
    bool     judged;             /* once at least */
    bool     crowded;            /* ranks share cores */
    uint32_t copies;             /* of long slices */
    uint32_t samples;            /* of the present judgement */
    uint64_t ns[CT_FAR_SAMPLES]; /* them, the shortest first */
};

/* Whether a slice is long enough to be timed, and one block. */
static inline bool ct_shm_pace_takes(const struct ct_net_slice *slice)
{
    return slice->len_bytes >= CT_FAR_BYTES && slice->area->pieces == NULL;
}

/* Whether what a copy to a peer's ring takes says nothing of how far others are: pages may still
 * come with it; the peer, at that seat, shares this very core, whose cache has the ring; or more
 * than two share each, whose turns decide, not their lines. `seats`: NULL where none are shared. */
bool ct_shm_pace_tells_nothing(const struct ct_ring *ring, const struct ct_seats *seats,
                               uint32_t seat);

/* Copies such a slice's data to the ring. `untimed`: this would not tell how far the peer is. */
void ct_shm_pace_copy(struct ct_shm_pace *pace, const struct ct_net_slice *slice, char *to,
                      bool untimed);

/* A part has taken so long. */
void ct_shm_pace_learn(struct ct_shm_pace *pace, uint64_t ns);

/* Writes a record's header and payload. A peer that waits polls the record's first line: it takes
 * that back each time that it looks, and who then comes back to it to publish the record waits for
 * it again. Whether it does is a matter of some ns; so of an answer, for which the peer waits, that
 * line is the last. (Of all messages, streams of 256 bytes became slower by 7 %.) False: the
 * payload could not be read. */
static inline bool ct_shm_fill(const struct ct_net_slice *slice, char *to, bool answers)
{
    const struct ct_area *area = slice->area;
    char *const           data = to + slice->hdr_len;
    const size_t          first = CT_CACHE_LINE - (uintptr_t)data % CT_CACHE_LINE;
    if (!answers || slice->len_bytes <= CT_CACHE_LINE || area->pieces != NULL) {
        ct_net_put_header(to, slice);
        return slice->len_bytes == 0 ||
               ct_area_gather_all(area, slice->pos, data, slice->len_bytes);
    }
    const size_t      want = ct_min_size(slice->len_bytes, area->len_bytes - *slice->pos);
    const char *const from = (const char *)area->base + *slice->pos;
    if (CT_LIKELY(want > first)) {
        ct_block_copy(data + first, from + first, want - first);
    }
    ct_block_copy(data, from, ct_min_size(want, first));
    ct_net_put_header(to, slice);
    *slice->pos += want;
    return true;
}

enum {
    CT_SHM_READS_LEAST = CT_FAR_BYTES / 2, /* a shorter one is not timed */
    CT_SHM_READS_MOST = 512 << 10,         /* nor a longer one: no cache holds it for sure */
    /* One that takes longer than this, and one ns for each so many bytes, is slow. So many in a row
     * are taken for changes, since one in twenty is disturbed; and one that is not, for none. */
    CT_SHM_READS_NS = 700,
    CT_SHM_READS_BYTES = 16,
    CT_SHM_READS_IN_A_ROW = 6,
};

/* Zeroed: nothing is known, and nobody to be told. */
struct ct_shm_reads {
    unsigned          seen; /* that could be timed */
    unsigned          slow; /* in a row */
    _Atomic uint32_t *told; /* 1: the owner has changed what was read; else 0 */
};

/* Where the owner is told; there may be another's word now. */
void ct_shm_reads_tell(struct ct_shm_reads *reads, _Atomic uint32_t *told);

/* A read has taken so long. */
void ct_shm_reads_learn(struct ct_shm_reads *reads, size_t len_bytes, uint64_t ns);

/* Around a read: 0 if it is not timed, as most are not while there is no suspicion. */
static inline uint64_t ct_shm_reads_begin(struct ct_shm_reads *reads, size_t len_bytes)
{
    enum { EVERY = 8 };
    const bool timed =
        len_bytes >= CT_SHM_READS_LEAST && (reads->slow > 0 || reads->seen++ % EVERY == 0);
    return timed ? ct_clock_ns() : 0;
}

/* Around n of so many bytes each; a row is as fast as one, or faster. */
static inline void ct_shm_reads_end_row(struct ct_shm_reads *reads, size_t len_bytes,
                                        uint64_t start_ns, unsigned n)
{
    if (CT_UNLIKELY(start_ns != 0)) {
        ct_shm_reads_learn(reads, len_bytes, (ct_clock_ns() - start_ns) / n);
    }
}

static inline void ct_shm_reads_end(struct ct_shm_reads *reads, size_t len_bytes, uint64_t start_ns)
{
    ct_shm_reads_end_row(reads, len_bytes, start_ns, 1);
}

#endif
