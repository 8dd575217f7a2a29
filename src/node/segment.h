/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's segment: the shared memory that it makes and its peers of the same host map. It holds
 * the word on which the rank sleeps and, for each peer, one receive pair (ring_pair.h): a long
 * ring, offers of reads (net/shm_share.h) and a short ring. The names below use the long ring's for
 * the pair.
 *
 * Held by a memfd, which vanishes with its last process and needs no /dev/shm, or by a file. Memory
 * of a pair in a memfd is taken only when a peer connects, so the segment may be much larger than
 * what is used. A file system may be full by then: a file takes all its room when it is made. The
 * owner of a file keeps a lock on it. A process that makes a file removes files whose owner is
 * gone.
 */
#ifndef CT_NODE_SEGMENT_H
#define CT_NODE_SEGMENT_H

#include "base/base.h"
#include "node/attach.h"
#include "node/ring_pair.h"

enum { CT_SHM_MAX_PEERS = 1 << 16 };

enum ct_shm_state { CT_SHM_OPEN = 1, CT_SHM_CLOSED };

/* A long read of the owner's memory that the owner may help with, see net/shm_share.h. One a peer,
 * which writes it. */
struct ct_shm_offer {
    /* Number of the read (32 bits), next block from the front (16), end of those left (16). */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t claim;
    _Atomic uint64_t to, from, len_bytes, block_bytes; /* addresses as each process sees its own */
    _Atomic uint64_t key;                              /* of the region that is read */
    /* Not used by reads. 1: the peer has lately failed to map exposed memory. */
    _Atomic uint32_t blind;
    /* Of the owner: blocks over, and whether one of them failed. */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t done;
    _Atomic uint32_t failed;
};

/* A region that the owner of the segment has registered, for those who carry operations on it out
 * themselves: net/shm_rma.h. */
enum { CT_SHM_REGIONS = 256 };
struct ct_shm_region {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t key; /* 0: there is none here */
    _Atomic uint64_t addr, len_bytes;               /* in the owner's address space */
    _Atomic uint32_t access, peer;                  /* what peers may do, and which of them */
};

/* The segment's first bytes. */
struct ct_shm_head {
    uint64_t         magic;
    uint64_t         nonce[2]; /* tells that the right segment was mapped */
    uint32_t         id, incarnation;
    uint32_t         nrings;
    uint32_t         ring_bytes;
    _Atomic uint32_t state; /* enum ct_shm_state */
    CT_ALIGNED(CT_CACHE_LINE) struct ct_wake wake;
    /* Peers that have connected: a count that moves, and a bit for each ring. */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t joins;
    _Atomic uint32_t      offer; /* 1 + the place of a peer that wants help with a read, 0: none */
    struct ct_expose_list list;  /* the owner's exposed memory */
    struct ct_shm_region  regions[CT_SHM_REGIONS];
    _Atomic uint64_t      joined[]; /* (nrings + 63) / 64 words */
};

/* What peers are told. */
struct ct_shm_addr {
    uint64_t host;        /* hash of the boot id */
    uint64_t pid_space;   /* inode of the pid namespace */
    uint64_t local_group; /* as in struct ct_shm_owner */
    uint64_t head;        /* the segment in the owner's address space */
    uint64_t nonce[2];
    uint64_t len_bytes;
    uint32_t incarnation;
    int32_t  pid, fd;
    uint32_t local_index;
    char     file[128]; /* empty: memfd, found through /proc/PID/fd/FD */
};

/* The shape is kept here and checked once: what stands in shared memory may change. */
struct ct_shm_segment {
    struct ct_shm_head *head;
    uint32_t            nrings;
    size_t              ring_bytes; /* a power of two in CT_SHM_RING_MIN .. _MAX */
    size_t              len_bytes;
    int                 fd; /* -1: mapped by a peer, or shared by address */
    bool                mapped;
    char                file[128];
};

/* The process that makes a segment. */
struct ct_shm_owner {
    const struct ct_log    *log;
    const struct ct_config *cfg;
    const char             *job;             /* for names */
    uint32_t                id, incarnation; /* by which its peers know it */
    uint32_t                local_index;     /* its place among the processes that share the host */
    uint64_t                local_group;     /* equal in exactly these processes */
};

/* Makes the caller's own segment. Errors are logged. */
int ct_shm_segment_create(const struct ct_shm_owner *owner, uint32_t nrings, size_t ring_bytes,
                          struct ct_shm_segment *seg, struct ct_shm_addr *addr);

/* Maps a peer's. Errors are logged, except CTRAN_ERR_PROC_FAILED, which means that the owner is
 * gone. Others are ours (descriptors, memory), and say nothing of the peer. */
int ct_shm_segment_attach(const struct ct_log *log, const struct ct_shm_addr *addr,
                          struct ct_shm_segment *seg);

/* Unmaps; the owner also marks it closed and removes its file. */
void ct_shm_segment_close(struct ct_shm_segment *seg, bool owner);

/* Whether the owner of a segment in a file has let go of it: the only sign of its end that crosses
 * pid namespaces. */
bool ct_shm_segment_abandoned(const struct ct_shm_addr *addr);

/* Whether that process has ended. Without a pidfd (-1: an old kernel, another pid namespace) by
 * what else shows it to one with the address `own`: the pid, or the lock on its file. */
bool ct_shm_owner_ended(const struct ct_shm_addr *own, const struct ct_shm_addr *addr, int pidfd);

/* Makes sure that writing to the range, which no other process uses, cannot fault for lack of
 * memory: CTRAN_ERR_NO_MEM, logged, if it could. */
int ct_shm_segment_reserve(const struct ct_log *log, const struct ct_shm_segment *seg, size_t at,
                           size_t len_bytes);

/* No more reservations: gives the descriptor of a peer's segment back. */
void ct_shm_segment_settle(struct ct_shm_segment *seg);

/* The memory of ring i < nrings, where it starts in the segment, and the bytes from there on that
 * belong to the peer at that place: its offers (shm_share.h) lie behind the ring. */
void                *ct_shm_segment_ring(const struct ct_shm_segment *seg, uint32_t i);
size_t               ct_shm_segment_ring_at(const struct ct_shm_segment *seg, uint32_t i);
size_t               ct_shm_segment_place_bytes(const struct ct_shm_segment *seg);
struct ct_shm_offer *ct_shm_segment_offer(const struct ct_shm_segment *seg, uint32_t i);
/* The pair of rings to which the long ring belongs; the short one lies behind the offers. */
void ct_shm_segment_ring_pair(const struct ct_shm_segment *seg, uint32_t i,
                              struct ct_ring_pair *pair);

/* This host and pid namespace, as in the address. */
uint64_t ct_shm_host(void);
uint64_t ct_shm_pid_space(void);

#endif
