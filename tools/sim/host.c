/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How fast a host's processors move bytes, by how much passes through their caches. A message goes
 * through the memory that its pair of ranks has for that: `ring` bytes, one place after the other
 * and then from the beginning, so in the long run all of them, however short messages are. Besides
 * there are the ranks' own vectors. What goes round and is more than a cache holds comes from
 * farther away each time; so of all bytes the part that exceeds a core's own cache is moved at the
 * rate `far`, and the part that exceeds all of the host at `dram`. And what a rank has written
 * in this call another core has to fetch from the first one's cache, at the rate `fresh`: its input
 * it has seen before, and lines that nobody has written stay where they are read.
 */
#include <stdlib.h>

#include "sim.h"

struct sim_host {
    uint32_t              ranks, cores; /* of a host, which both work */
    uint32_t              words;        /* a rank: whom it has sent to */
    uint64_t             *met;
    uint64_t             *rings; /* by host: bytes */
    uint64_t              data;  /* of a host's ranks */
    double                move_ps, fresh_ps, far_ps, dram_ps, cache, llc;
    uint64_t              ring;
    const struct sim_net *net;
};

static double ps_of(double rate, double otherwise)
{
    return rate > 0 ? 1e12 / rate : otherwise;
}

struct sim_host *sim_host_make(const struct sim_net *net, uint32_t ranks,
                               const struct sim_cluster *of, const struct sim_vector *v)
{
    const uint32_t   gpus = of->shape.gpus, busy = ct_min_size(gpus, ranks);
    struct sim_host *h = calloc(1, sizeof *h);
    if (h == NULL) {
        return NULL;
    }
    *h = (struct sim_host){.ranks = busy,
                           .cores = of->cores > 0 ? ct_min_size(of->cores, busy) : busy,
                           .words = (gpus + 63) / 64,
                           .move_ps = 1e12 / of->move,
                           .cache = (double)of->cache,
                           .llc = (double)of->llc,
                           .ring = of->ring,
                           .net = net};
    h->fresh_ps = ps_of(of->fresh, h->move_ps);
    h->far_ps = ps_of(of->far, h->move_ps);
    h->dram_ps = ps_of(of->dram, h->far_ps);
    h->data = 2 * h->ranks * v->count * v->element;
    h->met = calloc((size_t)ranks * h->words, sizeof *h->met);
    h->rings = calloc(sim_net_host(net, ranks - 1) + 1, sizeof *h->rings);
    if (h->met == NULL || h->rings == NULL) {
        sim_host_free(h);
        return NULL;
    }
    return h;
}

void sim_host_free(struct sim_host *h)
{
    if (h != NULL) {
        free(h->met);
        free(h->rings);
        free(h);
    }
}

void sim_host_note(struct sim_host *h, uint32_t from, uint32_t to)
{
    const uint32_t place = to % (h->words * 64);
    uint64_t      *word = &h->met[(size_t)from * h->words + place / 64];
    if ((*word >> place % 64 & 1) == 0) {
        *word |= UINT64_C(1) << place % 64;
        h->rings[sim_net_host(h->net, from)] += h->ring;
    }
}

/* The part of so many bytes that a cache does not hold. */
static double beyond(double bytes, double cache)
{
    return cache > 0 && bytes > cache ? 1 - cache / bytes : 0;
}

/* Both ends' caches see a ring. */
uint64_t sim_host_move(const struct sim_host *h, uint32_t from, uint32_t to, uint64_t bytes,
                       bool fresh)
{
    const double rings = (double)h->rings[sim_net_host(h->net, from)], data = (double)h->data;
    const bool   fetched = fresh && from % h->cores != to % h->cores; /* cores are dealt in turn */
    const double move_ps = fetched ? h->fresh_ps : h->move_ps;
    const double far = beyond((2 * rings + data) / h->cores, h->cache);
    const double dram = beyond(rings + data, h->llc);
    const double far_ps = move_ps > h->far_ps ? move_ps : h->far_ps;
    return sim_ps_of(bytes,
                     (1 - far) * move_ps + (far - far * dram) * far_ps + far * dram * h->dram_ps);
}
