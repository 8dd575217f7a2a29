/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks publish; see published.h. Used by head.c. */
#include "config.h"
#include "published.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1 /* an element that cannot be added has hh.tbl NULL */
#include <uthash.h>

#include "base/base.h"
#include "launcher.h"

/* A key that is published or waited for. */
struct slot {
    UT_hash_handle hh;
    struct ct_list entries; /* narrowest range first */
    struct ct_list wants;
    char           key[];
};

struct entry {
    struct ct_list       node, of_rank;
    struct slot         *slot;
    enum ct_data_range   range;
    enum ct_data_persist persist;
    uint32_t             rank;
    size_t               len;
    uint8_t              bytes[];
};

/* A lookup, that waits or is just being answered. */
struct want {
    struct ct_list node;
    struct slot   *slot;
    struct waiter *waiter;
    struct entry  *found; /* in an answer that is being made */
};

struct waiter {
    struct ct_list       of_rank;
    struct ct_published *p;
    struct event        *timeout; /* NULL: none */
    uint32_t             asker, number, rank, wanted, n;
    enum ct_data_range   range;
    bool                 held; /* it has enough, which cannot go out yet */
    size_t               room;
    struct want          wants[];
};

struct rank {
    struct ct_list entries, waiters;
    size_t         room;      /* bytes that it takes */
    size_t         under_way; /* bytes of answers that it has not been given yet */
};

struct ct_published {
    struct event_base       *base;
    const struct ct_jobdesc *desc;
    struct slot             *slots; /* uthash by key */
    struct rank             *ranks; /* NULL until somebody asks */
    bool                    *ended;
    uint32_t                *app_left; /* by program: ranks that live */
    uint32_t                 nranks, nended;
    size_t                   room;
    ct_published_answer_fn   answer;
    void                    *arg;
};

/* ---- room ------------------------------------------------------------------------------------ */

static bool has_room(const struct ct_published *p, uint32_t rank, size_t bytes)
{
    return p->ranks[rank].room + bytes <= CT_DATA_RANK_MAX && p->room + bytes <= CT_DATA_JOB_MAX;
}

static void use_room(struct ct_published *p, uint32_t rank, size_t bytes)
{
    p->ranks[rank].room += bytes;
    p->room += bytes;
}

static void give_room(struct ct_published *p, uint32_t rank, size_t bytes)
{
    p->ranks[rank].room -= bytes;
    p->room -= bytes;
}

/* What a key takes at most beside what is kept under it. */
static size_t slot_room(const char *key)
{
    return sizeof(struct slot) + strlen(key) + 1;
}

static size_t entry_room(const char *key, size_t len_bytes)
{
    return slot_room(key) + sizeof(struct entry) + len_bytes;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static struct slot *find_slot(struct ct_published *p, const char *key)
{
    struct slot *s;
    HASH_FIND_STR(p->slots, key, s);
    return s;
}

static struct slot *get_slot(struct ct_published *p, const char *key)
{
    struct slot *s = find_slot(p, key);
    size_t       len = strlen(key);
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

static void drop_slot_if_unused(struct ct_published *p, struct slot *s)
{
    if (ct_list_empty(&s->entries) && ct_list_empty(&s->wants)) {
        HASH_DEL(p->slots, s);
        free(s);
    }
}

static void drop_entry(struct ct_published *p, struct entry *e)
{
    struct slot *s = e->slot;
    give_room(p, e->rank, entry_room(s->key, e->len));
    ct_list_remove(&e->node);
    ct_list_remove(&e->of_rank);
    free(e);
    drop_slot_if_unused(p, s);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool is_within(const struct ct_published *p, enum ct_data_range range, uint32_t a,
                      uint32_t b)
{
    const uint32_t *node_of = p->desc->ranks.node_of;
    return range == CT_RANGE_PROCESS ? a == b : range != CT_RANGE_NODE || node_of[a] == node_of[b];
}

/* What the rank gets under a key, NULL for nothing. */
static struct entry *find_entry(const struct ct_published *p, const struct slot *s, uint32_t rank,
                                enum ct_data_range range)
{
    for (struct ct_list *l = s->entries.next; l != &s->entries; l = l->next) {
        struct entry *e = CT_LIST_ENTRY(l, struct entry, node);
        if (is_within(p, e->range, e->rank, rank) && is_within(p, range, e->rank, rank)) {
            return e;
        }
    }
    return NULL;
}

static bool is_taken(struct ct_published *p, const char *key, uint32_t rank,
                     enum ct_data_range range)
{
    struct slot *s = find_slot(p, key);
    for (struct ct_list *l = s != NULL ? s->entries.next : NULL; s != NULL && l != &s->entries;
         l = l->next) {
        struct entry *e = CT_LIST_ENTRY(l, struct entry, node);
        if (e->range == range && is_within(p, range, e->rank, rank)) {
            return true;
        }
    }
    return false;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void send_answer(struct ct_published *p, uint32_t asker, uint32_t number,
                        enum ct_data_status status, uint32_t nvalues, struct evbuffer *values)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, asker);
    ct_pack_u32(body, number);
    ct_pack_u32(body, status);
    ct_pack_u32(body, nvalues);
    if (values != NULL) {
        evbuffer_add_buffer(body, values);
    }
    struct ct_unpack message = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    p->answer(p->arg, &message);
    evbuffer_free(body);
}

static void answer_plain(struct ct_published *p, uint32_t asker, uint32_t number,
                         enum ct_data_status status)
{
    send_answer(p, asker, number, status, 0, NULL);
}

static uint32_t count_found(const struct waiter *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        n += find_entry(w->p, w->wants[i].slot, w->rank, w->range) != NULL;
    }
    return n;
}

static void free_waiter(struct waiter *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        ct_list_remove(&w->wants[i].node);
        drop_slot_if_unused(w->p, w->wants[i].slot);
    }
    ct_list_remove(&w->of_rank);
    give_room(w->p, w->rank, w->room);
    if (w->timeout != NULL) {
        event_free(w->timeout);
    }
    free(w);
}

/* What was found and is there for one reader only goes. A key may be wanted twice, and then means
 * one and the same. */
static void drop_read(struct waiter *w)
{
    struct ct_list read;
    ct_list_init(&read);
    for (uint32_t i = 0; i < w->n; i++) {
        struct entry *e = w->wants[i].found;
        if (e->persist == CT_PERSIST_FIRST_READ) {
            ct_list_remove(&e->of_rank);
            ct_list_append(&read, &e->of_rank);
        }
    }
    CT_LIST_FOR (l, &read) {
        drop_entry(w->p, CT_LIST_ENTRY(l, struct entry, of_rank));
    }
}

/* Whether the rank has to be given other answers before this one. A dead one gets no more. */
static bool must_wait(const struct waiter *w, size_t len)
{
    size_t before = w->p->ranks[w->rank].under_way;
    return len > CT_DATA_SMALL && before > 0 && before + len > CT_DATA_UNDER_WAY_MAX &&
           !w->p->ended[w->rank];
}

/* With what is there, or why there is not enough; the lookup is over, or held. */
static void finish(struct waiter *w, enum ct_data_status missing)
{
    struct ct_published *p = w->p;
    struct evbuffer     *values = evbuffer_new();
    uint32_t             n = 0;
    for (uint32_t i = 0; i < w->n && missing != CT_DATA_TIMEOUT; i++) {
        struct entry *e = find_entry(p, w->wants[i].slot, w->rank, w->range);
        w->wants[i].found = e;
        if (e != NULL) {
            ct_pack_text(values, e->slot->key);
            ct_pack_u32(values, e->rank);
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
        ct_list_append(&p->ranks[w->rank].waiters, &w->of_rank);
        evbuffer_free(values);
        return;
    }
    if (status == CT_DATA_OK) {
        drop_read(w);
    }
    p->ranks[w->rank].under_way += len > CT_DATA_SMALL ? len : 0;
    send_answer(p, w->asker, w->number, status, n, values);
    evbuffer_free(values);
    free_waiter(w);
}

static void on_timeout(int fd, short what, void *arg)
{
    (void)fd, (void)what;
    finish(arg, CT_DATA_TIMEOUT);
}

/* ---- requests -------------------------------------------------------------------------------- */

struct request {
    uint32_t           asker, number, rank, n; /* n keys follow */
    enum ct_data_range range;
};

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
        room += entry_room(key, len);
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(ct_unpack_text(&before), key) == 0) {
                return CT_DATA_DUPLICATE;
            }
            (void)ct_unpack_bytes(&before, &len);
        }
        if (is_taken(p, key, r->rank, r->range)) {
            return CT_DATA_DUPLICATE;
        }
    }
    return has_room(p, r->rank, room) ? CT_DATA_OK : CT_DATA_FULL;
}

static struct entry *add_entry(struct ct_published *p, const struct request *r,
                               enum ct_data_persist persist, struct ct_unpack *in)
{
    size_t        len;
    const char   *key = ct_unpack_text(in);
    const void   *bytes = ct_unpack_bytes(in, &len);
    struct slot  *s = get_slot(p, key);
    struct entry *e = s != NULL ? malloc(sizeof *e + len) : NULL;
    if (e == NULL) {
        if (s != NULL) {
            drop_slot_if_unused(p, s);
        }
        return NULL;
    }
    *e = (struct entry){
        .slot = s, .range = r->range, .persist = persist, .rank = r->rank, .len = len};
    memcpy(e->bytes, bytes, len);
    struct ct_list *at = s->entries.next;
    while (at != &s->entries && CT_LIST_ENTRY(at, struct entry, node)->range <= r->range) {
        at = at->next;
    }
    ct_list_append(at, &e->node); /* before it */
    ct_list_append(&p->ranks[r->rank].entries, &e->of_rank);
    use_room(p, r->rank, entry_room(key, len));
    return e;
}

/* Answers those who have waited for this and now have enough. */
static void serve(struct ct_published *p, const char *key)
{
    struct slot *s = find_slot(p, key);
    while (s != NULL) { /* an answer changes the lists, and may take the key itself */
        struct waiter *ready = NULL;
        for (struct ct_list *l = s->wants.next; l != &s->wants && ready == NULL; l = l->next) {
            struct waiter *w = CT_LIST_ENTRY(l, struct want, node)->waiter;
            ready = !w->held && count_found(w) >= w->wanted ? w : NULL;
        }
        if (ready == NULL) {
            return;
        }
        finish(ready, CT_DATA_NOT_FOUND);
        s = find_slot(p, key);
    }
}

static void drop_entries(struct ct_published *p, uint32_t rank, enum ct_data_persist persist)
{
    CT_LIST_FOR (l, &p->ranks[rank].entries) {
        struct entry *e = CT_LIST_ENTRY(l, struct entry, of_rank);
        if (e->persist == persist) {
            drop_entry(p, e);
        }
    }
}

/* A rank has ended: what was there for its life goes, and for that of its program with the last. */
static void end_lives(struct ct_published *p, uint32_t rank)
{
    uint32_t app = ct_jobdesc_app_of(p->desc, rank), first = ct_jobdesc_app_first(p->desc, app);
    drop_entries(p, rank, CT_PERSIST_PROCESS);
    for (uint32_t i = 0; p->app_left[app] == 0 && i < p->desc->apps[app].ranks; i++) {
        drop_entries(p, first + i, CT_PERSIST_APP);
    }
}

static void publish(struct ct_published *p, struct request *r, struct ct_unpack *in)
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
        struct entry *e = add_entry(p, r, (enum ct_data_persist)persist, in);
        if (e == NULL) {
            status = CT_DATA_FULL;
        } else {
            ct_list_remove(&e->of_rank);
            ct_list_append(&done, &e->of_rank);
        }
    }
    CT_LIST_FOR (l, &done) {
        if (status != CT_DATA_OK) {
            drop_entry(p, CT_LIST_ENTRY(l, struct entry, of_rank));
        }
    }
    ct_list_splice(&p->ranks[r->rank].entries, &done);
    answer_plain(p, r->asker, r->number, status);
    for (uint32_t i = 0; i < r->n && status == CT_DATA_OK; i++) {
        serve(p, ct_unpack_text(&keys));
        (void)ct_unpack_bytes(&keys, &len);
    }
    if (p->ended[r->rank]) { /* it asked before that */
        end_lives(p, r->rank);
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
        .p = p, .asker = r->asker, .number = r->number, .rank = r->rank, .range = r->range};
    ct_list_init(&w->of_rank);
    for (; w->n < r->n; w->n++) {
        const char  *key = ct_unpack_text(in);
        struct slot *s = get_slot(p, key);
        if (s == NULL) {
            break;
        }
        room += slot_room(key);
        w->wants[w->n] = (struct want){.slot = s, .waiter = w};
        ct_list_append(&s->wants, &w->wants[w->n].node);
    }
    w->room = room;
    use_room(p, w->rank, room);
    if (w->n < r->n) {
        free_waiter(w);
        return NULL;
    }
    return w;
}

/* Who lives with nobody else can wait for nobody. */
static bool is_alone(const struct ct_published *p)
{
    return p->nended + 1 >= p->nranks;
}

static void look_up(struct ct_published *p, struct request *r, struct ct_unpack *in)
{
    uint32_t wanted = ct_unpack_u32(in), limit_ms = ct_unpack_u32(in);
    r->n = take_count(in, false);
    in->bad |= r->n == 0 || r->range >= CT_DATA_RANGES;
    if (in->bad) {
        return;
    }
    struct waiter *w = make_waiter(p, r, in);
    if (w == NULL || !has_room(p, r->rank, 0)) {
        answer_plain(p, r->asker, r->number, CT_DATA_FULL);
        if (w != NULL) {
            free_waiter(w);
        }
        return;
    }
    w->wanted = wanted < w->n ? wanted : w->n;
    if (count_found(w) >= w->wanted || is_alone(p) || p->ended[r->rank]) {
        finish(w, CT_DATA_NOT_FOUND);
        return;
    }
    ct_list_append(&p->ranks[r->rank].waiters, &w->of_rank);
    if (limit_ms > 0) {
        struct timeval limit = {limit_ms / 1000, limit_ms % 1000 * 1000};
        w->timeout = evtimer_new(p->base, on_timeout, w);
        if (w->timeout == NULL || event_add(w->timeout, &limit) != 0) {
            finish(w, CT_DATA_FULL);
        }
    }
}

/* What a rank has published under a key, or under all with NULL. Returns how many values. */
static uint32_t withdraw(struct ct_published *p, const struct request *r, const char *key)
{
    struct slot    *s = key != NULL ? find_slot(p, key) : NULL;
    struct ct_list *list = s != NULL ? &s->entries : &p->ranks[r->rank].entries, *next;
    uint32_t        n = 0;
    if (key != NULL && s == NULL) {
        return 0;
    }
    for (struct ct_list *l = list->next; l != list; l = next) {
        struct entry *e = s != NULL ? CT_LIST_ENTRY(l, struct entry, node)
                                    : CT_LIST_ENTRY(l, struct entry, of_rank);
        bool          last = l->next == list; /* the list may go with the entry */
        next = last ? list : l->next;
        if (e->rank == r->rank && (r->range == CT_RANGE_ANY || r->range == e->range)) {
            drop_entry(p, e);
            n++;
        }
    }
    return n;
}

static void unpublish(struct ct_published *p, struct request *r, struct ct_unpack *in)
{
    uint32_t found = 0;
    r->n = take_count(in, false);
    if (in->bad) {
        return;
    }
    if (r->n == 0) {
        (void)withdraw(p, r, NULL);
    }
    for (uint32_t i = 0; i < r->n; i++) {
        found += withdraw(p, r, ct_unpack_text(in)) > 0;
    }
    answer_plain(p, r->asker, r->number,
                 found == r->n ? CT_DATA_OK
                 : found > 0   ? CT_DATA_PARTIAL
                               : CT_DATA_NOT_FOUND);
}

static bool make_ranks(struct ct_published *p)
{
    if (p->ranks == NULL) {
        p->ranks = calloc(p->nranks, sizeof *p->ranks);
        for (uint32_t i = 0; p->ranks != NULL && i < p->nranks; i++) {
            ct_list_init(&p->ranks[i].entries);
            ct_list_init(&p->ranks[i].waiters);
        }
    }
    return p->ranks != NULL;
}

void ct_published_take(struct ct_published *p, struct ct_unpack *in)
{
    struct request r = {.asker = ct_unpack_u32(in)};
    r.number = ct_unpack_u32(in);
    r.rank = ct_unpack_u32(in);
    uint32_t op = ct_unpack_u32(in), range = ct_unpack_u32(in);
    in->bad |= r.asker >= p->desc->nnodes || r.rank >= p->nranks || range > CT_RANGE_ANY;
    if (in->bad) {
        return;
    }
    r.range = (enum ct_data_range)range;
    if (!make_ranks(p)) {
        answer_plain(p, r.asker, r.number, CT_DATA_FULL);
    } else if (op == CT_DATA_PUBLISH) {
        publish(p, &r, in);
    } else if (op == CT_DATA_LOOKUP) {
        look_up(p, &r, in);
    } else if (op == CT_DATA_UNPUBLISH) {
        unpublish(p, &r, in);
    } else {
        in->bad = true;
    }
}

/* What was there when a lookup was held may be so no more, and then it waits on. */
void ct_published_taken(struct ct_published *p, struct ct_unpack *in)
{
    uint32_t rank = ct_unpack_u32(in), len = ct_unpack_u32(in);
    in->bad |= rank >= p->nranks || p->ranks == NULL || len > p->ranks[rank].under_way;
    if (in->bad) {
        return;
    }
    struct ct_list all;
    ct_list_init(&all);
    ct_list_splice(&all, &p->ranks[rank].waiters);
    p->ranks[rank].under_way -= len;
    CT_LIST_FOR (l, &all) {
        struct waiter *w = CT_LIST_ENTRY(l, struct waiter, of_rank);
        ct_list_remove(&w->of_rank);
        ct_list_append(&p->ranks[rank].waiters, &w->of_rank);
        if (w->held && (count_found(w) >= w->wanted || is_alone(p))) {
            finish(w, CT_DATA_NOT_FOUND);
        } else {
            w->held = false;
        }
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void end_waits(struct ct_published *p, uint32_t rank)
{
    struct ct_list all;
    ct_list_init(&all);
    ct_list_splice(&all, &p->ranks[rank].waiters);
    CT_LIST_FOR (l, &all) { /* those that are held go back */
        finish(CT_LIST_ENTRY(l, struct waiter, of_rank), CT_DATA_NOT_FOUND);
    }
}

void ct_published_ended(struct ct_published *p, uint32_t rank)
{
    if (rank >= p->nranks || p->ended[rank]) {
        return;
    }
    p->ended[rank] = true;
    p->nended++;
    p->app_left[ct_jobdesc_app_of(p->desc, rank)]--;
    if (p->ranks == NULL) {
        return;
    }
    end_waits(p, rank);
    end_lives(p, rank);
    for (uint32_t i = 0; is_alone(p) && i < p->nranks; i++) {
        end_waits(p, i);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct ct_published *ct_published_create(struct event_base *base, const struct ct_jobdesc *desc,
                                         ct_published_answer_fn answer, void *arg)
{
    struct ct_published *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    *p = (struct ct_published){
        .base = base, .desc = desc, .nranks = ct_jobdesc_ranks(desc), .answer = answer, .arg = arg};
    p->ended = calloc(p->nranks, sizeof *p->ended);
    p->app_left = calloc(desc->napps, sizeof *p->app_left);
    if (p->ended == NULL || p->app_left == NULL) {
        ct_published_destroy(p);
        return NULL;
    }
    for (uint32_t i = 0; i < desc->napps; i++) {
        p->app_left[i] = desc->apps[i].ranks;
    }
    return p;
}

void ct_published_destroy(struct ct_published *p)
{
    for (uint32_t i = 0; p != NULL && p->ranks != NULL && i < p->nranks; i++) {
        CT_LIST_FOR (w, &p->ranks[i].waiters) {
            free_waiter(CT_LIST_ENTRY(w, struct waiter, of_rank));
        }
        CT_LIST_FOR (e, &p->ranks[i].entries) {
            drop_entry(p, CT_LIST_ENTRY(e, struct entry, of_rank));
        }
    }
    if (p != NULL) {
        free(p->ranks);
        free(p->ended);
        free(p->app_left);
        free(p);
    }
}
