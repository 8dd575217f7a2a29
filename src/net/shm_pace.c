/* SPDX-License-Identifier: BSD-3-Clause */
/* shm_pace.h: timed copies. Called by shm.c for each slice. */
#include "net/shm_pace.h"

void ct_shm_pace_learn(struct ct_shm_pace *pace, uint64_t ns)
{
    unsigned i = pace->samples++;
    for (; i > 0 && pace->ns[i - 1] > ns; i--) {
        pace->ns[i] = pace->ns[i - 1];
    }
    pace->ns[i] = ns;
    if (pace->samples == CT_FAR_SAMPLES) {
        pace->far = pace->crowded ? pace->ns[CT_SHM_PACE_CROWDED_RANK] > CT_SHM_PACE_CROWDED_NS
                                  : pace->ns[0] > CT_FAR_NS;
        pace->judged = true;
        pace->samples = 0;
    }
}

bool ct_shm_pace_tells_nothing(const struct ct_ring *ring, const struct ct_seats *seats,
                               uint32_t seat)
{
    return !ct_ring_went_round(ring) ||
           (seats != NULL && (seats->fair > 2 || ct_seats_look(seats, seat) == CT_SEAT_BESIDE));
}

/* Each of the first copies is timed that tells something; later few are, and fewer of shorter
 * slices, where it takes a larger part of the time; but of long ones all where the peer counts as
 * far, since there few are sent. Where ranks share cores shorter ones are left out. */
static bool is_timed(const struct ct_shm_pace *pace, size_t len_bytes)
{
    enum { EVERY = 8, EVERY_SHORT = 64 };
    const bool is_long = len_bytes >= 2 * CT_FAR_BYTES;
    if (pace->crowded) {
        return is_long && (pace->copies <= CT_FAR_SAMPLES || pace->copies % EVERY == 0);
    }
    return !pace->judged || (is_long && pace->far) ||
           pace->copies % (is_long ? EVERY : EVERY_SHORT) == 0;
}

static void warm(const char *from)
{
    for (size_t i = 0; i < CT_FAR_BYTES; i += CT_CACHE_LINE) {
        (void)*(const volatile char *)(from + i);
    }
}

void ct_shm_pace_copy(struct ct_shm_pace *pace, const struct ct_net_slice *slice, char *to,
                      bool untimed)
{
    const char *from = (const char *)slice->area->base + *slice->pos;
    size_t      done = 0;
    pace->copies++;
    if (!untimed && is_timed(pace, slice->len_bytes)) {
        warm(from);
        const uint64_t start = ct_clock_ns();
        memcpy(to, from, CT_FAR_BYTES);
        ct_shm_pace_learn(pace, ct_clock_ns() - start);
        done = CT_FAR_BYTES;
    }
    *slice->pos += done;
    ct_area_gather(slice->area, slice->pos, to + done, slice->len_bytes - done);
}

/* ---- reads ----------------------------------------------------------------------------------- */

static bool finds_changes(const struct ct_shm_reads *reads)
{
    return reads->slow >= CT_SHM_READS_IN_A_ROW;
}

void ct_shm_reads_tell(struct ct_shm_reads *reads, _Atomic uint32_t *told)
{
    reads->told = told;
    atomic_store_explicit(told, finds_changes(reads), memory_order_relaxed);
}

void ct_shm_reads_learn(struct ct_shm_reads *reads, size_t len_bytes, uint64_t ns)
{
    const bool before = finds_changes(reads);
    const bool slow = ns > CT_SHM_READS_NS + len_bytes / CT_SHM_READS_BYTES;
    reads->slow = slow ? reads->slow + 1 : 0;
    if (finds_changes(reads) != before && reads->told != NULL) {
        atomic_store_explicit(reads->told, !before, memory_order_relaxed);
    }
}
