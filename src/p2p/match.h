/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching: posted receives and unexpected messages, each in buckets by key, so that exact matches
 * cost the same however many there are; receives with wildcards are in a list of their own, and
 * search unexpected messages in order of arrival. Order among candidates is by stamps.
 */
#ifndef CT_P2P_MATCH_H
#define CT_P2P_MATCH_H

#include "p2p/p2p.h"

enum { CT_MATCH_BUCKETS = 256 };

/* A message that came before its receive. */
struct ct_unexpected {
    struct ct_list    in_bucket, in_order;
    struct ct_p2p_key key;
    struct ct_ep     *ep;
    bool              rendezvous;
    uint8_t           memory;  /* rendezvous: the sender's, enum ct_p2p_memory; */
    uint16_t          key_len; /* bytes of `data` */
    size_t            len_bytes;
    size_t            cost;      /* of its memory */
    size_t            room;      /* bytes of its memory, at least so many */
    uint64_t          sender_id; /* rendezvous */
    char              data[];    /* eager: it; rendezvous: the key of the sender's memory */
};

_Static_assert(CT_EP_MAX_RKEY <= UINT16_MAX, "ct_unexpected.key_len");

/* The memory of a message: small ones come from a pool, and cost as much as its objects. Of longer
 * ones some are kept for the next ones: else the allocator gives their pages back to the system
 * each time, and each is a fault and a zeroed page when the next one comes. */
enum { CT_MATCH_SMALL = 192, CT_MATCH_SPARES = 16, CT_MATCH_SPARE_BYTES = 128 << 10 };

static inline size_t ct_match_cost(size_t len_bytes)
{
    size_t bytes = sizeof(struct ct_unexpected) + len_bytes;
    return CT_LIKELY(bytes <= CT_MATCH_SMALL) ? CT_MATCH_SMALL : bytes;
}

struct ct_match {
    struct ct_list        posted[CT_MATCH_BUCKETS]; /* struct ct_p2p_req, exact keys */
    struct ct_list        posted_wild;
    struct ct_list        unexpected[CT_MATCH_BUCKETS];
    struct ct_list        unexpected_all; /* all of them, in order of arrival */
    uint64_t              stamp;
    struct ct_slab        small;             /* unexpected messages of CT_MATCH_SMALL bytes */
    size_t                bytes, most_bytes; /* that messages take now, and have taken at most */
    struct ct_unexpected *spare[CT_MATCH_SPARES]; /* of at most CT_MATCH_SPARE_BYTES each; NULL */
    unsigned              oldest;                 /* the spare that makes room for another */
};

void ct_match_init(struct ct_match *m);
/* Frees unexpected messages that were not received. */
void ct_match_fini(struct ct_match *m);

/* A message with room for a payload of len_bytes, which has to be kept or released; NULL when out
 * of memory. */
struct ct_unexpected *ct_match_make(struct ct_match *m, size_t len_bytes);
void                  ct_match_release(struct ct_match *m, struct ct_unexpected *u);

/* Puts a receive at the end of the line; takes the first one that a message with `key` (no
 * wildcards) matches out of it, NULL if there is none. */
void               ct_match_post(struct ct_match *m, struct ct_p2p_req *req);
struct ct_p2p_req *ct_match_take_posted(struct ct_match *m, const struct ct_p2p_key *key);

/* Like ct_match_take_posted for messages; `key` may have wildcards. _find leaves it where it is. */
void                  ct_match_keep(struct ct_match *m, struct ct_unexpected *u);
struct ct_unexpected *ct_match_find_unexpected(struct ct_match *m, const struct ct_p2p_key *key);
struct ct_unexpected *ct_match_take_unexpected(struct ct_match *m, const struct ct_p2p_key *key);

/* Takes a kept message out of the line and releases it. */
void ct_match_discard(struct ct_match *m, struct ct_unexpected *u);

/* Calls fn for each posted receive; fn may unlink that receive. */
void ct_match_for_posted(struct ct_match *m, void (*fn)(struct ct_p2p_req *, void *), void *arg);
/* Drops the announcement (rendezvous) that a peer calls sender_id; false: it is not there. */
bool ct_match_drop(struct ct_match *m, const struct ct_ep *ep, uint64_t sender_id);

#endif
