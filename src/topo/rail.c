/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails; see rail.h. GPUs choose first, then NUMA nodes, each side for itself: a rank has the rails
 * of its GPU or those of its NUMA node. All loops go by index, so equal machines choose alike.
 */
#include "topo/rail_side.h"

#include <stdio.h>
#include <string.h>

struct choice {
    const struct ct_machine *m;
    bool                     serves[CT_MACHINE_NICS];
    uint64_t                 speed[CT_MACHINE_NICS]; /* of a bond: of its members that are up */
};

static void rail_measure(struct choice *c, const struct ct_machine *m)
{
    c->m = m;
    memset(c->speed, 0, sizeof c->speed);
    ct_rails_serving(m, c->serves);
    for (uint32_t i = 0; i < m->nnics; i++) {
        if (m->nics[i].up) {
            c->speed[ct_rails_bond(m, (int)i)] += m->nics[i].speed_mbps;
        }
    }
}

/* Could `nic` replace the owner's primary without a difference? */
static bool is_equal(const struct choice *c, const struct ct_rail_side *s, uint32_t owner,
                     uint32_t nic)
{
    int primary = s->rails[owner].primary;
    return primary >= 0 && c->serves[nic] && s->path[owner][nic] == s->path[owner][primary] &&
           c->speed[nic] == c->speed[primary];
}

static void choose_primaries(const struct choice *c, struct ct_rail_side *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        int best = -1;
        for (uint32_t k = 0; !s->settled[i] && k < c->m->nnics; k++) {
            const uint8_t *path = s->path[i];
            if (!c->serves[k]) {
                continue;
            }
            if (best < 0 || path[k] < path[best] ||
                (path[k] == path[best] &&
                 (c->speed[k] > c->speed[best] ||
                  (c->speed[k] == c->speed[best] && s->users[k] < s->users[best])))) {
                best = (int)k;
            }
        }
        if (best >= 0) {
            s->rails[i].primary = (int16_t)best;
            s->users[best]++;
        }
    }
}

/* Looks for owners that move, one after the other, so that `from` loses a user and a NIC with two
 * less gains one: breadth first over NICs. True: they have moved. */
static bool rail_relieve(const struct choice *c, struct ct_rail_side *s, uint32_t from)
{
    int16_t  mover[CT_MACHINE_NICS]; /* who would come to a NIC; -1: not reached */
    uint8_t  queue[CT_MACHINE_NICS] = {(uint8_t)from};
    uint32_t nqueue = 1;
    memset(mover, 0xff, sizeof mover);
    for (uint32_t head = 0; head < nqueue; head++) {
        for (uint32_t i = 0; i < s->n; i++) {
            if (s->settled[i] || s->rails[i].primary != queue[head]) {
                continue;
            }
            for (uint32_t k = 0; k < c->m->nnics; k++) {
                if (k == from || mover[k] >= 0 || !is_equal(c, s, i, k)) {
                    continue;
                }
                mover[k] = (int16_t)i;
                queue[nqueue++] = (uint8_t)k;
                if (s->users[k] + 2 > s->users[from]) {
                    continue;
                }
                s->users[k]++;
                s->users[from]--;
                for (uint32_t at = k, came; at != from; at = came) {
                    came = (uint32_t)s->rails[mover[at]].primary;
                    s->rails[mover[at]].primary = (int16_t)at;
                }
                return true;
            }
        }
    }
    return false;
}

/* The first free NIC may have gone to an owner with a choice, and not to the one without. Each
 * round makes the sum of the users' squares smaller, so this ends. */
static void rail_balance(const struct choice *c, struct ct_rail_side *s)
{
    for (uint32_t k = 0; k < c->m->nnics; k++) {
        while (s->users[k] > 1 && rail_relieve(c, s, k)) {
            k = 0;
        }
    }
}

/* NICs that are no owner's primary serve owners for which they are as good as their primary. */
static void choose_more(const struct choice *c, struct ct_rail_side *s)
{
    for (uint32_t k = 0; k < c->m->nnics; k++) {
        int best = -1;
        for (uint32_t i = 0; s->users[k] == 0 && i < s->n; i++) {
            if (!s->settled[i] && is_equal(c, s, i, k) && s->rails[i].nmore < CT_RAIL_MORE &&
                (best < 0 || s->rails[i].nmore < s->rails[best].nmore)) {
                best = (int)i;
            }
        }
        if (best >= 0) {
            s->rails[best].more[s->rails[best].nmore++] = (int16_t)k;
        }
    }
}

/* Is `a` a better backup for an owner than `b`? One of the two may be a port of the adapter of the
 * owner's primary. */
static bool is_better_backup(const struct choice *c, const struct ct_rail_side *s, uint32_t owner,
                             uint32_t a, uint32_t b)
{
    const struct ct_nic *nics = c->m->nics;
    int                  adapter = nics[s->rails[owner].primary].adapter;
    bool                 a_same = nics[a].adapter == adapter && adapter >= 0;
    bool                 b_same = nics[b].adapter == adapter && adapter >= 0;
    if (s->path[owner][a] != s->path[owner][b]) {
        return s->path[owner][a] < s->path[owner][b];
    }
    if (a_same != b_same) {
        return b_same;
    }
    if (c->speed[a] != c->speed[b]) {
        return c->speed[a] > c->speed[b];
    }
    return s->users[a] + s->backups[a] < s->users[b] + s->backups[b];
}

static void choose_backups(const struct choice *c, struct ct_rail_side *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        int primary = s->rails[i].primary, best = -1;
        for (uint32_t k = 0; primary >= 0 && !s->settled_backup[i] && k < c->m->nnics; k++) {
            const struct ct_nic *a = &c->m->nics[k], *b = &c->m->nics[primary];
            if (c->serves[k] && (int)k != primary && a->kind == b->kind && a->ib == b->ib &&
                (best < 0 || is_better_backup(c, s, i, k, (uint32_t)best))) {
                best = (int)k;
            }
        }
        if (best >= 0) {
            s->rails[i].backup = (int16_t)best;
            s->backups[best]++;
        }
    }
}

static void rail_choose(const struct choice *c, struct ct_rail_side *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct ct_rail *r = &s->rails[i];
        s->users[r->primary >= 0 ? r->primary : 0] += r->primary >= 0;
        s->backups[r->backup >= 0 ? r->backup : 0] += r->backup >= 0;
        for (uint32_t k = 0; k < r->nmore; k++) {
            s->users[r->more[k]]++;
        }
    }
    choose_primaries(c, s);
    rail_balance(c, s);
    choose_more(c, s);
    choose_backups(c, s);
    for (uint32_t i = 0; i < s->n; i++) {
        struct ct_rail *r = &s->rails[i];
        r->primary_path = r->primary >= 0 ? s->path[i][r->primary] : CT_PATH_SYS;
        r->backup_path = r->backup >= 0 ? s->path[i][r->backup] : CT_PATH_SYS;
    }
}

static void rail_clear(struct ct_rail *rails, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        rails[i].primary = rails[i].backup = rails[i].index = -1;
        rails[i].primary_path = rails[i].backup_path = CT_PATH_SYS;
        memset(rails[i].more, 0xff, sizeof rails[i].more);
    }
}

static void rail_mark(const struct ct_rail_side *s, bool *is_rail)
{
    for (uint32_t i = 0; i < s->n; i++) {
        is_rail[s->rails[i].primary >= 0 ? s->rails[i].primary : 0] |= s->rails[i].primary >= 0;
    }
}

static void rail_number(struct ct_rails *rails, const struct ct_rail_side *gpus,
                        const struct ct_rail_side *numas)
{
    bool    is_rail[CT_MACHINE_NICS] = {false};
    int16_t index[CT_MACHINE_NICS];
    rail_mark(gpus, is_rail);
    rail_mark(numas, is_rail);
    for (uint32_t k = 0; k < CT_MACHINE_NICS; k++) {
        index[k] = is_rail[k] ? (int16_t)rails->nrails++ : -1;
    }
    for (uint32_t i = 0; i < gpus->n; i++) {
        gpus->rails[i].index = gpus->rails[i].primary >= 0 ? index[gpus->rails[i].primary] : -1;
    }
    for (uint32_t i = 0; i < numas->n; i++) {
        numas->rails[i].index = numas->rails[i].primary >= 0 ? index[numas->rails[i].primary] : -1;
    }
}

/* Nobody runs there: it has no processors, or those of a node before it, as a GPU's memory has. */
static bool is_mere_memory(const struct ct_machine *m, uint32_t numa)
{
    bool mere = CPU_COUNT(&m->numas[numa].cpus) == 0;
    for (uint32_t i = 0; i < numa; i++) {
        mere |= CPU_EQUAL(&m->numas[i].cpus, &m->numas[numa].cpus);
    }
    return mere;
}

int ct_rails_find(const struct ct_machine *m, const char *map, struct ct_rails *rails, char *why,
                  size_t cap)
{
    struct choice       c;
    struct ct_rail_side gpus = {.n = m->ngpus, .rails = rails->gpus};
    struct ct_rail_side numas = {.n = m->nnumas, .rails = rails->numas};
    memset(rails, 0, sizeof *rails);
    rail_clear(rails->gpus, CT_MACHINE_GPUS);
    rail_clear(rails->numas, CT_MACHINE_NUMAS);
    rail_measure(&c, m);
    for (uint32_t k = 0; k < m->nnics; k++) {
        for (uint32_t i = 0; i < m->ngpus; i++) {
            gpus.path[i][k] = (uint8_t)ct_machine_path_gpu_nic(m, i, k);
        }
        for (uint32_t i = 0; i < m->nnumas; i++) {
            numas.path[i][k] = (uint8_t)ct_machine_path_numa_nic(m, i, k);
        }
    }
    for (uint32_t i = 0; i < m->nnumas; i++) {
        numas.settled[i] = is_mere_memory(m, i);
    }
    int rc = ct_rail_map(m, map, &gpus, &numas, why, cap);
    if (rc == CTRAN_SUCCESS) {
        rail_choose(&c, &gpus);
        rail_choose(&c, &numas);
        rail_number(rails, &gpus, &numas);
    }
    return rc;
}

/* GPUs with a NIC: one of each rail, in the rails' order, then the next of each. */
static uint32_t rail_deal(const struct ct_rails *rails, int16_t *order)
{
    uint32_t taken = 0, n = 0;
    for (bool again = true; again;) {
        again = false;
        for (int16_t rail = 0; rail < (int16_t)rails->nrails; rail++) {
            for (uint32_t g = 0; g < CT_MACHINE_GPUS; g++) {
                if (rails->gpus[g].index == rail && (taken & 1u << g) == 0) {
                    taken |= 1u << g;
                    order[n++] = (int16_t)g;
                    again = true;
                    break;
                }
            }
        }
    }
    return n;
}

struct ct_rail_gate ct_rails_gate(const struct ct_rails *rails, uint32_t channel, uint32_t node)
{
    int16_t  order[CT_MACHINE_GPUS];
    uint32_t n = rail_deal(rails, order);
    if (n == 0) {
        return (struct ct_rail_gate){-1, -1};
    }
    int16_t a = order[channel % n], b = order[(channel % n + 1) % n];
    return node % 2 == 0 ? (struct ct_rail_gate){a, b} : (struct ct_rail_gate){b, a};
}
