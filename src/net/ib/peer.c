/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer's connection: ib.h explains epochs.
 *
 *   PARKED --need, SYNC--> DRAINING --markers--> SYNCING --SYNC with HAS_YOURS--> OPEN
 *     ^                        ^                                                    |
 *     +-----PARK---------------+----------- failure, failback, a higher epoch -------+
 *
 * Both sides may begin an epoch, each with numbers of its own parity; the higher number counts. In
 * SYNCING a side repeats its SYNC until it knows that the other has it. A side that is OPEN answers
 * each SYNC of a side that is not.
 */
#define CT_FOLDER "net"
#include <inttypes.h>
#include <stdlib.h>

#include "net/ib/ib.h"

enum { FIRST_AGAIN_US = 500, LAST_AGAIN_US = 50000 };

static void ib_peer_step(struct ct_ib_peer *peer);

/* ---- life ------------------------------------------------------------------------------------ */

struct ct_ib_peer *ct_ib_peer_find(struct ct_ib *t, uint32_t id)
{
    struct ct_ib_peer *peer = NULL;
    HASH_FIND(hh, t->peers, &id, sizeof id, peer);
    return peer;
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t n = 1;
    while (n < least) {
        n *= 2;
    }
    return n;
}

static bool make_writes(struct ct_ib_peer *peer)
{
    const struct ct_ib_limits *l = peer->limits;
    const uint32_t depth = 2 * l->outstanding > CT_IB_DEPTH ? 2 * l->outstanding : CT_IB_DEPTH;
    const uint32_t n = l->qps * depth < CT_IB_WINDOW ? l->qps * depth : CT_IB_WINDOW;
    peer->writes_mask = power_of_two(n) - 1;
    peer->writes = calloc((size_t)peer->writes_mask + 1, sizeof *peer->writes);
    return peer->writes != NULL;
}

struct ct_ib_peer *ct_ib_peer_get(struct ct_ib *t, uint32_t id, void *cookie,
                                  const struct ct_ib_addr *addr)
{
    struct ct_ib_peer *peer = ct_ib_peer_find(t, id);
    if (peer != NULL) {
        return peer;
    }
    peer = calloc(1, sizeof *peer);
    if (peer == NULL) {
        return NULL;
    }
    const int distance = t->env.distance != NULL ? t->env.distance(t->env.arg, id) : 0;
    peer->link = (struct ct_net_link){.net = &t->net, .max_slice = t->slice_bytes};
    peer->t = t;
    peer->id = id;
    peer->cookie = cookie;
    peer->addr = *addr;
    peer->limits = &t->limits[ct_ib_class_of(distance)];
    peer->write_una = peer->write_next = peer->write_again = (uint32_t)t->env.cfg->ib_first_write;
    peer->used_ns = peer->arrival_ns = t->now();
    ct_list_init(&peer->timed);
    ct_list_init(&peer->work);
    ct_list_init(&peer->redo);
    ct_list_init(&peer->reading);
    ct_list_init(&peer->all);
    ct_list_init(&peer->pump);
    ct_list_init(&peer->eras);
    if (!make_writes(peer)) {
        free(peer);
        return NULL;
    }
    HASH_ADD(hh, t->peers, id, sizeof peer->id, peer);
    return peer;
}

void ct_ib_peer_quit(struct ct_ib_peer *peer, int why)
{
    if (peer->phase == CT_IB_OVER) {
        return;
    }
    peer->phase = CT_IB_OVER;
    ct_list_remove(&peer->timed);
    for (unsigned i = 0; i < CT_ARRAY_LEN(peer->sets); i++) {
        if (peer->sets[i] != NULL) {
            ct_ib_qpset_drop(peer->sets[i]);
            peer->sets[i] = NULL;
        }
    }
    ct_ib_message_drop(peer);
    ct_ib_rma_fail(peer, why);
}

void ct_ib_peer_lose(struct ct_ib_peer *peer, int why)
{
    struct ct_ib *t = peer->t;
    if (peer->phase != CT_IB_OVER) {
        const bool has_left = peer->left;
        t->counters.lost += !has_left;
        ct_ib_peer_quit(peer, why);
        t->events++;
        if (!t->closing && has_left) {
            t->env.left(peer->cookie);
        } else if (!t->closing) {
            t->env.failed(peer->cookie, why);
        }
    }
}

void ct_ib_peer_free(struct ct_ib_peer *peer)
{
    ct_ib_peer_quit(peer, CTRAN_ERR_PROC_FAILED);
    HASH_DEL(peer->t->peers, peer);
    free(peer->writes);
    free(peer->waiting.all);
    free(peer);
}

bool ct_ib_peer_settled(const struct ct_ib_peer *peer)
{
    return peer->message_una == peer->message_next && peer->nops == 0;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

/* This side's next number. */
static uint32_t next_epoch(const struct ct_ib_peer *peer)
{
    const uint32_t parity = peer->t->env.id < peer->id ? 1 : 0;
    const uint32_t next = peer->epoch + 1;
    return (next & 1) == parity ? next : next + 1;
}

void ct_ib_peer_restart(struct ct_ib_peer *peer, uint8_t path, uint32_t epoch)
{
    const bool          was_draining = peer->phase == CT_IB_DRAINING;
    struct ct_ib_qpset *old = was_draining ? NULL : ct_ib_peer_qpset(peer);
    const uint64_t      now = peer->t->now();
    peer->t->counters.restarts += peer->phase == CT_IB_OPEN;
    peer->down_ns = peer->down_ns != 0 ? peer->down_ns : now;
    peer->try_ns = now;
    peer->epoch = epoch != 0 ? epoch : next_epoch(peer);
    peer->path = path;
    peer->has_theirs = false;
    peer->phase = CT_IB_DRAINING;
    if (was_draining) {
        return; /* its end comes */
    }
    if (old != NULL && old->state == CT_IB_QPSET_READY) {
        ct_ib_qpset_drain(old);
    } else {
        ct_ib_peer_drained(peer);
    }
}

void ct_ib_peer_need(struct ct_ib_peer *peer)
{
    if (peer->phase == CT_IB_PARKED) {
        const uint8_t first = ct_ib_path_usable(peer, 0) ? 0 : ct_ib_path_next(peer, 0);
        ct_ib_peer_restart(peer, first, 0);
    }
}

/* What was under way on a queue pair is to be sent again, if the peer does not have it. */
static void take_back(struct ct_ib_peer *peer, struct ct_ib_qp *qp)
{
    for (uint32_t i = qp->head; i != qp->tail; i++) {
        const struct ct_ib_request *r = &qp->requests[i & qp->mask];
        if (r->work == CT_IB_WORK_WRITE) {
            peer->writes[r->number & peer->writes_mask].posted = false;
        } else if (r->work == CT_IB_WORK_READ) {
            struct ct_ib_read *read = r->part;
            ct_list_remove(&read->node);
            ct_list_append(&peer->redo, &read->node);
        }
    }
}

/* The queue pairs of a path begin anew, or are made anew where they cannot. */
static void ib_peer_renew(struct ct_ib_peer *peer, unsigned path)
{
    if (!ct_ib_qpset_reset(peer->sets[path])) {
        ct_ib_qpset_destroy(peer->sets[path]);
        peer->sets[path] = NULL;
    }
}

static void take_back_all(struct ct_ib_peer *peer)
{
    for (unsigned path = 0; path < CT_ARRAY_LEN(peer->sets); path++) {
        struct ct_ib_qpset *set = peer->sets[path];
        if (set == NULL || set->state != CT_IB_QPSET_DRAINING) {
            continue;
        }
        for (uint32_t i = 0; i < set->n; i++) {
            take_back(peer, &set->qp[i]);
        }
        ib_peer_renew(peer, path);
    }
    peer->elsewhere = 0;
}

static bool has_work(const struct ct_ib_peer *peer)
{
    return !ct_ib_peer_settled(peer) || !ct_list_empty(&peer->work);
}

static void destroy_all(struct ct_ib_peer *peer)
{
    for (unsigned path = 0; path < CT_ARRAY_LEN(peer->sets); path++) {
        if (peer->sets[path] != NULL) {
            ct_ib_qpset_destroy(peer->sets[path]);
            peer->sets[path] = NULL;
        }
    }
}

void ct_ib_peer_drained(struct ct_ib_peer *peer)
{
    take_back_all(peer);
    peer->refused = false;
    if (peer->parking) {
        peer->parking = false;
        destroy_all(peer);
        peer->phase = CT_IB_PARKED;
        peer->down_ns = 0;
        ct_list_remove(&peer->timed);
        if (has_work(peer)) {
            ct_ib_peer_need(peer);
        }
        return;
    }
    if (peer->phase == CT_IB_DRAINING) {
        peer->phase = CT_IB_SYNCING;
        peer->tries = 0;
        ib_peer_step(peer);
    }
}

/* ---- parking --------------------------------------------------------------------------------- */

static void put_down(struct ct_ib_peer *peer)
{
    struct ct_ib_qpset *set = ct_ib_peer_qpset(peer);
    const bool          was_draining = peer->phase == CT_IB_DRAINING;
    peer->parking = true;
    peer->phase = CT_IB_DRAINING;
    if (was_draining) {
        return;
    }
    if (set != NULL && set->state == CT_IB_QPSET_READY) {
        ct_ib_qpset_drain(set);
    } else {
        ct_ib_peer_drained(peer);
    }
}

void ct_ib_peer_park(struct ct_ib_peer *peer)
{
    peer->t->counters.parked++;
    ct_debug(peer->t->env.log, "rank %" PRIu32 ": its queue pairs are given to others", peer->id);
    ct_ib_cm_send(peer, CT_IB_CM_PARK, peer->path, peer->epoch, 0);
    put_down(peer);
}

void ct_ib_peer_on_park(struct ct_ib_peer *peer, uint32_t epoch)
{
    if (epoch == peer->epoch && peer->phase != CT_IB_PARKED && !peer->parking) {
        put_down(peer);
    }
}

/* The one that has rested longest. */
bool ct_ib_peer_evict(const struct ct_ib_peer *for_peer)
{
    struct ct_ib      *t = for_peer->t;
    const uint64_t     now = t->now(), idle_ns = (uint64_t)t->env.cfg->ib_idle * CT_NS_PER_MS;
    const bool         is_urgent = now - for_peer->down_ns >= idle_ns;
    struct ct_ib_peer *oldest = NULL;
    for (struct ct_ib_peer *p = t->peers; p != NULL; p = p->hh.next) {
        if (p->phase == CT_IB_OPEN && !has_work(p) && (is_urgent || now - p->used_ns >= idle_ns) &&
            (oldest == NULL || p->used_ns < oldest->used_ns)) {
            oldest = p;
        }
    }
    if (oldest != NULL) {
        t->counters.evicted++;
        ct_ib_peer_park(oldest);
    }
    return oldest != NULL;
}

/* ---- syncing --------------------------------------------------------------------------------- */

void ct_ib_peer_schedule(struct ct_ib_peer *peer, uint64_t at_ns)
{
    peer->again_ns = at_ns;
    if (ct_list_empty(&peer->timed)) {
        ct_list_append(&peer->t->timed, &peer->timed);
    }
}

static uint8_t flags_of(const struct ct_ib_peer *peer)
{
    return (uint8_t)((peer->has_theirs ? CT_IB_HAS_YOURS : 0) |
                     (peer->phase == CT_IB_OPEN ? CT_IB_IS_OPEN : 0));
}

static void send_sync(struct ct_ib_peer *peer)
{
    ct_ib_cm_send(peer, CT_IB_CM_SYNC, peer->path, peer->epoch, flags_of(peer));
}

/* Queue pairs for the path, if there are none. False: not now. */
static bool have_qpset(struct ct_ib_peer *peer)
{
    struct ct_ib_qpset **set = &peer->sets[peer->path];
    if (*set == NULL && ct_ib_path_local(peer, peer->path, 0) >= 0) {
        *set = ct_ib_qpset_make(peer, peer->path, 1 + peer->limits->qps);
    }
    return *set != NULL;
}

/* A turn of SYNCING. */
static void ib_peer_step(struct ct_ib_peer *peer)
{
    struct ct_ib *t = peer->t;
    uint64_t      us = (uint64_t)FIRST_AGAIN_US << ct_min_size(peer->tries, 8);
    if (have_qpset(peer)) {
        send_sync(peer);
    }
    us = us < LAST_AGAIN_US ? us : LAST_AGAIN_US;
    peer->tries++;
    ct_ib_peer_schedule(peer, t->now() + us * 500 + ct_ib_random(t) % (us * 1000));
}

static void open_up(struct ct_ib_peer *peer)
{
    struct ct_ib *t = peer->t;
    peer->phase = CT_IB_OPEN;
    peer->arrival_ns = peer->used_ns = t->now();
    peer->turn = 0;
    t->counters.opened++;
    t->events++;
    ct_debug(t->env.log, "rank %" PRIu32 ": epoch %" PRIu32 " is open on path %u", peer->id,
             peer->epoch, peer->path);
    ct_ib_path_opened(peer);
    peer->down_ns = 0;
    ct_ib_message_again(peer);
    ct_ib_rma_pump(peer);
}

/* The first SYNC of the peer in this epoch. False: it cannot be taken, or the peer is lost. */
static bool take_theirs(struct ct_ib_peer *peer, const struct ct_ib_cm *sync)
{
    struct ct_ib_qpset *set = ct_ib_peer_qpset(peer);
    if (set == NULL && have_qpset(peer)) {
        set = ct_ib_peer_qpset(peer);
    }
    if (set == NULL || set->state != CT_IB_QPSET_INIT) {
        return false;
    }
    if (!peer->order_known) {
        peer->order_known = true;
        peer->order.next = sync->first_write;
    }
    peer->nqps = set->n < sync->nqps ? set->n : sync->nqps;
    if (!ct_ib_message_acked(peer, sync->want_message) || !ct_ib_write_sync(peer, sync)) {
        ct_error(peer->t->env.log,
                 "rank %" PRIu32
                 " says that it has got what was not sent, or has not got what its NIC "
                 "has acknowledged; it is treated as failed",
                 peer->id);
        ct_ib_peer_lose(peer, CTRAN_ERR_INTERN);
        return false;
    }
    if (peer->phase != CT_IB_SYNCING) {
        return false;
    }
    if (!ct_ib_qpset_connect(set, sync)) { /* some may be connected, which cannot be done twice */
        ib_peer_renew(peer, peer->path);
        return false;
    }
    peer->has_theirs = true;
    return true;
}

void ct_ib_peer_on_sync(struct ct_ib_peer *peer, const struct ct_ib_cm *sync)
{
    if ((int32_t)(sync->epoch - peer->epoch) > 0) {
        if (ct_ib_path_local(peer, sync->path, 0) < 0 ||
            ct_ib_path_remote(peer, sync->path, 0) < 0) {
            return;
        }
        peer->parking = false;
        ct_ib_peer_restart(peer, sync->path, sync->epoch);
    }
    if (sync->epoch != peer->epoch || sync->path != peer->path ||
        (peer->phase != CT_IB_SYNCING && peer->phase != CT_IB_OPEN)) {
        return; /* it will be repeated */
    }
    if (peer->phase == CT_IB_SYNCING && !peer->has_theirs && !take_theirs(peer, sync)) {
        return;
    }
    if (peer->phase == CT_IB_SYNCING && (sync->flags & CT_IB_HAS_YOURS) != 0) {
        open_up(peer);
    }
    if ((sync->flags & CT_IB_IS_OPEN) == 0) {
        send_sync(peer);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void ib_peer_give_up(struct ct_ib_peer *peer)
{
    struct ct_ib *t = peer->t;
    t->counters.timeouts++;
    if (!peer->left) {
        ct_error(t->env.log,
                 "rank %" PRIu32 " cannot be reached by ib: no answer for %" PRId64
                 " ms (CTRAN_IB_TIMEOUT) on any path. Has it died, or do the ports of both hosts "
                 "belong to networks that are not joined (CTRAN_IB_DEVICES, CTRAN_IB_GID_INDEX)?",
                 peer->id, t->env.cfg->ib_timeout);
    }
    ct_ib_peer_lose(peer, CTRAN_ERR_PROC_FAILED);
}

static void try_on(struct ct_ib_peer *peer, uint64_t now)
{
    const struct ct_config *cfg = peer->t->env.cfg;
    if (now - peer->down_ns > (uint64_t)cfg->ib_timeout * CT_NS_PER_MS) {
        ib_peer_give_up(peer);
        return;
    }
    if (now - peer->try_ns > (uint64_t)cfg->ib_failover_try * CT_NS_PER_MS) {
        const uint8_t next = ct_ib_path_next(peer, peer->path);
        peer->try_ns = now;
        if (next != peer->path || peer->has_theirs) { /* a half-open one begins anew */
            ct_ib_peer_restart(peer, next, 0);
            return;
        }
    }
    ib_peer_step(peer);
}

void ct_ib_peer_timer(struct ct_ib_peer *peer, uint64_t now)
{
    ct_list_remove(&peer->timed);
    peer->again_ns = 0;
    if (peer->phase == CT_IB_SYNCING) {
        try_on(peer, now);
    } else if (peer->phase == CT_IB_OPEN) {
        ct_ib_path_timer(peer, now);
    }
}
