/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways of lines: where each leaves its device, in which track of a channel it runs, and where
 * it changes bands. Lines never lie on each other as long as there is room: upright parts have
 * places of their own, level parts tracks of their own.
 */
#include <stdlib.h>

#include "tools/topology/layout.h"

enum { PORT = 8, APART = 6, OUTSIDE = -1000 };

/* ---- ports ------------------------------------------------------------------------- */

static bool is_free(const struct ports *u, int x)
{
    for (int i = 0; i < u->n; i++) {
        if (abs(u->x[i] - x) < APART) {
            return false;
        }
    }
    return true;
}

/* The free place nearest to x from `lo` to `hi`; x itself where none is. */
static int take_port(struct ports *u, int x, int lo, int hi)
{
    int found = x;
    for (int d = 0; d <= hi - lo; d++) {
        if (x + d <= hi && is_free(u, x + d)) {
            found = x + d;
            break;
        }
        if (x - d >= lo && is_free(u, x - d)) {
            found = x - d;
            break;
        }
    }
    if (u->n < 2 * NETS) {
        u->x[u->n++] = found;
    }
    return found;
}

/* A place below the user and above the NIC, if one stands above the other; -1. */
static int straight(struct ports *used, const struct rect *user, const struct rect *nic)
{
    int lo = (user->x > nic->x ? user->x : nic->x) + PORT;
    int hi = user->x + user->w < nic->x + nic->w ? user->x + user->w : nic->x + nic->w;
    hi -= PORT;
    if (hi - lo < 2 * PORT) {
        return -1;
    }
    int mid = (lo + hi) / 2;
    int x = take_port(used, mid, lo, hi);
    return x;
}

static int middle(const struct rect *r)
{
    return r->x + r->w / 2;
}

static void place_ports(struct layout *l, struct net *n, struct ports *used)
{
    const struct rect *user = &l->user_at[n->user], *nic = &l->nic_at[n->nic];
    if (n->user_band == n->nic_band) {
        int x = straight(&used[n->user_band], user, nic);
        if (x >= 0) {
            n->user_x = n->nic_x = x;
            return;
        }
    }
    /* On the side where the other end is, so that short lines stay short. */
    int toward = middle(nic) > middle(user) ? 1 : -1;
    n->user_x = take_port(&used[n->user_band], middle(user) + toward * user->w / 4, user->x + PORT,
                          user->x + user->w - PORT);
    n->nic_x = take_port(&used[n->nic_band], middle(nic) - toward * nic->w / 4, nic->x + PORT,
                         nic->x + nic->w - PORT);
}

/* ---- tracks ------------------------------------------------------------------------ */

struct segment {
    int  lo, hi;
    int *track;
};

static int by_start(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;
    return x->lo != y->lo ? (x->lo > y->lo) - (x->lo < y->lo) : (x->hi > y->hi) - (x->hi < y->hi);
}

/* Gives each the first track in which nothing runs beside it; how many there are then. */
static int give_tracks(struct segment *segments, int n)
{
    int ends[2 * NETS], tracks = 0;
    qsort(segments, (size_t)n, sizeof segments[0], by_start);
    for (int i = 0; i < n; i++) {
        int t = 0;
        while (t < tracks && ends[t] + 2 * PORT > segments[i].lo) {
            t++;
        }
        tracks = t == tracks ? t + 1 : tracks;
        ends[t] = segments[i].hi;
        *segments[i].track = t;
    }
    return tracks;
}

static void add_segment(struct segment *segments, int *n, int a, int b, int *track)
{
    segments[(*n)++] = (struct segment){a < b ? a : b, a < b ? b : a, track};
}

static void route_band(struct layout *l, int band)
{
    struct segment segments[2 * NETS];
    int            n = 0;
    for (uint32_t i = 0; i < l->nnets; i++) {
        struct net *net = &l->nets[i];
        if (net->user_band == net->nic_band) {
            if (net->user_band == band && net->user_x != net->nic_x) {
                add_segment(segments, &n, net->user_x, net->nic_x, &net->user_track);
            }
        } else if (net->user_band == band) {
            add_segment(segments, &n, OUTSIDE, net->user_x, &net->user_track);
        } else if (net->nic_band == band) {
            add_segment(segments, &n, OUTSIDE, net->nic_x, &net->nic_track);
        }
    }
    l->bands[band].tracks = give_tracks(segments, n);
}

/* Lines that change bands: those that pass no band together share a place in the gutter. Where it
 * would become too wide, others share theirs, too. */
static void route_gutter(struct layout *l)
{
    enum { GUTTERS_MOST = 64, BAND = 8 * PORT };
    struct segment segments[NETS];
    int            n = 0;
    for (uint32_t i = 0; i < l->nnets; i++) {
        struct net *net = &l->nets[i];
        if (net->user_band != net->nic_band) {
            add_segment(segments, &n, net->user_band * BAND, net->nic_band * BAND, &net->gutter);
        }
    }
    l->gutters = give_tracks(segments, n);
    if (l->gutters > GUTTERS_MOST) {
        l->gutters = GUTTERS_MOST;
        for (int i = 0; i < n; i++) {
            *segments[i].track %= GUTTERS_MOST;
        }
    }
}

static void add_net(struct layout *l, uint32_t user, int nic, enum net_kind kind)
{
    if (nic >= 0) {
        l->nets[l->nnets++] = (struct net){.user = user,
                                           .nic = (uint32_t)nic,
                                           .kind = kind,
                                           .user_band = l->user_band[user],
                                           .nic_band = l->nic_band[nic],
                                           .user_track = -1,
                                           .nic_track = -1,
                                           .gutter = -1};
    }
}

static void add_nets(struct layout *l, const struct view *v, enum net_kind kind)
{
    for (uint32_t i = 0; i < view_nusers(v); i++) {
        const struct ct_rail *rail = view_rail(v, i);
        if (l->user_at[i].w == 0) {
            continue;
        }
        if (kind != NET_MORE) {
            add_net(l, i, kind == NET_RAIL ? rail->primary : rail->backup, kind);
        }
        for (int k = 0; kind == NET_MORE && k < rail->nmore; k++) {
            add_net(l, i, rail->more[k], kind);
        }
    }
}

/* ---- NVLinks ----------------------------------------------------------------------- */

static void add_buses(struct layout *l, const struct view *v)
{
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        int group;
        view_nvlink_group(v, i, &group);
        if (group == (int)i) {
            struct bus *b = &l->buses[l->nbuses++];
            *b = (struct bus){.group = group, .gutter = -1};
            for (uint32_t k = 0; k < SLICES; k++) {
                b->track[k] = -1;
            }
        }
    }
}

bool layout_bus_span(const struct layout *l, const struct view *v, const struct bus *bus, int band,
                     int *lo, int *hi)
{
    bool any = false;
    for (uint32_t i = 0; i < v->m.ngpus; i++) {
        int group, x = middle(&l->user_at[i]);
        view_nvlink_group(v, i, &group);
        if (group == bus->group && l->user_band[i] == band) {
            *lo = any && *lo < x ? *lo : x;
            *hi = any && *hi > x ? *hi : x;
            any = true;
        }
    }
    return any;
}

static void route_buses(struct layout *l, const struct view *v)
{
    int in[CT_MACHINE_GPUS] = {0};
    add_buses(l, v);
    for (uint32_t k = 0; k < l->nbuses; k++) {
        for (uint32_t band = 0; band < l->nbands; band++) {
            int lo, hi;
            in[k] += layout_bus_span(l, v, &l->buses[k], (int)band, &lo, &hi);
        }
        l->buses[k].gutter = in[k] > 1 ? l->gutters++ : -1;
    }
    for (uint32_t band = 0; band < l->nbands; band++) {
        struct segment segments[CT_MACHINE_GPUS];
        int            n = 0, lo, hi;
        for (uint32_t k = 0; k < l->nbuses; k++) {
            if (layout_bus_span(l, v, &l->buses[k], (int)band, &lo, &hi)) {
                add_segment(segments, &n, in[k] > 1 ? OUTSIDE : lo, hi, &l->buses[k].track[band]);
            }
        }
        l->bands[band].nvlink_tracks = give_tracks(segments, n);
    }
}

void layout_route(struct layout *l, const struct view *v)
{
    for (int kind = NET_RAIL; kind < NET_KINDS; kind++) {
        add_nets(l, v, (enum net_kind)kind);
    }
    for (uint32_t i = 0; i < l->nnets; i++) {
        struct net *n = &l->nets[i];
        place_ports(l, n, l->ports);
    }
    route_gutter(l);
    for (uint32_t band = 0; band < l->nbands; band++) {
        route_band(l, (int)band);
    }
    route_buses(l, v);
}
