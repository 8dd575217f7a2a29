/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port of a NIC: one completion queue for all, two shared receive queues (messages with buffers;
 * writes without), one queue pair for datagrams. Nothing is allocated after opening but the table
 * of queue pairs.
 */
#define CT_FOLDER "net"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "net/ib/ib.h"

/* What a receive's wr_id is; those of send requests are numbers of 32 bits. */
#define OF_MESSAGE  (UINT64_C(1) << 62)
#define OF_WRITE    (UINT64_C(2) << 62)
#define OF_DATAGRAM (UINT64_C(3) << 62)
#define KINDS       (UINT64_C(3) << 62)

enum { CHAIN = 64, DATAGRAM = CT_IB_GRH + sizeof(struct ct_ib_cm) };

/* ---- what the port is like ------------------------------------------------------------------- */

static bool is_v2_ipv4(const union ibv_gid *gid)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

static bool is_zero(const union ibv_gid *gid)
{
    static const union ibv_gid none;
    return memcmp(gid, &none, sizeof none) == 0;
}

/* The GID table has RoCE v1 and v2 of an address next to each other, v2 last; there is no call for
 * a GID's type that all libraries have, so sysfs says it where it is there. */
static bool is_v1(const struct ct_ib_port *port, int index)
{
    char path[256], type[16] = "";
    (void)snprintf(path, sizeof path, "/sys/class/infiniband/%.*s/ports/%u/gid_attrs/types/%d",
                   (int)strcspn(port->name, ":"), port->name, port->number, index);
    const int     fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, type, sizeof type - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return n > 0 && strncmp(type, "RoCE v2", 7) != 0;
}

static int choose_gid(const struct ct_ib_port *port, const struct ibv_port_attr *attr)
{
    const struct ct_ib_verbs *v = port->t->v;
    const int64_t             asked = port->t->env.cfg->ib_gid_index;
    union ibv_gid             gid;
    if (asked >= 0 || attr->link_layer != IBV_LINK_LAYER_ETHERNET) {
        return asked >= 0 ? (int)asked : 0;
    }
    int best = 0;
    for (int i = 0; i < attr->gid_tbl_len; i++) {
        if (v->query_gid(port->ctx, port->number, i, &gid) == 0 && !is_zero(&gid) &&
            is_v2_ipv4(&gid) && !is_v1(port, i)) {
            best = i;
        }
    }
    return best;
}

static enum ibv_mtu mtu_of(const struct ct_ib_port *port, enum ibv_mtu active)
{
    const int64_t most = port->t->env.cfg->ib_mtu;
    enum ibv_mtu  mtu = active;
    while (most > 0 && mtu > IBV_MTU_256 && (INT64_C(128) << mtu) > most) {
        mtu = (enum ibv_mtu)(mtu - 1);
    }
    return mtu;
}

bool ct_ib_port_look(struct ct_ib_port *port)
{
    const struct ct_ib_verbs *v = port->t->v;
    struct ct_ib_where        now = port->where;
    struct ibv_port_attr      attr;
    union ibv_gid             gid;
    memset(&attr, 0, sizeof attr);
    if (v->query_port(port->ctx, port->number, &attr) != 0) {
        port->up = false;
        port->where.flags &= (uint8_t)~CT_IB_UP;
        return true;
    }
    port->gid_index = choose_gid(port, &attr);
    const bool ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
    const bool up = attr.state == IBV_PORT_ACTIVE && !port->dead;
    memset(&gid, 0, sizeof gid);
    (void)v->query_gid(port->ctx, port->number, port->gid_index, &gid);
    memcpy(now.gid, gid.raw, sizeof now.gid);
    now.lid = attr.lid;
    now.mtu = (uint8_t)mtu_of(port, attr.active_mtu);
    now.flags = (uint8_t)((ethernet ? CT_IB_ETHERNET : 0) | (up ? CT_IB_UP : 0));
    const bool changed = memcmp(&now, &port->where, sizeof now) != 0 || port->up != up;
    port->where = now;
    port->up = up;
    return changed;
}

/* ---- receives -------------------------------------------------------------------------------- */

static void post_message_buffer(struct ct_ib_port *port, uint64_t index)
{
    const struct ct_ib *t = port->t;
    struct ibv_sge      sge = {(uintptr_t)port->in + index * t->buf_bytes, t->buf_bytes,
                               port->in_mr->lkey};
    struct ibv_recv_wr  wr = {.wr_id = OF_MESSAGE | index, .sg_list = &sge, .num_sge = 1}, *bad;
    (void)ibv_post_srq_recv(port->messages, &wr, &bad); /* it was there before */
}

/* In chains: each write of a peer takes one. */
static void post_writes(struct ct_ib_port *port, uint32_t n)
{
    struct ibv_recv_wr wr[CHAIN], *bad;
    while (n > 0) {
        const uint32_t now = n < CHAIN ? n : CHAIN;
        for (uint32_t i = 0; i < now; i++) {
            wr[i] =
                (struct ibv_recv_wr){.wr_id = OF_WRITE, .next = i + 1 < now ? &wr[i + 1] : NULL};
        }
        (void)ibv_post_srq_recv(port->writes, wr, &bad);
        n -= now;
    }
}

static void post_datagram_buffer(struct ct_ib_port *port, uint64_t index)
{
    struct ibv_sge     sge = {(uintptr_t)port->ud_bytes + index * DATAGRAM, DATAGRAM,
                              port->ud_mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = OF_DATAGRAM | index, .sg_list = &sge, .num_sge = 1}, *bad;
    (void)ibv_post_recv(port->ud, &wr, &bad);
}

/* ---- completions ----------------------------------------------------------------------------- */

static struct ct_ib_qp *find_qp(const struct ct_ib_port *port, uint32_t number)
{
    for (uint32_t i = number;; i++) {
        struct ct_ib_qp *qp = port->qps[i & port->qps_mask];
        if (qp == NULL || qp->qp->qp_num == number) {
            return qp;
        }
    }
}

static void ib_port_on_message(struct ct_ib_port *port, const struct ibv_wc *wc)
{
    const uint64_t   index = wc->wr_id & ~KINDS;
    struct ct_ib_qp *qp = find_qp(port, wc->qp_num);
    if (qp != NULL && qp->set->peer != NULL && wc->status == IBV_WC_SUCCESS) {
        ct_ib_message_take(qp->set->peer, port->in + index * port->t->buf_bytes, wc->byte_len);
    }
    post_message_buffer(port, index);
}

/* False: not now. */
static bool on_write(struct ct_ib_port *port, const struct ibv_wc *wc)
{
    struct ct_ib_qp *qp = find_qp(port, wc->qp_num);
    if (qp != NULL && qp->set->peer != NULL && wc->status == IBV_WC_SUCCESS &&
        !ct_ib_write_take(qp->set->peer, be32toh(wc->imm_data))) {
        return false;
    }
    if (++port->writes_owed == CHAIN) {
        post_writes(port, port->writes_owed);
        port->writes_owed = 0;
    }
    return true;
}

static void on_datagram(struct ct_ib_port *port, const struct ibv_wc *wc)
{
    const uint64_t index = wc->wr_id & ~KINDS;
    if (wc->status == IBV_WC_SUCCESS && wc->byte_len > CT_IB_GRH) {
        ct_ib_cm_take(port->t, port->ud_bytes + index * DATAGRAM + CT_IB_GRH,
                      wc->byte_len - CT_IB_GRH);
    }
    post_datagram_buffer(port, index);
}

static void on_datagram_sent(struct ct_ib_port *port, const struct ibv_wc *wc)
{
    struct ct_ib_datagram *out = &port->ud_out[wc->wr_id % CT_IB_DATAGRAMS_OUT];
    if (out->ah != NULL) {
        (void)port->t->v->destroy_ah(out->ah);
        out->ah = NULL;
    }
}

/* The requests of a queue pair that end with this one have been carried out. */
static void on_done(struct ct_ib_qp *qp, uint32_t number)
{
    struct ct_ib_peer *peer = qp->set->peer;
    while ((int32_t)(number - qp->head) >= 0 && qp->head != qp->tail) {
        const struct ct_ib_request r = qp->requests[qp->head++ & qp->mask];
        qp->port->under_way--;
        if (peer == NULL) {
            continue;
        }
        if (r.work == CT_IB_WORK_WRITE) {
            qp->heavy -= peer->writes[r.number & peer->writes_mask].heavy;
            ct_ib_write_acked(peer, r.number);
        } else if (r.work == CT_IB_WORK_READ) {
            struct ct_ib_read *read = r.part;
            qp->heavy -= read->heavy;
            ct_ib_read_done(read, CTRAN_SUCCESS);
        } else if (r.work == CT_IB_WORK_MESSAGE) {
            (void)ct_ib_message_acked(peer, r.number + 1);
        }
        peer = qp->set->peer; /* a completion may have ended it */
    }
}

/* A marker has come back: nothing of the queue pair is under way any more. */
static void on_marker(struct ct_ib_qp *qp)
{
    struct ct_ib_qpset *set = qp->set;
    if (!qp->marked) {
        return;
    }
    qp->marked = false;
    if (--set->markers > 0) {
        return;
    }
    if (set->peer != NULL) {
        ct_ib_peer_drained(set->peer);
    } else {
        ct_ib_qpset_destroy(set);
    }
}

static struct ct_ib_qp *find_marked(const struct ct_ib_port *port)
{
    for (uint32_t i = 0; i <= port->qps_mask; i++) {
        if (port->qps[i] != NULL && port->qps[i]->marked) {
            return port->qps[i];
        }
    }
    return NULL;
}

void ct_ib_port_die(struct ct_ib_port *port)
{
    struct ct_ib_qp *qp;
    port->dead = true;
    while ((qp = find_marked(port)) != NULL) { /* the table may be another one each time */
        on_marker(qp);
    }
}

/* What one request has come to, if it is the one at fault. */
static int ib_port_fault_of(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
        return CT_REFUSED;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_MW_BIND_ERR:
        return CTRAN_ERR_BUFFER;
    default:
        return CTRAN_SUCCESS; /* the path's */
    }
}

static void ib_port_blame(struct ct_ib_peer *peer, const struct ct_ib_request *r, int status)
{
    if (r->work == CT_IB_WORK_WRITE) {
        ct_ib_write_blame(peer, r->number, status);
    } else if (r->work == CT_IB_WORK_READ) {
        struct ct_ib_op *op = ((struct ct_ib_read *)r->part)->op;
        op->status = op->status == CTRAN_SUCCESS ? status : op->status;
    } else {
        return;
    }
    peer->refused = true;
    peer->t->counters.refusals++;
}

static void on_error(struct ct_ib_qp *qp, const struct ibv_wc *wc)
{
    struct ct_ib_qpset         *set = qp->set;
    struct ct_ib_peer          *peer = set->peer;
    const uint32_t              number = (uint32_t)wc->wr_id;
    const struct ct_ib_request *r = &qp->requests[number & qp->mask];
    const bool                  is_marker = r->work == CT_IB_WORK_MARKER;
    const int                   fault = ib_port_fault_of(wc->status);
    if (peer != NULL && fault != CTRAN_SUCCESS) {
        ib_port_blame(peer, r, fault);
    }
    if (is_marker && qp->dead) {
        on_marker(qp);
        return;
    }
    if (peer != NULL && peer->phase == CT_IB_OPEN && ct_ib_peer_qpset(peer) == set &&
        set->state == CT_IB_QPSET_READY) {
        peer->t->counters.errors++;
        if (wc->status == IBV_WC_WR_FLUSH_ERR) {
            ct_ib_path_flushed(peer);
        } else {
            ct_ib_path_failed(peer, peer->t->v->wc_status_str(wc->status));
        }
    }
}

/* False: it has to wait for another port's. */
static bool ib_port_treat(struct ct_ib_port *port, const struct ibv_wc *wc)
{
    const uint64_t kind = wc->wr_id & KINDS;
    if (kind == OF_WRITE) {
        return on_write(port, wc);
    }
    if (kind == OF_MESSAGE) {
        ib_port_on_message(port, wc);
    } else if (kind == OF_DATAGRAM) {
        on_datagram(port, wc);
    } else if (wc->qp_num == port->ud->qp_num) {
        on_datagram_sent(port, wc);
    } else {
        struct ct_ib_qp *qp = find_qp(port, wc->qp_num);
        if (qp != NULL && wc->status == IBV_WC_SUCCESS) {
            on_done(qp, (uint32_t)wc->wr_id);
        } else if (qp != NULL) {
            on_error(qp, wc);
        }
    }
    return true;
}

/* The next completion in hand; NULL: there is none. */
static struct ibv_wc *next_wc(struct ct_ib_port *port)
{
    if (port->backlog_at < port->nbacklog) {
        return &port->backlog[port->backlog_at];
    }
    if (port->at == port->n) {
        const int n = ibv_poll_cq(port->cq, CT_IB_POLL, port->wc);
        port->at = 0;
        port->n = n > 0 ? (unsigned)n : 0;
    }
    return port->at < port->n ? &port->wc[port->at] : NULL;
}

static void pass_wc(struct ct_ib_port *port)
{
    if (port->backlog_at < port->nbacklog) {
        if (++port->backlog_at == port->nbacklog) {
            port->backlog_at = port->nbacklog = 0;
        }
    } else {
        port->at++;
    }
}

unsigned ct_ib_port_poll(struct ct_ib_port *port)
{
    unsigned done = 0;
    port->held = false;
    while (done < CT_IB_POLL) {
        const struct ibv_wc *wc = next_wc(port);
        if (wc == NULL) {
            break;
        }
        if (!ib_port_treat(port, wc)) {
            port->held = true;
            break;
        }
        pass_wc(port);
        done++;
    }
    return done;
}

void ct_ib_port_give_up(struct ct_ib_port *port)
{
    const struct ibv_wc *wc = next_wc(port);
    struct ct_ib_qp     *qp = wc != NULL ? find_qp(port, wc->qp_num) : NULL;
    if (qp != NULL && qp->set->peer != NULL) {
        ct_error(port->t->env.log,
                 "rank %u has written beyond what it may have under way; it is treated as failed",
                 qp->set->peer->id);
        ct_ib_peer_lose(qp->set->peer, CTRAN_ERR_INTERN);
    }
}

/* ---- those of one peer alone ----------------------------------------------------------------- */

static bool put_by(struct ct_ib_port *port, const struct ibv_wc *wc)
{
    if (port->nbacklog == port->backlog_cap) {
        const unsigned cap = port->backlog_cap > 0 ? 2 * port->backlog_cap : 256;
        struct ibv_wc *more = realloc(port->backlog, cap * sizeof *more);
        if (more == NULL) {
            return false;
        }
        port->backlog = more;
        port->backlog_cap = cap;
        port->t->counters.allocations++;
    }
    port->backlog[port->nbacklog++] = *wc;
    return true;
}

static bool is_from(const struct ct_ib_port *port, const struct ibv_wc *wc, uint32_t id)
{
    const uint64_t         kind = wc->wr_id & KINDS;
    const struct ct_ib_qp *qp =
        kind == OF_MESSAGE || kind == OF_WRITE ? find_qp(port, wc->qp_num) : NULL;
    return qp != NULL && qp->set->peer != NULL && qp->set->peer->id == id;
}

void ct_ib_port_drain(struct ct_ib_port *port, uint32_t id)
{
    struct ibv_wc wc;
    for (; port->at < port->n && put_by(port, &port->wc[port->at]); port->at++) {
    }
    while (ibv_poll_cq(port->cq, 1, &wc) == 1 && put_by(port, &wc)) {
    }
    unsigned kept = port->backlog_at;
    for (unsigned i = port->backlog_at; i < port->nbacklog; i++) {
        wc = port->backlog[i];
        if (!is_from(port, &wc, id) || !ib_port_treat(port, &wc)) {
            port->backlog[kept++] = wc;
        }
    }
    port->nbacklog = kept;
    if (port->backlog_at == port->nbacklog) {
        port->backlog_at = port->nbacklog = 0;
    }
}

/* ---- sleeping -------------------------------------------------------------------------------- */

void ct_ib_port_arm(struct ct_ib_port *port)
{
    if (!port->armed) {
        port->armed = ibv_req_notify_cq(port->cq, 0) == 0;
    }
}

void ct_ib_port_disarm(struct ct_ib_port *port)
{
    struct ibv_cq *cq;
    void          *user;
    while (port->armed && port->t->v->get_cq_event(port->channel, &cq, &user) == 0) {
        port->events++;
        port->armed = false;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool not_blocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool make_queues(struct ct_ib_port *port, const struct ibv_device_attr *attr)
{
    const struct ct_ib_verbs *v = port->t->v;
    const struct ct_config   *cfg = port->t->env.cfg;
    const uint32_t            receives = (uint32_t)(cfg->ib_buffers + cfg->ib_receives);
    const int                 markers = (int)cfg->ib_max_qps; /* of all that drain at a time */
    const int                 cqe = (int)receives + CT_IB_SENDS + 2 * CT_IB_DATAGRAMS + markers;
    struct ibv_srq_init_attr  messages = {.attr = {(uint32_t)cfg->ib_buffers, 1, 0}};
    struct ibv_srq_init_attr  writes = {.attr = {(uint32_t)cfg->ib_receives, 1, 0}};
    port->channel = v->create_comp_channel(port->ctx);
    port->cq = port->channel == NULL
                   ? NULL
                   : v->create_cq(port->ctx, cqe < attr->max_cqe ? cqe : attr->max_cqe, port,
                                  port->channel, 0);
    port->messages = v->create_srq(port->pd, &messages);
    port->writes = v->create_srq(port->pd, &writes);
    return port->cq != NULL && port->messages != NULL && port->writes != NULL &&
           not_blocking(port->channel->fd) && not_blocking(port->ctx->async_fd);
}

static bool make_memory(struct ct_ib_port *port)
{
    struct ct_ib *t = port->t;
    const size_t  in_bytes = (size_t)t->env.cfg->ib_buffers * t->buf_bytes;
    const size_t  ud_bytes = (size_t)(CT_IB_DATAGRAMS + CT_IB_DATAGRAMS_OUT) * DATAGRAM;
    port->in = aligned_alloc(4096, ct_round_up(in_bytes, 4096));
    port->ud_bytes = aligned_alloc(4096, ct_round_up(ud_bytes, 4096));
    if (port->in == NULL || port->ud_bytes == NULL) {
        return false;
    }
    memset(port->in, 0, in_bytes);
    memset(port->ud_bytes, 0, ud_bytes);
    port->in_mr = t->v->reg_mr(port->pd, port->in, in_bytes, IBV_ACCESS_LOCAL_WRITE);
    port->ud_mr = t->v->reg_mr(port->pd, port->ud_bytes, ud_bytes, IBV_ACCESS_LOCAL_WRITE);
    port->out_mr =
        t->v->reg_mr(port->pd, t->buf_memory, t->buf_memory_bytes, IBV_ACCESS_LOCAL_WRITE);
    return port->in_mr != NULL && port->ud_mr != NULL && port->out_mr != NULL;
}

static bool make_datagrams(struct ct_ib_port *port)
{
    const struct ct_ib_verbs *v = port->t->v;
    struct ibv_qp_init_attr   init = {
          .send_cq = port->cq,
          .recv_cq = port->cq,
          .qp_type = IBV_QPT_UD,
          .cap = {CT_IB_DATAGRAMS_OUT, CT_IB_DATAGRAMS, 1, 1, 0},
    };
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = port->number, .qkey = port->t->qkey};
    port->ud = v->create_qp(port->pd, &init);
    if (port->ud == NULL ||
        v->modify_qp(port->ud, &attr,
                     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0) {
        return false;
    }
    attr.qp_state = IBV_QPS_RTR;
    if (v->modify_qp(port->ud, &attr, IBV_QP_STATE) != 0) {
        return false;
    }
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 0;
    port->where.qpn = port->ud->qp_num;
    return v->modify_qp(port->ud, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
}

static void post_all(struct ct_ib_port *port)
{
    for (int64_t i = 0; i < port->t->env.cfg->ib_buffers; i++) {
        post_message_buffer(port, (uint64_t)i);
    }
    post_writes(port, (uint32_t)port->t->env.cfg->ib_receives);
    for (uint64_t i = 0; i < CT_IB_DATAGRAMS; i++) {
        post_datagram_buffer(port, i);
    }
}

static bool ib_port_watch(struct ct_ib_port *port)
{
    struct epoll_event queue = {.events = EPOLLIN, .data.ptr = port};
    return epoll_ctl(port->t->epoll, EPOLL_CTL_ADD, port->channel->fd, &queue) == 0 &&
           epoll_ctl(port->t->epoll, EPOLL_CTL_ADD, port->ctx->async_fd, &queue) == 0;
}

static bool has_gid(const struct ct_ib_port *port)
{
    const int64_t asked = port->t->env.cfg->ib_gid_index;
    union ibv_gid gid;
    if (asked < 0 || port->t->v->query_gid(port->ctx, port->number, (int)asked, &gid) == 0) {
        return true;
    }
    ct_error(port->t->env.log,
             "CTRAN_IB_GID_INDEX is %d, but RDMA port %s has no GID of this index; give one that "
             "\"ibv_devinfo -v\" lists, or leave the variable unset",
             (int)asked, port->name);
    return false;
}

static bool ib_port_set_up(struct ct_ib_port *port, struct ibv_device *device)
{
    struct ct_ib          *t = port->t;
    struct ibv_device_attr attr;
    memset(&attr, 0, sizeof attr);
    port->ctx = t->v->open_device(device);
    port->pd = port->ctx != NULL ? t->v->alloc_pd(port->ctx) : NULL;
    if (port->pd == NULL || t->v->query_device(port->ctx, &attr) != 0 || !has_gid(port) ||
        !make_queues(port, &attr) || !make_memory(port) || !make_datagrams(port)) {
        return false;
    }
    port->max_reads =
        (uint32_t)(attr.max_qp_rd_atom < attr.max_qp_init_rd_atom ? attr.max_qp_rd_atom
                                                                  : attr.max_qp_init_rd_atom);
    port->max_reads = port->max_reads < 16 ? port->max_reads : 16;
    port->coherent = attr.atomic_cap == IBV_ATOMIC_GLOB;
    port->max_inline = CT_IB_INLINE;
    (void)ct_ib_port_look(port);
    post_all(port);
    return ib_port_watch(port);
}

int ct_ib_port_open(struct ct_ib *t, const struct ct_ib_choice *choice, struct ct_ib_port **out)
{
    struct ct_ib_port *port = calloc(1, sizeof *port);
    if (port == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    port->t = t;
    port->index = t->nports;
    port->number = choice->port;
    (void)snprintf(port->name, sizeof port->name, "%s", choice->name);
    port->qps_mask = 63;
    port->qps = calloc((size_t)port->qps_mask + 1, sizeof *port->qps);
    if (port->qps == NULL || !ib_port_set_up(port, choice->device)) {
        ct_warn(
            t->env.log,
            "RDMA port %s is not used: %s. Is the limit of locked memory (ulimit -l) enough for "
            "%zu KiB of buffers?",
            port->name, strerror(errno), 3 * (size_t)t->env.cfg->ib_buffers * t->buf_bytes / 1024);
        ct_ib_port_close(port);
        return CTRAN_ERR_SYSTEM;
    }
    ct_info(t->env.log, "RDMA port %s is %s, MTU %d, GID index %d", port->name,
            port->up ? "up" : "down", 128 << port->where.mtu, port->gid_index);
    *out = port;
    return CTRAN_SUCCESS;
}

static void free_datagrams(struct ct_ib_port *port)
{
    if (port->ud != NULL) {
        (void)port->t->v->destroy_qp(port->ud);
    }
    for (unsigned i = 0; i < CT_IB_DATAGRAMS_OUT; i++) {
        if (port->ud_out[i].ah != NULL) {
            (void)port->t->v->destroy_ah(port->ud_out[i].ah);
        }
    }
}

static void ib_port_free_memory(struct ct_ib_port *port)
{
    struct ibv_mr *const all[] = {port->in_mr, port->ud_mr, port->out_mr};
    for (size_t i = 0; i < CT_ARRAY_LEN(all); i++) {
        if (all[i] != NULL) {
            (void)port->t->v->dereg_mr(all[i]);
        }
    }
    free(port->in);
    free(port->ud_bytes);
    free(port->backlog);
    free(port->qps);
}

/* All queue pairs are gone. */
void ct_ib_port_close(struct ct_ib_port *port)
{
    const struct ct_ib_verbs *v = port->t->v;
    free_datagrams(port);
    if (port->messages != NULL) {
        (void)v->destroy_srq(port->messages);
    }
    if (port->writes != NULL) {
        (void)v->destroy_srq(port->writes);
    }
    if (port->cq != NULL) {
        v->ack_cq_events(port->cq, port->events);
        (void)v->destroy_cq(port->cq);
    }
    if (port->channel != NULL) {
        (void)v->destroy_comp_channel(port->channel);
    }
    ib_port_free_memory(port);
    if (port->pd != NULL) {
        (void)v->dealloc_pd(port->pd);
    }
    if (port->ctx != NULL) {
        (void)v->close_device(port->ctx);
    }
    free(port);
}
