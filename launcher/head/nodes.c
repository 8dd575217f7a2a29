/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of the job as the head sees them: which are reached, ready or lost. When all are ready
 * the ranks are started. If that takes long, a message names the missing nodes; if it takes too
 * long, the job ends. In a job of several nodes the head also decides about the events of deaths
 * (job/recovery.h). Used by run.c and report.c.
 */
#include "config.h"
#include "launcher/head/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

/* ---- the start ------------------------------------------------------------------------------- */

void ct_head_joined(struct ct_head *h, uint32_t node)
{
    h->nodes[node].joined = true;
    h->running |= h->args->desc->nnodes == 1;
}

void ct_head_take_joined(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t node = ct_head_take_node(h, in);
    if (!in->bad) {
        h->nodes[node].joined = true;
    }
}

/* Tells the first node that has a server of the store the addresses of all servers, and all nodes
 * the address of that first server. Without servers rank 0 has the store. */
static void start_nodes(struct ct_head *h)
{
    uint32_t         n = h->args->desc->nnodes, first = n, servers = 0;
    struct evbuffer *stores = evbuffer_new(), *places = evbuffer_new(), *start = evbuffer_new();
    for (uint32_t i = 0; i < n; i++) {
        if (h->nodes[i].store != NULL) {
            first = first == n ? i : first;
            ct_pack_text(places, h->nodes[i].store);
            servers++;
        }
    }
    if (servers > 0) {
        ct_pack_u32(stores, first);
        ct_pack_u32(stores, servers);
        evbuffer_add_buffer(stores, places);
        ct_router_send_down(&h->router, CT_MSG_STORES, stores);
    } else {
        evbuffer_free(stores);
    }
    evbuffer_free(places);
    ct_pack_text(start, servers > 0 ? h->nodes[first].store : "");
    ct_router_send_down(&h->router, CT_MSG_START, start);
}

void ct_head_take_ready(struct ct_head *h, struct ct_unpack *in)
{
    const struct ct_jobdesc *d = h->args->desc;
    uint32_t                 node = ct_head_take_node(h, in), pid = ct_unpack_u32(in);
    const char              *name = ct_unpack_text(in), *store = ct_unpack_text(in);
    if (in->bad || h->nodes[node].ready) {
        in->bad = true;
        return;
    }
    h->nodes[node].ready = true;
    h->nodes[node].store = *store != '\0' ? strdup(store) : NULL;
    h->nready++;
    if (d->verbose && (d->nnodes == 1 || strcmp(name, d->nodes[node].host) == 0)) {
        ct_head_message(h, CT_DAEMON_NAME " runs as pid %u on host %s", pid, name);
    } else if (d->verbose) {
        ct_head_message(h, CT_DAEMON_NAME " runs as pid %u on host %s, which calls itself %s", pid,
                        d->nodes[node].host, name);
    }
    if (h->nready == d->nnodes && !h->failed) {
        event_del(h->launch);
        event_del(h->slow);
        h->running = true;
        ct_family_ready(h->family);
        if (d->nnodes > 1) {
            start_nodes(h);
        }
    }
}

/* Those that keep the others from going on: not ready although their parent is there. */
static bool head_is_missing(const struct ct_head *h, uint32_t node, bool reached)
{
    const struct ct_jobdesc *d = h->args->desc;
    struct ct_span           all = {0, d->nnodes};
    uint32_t                 parent = ct_tree_parent(all, h->router.mine, d->fan_out, node);
    return reached ? h->nodes[node].joined && !h->nodes[node].ready
                   : !h->nodes[node].joined && (parent == CT_NO_NODE || h->nodes[parent].joined);
}

/* As many names as fit, and how many more there are. */
static void list_missing(const struct ct_head *h, bool reached, char *out, size_t cap)
{
    enum { REST = 24 }; /* for "and N more" */
    uint32_t n = 0, total = 0;
    size_t   len = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < h->args->desc->nnodes; i++) {
        const char *host = h->args->desc->nodes[i].host;
        if (!head_is_missing(h, i, reached)) {
            continue;
        }
        total++;
        if (n + 1 == total && len + strlen(host) + REST < cap) {
            len += (size_t)snprintf(out + len, cap - len, "%s%s", n++ > 0 ? ", " : "", host);
        }
    }
    if (total > n) {
        snprintf(out + len, cap - len, n > 0 ? " and %u more" : "%u hosts", total - n);
    }
}

static struct timeval time_of(uint64_t ms)
{
    return (struct timeval){(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};
}

/* Names the hosts for which the start waits. */
static void report_missing(struct ct_head *h)
{
    char silent[1024], slow[1024];
    list_missing(h, false, silent, sizeof silent);
    list_missing(h, true, slow, sizeof slow);
    ct_head_message(
        h, "%u of %u hosts are ready%s%s%s%s; waiting for at most %g s (--launch-timeout)",
        h->nready, h->args->desc->nnodes, silent[0] != '\0' ? ", no word yet from " : "", silent,
        slow[0] != '\0' ? ", reached but not ready: " : "", slow,
        (double)h->args->launch_timeout_ms / 1000.0);
}

static void head_show_missing(struct ct_head *h)
{
    char names[56], line[128];
    list_missing(h, false, names, sizeof names);
    if (names[0] == '\0') {
        list_missing(h, true, names, sizeof names);
    }
    snprintf(line, sizeof line, "ctranrun: %u of %u hosts are ready%s%s", h->nready,
             h->args->desc->nnodes, names[0] != '\0' ? "; waiting for " : "", names);
    ct_output_progress(h->out, line);
}

static uint64_t slow_ms(const struct ct_head *h)
{
    return ct_min_size(CT_SLOW_HOSTS_MS, h->args->launch_timeout_ms / 2);
}

/* The start takes long: a terminal shows the missing hosts; later a line on standard error names
 * them. */
static void on_slow(int fd, short what, void *arg)
{
    const struct timeval again = time_of(CT_PROGRESS_EACH_MS);
    struct ct_head      *h = arg;
    (void)fd;
    (void)what;
    if (h->failed) {
        return;
    }
    if (ct_clock_ns() - h->t0 >= slow_ms(h) * CT_NS_PER_MS) {
        report_missing(h);
        return;
    }
    if (h->args->desc->progress) {
        head_show_missing(h);
    }
    event_add(h->slow, &again);
}

static void on_launch_limit(int fd, short what, void *arg)
{
    struct ct_head *h = arg;
    char            silent[1024], slow[1024];
    double          seconds = (double)h->args->launch_timeout_ms / 1000.0;
    (void)fd;
    (void)what;
    list_missing(h, false, silent, sizeof silent);
    list_missing(h, true, slow, sizeof slow);
    if (!ct_head_fail(h, CT_EXIT_INTERNAL)) {
        return;
    }
    if (silent[0] != '\0') {
        ct_head_message(h,
                        "no word from %s within %g s (--launch-timeout); are these hosts up, and "
                        "does \"%s HOST true\" work?",
                        silent, seconds, h->args->desc->agent[0]);
    } else {
        ct_head_message(h, "not ready within %g s (--launch-timeout): %s", seconds, slow);
    }
    ct_head_ask_to_end(h, 0);
    ct_head_watch_daemon(h);
}

/* ---- losses ---------------------------------------------------------------------------------- */

void ct_head_take_lost(struct ct_head *h, uint32_t node, const char *why)
{
    if (node >= h->args->desc->nnodes) {
        return;
    }
    if (ct_head_fail(h, CT_EXIT_INTERNAL)) {
        ct_head_message(h, "%s", why);
    } else if (h->args->desc->verbose && !h->router.ending) {
        ct_head_message(h, "then %s", why);
    }
    ct_head_ask_to_end(h, CT_TERM_GRACE_MS);
    ct_head_watch_daemon(h);
}

/* ---- jobs that outlive deaths ---------------------------------------------------------------- */

static void head_on_job_event(void *arg, enum ct_job_event event, uint32_t rank)
{
    struct ct_head  *h = arg;
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, event);
    ct_pack_u32(body, rank);
    ct_router_send_down(&h->router, CT_MSG_JOB_EVENT, body);
}

/* All contributions have come: they go back with the verdict whether a rank is missing. */
void ct_head_take_fence(struct ct_head *h, struct ct_unpack *in)
{
    struct ct_unpack look = *in;
    uint32_t         n = ct_unpack_u32(&look);
    if (in->bad || n > look.left / 4) {
        in->bad = true;
        return;
    }
    size_t           status_at = 4 + 4 * (size_t)n;
    struct evbuffer *body = evbuffer_new();
    evbuffer_add(body, in->at, status_at);
    ct_pack_u32(body, ct_recovery_fence(&h->recovery) ? 0 : 1);
    evbuffer_add(body, in->at + status_at + 4, in->left - status_at - 4);
    struct ct_unpack all = ct_unpack_of(body);
    ct_router_down(&h->router, CT_MSG_FENCE_DONE, &all);
    in->bad = all.bad;
    evbuffer_free(body);
}

void ct_head_note_end(struct ct_head *h, uint32_t rank, const struct ct_rank_state *end)
{
    const struct ct_jobdesc *d = h->args->desc;
    if (rank >= ct_jobdesc_ranks(d) || h->ended[rank].ended) {
        return;
    }
    h->ended[rank] = *end;
    h->nodes[d->ranks.node_of[rank]].ended++;
    if (d->nnodes > 1) {
        ct_recovery_ended(&h->recovery, rank, (enum ct_rank_phase)end->phase);
    }
    ct_family_ended(h->family, rank);
    ct_spawned_rank_ended(h->spawned);
}

/* ---- what ranks ask for ---------------------------------------------------------------------- */

/* Answers for a node where no rank is left. */
static void answer_for(struct ct_head *h, uint32_t asker, uint32_t number, uint32_t node)
{
    const struct ct_jobdesc *d = h->args->desc;
    uint32_t                 n = d->nodes[node].ranks;
    struct evbuffer         *body = evbuffer_new();
    struct ct_rank_state    *all = calloc((size_t)n + 1, sizeof *all);
    for (uint32_t i = 0; all != NULL && i < n; i++) {
        all[i] = h->ended[ct_jobdesc_rank(d, node, i)];
    }
    if (all != NULL) {
        ct_ranktable_pack(body, asker, number, node, all, n);
        ct_router_send_down(&h->router, CT_MSG_RANKS, body);
    } else {
        evbuffer_free(body);
    }
    free(all);
}

void ct_head_take_ranks_ask(struct ct_head *h, struct ct_unpack *in)
{
    struct ct_unpack all = *in;
    uint32_t         asker = ct_head_take_node(h, in), number = ct_unpack_u32(in);
    for (uint32_t i = 0; !in->bad && i < h->args->desc->nnodes; i++) {
        if (h->nodes[i].ended == h->args->desc->nodes[i].ranks) {
            answer_for(h, asker, number, i);
        }
    }
    if (!in->bad) {
        ct_router_down(&h->router, CT_MSG_RANKS_ASK, &all);
    }
}

/* An event, in h->untold, that is not yet reported as passed on to its node. */
struct untold {
    uint32_t node, number, bytes;
};

static void pass_next(struct ct_head *h, struct untold *e)
{
    struct evbuffer *body = evbuffer_new();
    evbuffer_remove(h->untold, e, sizeof *e);
    ct_pack_u32(body, e->node);
    ct_pack_u32(body, e->number);
    ct_router_send_down(&h->router, CT_MSG_EVENT_PASSED, body);
}

static void pass_ahead(struct ct_head *h)
{
    struct untold e;
    while (evbuffer_copyout(h->untold, &e, sizeof e) == (ssize_t)sizeof e &&
           h->ahead_bytes + e.bytes <= CT_EVENTS_SLACK) {
        pass_next(h, &e);
        evbuffer_add(h->ahead, &e.bytes, sizeof e.bytes);
        h->ahead_bytes += e.bytes;
    }
}

/* Tells the node of an event that the event was passed on, so that it may send more. Some events go
 * ahead of the slowest child, so that a short pause of a child is not noticed. */
void ct_head_take_event(struct ct_head *h, struct ct_unpack *in)
{
    struct ct_unpack all = *in;
    struct untold    e = {.node = ct_head_take_node(h, in), .bytes = (uint32_t)all.left};
    e.number = ct_unpack_u32(in);
    if (!in->bad) {
        evbuffer_add(h->untold, &e, sizeof e);
        ct_router_down(&h->router, CT_MSG_EVENT, &all);
        pass_ahead(h);
    }
}

/* All children that are waited for have taken so many, the oldest ones. */
void ct_head_take_events_taken(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t      n = ct_unpack_u32(in), bytes;
    struct untold e;
    for (; n > 0 && evbuffer_get_length(h->ahead) > 0; n--) {
        evbuffer_remove(h->ahead, &bytes, sizeof bytes);
        h->ahead_bytes -= bytes;
    }
    for (; n > 0 && evbuffer_get_length(h->untold) > 0; n--) {
        pass_next(h, &e);
    }
    in->bad |= n > 0;
    pass_ahead(h);
}

/* ---- the whole ------------------------------------------------------------------------------- */

bool ct_head_nodes_init(struct ct_head *h)
{
    static const struct ct_recovery_ops ops = {head_on_job_event, NULL};
    const struct ct_jobdesc            *d = h->args->desc;
    const struct timeval                limit = time_of(h->args->launch_timeout_ms);
    const struct timeval                first =
        time_of(ct_min_size(CT_PROGRESS_AFTER_MS, h->args->launch_timeout_ms / 2));
    h->nodes = calloc(d->nnodes, sizeof *h->nodes);
    h->launch = evtimer_new(h->base, on_launch_limit, h);
    h->slow = evtimer_new(h->base, on_slow, h);
    h->ended = calloc(ct_jobdesc_ranks(d), sizeof *h->ended);
    h->untold = evbuffer_new();
    h->ahead = evbuffer_new();
    h->started = d->tell_ranks ? calloc(ct_jobdesc_ranks(d), sizeof *h->started) : NULL;
    if ((d->tell_ranks && h->started == NULL) || h->nodes == NULL || h->launch == NULL ||
        h->slow == NULL || h->ended == NULL || h->untold == NULL || h->ahead == NULL ||
        ct_recovery_init(&h->recovery, d->recovery, ct_jobdesc_ranks(d), &ops, h) != 0) {
        return false;
    }
    if (d->nnodes > 1 || h->args->local == CT_NO_NODE) {
        event_add(h->launch, &limit);
        event_add(h->slow, &first);
    }
    return true;
}

void ct_head_nodes_fini(struct ct_head *h)
{
    if (h->launch != NULL) {
        event_free(h->launch);
    }
    if (h->slow != NULL) {
        event_free(h->slow);
    }
    ct_recovery_fini(&h->recovery);
    for (uint32_t i = 0; h->nodes != NULL && i < h->args->desc->nnodes; i++) {
        free(h->nodes[i].store);
    }
    if (h->untold != NULL) {
        evbuffer_free(h->untold);
    }
    if (h->ahead != NULL) {
        evbuffer_free(h->ahead);
    }
    for (uint32_t i = 0; h->started != NULL && i < ct_jobdesc_ranks(h->args->desc); i++) {
        free(h->started[i]);
    }
    free(h->started);
    free(h->ended);
    free(h->nodes);
}
