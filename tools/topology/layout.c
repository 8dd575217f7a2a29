/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices, bands and places; see layout.h. */
#include "tools/topology/layout.h"

#include <string.h>

enum {
    SLICE_MIN = 186, /* so that the head of a NUMA node has room */
    HEADS = 26 + 56, /* of package and NUMA node */
    SWITCH_HEAD = 20,
    BAND_GAP = 18,
};

int layout_package(const struct view *v, int numa)
{
    return numa >= 0 ? v->m.numas[numa].package : -1;
}

/* ---- slices ------------------------------------------------------------------------ */

/* How the two devices at (user, nic) of the filled lists become slices of at most LAYOUT_COLUMNS
 * columns. */
static void add_slices(struct layout *l, int numa, int bridge, uint32_t user, uint32_t nusers,
                       uint32_t nic, uint32_t nnics)
{
    uint32_t most = nusers > nnics ? nusers : nnics;
    uint32_t parts = most > 0 ? (most + LAYOUT_COLUMNS - 1) / LAYOUT_COLUMNS : 1;
    for (uint32_t p = 0; p < parts; p++) {
        /* Both are dealt out evenly, so that GPUs stand above their NICs. */
        uint32_t      u0 = nusers * p / parts, u1 = nusers * (p + 1) / parts;
        uint32_t      n0 = nnics * p / parts, n1 = nnics * (p + 1) / parts;
        int           users_w = (int)(u1 - u0) * (USER_W + GAP) - GAP;
        int           nics_w = (int)(n1 - n0) * (NIC_W + GAP) - GAP;
        int           w = users_w > nics_w ? users_w : nics_w;
        struct slice *s = &l->slices[l->nslices++];
        *s = (struct slice){.numa = numa,
                            .bridge = bridge,
                            .part = (int)p,
                            .parts = (int)parts,
                            .user = user + u0,
                            .nusers = u1 - u0,
                            .nic = nic + n0,
                            .nnics = n1 - n0,
                            .w = (w > 0 ? w : 0) + (bridge >= 0 ? 2 * PAD : 0)};
        s->w = s->w < SLICE_MIN ? SLICE_MIN : s->w;
    }
}

static int user_switch(const struct view *v, uint32_t user)
{
    return v->m.ngpus > 0 ? v->gpu_switch[user] : -1;
}

static int user_numa(const struct view *v, uint32_t user)
{
    return v->m.ngpus > 0 ? v->m.gpus[user].numa : (int)user;
}

/* Appends the devices of this NUMA node and switch; true: there are some. */
static bool add_group(struct layout *l, const struct view *v, int numa, int bridge,
                      uint32_t *nusers, uint32_t *nnics)
{
    uint32_t user = *nusers, nic = *nnics;
    for (uint32_t i = 0; i < view_nusers(v); i++) {
        if (user_numa(v, i) == numa && user_switch(v, i) == bridge && view_is_user(v, i)) {
            l->users[(*nusers)++] = (int16_t)i;
        }
    }
    for (uint32_t i = 0; i < v->m.nnics; i++) {
        if (v->m.nics[i].numa == numa && v->nic_switch[i] == bridge) {
            l->nics[(*nnics)++] = (int16_t)i;
        }
    }
    if (*nusers == user && *nnics == nic) {
        return false;
    }
    add_slices(l, numa, bridge, user, *nusers - user, nic, *nnics - nic);
    return true;
}

static void add_numa(struct layout *l, const struct view *v, int numa, uint32_t *nusers,
                     uint32_t *nnics)
{
    bool any = false;
    for (int b = 0; b < (int)v->m.nbridges; b++) { /* bridges are in order of PCI addresses */
        any = add_group(l, v, numa, b, nusers, nnics) || any;
    }
    any = add_group(l, v, numa, -1, nusers, nnics) || any;
    if (!any && numa >= 0) {
        add_slices(l, numa, -1, *nusers, 0, *nnics, 0);
    }
}

static void make_slices(struct layout *l, const struct view *v)
{
    uint32_t nusers = 0, nnics = 0;
    bool     done[CT_MACHINE_NUMAS] = {false};
    for (uint32_t i = 0; i < v->m.nnumas; i++) {
        for (uint32_t k = i; !done[i] && k < v->m.nnumas; k++) {
            if (v->m.numas[k].package != v->m.numas[i].package) {
                continue;
            }
            done[k] = k != i;
            if (v->m.nnumas > 1 && view_numa_is_empty(v, k)) {
                l->nempty++;
            } else {
                add_numa(l, v, (int)k, &nusers, &nnics);
            }
        }
        done[i] = true;
    }
    add_numa(l, v, -1, &nusers, &nnics);
}

/* ---- bands ------------------------------------------------------------------------- */

/* Width of the slices from `i` on that are of the same package (or NUMA node), heads included. */
static int width_from(const struct layout *l, const struct view *v, uint32_t i, bool package)
{
    int  w = 4 * PAD, numa = l->slices[i].numa;
    bool first = true;
    for (uint32_t k = i; k < l->nslices; k++) {
        const struct slice *s = &l->slices[k];
        if (package ? layout_package(v, s->numa) != layout_package(v, numa) : s->numa != numa) {
            break;
        }
        w += s->w + (first ? 0 : GAP) + (k > i && s->numa != s[-1].numa ? 2 * PAD : 0);
        first = false;
    }
    return w;
}

static bool breaks_before(const struct layout *l, const struct view *v, uint32_t i, int x)
{
    const struct slice *s = &l->slices[i];
    bool                new_package = layout_package(v, s->numa) != layout_package(v, s[-1].numa);
    bool                new_numa = s->numa != s[-1].numa;
    int                 package = width_from(l, v, i, true), numa = width_from(l, v, i, false);
    return x + s->w + 2 * PAD > LAYOUT_WIDTH ||
           (new_package && x + package > LAYOUT_WIDTH && package <= LAYOUT_WIDTH) ||
           (new_numa && x + numa > LAYOUT_WIDTH && numa <= LAYOUT_WIDTH);
}

/* Places slices in bands; x counts from 0, gutter and margins come later. */
static void make_bands(struct layout *l, const struct view *v)
{
    int x = 0;
    for (uint32_t i = 0; i < l->nslices; i++) {
        struct slice *s = &l->slices[i];
        struct band  *b = l->nbands > 0 ? &l->bands[l->nbands - 1] : NULL;
        if (b == NULL || breaks_before(l, v, i, x)) {
            b = &l->bands[l->nbands++];
            *b = (struct band){.slice = i};
            x = 2 * PAD;
        } else if (layout_package(v, s->numa) != layout_package(v, s[-1].numa)) {
            x += GAP + 4 * PAD;
        } else {
            x += GAP + (s->numa != s[-1].numa ? 2 * PAD : 0);
        }
        s->x = x;
        s->band = (int)l->nbands - 1;
        x += s->w;
        l->w = x + 2 * PAD > l->w ? x + 2 * PAD : l->w;
        b->nslices++;
        b->has_switch = b->has_switch || s->bridge >= 0;
        b->has_user = b->has_user || s->nusers > 0;
        b->has_nic = b->has_nic || s->nnics > 0;
    }
}

/* ---- places ------------------------------------------------------------------------ */

/* Where the devices of a slice stand, in x: each kind in the middle. */
static void place_x(struct layout *l, const struct slice *s)
{
    int w = (int)s->nusers * (USER_W + GAP) - GAP;
    int x = s->x + (s->w - w) / 2;
    for (uint32_t i = 0; i < s->nusers; i++) {
        int16_t user = l->users[s->user + i];
        l->user_at[user] = (struct rect){x + (int)i * (USER_W + GAP), 0, USER_W, USER_H};
        l->user_band[user] = s->band;
    }
    w = (int)s->nnics * (NIC_W + GAP) - GAP;
    x = s->x + (s->w - w) / 2;
    for (uint32_t i = 0; i < s->nnics; i++) {
        int16_t nic = l->nics[s->nic + i];
        l->nic_at[nic] = (struct rect){x + (int)i * (NIC_W + GAP), 0, NIC_W, NIC_H};
        l->nic_band[nic] = s->band;
    }
}

static void place_y(struct layout *l, const struct view *v, int y)
{
    for (uint32_t i = 0; i < l->nbands; i++) {
        struct band *b = &l->bands[i];
        b->y = y;
        b->head_y = y + HEADS;
        b->user_y = b->head_y + (b->has_switch ? SWITCH_HEAD : 0) +
                    (b->nvlink_tracks > 0 ? (b->nvlink_tracks + 2) * TRACK : 0);
        b->channel_y = b->user_y + (b->has_user ? USER_H : 0);
        b->nic_y = b->channel_y + (b->tracks > 0 ? (b->tracks + 3) * TRACK : b->has_nic ? 18 : 0);
        b->bottom = b->nic_y + (b->has_nic ? NIC_H : 0) + 3 * PAD;
        if (!b->has_user && !b->has_nic) {
            b->bottom = b->head_y + 2 * PAD;
        }
        y = b->bottom + BAND_GAP;
    }
    l->bottom = l->nbands > 0 ? y - BAND_GAP : y;
    for (uint32_t i = 0; i < view_nusers(v); i++) {
        l->user_at[i].y = l->bands[l->user_band[i]].user_y;
    }
    for (uint32_t i = 0; i < v->m.nnics; i++) {
        l->nic_at[i].y = l->bands[l->nic_band[i]].nic_y;
    }
}

void layout_make(struct layout *l, const struct view *v, int x, int y)
{
    memset(l, 0, sizeof *l);
    l->x = x;
    l->y = y;
    make_slices(l, v);
    make_bands(l, v);
    for (uint32_t i = 0; i < l->nslices; i++) {
        place_x(l, &l->slices[i]);
    }
    layout_route(l, v);
    int shift = x + l->gutters * TRACK + (l->gutters > 0 ? PAD : 0);
    for (uint32_t i = 0; i < l->nslices; i++) {
        l->slices[i].x += shift;
    }
    for (uint32_t i = 0; i < CT_MACHINE_NUMAS; i++) {
        l->user_at[i].x += shift;
        l->nic_at[i].x += shift;
    }
    for (uint32_t i = 0; i < l->nbuses; i++) {
        l->buses[i].gutter = l->buses[i].gutter >= 0 ? x + l->buses[i].gutter * TRACK : -1;
    }
    for (uint32_t i = 0; i < l->nnets; i++) {
        struct net *n = &l->nets[i];
        n->user_x += shift;
        n->nic_x += shift;
        n->gutter = n->gutter >= 0 ? x + n->gutter * TRACK : -1;
    }
    l->w += shift - x;
    place_y(l, v, y);
}
