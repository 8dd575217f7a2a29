/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks for the conformance suite of transports: each a process of its own, with ep and the floors
 * below it, and nothing above. What ranks tell each other besides the transport under test goes
 * through shared memory. A check that fails says so and ends its process; the run has failed then.
 */
#ifndef CT_TESTS_NET_WORLD_H
#define CT_TESTS_NET_WORLD_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "ep/ep_set.h"
#include "mem/mem.h"
#include "net/net.h"

enum { WORLD_MOST = 4, WORLD_SLOTS = 4, WORLD_WORDS = 4096, WORLD_LIMIT_S = 600 };

struct world_record {
    size_t        len_bytes;
    unsigned char bytes[4096];
};

/* What all ranks see. */
struct world_shared {
    struct world_record record[WORLD_MOST];
    struct world_record slot[WORLD_MOST][WORLD_SLOTS];
    _Atomic uint32_t    arrived;
    _Atomic uint32_t    words[WORLD_WORDS];
};

/* How memory is allocated. */
enum world_memory { WORLD_HEAP, WORLD_SHARED };

struct world_args {
    const char       *name;     /* of the variant */
    const char       *settings; /* "NAME=VALUE NAME=VALUE" */
    enum world_memory memory;
    const char       *transport;           /* which carries the messages */
    const char       *only;                /* the one case that concerns the variant; NULL: all */
    void (*spoil)(struct ct_net_ops *ops); /* changes it; NULL: as it is */
    unsigned limit_s; /* a rank that lives longer hangs and is killed; 0: WORLD_LIMIT_S */
};

struct world {
    const struct world_args *args;
    struct world_shared     *shared;
    struct ct_process        p;
    struct ct_job            job;
    uint32_t                 me, n;
    uint32_t                 meets;
    uint64_t                 seed;
};

/* Runs the body in n processes; false: one of them has failed. Those whose bit is in `victims` are
 * to die by SIGKILL. */
bool world_run(const struct world_args *args, uint32_t n, uint32_t victims,
               void (*body)(struct world *w));

struct ct_ep *world_ep(struct world *w, uint32_t id);
/* One turn of progress. */
void world_turn(struct world *w);
/* Waits for all ranks, and drives transfers. */
void world_meet(struct world *w);
/* Drives transfers until comp has nothing pending; returns its status, which is reset. */
int world_wait(struct world *w, struct ct_net_comp *comp);

/* Memory that peers are to reach; given back at the end of the process. */
void *world_alloc(struct world *w, size_t len_bytes);

/* Leaves bytes for all ranks; where rank `from` has left them. */
void world_give(struct world *w, uint32_t slot, const void *bytes, size_t len);
const struct world_record *world_take(const struct world *w, uint32_t from, uint32_t slot);

uint64_t world_random(struct world *w);

#define CHECK(w, cond) world_check((w), (cond), #cond, __FILE__, __LINE__)
#define EQUAL(w, a, b)                                                                             \
    world_equal((w), (long long)(a), (long long)(b), #a " == " #b, __FILE__, __LINE__)
void world_check(const struct world *w, bool ok, const char *what, const char *file, int line);
void world_equal(const struct world *w, long long a, long long b, const char *what,
                 const char *file, int line);

#endif
