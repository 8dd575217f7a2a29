/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What peers send to the ib transport: datagrams (with a right tag, since whoever holds the key may
 * err, and with any), messages, immediates of writes, packed keys. The NIC is a few functions: what
 * is posted completes, or is flushed where the queue pair is in the state of error. Whatever comes,
 * each operation ends once, and what is allocated is given back.
 */
#include "fuzz.h"

#include "net/ib/ib.h"

enum { ME = 1, PEER = 0, SIZE = 3, OPS = 8, OP_BYTES = 70000, MOST_WC = 4096 };

static struct {
    struct ct_ib      *t;
    struct ct_log      log;
    struct ct_config   cfg;
    struct ct_ib_addr  theirs;
    uint64_t           now_ns;
    struct ibv_context ctx;
    struct ibv_wc      wc[MOST_WC];
    unsigned           nwc, wc_at;
    bool               dead[MOST_WC]; /* queue pairs by number */
    uint32_t           nqps;
    struct ct_net_rma  op[OPS];
    struct ct_net_comp comp[OPS];
    unsigned           ended[OPS], begun[OPS];
    unsigned           deliveries;
} w;

static char           local[OP_BYTES];
static struct ct_area area = {.base = local, .len_bytes = OP_BYTES};

/* ---- the NIC --------------------------------------------------------------------------------- */

static int toy_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)bad;
    for (; wr != NULL; wr = wr->next) {
        for (int i = 0; i < wr->num_sge && (wr->send_flags & IBV_SEND_INLINE) != 0; i++) {
            fuzz_touch((void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        }
        FUZZ_CHECK(w.nwc < MOST_WC);
        w.wc[w.nwc++] = (struct ibv_wc){.wr_id = wr->wr_id,
                                        .qp_num = qp->qp_num,
                                        .status = w.dead[qp->qp_num % MOST_WC] ? IBV_WC_WR_FLUSH_ERR
                                                                               : IBV_WC_SUCCESS};
    }
    return 0;
}

static int toy_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)qp, (void)wr, (void)bad;
    return 0;
}

static int toy_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
    int got = 0;
    (void)cq;
    while (got < n && w.wc_at < w.nwc) {
        wc[got++] = w.wc[w.wc_at++];
    }
    if (w.wc_at == w.nwc) {
        w.wc_at = w.nwc = 0;
    }
    return got;
}

static struct ibv_qp *toy_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp *qp = calloc(1, sizeof *qp);
    (void)pd, (void)attr;
    FUZZ_CHECK(qp != NULL);
    qp->context = &w.ctx;
    qp->qp_num = ++w.nqps;
    w.dead[qp->qp_num % MOST_WC] = false;
    return qp;
}

static int toy_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    (void)mask;
    w.dead[qp->qp_num % MOST_WC] = attr->qp_state == IBV_QPS_ERR;
    return 0;
}

static int toy_destroy_qp(struct ibv_qp *qp)
{
    free(qp);
    return 0;
}

static struct ibv_ah *toy_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    static struct ibv_ah ah;
    (void)pd, (void)attr;
    return &ah;
}

static int toy_destroy_ah(struct ibv_ah *ah)
{
    (void)ah;
    return 0;
}

static struct ibv_mr *toy_reg_mr(struct ibv_pd *pd, void *addr, size_t bytes, int access)
{
    static struct ibv_mr mr;
    (void)pd, (void)addr, (void)bytes, (void)access;
    return &mr;
}

static int toy_dereg_mr(struct ibv_mr *mr)
{
    (void)mr;
    return 0;
}

static int toy_async(struct ibv_context *ctx, struct ibv_async_event *event)
{
    (void)ctx, (void)event;
    return -1;
}

static const char *toy_status(enum ibv_wc_status status)
{
    (void)status;
    return "status";
}

static const struct ct_ib_verbs toy = {
    .create_qp = toy_create_qp,
    .modify_qp = toy_modify_qp,
    .destroy_qp = toy_destroy_qp,
    .create_ah = toy_create_ah,
    .destroy_ah = toy_destroy_ah,
    .reg_mr = toy_reg_mr,
    .dereg_mr = toy_dereg_mr,
    .get_async_event = toy_async,
    .wc_status_str = toy_status,
};

/* ---- the instance ---------------------------------------------------------------------------- */

static uint64_t toy_now(void)
{
    return w.now_ns;
}

static void *toy_peer(void *arg, uint32_t id, uint32_t incarnation)
{
    (void)incarnation;
    return id == PEER ? arg : NULL;
}

static const void *toy_lookup(void *peer, const struct ct_net *net, size_t *len)
{
    (void)peer, (void)net;
    *len = offsetof(struct ct_ib_addr, ports) + w.theirs.nports * sizeof w.theirs.ports[0];
    return &w.theirs;
}

static void toy_deliver(void *peer, uint8_t type, const void *hdr, size_t hdr_len, const void *data,
                        size_t len)
{
    (void)peer, (void)type;
    fuzz_touch(hdr, hdr_len);
    fuzz_touch(data, len);
    w.deliveries++;
}

static void toy_failed(void *peer, int why)
{
    (void)peer, (void)why;
}

static void toy_left(void *peer)
{
    (void)peer;
}

static struct ct_ib_port *make_port(unsigned index)
{
    static struct ibv_mr mr;
    static struct ibv_cq cq;
    struct ct_ib_port   *port = calloc(1, sizeof *port);
    FUZZ_CHECK(port != NULL);
    cq.context = &w.ctx;
    port->t = w.t;
    port->index = index;
    port->number = 1;
    port->cq = &cq;
    port->ud = toy_create_qp(NULL, NULL);
    port->out_mr = port->ud_mr = port->in_mr = &mr;
    port->qps_mask = 3;
    port->qps = calloc(4, sizeof(struct ct_ib_qp *));
    port->ud_bytes =
        calloc(CT_IB_DATAGRAMS + CT_IB_DATAGRAMS_OUT, CT_IB_GRH + sizeof(struct ct_ib_cm));
    FUZZ_CHECK(port->qps != NULL && port->ud_bytes != NULL);
    port->max_inline = CT_IB_INLINE;
    port->max_reads = 4;
    port->up = true;
    return port;
}

static void make_buffers(struct ct_ib *t)
{
    enum { N = 32 };
    t->slice_bytes = 1024;
    t->buf_bytes = 1024 + 128;
    t->buf_memory = calloc(N, t->buf_bytes);
    t->all_bufs = calloc(N, sizeof *t->all_bufs);
    FUZZ_CHECK(t->buf_memory != NULL && t->all_bufs != NULL);
    for (unsigned i = 0; i < N; i++) {
        t->all_bufs[i].bytes = t->buf_memory + i * t->buf_bytes;
        ct_ib_buf_put(t, &t->all_bufs[i]);
    }
}

static void open_one(void)
{
    struct ct_ib *t = w.t = calloc(1, sizeof *t);
    FUZZ_CHECK(t != NULL);
    t->net = (struct ct_net){.ops = &ct_net_ib};
    t->env = (struct ct_net_env){.log = &w.log,
                                 .cfg = &w.cfg,
                                 .id = ME,
                                 .size = SIZE,
                                 .arg = &w,
                                 .peer = toy_peer,
                                 .lookup = toy_lookup,
                                 .deliver = toy_deliver,
                                 .failed = toy_failed,
                                 .left = toy_left};
    t->v = &toy;
    t->now = toy_now;
    t->random = 1;
    memset(&t->key, 9, sizeof t->key);
    t->addr.instance = 11;
    ct_list_init(&t->timed);
    ct_list_init(&t->pumps);
    ct_list_init(&t->dying);
    ct_list_init(&t->memories);
    ct_slab_init(&t->ops, sizeof(struct ct_ib_op), 8);
    ct_slab_init(&t->reads, sizeof(struct ct_ib_read), 8);
    ct_slab_init(&t->eras, sizeof(struct ct_ib_era), 8);
    for (unsigned i = 0; i < CT_IB_CLASSES; i++) {
        t->limits[i] = (struct ct_ib_limits){2, 2, 0, 2048};
    }
    make_buffers(t);
    t->nprimary = 1;
    for (unsigned i = 0; i < 2; i++) {
        t->ports[t->nports++] = make_port(i);
    }
    t->addr.slice_bytes = t->slice_bytes;
    w.theirs = (struct ct_ib_addr){.magic = CT_IB_ADDR_MAGIC,
                                   .version = CT_IB_VERSION,
                                   .nports = 2,
                                   .nprimary = 1,
                                   .slice_bytes = 1024,
                                   .instance = 22};
}

static void close_one(void)
{
    struct ct_ib *t = w.t;
    while (t->peers != NULL) {
        ct_ib_peer_free(t->peers);
    }
    while (!ct_list_empty(&t->dying)) {
        ct_ib_qpset_destroy(CT_LIST_ENTRY(t->dying.next, struct ct_ib_qpset, node));
    }
    ct_ib_memory_fini(t);
    for (unsigned i = 0; i < t->nports; i++) {
        free(t->ports[i]->ud);
        free(t->ports[i]->qps);
        free(t->ports[i]->ud_bytes);
        free(t->ports[i]);
    }
    ct_slab_fini(&t->ops);
    ct_slab_fini(&t->reads);
    ct_slab_fini(&t->eras);
    free(t->buf_memory);
    free(t->all_bufs);
    free(t);
    w.nwc = w.wc_at = 0;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static struct ct_ib_peer *peer(void)
{
    return ct_ib_peer_find(w.t, PEER);
}

/* The bytes are fields; what an author of a right datagram writes is put in. */
static void take_datagram(const uint8_t *data, size_t len, bool is_right)
{
    struct ct_ib_cm cm = {.nports = 2};
    memcpy(&cm, data, len < sizeof cm ? len : sizeof cm);
    if (is_right) {
        cm.magic = CT_IB_CM_MAGIC;
        cm.version = CT_IB_VERSION;
        cm.len_bytes = sizeof cm;
        cm.from = PEER;
        cm.to = ME;
        cm.from_instance = 22;
        cm.to_instance = 11;
        cm.epoch &= 15;
        cm.path &= 3;
        cm.nports = 2;
        cm.nqps = (uint8_t)(2 + cm.nqps % 4);
        ct_auth_tag(&w.t->key, &cm, offsetof(struct ct_ib_cm, tag), cm.tag, sizeof cm.tag);
    }
    ct_ib_cm_take(w.t, &cm, len > 0 && !is_right ? len : sizeof cm);
}

/* A SYNC that fits the connection as it is. */
static void take_fitting_sync(uint8_t flags)
{
    struct ct_ib_cm    cm = {.type = CT_IB_CM_SYNC, .flags = flags, .nqps = 3};
    struct ct_ib_peer *p = peer();
    if (p != NULL) {
        cm.epoch = p->epoch;
        cm.path = p->path;
        cm.want_message = p->message_una;
        cm.want_write = p->write_una;
    }
    take_datagram((const uint8_t *)&cm, sizeof cm, true);
}

static void take_message(const uint8_t *data, size_t len, bool fits)
{
    _Alignas(16) char bytes[2048];
    struct ct_ib_head h;
    len = len < sizeof bytes ? len : sizeof bytes;
    memcpy(bytes, data, len);
    if (fits && len >= sizeof h && peer() != NULL) {
        memcpy(&h, bytes, sizeof h);
        h.number = peer()->message_want;
        h.kind = (uint8_t)(1 + h.kind % 3);
        h.hdr_len =
            (uint8_t)ct_min_size(h.kind == CT_IB_NOTICE ? 16 : h.hdr_len % 65, len - sizeof h);
        h.len_bytes = (uint32_t)(len - sizeof h - h.hdr_len);
        memcpy(bytes, &h, sizeof h);
    }
    if (peer() != NULL) {
        ct_ib_message_take(peer(), bytes, len);
    }
}

static void comp_done(struct ct_net_comp *comp)
{
    w.ended[comp - w.comp]++;
}

static void start_op(const uint8_t *data)
{
    const unsigned           i = data[0] % OPS;
    struct ct_ib_peer       *p = peer();
    static struct ct_ib_rkey key;
    unsigned                 taken = 0;
    if (p == NULL || w.comp[i].pending > 0) {
        return;
    }
    key = (struct ct_ib_rkey){
        .base = {&p->link, 7, CT_NET_REACH_WIRED}, .len_bytes = OP_BYTES, .access = 7};
    w.comp[i] = (struct ct_net_comp){.pending = 1, .done = comp_done};
    w.op[i] = (struct ct_net_rma){.op = data[1] % 3,
                                  .rkey = &key.base,
                                  .comp = &w.comp[i],
                                  .area = &area,
                                  .len_bytes = (size_t)data[2] * (data[1] >> 2) * 4,
                                  .notify = data[1] % 3 == CT_NET_OP_PUT && (data[1] & 4) != 0,
                                  .size_bytes = 8};
    struct ct_net_rma *op = &w.op[i];
    const int          rc = ct_ib_rma_ops.post(&p->link, &op, 1, &taken);
    if (taken == 0) {
        FUZZ_CHECK(rc == CT_AGAIN || rc == CTRAN_ERR_UNSUPPORTED_OPERATION);
        w.comp[i].pending = 0;
    } else {
        w.begun[i]++;
        w.ended[i] += w.comp[i].pending == 0;
    }
}

static void send_one(const uint8_t *data)
{
    size_t                    pos = 0;
    const struct ct_net_slice slice = {
        .type = 1, .hdr_len = 4, .hdr = data, .area = &area, .pos = &pos, .len_bytes = data[0]};
    if (peer() != NULL) {
        (void)ct_net_ib.send(&peer()->link, &slice);
    }
}

static void open_key(const uint8_t *data, size_t len, bool is_right)
{
    struct ct_ib_wire_key wire = {.magic = 0};
    struct ct_net_rkey   *rkey;
    memcpy(&wire, data, len < sizeof wire ? len : sizeof wire);
    if (is_right) {
        wire.magic = CT_IB_KEY_MAGIC;
        wire.instance = 22;
        wire.nports = 2;
        ct_auth_tag(&w.t->key, &wire, offsetof(struct ct_ib_wire_key, tag), wire.tag,
                    sizeof wire.tag);
    }
    if (peer() != NULL &&
        ct_ib_rma_ops.rkey_open(&peer()->link, &wire, is_right ? sizeof wire : len, &rkey) ==
            CTRAN_SUCCESS) {
        ct_ib_rma_ops.rkey_close(rkey);
    }
}

static void step(const uint8_t *data, size_t len)
{
    uint32_t imm = 0;
    memcpy(&imm, data + 1, 4);
    switch (data[0] % 12) {
    case 0:
    case 1:
        take_datagram(data + 1, len - 1, data[0] % 12 == 0);
        break;
    case 2:
        take_fitting_sync(data[1] & 3);
        break;
    case 3:
    case 4:
        take_message(data + 1, len - 1, data[0] % 12 == 3);
        break;
    case 5:
        if (peer() != NULL && peer()->phase != CT_IB_OVER) {
            imm = (data[1] & 1) != 0 ? imm : (imm & 0xe0000003) + peer()->order.next;
            (void)ct_ib_write_take(peer(), imm);
        }
        break;
    case 6:
        start_op(data + 1);
        break;
    case 7:
        send_one(data + 1);
        break;
    case 8:
        w.now_ns += (uint64_t)data[1] << (data[2] % 28);
        break;
    case 9:
        w.t->ports[data[1] & 1]->up = (data[1] & 2) != 0;
        break;
    case 10:
        open_key(data + 1, len - 1, (data[1] & 1) != 0);
        break;
    default:
        break;
    }
    (void)ct_ib_progress(&w.t->net);
    (void)ct_ib_progress(&w.t->net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool ready;
    if (!ready) {
        ready = true;
        ct_log_init(&w.log, CT_LOG_NONE, "fuzz");
        FUZZ_CHECK(ct_config_load(&w.cfg, &w.log) == CTRAN_SUCCESS);
        w.ctx.ops.post_send = toy_post_send;
        w.ctx.ops.post_recv = toy_post_recv;
        w.ctx.ops.poll_cq = toy_poll;
    }
    w.now_ns = 1000;
    memset(w.comp, 0, sizeof w.comp);
    memset(w.begun, 0, sizeof w.begun);
    memset(w.ended, 0, sizeof w.ended);
    open_one();
    while (size >= 8) { /* a step says how long it is */
        const size_t len = ct_min_size(8 + (size_t)data[7] * 4, size);
        step(data, len);
        data += len;
        size -= len;
    }
    close_one();
    for (unsigned i = 0; i < OPS; i++) {
        FUZZ_CHECK(w.begun[i] == w.ended[i]);
    }
    return 0;
}
