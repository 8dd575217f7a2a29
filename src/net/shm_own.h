/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the shm transport share: an instance, and its peers. */
#ifndef CT_NET_SHM_OWN_H
#define CT_NET_SHM_OWN_H

#include "net/nvl.h"
#include "net/shm_copy.h"
#include "node/node.h"

/* A process of this host that has connected to us, or to which we have. */
struct ct_shm_peer {
    struct ct_net_link    link;
    uint32_t              id;
    void                 *cookie; /* the endpoint layer's name for it */
    bool                  mapped, receiving, lost;
    bool                  received; /* it has sent something since we last did */
    bool                  quiet;    /* its link was dropped: its memory is left alone */
    bool                  gone;     /* an operation has found it ended; lost is to follow */
    enum ct_shm_copy      copy;
    int                   pidfd;    /* -1: none; a rank of this process, or an old kernel */
    int                   bell;     /* a copy of the peer's, see base/wait.h; -1: none yet */
    uint64_t              alive_ns; /* when it was last seen alive */
    struct ct_shm_addr    addr;
    struct ct_shm_segment seg; /* the peer's */
    struct ct_ring_pair   tx;  /* in the peer's segment */
    struct ct_ring_pair   rx;  /* in ours */
    struct ct_nvl_peer    nvl;
    struct ct_attach      view; /* of its exposed memory */
};

struct ct_shm {
    struct ct_net         net;
    struct ct_net_env     env;
    struct ct_shm_segment own;
    struct ct_shm_addr    addr;
    bool                  joined_barriers; /* of others, see base/membarrier.h */
    uint32_t              joins_seen;
    uint64_t             *joined; /* rings taken up, as in ct_shm_head.joined */
    uint32_t              nrx;
    struct ct_shm_peer  **rx;    /* those that have connected to us: nrx of nlocal */
    struct ct_shm_peer  **peers; /* by their place on the host; NULL until met */
    struct ct_nvl         nvl;
    struct ct_slab        mrs, rkeys; /* shm_rma.c */
};

static inline struct ct_shm *ct_shm_of(struct ct_net *net)
{
    return CT_CONTAINER_OF(net, struct ct_shm, net);
}

static inline struct ct_shm_peer *ct_shm_peer_of(struct ct_net_link *link)
{
    return CT_CONTAINER_OF(link, struct ct_shm_peer, link);
}

/* What is new for the peer, or room that it waits for, is there. */
static inline void ct_shm_wake_peer(struct ct_shm_peer *peer)
{
    struct ct_wake *wake = &peer->seg.head->wake;
    if (CT_LIKELY(atomic_load_explicit(&wake->asleep, memory_order_seq_cst) == CT_WAKE_AWAKE)) {
        return;
    }
    const struct ct_shm_addr *own = &ct_shm_of(peer->link.net)->addr;
    if (peer->addr.pid == own->pid && peer->addr.pid_space == own->pid_space) {
        ct_wake_rouse(wake);
    } else {
        ct_wake_rouse_other(wake, peer->pidfd, &peer->bell);
    }
}

/* Whether the pid is still the peer's, so that memory that is accessed by it is the peer's. */
bool ct_shm_keeps_pid(const struct ct_shm *s, struct ct_shm_peer *peer);

/* The peer as the other end of a copy. */
struct ct_shm_mate ct_shm_mate_of(struct ct_shm_peer *peer);
/* What a read that both ends work at has come to: CTRAN_ERR_PROC_FAILED if the peer has ended, or
 * has written what cannot be. */
int ct_shm_outcome(struct ct_shm_peer *peer, int rc);

#endif
