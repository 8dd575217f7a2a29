/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations on what peers have exposed (region.h). The transport carries them out if it
 * can (net/rma.h), else messages do (rma_am.c); callers need not know which.
 *
 *   owner: ct_ep_expose, ct_ep_region_pack -> bytes -> origin: ct_ep_rkey_open,
 *          ct_ep_rma ..., ct_ep_fence, ct_ep_flush, ct_ep_rkey_close
 *
 * Operations with one peer are not ordered among each other, unless a fence is between them.
 * Completion of a put means that the target has the data.
 *
 * Called in the progress domain; completions are told in ct_ep_progress alone. When a peer fails,
 * its operations have ended with the error of the peer before on_fail is called, except those that
 * the copy engine of a GPU carries out, which end when they are over.
 */
#ifndef CT_EP_RMA_H
#define CT_EP_RMA_H

#include "ep/region.h"

/* The most bytes of a packed key. */
enum { CT_EP_MAX_RKEY = 640 };

/* Writes the key of a region for all peers that may use the region; returns its length in bytes.
 * The first time registers the memory with each transport that can. */
size_t ct_ep_region_pack(struct ct_ep_region *region, void *out) CT_IN_DOMAIN;

/* Like ct_ep_region_pack for `to`, and others that are reached by the same transport, connecting if
 * need be; 0: `to` cannot be reached. */
size_t ct_ep_region_pack_for(struct ct_ep_region *region, struct ct_ep *to, void *out) CT_IN_DOMAIN;

/* A key of a peer that is open. */
struct ct_ep_rkey;

/* Opens a key of ep's, connecting if need be. CT_REFUSED: it is no key of ep's for this process, or
 * is withdrawn, as far as can be seen from here; CTRAN_ERR_NO_MEM; the error of ep. */
int ct_ep_rkey_open(struct ct_ep *ep, const void *bytes, size_t len_bytes,
                    struct ct_ep_rkey **rkey) CT_IN_DOMAIN;
/* All operations with it are over. */
void ct_ep_rkey_close(struct ct_ep_rkey *rkey) CT_IN_DOMAIN;
/* The region's length and rights, as its owner wrote them into the key. */
uint64_t ct_ep_rkey_len(const struct ct_ep_rkey *rkey);
uint32_t ct_ep_rkey_access(const struct ct_ep_rkey *rkey);
/* Whether the transport carries that operation out, not messages. */
bool ct_ep_rkey_is_direct(const struct ct_ep_rkey *rkey, enum ct_net_op op);
/* How the transport reaches the memory; CT_NET_REACH_WIRED, too, if messages do. */
enum ct_net_reach ct_ep_rkey_reach(const struct ct_ep_rkey *rkey);
/* Where load and store reach the region, until the key is closed; NULL: nowhere. */
void *ct_ep_map(const struct ct_ep_rkey *rkey) CT_IN_DOMAIN;

/* An operation: from ct_ep_rma until comp is told ep's, as is the local memory. The caller fills
 * rkey, only_messages, and of net all but rkey. */
struct ct_ep_rma {
    struct ct_net_rma  net;
    struct ct_ep_rkey *rkey;
    bool               only_messages; /* it does not go by the transport's own operations */

    struct ct_list node; /* the rest is ep's */
    uint8_t        mark; /* 0: an operation; a fence or a flush, see rma.c */
    bool           by_message;
    bool           sent; /* wholly */
    uint32_t       due;  /* answers of the target */
    uint64_t       id;
    size_t         handed_bytes, moved_bytes;
    int            status;
};

/* Starts an operation. The caller has counted the operation in net.comp->pending. What is over on
 * return has been subtracted without a call of done (struct ct_net_comp). All errors are told
 * so. */
void ct_ep_rma(struct ct_ep_rma *op) CT_IN_DOMAIN;
/* Like ct_ep_rma by the transport alone, at once; it is not ordered by fences. On an error nothing
 * has been started, and nothing is told to comp. CTRAN_ERR_UNSUPPORTED_OPERATION: this memory takes
 * messages; CT_AGAIN: the transport has no room now; the error of ep. */
int ct_ep_rma_direct(struct ct_ep_rma *op) CT_IN_DOMAIN;
/* What is started with ep from now on takes effect after all that was started before.
 * CTRAN_ERR_NO_MEM; the error of ep. */
int ct_ep_fence(struct ct_ep *ep) CT_IN_DOMAIN;
/* Ends, as an operation does, when all that was started with ep has taken effect there. */
void ct_ep_flush(struct ct_ep *ep, struct ct_net_comp *comp) CT_IN_DOMAIN;
/* What such an operation costs. */
void ct_ep_query(const struct ct_ep_rkey *rkey, enum ct_net_op op,
                 struct ct_net_cost *cost) CT_IN_DOMAIN;

/* How ep reaches memory of this process, one block, connecting if need be.
 * CTRAN_ERR_UNSUPPORTED_OPERATION: by messages alone. */
int ct_ep_reach(struct ct_ep *ep, const struct ct_area *area,
                enum ct_net_reach *reach) CT_IN_DOMAIN;
/* What a message, or an operation on memory of ep's that is reached so, costs; connects if need be.
 * CTRAN_ERR_UNSUPPORTED_OPERATION: the transport does not reach such memory of ep's. */
int ct_ep_query_reach(struct ct_ep *ep, enum ct_net_op op, enum ct_net_reach reach,
                      struct ct_net_cost *cost) CT_IN_DOMAIN;

#endif
