/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts of one rack: in columns, as in a rack, those of one NVLink domain in a box. Rails come
 * from above, run down at the left of each column and touch each host.
 */
#include "tools/topology/site_layout.h"

static const struct look host_look = {"#ffffff", "#6f6f6f", 1, 3, false};
static const struct look domain_look = {"#fdf6dc", "#8f7a1f", 2, 5, false};

enum { BUNDLE_GAP = 8, DOMAIN_PAD = 8, COLUMN_GAP = 12 };

static void draw_host(struct canvas *c, const struct site_host *h, struct rect r)
{
    char         title[256], gpus[32] = "";
    struct label name = {r.x + 6, r.y + 19, r.w - 12, 11, LEFT, true, NULL};
    if (h->ngpus > 0) {
        snprintf(gpus, sizeof gpus, "%u GPU%s", h->ngpus, h->ngpus == 1 ? "" : "s");
        int          w = canvas_width(gpus, 11, false);
        struct label l = {r.x + r.w - 6, r.y + 19, w, 11, RIGHT, false, NULL};
        name.room -= w + 6;
        canvas_open(c, "host", h->name, NULL, r, &host_look);
        canvas_label(c, &l, gpus);
    } else {
        snprintf(title, sizeof title, "%s: no GPU, or nobody says", h->name);
        canvas_open(c, "host", h->name, title, r, &host_look);
    }
    canvas_label(c, &name, h->name);
    canvas_close(c);
}

/* Where rail k touches the host at y. */
static int tick_y(const struct site_layout *l, int y, int k)
{
    int step = l->nrails > 1 ? (HOST_H - 6) / (l->nrails - 1) : 0;
    step = step > 6 ? 6 : step < 1 ? 1 : step;
    return y + HOST_H / 2 - step * (l->nrails - 1) / 2 + k * step;
}

/* From each rail to the host, at heights of their own. */
static void draw_ticks(struct canvas *c, const struct site_layout *l, int bundle_x, struct rect r)
{
    for (int k = 0; k < l->nrails; k++) {
        int       y = tick_y(l, r.y, k);
        const int tick[][2] = {{bundle_x + k * RAIL_STEP, y}, {r.x, y}};
        canvas_line(c, "tick", NULL, NULL, tick, 2, site_rail_colour(l, k), 1, false);
    }
}

/* Rails of a column from `top` down to its last host, at y `last`; those of the first column come
 * from the zone, the others from the first. */
static void draw_bundle(struct canvas *c, const struct site_layout *l, int first_x, int x, int top,
                        int last, int bus_y)
{
    for (int k = 0; k < l->nrails; k++) {
        int level = top - site_bundle_width(l) - 2 + k * RAIL_STEP;
        int bottom = tick_y(l, last, k);
        int x0 = first_x + k * RAIL_STEP, x1 = x + k * RAIL_STEP;
        if (x == first_x) {
            const int line[][2] = {{x1, bus_y + k * RAIL_STEP}, {x1, bottom}};
            canvas_line(c, "bundle", NULL, NULL, line, 2, site_rail_colour(l, k), 2, false);
        } else {
            const int line[][2] = {{x0, level}, {x1, level}, {x1, bottom}};
            canvas_line(c, "bundle", NULL, NULL, line, 3, site_rail_colour(l, k), 2, false);
        }
    }
}

/* One column from host i on; how many hosts it has. Its height goes to *height. */
static uint32_t draw_column(struct canvas *c, const struct site_layout *l, uint32_t i, uint32_t end,
                            int bundle_x, int y, bool domains, int *height, int *last_y)
{
    const struct site *s = l->s;
    int                x = bundle_x + site_bundle_width(l) + BUNDLE_GAP, at = y;
    uint32_t           n = 0;
    while (i < end && n < HOST_ROWS) {
        uint32_t room = HOST_ROWS - n;
        uint32_t run = site_domain_run(s, i, i + room < end ? i + room : end);
        bool     in = s->hosts[i].location.nvlink != 0;
        int      host_x = domains ? x + DOMAIN_PAD : x;
        int      box_h = DOMAIN_HEAD + (int)run * (HOST_H + HOST_GAP) + DOMAIN_PAD - HOST_GAP;
        if (in && c != NULL) {
            char         name[96];
            struct rect  r = {x, at, HOST_W + 2 * DOMAIN_PAD, box_h};
            struct label label = {x + DOMAIN_PAD, at + 14, HOST_W, 11, LEFT, false, NULL};
            snprintf(name, sizeof name, "NVLink %s", s->hosts[i].label.nvlink);
            canvas_open(c, "domain", s->hosts[i].label.nvlink, name, r, &domain_look);
            canvas_label(c, &label, name);
        }
        int host_y = in ? at + DOMAIN_HEAD : at;
        for (uint32_t k = 0; k < run; k++, host_y += HOST_H + HOST_GAP) {
            struct rect r = {host_x, host_y, HOST_W, HOST_H};
            if (c != NULL) {
                draw_host(c, &s->hosts[i + k], r);
                draw_ticks(c, l, bundle_x, r);
            }
            *last_y = host_y;
        }
        if (in && c != NULL) {
            canvas_close(c);
        }
        at = in ? at + box_h + HOST_GAP + 4 : host_y;
        i += run;
        n += run;
    }
    *height = at - HOST_GAP - y;
    return n;
}

struct rect site_draw_hosts(struct canvas *c, const struct site_layout *l,
                            const struct site_group *g, int x, int y, int bus_y)
{
    bool        many = g->nhosts > HOST_ROWS;
    int         top = y + (many ? site_bundle_width(l) + 6 : 0), at = x;
    int         width = HOST_W + (g->ndomains > 0 ? 2 * DOMAIN_PAD : 0);
    struct rect all = {x, y, 0, 0};
    for (uint32_t i = 0; i < g->nhosts;) {
        int height, last_y;
        i += draw_column(c, l, g->host + i, g->host + g->nhosts, at, top, g->ndomains > 0, &height,
                         &last_y);
        if (c != NULL) {
            draw_bundle(c, l, x, at, top, last_y, bus_y);
        }
        all.h = top + height - y > all.h ? top + height - y : all.h;
        at += site_bundle_width(l) + BUNDLE_GAP + width + COLUMN_GAP;
    }
    all.w = at - COLUMN_GAP - x;
    return all;
}
