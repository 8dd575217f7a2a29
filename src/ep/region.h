/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exposed regions: memory of this process that peers may read, write or update, each known by a key
 * of 64 bits that no other region of this process ever has. The table keeps them with their rights
 * until they are withdrawn or the one peer for which they were exposed has failed.
 *
 * Invariant: each operation is checked against this table first, or against the copy that a
 * transport keeps for its peers. So a key that was withdrawn is refused, also when other memory has
 * the address. A peer may be in the middle of an operation when a region is withdrawn: users agree
 * with their peers that all operations are over before they withdraw, as MPI_Win_free and
 * MPI_Win_detach do (MPI-4.1 sec. 12.2.5, 12.2.4).
 *
 * MPI windows can stand on this and on rma.h alone:
 *
 *   - An allocated window exposes memory of ctran_alloc_mem. The ranks exchange packed keys by an
 *     allgather; one key serves all. ct_ep_map gives ranks of the host the address for load and
 *     store, which stays valid until the key is closed, even if the owner dies. A process has 64
 *     such ranges (mem/mem.h), and none where CTRAN_SHM_SINGLE_COPY is off: ct_ep_map then returns
 *     NULL, and the ranks have to agree whether all can map before a window counts as shared.
 *     A shared window without gaps is one range of its first rank, which all others map.
 *   - A created window exposes memory of the heap. Peers of the host put and get by
 *     process_vm_writev and process_vm_readv, without the target's help; accumulates and locks need
 *     the progress of the target. So a window keeps its lock words and counters in memory of
 *     ctran_alloc_mem, where atomics of the host's ranks are instructions.
 *   - A dynamic window exposes each attached range; its keys are read by ct_ep_rma from a region
 *     that the window has exposed before.
 *   - A target that is busy elsewhere holds up no put, get, and on mapped memory no atomic, of a
 *     rank of its host. ct_ep_query tells (CT_NET_TARGET_CPU). Over tcp all needs its progress.
 *   - Atomics on host memory are instructions of a processor of the host, whoever carries them out:
 *     the origin where the memory is mapped, else the target's progress. So both are atomic to each
 *     other and to the program's own, and no region has to name one authority. On device memory the
 *     target's progress alone carries them out. A transport whose network record has atomics may
 *     offer them for a region only if the record is coherent with the processors.
 *   - Accumulates of other operators or types are active messages of the window (ct_ep_register),
 *     carried out by the target with the same instructions. A window has to send all accumulates
 *     to a region one way, to keep their order (MPI-4.1 sec. 12.7.2).
 *   - Completion of a put is remote completion, so MPI_Win_flush is ct_ep_flush and
 *     MPI_Win_flush_local the same. MPI_Win_fence and unlock flush first.
 *   - A put with a signal is a put with `notify`, or a put, ct_ep_fence and an atomic.
 *
 * Called in the progress domain.
 */
#ifndef CT_EP_REGION_H
#define CT_EP_REGION_H

#include "ep/domain.h"
#include "net/net.h"

struct ct_ep;
struct ct_ep_region;

#define CT_EP_ANY_PEER CT_NET_ANY_PEER

/* What is to be exposed. */
struct ct_ep_exposure {
    void    *base;      /* one block of host or device memory, not NULL */
    size_t   len_bytes; /* not 0 */
    uint32_t access;    /* of enum ct_net_access */
    uint32_t peer;      /* the one process that may, or CT_EP_ANY_PEER */
    /* The region serves one transfer. The caller and the peer tell each other by messages when the
     * transfer is over: see struct ct_net_region. */
    bool transient;
    /* In place of base and len_bytes: memory of any shape and kind; copied, its pieces are
     * borrowed. NULL: those two. */
    const struct ct_area *area;
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
/* Withdraws a region: no operation of a peer that starts later reaches its memory. Of a transient
 * one that is true if the peer keeps to what it has agreed to by messages. */
void     ct_ep_withdraw(struct ct_ep_region *region) CT_IN_DOMAIN;
uint64_t ct_ep_region_key(const struct ct_ep_region *region);
void    *ct_ep_region_arg(const struct ct_ep_region *region);

/* The region of this process with that key, if `peer` may access len_bytes from byte `offset` on
 * with all of these rights. CT_AGAIN: no region has that key (any more); CT_REFUSED: it may not. */
int ct_ep_region_find(const struct ct_ep *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                      uint32_t access, struct ct_ep_region **region) CT_IN_DOMAIN;

#endif
