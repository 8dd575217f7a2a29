/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What peers send of windows: requests and answers. The process is a target with a window, or with
 * memory attached to a dynamic one, and an origin with operations under way by messages. Whatever
 * comes, no byte outside of what is exposed or asked for changes, and each operation ends once.
 */
#include "fuzz.h"

#include "ep/ep_set.h"
#include "rma/make.h"

enum { ME = 0, PEER = 1, WIN_BYTES = 256, GUARD = 32, OPS = 4, OP_BYTES = 96, MAX_SLICE = 128 };

static struct {
    struct ct_process   p;
    struct ct_job       job;
    struct ct_comm      comm;
    struct ct_group     group;
    struct ct_win       win;
    struct ct_win_peer  peers[2];
    struct ct_win_range range;
    bool                full; /* there is no room */
} w;

static unsigned char memory[GUARD + WIN_BYTES + GUARD];
static CT_ALIGNED(CT_CACHE_LINE) char ctl[1024];
static unsigned char results[OPS][GUARD + OP_BYTES + GUARD];

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

/* ---- the window ------------------------------------------------------------------------------ */

static void open_window(bool is_dynamic)
{
    struct ct_win *win = &w.win;
    w.group = (struct ct_group){.n = 2, .p = &w.p};
    w.comm = (struct ct_comm){.p = &w.p, .group = &w.group, .refs = {1}};
    win->p = &w.p;
    win->comm = &w.comm;
    win->id = 77;
    win->n = 2;
    win->flavor = is_dynamic ? CTRAN_WIN_FLAVOR_DYNAMIC : CTRAN_WIN_FLAVOR_CREATE;
    win->base = memory + GUARD;
    win->size_bytes = WIN_BYTES;
    win->ctl = (struct ct_win_ctl *)ctl;
    win->peers = w.peers;
    FUZZ_CHECK(ct_ctl_bytes(2) <= sizeof ctl);
    ct_list_init(&win->ranges);
    ct_list_init(&win->waits);
    ct_list_init(&win->line);
    w.range = (struct ct_win_range){.base = (uintptr_t)memory + GUARD, .len_bytes = WIN_BYTES};
    ct_list_append(&win->ranges, &w.range.node);
    for (unsigned r = 0; r < 2; r++) {
        struct ct_win_peer *peer = &w.peers[r];
        peer->win = win;
        peer->ep = ct_ep_get(&w.p, r);
        peer->size_bytes = WIN_BYTES;
        ct_list_init(&peer->ops);
        ct_list_init(&peer->sent);
        ct_list_init(&peer->signallers);
        ct_list_init(&peer->line);
    }
    ct_win_list(win);
}

static void start(struct fuzz *f, unsigned i)
{
    static const ctran_op_t choices[] = {CTRAN_SUM, CTRAN_REPLACE, CTRAN_NO_OP, CTRAN_MAX};
    const struct ct_dtype  *elem = ct_rma_scalar_type(fuzz_below(f, CT_SCALAR_COUNT));
    if (elem == NULL || atomic_load(&w.peers[PEER].pending) >= OPS) {
        return;
    }
    const size_t       n = 1 + fuzz_below(f, OP_BYTES / (uint32_t)elem->size_bytes);
    struct ct_area     area = {.base = results[i] + GUARD, .len_bytes = n * elem->size_bytes};
    struct ct_rma_args a = {.kind = (enum ct_rma_kind)fuzz_below(f, 3),
                            .peer = &w.peers[PEER],
                            .origin = area,
                            .result = area,
                            .target_count = n,
                            .target_type = elem,
                            .elem = elem,
                            .op = choices[fuzz_below(f, CT_ARRAY_LEN(choices))]};
    (void)ct_rma_start(&w.win, &a, NULL);
}

static void check_all(void)
{
    for (unsigned b = 0; b < GUARD; b++) {
        FUZZ_CHECK(memory[b] == 0 && memory[GUARD + WIN_BYTES + b] == 0);
        for (unsigned i = 0; i < OPS; i++) {
            FUZZ_CHECK(results[i][b] == 0 && results[i][GUARD + OP_BYTES + b] == 0);
        }
    }
}

/* ---- what the peer sends --------------------------------------------------------------------- */

/* A place that is often within the window, or nearly. */
static uint64_t place(struct fuzz *f, bool is_dynamic)
{
    const uint64_t at = fuzz_below(f, 4) == 0 ? fuzz_number(f, 8) : fuzz_below(f, WIN_BYTES + 8);
    return is_dynamic && fuzz_below(f, 8) != 0 ? at + (uintptr_t)memory + GUARD : at;
}

static void request(struct fuzz *f, struct ct_ep *from, bool is_dynamic)
{
    uint64_t       hdr[4] = {fuzz_below(f, 8) == 0 ? fuzz_number(f, 8) : 77, fuzz_below(f, 4)};
    const uint32_t nblocks = fuzz_below(f, 5);
    const uint8_t  kind = (uint8_t)fuzz_below(f, 10);
    const uint8_t  ops[] = {0x21, 0x24, 0x28, 0x38, 0x3c, 0x3d, (uint8_t)fuzz_number(f, 1)};
    hdr[2] = kind | (uint64_t)ops[fuzz_below(f, CT_ARRAY_LEN(ops))] << 8 |
             (uint64_t)fuzz_below(f, CT_SCALAR_COUNT + 1) << 16 | (uint64_t)fuzz_below(f, 3) << 24 |
             (uint64_t)nblocks << 32;
    hdr[3] = fuzz_below(f, 4);
    uint64_t blocks[10] = {0};
    for (uint32_t i = 0; i < nblocks; i++) {
        blocks[2 * i] = place(f, is_dynamic);
        blocks[2 * i + 1] = fuzz_below(f, 16) == 0 ? fuzz_number(f, 8) : fuzz_below(f, 6);
    }
    size_t         len;
    uint8_t       *data = fuzz_bytes(f, fuzz_below(f, MAX_SLICE), &len);
    const size_t   head = kind <= 1 ? 16 * nblocks : 0;
    uint8_t       *payload = malloc(head + len + 1);
    const size_t   hdr_len = fuzz_below(f, 32) == 0 ? fuzz_below(f, 64) : sizeof hdr;
    const uint64_t wide[8] = {hdr[0], hdr[1], hdr[2], hdr[3]};
    FUZZ_CHECK(payload != NULL);
    memcpy(payload, blocks, head);
    memcpy(payload + head, data, len);
    w.p.ep->env.deliver(from, w.p.rma->request, wide, hdr_len, payload, head + len);
    free(payload);
    free(data);
}

static void answer(struct fuzz *f, struct ct_ep *from)
{
    const struct ct_win_peer *peer = &w.peers[PEER];
    const uint64_t seq = peer->seq - (fuzz_below(f, 4) == 0 ? fuzz_number(f, 1) : peer->nsent - 1);
    const uint64_t hdr[3] = {77, seq,
                             (fuzz_below(f, 4) == 0 ? (uint32_t)fuzz_number(f, 4) : 0) |
                                 (uint64_t)fuzz_below(f, 9) << 32};
    size_t         len;
    uint8_t       *data = fuzz_bytes(f, fuzz_below(f, OP_BYTES + 1), &len);
    w.p.ep->env.deliver(from, w.p.rma->reply, hdr, sizeof hdr, data, len);
    free(data);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static struct ct_ep *begin(void)
{
    static char none[] = "";
    ct_log_init(&w.p.log, CT_LOG_NONE, "fuzz");
    w.p.cfg.transports = none;
    w.p.cfg.labels = w.p.cfg.topology_file = none;
    w.job = (struct ct_job){
        .ops = &job_ops, .p = &w.p, .id = "fuzz", .rank = ME, .size = 2, .nlocal = 1, .ncpus = 1};
    w.p.job = &w.job;
    FUZZ_CHECK(ct_ep_init(&w.p) == CTRAN_SUCCESS && ct_rma_init(&w.p) == CTRAN_SUCCESS);
    w.p.ep->nets[w.p.ep->nnets++] = &net;
    struct ct_ep *ep = ct_ep_get(&w.p, PEER);
    FUZZ_CHECK(ep != NULL);
    ep->link = &to_peer;
    ep->state = CT_EP_CONNECTED;
    return ep;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {data, size};
    memset(&w, 0, sizeof w);
    memset(memory, 0, sizeof memory);
    memset(ctl, 0, sizeof ctl);
    memset(results, 0, sizeof results);
    struct ct_ep *ep = begin();
    const bool    is_dynamic = fuzz_below(&f, 2) != 0;
    open_window(is_dynamic);
    while (f.left > 0) {
        switch (fuzz_below(&f, 5)) {
        case 0:
            start(&f, fuzz_below(&f, OPS));
            break;
        case 1:
            answer(&f, ep);
            break;
        case 2:
            w.full = fuzz_below(&f, 2) != 0;
            (void)ct_ep_progress(&w.p);
            break;
        default:
            if (ep->state == CT_EP_CONNECTED) {
                request(&f, ep, is_dynamic);
            }
        }
        check_all();
    }
    w.full = false;
    ct_ep_fail(ep, CTRAN_ERR_PROC_FAILED);
    (void)ct_ep_progress(&w.p);
    FUZZ_CHECK(atomic_load(&w.peers[PEER].pending) == 0);
    HASH_DEL(w.p.rma->wins, &w.win);
    ct_ep_fini(&w.p);
    ct_rma_fini(&w.p);
    return 0;
}
