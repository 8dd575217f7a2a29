/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The roll: each process of a host puts down an entry, and the last of them opens it for all to
 * read. So a few bytes of each come to everybody while each process runs once, however many share
 * a core; with messages it would have to run in each of log n rounds.
 *
 * Rolls are numbered from 1 on, alike in all processes. Roll k lies on page k modulo 2. Invariant:
 * a page is written again only when all have read it, since who puts down an entry of roll k + 1
 * is through with roll k, and that roll is open before there is an entry of roll k + 2.
 */
#ifndef CT_BASE_ROLL_H
#define CT_BASE_ROLL_H

#include <stddef.h>

#include "base/wait.h"

enum { CT_ROLL_ENTRY = 32 }; /* bytes of an entry, at most */

/* What the processes share. It begins as zeros. */
struct ct_roll_memory;

/* One process's view. */
struct ct_roll {
    struct ct_roll_memory *memory; /* NULL: there is none */
    uint32_t               n, me;
    uint64_t               k;      /* this process's last one */
    int                    broken; /* the error by which it came out of step */
};

/* Bytes of memory for n processes. */
size_t ct_roll_bytes(uint32_t n);

/* Begins the next roll with this process's entry, of the same length in all of them. */
void ct_roll_put(struct ct_roll *r, const void *entry, size_t len_bytes);
/* What tells that it is open, to be waited for. */
struct ct_watch ct_roll_watch(const struct ct_roll *r);
/* The first process whose entry is not there yet; n: all are. */
uint32_t ct_roll_missing(const struct ct_roll *r);
/* Opens it where all entries are there: the last process may have been killed before it did. */
void ct_roll_help(const struct ct_roll *r);
/* The entries of an open roll, one behind the other; valid until the next begins. */
const void *ct_roll_entries(const struct ct_roll *r);

#endif
