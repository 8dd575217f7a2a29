/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where groups of a cluster stand in its picture: children flow in rows within their parents. Above
 * each row of racks is a channel for rails, above each row of zones and data centres one for what
 * joins those. How much is shown depends on how much there is: every host, every rack, every zone,
 * or data centres with their zones counted, so that the picture stays of a size that one can read.
 */
#ifndef TOPOLOGY_SITE_LAYOUT_H
#define TOPOLOGY_SITE_LAYOUT_H

#include "canvas.h"
#include "site.h"

enum site_detail { DETAIL_HOSTS, DETAIL_RACKS, DETAIL_ZONES, DETAIL_DCS };

enum {
    SITE_HOSTS_MOST = 192, /* of each that are drawn one by one */
    SITE_RACKS_MOST = 160,
    SITE_ZONES_MOST = 96,
    SITE_DCS_MOST = 32,
    RAILS_MOST = 16, /* that are drawn */
    RAIL_STEP = 5,
    HOST_W = 158,
    HOST_H = 30,
    HOST_GAP = 4,
    HOST_ROWS = 20, /* hosts in a column */
    DOMAIN_HEAD = 20,
    SITE_PAD = 10,
    SITE_GAP = 14,
    SITE_HEAD = 44, /* name and count of a group */
    DROP = 10,      /* from a group's left edge to the line that joins it with its siblings */
};

struct site_place {
    struct rect r;
    int         channel; /* y of the channel above its row */
    bool        first;   /* in its row */
};

struct site_layout {
    const struct site *s;
    enum site_detail   detail;
    bool               has_rails;           /* false: the rails are not known */
    int                nrails;              /* lines in a bundle, at least one */
    uint32_t           nshown[SITE_LEVELS]; /* groups that have a place, the first ones */
    struct site_place *places[SITE_LEVELS];
    int                w, h;
};

/* CTRAN_ERR_NO_MEM. */
int  site_layout_init(struct site_layout *l, const struct site *s, int x, int y);
void site_layout_fini(struct site_layout *l);

/* Draws a rack's hosts with their domains and rails, from (x, y) on; the rails begin at `bus_y`.
 * Without a canvas it only measures. The rectangle is what they take. */
struct rect site_draw_hosts(struct canvas *c, const struct site_layout *l,
                            const struct site_group *g, int x, int y, int bus_y);

/* Width of the rails that run side by side. */
int site_bundle_width(const struct site_layout *l);
/* Colour of a rail, grey if the rails are not known. */
const char *site_rail_colour(const struct site_layout *l, int rail);
/* Height of the channel above a row of this level. */
int site_channel(const struct site_layout *l, int level);

/* The legend, the count of pairs and the matrix; see draw_key of pictures.h. */
struct rect site_draw_key(struct canvas *c, const struct site_layout *l, struct rect room);

#endif
