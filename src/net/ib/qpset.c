/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue pairs of a connection on one path, from their making to their end.
 *
 * To drain them means: put them into the state of error, so that the NIC takes nothing more for
 * them, and post a last request to each, a marker. When the marker comes back all completions
 * before it have been treated: then it is known what has arrived, and nothing can arrive any more.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <stdlib.h>

#include "net/ib/ib.h"

enum { RNR_TIMER = 6 /* 80 us */, RNR_FOR_EVER = 7, HOPS = 64 };

/* ---- the port's table ------------------------------------------------------------------------ */

static void ib_qpset_enter(struct ct_ib_port *port, struct ct_ib_qp *qp)
{
    uint32_t i = qp->qp->qp_num;
    while (port->qps[i & port->qps_mask] != NULL) {
        i++;
    }
    port->qps[i & port->qps_mask] = qp;
    port->nqps++;
}

/* Twice as large where it is half full. False: no memory. */
static bool ib_qpset_make_room(struct ct_ib_port *port)
{
    if (2 * (port->nqps + 1) <= port->qps_mask) {
        return true;
    }
    struct ct_ib_qp **old = port->qps;
    const uint32_t    n = port->qps_mask + 1;
    port->qps = calloc(2 * (size_t)n, sizeof *port->qps);
    if (port->qps == NULL) {
        port->qps = old;
        return false;
    }
    port->qps_mask = 2 * n - 1;
    port->nqps = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (old[i] != NULL) {
            ib_qpset_enter(port, old[i]);
        }
    }
    free(old);
    return true;
}

/* Those behind it in its run move up. */
static void ib_qpset_leave(struct ct_ib_port *port, const struct ct_ib_qp *qp)
{
    uint32_t i = qp->qp->qp_num;
    while (port->qps[i & port->qps_mask] != qp) {
        i++;
    }
    port->qps[i & port->qps_mask] = NULL;
    port->nqps--;
    for (uint32_t j = i + 1; port->qps[j & port->qps_mask] != NULL; j++) {
        struct ct_ib_qp *next = port->qps[j & port->qps_mask];
        port->qps[j & port->qps_mask] = NULL;
        port->nqps--;
        ib_qpset_enter(port, next);
    }
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool to_init(struct ct_ib_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = qp->port->number,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                                  IBV_ACCESS_REMOTE_ATOMIC};
    return qp->port->t->v->modify_qp(qp->qp, &attr,
                                     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                         IBV_QP_ACCESS_FLAGS) == 0;
}

/* A number that both ends know, and that no other epoch of the connection has. */
static uint32_t first_psn(uint64_t instance, uint32_t epoch, uint32_t index)
{
    uint64_t x = instance ^ (uint64_t)epoch << 32 ^ index;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    return (uint32_t)((x ^ x >> 33) & 0xffffff);
}

static void fill_address(const struct ct_ib_qp *qp, const struct ct_ib_where *to,
                         struct ibv_ah_attr *ah)
{
    const struct ct_ib_port *port = qp->port;
    const struct ct_ib_peer *peer = qp->set->peer;
    *ah = (struct ibv_ah_attr){.dlid = to->lid,
                               .sl = (uint8_t)port->t->env.cfg->ib_service_level,
                               .port_num = port->number};
    if ((port->where.flags & CT_IB_ETHERNET) != 0 ||
        memcmp(port->where.gid, to->gid, 8) != 0) { /* another subnet */
        ah->is_global = 1;
        memcpy(ah->grh.dgid.raw, to->gid, sizeof to->gid);
        ah->grh.sgid_index = (uint8_t)port->gid_index;
        ah->grh.hop_limit = HOPS;
        ah->grh.traffic_class = (uint8_t)peer->limits->traffic_class;
    }
}

static bool to_ready(struct ct_ib_qp *qp, const struct ct_ib_cm *sync)
{
    const struct ct_ib_port  *port = qp->port;
    const struct ct_ib_peer  *peer = qp->set->peer;
    const struct ct_config   *cfg = port->t->env.cfg;
    const struct ct_ib_where *to = &peer->addr.ports[qp->remote];
    const uint8_t             reads = (uint8_t)port->max_reads;
    struct ibv_qp_attr        attr = {
               .qp_state = IBV_QPS_RTR,
               .path_mtu = (enum ibv_mtu)(to->mtu < port->where.mtu ? to->mtu : port->where.mtu),
               .dest_qp_num = sync->qpn[qp->index],
               .rq_psn = first_psn(peer->addr.instance, peer->epoch, qp->index),
               .max_dest_rd_atomic = reads,
               .min_rnr_timer = RNR_TIMER};
    fill_address(qp, to, &attr.ah_attr);
    if (port->t->v->modify_qp(qp->qp, &attr,
                              IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                  IBV_QP_MIN_RNR_TIMER) != 0) {
        return false;
    }
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .sq_psn = first_psn(port->t->addr.instance, peer->epoch, qp->index),
                                .timeout = (uint8_t)cfg->ib_ack_timeout,
                                .retry_cnt = (uint8_t)cfg->ib_retries,
                                .rnr_retry = RNR_FOR_EVER,
                                .max_rd_atomic = reads};
    return port->t->v->modify_qp(qp->qp, &attr,
                                 IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) ==
           0;
}

bool ct_ib_qpset_connect(struct ct_ib_qpset *set, const struct ct_ib_cm *sync)
{
    for (uint32_t i = 0; i < set->peer->nqps; i++) {
        set->qp[i].remote = (uint32_t)ct_ib_path_remote(set->peer, set->path, i);
        if (!to_ready(&set->qp[i], sync)) {
            ct_warn(set->t->env.log,
                    "a queue pair of port %s cannot be connected to rank %u: %s; it is tried again",
                    set->qp[i].port->name, set->peer->id, strerror(errno));
            return false;
        }
    }
    set->state = CT_IB_QPSET_READY;
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct ibv_qp *ib_qpset_create(struct ct_ib_port *port, uint32_t depth, bool is_control,
                                      uint32_t inline_bytes)
{
    struct ibv_qp_init_attr init = {
        .send_cq = port->cq,
        .recv_cq = port->cq,
        .srq = is_control ? port->messages : port->writes,
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = depth + CT_IB_SPARE,
                .max_send_sge = CT_IB_SGES,
                .max_inline_data = inline_bytes},
    };
    return port->t->v->create_qp(port->pd, &init);
}

static bool make_qp(struct ct_ib_qp *qp)
{
    struct ct_ib_port *port = qp->port;
    const uint32_t     depth = qp->set->depth;
    qp->mask = 1;
    while (qp->mask < depth + CT_IB_SPARE) {
        qp->mask = 2 * qp->mask + 1;
    }
    qp->requests = calloc((size_t)qp->mask + 1, sizeof *qp->requests);
    if (qp->requests == NULL || !ib_qpset_make_room(port)) {
        errno = ENOMEM;
        return false;
    }
    qp->qp = ib_qpset_create(port, depth, qp->index == 0, port->max_inline);
    if (qp->qp == NULL && port->max_inline > 0) {
        qp->qp = ib_qpset_create(port, depth, qp->index == 0, 0);
        port->max_inline = qp->qp != NULL ? 0 : port->max_inline;
    }
    if (qp->qp == NULL) {
        return false;
    }
    ib_qpset_enter(port, qp);
    port->nmade++;
    return to_init(qp);
}

static bool has_qps_left(struct ct_ib_peer *peer, uint8_t path, uint32_t n)
{
    struct ct_ib *t = peer->t;
    for (uint32_t i = 0; i < n; i++) {
        const struct ct_ib_port *port = t->ports[ct_ib_path_local(peer, path, i)];
        if (port->nmade + n > (uint32_t)t->env.cfg->ib_max_qps) {
            return false;
        }
    }
    return true;
}

/* Whether another peer has waited for queue pairs for longer. */
static bool has_elder(const struct ct_ib_peer *peer)
{
    for (const struct ct_ib_peer *p = peer->t->peers; p != NULL; p = p->hh.next) {
        if (p->phase == CT_IB_SYNCING && p->sets[p->path] == NULL && p->down_ns < peer->down_ns) {
            return true;
        }
    }
    return false;
}

struct ct_ib_qpset *ct_ib_qpset_make(struct ct_ib_peer *peer, uint8_t path, uint32_t n)
{
    struct ct_ib  *t = peer->t;
    const uint32_t needed = has_elder(peer) ? 2 * n : n; /* some are left for the elder */
    if (!has_qps_left(peer, path, needed)) {
        (void)ct_ib_peer_evict(peer);
        return NULL;
    }
    struct ct_ib_qpset *set = calloc(1, sizeof *set + n * sizeof set->qp[0]);
    if (set == NULL) {
        return NULL;
    }
    *set = (struct ct_ib_qpset){.t = t, .peer = peer, .path = path, .n = n};
    set->depth = 2 * peer->limits->outstanding;
    set->depth = set->depth > CT_IB_DEPTH ? set->depth : CT_IB_DEPTH;
    ct_list_init(&set->node);
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        struct ct_ib_qp *qp = &set->qp[i];
        *qp = (struct ct_ib_qp){
            .port = t->ports[ct_ib_path_local(peer, path, i)], .set = set, .index = i};
        ok = ok && make_qp(qp);
    }
    if (!ok) {
        ct_warn(t->env.log, "a queue pair cannot be made: %s; see CTRAN_IB_MAX_QPS",
                strerror(errno));
        ct_ib_qpset_destroy(set);
        return NULL;
    }
    set->state = CT_IB_QPSET_INIT;
    return set;
}

void ct_ib_qpset_destroy(struct ct_ib_qpset *set)
{
    for (uint32_t i = 0; i < set->n; i++) {
        struct ct_ib_qp *qp = &set->qp[i];
        if (qp->qp != NULL) {
            qp->port->under_way -= ct_ib_qp_under_way(qp);
            ib_qpset_leave(qp->port, qp);
            qp->port->nmade--;
            (void)set->t->v->destroy_qp(qp->qp);
        }
        free(qp->requests);
    }
    ct_list_remove(&set->node);
    free(set);
}

static void forget_requests(struct ct_ib_qp *qp)
{
    qp->port->under_way -= ct_ib_qp_under_way(qp);
    qp->head = qp->tail = qp->heavy = 0;
    qp->first = qp->last = NULL;
    qp->dead = qp->marked = qp->broken = false;
}

bool ct_ib_qpset_reset(struct ct_ib_qpset *set)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    for (uint32_t i = 0; i < set->n; i++) {
        struct ct_ib_qp *qp = &set->qp[i];
        forget_requests(qp);
        if (qp->port->dead) {
            return false; /* old completions could be taken for new ones */
        }
        if (set->t->v->modify_qp(qp->qp, &attr, IBV_QP_STATE) != 0 || !to_init(qp)) {
            ct_warn(set->t->env.log, "a queue pair of port %s cannot be reset: %s", qp->port->name,
                    strerror(errno));
            return false;
        }
    }
    set->state = CT_IB_QPSET_INIT;
    return true;
}

/* ---- draining -------------------------------------------------------------------------------- */

/* Whether it is on its way. */
static bool post_marker(struct ct_ib_qp *qp)
{
    const uint32_t     number = qp->tail;
    struct ibv_send_wr wr = {.wr_id = number, .opcode = IBV_WR_RDMA_WRITE}, *bad;
    qp->requests[number & qp->mask] = (struct ct_ib_request){.work = CT_IB_WORK_MARKER};
    if (ibv_post_send(qp->qp, &wr, &bad) != 0) {
        return false;
    }
    qp->tail++;
    qp->port->under_way++;
    return true;
}

static void ib_qpset_drain(struct ct_ib_qpset *set)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    const bool         ready = set->state == CT_IB_QPSET_READY;
    if (set->state == CT_IB_QPSET_DRAINING) {
        return;
    }
    set->state = CT_IB_QPSET_DRAINING;
    set->markers = 0;
    set->built = NULL;
    for (uint32_t i = 0; ready && i < set->n; i++) {
        struct ct_ib_qp *qp = &set->qp[i];
        qp->first = qp->last = NULL;
        qp->dead = true;
        qp->marked = set->t->v->modify_qp(qp->qp, &attr, IBV_QP_STATE) == 0 && !qp->port->dead &&
                     post_marker(qp);
        set->markers += qp->marked;
    }
}

void ct_ib_qpset_drain(struct ct_ib_qpset *set)
{
    ib_qpset_drain(set);
    if (set->markers == 0) {
        ct_ib_peer_drained(set->peer);
    }
}

void ct_ib_qpset_drop(struct ct_ib_qpset *set)
{
    ib_qpset_drain(set);
    set->peer = NULL;
    if (set->markers == 0) {
        ct_ib_qpset_destroy(set);
    } else {
        ct_list_append(&set->t->dying, &set->node);
    }
}

/* ---- posting --------------------------------------------------------------------------------- */

struct ibv_send_wr *ct_ib_qp_add(struct ct_ib_qp *qp, enum ct_ib_work work, uint32_t number,
                                 void *part, struct ibv_sge **sges)
{
    struct ct_ib *t = qp->port->t;
    if (t->nwrs == CT_IB_BATCH) {
        ct_ib_qpset_ring(qp->set);
    }
    struct ibv_send_wr *wr = &t->wrs[t->nwrs];
    *sges = t->sges[t->nwrs++];
    wr->wr_id = qp->tail;
    wr->next = NULL;
    wr->sg_list = *sges;
    wr->num_sge = 0;
    wr->send_flags = IBV_SEND_SIGNALED;
    qp->requests[qp->tail++ & qp->mask] = (struct ct_ib_request){work, number, part};
    qp->port->under_way++;
    if (qp->last != NULL) {
        qp->last->next = wr;
    } else {
        qp->first = wr;
        qp->built = qp->set->built;
        qp->set->built = qp;
    }
    qp->last = wr;
    return wr;
}

static void ib_qpset_ring(struct ct_ib_qp *qp)
{
    struct ibv_send_wr *bad, *first = qp->first;
    qp->first = qp->last = NULL;
    if (CT_UNLIKELY(ibv_post_send(qp->qp, first, &bad) != 0)) {
        ct_warn(qp->port->t->env.log, "port %s takes no request: %s", qp->port->name,
                strerror(errno));
        qp->broken = qp->port->t->broken = true; /* the next turn makes the connection anew */
    }
}

void ct_ib_qpset_ring(struct ct_ib_qpset *set)
{
    struct ct_ib_qp *qp = set->built;
    if (qp == NULL) {
        return;
    }
    set->built = NULL;
    for (; qp != NULL; qp = qp->built) {
        ib_qpset_ring(qp);
    }
    set->t->nwrs = 0;
}
