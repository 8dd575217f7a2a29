/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long reads that both ends work at. A process that reads another's memory (shm_copy.h) offers the
 * read to the owner of the memory. The reader copies blocks from the front. The owner, whenever its
 * progress finds the offer, copies a block from the back, until the two meet. Two cores copy about
 * twice as fast. The reader does not wait for an owner that is busy, except for a block that the
 * owner has begun.
 *
 * Each segment has one offer for each place, written by the peer at that place, and one word
 * (ct_shm_head.offer) that says which offers are open. A reader that finds its offer in use reads
 * alone.
 *
 * Invariant: a block is claimed once, by a change of `claim`, which contains the number of the
 * read: a claim with an old number has no effect. The reader leaves only when all blocks that the
 * owner has claimed are done, so that the owner never writes to the reader's buffer afterwards.
 *
 * Either end may write any value to an offer at any time. The reader goes by its own count of
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

/* Whether the owner should help with a read of this size. If owner and reader share a core, the
 * help gains nothing. */
static inline bool ct_shm_shares(const struct ct_net_env *env, uint32_t place, size_t len_bytes)
{
    const size_t least = (size_t)env->cfg->shm_share;
    return least > 0 && len_bytes >= least &&
           (CT_LIKELY(env->placement == NULL) ||
            ct_placement_look(env->placement, place) != CT_PLACEMENT_BESIDE);
}

#endif
