/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's keys, and the requests that wait for them. Knows no connections: answers go through a
 * function, and a waiter is a struct that its owner allocates and can take back at any time.
 *
 * Invariants: an entry exists while it has a value (version > 0) or a waiter; `memory` is what
 * entries and waiters take, and never exceeds `limit`.
 */
#ifndef CT_PMI_STORE_TABLE_H
#define CT_PMI_STORE_TABLE_H

#include <uthash.h>

#include "pmi/store/store.h"

struct ct_entry {
    UT_hash_handle hh; /* by key */
    struct ct_list waiters;
    unsigned char *value;
    uint32_t       value_len, key_len;
    int64_t        version;      /* 0: has no value */
    int64_t        here, wanted; /* at its barrier */
    unsigned char  key[];
};

/* A request that waits: at most in one entry. */
struct ct_waiter {
    struct ct_list   node; /* in its entry; unlinked: waits no more */
    struct ct_entry *entry;
    uint8_t          op;
    int64_t          number;
};

struct ct_table {
    struct ct_entry *entries;
    size_t           memory, limit;
    int64_t          version; /* the last one given */
    /* Answers a waiter, which has been taken out. */
    void (*answer)(void *arg, struct ct_waiter *w, const struct ct_store_reply *reply);
    void *arg;
};

void ct_table_init(struct ct_table *t, size_t limit);
/* No waiter may be left. */
void ct_table_fini(struct ct_table *t);

/* Does what is asked, and returns true with the reply in *reply; its value is valid until the next
 * call. LIST builds its reply in *memory, which the caller frees. Or returns false: the request has
 * to wait; ct_table_wait is next. Others that wait may be answered meanwhile. */
bool ct_table_ask(struct ct_table *t, const struct ct_store_request *req,
                  struct ct_store_reply *reply, void **memory);
/* CTRAN_ERR_NO_MEM; CTRAN_ERR_ARG where a barrier's other comers count on another number. The last
 * comer of a barrier is answered, with all others, before this returns. */
int ct_table_wait(struct ct_table *t, const struct ct_store_request *req, struct ct_waiter *w);
/* Takes a waiter back; one that waits no more is left alone. */
void ct_table_forget(struct ct_table *t, struct ct_waiter *w);

#endif
