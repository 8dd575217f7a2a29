/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What DQPLB does to a fabric, measured in virtual time, so the figures are the same on each run.
 *
 *   permutation  Each of 8 hosts, two to a rack, sends to one of another rack. A rack has links to
 *                8 spines that carry together what its hosts do. With one data queue pair each, all
 *                on one spine (planted), two hosts share one link. With more queue pairs the flows
 *                spread, and pairs that find their way free take more.
 *   incast       4 hosts send to one. Without a limit the queue before the receiver takes all that
 *                the NICs may send; with one it stays short, at the same throughput.
 *
 * Prints a table; fails where the ratios are below 3 and 5. Source of the technique: NCCLX sec.
 * 4.4.
 */
#include "ib_sides.h"

enum { PAIRS = 8, SPINES = 8, SENDERS = 4, PUT_BYTES = 1 << 20, AT_A_TIME = 4, TOTAL = 24 };

struct flow {
    struct other      *o;
    struct ct_net_rma  op[AT_A_TIME];
    struct ct_net_comp comp[AT_A_TIME];
    struct ct_area     area;
    unsigned           begun;
};

static struct flow flows[PAIRS];

/* ---- flows ----------------------------------------------------------------------------------- */

static void feed(struct flow *f)
{
    for (unsigned i = 0; i < AT_A_TIME; i++) {
        struct ct_net_rma *op = &f->op[i];
        unsigned           taken;
        if (f->comp[i].pending > 0) {
            continue;
        }
        if (f->begun < TOTAL) {
            f->comp[i] = (struct ct_net_comp){.pending = 1};
            *op = (struct ct_net_rma){.op = CT_NET_OP_PUT,
                                      .rkey = f->o->rkey,
                                      .offset = (uint64_t)f->o->side->id * (2 << 20),
                                      .comp = &f->comp[i],
                                      .area = &f->area,
                                      .len_bytes = PUT_BYTES};
            FAIL_IF(ct_ib_rma_ops.post(f->o->link, &op, 1, &taken) != CTRAN_SUCCESS, "post");
            f->begun++;
        }
    }
}

static bool is_over(const struct flow *f)
{
    bool over = f->begun == TOTAL;
    for (unsigned i = 0; i < AT_A_TIME; i++) {
        over = over && f->comp[i].pending == 0;
    }
    return over;
}

/* Gbit/s of all flows together. */
static double run(unsigned n)
{
    const uint64_t from = emu_verbs_now_ns();
    for (bool over = false; !over;) {
        (void)turn();
        over = true;
        for (unsigned i = 0; i < n; i++) {
            feed(&flows[i]);
            over = over && is_over(&flows[i]);
        }
    }
    return 8.0 * n * TOTAL * PUT_BYTES / (double)(emu_verbs_now_ns() - from);
}

static void begin_flow(struct flow *f, uint32_t from, uint32_t to)
{
    static char bytes[PUT_BYTES];
    *f = (struct flow){.o = link_to(from, to), .area = {.base = bytes, .len_bytes = PUT_BYTES}};
    while (ct_ib_peer_of(f->o->link)->phase != CT_IB_OPEN) {
        (void)turn();
    }
}

/* ---- the planted collision ------------------------------------------------------------------- */

/* As the emulated fabric chooses (emu/verbs/path.c). */
static unsigned spine_of(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return (unsigned)((x ^ x >> 33) % SPINES);
}

static unsigned spine_of_flow(const struct flow *f)
{
    const struct ct_ib_peer *here = ct_ib_peer_of(f->o->link);
    const struct ct_ib_peer *there = ct_ib_peer_find(ib_of(f->o->id), f->o->side->id);
    return spine_of((uint64_t)ct_ib_peer_qpset(here)->qp[1].qp->qp_num << 24 |
                    ct_ib_peer_qpset(there)->qp[1].qp->qp_num);
}

/* Other queue pairs, with other numbers, until the flow goes by spine 0. */
static void plant(struct flow *f)
{
    struct ct_ib_peer *here = ct_ib_peer_of(f->o->link);
    struct ct_ib_peer *there = ct_ib_peer_find(ib_of(f->o->id), f->o->side->id);
    while (there->phase != CT_IB_OPEN) {
        (void)turn();
    }
    for (unsigned i = 0; spine_of_flow(f) != 0; i++) {
        FAIL_IF(i > 1000, "no collision");
        ct_ib_peer_park(here);
        while (here->phase != CT_IB_PARKED || there->phase != CT_IB_PARKED) {
            (void)turn();
        }
        /* The lower numbers go to the other side in turn. */
        ct_ib_peer_need(i % 2 == 0 ? there : here);
        while (here->phase != CT_IB_OPEN || there->phase != CT_IB_OPEN) {
            (void)turn();
        }
    }
}

/* ---- experiments ----------------------------------------------------------------------------- */

static void open_sides(unsigned n, const char *settings)
{
    for (uint32_t i = 0; i < n; i++) {
        char device[16];
        (void)snprintf(device, sizeof device, "emu%u:%u", i / 2, 1 + i % 2);
        side_open(i, device, settings);
    }
}

static double permutation(const char *settings, bool planted)
{
    FAIL_IF(emu_verbs_command("racks device") != 0 || emu_verbs_command("spines 8") != 0 ||
                emu_verbs_command("link * rate=100g latency=1us") != 0 ||
                emu_verbs_command("link leaf:*/* rate=25g") != 0 ||
                emu_verbs_command("link spine:*/* rate=25g") != 0,
            "fabric");
    open_sides(2 * PAIRS, settings);
    for (unsigned i = 0; i < PAIRS; i++) {
        begin_flow(&flows[i], i, PAIRS + i);
        if (planted) {
            plant(&flows[i]);
        }
    }
    const double gbps = run(PAIRS);
    sides_close();
    return gbps;
}

static double incast(const char *settings, uint64_t *peak_bytes, unsigned receiver)
{
    struct emu_link_counts counts;
    char                   link[32];
    FAIL_IF(emu_verbs_command("racks none") != 0 ||
                emu_verbs_command("link * rate=100g latency=1us") != 0,
            "fabric");
    open_sides(SENDERS, settings);
    (void)snprintf(link, sizeof link, "emu7:%u", receiver);
    side_open(SENDERS, link, settings);
    for (unsigned i = 0; i < SENDERS; i++) {
        begin_flow(&flows[i], i, SENDERS);
    }
    const double gbps = run(SENDERS);
    (void)snprintf(link, sizeof link, "down:emu7/%u", receiver);
    FAIL_IF(emu_verbs_counts(link, &counts) != 0, "counts");
    *peak_bytes = counts.peak_bytes;
    sides_close();
    return gbps;
}

int main(void)
{
    uint64_t free_peak, short_peak;
    setenv("EMU_VERBS_PORTS", "2", 1);
    sides_begin("8", 5);
    const double free_gbps =
        incast("CTRAN_IB_QPS=4 CTRAN_IB_SEGMENT=64K CTRAN_IB_OUTSTANDING=1024", &free_peak, 1);
    const double short_gbps =
        incast("CTRAN_IB_QPS=4 CTRAN_IB_SEGMENT=16K CTRAN_IB_OUTSTANDING=2", &short_peak, 2);
    const double one = permutation("CTRAN_IB_QPS=1", true);
    const double many =
        permutation("CTRAN_IB_QPS=16 CTRAN_IB_SEGMENT=64K CTRAN_IB_OUTSTANDING=2", false);
    sides_end();
    (void)printf("permutation of %d, Gbit/s: one queue pair each, colliding %.0f; 16 each %.0f "
                 "(%.1f times)\n",
                 PAIRS, one, many, many / one);
    (void)printf("incast of %d, queue peak KiB at Gbit/s: no limit %.0f at %.1f; limits %.0f at "
                 "%.1f (%.1f times lower)\n",
                 SENDERS, (double)free_peak / 1024, free_gbps, (double)short_peak / 1024,
                 short_gbps, (double)free_peak / (double)short_peak);
    FAIL_IF(many < 3 * one, "DQPLB gains less than 3 times");
    FAIL_IF(free_peak < 5 * short_peak, "limits lower the queue less than 5 times");
    FAIL_IF(short_gbps < 0.97 * free_gbps, "limits cost throughput");
    return 0;
}
