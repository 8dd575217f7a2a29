/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places for the ranks of a node: which CPUs each may use.
 *
 * The machine's processing elements (cores; hardware threads with --map-by hwthread) that this
 * process may use stand in hwloc's order, all together or by NUMA node, package or L3 cache. Ranks
 * take the groups (domains) in turn, and in a domain the next `pe` elements, from the first again
 * where they are used up. What a rank is then held to is its elements, or the NUMA nodes, packages
 * or L3 caches that they lie in. If ranks want more elements of a domain than it has, there is a
 * warning.
 *
 * Where ranks are given GPUs (--map-by gpu, or --gpus-per-rank alone), the domains are the NUMA
 * nodes of these, all elements where nobody knows or we may use none near, and without `pe` the
 * ranks of a domain share its elements evenly.
 *
 * Without a word on the command line each rank gets a core of its own that no other job of the user
 * on this machine holds, or, where not all ranks can have one, none is bound. Cores that jobs of
 * other users say they hold are given out last (corelock.h). A daemon holds its ranks' cores as
 * long as it runs. A job with an order of its own takes what it is told to.
 */
#ifndef CT_LAUNCHER_PLACE_PLACES_H
#define CT_LAUNCHER_PLACE_PLACES_H

#include <hwloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/place/corelock.h"
#include "launcher/place/gpus.h"
#include "launcher/job/job.h"

struct ct_places {
    hwloc_topology_t   topology; /* cores and NUMA nodes that we may use; NULL: hwloc failed */
    cpu_set_t         *sets;     /* one a rank; NULL: no rank is bound */
    char               why[128]; /* why not, as a part of a sentence; "" where it was asked for */
    char               warning[256]; /* ranks share cores; "" if none do, or if they may */
    struct ct_corelock held;         /* the cores that this job holds */
};

/* Finds the places of n ranks. `gpus` are theirs where places follow from them, else NULL. Returns
 * 0, or CT_EXIT_USAGE with a line in `why` for an order that this machine cannot follow. Cores stay
 * held until ct_places_fini or the end of the process. */
int  ct_places_init(struct ct_places *p, const struct ct_jobdesc *d, uint32_t n,
                    const struct ct_gpus *gpus, char *why, size_t cap);
void ct_places_fini(struct ct_places *p);

/* Lets go of the cores; all else stays. Not initialised: nothing. */
void ct_places_let_go(struct ct_places *p);
/* A line about what will not work with cores, though the ranks have theirs; NULL: all is well. */
const char *ct_places_warning(const struct ct_places *p);

/* The CPUs of a local rank, NULL when it is not bound. */
const cpu_set_t *ct_places_of(const struct ct_places *p, uint32_t local_rank);

/* "cpu 0,4-7 (cores 0-1 of package 0, NUMA node 0)" with the system's numbers, or that it is not
 * bound and why. */
void ct_places_describe(const struct ct_places *p, uint32_t local_rank, char *out, size_t cap);

#endif
