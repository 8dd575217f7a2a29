/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nvl - gets (rma.h) from the memory of a GPU, for transports whose peers are on this host (shm,
 * self). A key has mem's export of the region. The origin maps that memory (mem's imports: once an
 * allocation) and has the copy engine of its own GPU read it, over NVLink where there is one: to
 * memory of a GPU or page-locked memory at once, to other memory of the host by way of two
 * page-locked chunks, of which one is emptied while the other one fills.
 *
 * What is under way is polled by the transport's progress: each copy has a copy stream of its own
 * (gpu.h), so that copies may overtake each other; a few run at once, others are queued. No
 * function here waits, except in the driver: for the first use of a GPU, and for the mapping of new
 * memory.
 *
 * If a get cannot be done so, for want of peer access, for example, messages carry it.
 *
 * Used under the lock of the progress domain, as transports are.
 */
#ifndef CT_NET_NVL_H
#define CT_NET_NVL_H

#include "mem/mem.h"
#include "net/net.h"

/* Of an instance of a transport. */
struct ct_nvl {
    struct ct_net     *net;
    struct ct_process *p;                /* NULL: there is no memory but the host's */
    struct ct_list     running, waiting; /* copies */
    unsigned           nrunning;
};

/* Of a peer; begins as zeros. */
struct ct_nvl_peer {
    bool                 barred;    /* no memory of its GPUs can be mapped here, now or ever */
    unsigned             under_way; /* gets */
    struct ct_nvl_flush *flushes;   /* that wait for all of them */
};

void ct_nvl_init(struct ct_nvl *nvl, struct ct_net *net, const struct ct_net_env *env);
/* Nothing is under way any more: p2p has waited for that (ct_p2p_settle). */
void ct_nvl_fini(struct ct_nvl *nvl);

/* Whether there are GPUs, and CTRAN_GPU_PEER lets ranks read each other's. */
bool ct_nvl_is_on(const struct ct_nvl *nvl);
/* Describes one block of a GPU's memory for peers. False: it is none, or cannot be shared. */
bool ct_nvl_export(struct ct_nvl *nvl, const struct ct_area *area, struct ct_mem_export *out);
/* Whether memory of the peer's GPUs can be read, as far as is known. */
bool ct_nvl_may_get(const struct ct_nvl *nvl, const struct ct_nvl_peer *peer);
/* Starts a get from exported memory, to memory of any kind. What it takes of `op` is copied.
 * CTRAN_ERR_UNSUPPORTED_OPERATION: not this way, and nothing is told to comp. */
int ct_nvl_get(struct ct_nvl *nvl, struct ct_nvl_peer *peer, const struct ct_mem_export *from,
               const struct ct_net_rma *op);
/* fence and flush of rma.h, for what the copy engine does. */
static inline int ct_nvl_fence(const struct ct_nvl_peer *peer)
{
    return CT_LIKELY(peer->under_way == 0) ? CTRAN_SUCCESS : CT_AGAIN;
}
void     ct_nvl_flush(struct ct_nvl_peer *peer, struct ct_net_comp *comp, int status);
unsigned ct_nvl_poll(struct ct_nvl *nvl);

static inline unsigned ct_nvl_progress(struct ct_nvl *nvl)
{
    return CT_LIKELY(nvl->nrunning == 0) ? 0 : ct_nvl_poll(nvl);
}

#endif
