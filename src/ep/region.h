/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exposed regions: memory of this process that peers may read, write or update, each known by a key
 * of 64 bits that no other region of this process ever has. The table keeps them with their rights
 * until they are withdrawn or the one peer for which they were exposed has failed. Beside them the
 * table knows the keys of transient buffers, which their owner (p2p) looks up itself.
 *
 * Invariant: whoever carries an operation out asks this table first, or what a transport keeps of
 * it for its peers. So a key that was withdrawn is refused, also when other memory has the address.
 * A peer may be in the middle of an operation when a region is withdrawn: users agree with their
 * peers that all operations are over before they withdraw, as MPI_Win_free and
 * MPI_Win_detach do (MPI-4.1 sec. 12.2.5, 12.2.4).
 *
 * Called in the progress domain.
 */
#ifndef CT_EP_REGION_H
#define CT_EP_REGION_H

#include "ep/domain.h"
#include "net/net.h"

struct ct_ep;
struct ct_ep_region;

/* The keys of transient buffers of one user. The functions are those of struct ct_net_env. */
struct ct_ep_keys {
    const struct ct_area *(*place)(struct ct_ep *from, uint64_t key, uint64_t offset,
                                   size_t len_bytes);
    void (*placed)(struct ct_ep *from, uint64_t key, size_t len_bytes);
    int (*announced)(struct ct_ep *to, const struct ct_net_remote *what);
};

/* Registers a user of transient keys, before the first message, and returns the top byte of its
 * keys, in place: the user sets the other bits. `keys` is borrowed until ct_ep_fini. There are at
 * most CT_EP_MAX_KEY_USERS. */
enum { CT_EP_MAX_KEY_USERS = 8 };
uint64_t ct_ep_register_keys(struct ct_process *p, const struct ct_ep_keys *keys);

#define CT_EP_ANY_PEER CT_NET_ANY_PEER

/* What is to be exposed. */
struct ct_ep_exposure {
    void    *base;      /* host or device memory, not NULL */
    size_t   len_bytes; /* not 0 */
    uint32_t access;    /* of enum ct_net_access */
    uint32_t peer;      /* the one process that may, or CT_EP_ANY_PEER */
    /* Called from progress when the notification of a peer's put has come, after the data is
     * visible; NULL: notifications are dropped. It may start operations and must not progress. */
    void (*notified)(struct ct_ep_region *region, struct ct_ep *from, uint32_t value);
    void *arg; /* of the caller: ct_ep_region_arg */
};

/* Exposes memory, which stays the caller's and stays in place until ct_ep_withdraw. On success
 * *region is valid until then. CTRAN_ERR_ARG: there are no bytes, or the range wraps;
 * CTRAN_ERR_NO_MEM. */
int ct_ep_expose(struct ct_process *p, const struct ct_ep_exposure *what,
                 struct ct_ep_region **region) CT_IN_DOMAIN;
/* Withdraws a region: no operation of a peer that starts later reaches its memory. */
void     ct_ep_withdraw(struct ct_ep_region *region) CT_IN_DOMAIN;
uint64_t ct_ep_region_key(const struct ct_ep_region *region);
void    *ct_ep_region_arg(const struct ct_ep_region *region);

/* The region of this process with that key, if `peer` may access len_bytes from byte `offset` on
 * with all of these rights. CT_REFUSED: it may not. */
int ct_ep_region_find(const struct ct_ep *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                      uint32_t access, struct ct_ep_region **region) CT_IN_DOMAIN;

#endif
