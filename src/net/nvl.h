/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nvl - long messages out of a GPU's memory, for the transports whose peers are on this host (shm,
 * self): offer and fetch of net.h. A note is mem's export of the sender's buffer. The receiver maps
 * that memory (mem's imports: once an allocation) and has the copy engine of its own GPU read it,
 * over NVLink where there is one: to memory of a GPU or page-locked memory at once, to other memory
 * of the host by way of two page-locked chunks, of which one is emptied while the other one fills.
 *
 * What is under way is polled by the transport's progress: each copy has a lane of its own (gpu.h),
 * so that they overtake each other; a few run at once, others wait in line. Nothing waits here but
 * for what the driver itself makes wait: the first use of a GPU, the mapping of memory that is new.
 *
 * Where a fetch cannot be, for want of peer access, say, the caller takes another way; a peer of
 * whom nothing can be mapped is asked less and less often.
 *
 * Used under the lock of the progress domain, as transports are.
 */
#ifndef CT_NET_NVL_H
#define CT_NET_NVL_H

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
    uint32_t refusals; /* since the last fetch that was possible */
    uint32_t skip;     /* so many are not tried */
};

void ct_nvl_init(struct ct_nvl *nvl, struct ct_net *net, const struct ct_net_env *env);
/* Nothing is under way any more: p2p has waited for that (ct_p2p_settle). */
void ct_nvl_fini(struct ct_nvl *nvl);

/* See the functions of these names in net.h. */
size_t ct_nvl_offer(struct ct_nvl *nvl, const struct ct_area *area, void *note);
int    ct_nvl_fetch(struct ct_nvl *nvl, struct ct_nvl_peer *peer, const struct ct_net_fetch *fetch);
unsigned ct_nvl_poll(struct ct_nvl *nvl);

static inline unsigned ct_nvl_progress(struct ct_nvl *nvl)
{
    return CT_LIKELY(nvl->nrunning == 0) ? 0 : ct_nvl_poll(nvl);
}

#endif
