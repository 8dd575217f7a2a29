/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups as objects, their look-ups, and how new ones are made of old ones. */
#define CT_FOLDER "comm"
#include "comm/group.h"

#include <stdlib.h>
#include <string.h>

#include "comm/comms.h"

/* Whether ids are consecutive, and so need no list. */
static bool consecutive(const uint32_t *ids, uint32_t n)
{
    uint32_t r = 1;
    while (r < n && ids[r] == ids[0] + r) {
        r++;
    }
    return r >= n;
}

struct ct_group *ct_group_make(struct ct_process *p, uint32_t n, uint32_t *ids, uint32_t base)
{
    if (ids != NULL && consecutive(ids, n)) {
        base = n > 0 ? ids[0] : 0;
        free(ids);
        ids = NULL;
    }
    ct_comms_enter(p);
    struct ct_group *group = ct_slab_get(&p->comms->groups_pool);
    if (group == NULL) {
        ct_comms_leave(p);
        free(ids);
        return NULL;
    }
    *group = (struct ct_group){
        .magic = CT_GROUP_MAGIC, .refs = 1, .n = n, .p = p, .ids = ids, .base = base};
    ct_list_append(&p->comms->groups, &group->node);
    ct_comms_leave(p);
    return group;
}

struct ct_group *ct_group_hold(struct ct_group *group)
{
    ct_comms_enter(group->p);
    group->refs++;
    ct_comms_leave(group->p);
    return group;
}

static uint64_t session_of(const struct ct_group *group)
{
    return atomic_load_explicit(&group->session, memory_order_relaxed);
}

void ct_group_follow(struct ct_group *group, const struct ct_group *from)
{
    if (session_of(group) == 0 && session_of(from) != 0) { /* never a shared one: that has it */
        atomic_store_explicit(&group->session, session_of(from), memory_order_relaxed);
    }
}

void ct_group_unref(struct ct_group *group)
{
    if (--group->refs == 0) {
        ct_list_remove(&group->node);
        group->magic = 0;
        free(group->ids);
        free(atomic_load_explicit(&group->index, memory_order_relaxed));
        ct_slab_put(&group->p->comms->groups_pool, group);
    }
}

void ct_group_drop(struct ct_group *group)
{
    struct ct_process *p = group->p;
    ct_comms_enter(p);
    ct_group_unref(group);
    ct_comms_leave(p);
}

/* ---- look-up --------------------------------------------------------------------------------- */

static int by_id(const void *a_, const void *b_)
{
    const struct ct_group_place *a = a_, *b = b_;
    return (a->id > b->id) - (a->id < b->id);
}

static const struct ct_group_place *index_of(const struct ct_group *group)
{
    return atomic_load_explicit(&group->index, memory_order_acquire);
}

int ct_group_index(struct ct_group *group)
{
    struct ct_group_place *none = NULL;
    if (group->ids == NULL || index_of(group) != NULL) {
        return CTRAN_SUCCESS;
    }
    struct ct_group_place *index = malloc(group->n * sizeof *index);
    if (index == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t r = 0; r < group->n; r++) {
        index[r] = (struct ct_group_place){group->ids[r], r};
    }
    qsort(index, group->n, sizeof *index, by_id);
    if (!atomic_compare_exchange_strong_explicit(&group->index, &none, index, memory_order_release,
                                                 memory_order_relaxed)) {
        free(index); /* another thread was faster */
    }
    return CTRAN_SUCCESS;
}

int ct_group_find(const struct ct_group *group, uint32_t id)
{
    if (group->ids == NULL) {
        return id >= group->base && id - group->base < group->n ? (int)(id - group->base)
                                                                : CTRAN_UNDEFINED;
    }
    const struct ct_group_place *index = index_of(group);
    if (index != NULL) {
        const struct ct_group_place  want = {.id = id};
        const struct ct_group_place *found = bsearch(&want, index, group->n, sizeof want, by_id);
        return found != NULL ? (int)found->rank : CTRAN_UNDEFINED;
    }
    for (uint32_t r = 0; r < group->n; r++) {
        if (group->ids[r] == id) {
            return (int)r;
        }
    }
    return CTRAN_UNDEFINED;
}

/* ---- the user's handles ---------------------------------------------------------------------- */

struct ct_group *ct_group_of(struct ct_process *p, ctran_group_t handle)
{
    if (handle == CTRAN_GROUP_EMPTY) {
        return p->comms->empty;
    }
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_group) != 0) {
        return NULL;
    }
    /* Without `handles`, freeing the user's group twice would take a communicator's. */
    ct_comms_enter(p);
    const bool ok = handle->magic == CT_GROUP_MAGIC && handle->handles > 0;
    ct_comms_leave(p);
    return ok ? handle : NULL;
}

ctran_group_t ct_group_give(struct ct_group *group)
{
    if (group->n == 0) {
        ct_group_drop(group);
        return CTRAN_GROUP_EMPTY;
    }
    ct_comms_enter(group->p);
    group->handles++;
    ct_comms_leave(group->p);
    return group;
}

void ct_group_release(struct ct_group *group)
{
    struct ct_process *p = group->p;
    if (group != p->comms->empty) {
        ct_comms_enter(p);
        group->handles--;
        ct_group_unref(group);
        ct_comms_leave(p);
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

int ct_group_compare(struct ct_group *a, struct ct_group *b, int *result)
{
    bool     same = a->n == b->n;
    uint32_t r = 0;
    while (same && r < a->n && ct_group_id_of(a, r) == ct_group_id_of(b, r)) {
        r++;
    }
    if (!same || r == a->n) {
        *result = same ? CTRAN_IDENT : CTRAN_UNEQUAL;
        return CTRAN_SUCCESS;
    }
    int rc = ct_group_index(b);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    while (r < a->n && ct_group_find(b, ct_group_id_of(a, r)) != CTRAN_UNDEFINED) {
        r++;
    }
    *result = r == a->n ? CTRAN_SIMILAR : CTRAN_UNEQUAL;
    return CTRAN_SUCCESS;
}

int ct_group_translate(struct ct_group *a, int n, const int *ranks_a, struct ct_group *b,
                       int *ranks_b)
{
    int rc = n > 1 ? ct_group_index(b) : CTRAN_SUCCESS;
    for (int i = 0; i < n && rc == CTRAN_SUCCESS; i++) {
        ranks_b[i] = ranks_a[i] == CTRAN_PROC_NULL
                         ? CTRAN_PROC_NULL
                         : ct_group_find(b, ct_group_id_of(a, (uint32_t)ranks_a[i]));
    }
    return rc;
}

/* Appends the members of `from` that are, or are not, in `other`; returns the new length. */
static uint32_t append(uint32_t *ids, uint32_t n, const struct ct_group *from,
                       const struct ct_group *other, bool inside)
{
    for (uint32_t r = 0; r < from->n; r++) {
        const uint32_t id = ct_group_id_of(from, r);
        if ((ct_group_find(other, id) != CTRAN_UNDEFINED) == inside) {
            ids[n++] = id;
        }
    }
    return n;
}

static int finish(struct ct_group *from, uint32_t n, uint32_t *ids, struct ct_group **out)
{
    struct ct_group *group = ct_group_make(from->p, n, ids, 0);
    if (group == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_group_follow(group, from);
    *out = group;
    return CTRAN_SUCCESS;
}

static uint32_t *new_ids(size_t n)
{
    return malloc((n > 0 ? n : 1) * sizeof(uint32_t));
}

int ct_group_combine(struct ct_group *a, struct ct_group *b, enum ct_group_set what,
                     struct ct_group **out)
{
    uint32_t *ids = new_ids((size_t)a->n + (what == CT_GROUP_UNION ? b->n : 0));
    if (ids == NULL || ct_group_index(what == CT_GROUP_UNION ? a : b) != CTRAN_SUCCESS) {
        free(ids);
        return CTRAN_ERR_NO_MEM;
    }
    uint32_t n = 0;
    if (what == CT_GROUP_UNION) {
        for (; n < a->n; n++) {
            ids[n] = ct_group_id_of(a, n);
        }
        n = append(ids, n, b, a, false);
    } else {
        n = append(ids, n, a, b, what == CT_GROUP_INTERSECTION);
    }
    return finish(session_of(a) != 0 ? a : b, n, ids, out);
}

int ct_group_incl(struct ct_group *group, uint32_t n, const int *ranks, struct ct_group **out)
{
    uint32_t *ids = new_ids(n);
    if (ids == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = ct_group_id_of(group, (uint32_t)ranks[i]);
    }
    return finish(group, n, ids, out);
}

int ct_group_excl(struct ct_group *group, uint32_t n, const int *ranks, struct ct_group **out)
{
    bool     *gone = calloc(group->n + 1, sizeof *gone);
    uint32_t *ids = new_ids(group->n - n);
    if (gone == NULL || ids == NULL) {
        free(gone);
        free(ids);
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        gone[ranks[i]] = true;
    }
    uint32_t left = 0;
    for (uint32_t r = 0; r < group->n; r++) {
        if (!gone[r]) {
            ids[left++] = ct_group_id_of(group, r);
        }
    }
    free(gone);
    return finish(group, left, ids, out);
}
