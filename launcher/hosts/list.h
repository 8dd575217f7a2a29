/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts of a job and how many ranks each can take: from -H, from a file, from Slurm. Then the
 * ranks that each gets.
 *
 * A host is given with a number of slots or without. Without, it has one; a host that is named more
 * than once has the slots of all its mentions, under the first of its names: with and without a
 * domain, or, for this machine, localhost, its name and its addresses. max_slots, Open MPI's word,
 * is what a host may take once all slots are used up.
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
    uint32_t max_slots; /* not below slots */
    bool     here;      /* it is the machine that this process runs on */
};

struct ct_hosts {
    struct ct_host *all;
    uint32_t        n;
    bool            soft; /* the slots are a batch system's: on a single host they bind nobody */
    bool            over; /* hosts take more ranks than they have slots */
};

/* Each adds to the list and returns true, or false with one line in `why`. */

/* "a:4,b:4,c" or "[fe80::1]:2". */
bool ct_hosts_add_list(struct ct_hosts *h, const char *list, char *why, size_t cap);

/* A file of one host a line: MPICH's "host:4" or Open MPI's "host slots=4 max_slots=8", with its
 * other names of both (cpu, count) and blanks around "="; # starts a comment. */
bool ct_hosts_add_file(struct ct_hosts *h, const char *path, char *why, size_t cap);

/* The allocation of Slurm that this process runs in, from its environment. Adds nothing where there
 * is none. */
bool ct_hosts_add_slurm(struct ct_hosts *h, char *why, size_t cap);

void ct_hosts_fini(struct ct_hosts *h);

uint64_t ct_hosts_slots(const struct ct_hosts *h);

/* Distributes n ranks, or ppn a host where that is not 0: by host (the slots of one, then of the
 * next), or with `in_turn` one to each host in turn. What does not fit goes to all hosts in turn if
 * h->over is set. counts has h->n places. */
bool ct_hosts_place(const struct ct_hosts *h, uint32_t n, uint32_t ppn, bool in_turn,
                    uint32_t *counts, char *why, size_t cap);

/* Whether two names mean one host: they are equal, or one is the first label of the other. */
bool ct_hosts_same(const char *a, const char *b);

/* Whether a name, or an address, means the machine that this process runs on. */
bool ct_hosts_is_here(const char *name);

#endif
