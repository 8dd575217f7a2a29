/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys, values and ranks; see published_store.h. */
#include "config.h"
#include "launcher/family/published_store.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

/* ---- ranks ----------------------------------------------------------------------------------- */

struct ct_pub_job *ct_pub_job_create(const char *nspace, const struct ct_jobdesc *desc)
{
    uint32_t           n = ct_jobdesc_ranks(desc);
    struct ct_pub_job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        return NULL;
    }
    *j = (struct ct_pub_job){.desc = desc,
                             .nspace = nspace,
                             .ended = calloc(n, sizeof *j->ended),
                             .app_left = calloc(desc->napps, sizeof *j->app_left)};
    if (j->ended == NULL || j->app_left == NULL) {
        ct_pub_job_destroy(j);
        return NULL;
    }
    for (uint32_t i = 0; i < desc->napps; i++) {
        j->app_left[i] = desc->apps[i].ranks;
    }
    return j;
}

void ct_pub_job_destroy(struct ct_pub_job *job)
{
    free(job->ranks);
    free(job->ended);
    free(job->app_left);
    free(job);
}

struct ct_pub_rank *ct_pub_rank_get(struct ct_pub_job *job, uint32_t rank)
{
    uint32_t n = ct_jobdesc_ranks(job->desc);
    if (job->ranks == NULL) {
        job->ranks = calloc(n, sizeof *job->ranks);
        for (uint32_t i = 0; job->ranks != NULL && i < n; i++) {
            job->ranks[i].job = job;
            ct_list_init(&job->ranks[i].entries);
            ct_list_init(&job->ranks[i].waiters);
        }
    }
    return job->ranks != NULL ? &job->ranks[rank] : NULL;
}

/* ---- room ------------------------------------------------------------------------------------ */

bool ct_pub_has_room(const struct ct_published *p, const struct ct_pub_rank *who, size_t bytes)
{
    return who->room + bytes <= CT_DATA_RANK_MAX && p->room + bytes <= CT_DATA_JOB_MAX;
}

void ct_pub_use_room(struct ct_published *p, struct ct_pub_rank *who, size_t bytes)
{
    who->room += bytes;
    p->room += bytes;
}

void ct_pub_give_room(struct ct_published *p, struct ct_pub_rank *who, size_t bytes)
{
    who->room -= bytes;
    p->room -= bytes;
}

size_t ct_pub_slot_room(const char *key)
{
    return sizeof(struct ct_pub_slot) + strlen(key) + 1;
}

size_t ct_pub_entry_room(const char *key, size_t len_bytes)
{
    return ct_pub_slot_room(key) + sizeof(struct ct_pub_entry) + len_bytes;
}

/* ---- keys ------------------------------------------------------------------------------------ */

struct ct_pub_slot *ct_pub_slot_find(struct ct_published *p, const char *key)
{
    struct ct_pub_slot *s;
    HASH_FIND_STR(p->slots, key, s);
    return s;
}

struct ct_pub_slot *ct_pub_slot_get(struct ct_published *p, const char *key)
{
    struct ct_pub_slot *s = ct_pub_slot_find(p, key);
    size_t              len = strlen(key);
    if (s != NULL) {
        return s;
    }
    s = calloc(1, sizeof *s + len + 1);
    if (s == NULL) {
        return NULL;
    }
    memcpy(s->key, key, len + 1);
    ct_list_init(&s->entries);
    ct_list_init(&s->wants);
    HASH_ADD_KEYPTR(hh, p->slots, s->key, len, s);
    if (s->hh.tbl == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

void ct_pub_slot_drop_unused(struct ct_published *p, struct ct_pub_slot *s)
{
    if (ct_list_empty(&s->entries) && ct_list_empty(&s->wants)) {
        HASH_DEL(p->slots, s);
        free(s);
    }
}

void ct_pub_entry_drop(struct ct_published *p, struct ct_pub_entry *e)
{
    struct ct_pub_slot *s = e->slot;
    ct_pub_give_room(p, e->who, ct_pub_entry_room(s->key, e->len));
    ct_list_remove(&e->node);
    ct_list_remove(&e->of_rank);
    free(e);
    ct_pub_slot_drop_unused(p, s);
}

struct ct_pub_entry *ct_pub_entry_add(struct ct_published *p, struct ct_pub_rank *who,
                                      enum ct_data_range range, enum ct_data_persist persist,
                                      const char *key, const void *bytes, size_t len)
{
    struct ct_pub_slot  *s = ct_pub_slot_get(p, key);
    struct ct_pub_entry *e = s != NULL ? malloc(sizeof *e + len) : NULL;
    if (e == NULL) {
        if (s != NULL) {
            ct_pub_slot_drop_unused(p, s);
        }
        return NULL;
    }
    *e = (struct ct_pub_entry){
        .slot = s, .range = range, .persist = persist, .who = who, .len = len};
    memcpy(e->bytes, bytes, len);
    struct ct_list *at = s->entries.next;
    while (at != &s->entries && CT_LIST_ENTRY(at, struct ct_pub_entry, node)->range <= range) {
        at = at->next;
    }
    ct_list_append(at, &e->node); /* before it */
    ct_list_append(&who->entries, &e->of_rank);
    ct_pub_use_room(p, who, ct_pub_entry_room(key, len));
    return e;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool is_same_node(const struct ct_pub_rank *a, const struct ct_pub_rank *b)
{
    const struct ct_jobdesc *x = a->job->desc, *y = b->job->desc;
    uint32_t                 i = x->ranks.node_of[ct_pub_number(a)];
    uint32_t                 k = y->ranks.node_of[ct_pub_number(b)];
    return x == y ? i == k : strcmp(x->nodes[i].host, y->nodes[k].host) == 0;
}

static bool is_within(enum ct_data_range range, const struct ct_pub_rank *a,
                      const struct ct_pub_rank *b)
{
    return range == CT_RANGE_PROCESS  ? a == b
           : range == CT_RANGE_NODE   ? is_same_node(a, b)
           : range == CT_RANGE_NSPACE ? a->job == b->job
                                      : true;
}

struct ct_pub_entry *ct_pub_entry_find(const struct ct_pub_slot *s, const struct ct_pub_rank *who,
                                       enum ct_data_range range)
{
    for (struct ct_list *l = s->entries.next; l != &s->entries; l = l->next) {
        struct ct_pub_entry *e = CT_LIST_ENTRY(l, struct ct_pub_entry, node);
        if (is_within(e->range, e->who, who) && is_within(range, e->who, who)) {
            return e;
        }
    }
    return NULL;
}

bool ct_pub_is_taken(struct ct_published *p, const char *key, const struct ct_pub_rank *who,
                     enum ct_data_range range)
{
    struct ct_pub_slot *s = ct_pub_slot_find(p, key);
    for (struct ct_list *l = s != NULL ? s->entries.next : NULL; s != NULL && l != &s->entries;
         l = l->next) {
        struct ct_pub_entry *e = CT_LIST_ENTRY(l, struct ct_pub_entry, node);
        if (e->range == range && is_within(range, e->who, who)) {
            return true;
        }
    }
    return false;
}
