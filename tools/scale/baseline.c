/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way it used to be done, in the same processes and over the same connections: rank 0 takes
 * every rank's address, one after the other, and tells each rank that of the next; the ranks form
 * one ring and go round it seven times to exchange a record of each; then every pair of ranks is
 * looked at. Its time grows with the square of the number of ranks.
 *
 * Source: what NCCLX's paper says of its baseline, sec. 7.1.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scale.h"

enum { ALLGATHERS = 7, ADDRESS = 1, NEXT, RING, STEP, FDS_A_RANK = 6 };

struct ring_rank {
    struct worker      *w;
    uint32_t            rank;
    int                 lfd;
    struct ct_addr      addr, next_addr;
    struct event        acceptable;
    struct ct_wire_conn root, next, prev; /* to rank 0; its neighbours */
    bool                has_prev, done;
    uint32_t            step; /* sends begun, of all allgathers */
    uint32_t            got;
    unsigned char      *table;
};

/* Rank 0's other half: its line of callers. */
struct caller {
    struct ct_wire_conn conn;
    struct worker      *w;
    uint32_t            rank;
};

struct worker {
    const struct options     *o;
    struct scale_shared      *scale_shared;
    struct slot              *slot;
    uint32_t                  first, n, done, collected;
    int                       status, root_fd;
    struct ct_log             log;
    struct ct_loop            loop;
    struct ct_wire_conn_terms terms;
    struct event              root_event;
    struct ring_rank         *ranks;
    struct caller            *callers; /* in the process of rank 0, by order */
    struct ct_addr           *addrs;   /* by rank */
};

static void stop(struct worker *w, int status)
{
    w->status = w->status == CTRAN_SUCCESS ? status : w->status;
    if (w->status != CTRAN_SUCCESS || w->done == w->n) {
        (void)event_base_loopbreak(w->loop.base);
    }
}

/* Step s of the ring: in each allgather, n - 1 times, what came last goes on. */
static void go_on(struct ring_rank *r)
{
    uint32_t n = r->w->o->ranks, all = ALLGATHERS * (n - 1);
    while (r->step < all && r->has_prev && ct_wire_conn_is_ready(&r->next) && r->step <= r->got) {
        uint32_t block = (r->rank + n - r->step % (n - 1)) % n;
        void    *at[2] = {r->table + (size_t)block * ENTRY_BYTES, NULL};
        size_t   len[2] = {ENTRY_BYTES, 0};
        if (ct_wire_conn_send_pieces(&r->next, STEP, r->step, at, len) != CTRAN_SUCCESS) {
            return;
        }
        r->step++;
    }
    if (r->got == all && r->step == all && !r->done) {
        r->done = true;
        r->w->done++;
        stop(r->w, CTRAN_SUCCESS);
    }
}

static void *prev_place(struct ct_wire_conn *c, const struct ct_frame *f)
{
    struct ring_rank *r = CT_CONTAINER_OF(c, struct ring_rank, prev);
    uint32_t          n = r->w->o->ranks;
    uint32_t          block = (r->rank + n - 1 - r->got % (n - 1)) % n;
    return f->len == ENTRY_BYTES ? r->table + (size_t)block * ENTRY_BYTES : NULL;
}

static int prev_message(struct ct_wire_conn *c, const struct ct_frame *f, const void *body)
{
    struct ring_rank *r = CT_CONTAINER_OF(c, struct ring_rank, prev);
    (void)body;
    if (f->type == RING) {
        r->has_prev = true;
    } else if (f->type == STEP && f->id == r->got) {
        r->got++;
    } else {
        return CTRAN_ERR_ARG;
    }
    go_on(r);
    return CTRAN_SUCCESS;
}

static int no_message(struct ct_wire_conn *c, const struct ct_frame *f, const void *body)
{
    (void)c, (void)f, (void)body;
    return CTRAN_ERR_ARG;
}

static void ring_closed(struct ct_wire_conn *c, int code, const char *why)
{
    fprintf(stderr, "ctran_scale: a neighbour %s\n", why);
    (void)c, (void)code;
    exit(1); /* a child of crew.c, whose parent sees it */
}

static void next_ready(struct ct_wire_conn *c)
{
    struct ring_rank *r = CT_CONTAINER_OF(c, struct ring_rank, next);
    (void)ct_wire_conn_send(c, RING, r->rank, NULL, 0, NULL, 0, false);
    go_on(r);
}

static const struct ct_wire_conn_ops prev_ops = {
    .place = prev_place, .message = prev_message, .closed = ring_closed};
static const struct ct_wire_conn_ops next_ops = {
    .ready = next_ready, .message = no_message, .closed = ring_closed};

static void on_neighbour(evutil_socket_t lfd, short what, void *arg)
{
    struct ring_rank *r = arg;
    (void)what;
    int fd = accept4(lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        (void)event_del(&r->acceptable);
        stop(r->w, ct_wire_conn_accept(&r->prev, &r->w->loop, &prev_ops, &r->w->terms, fd));
    }
}

/* Rank 0 has told where the next one is. */
static int root_message(struct ct_wire_conn *c, const struct ct_frame *f, const void *body)
{
    struct ring_rank *r = CT_CONTAINER_OF(c, struct ring_rank, root);
    if (f->type != NEXT || f->len != sizeof r->next_addr) {
        return CTRAN_ERR_ARG;
    }
    memcpy(&r->next_addr, body, sizeof r->next_addr);
    return ct_wire_conn_connect(&r->next, &r->w->loop, &next_ops, &r->w->terms, &r->next_addr);
}

static void root_ready(struct ct_wire_conn *c)
{
    struct ring_rank *r = CT_CONTAINER_OF(c, struct ring_rank, root);
    (void)ct_wire_conn_send(c, ADDRESS, r->rank, &r->addr, sizeof r->addr, NULL, 0, false);
}

static const struct ct_wire_conn_ops root_ops = {
    .ready = root_ready, .message = root_message, .closed = ring_closed};

static void root_listen(struct worker *w);

/* The topology: every pair of ranks is looked at. */
static uint64_t look_at_pairs(uint32_t n, uint32_t per_node)
{
    volatile uint64_t near = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            near += i / per_node == j / per_node;
        }
    }
    return near;
}

static int caller_message(struct ct_wire_conn *c, const struct ct_frame *f, const void *body)
{
    struct caller *caller = CT_CONTAINER_OF(c, struct caller, conn);
    struct worker *w = caller->w;
    uint32_t       n = w->o->ranks;
    if (f->type != ADDRESS || f->id >= n || f->len != sizeof(struct ct_addr)) {
        return CTRAN_ERR_ARG;
    }
    caller->rank = (uint32_t)f->id;
    memcpy(&w->addrs[f->id], body, f->len);
    if (++w->collected < n) {
        root_listen(w); /* the next one, please */
        return CTRAN_SUCCESS;
    }
    (void)look_at_pairs(n, w->o->per_node);
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_addr *next = &w->addrs[(w->callers[i].rank + 1) % n];
        (void)ct_wire_conn_send(&w->callers[i].conn, NEXT, 0, next, sizeof *next, NULL, 0, false);
    }
    return CTRAN_SUCCESS;
}

static const struct ct_wire_conn_ops caller_ops = {.message = caller_message,
                                                   .closed = ring_closed};

static void on_caller(evutil_socket_t lfd, short what, void *arg)
{
    struct worker *w = arg;
    struct caller *caller = &w->callers[w->collected];
    (void)what;
    int fd = accept4(lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        (void)event_del(&w->root_event);
        caller->w = w;
        stop(w, ct_wire_conn_accept(&caller->conn, &w->loop, &caller_ops, &w->terms, fd));
    }
}

static void root_listen(struct worker *w)
{
    (void)event_add(&w->root_event, NULL);
}

static int prepare(void *state)
{
    struct worker *w = state;
    ct_log_init(&w->log, CT_LOG_WARN, "ctran_scale");
    w->ranks = calloc(w->n, sizeof *w->ranks);
    w->terms = (struct ct_wire_conn_terms){.key = &w->scale_shared->key,
                                           .context = "baseline",
                                           .limit_ms = w->o->limit_s * 1000,
                                           .traffic = CT_TRAFFIC_GATHER};
    int rc = w->ranks == NULL ? CTRAN_ERR_NO_MEM : ct_loop_init(&w->loop, &w->log);
    if (rc == CTRAN_SUCCESS && w->first == 0) {
        w->callers = calloc(w->o->ranks, sizeof *w->callers);
        w->addrs = calloc(w->o->ranks, sizeof *w->addrs);
        w->scale_shared->root = (struct ct_addr){.family = 4, .ip = {127, 9, 0, 2}};
        rc = ct_wire_listen(&w->loop, &w->scale_shared->root, &w->root_fd);
        (void)event_assign(&w->root_event, w->loop.base, w->root_fd, EV_READ | EV_PERSIST,
                           on_caller, w);
        root_listen(w);
    }
    for (uint32_t i = 0; i < w->n && rc == CTRAN_SUCCESS; i++) {
        struct ring_rank *r = &w->ranks[i];
        r->w = w;
        r->next.fd = -1; /* not open yet */
        r->rank = w->first + i;
        r->addr = node_addr(w->o, r->rank / w->o->per_node);
        r->addr.port[0] = r->addr.port[1] = 0;
        r->table = malloc((size_t)w->o->ranks * ENTRY_BYTES);
        rc = r->table == NULL ? CTRAN_ERR_NO_MEM : ct_wire_listen(&w->loop, &r->addr, &r->lfd);
        (void)event_assign(&r->acceptable, w->loop.base, r->lfd, EV_READ | EV_PERSIST, on_neighbour,
                           r);
        (void)event_add(&r->acceptable, NULL);
    }
    return rc;
}

static int work(void *state)
{
    struct worker *w = state;
    for (uint32_t i = 0; i < w->n; i++) {
        struct ring_rank *r = &w->ranks[i];
        record_make(r->table + (size_t)r->rank * ENTRY_BYTES, r->rank, &w->scale_shared->root);
        stop(w, ct_wire_conn_connect(&r->root, &w->loop, &root_ops, &w->terms,
                                     &w->scale_shared->root));
    }
    if (w->status == CTRAN_SUCCESS) {
        (void)event_base_dispatch(w->loop.base);
    }
    w->slot->end_ns = ct_clock_ns();
    memcpy(w->slot->sent, w->loop.sent, sizeof w->slot->sent);
    for (uint32_t i = 0; i < w->n && w->status == CTRAN_SUCCESS; i++) {
        for (uint32_t k = 0; k < w->o->ranks; k += 1 + w->o->ranks / 97) {
            if (!record_is_right(w->ranks[i].table + (size_t)k * ENTRY_BYTES, k,
                                 &w->scale_shared->root)) {
                w->status = CTRAN_ERR_OTHER;
            }
            w->slot->lookups++;
        }
    }
    return w->status;
}

static void finish(void *state)
{
    (void)state;
}

static const struct crew_ops worker_ops = {prepare, work, finish};

static void sum_up(const struct scale_shared *b, uint64_t start_ns, struct result *r)
{
    uint64_t end = start_ns;
    for (uint32_t i = 0; i < r->workers; i++) {
        const struct slot *s = &b->workers[i];
        end = s->end_ns > end ? s->end_ns : end;
        r->lookups += s->lookups;
        for (int k = 0; k < CT_TRAFFIC_KINDS; k++) {
            r->sent[k].messages += s->sent[k].messages;
            r->sent[k].bytes += s->sent[k].bytes;
        }
    }
    r->seconds = (double)(end - start_ns) / 1e9;
}

int run_baseline(const struct options *o, struct result *r)
{
    uint64_t deadline = ct_clock_ns() + (uint64_t)o->limit_s * 1000 * CT_NS_PER_MS, start = 0;
    struct scale_shared *b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    r->nodes = (uint32_t)ct_div_up(o->ranks, o->per_node);
    r->workers = workers_for(o, o->ranks, FDS_A_RANK);
    if (b == MAP_FAILED || o->ranks < 2 || r->workers == 0 ||
        ct_auth_key_make(&b->key) != CTRAN_SUCCESS) {
        fprintf(stderr, "ctran_scale: the baseline wants 2 ranks or more, descriptors (ulimit -n), "
                        "and a build with libsodium\n");
        return CTRAN_ERR_SYSTEM;
    }
    struct crew *crew = crew_create(r->workers);
    bool         good = true;
    for (uint32_t i = 0; i < r->workers && good; i++) {
        struct worker w = {.o = o, .scale_shared = b, .slot = &b->workers[i]};
        w.first = (uint32_t)((uint64_t)o->ranks * i / r->workers);
        w.n = (uint32_t)((uint64_t)o->ranks * (i + 1) / r->workers) - w.first;
        good = crew_add(crew, &worker_ops, &w) == CTRAN_SUCCESS;
    }
    good = good && crew_step(crew, deadline);
    start = ct_clock_ns();
    good = good && crew_step(crew, deadline);
    crew_destroy(crew);
    sum_up(b, start, r);
    ct_auth_wipe(&b->key, sizeof b->key);
    (void)munmap(b, sizeof *b);
    return good ? CTRAN_SUCCESS : CTRAN_ERR_OTHER;
}
