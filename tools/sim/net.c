/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of the cluster, and what they are busy with; the model is in sim.h. */
#include <stdlib.h>

#include "sim.h"

/* What a rank has of its own. */
struct port {
    struct sim_link nvlink_out, nvlink_in;
};

struct sim_net {
    const struct sim_cluster *c;
    struct ct_location       *locations; /* of all ranks of the call */
    uint32_t                  n, period, nics;
    struct port              *ports;
    struct sim_link          *nics_out, *nics_in, *shared;       /* by host, from 1 on */
    struct sim_link          *up[SIM_LEVELS], *down[SIM_LEVELS]; /* by group, from 1 on */
    double                    nvlink_ps, nic_ps, memory_ps, shared_ps, uplink_ps[SIM_LEVELS];
    uint64_t                  latency[CT_DIST_CLASSES];
};

static double ps_a_byte(double rate)
{
    return rate > 0 ? 1e12 / rate : 0;
}

static uint32_t group_of(const struct ct_location *s, enum sim_level level)
{
    return level == SIM_RACK ? s->rack : level == SIM_ZONE ? s->zone : s->dc;
}

/* The first ranks 0 .. period - 1 have the lowest numbers. */
static uint32_t groups(const struct sim_net *net, enum sim_level level)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < net->period; i++) {
        most = ct_max_size(most, group_of(&net->locations[i], level));
    }
    return most;
}

static void find_rates(struct sim_net *net)
{
    const struct sim_cluster *c = net->c;
    const uint32_t            hosts[] = {c->shape.hosts, c->shape.racks, c->shape.zones};
    double                    below = c->nic * net->nics;
    net->nvlink_ps = ps_a_byte(c->nvlink);
    net->nic_ps = ps_a_byte(c->nic);
    net->memory_ps = ps_a_byte(c->memory);
    net->shared_ps = ps_a_byte(c->shared);
    for (int l = 0; l < SIM_LEVELS; l++) {
        below *= hosts[l];
        net->uplink_ps[l] = ps_a_byte(c->uplink[l] > 0 ? c->uplink[l] : below / c->over[l]);
    }
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        net->latency[d] = (uint64_t)(c->latency_us[d] * SIM_PS_PER_US + 0.5);
    }
}

static bool reserve(struct sim_net *net)
{
    uint32_t hosts = net->locations[net->period - 1].node + 1;
    bool     good = true;
    net->ports = sim_zeros(net->period, sizeof *net->ports);
    net->nics_out = sim_zeros((size_t)hosts * net->nics, sizeof *net->nics_out);
    net->nics_in = sim_zeros((size_t)hosts * net->nics, sizeof *net->nics_in);
    net->shared = calloc(hosts, sizeof *net->shared);
    good =
        net->ports != NULL && net->nics_out != NULL && net->nics_in != NULL && net->shared != NULL;
    for (int l = 0; l < SIM_LEVELS; l++) {
        uint32_t n = groups(net, (enum sim_level)l) + 1;
        net->up[l] = calloc(n, sizeof *net->up[l]);
        net->down[l] = calloc(n, sizeof *net->down[l]);
        good = good && net->up[l] != NULL && net->down[l] != NULL;
    }
    return good;
}

struct sim_net *sim_net_make(const struct sim_cluster *c, uint32_t n, uint32_t period)
{
    struct sim_net *net = calloc(1, sizeof *net);
    if (net == NULL) {
        return NULL;
    }
    net->c = c;
    net->n = n;
    net->period = period;
    net->nics = c->nics > 0 ? c->nics : c->shape.gpus;
    net->locations = sim_zeros(n, sizeof *net->locations);
    if (net->locations == NULL ||
        ct_cluster_locations(&c->shape, n, net->locations) != CTRAN_SUCCESS || !reserve(net)) {
        sim_net_free(net);
        return NULL;
    }
    find_rates(net);
    return net;
}

void sim_net_free(struct sim_net *net)
{
    if (net == NULL) {
        return;
    }
    free(net->locations);
    free(net->ports);
    free(net->nics_out);
    free(net->nics_in);
    free(net->shared);
    for (int l = 0; l < SIM_LEVELS; l++) {
        free(net->up[l]);
        free(net->down[l]);
    }
    free(net);
}

uint32_t sim_net_host(const struct sim_net *net, uint32_t rank)
{
    return net->locations[rank].node - 1;
}

enum ct_distance sim_net_distance(const struct sim_net *net, uint32_t from, uint32_t to)
{
    return ct_distance_between(net->locations, from, to);
}

uint64_t sim_net_latency(const struct sim_net *net, enum ct_distance d)
{
    return net->latency[d];
}

uint64_t sim_net_least_latency(const struct sim_net *net)
{
    uint64_t least = net->latency[CT_DIST_NODE];
    for (int d = CT_DIST_NODE; d < CT_DIST_CLASSES; d++) {
        least = net->latency[d] < least ? net->latency[d] : least;
    }
    return least;
}

uint64_t sim_net_least(const struct sim_net *net, uint64_t bytes)
{
    return sim_ps_of(bytes, 1e12 / (net->c->nvlink + net->c->nic));
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct sim_link *nic_of(const struct sim_net *net, struct sim_link *nics, uint32_t rank)
{
    uint32_t gpus = net->c->shape.gpus;
    return &nics[(size_t)net->locations[rank].node * net->nics + rank % gpus * net->nics / gpus];
}

static struct sim_hop group_hop(const struct sim_net *net, struct sim_link *const links[],
                                uint32_t rank, int level)
{
    const uint32_t group = group_of(&net->locations[rank], (enum sim_level)level);
    return (struct sim_hop){&links[level][group], net->uplink_ps[level]};
}

unsigned sim_net_path(const struct sim_net *net, uint32_t from, uint32_t to, enum ct_distance d,
                      struct sim_hop *hop)
{
    int      levels = (int)d - (int)CT_DIST_RACK; /* that it leaves */
    unsigned n = 0;
    from %= net->period;
    to %= net->period;
    if (d == CT_DIST_SELF) {
        return 0;
    }
    if (d <= CT_DIST_NVLINK) {
        hop[n++] = (struct sim_hop){&net->ports[from].nvlink_out, net->nvlink_ps};
        if (d == CT_DIST_NODE && net->shared_ps > 0) {
            hop[n++] = (struct sim_hop){&net->shared[net->locations[from].node], net->shared_ps};
        }
        hop[n++] = (struct sim_hop){&net->ports[to].nvlink_in, net->nvlink_ps};
        return n;
    }
    hop[n++] = (struct sim_hop){nic_of(net, net->nics_out, from), net->nic_ps};
    for (int l = 0; l < levels; l++) {
        hop[n++] = group_hop(net, net->up, from, l);
    }
    for (int l = levels - 1; l >= 0; l--) {
        hop[n++] = group_hop(net, net->down, to, l);
    }
    hop[n++] = (struct sim_hop){nic_of(net, net->nics_in, to), net->nic_ps};
    return n;
}

void sim_net_fetch_locations(const struct sim_net *net, uint32_t from, uint32_t to)
{
    __builtin_prefetch(&net->locations[from % net->period]);
    __builtin_prefetch(&net->locations[to % net->period]);
}

void sim_net_fetch_links(const struct sim_net *net, uint32_t from, uint32_t to)
{
    from %= net->period;
    to %= net->period;
    __builtin_prefetch(&net->ports[from], 1);
    __builtin_prefetch(&net->ports[to], 1);
    __builtin_prefetch(nic_of(net, net->nics_out, from), 1);
    __builtin_prefetch(nic_of(net, net->nics_in, to), 1);
}

void sim_net_send(struct sim_net *net, uint32_t from, uint32_t to, uint64_t bytes, uint64_t now,
                  uint64_t *left, uint64_t *arrived)
{
    struct sim_hop   hops[SIM_HOPS];
    enum ct_distance d = ct_distance_between(net->locations, from, to);
    unsigned         n = sim_net_path(net, from, to, d, hops);
    struct sim_way   w = {now, now};
    *left = w.tail = n == 0 ? now + sim_ps_of(bytes, net->memory_ps) : now;
    for (unsigned i = 0; i < n; i++) {
        struct sim_link *link = hops[i].link;
        const uint64_t   ps = sim_ps_of(bytes, hops[i].ps_a_byte);
        link->waited = sim_add(link->waited, sim_pass(&w, &link->free_at, ps));
        link->busy += ps; /* which ends before free_at */
        link->bytes = sim_add(link->bytes, bytes);
        *left = i == 0 ? w.tail : *left;
    }
    *arrived = w.tail + net->latency[d];
}

uint64_t sim_net_waited(const struct sim_net *net, enum sim_level level)
{
    uint64_t sum = 0;
    for (uint32_t g = groups(net, level); g > 0; g--) {
        sum = sim_add(sum, net->up[level][g].waited);
        sum = sim_add(sum, net->down[level][g].waited);
    }
    return sum;
}

/* ---- what the links had to do ---------------------------------------------------------------- */

struct telling {
    void (*each)(void *arg, const struct sim_load *load, uint32_t step);
    void *arg;
};

static void tell(const struct telling *to, const struct sim_link *link, unsigned kind, bool in,
                 uint32_t place, uint32_t step)
{
    const struct sim_load load = {.kind = (uint8_t)kind,
                                  .place = place,
                                  .in = in,
                                  .bytes = link->bytes,
                                  .busy_ps = link->busy,
                                  .waited_ps = link->waited};
    if (link->bytes > 0) {
        to->each(to->arg, &load, step);
    }
}

/* Where rank `period` is, which the first one stands for; where there is none, the same. */
static const struct ct_location *next_location(const struct sim_net *net)
{
    return &net->locations[net->period < net->n ? net->period : 0];
}

static void tell_hosts(const struct sim_net *net, const struct telling *to)
{
    const uint32_t hosts = net->locations[net->period - 1].node;
    const uint32_t step = next_location(net)->node - net->locations[0].node;
    for (uint32_t i = 0; i < net->period; i++) {
        tell(to, &net->ports[i].nvlink_out, SIM_NVLINK, false, i, net->period);
        tell(to, &net->ports[i].nvlink_in, SIM_NVLINK, true, i, net->period);
    }
    for (uint32_t h = 0; h < hosts; h++) {
        tell(to, &net->shared[h + 1], SIM_SHARED, false, h, step);
    }
    for (uint32_t i = 0; i < hosts * net->nics; i++) {
        tell(to, &net->nics_out[net->nics + i], SIM_NIC, false, i, step * net->nics);
        tell(to, &net->nics_in[net->nics + i], SIM_NIC, true, i, step * net->nics);
    }
}

void sim_net_links(const struct sim_net *net,
                   void (*each)(void *arg, const struct sim_load *load, uint32_t step), void *arg)
{
    const struct telling to = {each, arg};
    tell_hosts(net, &to);
    for (int l = 0; l < SIM_LEVELS; l++) {
        const enum sim_level level = (enum sim_level)l;
        const unsigned       kind = SIM_UPLINK + (unsigned)l;
        const uint32_t       step =
            group_of(next_location(net), level) - group_of(&net->locations[0], level);
        for (uint32_t g = groups(net, level); g > 0; g--) {
            tell(&to, &net->up[l][g], kind, false, g - 1, step);
            tell(&to, &net->down[l][g], kind, true, g - 1, step);
        }
    }
}

/* ---- symmetry -------------------------------------------------------------------------------- */

/* Whether, of events of one time, some follow from others: what sends or arrives without taking
 * time. Their order is not the same on all ranks. */
static bool is_instant(const struct sim_cluster *c)
{
    bool instant = !(c->send_us > 0);
    for (int d = CT_DIST_NODE; d < CT_DIST_CLASSES; d++) {
        instant |= !(c->latency_us[d] > 0);
    }
    return instant;
}

/* Groups of one level are alike, and lie side by side. So where all ranks are of one group at each
 * level above some, turning by a group of that one brings each link to another of its kind. */
uint32_t sim_net_period(const struct sim_cluster *c, uint32_t n)
{
    const struct ct_cluster *s = &c->shape;
    const uint32_t           factors[] = {s->gpus, s->hosts, s->racks, s->zones};
    uint32_t                 size = 1, period = 1;
    if (s->seed != 0 || is_instant(c)) {
        return n;
    }
    if (c->cores > 0 || (c->nics > 0 && c->nics < s->gpus) || c->shared > 0 || c->move > 0) {
        return n; /* who comes first at what they share decides */
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(factors); i++) {
        size *= factors[i];
        if (size < n) {
            period = size;
        } else {
            break;
        }
    }
    if (s->nvlink > 0 && s->nvlink < s->hosts && period == s->gpus) {
        period *= s->nvlink;
        period = s->hosts % s->nvlink == 0 ? period : n;
    }
    return n % period == 0 ? period : n;
}
