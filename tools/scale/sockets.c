/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real exchange with many endpoints a process: every rank has its socket to its node's agent,
 * every agent its sockets to its peers and to the store, every node one table. Processes are as few
 * as the limit on descriptors allows, and two at least, one a core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "scale.h"

enum { AT_ONCE = 32, LOOKUPS = 20000 };

struct node {
    struct ct_store    *store;
    struct ct_oob_terms terms;
    struct ct_oob_node *agent;
    struct ct_addr      addr;
};

/* One process: nodes first .. first + n - 1, and their ranks. */
struct worker {
    const struct options *o;
    struct scale_shared  *scale_shared;
    struct slot          *slot;
    struct ct_oob_shape   shape;
    const struct ct_algo *algo;
    uint32_t              first, n, opened, nranks, ranks_done, nodes_done;
    int                   status;
    struct ct_log         log;
    struct ct_loop        loop;
    struct event          more;
    struct node          *nodes;
    struct ct_oob_rank  **ranks;
};

static void check_done(struct worker *w)
{
    if (w->status != CTRAN_SUCCESS || (w->nodes_done == w->n && w->ranks_done == w->nranks)) {
        (void)event_base_loopbreak(w->loop.base);
    }
}

static void on_node(void *arg, struct ct_oob_node *node, int status)
{
    struct worker *w = arg;
    (void)node;
    w->nodes_done++;
    w->status = w->status == CTRAN_SUCCESS ? status : w->status;
    check_done(w);
}

static void on_rank(void *arg, struct ct_oob_rank *rank, int status, uint32_t pid, uint32_t fd)
{
    struct worker *w = arg;
    (void)rank, (void)pid, (void)fd;
    w->ranks_done++;
    w->status = w->status == CTRAN_SUCCESS ? status : w->status;
    check_done(w);
}

/* Opens some more ranks: each of them would be a process of its own, and come when it comes. */
static void on_more(evutil_socket_t fd, short what, void *arg)
{
    struct worker       *w = arg;
    const struct timeval now = {0, 0};
    (void)fd, (void)what;
    for (unsigned i = 0; i < AT_ONCE && w->opened < w->nranks; i++, w->opened++) {
        /* Round the nodes, as if all started at once. */
        uint32_t      node = w->opened % w->n, local = w->opened / w->n;
        uint32_t      slot = ct_oob_first(&w->shape, w->first + node) + local;
        unsigned char record[ENTRY_BYTES];
        if (slot >= ct_oob_first(&w->shape, w->first + node + 1)) {
            w->ranks_done++; /* the last node has fewer */
            continue;
        }
        record_make(record, slot, &w->nodes[node].addr);
        int rc = ct_oob_rank_open(&w->ranks[w->opened], &w->loop, &w->nodes[node].addr,
                                  &w->scale_shared->key, &w->shape, slot, record,
                                  w->o->limit_s * 1000, on_rank, w);
        w->status = w->status == CTRAN_SUCCESS ? rc : w->status;
    }
    if (w->opened < w->nranks) {
        (void)event_add(&w->more, &now);
    }
    check_done(w);
}

static int prepare(void *state)
{
    struct worker *w = state;
    ct_log_init(&w->log, CT_LOG_WARN, "ctran_scale");
    w->nodes = calloc(w->n, sizeof *w->nodes);
    w->nranks = w->n * w->o->per_node;
    w->ranks = calloc(w->nranks, sizeof(struct ct_oob_rank *));
    if (w->nodes == NULL || w->ranks == NULL || ct_loop_init(&w->loop, &w->log) != CTRAN_SUCCESS) {
        return CTRAN_ERR_NO_MEM;
    }
    (void)evtimer_assign(&w->more, w->loop.base, on_more, w);
    return CTRAN_SUCCESS;
}

static int open_nodes(struct worker *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        struct node *node = &w->nodes[i];
        node->addr = node_addr(w->o, w->first + i);
        int rc = ct_store_open(&node->store, &w->loop, w->scale_shared->stores, w->o->stores,
                               &w->scale_shared->key);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        node->terms = (struct ct_oob_terms){.loop = &w->loop,
                                            .store = node->store,
                                            .key = &w->scale_shared->key,
                                            .shape = w->shape,
                                            .name = "scale",
                                            .algo = w->algo,
                                            .limit_ms = w->o->limit_s * 1000};
        rc = ct_oob_node_open(&node->agent, &node->terms, w->first + i, &node->addr, on_node, w);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
    }
    return CTRAN_SUCCESS;
}

/* Any endpoint can find any other: what a random node's table says of a random slot is what that
 * slot's rank would say of itself. */
static int look_up(struct worker *w)
{
    for (uint32_t i = 0; i < LOOKUPS; i++) {
        uint32_t             node = ct_loop_random(&w->loop, w->n);
        uint32_t             slot = ct_loop_random(&w->loop, w->shape.nslots);
        const unsigned char *table = ct_oob_node_table(w->nodes[node].agent);
        struct ct_addr       home = node_addr(w->o, slot / w->shape.per_node);
        if (!record_is_right(table + (size_t)slot * ENTRY_BYTES, slot, &home)) {
            fprintf(stderr, "ctran_scale: node %u has a wrong record for slot %u\n",
                    w->first + node, slot);
            return CTRAN_ERR_OTHER;
        }
        w->slot->lookups++;
    }
    return CTRAN_SUCCESS;
}

static int work(void *state)
{
    struct worker *w = state;
    struct rusage  usage;
    int            rc = open_nodes(w);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    on_more(-1, 0, w);
    if (w->status == CTRAN_SUCCESS && w->ranks_done < w->nranks) {
        (void)event_base_dispatch(w->loop.base);
    }
    w->slot->end_ns = ct_clock_ns();
    memcpy(w->slot->sent, w->loop.sent, sizeof w->slot->sent);
    rc = w->status == CTRAN_SUCCESS ? look_up(w) : w->status;
    (void)getrusage(RUSAGE_SELF, &usage);
    w->slot->max_rss_kb = (uint64_t)usage.ru_maxrss;
    w->slot->status = rc;
    return rc;
}

static void finish(void *state)
{
    (void)state; /* its sockets go with the process, when all others are done */
}

static const struct crew_ops worker_ops = {prepare, work, finish};

/* A server of the store: serves until its parent says that all are done. */
struct server {
    struct scale_shared    *scale_shared;
    uint32_t                index;
    struct slot            *slot;
    struct ct_log           log;
    struct ct_loop          loop;
    struct ct_store_server *server;
    int                     lines;
};

static int server_prepare(void *state)
{
    struct server *s = state;
    ct_log_init(&s->log, CT_LOG_WARN, "ctran_scale");
    int rc = ct_loop_init(&s->loop, &s->log);
    s->scale_shared->stores[s->index] = (struct ct_addr){.family = 4, .ip = {127, 9, 0, 1}};
    return rc == CTRAN_SUCCESS
               ? ct_store_server_open(&s->server, &s->loop, &s->scale_shared->stores[s->index],
                                      &s->scale_shared->key, NULL)
               : rc;
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct server *s = arg;
    (void)fd, (void)what;
    if (s->scale_shared->nworkers == 0) { /* told by the parent, with all workers' work done */
        (void)event_base_loopbreak(s->loop.base);
    }
}

static int server_work(void *state)
{
    struct server       *s = state;
    struct event         poll;
    const struct timeval often = {0, 20000};
    (void)event_assign(&poll, s->loop.base, -1, EV_PERSIST, on_end, s);
    (void)event_add(&poll, &often);
    (void)event_base_dispatch(s->loop.base);
    (void)event_del(&poll);
    memcpy(s->slot->sent, s->loop.sent, sizeof s->slot->sent);
    return CTRAN_SUCCESS;
}

static const struct crew_ops server_ops = {server_prepare, server_work, finish};

static void sum_up(const struct scale_shared *b, uint32_t slots, uint64_t start_ns,
                   struct result *r)
{
    uint64_t end = start_ns;
    for (uint32_t i = 0; i < slots; i++) {
        const struct slot *s = &b->workers[i];
        end = s->end_ns > end ? s->end_ns : end;
        r->lookups += s->lookups;
        r->max_rss_kb = s->max_rss_kb > r->max_rss_kb ? s->max_rss_kb : r->max_rss_kb;
        for (int k = 0; k < CT_TRAFFIC_KINDS; k++) {
            r->sent[k].messages += s->sent[k].messages;
            r->sent[k].bytes += s->sent[k].bytes;
        }
    }
    r->seconds = (double)(end - start_ns) / 1e9;
}

static int add_all(const struct options *o, struct scale_shared *b, struct crew *servers,
                   struct crew *workers, const struct ct_algo *algo, const struct result *r)
{
    struct server s = {.scale_shared = b};
    for (uint32_t i = 0; i < o->stores; i++) {
        s.index = i;
        s.slot = &b->workers[r->workers + i];
        if (crew_add(servers, &server_ops, &s) != CTRAN_SUCCESS) {
            return CTRAN_ERR_SYSTEM;
        }
    }
    for (uint32_t i = 0; i < r->workers; i++) {
        struct worker w = {.o = o, .scale_shared = b, .slot = &b->workers[i], .algo = algo};
        w.shape = (struct ct_oob_shape){o->ranks, o->per_node, ENTRY_BYTES};
        w.first = (uint32_t)((uint64_t)r->nodes * i / r->workers);
        w.n = (uint32_t)((uint64_t)r->nodes * (i + 1) / r->workers) - w.first;
        if (crew_add(workers, &worker_ops, &w) != CTRAN_SUCCESS) {
            return CTRAN_ERR_SYSTEM;
        }
    }
    return CTRAN_SUCCESS;
}

int run_sockets(const struct options *o, struct result *r)
{
    uint64_t deadline = ct_clock_ns() + (uint64_t)o->limit_s * 1000 * CT_NS_PER_MS;
    r->nodes = (uint32_t)ct_div_up(o->ranks, o->per_node);
    const struct ct_algo *algo =
        ct_oob_algo(o->algorithm, r->nodes, (size_t)o->per_node * ENTRY_BYTES);
    struct scale_shared *b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    r->workers = workers_for(o, r->nodes, 2 * (uint64_t)o->per_node + 2 * 40 + 8);
    if (algo == NULL || b == MAP_FAILED || r->workers == 0 ||
        ct_auth_key_make(&b->key) != CTRAN_SUCCESS) {
        fprintf(stderr, "ctran_scale: cannot start: %s\n",
                algo == NULL      ? "no such algorithm, or not for this number of nodes"
                : r->workers == 0 ? "too few descriptors; raise ulimit -n"
                                  : "no memory, or a build without libsodium");
        return CTRAN_ERR_SYSTEM;
    }
    b->nworkers = r->workers;
    struct crew *servers = crew_create(o->stores), *workers = crew_create(r->workers);
    int          rc = add_all(o, b, servers, workers, algo, r);
    bool         good = rc == CTRAN_SUCCESS && crew_step(servers, deadline);
    uint64_t     start = ct_clock_ns();
    if (good) {
        good = crew_step(workers, deadline);
        start = ct_clock_ns();
        good = good && crew_step(workers, deadline);
        __atomic_store_n(&b->nworkers, 0, __ATOMIC_RELEASE);
        good = good && crew_step(servers, deadline);
    }
    crew_destroy(workers);
    crew_destroy(servers);
    sum_up(b, r->workers + o->stores, start, r);
    ct_auth_wipe(&b->key, sizeof b->key);
    (void)munmap(b, sizeof *b);
    return good ? CTRAN_SUCCESS : CTRAN_ERR_OTHER;
}
