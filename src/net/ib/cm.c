/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams by which connections are made. Each goes over the path that it is about, so one that
 * comes proves that its direction works. Its tag proves that a holder of the job's key has written
 * it for this process: instances are random numbers, so nothing that was recorded is of use with
 * another process, and within one connection epochs only grow.
 */
#define CT_FOLDER "net"
#include <inttypes.h>

#include "net/ib/ib.h"

/* ---- sending --------------------------------------------------------------------------------- */

static void fill_ports(const struct ct_ib *t, struct ct_ib_cm *cm)
{
    cm->nports = (uint8_t)t->nports;
    for (unsigned i = 0; i < t->nports; i++) {
        cm->ports[i] = t->ports[i]->where;
    }
}

static void ib_cm_fill(const struct ct_ib_peer *peer, struct ct_ib_cm *cm, enum ct_ib_cm_type type,
                       uint8_t path, uint32_t epoch, uint8_t flags)
{
    const struct ct_ib       *t = peer->t;
    const struct ct_ib_qpset *set = type == CT_IB_CM_SYNC ? peer->sets[path] : NULL;
    memset(cm, 0, sizeof *cm);
    cm->magic = CT_IB_CM_MAGIC;
    cm->version = CT_IB_VERSION;
    cm->type = (uint8_t)type;
    cm->len_bytes = sizeof *cm;
    cm->from = t->env.id;
    cm->from_incarnation = t->env.incarnation;
    cm->to = peer->id;
    cm->epoch = epoch;
    cm->from_instance = t->addr.instance;
    cm->to_instance = peer->addr.instance;
    cm->path = path;
    cm->flags = flags;
    fill_ports(t, cm);
    cm->want_message = peer->message_want;
    cm->want_write = peer->order.next;
    cm->first_write = (uint32_t)t->env.cfg->ib_first_write;
    memcpy(cm->ahead, peer->order.ahead, sizeof cm->ahead);
    cm->nqps = set != NULL ? (uint8_t)set->n : 0;
    for (uint32_t i = 0; set != NULL && i < set->n; i++) {
        cm->qpn[i] = set->qp[i].qp->qp_num;
    }
    ct_auth_tag(&t->key, cm, offsetof(struct ct_ib_cm, tag), cm->tag, sizeof cm->tag);
}

static struct ibv_ah *ib_cm_address(struct ct_ib_port *port, const struct ct_ib_where *to)
{
    struct ibv_ah_attr attr = {.dlid = to->lid,
                               .sl = (uint8_t)port->t->env.cfg->ib_service_level,
                               .port_num = port->number};
    if ((port->where.flags & CT_IB_ETHERNET) != 0 || memcmp(port->where.gid, to->gid, 8) != 0) {
        attr.is_global = 1;
        memcpy(attr.grh.dgid.raw, to->gid, sizeof to->gid);
        attr.grh.sgid_index = (uint8_t)port->gid_index;
        attr.grh.hop_limit = 64;
    }
    return port->t->v->create_ah(port->pd, &attr);
}

static int ib_cm_free_slot(const struct ct_ib_port *port)
{
    for (int i = 0; i < CT_IB_DATAGRAMS_OUT; i++) {
        if (port->ud_out[i].ah == NULL) {
            return i;
        }
    }
    return -1;
}

/* One that cannot go now is lost, as others are: it will be sent again. */
void ct_ib_cm_send(struct ct_ib_peer *peer, enum ct_ib_cm_type type, uint8_t path, uint32_t epoch,
                   uint8_t flags)
{
    struct ct_ib *t = peer->t;
    const int     local = ct_ib_path_local(peer, path, 0);
    const int     remote = ct_ib_path_remote(peer, path, 0);
    if (local < 0 || remote < 0 || !t->ports[local]->up) {
        return;
    }
    struct ct_ib_port        *port = t->ports[local];
    const struct ct_ib_where *to = &peer->addr.ports[remote];
    const int                 slot = ib_cm_free_slot(port);
    struct ibv_ah            *ah = slot >= 0 ? ib_cm_address(port, to) : NULL;
    if (ah == NULL) {
        return;
    }
    const size_t     bytes = CT_IB_GRH + sizeof(struct ct_ib_cm);
    struct ct_ib_cm *cm = (void *)(port->ud_bytes + (size_t)(CT_IB_DATAGRAMS + slot) * bytes);
    ib_cm_fill(peer, cm, type, path, epoch, flags);
    struct ibv_sge     sge = {(uintptr_t)cm, sizeof *cm, port->ud_mr->lkey};
    struct ibv_send_wr wr = {.wr_id = (uint64_t)slot,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.ud = {ah, to->qpn, t->qkey}},
                       *bad;
    if (ibv_post_send(port->ud, &wr, &bad) == 0) {
        port->ud_out[slot].ah = ah;
    } else {
        (void)t->v->destroy_ah(ah);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Whether it says nothing that cannot be. */
static bool is_sound(const struct ct_ib *t, const struct ct_ib_cm *cm)
{
    return cm->magic == CT_IB_CM_MAGIC && cm->version == CT_IB_VERSION &&
           cm->len_bytes == sizeof *cm && cm->to == t->env.id &&
           cm->to_instance == t->addr.instance && cm->from - t->env.first < t->env.size &&
           cm->from != t->env.id && cm->path < 4 && cm->nports > 0 &&
           cm->nports <= CT_IB_MAX_PORTS && cm->nqps <= CT_IB_MOST_QPS &&
           cm->want_write <= CT_IB_SEQ_MASK && cm->first_write <= CT_IB_SEQ_MASK &&
           (cm->type != CT_IB_CM_SYNC || cm->nqps >= 2);
}

/* A peer that has sent a datagram first. */
static struct ct_ib_peer *ib_cm_meet(struct ct_ib *t, const struct ct_ib_cm *cm)
{
    size_t            len;
    struct ct_ib_addr addr = {0};
    void *cookie = t->closing ? NULL : t->env.peer(t->env.arg, cm->from, cm->from_incarnation);
    const void *bytes = cookie != NULL ? t->env.lookup(cookie, &t->net, &len) : NULL;
    if (bytes == NULL || t->net.ops->unreachable(&t->net, bytes, len) != NULL) {
        return NULL;
    }
    memcpy(&addr, bytes, len);
    return addr.instance == cm->from_instance ? ct_ib_peer_get(t, cm->from, cookie, &addr) : NULL;
}

static void learn_ports(struct ct_ib_peer *peer, const struct ct_ib_cm *cm)
{
    if (cm->nports == peer->addr.nports) {
        memcpy(peer->addr.ports, cm->ports, sizeof peer->addr.ports);
    }
}

static void ib_cm_handle(struct ct_ib_peer *peer, const struct ct_ib_cm *cm)
{
    learn_ports(peer, cm);
    peer->arrival_ns = peer->t->now();
    peer->waits = 0;
    switch (cm->type) {
    case CT_IB_CM_SYNC:
        ct_ib_peer_on_sync(peer, cm);
        break;
    case CT_IB_CM_PARK:
        ct_ib_peer_on_park(peer, cm->epoch);
        break;
    case CT_IB_CM_PING:
    case CT_IB_CM_PONG:
        ct_ib_path_on_ping(peer, cm);
        break;
    default:
        break;
    }
}

void ct_ib_cm_take(struct ct_ib *t, const void *bytes, size_t len_bytes)
{
    struct ct_ib_cm cm;
    if (len_bytes != sizeof cm) {
        t->counters.datagrams_bad++;
        return;
    }
    memcpy(&cm, bytes, sizeof cm);
    if (!is_sound(t, &cm) ||
        !ct_auth_tag_check(&t->key, &cm, offsetof(struct ct_ib_cm, tag), cm.tag, sizeof cm.tag)) {
        t->counters.datagrams_bad++;
        return;
    }
    struct ct_ib_peer *peer = ct_ib_peer_find(t, cm.from);
    peer = peer != NULL ? peer : ib_cm_meet(t, &cm);
    if (peer != NULL && peer->phase != CT_IB_OVER && !peer->left &&
        peer->addr.instance == cm.from_instance) {
        ib_cm_handle(peer, &cm);
    }
}
