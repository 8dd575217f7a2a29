/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How near a peer's core is (base/far.h): the first part of a long slice is timed now and then. Its
 * source is brought into the cache first, so that what is seen is the ring's lines alone. Where
 * ranks share cores a longer one than the best counts: a part of the ring may well be in the cache
 * of this core, whose ranks have taken turns with others (two that are far: half of all 80 to 100
 * ns, half 170 to 280; near: three quarters below 100).
 */
#ifndef CT_NET_SHM_PACE_H
#define CT_NET_SHM_PACE_H

#include "base/far.h"
#include "net/net.h"

enum {
    CT_SHM_PACE_CROWDED_RANK = CT_FAR_SAMPLES * 5 / 8, /* the sample that counts, from 0, */
    CT_SHM_PACE_CROWDED_NS = 165,                      /* and what makes it far */
};

struct ct_shm_pace {
    bool     far;
    bool     crowded;            /* ranks share cores */
    uint32_t copies;             /* of long slices */
    uint32_t samples;            /* of the present judgement */
    uint64_t ns[CT_FAR_SAMPLES]; /* them, the shortest first */
};

/* Whether a slice is long, and one block. */
static inline bool ct_shm_pace_takes(const struct ct_net_slice *slice)
{
    return slice->len_bytes >= 2 * CT_FAR_BYTES && slice->area->pieces == NULL;
}

/* Copies such a slice's data to the ring. `untimed`: this would not tell how far the peer is. */
void ct_shm_pace_copy(struct ct_shm_pace *pace, const struct ct_net_slice *slice, char *to,
                      bool untimed);

/* A part has taken so long. */
void ct_shm_pace_learn(struct ct_shm_pace *pace, uint64_t ns);

#endif
