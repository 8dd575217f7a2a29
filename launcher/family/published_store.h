/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is published, and by whom: keys, the values under each, the ranks of all jobs of a family
 * and the room that they take. Used by published.c alone, which serves requests by it.
 */
#ifndef CT_LAUNCHER_FAMILY_PUBLISHED_STORE_H
#define CT_LAUNCHER_FAMILY_PUBLISHED_STORE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONFATAL_OOM 1 /* an element that cannot be added has hh.tbl NULL */
#include <uthash.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/family/published.h"

/* A key that is published or waited for. */
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
    size_t             room;      /* bytes that it takes */
    size_t             under_way; /* bytes of answers that it has not been given yet */
};

struct ct_pub_job {
    const struct ct_jobdesc *desc;
    const char              *nspace;
    struct ct_pub_rank      *ranks; /* NULL until one of them asks */
    bool                    *ended;
    uint32_t                *app_left; /* by program: ranks that live */
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

/* A rank, which exists. NULL when out of memory. */
struct ct_pub_rank *ct_pub_rank_get(struct ct_pub_job *job, uint32_t rank);

/* NULL when out of memory. What is borrowed is published.h's affair. */
struct ct_pub_job *ct_pub_job_create(const char *nspace, const struct ct_jobdesc *desc);
void               ct_pub_job_destroy(struct ct_pub_job *job);

/* ---- room: bytes of one rank, and of all ----------------------------------------------------- */

bool ct_pub_has_room(const struct ct_published *p, const struct ct_pub_rank *who, size_t bytes);
void ct_pub_use_room(struct ct_published *p, struct ct_pub_rank *who, size_t bytes);
void ct_pub_give_room(struct ct_published *p, struct ct_pub_rank *who, size_t bytes);

/* What a key takes at most beside what is kept under it, and with a value. */
size_t ct_pub_slot_room(const char *key);
size_t ct_pub_entry_room(const char *key, size_t len_bytes);

/* ---- keys and values ------------------------------------------------------------------------- */

/* NULL where there is none; or, of one that is made, when out of memory. */
struct ct_pub_slot *ct_pub_slot_find(struct ct_published *p, const char *key);
struct ct_pub_slot *ct_pub_slot_get(struct ct_published *p, const char *key);
void                ct_pub_slot_drop_unused(struct ct_published *p, struct ct_pub_slot *s);

/* A copy of the value. NULL when out of memory. */
struct ct_pub_entry *ct_pub_entry_add(struct ct_published *p, struct ct_pub_rank *who,
                                      enum ct_data_range range, enum ct_data_persist persist,
                                      const char *key, const void *bytes, size_t len_bytes);
void                 ct_pub_entry_drop(struct ct_published *p, struct ct_pub_entry *e);

/* What the rank gets under a key from those in this range, NULL for nothing. */
struct ct_pub_entry *ct_pub_entry_find(const struct ct_pub_slot *s, const struct ct_pub_rank *who,
                                       enum ct_data_range range);

/* Whether the key is published already where this rank would. */
bool ct_pub_is_taken(struct ct_published *p, const char *key, const struct ct_pub_rank *who,
                     enum ct_data_range range);

#endif
