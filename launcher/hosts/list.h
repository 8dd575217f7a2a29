/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts of a job, and how many ranks each can take: from -H, from a file, from Slurm. Then how
 * many ranks each gets.
 *
 * A host without a number of slots has one slot. A host that is named more than once has the slots
 * of all its mentions, under the first of its names: its name with and without a domain; for this
 * machine also localhost and its addresses. max_slots, a word of Open MPI, is what a host may take
 * once the slots of all hosts are used up.
 */
#ifndef CT_LAUNCHER_HOSTS_LIST_H
#define CT_LAUNCHER_HOSTS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/job/job.h"

struct ct_host {
    char    *name;
    uint32_t slots;
    uint32_t max_slots; /* at least `slots` */
    bool     here;      /* the host is this machine */
};

struct ct_hosts {
    struct ct_host *all;
    uint32_t        n;
    bool            soft; /* the slots are a batch system's: a single host may take more ranks */
    bool            over; /* hosts may take more ranks than they have slots */
};

/* Each function adds to the list and returns true, or returns false with one line in `why`. */

/* Reads "a:4,b:4,c" or "[fe80::1]:2". */
bool ct_hosts_add_list(struct ct_hosts *h, const char *list, char *why, size_t cap);

/* Reads a file of one host a line: MPICH's "host:4" or Open MPI's "host slots=4 max_slots=8", with
 * Open MPI's other words for slots (cpu, count) and blanks around "=". # starts a comment. */
bool ct_hosts_add_file(struct ct_hosts *h, const char *path, char *why, size_t cap);

/* Reads the allocation of Slurm that this process runs in, from the environment. Adds nothing
 * outside of an allocation. */
bool ct_hosts_add_slurm(struct ct_hosts *h, char *why, size_t cap);

void ct_hosts_fini(struct ct_hosts *h);

uint64_t ct_hosts_slots(const struct ct_hosts *h);

/* Distributes n ranks, or ppn ranks on each host if ppn is not 0. By host: the slots of the first
 * host, then of the next; or with `in_turn` one rank to each host in turn. Ranks that do not fit go
 * to all hosts in turn if h->over is set. `counts` has h->n places. */
bool ct_hosts_place(const struct ct_hosts *h, uint32_t n, uint32_t ppn, bool in_turn,
                    uint32_t *counts, char *why, size_t cap);

/* Whether two names mean one host: they are equal, or one is the first label of the other. */
bool ct_hosts_same(const char *a, const char *b);

/* Whether a name or an address means this machine. */
bool ct_hosts_is_here(const char *name);

#endif
