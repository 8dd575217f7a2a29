/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where things of a machine stand in its picture. Devices that share a PCI switch, and those of a
 * NUMA node that share none, are slices; slices stand side by side in bands, which are no wider
 * than the picture may be; what does not fit goes on in the next band. In a band, from above: heads
 * of package, NUMA node and switch, a channel for NVLinks, GPUs (processors where there are none),
 * a channel for rails, NICs. Lines run in the channels and, between bands, in the gutter at the
 * left, so that none crosses a label.
 */
#ifndef TOPOLOGY_LAYOUT_H
#define TOPOLOGY_LAYOUT_H

#include "tools/topology/canvas.h"
#include "tools/topology/view.h"

enum {
    LAYOUT_WIDTH = 1900, /* of a band at most, unless one slice is wider */
    LAYOUT_COLUMNS = 10, /* devices side by side in a slice at most */
    USER_W = 188,
    USER_H = 104,
    NIC_W = 180,
    NIC_H = 100,
    GAP = 12,
    PAD = 10,
    MARGIN = 24,
    TRACK = 7, /* from a line to the next in parallel */
    SLICES = CT_MACHINE_NUMAS + 1 + CT_MACHINE_GPUS + CT_MACHINE_NICS,
    NETS = (2 + CT_RAIL_MORE) * CT_MACHINE_NUMAS,
};

struct slice {
    int      numa;   /* -1: devices with an unknown NUMA node */
    int      bridge; /* the switch, -1: none */
    int      part, parts;
    uint32_t user, nusers; /* first in `users`, and how many */
    uint32_t nic, nnics;
    int      x, w, band;
};

/* Where upright lines stand in a band's channel. */
struct ports {
    int n, x[2 * NETS];
};

struct band {
    uint32_t slice, nslices;
    bool     has_switch, has_user, has_nic;
    int      tracks, nvlink_tracks; /* lines that run in parallel in the channels */
    int      y, head_y, user_y, channel_y, nic_y, bottom;
};

enum net_kind { NET_RAIL, NET_MORE, NET_BACKUP, NET_KINDS };

/* A rail, a NIC beside it or a backup: from a user's lower edge, along a track, to a NIC's upper
 * edge. */
struct net {
    uint32_t      user, nic;
    enum net_kind kind;
    int           user_x, nic_x;
    int           user_band, nic_band;
    int           user_track, nic_track; /* -1: straight down */
    int           gutter;                /* where it changes its band; -1 */
};

/* GPUs that NVLinks join: a line above them, from which each hangs. */
struct bus {
    int group;         /* the smallest of them */
    int track[SLICES]; /* in each band; -1: it has none of them */
    int gutter;        /* where its bands are joined; -1: it is in one */
};

struct layout {
    uint32_t    nslices, nbands, nnets, nempty; /* nempty: NUMA nodes left out, as they are empty */
    int16_t     users[CT_MACHINE_NUMAS], nics[CT_MACHINE_NICS];
    struct rect user_at[CT_MACHINE_NUMAS], nic_at[CT_MACHINE_NICS];
    int         user_band[CT_MACHINE_NUMAS], nic_band[CT_MACHINE_NICS];
    struct slice slices[SLICES];
    struct band  bands[SLICES];
    struct net   nets[NETS];
    uint32_t     nbuses;
    struct ports ports[SLICES];
    struct bus   buses[CT_MACHINE_GPUS / 2];
    int          gutters; /* lines that change their band */
    int          x, w, y, bottom;
};

/* Fills in all of it, from (x, y) on. */
void layout_make(struct layout *l, const struct view *v, int x, int y);

/* Of layout_route.c: finds the lines' ways; then heights are known. */
void layout_route(struct layout *l, const struct view *v);

/* From the first to the last GPU of the bus in this band; false: it has none there. */
bool layout_bus_span(const struct layout *l, const struct view *v, const struct bus *bus, int band,
                     int *lo, int *hi);

/* Package of a slice's NUMA node, -1: not known. */
int layout_package(const struct view *v, int numa);

#endif
