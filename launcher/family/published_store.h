/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The published values: keys, the values of each key, the ranks of all jobs of a family, and the
 * room that they take. Used by published.c alone, which serves requests.
 */
#ifndef CT_LAUNCHER_FAMILY_PUBLISHED_STORE_H
#define CT_LAUNCHER_FAMILY_PUBLISHED_STORE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1 /* a failed allocation leaves hh.tbl NULL */
#include <uthash.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/family/published.h"

/* A key that has a value or that a lookup waits for. */
struct ct_pub_slot {
    UT_hash_handle hh;
    struct ct_list entries; /* narrowest range first */
    struct ct_list wants;
    char           key[];
};

struct ct_pub_entry {
    struct ct_list       node, of_rank;
    struct ct_pub_slot  *slot;
    enum ct_data_range   range;
    enum ct_data_persist persist;
    struct ct_pub_rank  *who;
    size_t               len;
    uint8_t              bytes[];
};

struct ct_pub_rank {
    struct ct_pub_job *job;
    struct ct_list     entries, waiters;
    size_t             room;      /* bytes that are kept for the rank */
    size_t             under_way; /* bytes of answers that the rank has not got yet */
};

struct ct_pub_job {
    const struct ct_jobdesc *desc;
    const char              *nspace;
    struct ct_pub_rank      *ranks; /* NULL until a rank of the job asks */
    bool                    *ended;
    uint32_t                *app_left; /* by program: ranks that have not ended */
};

struct ct_published {
    struct event_base     *base;
    struct ct_pub_slot    *slots; /* uthash by key */
    struct ct_pub_job    **jobs;
    uint32_t               njobs;
    uint32_t               nranks, nended; /* of all jobs */
    size_t                 room;
    ct_published_answer_fn answer;
    void                  *arg;
};

/* ---- ranks ----------------------------------------------------------------------------------- */

static inline uint32_t ct_pub_number(const struct ct_pub_rank *who)
{
    return (uint32_t)(who - who->job->ranks);
}

static inline bool ct_pub_has_ended(const struct ct_pub_rank *who)
{
    return who->job->ended[ct_pub_number(who)];
}

/* Returns a rank, which must exist. NULL when out of memory. */
struct ct_pub_rank *ct_pub_rank_get(struct ct_pub_job *job, uint32_t rank);

/* Returns NULL when out of memory. See ct_published_add for what is borrowed. */
struct ct_pub_job *ct_pub_job_create(const char *nspace, const struct ct_jobdesc *desc);
void               ct_pub_job_destroy(struct ct_pub_job *job);

/* ---- room: bytes of one rank, and of all ----------------------------------------------------- */

bool ct_pub_has_room(const struct ct_published *p, const struct ct_pub_rank *who, size_t bytes);
void ct_pub_use_room(struct ct_published *p, struct ct_pub_rank *who, size_t bytes);
void ct_pub_give_room(struct ct_published *p, struct ct_pub_rank *who, size_t bytes);

/* The most room that a key takes beside its values; that a key takes with one value. */
size_t ct_pub_slot_room(const char *key);
size_t ct_pub_entry_room(const char *key, size_t len_bytes);

/* ---- keys and values ------------------------------------------------------------------------- */

/* Return NULL if there is no such slot; ct_pub_slot_get makes it, and returns NULL when out of
 * memory. */
struct ct_pub_slot *ct_pub_slot_find(struct ct_published *p, const char *key);
struct ct_pub_slot *ct_pub_slot_get(struct ct_published *p, const char *key);
void                ct_pub_slot_drop_unused(struct ct_published *p, struct ct_pub_slot *s);

/* Adds a copy of the value. Returns NULL when out of memory. */
struct ct_pub_entry *ct_pub_entry_add(struct ct_published *p, struct ct_pub_rank *who,
                                      enum ct_data_range range, enum ct_data_persist persist,
                                      const char *key, const void *bytes, size_t len_bytes);
void                 ct_pub_entry_drop(struct ct_published *p, struct ct_pub_entry *e);

/* Returns the value that the rank sees under a key in this range, NULL: none. */
struct ct_pub_entry *ct_pub_entry_find(const struct ct_pub_slot *s, const struct ct_pub_rank *who,
                                       enum ct_data_range range);

/* Whether the key already has a value where this rank would publish it. */
bool ct_pub_is_taken(struct ct_published *p, const char *key, const struct ct_pub_rank *who,
                     enum ct_data_range range);

#endif
