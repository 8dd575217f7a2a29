/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How near a peer's core is. Cores that share a cache copy a message twice, into a ring and out of
 * it, in less time than the kernel needs to let one read the other's memory; between cores that
 * have to fetch each line from each other it is the other way round (two cores of a Xeon: 64 KiB
 * through the ring 9 us, read 3.7; two that share a cache 1.9 and 4.9). So the first part of a long
 * slice is timed now and then: its source is brought into the cache first, so that what is seen is
 * the ring's lines alone. The best of a few counts, since whatever disturbs makes it longer. Where
 * ranks share cores a longer one does: a part of the ring may well be in this core's cache, whose
 * ranks have taken turns with others (two that are far: half of all 80 to 100 ns, half 170 to 280;
 * near: three quarters below 100).
 */
#ifndef CT_NET_SHM_PACE_H
#define CT_NET_SHM_PACE_H

#include "net/net.h"

enum {
    CT_SHM_PACE_BYTES = 8 << 10, /* that are timed */
    CT_SHM_PACE_SAMPLES = 8,     /* that make a judgement */
    CT_SHM_PACE_FAR_NS = 170,    /* near ones were seen to need 110, far ones 240 to 480 */
    CT_SHM_PACE_CROWDED_RANK = CT_SHM_PACE_SAMPLES * 5 / 8, /* the sample that counts, from 0, */
    CT_SHM_PACE_CROWDED_NS = 165,                           /* and what makes it far */
};

struct ct_shm_pace {
    bool     far;
    bool     crowded;                 /* ranks share cores */
    uint32_t copies;                  /* of long slices */
    uint32_t samples;                 /* of the present judgement */
    uint64_t ns[CT_SHM_PACE_SAMPLES]; /* them, the shortest first */
};

/* Whether a slice is long, and one block. */
static inline bool ct_shm_pace_takes(const struct ct_net_slice *slice)
{
    return slice->len_bytes >= 2 * CT_SHM_PACE_BYTES && slice->area->pieces == NULL;
}

/* Copies such a slice's data to the ring. `untimed`: this would not tell how far the peer is. */
void ct_shm_pace_copy(struct ct_shm_pace *pace, const struct ct_net_slice *slice, char *to,
                      bool untimed);

/* A part has taken so long. */
void ct_shm_pace_learn(struct ct_shm_pace *pace, uint64_t ns);

#endif
