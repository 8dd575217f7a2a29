/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a short put over ib costs the processor: two sides in one process on the emulated verbs,
 * whose device then does nothing (emu_verbs_null), so that what is left is ours: posting, its
 * completion, and the progress that finds it. Best of several rounds.
 *
 *   bench/ib_cost [ROUNDS]
 */
#include <unistd.h>

#include "tests/net/ib_sides.h"

enum { OPS = 64, TURNS = 4000 };

static struct ct_net_rma  ops[OPS], *rows[OPS];
static struct ct_net_comp comp;

static void start(struct other *o, unsigned chain)
{
    for (unsigned i = 0; i < OPS; i += chain) {
        unsigned taken = 0;
        comp.pending += chain;
        FAIL_IF(ct_ib_rma_ops.post(o->link, &rows[i], chain, &taken) != 0 || taken != chain,
                "%u of %u posted", taken, chain);
    }
}

/* ns a put, posted in chains of so many. */
static double measure(struct other *o, unsigned chain)
{
    const uint64_t from = ct_clock_ns();
    for (unsigned t = 0; t < TURNS; t++) {
        start(o, chain);
        while (comp.pending > 0) {
            (void)ct_ib_progress(o->link->net);
        }
    }
    return (double)(ct_clock_ns() - from) / (OPS * TURNS);
}

int main(int argc, char **argv)
{
    static char          bytes[64];
    static struct ct_area area = {.base = bytes, .len_bytes = 8};
    const unsigned        chains[] = {1, 16, 64};
    const int             rounds = argc > 1 ? atoi(argv[1]) : 10;
    sides_begin("2", 1);
    side_open(0, "emu0", "CTRAN_IB_QPS=1");
    side_open(1, "emu1", "CTRAN_IB_QPS=1");
    struct other *o = link_to(0, 1);
    while (ct_ib_peer_of(o->link)->phase != CT_IB_OPEN) {
        (void)turn();
    }
    for (unsigned i = 0; i < OPS; i++) {
        rows[i] = &ops[i];
        ops[i] = (struct ct_net_rma){
            .op = CT_NET_OP_PUT, .rkey = o->rkey, .comp = &comp, .area = &area, .len_bytes = 8};
    }
    emu_verbs_null(true);
    ib_of(0)->now = ct_clock_ns;
    for (size_t c = 0; c < CT_ARRAY_LEN(chains); c++) {
        double best = 1e9;
        for (int r = 0; r < rounds; r++) {
            const double ns = measure(o, chains[c]);
            best = ns < best ? ns : best;
        }
        (void)printf("put of 8 bytes, %2u to a chain: %.1f ns\n", chains[c], best);
    }
    (void)fflush(stdout);
    sides_end();
    _exit(0); /* what the other side has not got it will not get */
}
