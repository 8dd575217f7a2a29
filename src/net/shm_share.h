/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long reads that both ends work at. Whoever reads another's memory (shm_copy.h) offers the read to
 * that process: it takes blocks from the front, and the owner of the memory, whenever its progress
 * finds the offer, writes one from the back, until they meet. Two cores copy about twice as fast;
 * an owner that is busy elsewhere is not waited for, but for a block that it has begun.
 *
 * There is one offer a place in each segment, written by the peer at that place, and one word a
 * segment (ct_shm_head.offer) that says which of them is open. A reader that finds it taken reads
 * alone.
 *
 * Invariant: a block is claimed once, by a change of `claim`, which has the number of the read in
 * it: who claims with an old one changes nothing. The reader leaves only when all blocks that the
 * owner has claimed are done, so nobody writes to its buffer afterwards.
 *
 * Either end may write anything to an offer at any time. The reader goes by its own count of
 * blocks, and the owner copies from nothing but what it has exposed to the reader. An owner that
 * claims a block and never finishes it holds its reader while it lives, as a stopped one does.
 */
#ifndef CT_NET_SHM_SHARE_H
#define CT_NET_SHM_SHARE_H

#include "net/shm_copy.h"

/* Reads from the memory of `owner` into `to`, with its help if it offers any. `offer` and `word`
 * lie in its segment, `place` is the caller's there. CTRAN_ERR_INTERN: it has written there what
 * cannot be. */
int ct_shm_share_read(struct ct_shm_offer *offer, _Atomic uint32_t *word, uint32_t place,
                      const struct ct_shm_mate *owner, void *to, const struct ct_shm_remote *from);

/* The owner: moves one block of the offer, if one is left. CT_AGAIN: there was none, or it is of a
 * region that is withdrawn, and nothing was moved; the word is free again. CTRAN_ERR_INTERN: the
 * reader asks for what is not exposed to it, and nothing was moved. */
int ct_shm_share_help(struct ct_shm_offer *offer, _Atomic uint32_t *word, uint32_t place,
                      const struct ct_shm_mate *reader);

/* Whether a read of so many bytes from the owner at that place had better be done so: not where
 * both are on one core, which does no more at a time for being given back and forth. */
static inline bool ct_shm_shares(const struct ct_net_env *env, uint32_t place, size_t len_bytes)
{
    const size_t least = (size_t)env->cfg->shm_share;
    return least > 0 && len_bytes >= least &&
           (CT_LIKELY(env->placement == NULL) ||
            ct_placement_look(env->placement, place) != CT_PLACEMENT_BESIDE);
}

#endif
