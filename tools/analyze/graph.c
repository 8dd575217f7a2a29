/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for whom. Nodes are ranks and groups. Edges: a rank to the group of the collective in
 * which it waits, and to the ranks of whose messages it waits; a group to the members that have not
 * come, or came and can go no further. A rank that is stopped or dead has no edges: whatever it
 * waited for, it does not go on.
 */
#include "tools/analyze/analyze.h"

#include <stdlib.h>
#include <string.h>

/* ---- groups ---------------------------------------------------------------------------------- */

static struct an_group *group_of(struct an_graph *g, uint32_t comm, uint64_t number)
{
    struct an_group *group, key;
    memset(&key, 0, sizeof key);
    key.key.comm = comm;
    key.key.number = number;
    HASH_FIND(hh, g->by_key, &key.key, sizeof key.key, group);
    if (group == NULL) {
        group = an_alloc(1, sizeof *group);
        group->key.comm = comm;
        group->key.number = number;
        group->index = g->ngroups;
        g->groups = an_more(g->groups, g->ngroups, &g->room_groups, sizeof(void *));
        g->groups[g->ngroups++] = group;
        HASH_ADD(hh, g->by_key, key, sizeof group->key, group);
    }
    return group;
}

static void put(uint32_t **list, uint32_t *n, uint32_t *room, uint32_t rank)
{
    *list = an_more(*list, *n, room, sizeof **list);
    (*list)[(*n)++] = rank;
}

static uint64_t age_of(const struct an_rank *r, uint64_t since_ns)
{
    return r->taken_ns > since_ns ? r->taken_ns - since_ns : 0;
}

static bool goes_on(const struct an_rank *r)
{
    return r->state == AN_RUNS;
}

/* Whether a rank waits for this call now: one that blocks, or that a wait names. */
static bool waits_in(const struct an_job *job, uint32_t rank, const struct an_call *c)
{
    const struct an_rank *r = &job->ranks[rank];
    if ((c->flags & CT_TRACE_BLOCKING) != 0) {
        return true;
    }
    for (uint32_t i = 0; i < r->nwaits; i++) {
        const struct an_wait *w = &job->waits[r->first_wait + i];
        for (uint32_t k = 0; k < w->nitems; k++) {
            if (w->item[k].kind == CT_TRACE_COLLECTIVE &&
                w->item[k].comm == job->comms[c->comm]->id) {
                return true;
            }
        }
    }
    return false;
}

/* All calls that are not over or have failed, by group. Whether a rank waits for its call is an
 * edge's matter. */
static void find_groups(struct an_graph *g)
{
    const struct an_job *job = g->job;
    for (uint32_t r = 0; r < job->size; r++) {
        const struct an_rank *rank = &job->ranks[r];
        for (uint32_t i = 0; i < rank->ncalls; i++) {
            const struct an_call *c = &job->calls[rank->first_call + i];
            if ((c->over && c->error == 0) || rank->state == AN_LEFT) {
                continue;
            }
            struct an_group *group = group_of(g, c->comm, c->number);
            if (c->over) {
                continue;
            }
            if (waits_in(job, r, c) || !goes_on(rank)) {
                put(&group->arrived, &group->narrived, &group->room_arrived, r);
            }
            if (group->since_ns == 0 || c->start_ns < group->since_ns) {
                group->since_ns = c->start_ns;
            }
            const uint64_t age = age_of(rank, c->start_ns);
            group->age_ns = age > group->age_ns ? age : group->age_ns;
        }
    }
}

static bool is_same(const struct an_call *a, const struct an_call *b)
{
    return a->name == b->name && a->bytes == b->bytes && a->root == b->root && a->op == b->op;
}

static bool has_come(const struct an_job *job, uint32_t rank, const struct an_group *group)
{
    const struct an_place *p = an_place_of(job, rank, (uint32_t)group->key.comm);
    return p != NULL && p->started > group->key.number;
}

/* Who of the members has not come, and who is held up inside. */
static void find_missing(struct an_graph *g, struct an_group *group)
{
    const struct an_job  *job = g->job;
    const struct an_comm *comm = job->comms[group->key.comm];
    const struct an_call *like = NULL;
    for (uint32_t i = 0; i < comm->n; i++) {
        const uint32_t m = comm->member[i];
        if (m == AN_NONE || m >= job->size) {
            continue;
        }
        const struct an_call *c = an_call_of(job, m, comm->index, group->key.number);
        if (!has_come(job, m, group)) {
            put(&group->missing, &group->nmissing, &group->room_missing, m);
        } else if (c != NULL && !c->over && !goes_on(&job->ranks[m])) {
            put(&group->held, &group->nheld, &group->room_held, m);
        }
        if (c != NULL && like != NULL && !is_same(c, like)) {
            group->differs = true;
        }
        like = c != NULL ? c : like;
    }
}

/* What comes from a root that has not come can come from nobody else. */
static void prefer_root(const struct an_graph *g, struct an_group *group)
{
    const struct an_job *job = g->job;
    if (group->narrived == 0 || group->nmissing == 0) {
        return;
    }
    const struct an_call *c =
        an_call_of(job, group->arrived[0], (uint32_t)group->key.comm, group->key.number);
    const struct an_comm *comm = job->comms[group->key.comm];
    const char           *name = an_name(job, c->name);
    if (c->root < 0 || (uint32_t)c->root >= comm->n ||
        (strstr(name, "bcast") == NULL && strstr(name, "scatter") == NULL)) {
        return;
    }
    for (uint32_t i = 0; i < group->nmissing; i++) {
        if (group->missing[i] == comm->member[c->root]) {
            group->missing[0] = comm->member[c->root];
            group->nmissing = 1;
        }
    }
}

/* ---- edges ----------------------------------------------------------------------------------- */

const struct ct_trace_wait_item *an_item(const struct an_job *job, uint32_t rank, uint32_t i,
                                         const struct an_wait **wait)
{
    const struct an_rank *r = &job->ranks[rank];
    for (uint32_t k = 0; k < r->nwaits; k++) {
        const struct an_wait *w = &job->waits[r->first_wait + k];
        if (age_of(r, w->since_ns) < job->min_age_ns) {
            continue;
        }
        if (i < w->nitems) {
            *wait = w;
            return &w->item[i];
        }
        i -= w->nitems;
    }
    return NULL;
}

struct edges {
    struct an_graph *g;
    uint32_t         n, room;
};

static void add_edge(struct edges *e, uint32_t to)
{
    e->g->edge = an_more(e->g->edge, e->n, &e->room, sizeof *e->g->edge);
    e->g->edge[e->n++] = to;
    e->g->wanted[to] = true;
}

static void edges_of_rank(struct edges *e, uint32_t r)
{
    struct an_graph      *g = e->g;
    const struct an_job  *job = g->job;
    const struct an_rank *rank = &job->ranks[r];
    if (!goes_on(rank)) {
        return;
    }
    for (uint32_t i = 0; i < rank->ncalls; i++) {
        const struct an_call *c = &job->calls[rank->first_call + i];
        if (!c->over && waits_in(job, r, c)) {
            struct an_group *group = group_of(g, c->comm, c->number);
            if (group->age_ns >= job->min_age_ns) {
                add_edge(e, job->size + group->index);
            }
        }
    }
    const struct an_wait            *w;
    const struct ct_trace_wait_item *item;
    for (uint32_t i = 0; (item = an_item(job, r, i, &w)) != NULL; i++) {
        if (item->kind == CT_TRACE_SEND || item->kind == CT_TRACE_RECV) {
            if (item->peer >= 0) {
                add_edge(e, (uint32_t)item->peer);
            } else {
                g->any[r] = true;
            }
        }
    }
}

/* A call that differs from rank to rank is a beginning, whoever else is missing. One that is young
 * holds up nobody yet. */
static void edges_of_group(struct edges *e, const struct an_group *group)
{
    if (group->differs || group->narrived == 0 || group->age_ns < e->g->job->min_age_ns) {
        return;
    }
    for (uint32_t i = 0; i < group->nmissing; i++) {
        add_edge(e, group->missing[i]);
    }
    for (uint32_t i = 0; i < group->nheld; i++) {
        add_edge(e, group->held[i]);
    }
}

static void find_edges(struct an_graph *g)
{
    struct edges   e = {.g = g};
    const uint32_t size = g->job->size;
    for (uint32_t v = 0; v < g->nnodes; v++) {
        g->first[v] = e.n;
        if (v < size) {
            edges_of_rank(&e, v);
        } else {
            edges_of_group(&e, g->groups[v - size]);
        }
    }
    g->first[g->nnodes] = e.n;
}

/* ---- strongly connected sets, by Tarjan's algorithm without recursion ---------------------- */

struct tarjan {
    uint32_t *number, *low, *stack, *path, *next;
    bool     *on_stack;
    uint32_t  count, nstack, npath;
};

static void visit(struct tarjan *t, const struct an_graph *g, uint32_t v)
{
    t->number[v] = t->low[v] = ++t->count;
    t->stack[t->nstack++] = v;
    t->on_stack[v] = true;
    t->path[t->npath++] = v;
    t->next[v] = g->first[v];
}

/* All edges of v have been followed. */
static void finish(struct tarjan *t, struct an_graph *g, uint32_t v)
{
    t->npath--;
    if (t->npath > 0) {
        const uint32_t up = t->path[t->npath - 1];
        t->low[up] = t->low[v] < t->low[up] ? t->low[v] : t->low[up];
    }
    if (t->low[v] == t->number[v]) {
        uint32_t w;
        do {
            w = t->stack[--t->nstack];
            t->on_stack[w] = false;
            g->set[w] = g->nsets;
            g->set_size[g->nsets]++;
        } while (w != v);
        g->nsets++;
    }
}

static void search_from(struct tarjan *t, struct an_graph *g, uint32_t root)
{
    visit(t, g, root);
    while (t->npath > 0) {
        const uint32_t v = t->path[t->npath - 1];
        if (t->next[v] == g->first[v + 1]) {
            finish(t, g, v);
            continue;
        }
        const uint32_t w = g->edge[t->next[v]++];
        if (t->number[w] == 0) {
            visit(t, g, w);
        } else if (t->on_stack[w] && t->number[w] < t->low[v]) {
            t->low[v] = t->number[w];
        }
    }
}

static void find_sets(struct an_graph *g)
{
    const uint32_t n = g->nnodes;
    struct tarjan  t = {.number = an_alloc(n, sizeof *t.number),
                        .low = an_alloc(n, sizeof *t.low),
                        .stack = an_alloc(n, sizeof *t.stack),
                        .path = an_alloc(n, sizeof *t.path),
                        .next = an_alloc(n, sizeof *t.next),
                        .on_stack = an_alloc(n, sizeof *t.on_stack)};
    for (uint32_t v = 0; v < n; v++) {
        if (t.number[v] == 0) {
            search_from(&t, g, v);
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t i = g->first[v]; i < g->first[v + 1]; i++) {
            g->leaves[g->set[v]] |= g->set[g->edge[i]] != g->set[v];
        }
    }
    free(t.number);
    free(t.low);
    free(t.stack);
    free(t.path);
    free(t.next);
    free(t.on_stack);
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool an_graph_make(struct an_graph *g, const struct an_job *job)
{
    *g = (struct an_graph){.job = job};
    find_groups(g);
    for (uint32_t i = 0; i < g->ngroups; i++) {
        find_missing(g, g->groups[i]);
        prefer_root(g, g->groups[i]);
    }
    g->nnodes = job->size + g->ngroups;
    g->first = an_alloc((size_t)g->nnodes + 1, sizeof *g->first);
    g->set = an_alloc(g->nnodes, sizeof *g->set);
    g->set_size = an_alloc(g->nnodes, sizeof *g->set_size);
    g->leaves = an_alloc(g->nnodes, sizeof *g->leaves);
    g->wanted = an_alloc(g->nnodes, sizeof *g->wanted);
    g->any = an_alloc(job->size, sizeof *g->any);
    find_edges(g);
    find_sets(g);
    return true;
}

uint32_t an_graph_behind(const struct an_graph *g, bool *mark)
{
    uint32_t behind = 0;
    bool    *began = an_alloc(g->nnodes, sizeof *began);
    memcpy(began, mark, g->nnodes * sizeof *began);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t v = g->nnodes; v-- > 0;) { /* groups first */
            for (uint32_t i = g->first[v]; !mark[v] && i < g->first[v + 1]; i++) {
                mark[v] = mark[g->edge[i]];
                more |= mark[v];
            }
        }
    }
    for (uint32_t r = 0; r < g->job->size; r++) {
        behind += mark[r] && !began[r];
    }
    free(began);
    return behind;
}

void an_graph_free(struct an_graph *g)
{
    HASH_CLEAR(hh, g->by_key);
    for (uint32_t i = 0; i < g->ngroups; i++) {
        free(g->groups[i]->arrived);
        free(g->groups[i]->missing);
        free(g->groups[i]->held);
        free(g->groups[i]);
    }
    free(g->groups);
    free(g->edge);
    free(g->first);
    free(g->set);
    free(g->set_size);
    free(g->leaves);
    free(g->wanted);
    free(g->any);
}
