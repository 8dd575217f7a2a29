/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of NICs that the emulated verbs do not have by themselves. A test puts functions of its
 * own before those of the library: completions that come late, calls that fail.
 */
#include <errno.h>
#include <limits.h>

#include "ib_sides.h"

enum { PATIENCE = 200000 };

static struct ct_ib_verbs table[2]; /* of sides 0 and 1 */

/* Two sides on three devices each, and the link from side 0 to side 1. */
static struct other *open_two(const char *settings)
{
    side_open(0, "emu0,emu1,emu2", settings);
    side_open(1, "emu3,emu4,emu5", settings);
    for (uint32_t i = 0; i < 2; i++) {
        table[i] = *ib_of(i)->v;
        ib_of(i)->v = &table[i];
    }
    (void)link_to(1, 0);
    return link_to(0, 1);
}

/* ---- completions that come late -------------------------------------------------------------- */

static int (*real_poll)(struct ibv_cq *cq, int n, struct ibv_wc *wc);
static const struct ibv_cq *hidden; /* this queue seems empty, */
static unsigned             hides;  /* so many times */

static int poll_hiding(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    if (cq == hidden && hides > 0) {
        hides--;
        return 0;
    }
    return real_poll(cq, n, wc);
}

static void start_put(struct other *o, struct ct_net_comp *comp, struct ct_net_rma *put,
                      struct ct_area *area, uint32_t len)
{
    unsigned taken = 0;
    memset(o->from, 5, len);
    *area = (struct ct_area){.base = o->from, .len_bytes = len};
    *comp = (struct ct_net_comp){.pending = 1};
    *put = (struct ct_net_rma){.op = CT_NET_OP_PUT,
                               .rkey = o->rkey,
                               .offset = (uint64_t)o->side->id * SLOTS * SLOT_BYTES,
                               .comp = comp,
                               .area = area,
                               .len_bytes = len};
    FAIL_IF(ct_ib_rma_ops.post(o->link, &put, 1, &taken) != CTRAN_SUCCESS || taken != 1, "post");
}

/* A put whose end only the sending side looks for: the receiving process does not run. */
static void put_alone(struct other *o, uint32_t len)
{
    struct ct_net_comp comp;
    struct ct_net_rma  put;
    struct ct_area     area;
    start_put(o, &comp, &put, &area, len);
    for (unsigned t = 0; comp.pending > 0; t++) {
        if (ct_ib_progress(o->side->net) == 0 && !emu_verbs_next()) {
            emu_verbs_pass(20000);
        }
        FAIL_IF(t > PATIENCE, "a put does not end");
    }
    FAIL_IF(comp.status != CTRAN_SUCCESS, "a put ends with %d", comp.status);
}

/* The receiver looks at port 0, which is empty; then a write comes by port 0 and, once it is
 * acknowledged, a short one by port 1; then the receiver looks at port 1. */
static void late_completion(void)
{
    struct other            *o = open_two("CTRAN_IB_QPS=2 CTRAN_IB_RAILS=2 CTRAN_IB_FAILOVER=0");
    struct ct_ib            *in = ib_of(1);
    const struct ct_ib_peer *from = ct_ib_peer_of(sides[1].others[0].link);
    FAIL_IF(!send_message(o), "no message");
    wait_quiet(o);
    put_alone(o, 4000); /* data queue pair 1: port 1 */
    wait_quiet(o);
    while (ct_ib_progress(&in->net) > 0 || from->order.next == 0) {
    }
    real_poll = in->ports[0]->ctx->ops.poll_cq;
    in->ports[0]->ctx->ops.poll_cq = poll_hiding;
    hidden = in->ports[0]->cq;
    put_alone(o, 4000); /* data queue pair 2: port 0 */
    put_alone(o, 8);    /* the fast path: port 1 */
    hides = 1;
    (void)ct_ib_progress(&in->net);
    FAIL_IF(hides > 0 || !in->ports[1]->held, "the short write does not wait");
    FAIL_IF(sides[1].others[0].failed, "a write that comes late counts as a fault of the peer");
    (void)ct_ib_progress(&in->net);
    (void)ct_ib_progress(&in->net);
    FAIL_IF(from->order.next != ct_ib_peer_of(o->link)->write_next, "the receiver is at write %u",
            from->order.next);
    /* In the end the peer is at fault. */
    put_alone(o, 4000);
    put_alone(o, 4000);
    put_alone(o, 8);
    for (unsigned t = 0; !sides[1].others[0].failed; t++) {
        hides = 1;
        (void)ct_ib_progress(&in->net);
        emu_verbs_pass(1000000);
        FAIL_IF(t > 2000, "a write that can never be taken is waited for without an end");
    }
    hides = 0;
    in->ports[0]->ctx->ops.poll_cq = real_poll;
    ct_net_ib.forget(sides[0].net, 1); /* its end would wait for the peer */
    sides_close();
}

/* ---- calls that fail ------------------------------------------------------------------------- */

static unsigned ready_calls, ready_failure; /* the call that fails; 0: none */

static int modify_failing(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    if ((mask & IBV_QP_STATE) != 0 && attr->qp_state == IBV_QPS_RTR &&
        ++ready_calls == ready_failure) {
        return errno = ETIMEDOUT; /* as where a neighbour's address is not found */
    }
    return ibv_modify_qp(qp, attr, mask);
}

/* The first, second, third queue pair of a connection cannot be connected at once. */
static void connect_failure(unsigned which)
{
    struct other *o = open_two("CTRAN_IB_QPS=2 CTRAN_IB_FAILOVER=0 CTRAN_IB_TIMEOUT=2s");
    ready_calls = 0;
    ready_failure = which;
    table[1].modify_qp = modify_failing;
    FAIL_IF(!send_message(o), "no message");
    wait_quiet(o);
    FAIL_IF(ready_calls <= which, "%u queue pairs were connected", ready_calls);
    sides_close();
}

static unsigned registrations_left;

static struct ibv_mr *reg_failing(struct ibv_pd *pd, void *addr, size_t bytes, int access)
{
    if (registrations_left == 0) {
        errno = ENOMEM; /* as the limit of locked memory has it */
        return NULL;
    }
    registrations_left--;
    return ibv_reg_mr_iova(pd, addr, bytes, (uintptr_t)addr, access);
}

/* Long puts and gets are copied from where memory is not registered any more: from the beginning,
 * or once the second port has refused. */
static void no_registration(unsigned after)
{
    struct other *o =
        open_two("CTRAN_IB_QPS=2 CTRAN_IB_RAILS=2 CTRAN_IB_FAILOVER=0 CTRAN_IB_SEGMENT=16K");
    table[0].reg_mr = reg_failing;
    for (unsigned puts = 0; puts < 40; puts++) {
        registrations_left = after;
        while (!send_put(o)) {
            (void)turn();
        }
        send_get(o, true);
        wait_quiet(o);
    }
    send_get(o, false);
    for (unsigned i = 0; i < SLOTS; i++) {
        FAIL_IF(o->comp[i].status != CTRAN_SUCCESS, "a put ends with %d", o->comp[i].status);
    }
    sides_close();
}

/* ---- ports that differ ----------------------------------------------------------------------- */

/* Short puts are under way when their port fails; requests of the other port carry no bytes. */
static void port_without_inline(void)
{
    enum { PUTS = 8, BYTES = 64 };
    struct ct_net_comp comp[PUTS];
    struct ct_net_rma  put[PUTS];
    struct ct_area     area[PUTS];
    struct other      *o = open_two("CTRAN_IB_QPS=1 CTRAN_IB_RAILS=1 CTRAN_IB_ACK_TIMEOUT=8");
    unsigned char     *at = sides[1].region;
    bool               over = false;
    memset(at, 0, BYTES);
    FAIL_IF(!send_message(o), "no message");
    wait_quiet(o);
    for (unsigned i = 1; i < ib_of(0)->nports; i++) {
        ib_of(0)->ports[i]->max_inline = 0;
    }
    FAIL_IF(emu_verbs_command("link up:emu0/1 down") != 0, "fabric");
    for (unsigned i = 0; i < PUTS; i++) {
        start_put(o, &comp[i], &put[i], &area[i], BYTES);
    }
    for (unsigned t = 0; !over; t++) {
        (void)turn();
        over = true;
        for (unsigned i = 0; i < PUTS; i++) {
            over = over && comp[i].pending == 0;
        }
        FAIL_IF(o->failed || t > PATIENCE, "short puts hang");
    }
    for (unsigned i = 0; i < PUTS; i++) {
        FAIL_IF(comp[i].status != CTRAN_SUCCESS, "short put %u ends with %d", i, comp[i].status);
    }
    FAIL_IF(ib_of(0)->counters.writes_again < PUTS, "the puts were not under way");
    FAIL_IF(at[0] != 5 || at[BYTES - 1] != 5, "the bytes are %u and %u", at[0], at[BYTES - 1]);
    FAIL_IF(emu_verbs_command("link up:emu0/1 up") != 0, "fabric");
    sides_close();
}

/* ---- ports that die -------------------------------------------------------------------------- */

static struct ibv_context *dying; /* the event of its death is to come */
static enum ibv_event_type death;

static int event_of_death(struct ibv_context *ctx, struct ibv_async_event *event)
{
    if (ctx != dying) {
        return ibv_get_async_event(ctx, event);
    }
    dying = NULL;
    *event = (struct ibv_async_event){.event_type = death};
    return 0;
}

static void no_acknowledgement(struct ibv_async_event *event)
{
    if (event->event_type != death) {
        ibv_ack_async_event(event);
    }
}

/* The first port of side 0 brings no completions any more. It says so before its queue pairs are
 * drained, or while that is waited for. */
static void port_death(enum ibv_event_type type, bool while_draining)
{
    struct other            *o = open_two("CTRAN_IB_QPS=2 CTRAN_IB_RAILS=1 CTRAN_IB_FAILBACK=1ms");
    struct ct_ib            *t = ib_of(0);
    const struct ct_ib_peer *peer = ct_ib_peer_of(o->link);
    FAIL_IF(!send_message(o), "no message");
    wait_quiet(o);
    real_poll = t->ports[0]->ctx->ops.poll_cq;
    t->ports[0]->ctx->ops.poll_cq = poll_hiding;
    hidden = t->ports[0]->cq;
    hides = UINT_MAX;
    death = type;
    table[0].get_async_event = event_of_death;
    table[0].ack_async_event = no_acknowledgement;
    if (while_draining) {
        ct_ib_peer_restart(ct_ib_peer_of(o->link), 0, 0);
        for (unsigned i = 0; i < 100; i++) {
            (void)turn();
        }
        FAIL_IF(peer->phase != CT_IB_DRAINING, "the queue pairs are drained");
    }
    dying = t->ports[0]->ctx;
    for (unsigned i = 0; peer->phase != CT_IB_OPEN || peer->path == 0; i++) {
        (void)turn();
        FAIL_IF(o->failed || i > PATIENCE, "the connection does not leave the dead port: phase %d",
                peer->phase);
    }
    for (unsigned i = 0; i < 20; i++) {
        while (!send_put(o) || !send_message(o)) {
            (void)turn();
        }
    }
    wait_quiet(o);
    FAIL_IF(peer->path == 0, "the connection has gone back to the dead port");
    sides_close();
    hides = 0;
}

/* ---- a receiver that lacks something --------------------------------------------------------- */

/* The receiver's NIC has acknowledged a write that the receiver never saw. */
static void lost_write(void)
{
    struct other       *o = open_two("CTRAN_IB_QPS=2 CTRAN_IB_FIRST_WRITE=16777214");
    struct other       *in = &sides[1].others[0];
    struct ct_ib_order *order = &ct_ib_peer_of(in->link)->order;
    for (unsigned i = 0; i < 5; i++) {
        while (!send_put(o)) {
            (void)turn();
        }
        wait_quiet(o);
    }
    order->next = (order->next - 1) & CT_IB_SEQ_MASK;
    ct_ib_peer_restart(ct_ib_peer_of(in->link), 0, 0);
    for (unsigned t = 0; !o->failed; t++) {
        (void)turn();
        FAIL_IF(t > PATIENCE, "a write is lost and nobody tells");
    }
    ct_net_ib.forget(sides[1].net, 0);
    sides_close();
}

/* All that a port may have under way at a time is in its completion queue when it fails: receives,
 * requests, datagrams, and a marker of each queue pair. */
static void completion_room(void)
{
    struct other           *o = open_two("CTRAN_IB_RECEIVES=64 CTRAN_IB_BUFFERS=16");
    const struct ct_config *cfg = &sides[0].cfg;
    const int64_t most = cfg->ib_receives + cfg->ib_buffers + CT_IB_SENDS + CT_IB_DATAGRAMS +
                         CT_IB_DATAGRAMS_OUT + cfg->ib_max_qps;
    FAIL_IF(ib_of(0)->ports[0]->cq->cqe < most, "%d completions for %lld",
            ib_of(0)->ports[0]->cq->cqe, (long long)most);
    FAIL_IF(!send_message(o), "no message");
    wait_quiet(o);
    sides_close();
}

/* ---- a peer that breaks the rules ------------------------------------------------------------ */

/* Notices without puts: what waits for its other half is bounded. */
static void notices_alone(void)
{
    const struct ct_net_notice notice = {.key = 1};
    struct other              *o = open_two("CTRAN_IB_QPS=1 CTRAN_IB_RECEIVES=64");
    struct other              *in = &sides[1].others[0];
    const struct ct_ib_peer   *from = ct_ib_peer_of(in->link);
    FAIL_IF(!send_message(o), "no message");
    wait_quiet(o);
    while (!in->failed) {
        if (ct_ib_peer_of(o->link)->phase == CT_IB_OPEN) {
            (void)ct_ib_message_add(ct_ib_peer_of(o->link), CT_IB_NOTICE, &notice, sizeof notice);
        }
        (void)turn();
        FAIL_IF(from->waiting.n > 8192, "%u notices wait", from->waiting.n);
    }
    ct_net_ib.forget(sides[0].net, 1);
    sides_close();
}

int main(void)
{
    sides_begin("6", 11);
    FAIL_IF(emu_verbs_command("link * rate=100g latency=1us") != 0, "fabric");
    late_completion();
    for (unsigned which = 1; which <= 3; which++) {
        connect_failure(which);
    }
    no_registration(0);
    no_registration(1);
    port_without_inline();
    lost_write();
    completion_room();
    notices_alone();
    port_death(IBV_EVENT_DEVICE_FATAL, false);
    port_death(IBV_EVENT_DEVICE_FATAL, true);
    port_death(IBV_EVENT_CQ_ERR, false);
    port_death(IBV_EVENT_CQ_ERR, true);
    port_death(IBV_EVENT_SRQ_ERR, false);
    sides_end();
    return 0;
}
