/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allgather in shared memory: each process of a host writes an entry, and the last one opens
 * the page for all to read. So each process runs only once, however many share a core; with
 * messages it would have to run in each of log n rounds.
 *
 * Allgathers are numbered from 1 on, alike in all processes. Allgather k lies on page k modulo 2.
 * Invariant: a page is written again only when all have read it. A process that writes an entry of
 * allgather k + 1 is through with allgather k, and allgather k + 1 is open before the first entry
 * of allgather k + 2.
 */
#ifndef CT_NODE_SHM_ALLGATHER_H
#define CT_NODE_SHM_ALLGATHER_H

#include <stddef.h>

#include "node/flag.h"

enum { CT_SHM_ALLGATHER_ENTRY = 32 }; /* bytes of an entry, at most */

/* What the processes share. It begins as zeros. */
struct ct_shm_allgather_memory;

/* One process's view. */
struct ct_shm_allgather {
    struct ct_shm_allgather_memory *memory; /* NULL: there is none */
    uint32_t                        n, me;
    uint64_t                        k;      /* this process's last one */
    int                             broken; /* the error by which it came out of step */
};

/* Bytes of memory for n processes. */
size_t ct_shm_allgather_bytes(uint32_t n);

/* Begins the next allgather with this process's entry, of the same length in all of them. */
void ct_shm_allgather_put(struct ct_shm_allgather *r, const void *entry, size_t len_bytes);
/* What tells that it is open, to be waited for. */
struct ct_watch ct_shm_allgather_watch(const struct ct_shm_allgather *r);
/* The first process whose entry is missing; n: none is. */
uint32_t ct_shm_allgather_missing(const struct ct_shm_allgather *r);
/* Opens it where all entries are there: the last process may have been killed before it did. */
void ct_shm_allgather_help(const struct ct_shm_allgather *r);
/* The entries of an open allgather, one behind the other; valid until the next begins. */
const void *ct_shm_allgather_entries(const struct ct_shm_allgather *r);

#endif
