/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: making, changing, asking, destroying. */
#include "emu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct emu_qp *emu_qp_of(struct ibv_qp *qp)
{
    return (struct emu_qp *)qp;
}

static bool sizes_ok(const struct ibv_qp_init_attr_ex *attr)
{
    const struct ibv_qp_cap *cap = &attr->cap;
    return (attr->qp_type == IBV_QPT_RC || attr->qp_type == IBV_QPT_UC ||
            attr->qp_type == IBV_QPT_UD) &&
           cap->max_send_wr <= EMU_MAX_WR && cap->max_recv_wr <= EMU_MAX_WR &&
           cap->max_send_sge <= EMU_MAX_SGE && cap->max_recv_sge <= EMU_MAX_SGE &&
           cap->max_inline_data <= EMU_MAX_INLINE && attr->send_cq != NULL &&
           attr->recv_cq != NULL && attr->pd != NULL;
}

/* The send queue and the memory of its requests. */
static int make_queues(struct emu_qp *qp)
{
    const struct ibv_qp_cap *cap = &qp->init.cap;
    const size_t             n = emu_slots(cap->max_send_wr);
    qp->sq_slots = (uint32_t)n;
    qp->sq = calloc(n, sizeof *qp->sq);
    qp->sq_sge = calloc(n * cap->max_send_sge + 1, sizeof *qp->sq_sge);
    qp->sq_data = calloc(n * cap->max_inline_data + 1, 1);
    if (qp->sq == NULL || qp->sq_sge == NULL || qp->sq_data == NULL) {
        return ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        qp->sq[i].sge = qp->sq_sge + i * cap->max_send_sge;
        qp->sq[i].data = qp->sq_data + i * cap->max_inline_data;
    }
    return emu_rq_init(&qp->rq, qp->init.srq != NULL ? 0 : cap->max_recv_wr, cap->max_recv_sge);
}

static void free_queues(struct emu_qp *qp)
{
    emu_rq_fini(&qp->rq);
    free(qp->sq);
    free(qp->sq_sge);
    free(qp->sq_data);
    free(qp);
}

/* Numbers are given in turn, so that one that is free again is unused for long. */
static int give_number(struct emu_qp *qp)
{
    static uint32_t last;
    for (uint32_t i = 0; i < EMU_MAX_QP - 1; i++) {
        last = last % (EMU_MAX_QP - 1) + 1;
        if (emu_nic.qps[last] == NULL) {
            emu_nic.qps[last] = qp;
            qp->ex.qp_base.qp_num = emu_nic.place.slot * EMU_MAX_QP + last;
            qp->ex.qp_base.handle = last;
            qp->serial = ++emu_nic.serials;
            return 0;
        }
    }
    return ENOMEM;
}

static void count_uses(struct emu_qp *qp, int by)
{
    const struct ibv_qp *ib = &qp->ex.qp_base;
    atomic_fetch_add(&((struct emu_pd *)ib->pd)->uses, (unsigned)by);
    atomic_fetch_add(&((struct emu_cq *)ib->send_cq)->uses, (unsigned)by);
    atomic_fetch_add(&((struct emu_cq *)ib->recv_cq)->uses, (unsigned)by);
    if (ib->srq != NULL) {
        atomic_fetch_add(&((struct emu_srq *)ib->srq)->uses, (unsigned)by);
    }
}

static void fill(struct emu_qp *qp, struct ibv_context *context,
                 const struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_qp *ib = &qp->ex.qp_base;
    memcpy(&qp->init, attr, sizeof qp->init); /* the extended one begins like it */
    qp->ctx = emu_context_of(context);
    qp->attr.cap = attr->cap;
    qp->send_ops =
        (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 ? attr->send_ops_flags : 0;
    ib->context = context;
    ib->qp_context = attr->qp_context;
    ib->pd = attr->pd;
    ib->send_cq = attr->send_cq;
    ib->recv_cq = attr->recv_cq;
    ib->srq = attr->srq;
    ib->qp_type = attr->qp_type;
    ib->state = IBV_QPS_RESET;
    pthread_mutex_init(&ib->mutex, NULL);
    pthread_cond_init(&ib->cond, NULL);
    pthread_mutex_init(&qp->sq_lock, NULL);
    emu_qp_ex_fill(qp);
}

struct ibv_qp *emu_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    const uint64_t ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                         IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                         IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                         IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    int            code = emu_inject("ibv_create_qp");
    struct emu_qp *qp = NULL;
    if (code == 0 && !sizes_ok(attr)) {
        code = EINVAL;
    }
    if (code == 0 && ((attr->comp_mask &
                       ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) != 0 ||
                      ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
                       (attr->send_ops_flags & ~ops) != 0))) {
        code = EOPNOTSUPP;
    }
    if (code == 0 && (qp = calloc(1, sizeof *qp)) == NULL) {
        code = ENOMEM;
    }
    if (code != 0) {
        errno = code;
        return NULL;
    }
    fill(qp, context, attr);
    code = make_queues(qp);
    if (code == 0) {
        emu_lock();
        code = give_number(qp);
        emu_unlock();
    }
    if (code != 0) {
        free_queues(qp);
        errno = code;
        return NULL;
    }
    count_uses(qp, 1);
    return &qp->ex.qp_base;
}

EMU_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr_ex ex;
    memset(&ex, 0, sizeof ex);
    memcpy(&ex, attr, sizeof *attr);
    ex.comp_mask = IBV_QP_INIT_ATTR_PD;
    ex.pd = pd;
    return emu_qp_create(pd->context, &ex);
}

void emu_qp_set_state(struct emu_qp *qp, enum ibv_qp_state state)
{
    atomic_store(&qp->state, (int)state);
}

void emu_qp_event(struct emu_qp *qp, enum ibv_event_type type)
{
    qp->events++;
    emu_async(qp->ctx, type, &qp->ex.qp_base);
}

/* Everything that a QP was about is forgotten; its completions, too. */
static void reset(struct emu_qp *qp)
{
    emu_forget_qp(qp);
    emu_cq_purge((struct emu_cq *)qp->ex.qp_base.send_cq, qp);
    emu_cq_purge((struct emu_cq *)qp->ex.qp_base.recv_cq, qp);
    pthread_mutex_lock(&qp->sq_lock);
    atomic_store(&qp->sq_tail, 0);
    atomic_store(&qp->sq_freed, 0);
    pthread_mutex_unlock(&qp->sq_lock);
    emu_rq_reset(&qp->rq);
    qp->sq_head = qp->sq_next = qp->reads_out = qp->reads_in = 0;
    qp->answer_first = qp->answer_count = qp->next_atomic = 0;
    qp->rnr_until_ns = qp->deadline_ns = qp->mark = 0;
    qp->timer_queued = qp->lagging = qp->gone_back = qp->sq_failed = false;
    qp->drained_told = qp->last_told = false;
    qp->backlogged = qp->cut_short = false;
    qp->nak_sent = qp->receiving = qp->dropping = qp->met = false;
    memset(qp->atomics, 0, sizeof qp->atomics);
    qp->serial = ++emu_nic.serials; /* what its old timers asked for is void */
}

static void keep(struct emu_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    struct ibv_qp_attr *own = &qp->attr;
#define KEEP(bit, field)                                                                           \
    if ((mask & (bit)) != 0) {                                                                     \
        own->field = attr->field;                                                                  \
    }
    KEEP(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)
    KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags)
    KEEP(IBV_QP_PKEY_INDEX, pkey_index)
    KEEP(IBV_QP_PORT, port_num)
    KEEP(IBV_QP_QKEY, qkey)
    KEEP(IBV_QP_AV, ah_attr)
    KEEP(IBV_QP_PATH_MTU, path_mtu)
    KEEP(IBV_QP_TIMEOUT, timeout)
    KEEP(IBV_QP_RETRY_CNT, retry_cnt)
    KEEP(IBV_QP_RNR_RETRY, rnr_retry)
    KEEP(IBV_QP_RQ_PSN, rq_psn)
    KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)
    KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)
    KEEP(IBV_QP_SQ_PSN, sq_psn)
    KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
    KEEP(IBV_QP_DEST_QPN, dest_qp_num)
#undef KEEP
    if ((mask & IBV_QP_PORT) != 0) {
        qp->port = emu_port_number(qp->ctx->device, own->port_num);
    }
    if ((mask & IBV_QP_RQ_PSN) != 0) {
        qp->want_psn = own->rq_psn & EMU_PSN_MASK;
    }
    if ((mask & IBV_QP_SQ_PSN) != 0) {
        qp->next_psn = qp->una = own->sq_psn & EMU_PSN_MASK;
    }
    if ((mask & IBV_QP_RETRY_CNT) != 0) {
        qp->retries_left = own->retry_cnt;
    }
    if ((mask & IBV_QP_RNR_RETRY) != 0) {
        qp->rnr_left = own->rnr_retry;
    }
}

EMU_EXPORT int ibv_modify_qp(struct ibv_qp *ib, struct ibv_qp_attr *attr, int mask)
{
    struct emu_qp *qp = emu_qp_of(ib);
    int            code = emu_inject(__func__);
    if (code != 0) {
        return code;
    }
    emu_lock();
    code = emu_qp_state_check(qp, attr, mask);
    if (code == 0) {
        keep(qp, attr, mask);
        if ((mask & IBV_QP_STATE) != 0) {
            if (attr->qp_state == IBV_QPS_RESET) {
                reset(qp);
            }
            emu_qp_set_state(qp, attr->qp_state);
            ib->state = attr->qp_state;
            if (attr->qp_state == IBV_QPS_ERR) {
                emu_qp_flush(qp);
            }
            qp->drained_told = false;
        }
    }
    emu_unlock();
    if (code == 0) {
        emu_bell(qp);
    }
    return code;
}

EMU_EXPORT int ibv_query_qp(struct ibv_qp *ib, struct ibv_qp_attr *attr, int mask,
                            struct ibv_qp_init_attr *init)
{
    struct emu_qp *qp = emu_qp_of(ib);
    (void)mask; /* everything is cheap here */
    emu_lock();
    *attr = qp->attr;
    attr->qp_state = attr->cur_qp_state = (enum ibv_qp_state)atomic_load(&qp->state);
    attr->sq_psn = qp->next_psn;
    attr->rq_psn = qp->want_psn;
    attr->sq_draining = attr->qp_state == IBV_QPS_SQD && qp->sq_head != qp->sq_next;
    attr->path_mig_state = IBV_MIG_MIGRATED;
    *init = qp->init;
    ib->state = attr->qp_state;
    emu_unlock();
    return 0;
}

EMU_EXPORT int ibv_destroy_qp(struct ibv_qp *ib)
{
    struct emu_qp *qp = emu_qp_of(ib);
    const int      code = emu_inject(__func__);
    if (code != 0) {
        return code;
    }
    emu_lock();
    reset(qp);
    emu_qp_set_state(qp, IBV_QPS_RESET);
    emu_nic.qps[ib->handle] = NULL;
    const uint32_t events = qp->events;
    emu_unlock();
    emu_async_settle(qp->ctx, ib, events, &ib->mutex, &ib->cond, &ib->events_completed);
    count_uses(qp, -1);
    pthread_mutex_destroy(&ib->mutex);
    pthread_cond_destroy(&ib->cond);
    pthread_mutex_destroy(&qp->sq_lock);
    free_queues(qp);
    return 0;
}

EMU_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp, (void)op, (void)flags;
    return 0; /* no promise, as most devices */
}
