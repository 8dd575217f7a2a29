/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doubly linked, circular, intrusive lists. A list is a node of its own (the head), an unlinked
 * node points to itself, so removing one
 * that was initialised is always harmless. Hashes are uthash's.
 */
#ifndef CT_BASE_LIST_H
#define CT_BASE_LIST_H

#include <stdbool.h>

#include "base/util.h"

struct ct_list {
    struct ct_list *next, *prev;
};

#define CT_LIST_ENTRY(node, type, mem) CT_CONTAINER_OF(node, type, mem)

/* Walks the list; `node` may be removed inside the loop, its successor may not. */
#define CT_LIST_FOR(node, list)                                                                    \
    for (struct ct_list *node = (list)->next, *node##_next = node->next; node != (list);           \
         node = node##_next, node##_next = node->next)

static inline void ct_list_init(struct ct_list *l)
{
    l->next = l->prev = l;
}

static inline bool ct_list_empty(const struct ct_list *l)
{
    return l->next == l;
}

static inline void ct_list_append(struct ct_list *l, struct ct_list *node)
{
    node->next = l;
    node->prev = l->prev;
    l->prev->next = node;
    l->prev = node;
}

static inline void ct_list_remove(struct ct_list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    ct_list_init(node);
}

/* Moves all nodes of `from` to the end of `to`. */
static inline void ct_list_splice(struct ct_list *to, struct ct_list *from)
{
    if (!ct_list_empty(from)) {
        from->next->prev = to->prev;
        to->prev->next = from->next;
        from->prev->next = to;
        to->prev = from->prev;
        ct_list_init(from);
    }
}

/* Removes and returns the first node, NULL when empty. */
static inline struct ct_list *ct_list_pop(struct ct_list *l)
{
    struct ct_list *node = l->next;
    if (node == l) {
        return NULL;
    }
    ct_list_remove(node);
    return node;
}

#endif
