/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a run: of one call and of all ranks, or that its numbers are too large. */
#include "sim.h"

/* All ranks' share of one call, of what simulated ranks did in all calls; UINT64_MAX: too much. */
static uint64_t share(uint64_t sum, uint32_t stood_for, uint32_t calls)
{
    uint64_t all;
    bool     over = sum == UINT64_MAX || __builtin_mul_overflow(sum, stood_for, &all);
    return over ? UINT64_MAX : all / calls;
}

/* Least bytes that some rank must send or receive, whatever the algorithm. */
static uint64_t least_bytes(const struct sim_case *c)
{
    const uint32_t by_rank =
        CT_ALLGATHER | CT_GATHER | CT_SCATTER | CT_ALLTOALL | CT_REDUCE_SCATTER;
    uint64_t block = c->bytes / c->element * c->element;
    return c->coll == CT_BARRIER ? 0 : (c->coll & by_rank) != 0 ? block * (c->n - 1) : block;
}

bool sim_sum_up(const struct sim_case *c, const struct sim_net *net, uint32_t period,
                struct sim_result *r)
{
    const uint32_t calls = c->repeat, alike = c->n / period;
    r->stood_for = alike;
    for (uint32_t rank = 0; rank < period; rank++) {
        struct sim_count *each = &r->each[rank];
        r->total.messages += each->messages * alike / calls;
        r->too_much |= share(each->bytes, alike, 1) == UINT64_MAX;
        r->total.bytes = sim_add(r->total.bytes, each->bytes * alike);
        r->total.rounds += each->rounds * alike / calls;
        *each =
            (struct sim_count){each->messages / calls, each->bytes / calls, each->rounds / calls};
    }
    r->too_much |= r->total.bytes == UINT64_MAX || sim_is_beyond(r);
    r->total.bytes /= calls;
    sim_links_list(c, net, alike, r);
    r->time_ps /= calls;
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        r->level_bytes[d] = share(r->level_bytes[d], alike, calls);
    }
    for (int l = 0; l < SIM_LEVELS; l++) {
        r->waited_ps[l] = share(sim_net_waited(net, (enum sim_level)l), alike, calls);
        r->too_much |= r->waited_ps[l] == UINT64_MAX;
    }
    if (c->n > 1) { /* latencies of calls that follow each other may overlap */
        r->bound_ps =
            sim_net_least(net, least_bytes(c)) + (calls == 1 ? sim_net_least_latency(net) : 0);
    }
    return !r->too_much;
}
