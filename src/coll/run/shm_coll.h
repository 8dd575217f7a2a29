/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shm_coll's inside, for its files: shm_coll.c makes shm_colls and waits for flags,
 * shm_coll_run.c runs collectives over them, as script.c has written them down, and
 * shm_coll_attach.c knows of input that stays where it is.
 *
 * Operations are numbered from 1 on, alike on all ranks. A rank's input to operation k is in slot
 * k modulo DEPTH of its own, whose flag then is k: the flag stands before the data, and a few bytes
 * come with it in one cache line; others begin with the next one if that makes no line more. Longer
 * input is in a part of the rank's bulk memory, which goes round in the same way; input that is
 * longer than a part makes several operations, one a chunk.
 *
 * Invariant: a slot or part is written again only once all ranks are through with what it held. If
 * every rank reads the input of all others, a rank that has read it knows that all are through with
 * the operation before. Otherwise each rank counts in `done`, and a rank that is to write reads
 * `done` when it has no other evidence.
 *
 * The writer of a flag or of `done` wakes sleeping ranks (struct ct_watch). The death of a rank
 * ends the waits for that rank alone. There is no shm_coll if deaths are to end all waits. A rank
 * whose collective has ended with an error marks itself as broken: it is out of step from then on,
 * and ranks that wait for it get the error.
 */
#ifndef CT_COLL_RUN_SHM_COLL_H
#define CT_COLL_RUN_SHM_COLL_H

#include "coll/run/layout.h"
#include "coll/run/run.h"
#include "coll/run/script.h"

enum { CT_SHM_COLL_DEPTH = 16, CT_SHM_COLL_PARTS = 4, CT_SHM_COLL_KEPT = 64 };

/* Scripts that a shm_coll keeps take at most this much memory. 64 ranks need 20 KiB for an
 * allreduce of two shots. */
enum { CT_SHM_COLL_KEPT_BYTES = 256 << 10 };

/* The longest key of memory of the host is ib's: 48 bytes of ep's and 88 of its own. */
enum { CT_SHM_COLL_KEY = 192 };

/* Input of this rank that the others read where it lies. */
struct ct_shm_coll_exposed {
    struct ct_ep_region *region; /* NULL: none */
    uint64_t             addr, len_bytes;
};

/* What the slot has of input that is in bulk memory or, as `addr` says, still in its rank's. */
struct ct_shm_coll_note {
    bool     blind;               /* its rank could not read what was exposed to it last */
    uint64_t addr;                /* 0: it was put in */
    uint64_t at_bytes, len_bytes; /* of the part that it would be in */
    uint32_t key_len;             /* of the key by which the others read it: ct_p2p_expose */
    CT_ALIGNED(16) unsigned char key[CT_SHM_COLL_KEY];
};

struct ct_shm_coll_slot {
    _Atomic uint64_t flag;
    union {
        CT_ALIGNED(16) char data[CT_SHM_COLL_BYTES];
        struct ct_shm_coll_note note;
    };
};

struct ct_shm_coll_member {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t done; /* operations */
    /* The last collective of which this rank has begun to read exposed input. Nobody polls this
     * line. */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t reading;
    /* This rank could not read what was exposed to it last; and whether that was to be foreseen,
     * which stays as it was when the bulk memory was made. Nobody writes to this line as a rule. */
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint32_t blind;
    _Atomic bool foreseen;
    _Atomic int  recalled; /* an error: what it has exposed is not to be read any more; or 0 */
    _Atomic int  left;     /* an error: it takes part in nothing that it has not said; or 0 */
    _Atomic bool bars;     /* before it sleeps, see ct_shm_coll_set */
    CT_ALIGNED(CT_CACHE_LINE) struct ct_shm_coll_slot slots[CT_SHM_COLL_DEPTH];
};

struct ct_shm_coll_shared {
    CT_ALIGNED(CT_CACHE_LINE) _Atomic uint64_t parked; /* one bit for each rank that sleeps */
    struct ct_shm_coll_member member[];
};

_Static_assert(sizeof(struct ct_shm_coll_slot) == 4096 + CT_CACHE_LINE,
               "flags do not all share a set of the cache");

/* What all calls with one script have in common. */
struct ct_script_key {
    const struct ct_algo *algo;
    size_t                count, elem_bytes;
    uint32_t              root, radix, first[2];
    bool                  inplace, ordered;
};

/* A script that was written before. An algorithm of two shots has `first` acts in its first one. */
struct ct_kept {
    struct ct_script_key key;
    bool                 exchange, bulk, brief, exposed;
    size_t               skipped, first, n;
    struct ct_script_act acts[];
};

struct ct_shm_coll {
    const struct ct_run_ctx   *ctx;
    struct ct_common           slots, bulk;
    struct ct_shm_coll_shared *shared; /* in `slots` */
    bool                       bulk_tried;
    size_t                     part_bytes;
    size_t                     slot_bytes; /* input that is in slots even where there are parts */
    struct ct_caches           caches;     /* of a core, alike on all ranks */
    uint64_t                   poll_ns;    /* for what another core is about to write */
    uint32_t                   polls;      /* while some lines come from another core */
    bool                       barred;     /* all that may sleep bar, and so does this rank */
    uint64_t                   k;          /* operations begun */
    uint64_t                   driven; /* the last one after which this rank looked for messages */
    uint32_t                   rooms;  /* how often this rank has given its core away */
    struct {
        uint64_t beside, elsewhere; /* ranks on the core `here` and on others, a bit each */
        uint32_t rooms;             /* at that time */
        int      here;
        bool     done;
    } looked; /* where others are, the last time */

    bool             unread; /* it has put something in since */
    uint64_t         safe;   /* operations that all ranks are known to be through with */
    uint64_t         parts;  /* operations with input in bulk */
    uint64_t         part_k[CT_SHM_COLL_PARTS]; /* the last one that a part was in use for */
    int              broken; /* an error: this rank has left one out, or heard of a loss */
    char            *tmp;    /* the algorithms' scratch */
    size_t           tmp_bytes;
    struct ct_script script; /* the last one that was written */
    struct ct_kept  *kept[CT_SHM_COLL_KEPT];
    size_t           kept_bytes;   /* of all of them */
    uint32_t         exposed_mask; /* for exposing, as is all up to `stage`: the rows of
                                            * `exposed` that are in use */
    bool             exposed_long; /* an owner helps with it */
    bool             refused;      /* some rank is blind: all know */
    uint32_t         vain, rest;   /* times without exposing, after the last try; left of them */
    uint64_t         blind_k;      /* the last operation that this rank was blind in */
    struct ct_shm_coll_note note;  /* of this rank's input: its slot gets it with the flag */
    uint64_t exposed_k; /* the last operation of this call with input that is exposed, or 0 */
    uint64_t read_k;    /* the last collective of which this rank has begun to read exposed input */
    struct ct_shm_coll_exposed exposed[CT_SHM_COLL_DEPTH]; /* by row */
    char                      *stage;
    uint32_t local_index[CT_SHM_COLL_RANKS]; /* of each rank, 1 more; 0: not asked for yet */
};

static inline struct ct_shm_coll_slot *ct_shm_coll_slot_of(const struct ct_shm_coll *b,
                                                           uint32_t                  rank)
{
    return &b->shared->member[rank].slots[b->k % CT_SHM_COLL_DEPTH];
}

static inline bool ct_shm_coll_is_there(const _Atomic uint64_t *value, uint64_t k)
{
    return atomic_load_explicit(value, memory_order_acquire) >= k;
}

/* Whether there are, for elements of that size. */
static inline bool ct_shm_coll_has_parts(const struct ct_shm_coll *b, size_t elem_bytes)
{
    return b->bulk.base != NULL && b->ctx->n * elem_bytes <= b->part_bytes;
}

/* Frees the scripts that are kept. */
void ct_shm_coll_forget_scripts(struct ct_shm_coll *b);
/* Looks whether all ranks have said that they bar before they sleep. */
void ct_shm_coll_learn_bars(struct ct_shm_coll *b);
/* Sets a flag or count, and rouses those who sleep. Where these have a barrier pass through this
 * process before their last look, nothing waits here for the lines that have been written. */
void ct_shm_coll_set(const struct ct_shm_coll *b, _Atomic uint64_t *value, uint64_t k);
/* Waits until a value of `rank`'s has reached k: what it did before it was lost still counts. */
int ct_shm_coll_await(const struct ct_shm_coll *b, uint32_t rank, const _Atomic uint64_t *value,
                      uint64_t k);
/* Like ct_shm_coll_await, whoever else is lost meanwhile. */
int ct_shm_coll_outwait(const struct ct_shm_coll *b, uint32_t rank, const _Atomic uint64_t *value,
                        uint64_t k);
/* Like ct_shm_coll_outwait until `rank` is through with operation k, with care for ranks that share
 * cores. */
int ct_shm_coll_await_done(struct ct_shm_coll *b, uint32_t rank, uint64_t k);
/* Like ct_shm_coll_await_done for a flag of operation k, with care for ranks that share cores.
 * exchange: no rank leaves before all ranks have written their part. Of the input the first
 * len_bytes are to be read. */
int ct_shm_coll_await_input(struct ct_shm_coll *b, uint32_t rank, bool exchange, size_t len_bytes);
/* Counts input of `rank` that this rank reads whatever the root is: it may move next to `rank`. */
void ct_shm_coll_place_beside(const struct ct_shm_coll *b, uint32_t rank, size_t len_bytes);
/* Input that another rank may have exposed. */
struct ct_shm_coll_attached {
    uint32_t                       rank;
    const struct ct_shm_coll_note *note; /* NULL: there is none yet */
    char  *asked; /* NULL, or a copy of what this rank reads; the caller frees it */
    size_t asked_at;
};

/* Memory for it, and endpoints; false: there is none. All ranks do that before they agree on bulk
 * memory, and _begin after it. */
bool ct_shm_coll_expose_prepare(struct ct_shm_coll *b);
void ct_shm_coll_expose_begin(struct ct_shm_coll *b);
/* What more than two ranks tell each other in their notes. */
struct ct_shm_coll_poll {
    bool     asked; /* it is counted */
    uint32_t nblind;
};

/* Whether the next operation's input is exposed by all ranks, which they know alike: all of it, as
 * it lies. `poll` is filled in for it. */
bool ct_shm_coll_all_expose(struct ct_shm_coll *b, const struct ct_run_args *args,
                            struct ct_shm_coll_poll *poll);
void ct_shm_coll_count(struct ct_shm_coll_poll *poll, const struct ct_shm_coll_note *note);
/* All notes are counted. */
void ct_shm_coll_conclude(struct ct_shm_coll *b, const struct ct_shm_coll_poll *poll);
/* Whether this one of two ranks exposes that part of its input. */
bool ct_shm_coll_exposes(struct ct_shm_coll *b, const struct ct_run_args *args);
/* Exposes what would be put in at byte `at` of a part. */
void ct_shm_coll_expose(struct ct_shm_coll *b, const char *from, size_t at, size_t len_bytes);
/* Ends a collective that has the result `rc` so far: waits until no rank reads exposed memory. */
int  ct_shm_coll_take_back(struct ct_shm_coll *b, int rc);
void ct_shm_coll_expose_end(struct ct_shm_coll *b);
/* Reads from byte `at` of the part on. */
int ct_shm_coll_attach(struct ct_shm_coll *b, struct ct_shm_coll_attached *in, size_t at, char *to,
                       size_t len_bytes);
/* dst = own op that, or with `first` that op own. */
struct ct_shm_coll_sum {
    const struct ct_reduction *op;
    char                      *dst;
    const char                *own;
    bool                       first;
    size_t                     elems, elem_bytes;
};
int ct_shm_coll_reduce(struct ct_shm_coll *b, struct ct_shm_coll_attached *in, size_t at,
                       const struct ct_shm_coll_sum *sum);
/* Copies long input to its part. */
void ct_shm_coll_put(char *to, const char *from, size_t len_bytes);
/* Others may wait for answers of this rank. */
void ct_shm_coll_drive(const struct ct_shm_coll *b);

#endif
