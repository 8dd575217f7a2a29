/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the host that the program allocates, and that this process exposes to others of the
 * host: they map it, and copy from and to it as their own. All memory that a process exposes lies
 * in one file without a name. Each range has a place in the file that no other range ever has.
 * Peers open the file through /proc. The ranges stand on a list in memory that the peers share with
 * it, its struct ct_expose_list.
 *
 * Invariant: what is on the list is mapped at its owner. A range leaves the list before its memory
 * goes, and its place in the file is empty from then on, whoever maps it still: so a mapping that
 * is used because its place is on the list is of that very range, never of another one that has the
 * same address. What others write there is checked before use; the file cannot shrink.
 */
#ifndef CT_NODE_ATTACH_H
#define CT_NODE_ATTACH_H

#include "base/base.h"

enum { CT_EXPOSE_RANGES = 64 };

struct ct_expose_range {
    _Atomic uint64_t place; /* in the file; 0: there is none here */
    _Atomic uint64_t addr, len_bytes;
};

/* Begins as zeros. */
struct ct_expose_list {
    _Atomic uint32_t       changes; /* of the list */
    _Atomic uint64_t       device, inode;
    _Atomic int32_t        fd; /* its file, in its descriptor table */
    struct ct_expose_range ranges[CT_EXPOSE_RANGES];
};

/* From the beginning of the job to its end: the memory is the program's in all cycles, and stays
 * after the end. */
int  ct_expose_init(struct ct_process *p);
void ct_expose_fini(struct ct_process *p);
/* Where peers look from now on; NULL: nowhere any more, none is to be had. A process without such a
 * list, or without a struct ct_expose, exposes no memory. */
void ct_expose_show(struct ct_process *p, struct ct_expose_list *list);

/* len_bytes aligned to `align`, a power of two. NULL: use ordinary memory, since the block is too
 * short (CTRAN_SHM_ALLOC), no peer maps it, or, logged at level info, it cannot be made. Any
 * thread. */
void *ct_expose_alloc(struct ct_process *p, size_t len_bytes, size_t align);
/* False: it is not from there. */
bool ct_expose_free(struct ct_process *p, void *ptr);
/* Whether all of it is, and peers can see that. */
bool ct_expose_has(const struct ct_process *p, const void *ptr, size_t len_bytes);

/* ---- and that of a peer ---------------------------------------------------------------------- */

/* One peer's, as this process has mapped it: at most its list. One thread at a time. */
struct ct_attach {
    struct ct_expose_list *theirs; /* NULL: there is nothing to be seen */
    /* the peer reads this word: 1: this process has lately failed to map it */
    _Atomic uint32_t       *blind;
    const struct ct_log    *log;
    int                     pid;
    uint32_t                seen, last; /* changes of the list; where something was found */
    struct ct_attach_range *ranges;     /* CT_EXPOSE_RANGES; NULL: none so far */
    uint32_t vain, rest; /* looks without a try, after the last failure; left of them */
    uint32_t tried;      /* changes of the list at the last try */
    unsigned failed;     /* the last that could not be mapped: where on the list, */
    uint64_t failed_at;  /* and its place; 0: none */
    bool     logged;     /* the failure has been logged */
};

/* Where the peer's len_bytes at addr lie here; NULL: that is not exposed memory, or, logged once at
 * level info, it cannot be mapped, which is tried again now and then. */
void *ct_attach_find(struct ct_attach *v, uint64_t addr, uint64_t len_bytes);

/* A mapping of a peer's range that is the caller's own: it stays when the peer has freed the range,
 * or has ended. */
struct ct_attach_mapping {
    void  *at; /* NULL: none */
    size_t len_bytes;
};
/* Maps the range that has the peer's len_bytes at addr, and returns where these lie here. NULL:
 * that is no memory of such a range, or cannot be mapped. */
void *ct_attach_map(const struct ct_attach *v, uint64_t addr, uint64_t len_bytes,
                    struct ct_attach_mapping *out);
void  ct_attach_unmap(struct ct_attach_mapping *mapping);

/* Lets go of what the peer has freed; of all. */
void ct_attach_sweep(struct ct_attach *v);
void ct_attach_close(struct ct_attach *v);

#endif
