/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU placement: on which core each process of a host runs, and whether it has given its core away.
 * Each process writes this about itself to shared memory. The placement is advice: after the kernel
 * has moved or stopped a process, its entry is old until the process writes it again.
 *
 * If there are more processes than cores this pays. A process that waits for one which runs on
 * another core polls. It makes room at once for a process that shares its core, or that waits for a
 * core itself. Two processes on one core pay a switch for each answer; two on different cores pay
 * the transfer between the cores for each byte. So with CTRAN_MIGRATE one of them moves to another
 * core, or next to the other, as counted by ep/traffic.c. Processes are not bound: the kernel may
 * move them as before.
 */
#ifndef CT_NODE_PLACEMENT_H
#define CT_NODE_PLACEMENT_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"

/* In shared memory; it begins as zeros. */
struct ct_placement_core {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic int32_t core; /* 1 + its number; negative: given away */
    /* 1 + the core that it has reason to stay on: a trial has found it no worse, or that one is
     * there with whom it exchanges much. */
    _Atomic int32_t settled;
};

/* One process's view. */
struct ct_placement {
    struct ct_placement_core *all; /* of n processes; NULL: there is no such memory */
    uint32_t                  n, me;
    int32_t                   mine;   /* what stands in `all` for this process */
    bool                      moves;  /* CTRAN_MIGRATE: it may take another core by itself */
    bool                      seated; /* see ct_placement_choose */
    uint32_t                  fair;   /* processes for each core of the host */
    struct {
        uint64_t since_ns;
        uint64_t lost_ns; /* in waits for which it gave the core away */
        uint32_t waits;   /* that have ended, */
        /* and how many of the processes on this core have ended such a switch, in a row */
        uint32_t switches;
    } spell; /* on one core */
    bool     on_trial;
    uint64_t wait_ns; /* where it is on trial: what a wait took on the core before, */
    int      before;  /* that core, */
    int      there;   /* and the one that is on trial */
    uint64_t stay_ns; /* how long it stays now */
    struct {
        uint64_t last_ns, stay_ns; /* when it looked, and how long it lets that be */
    } spread;
    struct {
        uint64_t last_ns, stay_ns; /* when it looked, and how long it lets that be */
        int32_t  here, there;      /* the cores then, 1 more */
    } join;                        /* a move beside another process */
};

enum ct_placement_sight {
    CT_PLACEMENT_UNKNOWN,
    CT_PLACEMENT_RUNS,   /* on another core */
    CT_PLACEMENT_BESIDE, /* it shares this one */
    CT_PLACEMENT_AWAY,   /* it waits for another core */
};

/* Says that this process runs, and where. Cheap while the placement does not change. */
static inline void ct_placement_take(struct ct_placement *s)
{
    if (s->all != NULL) {
        const int32_t core = sched_getcpu() + 1;
        if (CT_UNLIKELY(core != s->mine)) {
            s->mine = core;
            atomic_store_explicit(&s->all[s->me].core, core, memory_order_relaxed);
        }
    }
}

/* Says that it has given its core away, to sleep. */
static inline void ct_placement_give(struct ct_placement *s)
{
    if (s->all != NULL) {
        s->mine = -(sched_getcpu() + 1);
        atomic_store_explicit(&s->all[s->me].core, s->mine, memory_order_relaxed);
    }
}

/* Gives the core away once. */
void ct_placement_yield(struct ct_placement *s);

/* Where `who` is, as seen from the core that this process runs on. */
static inline enum ct_placement_sight ct_placement_look(const struct ct_placement *s, uint32_t who)
{
    if (s->all == NULL || who >= s->n) {
        return CT_PLACEMENT_UNKNOWN;
    }
    const int32_t theirs = atomic_load_explicit(&s->all[who].core, memory_order_relaxed);
    const int32_t core = sched_getcpu() + 1;
    return theirs == 0                         ? CT_PLACEMENT_UNKNOWN
           : theirs == core || theirs == -core ? CT_PLACEMENT_BESIDE
           : theirs > 0                        ? CT_PLACEMENT_RUNS
                                               : CT_PLACEMENT_AWAY;
}

/* The first core, once: processes take the cores that they may use in turn, so that neighbours have
 * different ones; where that brings more together than is fair, the one with the fewest. Whoever
 * may use but one core stays. (On kernels from 6.2 on a cpuset that is widened later is not
 * followed by one who has moved.) */
void ct_placement_choose(struct ct_placement *s);

/* From time to time, of those that a core has beyond what is fair the ones with the highest numbers
 * go where there are fewer than that; each does so ever less often, in case that the kernel has its
 * reasons. A process that has settled goes before all others: otherwise it would go back to the
 * core that it has left. Processes of a real-time class the kernel moves to where there are none,
 * and leaves them there. */
void ct_placement_spread(struct ct_placement *s);

/* Moves to the core of `who`. Of two whose cores have equally many the one with the lower number
 * moves, else the one that leaves more behind: so pairs that have to change places do, one after
 * the other. A process that has a core for itself keeps it. A process that has found no better core
 * looks less and less often while both stay where they are. */
void ct_placement_join(struct ct_placement *s, uint32_t who);

/* The core among those allowed, other than `here`, that has the fewest processes; -1: each has more
 * than `here`. */
int ct_placement_emptiest(const struct ct_placement *s, int here, const cpu_set_t *allowed);

/* A wait has ended. */
static inline void ct_placement_count(struct ct_placement *s)
{
    s->spell.waits++;
}

/* It has given its core away in that wait, which began at start_ns and `who` has ended. After many
 * in a row by one that shares the core, the one of the two with the lower number takes the core
 * with the fewest processes, on trial: where waits take longer there it comes back. It stays for
 * some time, each time longer. */
void ct_placement_learn(struct ct_placement *s, uint32_t who, uint64_t start_ns);

#endif
