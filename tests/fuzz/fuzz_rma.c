/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What peers send of one-sided operations: packed keys, requests, answers, notifications. The
 * process is a target with regions, and an origin with operations under way, over a transport that
 * takes messages or has no room. Whatever comes, no byte outside of what is exposed or asked for
 * changes, and each operation ends once.
 */
#include "fuzz.h"

#include "ep/rma_own.h"

enum { ME = 0, PEER = 1, REGION_BYTES = 512, GUARD = 32, OPS = 6, OP_BYTES = 100 };
enum { MAX_SLICE = 64 };

static struct {
    struct ct_process p;
    struct ct_job     job;
    bool              full; /* there is no room */
} w;

static int toy_send(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    char bytes[MAX_SLICE];
    (void)link;
    FUZZ_CHECK(slice->len_bytes <= MAX_SLICE && slice->hdr_len <= CT_NET_MAX_HDR);
    if (w.full) {
        return CT_AGAIN;
    }
    if (slice->len_bytes > 0) {
        FUZZ_CHECK(ct_area_gather_all(slice->area, slice->pos, bytes, slice->len_bytes));
        fuzz_touch(bytes, slice->len_bytes);
    }
    return CTRAN_SUCCESS;
}

static void toy_disconnect(struct ct_net_link *link)
{
    (void)link;
}

static void toy_forget(struct ct_net *net, uint32_t id)
{
    (void)net, (void)id;
}

static unsigned toy_progress(struct ct_net *net)
{
    (void)net;
    return 0;
}

static void toy_close(struct ct_net *net)
{
    (void)net;
}

static const struct ct_net_ops toy = {
    .name = "toy",
    .send = toy_send,
    .disconnect = toy_disconnect,
    .forget = toy_forget,
    .progress = toy_progress,
    .close = toy_close,
    .rma = &ct_net_no_rma,
};

static struct ct_net      net = {.ops = &toy};
static struct ct_net_link to_peer = {.net = &net, .max_slice = MAX_SLICE};

/* ---- the target's memory --------------------------------------------------------------------- */

static unsigned char memory[GUARD + REGION_BYTES + GUARD];

static unsigned told;

static void on_told(struct ct_ep_region *region, struct ct_ep *from, uint32_t value)
{
    (void)region, (void)from, (void)value;
    told++;
}

static struct ct_ep_region *expose(uint32_t access, uint32_t peer)
{
    struct ct_ep_region        *region = NULL;
    const struct ct_ep_exposure what = {.base = memory + GUARD,
                                        .len_bytes = REGION_BYTES,
                                        .access = access,
                                        .peer = peer,
                                        .notified = on_told};
    FUZZ_CHECK(ct_ep_expose(&w.p, &what, &region) == CTRAN_SUCCESS);
    return region;
}

/* ---- the origin's operations ----------------------------------------------------------------- */

static struct {
    struct ct_ep_rma   op;
    struct ct_net_comp comp;
    struct ct_area     area;
    unsigned char      bytes[GUARD + OP_BYTES + GUARD];
    uint64_t           result[3];
} ops[OPS];

static void start(struct fuzz *f, unsigned i, struct ct_ep_rkey *rkey)
{
    if (ops[i].comp.pending > 0) {
        return;
    }
    const enum ct_net_op kind = (enum ct_net_op)fuzz_below(f, 3);
    ops[i].comp = (struct ct_net_comp){.pending = 1};
    ops[i].area = (struct ct_area){.base = ops[i].bytes + GUARD, .len_bytes = OP_BYTES};
    ops[i].op = (struct ct_ep_rma){.net = {.op = kind,
                                           .offset = fuzz_number(f, 2),
                                           .comp = &ops[i].comp,
                                           .area = &ops[i].area,
                                           .len_bytes = fuzz_below(f, OP_BYTES + 1),
                                           .notify = fuzz_below(f, 2) != 0,
                                           .atomic = (enum ct_net_atomic)fuzz_below(f, 6),
                                           .size_bytes = fuzz_below(f, 2) ? 4 : 8,
                                           .result = &ops[i].result[1]},
                                   .rkey = rkey};
    ct_ep_rma(&ops[i].op);
}

static void check_all(void)
{
    for (unsigned i = 0; i < OPS; i++) {
        FUZZ_CHECK(ops[i].comp.pending <= 1);
        FUZZ_CHECK(ops[i].result[0] == 0 && ops[i].result[2] == 0);
        for (unsigned b = 0; b < GUARD; b++) {
            FUZZ_CHECK(ops[i].bytes[b] == 0 && ops[i].bytes[GUARD + OP_BYTES + b] == 0);
        }
    }
    for (unsigned b = 0; b < GUARD; b++) {
        FUZZ_CHECK(memory[b] == 0 && memory[GUARD + REGION_BYTES + b] == 0);
    }
}

/* ---- what the peer sends --------------------------------------------------------------------- */

/* Words that are often nearly right: a key, a number of an operation, a length. */
static uint64_t word(struct fuzz *f, const uint64_t *keys)
{
    switch (fuzz_below(f, 4)) {
    case 0:
        return keys[fuzz_below(f, 3)];
    case 1:
        return fuzz_below(f, 12) + (fuzz_below(f, 2) ? 0 : REGION_BYTES - MAX_SLICE / 2);
    case 2:
        return fuzz_number(f, 2);
    default:
        return fuzz_number(f, 8);
    }
}

static void deliver(struct fuzz *f, struct ct_ep *from, const uint64_t *keys)
{
    static const size_t lens[] = {56, 32, 16};
    uint64_t            hdr[8];
    size_t              len;
    const unsigned      kind = fuzz_below(f, 3);
    const uint8_t       ids[] = {w.p.ep->rma_request, w.p.ep->rma_reply, CT_NET_NOTIFY};
    for (unsigned i = 0; i < CT_ARRAY_LEN(hdr); i++) {
        hdr[i] = word(f, keys);
    }
    if (kind == 0 && fuzz_below(f, 4) != 0) { /* a length, an operation, flags, a size */
        hdr[4] = fuzz_below(f, MAX_SLICE) | (uint64_t)fuzz_below(f, 4) << 32 |
                 (uint64_t)fuzz_below(f, 4) << 40 | (uint64_t)fuzz_below(f, 7) << 48 |
                 (uint64_t)fuzz_below(f, 10) << 56;
    }
    size_t most = kind == 0 && (hdr[4] >> 32 & 3) == 1 ? (uint32_t)hdr[4] % MAX_SLICE : 0;
    if (kind == 1 && fuzz_below(f, 8) != 0) { /* what is answered, where, the status, the last */
        hdr[0] = 1 + fuzz_below(f, 4);
        hdr[1] = fuzz_below(f, 4) == 0 ? hdr[1] : fuzz_below(f, OP_BYTES);
        hdr[3] = (fuzz_below(f, 4) == 0 ? (uint32_t)CT_REFUSED : 0) | UINT64_C(1) << 32;
        most = fuzz_below(f, OP_BYTES);
    }
    if (kind == 0 && fuzz_below(f, 2) != 0) { /* about the region that allows most */
        hdr[0] = keys[0];
        hdr[1] = fuzz_below(f, 2) ? REGION_BYTES - fuzz_below(f, MAX_SLICE)
                                  : hdr[1] % (REGION_BYTES + MAX_SLICE);
    }
    uint8_t *data = fuzz_bytes(f, fuzz_below(f, 8) == 0 ? fuzz_below(f, MAX_SLICE) : most, &len);
    const size_t hdr_len = fuzz_below(f, 16) == 0 ? fuzz_below(f, 64) : lens[kind];
    w.p.ep->env.deliver(from, ids[kind], hdr, hdr_len, data, len);
    free(data);
}

static void packed(struct fuzz *f, struct ct_ep *ep, struct ct_ep_region *region)
{
    unsigned char      bytes[CT_EP_MAX_RKEY];
    struct ct_ep_rkey *k = NULL;
    size_t             len = ct_ep_region_pack(region, bytes), n;
    const uint32_t     owner = PEER;
    memcpy(bytes + 4, &owner, sizeof owner);
    for (unsigned i = fuzz_below(f, 4); i > 0; i--) {
        bytes[fuzz_below(f, (uint32_t)len)] = (unsigned char)fuzz_number(f, 1);
    }
    uint8_t *tail = fuzz_bytes(f, fuzz_below(f, 64), &n);
    memcpy(bytes + len, tail, n);
    free(tail);
    len = fuzz_below(f, 2) ? len + n : fuzz_below(f, (uint32_t)len + 1);
    uint8_t *copy = malloc(len > 0 ? len : 1); /* of exactly that size */
    FUZZ_CHECK(copy != NULL);
    memcpy(copy, bytes, len);
    if (ct_ep_rkey_open(ep, copy, len, &k) == CTRAN_SUCCESS) {
        ct_ep_rkey_close(k);
    }
    free(copy);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int toy_lookup(struct ct_job *job, uint32_t id, const void **record, size_t *len_bytes)
{
    (void)job, (void)id, (void)record, (void)len_bytes;
    return CTRAN_ERR_BOOTSTRAP;
}

static int toy_publish(struct ct_job *job, const void *record, size_t len_bytes)
{
    (void)job, (void)record, (void)len_bytes;
    return CTRAN_SUCCESS;
}

static const struct ct_job_ops job_ops = {
    .name = "toy", .publish = toy_publish, .lookup = toy_lookup};

static void begin(void)
{
    static char none[] = "";
    ct_log_init(&w.p.log, CT_LOG_NONE, "fuzz");
    w.p.cfg.transports = none;
    w.p.cfg.labels = w.p.cfg.topology_file = none;
    w.job = (struct ct_job){
        .ops = &job_ops, .p = &w.p, .id = "fuzz", .rank = ME, .size = 2, .nlocal = 1, .ncpus = 1};
    w.p.job = &w.job;
    FUZZ_CHECK(ct_ep_init(&w.p) == CTRAN_SUCCESS);
    w.p.ep->nets[w.p.ep->nnets++] = &net;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {data, size};
    memset(&w, 0, sizeof w);
    memset(ops, 0, sizeof ops);
    memset(memory, 0, sizeof memory);
    begin();
    struct ct_ep *ep = ct_ep_get(&w.p, PEER);
    FUZZ_CHECK(ep != NULL);
    ep->link = &to_peer;
    ep->state = CT_EP_CONNECTED;
    struct ct_ep_region *regions[] = {expose(7, CT_EP_ANY_PEER), expose(7, ME),
                                      expose(CT_NET_REMOTE_READ, PEER)};
    uint64_t             keys[3];
    for (unsigned i = 0; i < 3; i++) {
        keys[i] = ct_ep_region_key(regions[i]);
    }
    struct ct_ep_rkey rkey = {.ep = ep, .key = 1};
    while (f.left > 0) {
        switch (fuzz_below(&f, 8)) {
        case 0:
            w.full = !w.full;
            break;
        case 1:
            (void)ct_ep_progress(&w.p);
            break;
        case 2:
            start(&f, fuzz_below(&f, OPS), &rkey);
            break;
        case 3:
            packed(&f, ep, regions[0]);
            break;
        case 4:
            (void)ct_ep_fence(ep);
            break;
        default:
            deliver(&f, ep, keys);
        }
        check_all();
    }
    ct_ep_withdraw(regions[0]); /* an answer may wait that reads it */
    w.full = false;
    ct_ep_fail(ep, CTRAN_ERR_PROC_FAILED);
    (void)ct_ep_progress(&w.p);
    for (unsigned i = 0; i < OPS; i++) {
        FUZZ_CHECK(ops[i].comp.pending == 0);
    }
    check_all();
    ct_ep_withdraw(regions[1]);
    ct_ep_withdraw(regions[2]); /* which the failure has taken out of the table */
    ct_ep_fini(&w.p);
    return 0;
}
