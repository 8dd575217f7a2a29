/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places for the ranks of a node: which CPUs each rank may use.
 *
 * Processing elements are the cores that this process may use, or with --map-by hwthread the
 * hardware threads. They stand in hwloc's order, all in one domain, or in one domain for each NUMA
 * node, package or L3 cache. Ranks take the domains in turn, and in a domain the next `pe`
 * elements; when a domain is used up, its first elements again. A rank is then held to its
 * elements, or to the NUMA nodes, packages or L3 caches that contain them. If ranks want more
 * elements of a domain than it has, there is a warning.
 *
 * If ranks get GPUs first (--map-by gpu, or --gpus-per-rank alone), the domains are the NUMA nodes
 * of the GPUs; or all elements, if the NUMA node is unknown or this process may use no CPU there.
 * Without `pe` the ranks of a domain share its elements evenly.
 *
 * Without an option each rank gets a core of its own that no other job of the user on this machine
 * holds. If not all ranks can have one, no rank is bound. Cores that jobs of other users claim are
 * given out last (corelock.h). A daemon holds the cores of its ranks as long as it runs. A job with
 * an option takes the cores that the option names, even if other jobs hold them.
 */
#ifndef CT_LAUNCHER_PLACE_PLACES_H
#define CT_LAUNCHER_PLACE_PLACES_H

#include <hwloc.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/place/corelock.h"
#include "launcher/place/gpus.h"

struct ct_places {
    hwloc_topology_t
        topology;    /* the cores and NUMA nodes that this process may use; NULL: hwloc failed */
    cpu_set_t *sets; /* by rank; NULL: no rank is bound */
    /* why no rank is bound, as a part of a sentence; "" if the user asked for that */
    char               why[128];
    char               warning[256]; /* ranks share cores; "" if none do, or if they may */
    struct ct_corelock held;         /* the cores that this job holds */
};

/* Finds the places of n ranks. `gpus`: the GPUs of the ranks, if places follow from GPUs; else
 * NULL. Returns 0; or CT_EXIT_USAGE with a line in `why` if this machine cannot do what is asked
 * for. Cores stay held until ct_places_fini or the end of the process. */
int  ct_places_init(struct ct_places *p, const struct ct_jobdesc *d, uint32_t n,
                    const struct ct_gpus *gpus, char *why, size_t cap);
void ct_places_fini(struct ct_places *p);

/* Releases the cores and keeps the rest. Does nothing on a struct of zeros. */
void ct_places_let_go(struct ct_places *p);
/* Returns a line about a fault of the files that hold cores, though the ranks have their cores;
 * NULL: no fault. */
const char *ct_places_warning(const struct ct_places *p);

/* Returns the CPUs of a local rank, NULL: it is not bound. */
const cpu_set_t *ct_places_of(const struct ct_places *p, uint32_t local_rank);

/* Writes "cpu 0,4-7 (cores 0-1 of package 0, NUMA node 0)" with the system's numbers; or that the
 * rank is not bound, and why. */
void ct_places_describe(const struct ct_places *p, uint32_t local_rank, char *out, size_t cap);

#endif
