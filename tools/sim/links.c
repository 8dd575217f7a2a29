/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The links that were busy longest, and their names. By symmetry a link stands for others, which
 * are listed as well: the list is the same as if all ranks had been simulated.
 */
#include <string.h>

#include "sim.h"

struct top {
    struct sim_load *load;
    uint32_t         n, most, alike; /* alike: how many links each one stands for */
};

/* A total order, so that the list is always the same. */
static bool is_before(const struct sim_load *a, const struct sim_load *b)
{
    if (a->busy_ps != b->busy_ps) {
        return a->busy_ps > b->busy_ps;
    }
    if (a->kind != b->kind) {
        return a->kind > b->kind;
    }
    return a->in != b->in ? b->in : a->place < b->place;
}

/* False: there are enough that come before it. */
static bool put(struct top *t, const struct sim_load *load)
{
    uint32_t at = t->n;
    while (at > 0 && is_before(load, &t->load[at - 1])) {
        at--;
    }
    if (at == t->most) {
        return false;
    }
    t->n += t->n < t->most;
    memmove(&t->load[at + 1], &t->load[at], (t->n - 1 - at) * sizeof *load);
    t->load[at] = *load;
    return true;
}

static void offer(void *arg, const struct sim_load *load, uint32_t step)
{
    struct top     *t = arg;
    struct sim_load copy = *load;
    for (uint32_t k = 0; k < t->alike && put(t, &copy); k++) {
        copy.place += step;
    }
}

void sim_links_list(const struct sim_case *c, const struct sim_net *net, uint32_t alike,
                    struct sim_result *r)
{
    struct top t = {.load = r->load, .most = c->links, .alike = alike};
    sim_net_links(net, offer, &t);
    r->loads = t.n;
    for (uint32_t i = 0; i < t.n; i++) {
        struct sim_load *l = &r->load[i];
        l->busy = r->time_ps > 0 ? (double)l->busy_ps / (double)r->time_ps : 0;
        l->bytes /= c->repeat;
        l->busy_ps /= c->repeat;
        l->waited_ps = l->waited_ps == UINT64_MAX ? UINT64_MAX : l->waited_ps / c->repeat;
    }
}

const char *sim_load_kind(const struct sim_load *load)
{
    static const char *const names[] = {[SIM_NVLINK] = "nvlink",
                                        [SIM_SHARED] = "shared",
                                        [SIM_NIC] = "nic",
                                        [SIM_UPLINK + SIM_RACK] = "rack",
                                        [SIM_UPLINK + SIM_ZONE] = "zone",
                                        [SIM_UPLINK + SIM_DC] = "dc"};
    return names[load->kind];
}

void sim_load_name(const struct sim_load *load, const struct sim_cluster *c, char *out, size_t cap)
{
    const char    *kind = sim_load_kind(load), *way = load->in ? "in" : "out";
    const uint32_t nics = c->nics > 0 ? c->nics : c->shape.gpus;
    switch (load->kind) {
    case SIM_NVLINK:
        (void)snprintf(out, cap, "rank %u nvlink %s", load->place, way);
        break;
    case SIM_SHARED:
        (void)snprintf(out, cap, "host %u shared", load->place);
        break;
    case SIM_NIC:
        (void)snprintf(out, cap, "host %u nic %u %s", load->place / nics, load->place % nics, way);
        break;
    default:
        (void)snprintf(out, cap, "%s %u %s", kind, load->place, load->in ? "down" : "up");
    }
}
