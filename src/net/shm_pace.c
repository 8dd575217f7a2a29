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
        pace->samples = 0;
    }
}

/* Each of the first copies is timed that tells something, if any does; later few are, but where the
 * peer counts as far, since there few long slices are sent; where ranks share cores, more. */
static bool is_timed(const struct ct_shm_pace *pace)
{
    enum { EVERY = 8 };
    return (pace->far && !pace->crowded) || pace->copies <= CT_FAR_SAMPLES ||
           pace->copies % EVERY == 0;
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
    if (!untimed && is_timed(pace)) {
        warm(from);
        const uint64_t start = ct_clock_ns();
        memcpy(to, from, CT_FAR_BYTES);
        ct_shm_pace_learn(pace, ct_clock_ns() - start);
        done = CT_FAR_BYTES;
    }
    *slice->pos += done;
    ct_area_gather(slice->area, slice->pos, to + done, slice->len_bytes - done);
}
