/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which path a connection takes (ICCL sec. 3.3). A rank has a set of primary ports and maybe a
 * backup; a path joins a set of each side, so there are up to four. The first choice is primary to
 * primary, the second backup to backup, which stays on one rail; then the mixed ones.
 *
 * A path is left when
 *   - a request of this side fails (retries are over), or a port of this side goes down;
 *   - the other side begins a new epoch;
 *   - this side waits for the peer, has heard nothing for CTRAN_IB_PROBE, and a probe fails (a
 *     request without data): then the direction to the peer was broken.
 * On another path than the first, each side asks on the first path every CTRAN_IB_FAILBACK, once
 * its own ports there are up; when the peer answers there, the connection goes back.
 */
#define CT_FOLDER "net"
#include <inttypes.h>

#include "net/ib/ib.h"

static const uint8_t preference[4] = {0, 3, 1, 2};

/* ---- sets of ports --------------------------------------------------------------------------- */

static bool is_backup(const struct ct_ib_peer *peer, uint8_t path, bool of_peer)
{
    const bool own_is_lower = peer->t->env.id < peer->id;
    return (path >> (own_is_lower == of_peer ? 1 : 0) & 1) != 0;
}

static int port_of(bool backup, unsigned nports, unsigned nprimary, uint32_t index)
{
    const unsigned n = backup ? nports - nprimary : nprimary;
    return n > 0 ? (int)((backup ? nprimary : 0) + index % n) : -1;
}

int ct_ib_path_local(const struct ct_ib_peer *peer, uint8_t path, uint32_t index)
{
    return port_of(is_backup(peer, path, false), peer->t->nports, peer->t->nprimary, index);
}

int ct_ib_path_remote(const struct ct_ib_peer *peer, uint8_t path, uint32_t index)
{
    return port_of(is_backup(peer, path, true), peer->addr.nports, peer->addr.nprimary, index);
}

bool ct_ib_path_usable(const struct ct_ib_peer *peer, uint8_t path)
{
    const struct ct_ib *t = peer->t;
    const bool          backup = is_backup(peer, path, false);
    const unsigned      from = backup ? t->nprimary : 0, to = backup ? t->nports : t->nprimary;
    bool                up = ct_ib_path_remote(peer, path, 0) >= 0 && from < to;
    for (unsigned i = from; i < to; i++) {
        up = up && t->ports[i]->up;
    }
    return up;
}

/* As the peer has told last. */
static bool is_up_there(const struct ct_ib_peer *peer, uint8_t path)
{
    const bool     backup = is_backup(peer, path, true);
    const unsigned from = backup ? peer->addr.nprimary : 0;
    const unsigned to = backup ? peer->addr.nports : peer->addr.nprimary;
    bool           up = true;
    for (unsigned i = from; i < to; i++) {
        up = up && (peer->addr.ports[i].flags & CT_IB_UP) != 0;
    }
    return up;
}

bool ct_ib_path_has_backup(const struct ct_ib_peer *peer)
{
    return peer->t->env.cfg->ib_failover &&
           (peer->t->nports > peer->t->nprimary || peer->addr.nports > peer->addr.nprimary);
}

static unsigned ib_path_place_of(uint8_t path)
{
    unsigned at = 0;
    while (preference[at] != path) {
        at++;
    }
    return at;
}

uint8_t ct_ib_path_next(const struct ct_ib_peer *peer, uint8_t path)
{
    const unsigned at = ib_path_place_of(path);
    for (unsigned strict = 1; strict < 2; strict--) {
        for (unsigned i = 1; i <= 4; i++) {
            const uint8_t next = preference[(at + i) % 4];
            if (ct_ib_path_usable(peer, next) && (strict == 0 || is_up_there(peer, next))) {
                return next;
            }
        }
    }
    return path;
}

static uint64_t ib_path_ms(int64_t value)
{
    return (uint64_t)value * CT_NS_PER_MS;
}

/* ---- failover -------------------------------------------------------------------------------- */

static const char *local_name(const struct ct_ib_peer *peer, uint8_t path)
{
    const int local = ct_ib_path_local(peer, path, 0);
    return local >= 0 ? peer->t->ports[local]->name : "none";
}

void ct_ib_path_failed(struct ct_ib_peer *peer, const char *why)
{
    struct ct_ib *t = peer->t;
    if (peer->left) {
        return;
    }
    if (peer->refused) { /* the path is good, but the queue pairs are not */
        ct_debug(t->env.log, "rank %" PRIu32 " has refused an operation: %s", peer->id, why);
        ct_ib_peer_restart(peer, peer->path, 0);
        return;
    }
    const uint8_t next = ct_ib_path_next(peer, peer->path);
    if (next != peer->path) {
        t->counters.failovers++;
        ct_warn(t->env.log,
                "rank %" PRIu32 ": the path by port %s has failed (%s); port %s takes over",
                peer->id, local_name(peer, peer->path), why, local_name(peer, next));
    } else {
        ct_warn(t->env.log,
                "rank %" PRIu32 ": the path by port %s has failed (%s); it is tried again for "
                "%" PRId64 " ms (CTRAN_IB_TIMEOUT), as there is no other",
                peer->id, local_name(peer, peer->path), why, t->env.cfg->ib_timeout);
    }
    ct_ib_peer_restart(peer, next, 0);
}

/* The peer has asked for something that this NIC refuses. The peer learns that from the NIC, and is
 * left the time to begin the next epoch: were this side first, the peer would not know which of its
 * operations was refused. */
void ct_ib_path_flushed(struct ct_ib_peer *peer)
{
    if (peer->flushed_ns == 0) {
        peer->flushed_ns = peer->t->now();
        ct_ib_peer_schedule(peer, peer->flushed_ns + ib_path_ms(peer->t->env.cfg->ib_failover_try));
    }
}

void ct_ib_path_opened(struct ct_ib_peer *peer)
{
    const struct ct_ib *t = peer->t;
    peer->flushed_ns = 0;
    if (peer->path != 0) {
        ct_info(t->env.log,
                "rank %" PRIu32 ": connected by port %s on path %u after %" PRIu64 " us", peer->id,
                local_name(peer, peer->path), peer->path, (t->now() - peer->down_ns) / 1000);
        if (t->env.cfg->ib_failback > 0) {
            ct_ib_peer_schedule(peer, t->now() + ib_path_ms(t->env.cfg->ib_failback));
        }
    }
}

/* ---- failback -------------------------------------------------------------------------------- */

void ct_ib_path_timer(struct ct_ib_peer *peer, uint64_t now)
{
    const int64_t every = peer->t->env.cfg->ib_failback;
    if (peer->flushed_ns != 0) {
        ct_ib_peer_restart(peer, peer->path, 0);
        return;
    }
    if (peer->path == 0 || every == 0) {
        return;
    }
    if (ct_ib_path_usable(peer, 0)) {
        ct_ib_cm_send(peer, CT_IB_CM_PING, 0, peer->epoch, 0);
    }
    ct_ib_peer_schedule(peer, now + ib_path_ms(every));
}

void ct_ib_path_on_ping(struct ct_ib_peer *peer, const struct ct_ib_cm *ping)
{
    struct ct_ib *t = peer->t;
    if (ping->type == CT_IB_CM_PING) {
        if (ct_ib_path_usable(peer, ping->path)) {
            ct_ib_cm_send(peer, CT_IB_CM_PONG, ping->path, ping->epoch, 0);
        }
        return;
    }
    if (ping->path == 0 && peer->path != 0 && peer->phase == CT_IB_OPEN &&
        ping->epoch == peer->epoch) {
        t->counters.failbacks++;
        ct_warn(t->env.log, "rank %" PRIu32 ": port %s works again and takes over from port %s",
                peer->id, local_name(peer, 0), local_name(peer, peer->path));
        ct_ib_peer_restart(peer, 0, 0);
    }
}

/* ---- probes ---------------------------------------------------------------------------------- */

static void ib_path_probe(struct ct_ib_peer *peer, uint64_t now)
{
    struct ct_ib_qpset *set = ct_ib_peer_qpset(peer);
    struct ct_ib_qp    *qp = &set->qp[0];
    struct ibv_sge     *sges;
    if (!ct_ib_qp_has_room(qp) || ct_ib_qp_under_way(qp) > 0) {
        return; /* what is under way will tell */
    }
    struct ibv_send_wr *wr = ct_ib_qp_add(qp, CT_IB_WORK_PROBE, 0, NULL, &sges);
    wr->opcode = IBV_WR_RDMA_WRITE; /* of no bytes: no key is looked at */
    wr->wr.rdma.remote_addr = 0;
    wr->wr.rdma.rkey = 0;
    ct_ib_qpset_ring(set);
    peer->probed_ns = now;
    peer->t->counters.probes++;
    ct_debug(peer->t->env.log, "rank %" PRIu32 " is silent: its path is probed", peer->id);
}

/* Called now and then by a process that waits. */
void ct_ib_path_probe(struct ct_ib *t)
{
    const uint64_t now = t->now(), after = ib_path_ms(t->env.cfg->ib_probe);
    for (struct ct_ib_peer *peer = t->peers; peer != NULL && after > 0; peer = peer->hh.next) {
        if (peer->phase == CT_IB_OPEN && now - peer->arrival_ns > after &&
            now - peer->probed_ns > after) {
            ib_path_probe(peer, now);
        }
    }
}

/* ---- events of devices ----------------------------------------------------------------------- */

/* Peers are told of addresses that have changed, by the paths that work. */
static void tell_peers(struct ct_ib *t)
{
    for (struct ct_ib_peer *peer = t->peers; peer != NULL; peer = peer->hh.next) {
        if (peer->phase == CT_IB_OPEN) {
            ct_ib_cm_send(peer, CT_IB_CM_PING, peer->path, peer->epoch, 0);
        }
    }
}

static bool ib_path_uses(const struct ct_ib_peer *peer, const struct ct_ib_port *port)
{
    const struct ct_ib_qpset *set = ct_ib_peer_qpset(peer);
    bool                      found = false;
    for (uint32_t i = 0; set != NULL && i < set->n; i++) {
        found = found || set->qp[i].port == port;
    }
    return found;
}

static void leave_port(struct ct_ib_port *port, const char *why)
{
    struct ct_ib_peer *peer, *next;
    HASH_ITER (hh, port->t->peers, peer, next) {
        if (peer->phase == CT_IB_OPEN && ib_path_uses(peer, port)) {
            ct_ib_path_failed(peer, why);
        }
    }
}

static void ib_path_look_at(struct ct_ib_port *port)
{
    struct ct_ib *t = port->t;
    const bool    was_up = port->up;
    uint8_t       gid[16];
    memcpy(gid, port->where.gid, sizeof gid);
    if (!ct_ib_port_look(port)) {
        return;
    }
    const bool moved = memcmp(gid, port->where.gid, sizeof gid) != 0;
    if (was_up != port->up) {
        t->counters.port_ups += port->up;
        t->counters.port_downs += !port->up;
        ct_warn(t->env.log, "RDMA port %s is %s", port->name, port->up ? "up again" : "down");
    }
    if (moved) {
        t->counters.gid_changes++;
        ct_warn(t->env.log, "RDMA port %s has another GID", port->name);
    }
    if (!port->up) {
        leave_port(port, "the port is down");
    } else if (moved) {
        leave_port(port, "the port has another GID");
    }
    tell_peers(t);
}

static void ib_path_die(struct ct_ib_port *port, const char *what)
{
    ct_error(port->t->env.log, "%s of RDMA port %s has failed for good; the port is used no more",
             what, port->name);
    ct_ib_port_die(port);
    ib_path_look_at(port);
}

static void ib_path_handle(struct ct_ib_port *port, const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
        ib_path_look_at(port);
        break;
    case IBV_EVENT_DEVICE_FATAL:
        ib_path_die(port, "the NIC");
        break;
    case IBV_EVENT_CQ_ERR: /* no completion comes any more */
        ib_path_die(port, "the completion queue");
        break;
    case IBV_EVENT_SRQ_ERR:
        ib_path_die(port, "a receive queue");
        break;
    default: /* of queue pairs: completions tell more */
        break;
    }
}

unsigned ct_ib_path_events(struct ct_ib *t)
{
    unsigned n = 0;
    for (unsigned i = 0; i < t->nports; i++) {
        struct ct_ib_port     *port = t->ports[i];
        struct ibv_async_event event;
        while (t->v->get_async_event(port->ctx, &event) == 0) {
            t->v->ack_async_event(&event);
            ib_path_handle(port, &event);
            n++;
        }
    }
    return n;
}
