/* SPDX-License-Identifier: BSD-3-Clause */
/* A server's keys, and the requests that wait for them. */
#include "pmi/store/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = CT_STORE_VALUE_MAX, NUMBER_SIZE = 24, WAITS_SIZE = 128 };

void ct_table_init(struct ct_table *t, size_t limit)
{
    memset(t, 0, sizeof *t);
    t->limit = limit;
}

static size_t store_table_cost(const struct ct_entry *e)
{
    return sizeof *e + e->key_len + e->value_len;
}

static void entry_drop(struct ct_table *t, struct ct_entry *e)
{
    t->memory -= store_table_cost(e);
    HASH_DEL(t->entries, e);
    free(e->value);
    free(e);
}

/* An entry stays while it has a value or a waiter. */
static void entry_settle(struct ct_table *t, struct ct_entry *e)
{
    if (e->version == 0 && ct_list_empty(&e->waiters)) {
        entry_drop(t, e);
    }
}

void ct_table_fini(struct ct_table *t)
{
    struct ct_entry *e, *next;
    HASH_ITER (hh, t->entries, e, next) {
        entry_drop(t, e);
    }
}

static struct ct_entry *store_table_find(struct ct_table *t, struct ct_bytes key)
{
    struct ct_entry *e;
    HASH_FIND(hh, t->entries, key.at, key.len, e);
    return e;
}

static struct ct_entry *store_table_find_or_make(struct ct_table *t, struct ct_bytes key)
{
    struct ct_entry *e = store_table_find(t, key);
    if (e != NULL || t->memory + sizeof *e + key.len > t->limit) {
        return e;
    }
    e = calloc(1, sizeof *e + key.len);
    if (e == NULL) {
        return NULL;
    }
    memcpy(e->key, key.at, key.len);
    e->key_len = key.len;
    ct_list_init(&e->waiters);
    HASH_ADD_KEYPTR(hh, t->entries, e->key, e->key_len, e);
    if (e->hh.tbl == NULL) {
        free(e);
        return NULL;
    }
    t->memory += store_table_cost(e);
    return e;
}

static struct ct_store_reply reply_of(const struct ct_entry *e)
{
    struct ct_store_reply r = {.status = CTRAN_SUCCESS};
    if (e != NULL && e->version != 0) {
        r.found = true;
        r.number = e->version;
        r.value = (struct ct_bytes){e->value, e->value_len};
    }
    return r;
}

static void waiter_take(struct ct_table *t, struct ct_waiter *w)
{
    ct_list_remove(&w->node);
    w->entry->here -= w->op == CT_STORE_BARRIER;
    w->entry = NULL;
    t->memory -= sizeof *w;
}

/* Whether what it waited for has come. */
static bool store_table_is_due(const struct ct_waiter *w, const struct ct_entry *e)
{
    return (w->op == CT_STORE_WAIT && e->version != 0) ||
           (w->op == CT_STORE_WATCH && e->version != w->number);
}

/* The key has changed: answers the waiters for which the change matters. */
static void store_table_tell(struct ct_table *t, struct ct_entry *e)
{
    struct ct_store_reply r = reply_of(e);
    CT_LIST_FOR (node, &e->waiters) {
        struct ct_waiter *w = CT_LIST_ENTRY(node, struct ct_waiter, node);
        if (store_table_is_due(w, e)) {
            waiter_take(t, w);
            t->answer(t->arg, w, &r);
        }
    }
    entry_settle(t, e);
}

/* CTRAN_ERR_NO_MEM: nothing has changed. */
static int store_table_store(struct ct_table *t, struct ct_bytes key, struct ct_bytes value,
                             int64_t *version)
{
    struct ct_entry *e = store_table_find_or_make(t, key);
    unsigned char   *copy = malloc(value.len + 1);
    if (e == NULL || copy == NULL || t->memory - e->value_len + value.len > t->limit) {
        free(copy);
        if (e != NULL) {
            entry_settle(t, e);
        }
        return CTRAN_ERR_NO_MEM;
    }
    memcpy(copy, value.at, value.len);
    copy[value.len] = '\0'; /* for numbers */
    t->memory = t->memory - e->value_len + value.len;
    free(e->value);
    e->value = copy;
    e->value_len = value.len;
    e->version = *version = ++t->version;
    store_table_tell(t, e);
    return CTRAN_SUCCESS;
}

static void do_set(struct ct_table *t, const struct ct_store_request *req,
                   struct ct_store_reply *reply)
{
    reply->status = store_table_store(t, req->key, req->value, &reply->number);
    reply->found = reply->status == CTRAN_SUCCESS;
}

static void do_add(struct ct_table *t, const struct ct_store_request *req,
                   struct ct_store_reply *reply)
{
    struct ct_entry *e = store_table_find(t, req->key);
    char             text[NUMBER_SIZE], *end;
    int64_t          sum = 0, version;
    if (e != NULL && e->version != 0) {
        errno = 0;
        sum = strtoll((const char *)e->value, &end, 10);
        if (errno != 0 || e->value_len == 0 || (unsigned char *)end != e->value + e->value_len) {
            reply->status = CTRAN_ERR_ARG;
            return;
        }
    }
    if (__builtin_add_overflow(sum, req->number, &sum)) {
        reply->status = CTRAN_ERR_ARG;
        return;
    }
    (void)snprintf(text, sizeof text, "%lld", (long long)sum);
    reply->status = store_table_store(t, req->key, ct_bytes_of(text), &version);
    reply->found = reply->status == CTRAN_SUCCESS;
    reply->number = sum;
}

static void do_cas(struct ct_table *t, const struct ct_store_request *req,
                   struct ct_store_reply *reply)
{
    struct ct_entry *e = store_table_find(t, req->key);
    bool             has = e != NULL && e->version != 0;
    int64_t          version;
    bool             right = has ? req->number != 1 && e->value_len == req->expected.len &&
                           memcmp(e->value, req->expected.at, e->value_len) == 0
                                 : req->number == 1;
    int status = right ? store_table_store(t, req->key, req->value, &version) : CTRAN_SUCCESS;
    *reply = reply_of(store_table_find(t, req->key));
    reply->status = status;
    reply->found = right && status == CTRAN_SUCCESS;
}

static void do_delete(struct ct_table *t, const struct ct_store_request *req,
                      struct ct_store_reply *reply)
{
    struct ct_entry *e = store_table_find(t, req->key);
    if (e == NULL || e->version == 0) {
        return;
    }
    reply->found = true;
    t->memory -= e->value_len;
    free(e->value);
    e->value = NULL;
    e->value_len = 0;
    e->version = 0;
    store_table_tell(t, e);
}

static int store_table_compare(const void *a, const void *b)
{
    const struct ct_entry *const *x = a, *const *y = b;
    uint32_t                      n = (*x)->key_len < (*y)->key_len ? (*x)->key_len : (*y)->key_len;
    int                           c = memcmp((*x)->key, (*y)->key, n);
    return c != 0 ? c : (*x)->key_len < (*y)->key_len ? -1 : (*x)->key_len > (*y)->key_len;
}

static bool is_after(const struct ct_entry *e, struct ct_bytes key)
{
    uint32_t n = e->key_len < key.len ? e->key_len : key.len;
    int      c = memcmp(e->key, key.at, n);
    return c > 0 || (c == 0 && e->key_len > key.len);
}

static bool store_table_is_listed(const struct ct_entry *e, const struct ct_store_request *req)
{
    bool is_of_kind = req->op == CT_STORE_WAITS ? !ct_list_empty(&e->waiters) : e->version != 0;
    return is_of_kind && e->key_len >= req->key.len &&
           memcmp(e->key, req->key.at, req->key.len) == 0 &&
           (req->expected.len == 0 || is_after(e, req->expected));
}

/* The requests that wait at a key, in words. */
static void describe_waits(struct ct_entry *e, char text[WAITS_SIZE])
{
    uint32_t waits = 0, watches = 0;
    size_t   len = 0;
    CT_LIST_FOR (node, &e->waiters) {
        const struct ct_waiter *w = CT_LIST_ENTRY(node, struct ct_waiter, node);
        waits += w->op == CT_STORE_WAIT;
        watches += w->op == CT_STORE_WATCH;
    }
    text[0] = '\0';
    if (waits > 0) {
        len += (size_t)snprintf(text, WAITS_SIZE, "%u wait for a value", waits);
    }
    if (watches > 0) {
        len += (size_t)snprintf(text + len, WAITS_SIZE - len, "%s%u watch", len > 0 ? ", " : "",
                                watches);
    }
    if (e->here > 0) {
        (void)snprintf(text + len, WAITS_SIZE - len, "%s%lld of %lld are at the barrier",
                       len > 0 ? ", " : "", (long long)e->here, (long long)e->wanted);
    }
}

/* Appends what a list has of a key; false: there is no room. */
static bool list_add(struct ct_entry *e, uint8_t op, unsigned char *out, size_t *len)
{
    char     text[WAITS_SIZE];
    uint32_t text_len = 0;
    if (op == CT_STORE_WAITS) {
        describe_waits(e, text);
        text_len = 4 + (uint32_t)strlen(text);
    }
    if (*len + 4 + e->key_len + text_len > LIST_BYTES) {
        return false;
    }
    ct_wire_put32(out + *len, e->key_len);
    memcpy(out + *len + 4, e->key, e->key_len);
    *len += 4 + e->key_len;
    if (text_len > 0) {
        ct_wire_put32(out + *len, text_len - 4);
        memcpy(out + *len + 4, text, text_len - 4);
        *len += text_len;
    }
    return true;
}

/* Looks at every key: for people and tools, not for programs in a hurry. */
static void do_list(struct ct_table *t, const struct ct_store_request *req,
                    struct ct_store_reply *reply, void **memory)
{
    size_t            all = HASH_COUNT(t->entries), n = 0, len = 0;
    struct ct_entry **found = malloc((all + 1) * sizeof(struct ct_entry *)), *e, *next;
    unsigned char    *out = malloc(LIST_BYTES);
    *memory = out;
    if (found == NULL || out == NULL) {
        free(found);
        reply->status = CTRAN_ERR_NO_MEM;
        return;
    }
    HASH_ITER (hh, t->entries, e, next) {
        if (store_table_is_listed(e, req)) {
            found[n++] = e;
        }
    }
    qsort(found, n, sizeof(struct ct_entry *), store_table_compare);
    size_t i = 0;
    while (i < n && (int64_t)i < req->number && list_add(found[i], req->op, out, &len)) {
        i++;
    }
    free(found);
    reply->found = i < n;
    reply->number = (int64_t)i;
    reply->value = (struct ct_bytes){out, (uint32_t)len};
}

static bool do_watch(struct ct_table *t, const struct ct_store_request *req,
                     struct ct_store_reply *reply)
{
    struct ct_entry *e = store_table_find(t, req->key);
    int64_t          now = e != NULL ? e->version : 0;
    *reply = reply_of(e);
    return req->op == CT_STORE_WAIT ? now != 0 : now != req->number;
}

bool ct_table_ask(struct ct_table *t, const struct ct_store_request *req,
                  struct ct_store_reply *reply, void **memory)
{
    *reply = (struct ct_store_reply){.status = CTRAN_SUCCESS};
    *memory = NULL;
    switch (req->op) {
    case CT_STORE_SET:
        do_set(t, req, reply);
        return true;
    case CT_STORE_GET:
        *reply = reply_of(store_table_find(t, req->key));
        return true;
    case CT_STORE_CHECK:
        *reply = reply_of(store_table_find(t, req->key));
        reply->value = (struct ct_bytes){NULL, 0};
        return true;
    case CT_STORE_ADD:
        do_add(t, req, reply);
        return true;
    case CT_STORE_CAS:
        do_cas(t, req, reply);
        return true;
    case CT_STORE_DELETE:
        do_delete(t, req, reply);
        return true;
    case CT_STORE_LIST:
    case CT_STORE_WAITS:
        do_list(t, req, reply, memory);
        return true;
    case CT_STORE_WAIT:
    case CT_STORE_WATCH:
        return do_watch(t, req, reply);
    default: /* CT_STORE_BARRIER: proto.c lets nothing else through */
        reply->status = req->number < 1 ? CTRAN_ERR_ARG : CTRAN_SUCCESS;
        return req->number < 1;
    }
}

/* Answers all that are at the barrier, once they are as many as they say. */
static void barrier_settle(struct ct_table *t, struct ct_entry *e)
{
    struct ct_store_reply r = {.status = CTRAN_SUCCESS, .found = true};
    if (e->here < e->wanted) {
        return;
    }
    CT_LIST_FOR (node, &e->waiters) {
        struct ct_waiter *w = CT_LIST_ENTRY(node, struct ct_waiter, node);
        if (w->op == CT_STORE_BARRIER) {
            waiter_take(t, w);
            t->answer(t->arg, w, &r);
        }
    }
    entry_settle(t, e);
}

int ct_table_wait(struct ct_table *t, const struct ct_store_request *req, struct ct_waiter *w)
{
    struct ct_entry *e =
        t->memory + sizeof *w > t->limit ? NULL : store_table_find_or_make(t, req->key);
    if (e == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (req->op == CT_STORE_BARRIER) {
        e->wanted = e->here == 0 ? req->number : e->wanted;
        if (e->wanted != req->number) {
            return CTRAN_ERR_ARG;
        }
        e->here++;
    }
    w->entry = e;
    w->op = req->op;
    w->number = req->number;
    ct_list_append(&e->waiters, &w->node);
    t->memory += sizeof *w;
    if (req->op == CT_STORE_BARRIER) {
        barrier_settle(t, e);
    }
    return CTRAN_SUCCESS;
}

void ct_table_forget(struct ct_table *t, struct ct_waiter *w)
{
    struct ct_entry *e = w->entry;
    if (e != NULL) {
        waiter_take(t, w);
        entry_settle(t, e);
    }
}
