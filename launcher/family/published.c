/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks publish; see published.h. Used by root.c and members.c, at the root of a family. */
#include "config.h"
#include "launcher/family/published.h"

#include "published_store.h" /* before another header includes uthash */

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/launcher.h"

/* A lookup, that waits or is just being answered. */
struct want {
    struct ct_list       node;
    struct ct_pub_slot  *slot;
    struct waiter       *waiter;
    struct ct_pub_entry *found; /* in an answer that is being made */
};

struct waiter {
    struct ct_list       of_rank;
    struct ct_published *p;
    struct event        *timeout; /* NULL: none */
    uint32_t             asker, number, wanted, n;
    struct ct_pub_rank  *who;
    enum ct_data_range   range;
    bool                 held; /* it has enough, which cannot go out yet */
    size_t               room;
    struct want          wants[];
};

struct request {
    struct ct_pub_rank *who;
    uint32_t            asker, number, n; /* n keys follow */
    enum ct_data_range  range;
};

/* ---- answers --------------------------------------------------------------------------------- */

static void send_answer(struct ct_published *p, const struct ct_pub_rank *who, uint32_t asker,
                        uint32_t number, enum ct_data_status status, uint32_t nvalues,
                        struct evbuffer *values)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, asker);
    ct_pack_u32(body, number);
    ct_pack_u32(body, status);
    ct_pack_u32(body, nvalues);
    if (values != NULL) {
        evbuffer_add_buffer(body, values);
    }
    struct ct_unpack message = ct_unpack_of(body);
    p->answer(p->arg, who->job->nspace, &message);
    evbuffer_free(body);
}

static void answer_plain(struct ct_published *p, const struct request *r,
                         enum ct_data_status status)
{
    send_answer(p, r->who, r->asker, r->number, status, 0, NULL);
}

static uint32_t count_found(const struct waiter *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        n += ct_pub_entry_find(w->wants[i].slot, w->who, w->range) != NULL;
    }
    return n;
}

static void free_waiter(struct waiter *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        ct_list_remove(&w->wants[i].node);
        ct_pub_slot_drop_unused(w->p, w->wants[i].slot);
    }
    ct_list_remove(&w->of_rank);
    ct_pub_give_room(w->p, w->who, w->room);
    if (w->timeout != NULL) {
        event_free(w->timeout);
    }
    free(w);
}

/* Drops the values that were found and are for one reader only. A lookup may name a key twice; both
 * mean one value. */
static void drop_read(struct waiter *w)
{
    struct ct_list read;
    ct_list_init(&read);
    for (uint32_t i = 0; i < w->n; i++) {
        struct ct_pub_entry *e = w->wants[i].found;
        if (e->persist == CT_PERSIST_FIRST_READ) {
            ct_list_remove(&e->of_rank);
            ct_list_append(&read, &e->of_rank);
        }
    }
    CT_LIST_FOR (l, &read) {
        ct_pub_entry_drop(w->p, CT_LIST_ENTRY(l, struct ct_pub_entry, of_rank));
    }
}

/* Whether the rank has to be given other answers before this one. A dead one gets no more. */
static bool must_wait(const struct waiter *w, size_t len)
{
    size_t before = w->who->under_way;
    return len > CT_DATA_SMALL && before > 0 && before + len > CT_DATA_UNDER_WAY_MAX &&
           !ct_pub_has_ended(w->who);
}

/* Answers a lookup with the values, or with the reason why there are too few; or the lookup
 * waits. */
static void published_finish(struct waiter *w, enum ct_data_status missing)
{
    struct ct_published *p = w->p;
    struct evbuffer     *values = evbuffer_new();
    uint32_t             n = 0;
    for (uint32_t i = 0; i < w->n && missing != CT_DATA_TIMEOUT; i++) {
        struct ct_pub_entry *e = ct_pub_entry_find(w->wants[i].slot, w->who, w->range);
        w->wants[i].found = e;
        if (e != NULL) {
            ct_pack_text(values, e->slot->key);
            ct_pack_text(values, e->who->job == w->who->job ? "" : e->who->job->nspace);
            ct_pack_u32(values, ct_pub_number(e->who));
            ct_pack_bytes(values, e->bytes, e->len);
            n++;
        }
    }
    enum ct_data_status status = n == w->n ? CT_DATA_OK : n > 0 ? CT_DATA_PARTIAL : missing;
    if (evbuffer_get_length(values) > CT_DATA_MESSAGE_MAX - 64) {
        evbuffer_drain(values, evbuffer_get_length(values));
        n = 0;
        status = CT_DATA_FULL;
    }
    size_t len = evbuffer_get_length(values);
    w->held = must_wait(w, len);
    if (w->held) {
        ct_list_remove(&w->of_rank);
        ct_list_append(&w->who->waiters, &w->of_rank);
        evbuffer_free(values);
        return;
    }
    if (status == CT_DATA_OK) {
        drop_read(w);
    }
    w->who->under_way += len > CT_DATA_SMALL ? len : 0;
    send_answer(p, w->who, w->asker, w->number, status, n, values);
    evbuffer_free(values);
    free_waiter(w);
}

static void published_on_timeout(int fd, short what, void *arg)
{
    (void)fd, (void)what;
    published_finish(arg, CT_DATA_TIMEOUT);
}

/* ---- requests -------------------------------------------------------------------------------- */

static const char *take_key(struct ct_unpack *in)
{
    const char *key = ct_unpack_text(in);
    in->bad |= key[0] == '\0' || strlen(key) > CT_DATA_KEY_MAX;
    return key;
}

/* The number of keys, which all are there. */
static uint32_t take_count(struct ct_unpack *in, bool with_values)
{
    uint32_t n = ct_unpack_u32(in);
    in->bad |= n > CT_DATA_KEYS_MAX;
    struct ct_unpack look = *in;
    for (uint32_t i = 0; i < n && !look.bad; i++) {
        size_t len;
        (void)take_key(&look);
        if (with_values) {
            (void)ct_unpack_bytes(&look, &len);
        }
    }
    in->bad |= look.bad || look.left > 0;
    return in->bad ? 0 : n;
}

/* Whether all of them can be, or why not. A key that comes twice is a duplicate. */
static enum ct_data_status check_publish(struct ct_published *p, const struct request *r,
                                         struct ct_unpack in)
{
    struct ct_unpack first = in;
    size_t           room = 0, len;
    for (uint32_t i = 0; i < r->n; i++) {
        const char      *key = ct_unpack_text(&in);
        struct ct_unpack before = first;
        (void)ct_unpack_bytes(&in, &len);
        room += ct_pub_entry_room(key, len);
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(ct_unpack_text(&before), key) == 0) {
                return CT_DATA_DUPLICATE;
            }
            (void)ct_unpack_bytes(&before, &len);
        }
        if (ct_pub_is_taken(p, key, r->who, r->range)) {
            return CT_DATA_DUPLICATE;
        }
    }
    return ct_pub_has_room(p, r->who, room) ? CT_DATA_OK : CT_DATA_FULL;
}

/* Answers the lookups that have waited for this key and now have enough. */
static void published_serve(struct ct_published *p, const char *key)
{
    struct ct_pub_slot *s = ct_pub_slot_find(p, key);
    while (s != NULL) { /* an answer changes the lists, and may take the key itself */
        struct waiter *ready = NULL;
        for (struct ct_list *l = s->wants.next; l != &s->wants && ready == NULL; l = l->next) {
            struct waiter *w = CT_LIST_ENTRY(l, struct want, node)->waiter;
            ready = !w->held && count_found(w) >= w->wanted ? w : NULL;
        }
        if (ready == NULL) {
            return;
        }
        published_finish(ready, CT_DATA_NOT_FOUND);
        s = ct_pub_slot_find(p, key);
    }
}

static void drop_entries(struct ct_published *p, struct ct_pub_rank *who,
                         enum ct_data_persist persist)
{
    CT_LIST_FOR (l, &who->entries) {
        struct ct_pub_entry *e = CT_LIST_ENTRY(l, struct ct_pub_entry, of_rank);
        if (e->persist == persist) {
            ct_pub_entry_drop(p, e);
        }
    }
}

/* A rank has ended: values for the life of the rank go, and with the last rank of a program the
 * values for the life of the program. */
static void published_drop_of_rank(struct ct_published *p, struct ct_pub_rank *who)
{
    struct ct_pub_job       *job = who->job;
    const struct ct_jobdesc *d = job->desc;
    uint32_t                 app = ct_jobdesc_app_of(d, ct_pub_number(who));
    uint32_t                 first = ct_jobdesc_app_first(d, app);
    drop_entries(p, who, CT_PERSIST_PROCESS);
    for (uint32_t i = 0; job->app_left[app] == 0 && i < d->apps[app].ranks; i++) {
        drop_entries(p, &job->ranks[first + i], CT_PERSIST_APP);
    }
}

static void published_publish(struct ct_published *p, struct request *r, struct ct_unpack *in)
{
    uint32_t persist = ct_unpack_u32(in);
    r->n = take_count(in, true);
    in->bad |= persist >= CT_DATA_PERSISTS || r->n == 0 || r->range >= CT_DATA_RANGES;
    if (in->bad) {
        return;
    }
    enum ct_data_status status = check_publish(p, r, *in);
    struct ct_unpack    keys = *in;
    struct ct_list      done;
    size_t              len;
    ct_list_init(&done);
    for (uint32_t i = 0; i < r->n && status == CT_DATA_OK; i++) {
        const char          *key = ct_unpack_text(in);
        const void          *bytes = ct_unpack_bytes(in, &len);
        struct ct_pub_entry *e =
            ct_pub_entry_add(p, r->who, r->range, (enum ct_data_persist)persist, key, bytes, len);
        if (e == NULL) {
            status = CT_DATA_FULL;
        } else {
            ct_list_remove(&e->of_rank);
            ct_list_append(&done, &e->of_rank);
        }
    }
    CT_LIST_FOR (l, &done) {
        if (status != CT_DATA_OK) {
            ct_pub_entry_drop(p, CT_LIST_ENTRY(l, struct ct_pub_entry, of_rank));
        }
    }
    ct_list_splice(&r->who->entries, &done);
    answer_plain(p, r, status);
    for (uint32_t i = 0; i < r->n && status == CT_DATA_OK; i++) {
        published_serve(p, ct_unpack_text(&keys));
        (void)ct_unpack_bytes(&keys, &len);
    }
    if (ct_pub_has_ended(r->who)) { /* it asked before that */
        published_drop_of_rank(p, r->who);
    }
    in->left = 0;
}

static struct waiter *make_waiter(struct ct_published *p, const struct request *r,
                                  struct ct_unpack *in)
{
    size_t         room = sizeof(struct waiter) + r->n * sizeof(struct want);
    struct waiter *w = malloc(room);
    if (w == NULL) {
        return NULL;
    }
    *w = (struct waiter){
        .p = p, .asker = r->asker, .number = r->number, .who = r->who, .range = r->range};
    ct_list_init(&w->of_rank);
    for (; w->n < r->n; w->n++) {
        const char         *key = ct_unpack_text(in);
        struct ct_pub_slot *s = ct_pub_slot_get(p, key);
        if (s == NULL) {
            break;
        }
        room += ct_pub_slot_room(key);
        w->wants[w->n] = (struct want){.slot = s, .waiter = w};
        ct_list_append(&s->wants, &w->wants[w->n].node);
    }
    w->room = room;
    ct_pub_use_room(p, w->who, room);
    if (w->n < r->n) {
        free_waiter(w);
        return NULL;
    }
    return w;
}

/* A rank that lives alone waits for nobody. */
static bool is_alone(const struct ct_published *p)
{
    return p->nended + 1 >= p->nranks;
}

static void published_look_up(struct ct_published *p, struct request *r, struct ct_unpack *in)
{
    uint32_t wanted = ct_unpack_u32(in), limit_ms = ct_unpack_u32(in);
    r->n = take_count(in, false);
    in->bad |= r->n == 0 || r->range >= CT_DATA_RANGES;
    if (in->bad) {
        return;
    }
    struct waiter *w = make_waiter(p, r, in);
    if (w == NULL || !ct_pub_has_room(p, r->who, 0)) {
        answer_plain(p, r, CT_DATA_FULL);
        if (w != NULL) {
            free_waiter(w);
        }
        return;
    }
    w->wanted = wanted < w->n ? wanted : w->n;
    if (count_found(w) >= w->wanted || is_alone(p) || ct_pub_has_ended(r->who)) {
        published_finish(w, CT_DATA_NOT_FOUND);
        return;
    }
    ct_list_append(&r->who->waiters, &w->of_rank);
    if (limit_ms > 0) {
        struct timeval limit = {limit_ms / 1000, limit_ms % 1000 * 1000};
        w->timeout = evtimer_new(p->base, published_on_timeout, w);
        if (w->timeout == NULL || event_add(w->timeout, &limit) != 0) {
            published_finish(w, CT_DATA_FULL);
        }
    }
}

/* Drops what a rank has published under a key, or under all keys with NULL. Returns how many
 * values. */
static uint32_t published_withdraw(struct ct_published *p, const struct request *r, const char *key)
{
    struct ct_pub_slot *s = key != NULL ? ct_pub_slot_find(p, key) : NULL;
    struct ct_list     *list = s != NULL ? &s->entries : &r->who->entries, *next;
    uint32_t            n = 0;
    if (key != NULL && s == NULL) {
        return 0;
    }
    for (struct ct_list *l = list->next; l != list; l = next) {
        struct ct_pub_entry *e = s != NULL ? CT_LIST_ENTRY(l, struct ct_pub_entry, node)
                                           : CT_LIST_ENTRY(l, struct ct_pub_entry, of_rank);
        bool                 last = l->next == list; /* the list may go with the entry */
        next = last ? list : l->next;
        if (e->who == r->who && (r->range == CT_RANGE_ANY || r->range == e->range)) {
            ct_pub_entry_drop(p, e);
            n++;
        }
    }
    return n;
}

static void published_unpublish(struct ct_published *p, struct request *r, struct ct_unpack *in)
{
    uint32_t found = 0;
    r->n = take_count(in, false);
    if (in->bad) {
        return;
    }
    if (r->n == 0) {
        (void)published_withdraw(p, r, NULL);
    }
    for (uint32_t i = 0; i < r->n; i++) {
        found += published_withdraw(p, r, ct_unpack_text(in)) > 0;
    }
    answer_plain(p, r,
                 found == r->n ? CT_DATA_OK
                 : found > 0   ? CT_DATA_PARTIAL
                               : CT_DATA_NOT_FOUND);
}

void ct_published_take(struct ct_published *p, struct ct_pub_job *job, struct ct_unpack *in)
{
    struct request r = {.asker = ct_unpack_u32(in)};
    r.number = ct_unpack_u32(in);
    uint32_t rank = ct_unpack_u32(in), op = ct_unpack_u32(in), range = ct_unpack_u32(in);
    in->bad |=
        r.asker >= job->desc->nnodes || rank >= ct_jobdesc_ranks(job->desc) || range > CT_RANGE_ANY;
    if (in->bad) {
        return;
    }
    struct ct_pub_rank nobody = {.job = job};
    r.range = (enum ct_data_range)range;
    r.who = ct_pub_rank_get(job, rank);
    if (r.who == NULL) {
        send_answer(p, &nobody, r.asker, r.number, CT_DATA_FULL, 0, NULL);
    } else if (op == CT_DATA_PUBLISH) {
        published_publish(p, &r, in);
    } else if (op == CT_DATA_LOOKUP) {
        published_look_up(p, &r, in);
    } else if (op == CT_DATA_UNPUBLISH) {
        published_unpublish(p, &r, in);
    } else {
        in->bad = true;
    }
}

/* What a lookup found when it began to wait may be gone; then it waits on. */
void ct_published_taken(struct ct_published *p, struct ct_pub_job *job, struct ct_unpack *in)
{
    uint32_t            rank = ct_unpack_u32(in), len = ct_unpack_u32(in);
    bool                exists = job->ranks != NULL && rank < ct_jobdesc_ranks(job->desc);
    struct ct_pub_rank *who = exists ? &job->ranks[rank] : NULL;
    in->bad |= who == NULL || len > who->under_way;
    if (in->bad) {
        return;
    }
    struct ct_list all;
    ct_list_init(&all);
    ct_list_splice(&all, &who->waiters);
    who->under_way -= len;
    CT_LIST_FOR (l, &all) {
        struct waiter *w = CT_LIST_ENTRY(l, struct waiter, of_rank);
        ct_list_remove(&w->of_rank);
        ct_list_append(&who->waiters, &w->of_rank);
        if (w->held && (count_found(w) >= w->wanted || is_alone(p))) {
            published_finish(w, CT_DATA_NOT_FOUND);
        } else {
            w->held = false;
        }
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void end_waits(struct ct_pub_rank *who)
{
    struct ct_list all;
    ct_list_init(&all);
    ct_list_splice(&all, &who->waiters);
    CT_LIST_FOR (l, &all) { /* those that are held go back */
        published_finish(CT_LIST_ENTRY(l, struct waiter, of_rank), CT_DATA_NOT_FOUND);
    }
}

/* A job of which no rank has asked yet has none. */
static void end_all_waits(struct ct_pub_job *job)
{
    for (uint32_t i = 0; job->ranks != NULL && i < ct_jobdesc_ranks(job->desc); i++) {
        end_waits(&job->ranks[i]);
    }
}

void ct_published_ended(struct ct_published *p, struct ct_pub_job *job, uint32_t rank)
{
    if (rank >= ct_jobdesc_ranks(job->desc) || job->ended[rank]) {
        return;
    }
    job->ended[rank] = true;
    p->nended++;
    job->app_left[ct_jobdesc_app_of(job->desc, rank)]--;
    if (job->ranks != NULL) {
        end_waits(&job->ranks[rank]);
        published_drop_of_rank(p, &job->ranks[rank]);
    }
    for (uint32_t i = 0; is_alone(p) && i < p->njobs; i++) {
        end_all_waits(p->jobs[i]);
    }
}

bool ct_published_has_ended(const struct ct_pub_job *job, uint32_t rank)
{
    return job->ended[rank];
}

bool ct_published_forget(struct ct_published *p, struct ct_pub_job *job)
{
    uint32_t n = ct_jobdesc_ranks(job->desc), at = 0;
    for (uint32_t i = 0; job->ranks != NULL && i < n; i++) {
        if (!ct_list_empty(&job->ranks[i].entries)) {
            return false;
        }
    }
    while (p->jobs[at] != job) {
        at++;
    }
    p->jobs[at] = p->jobs[--p->njobs];
    p->nranks -= n;
    p->nended -= n;
    ct_pub_job_destroy(job);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct ct_published *ct_published_create(struct event_base *base, ct_published_answer_fn answer,
                                         void *arg)
{
    struct ct_published *p = calloc(1, sizeof *p);
    if (p != NULL) {
        *p = (struct ct_published){.base = base, .answer = answer, .arg = arg};
    }
    return p;
}

struct ct_pub_job *ct_published_add(struct ct_published *p, const char *nspace,
                                    const struct ct_jobdesc *desc)
{
    struct ct_pub_job **more = realloc(p->jobs, (p->njobs + 1) * sizeof(struct ct_pub_job *));
    struct ct_pub_job  *job = more != NULL ? ct_pub_job_create(nspace, desc) : NULL;
    p->jobs = more != NULL ? more : p->jobs;
    if (job != NULL) {
        p->jobs[p->njobs++] = job;
        p->nranks += ct_jobdesc_ranks(desc);
    }
    return job;
}

static void empty_rank(struct ct_published *p, struct ct_pub_rank *who)
{
    CT_LIST_FOR (w, &who->waiters) {
        free_waiter(CT_LIST_ENTRY(w, struct waiter, of_rank));
    }
    CT_LIST_FOR (e, &who->entries) {
        ct_pub_entry_drop(p, CT_LIST_ENTRY(e, struct ct_pub_entry, of_rank));
    }
}

void ct_published_destroy(struct ct_published *p)
{
    for (uint32_t i = 0; p != NULL && i < p->njobs; i++) {
        struct ct_pub_job *job = p->jobs[i];
        for (uint32_t k = 0; job->ranks != NULL && k < ct_jobdesc_ranks(job->desc); k++) {
            empty_rank(p, &job->ranks[k]);
        }
        ct_pub_job_destroy(job);
    }
    if (p != NULL) {
        free(p->jobs);
        free(p);
    }
}
