/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a cluster: its groups in each other, what joins them, and the legend below. */
#include <inttypes.h>
#include <string.h>

#include "tools/topology/site_layout.h"

enum { TEXT = 11, NAME = 13, MARGIN_X = 24 };

#define SPINE  "#5a5a5a"
#define BEYOND "#7d5a3c"

static const struct look looks[SITE_LEVELS] = {
    [SITE_DC] = {"#f7f7f5", "#8a8a85", 1, 8, false},
    [SITE_ZONE] = {"#eceff3", "#8f9aa8", 1, 6, false},
    [SITE_RACK] = {"#f9fbf7", "#8fa086", 1, 5, false},
};

static const char *const kinds[SITE_LEVELS] = {"dc", "zone", "rack"};

/* Opens the box of a group and writes its name and what lies in it, from x on. */
static void open_group(struct canvas *c, const struct site_layout *l, int level, uint32_t i, int x)
{
    const struct site_group *g = &l->s->groups[level][i];
    const struct rect       *r = &l->places[level][i].r;
    char                     name[128], count[128], title[260];
    int                      room = r->x + r->w - SITE_PAD - x;
    struct label             one = {x, r->y + 18, room, NAME, LEFT, true, NULL};
    struct label             two = {x, r->y + 34, room, TEXT, LEFT, false, NULL};
    site_group_name(g, level, name, sizeof name);
    site_group_count(l->s, g, level, count, sizeof count);
    snprintf(title, sizeof title, "%s: %s", name, count);
    canvas_open(c, kinds[level], g->name, title, *r, &looks[level]);
    canvas_label(c, &one, name);
    canvas_label(c, &two, count);
}

/* ---- groups ------------------------------------------------------------------------ */

/* "32 racks r0 ... r31, each: 18 hosts, 72 GPUs"; `together`: they follow each other. */
static void format_run(const struct site *s, int level, uint32_t i, uint32_t n, bool together,
                       char *out, size_t cap)
{
    static const char *const what[] = {"data centre", "zone", "rack"};
    const struct site_group *g = &s->groups[level][i];
    const char              *first = g->name[0] != '\0' ? g->name : "not named";
    const char              *last = s->groups[level][i + (together ? n - 1 : 0)].name;
    char                     count[128];
    site_group_count(s, g, level, count, sizeof count);
    if (n == 1) {
        snprintf(out, cap, "%s %s: %s", what[level], first, count);
    } else if (together) {
        snprintf(out, cap, "%" PRIu32 " %ss %s \xe2\x80\xa6 %s, each: %s", n, what[level], first,
                 last, count);
    } else {
        snprintf(out, cap, "%" PRIu32 " %ss like %s, each: %s", n, what[level], first, count);
    }
}

/* Children that are alike, be they together or not, a line a sort. */
static void draw_sorts(struct canvas *c, const struct site_layout *l, int level, uint32_t i)
{
    const struct site_group *g = &l->s->groups[level][i];
    const struct rect       *r = &l->places[level][i].r;
    struct site_sort         sorts[SITE_SORTS_MOST];
    uint32_t                 left;
    int                      n = site_find_sorts(l->s, level, g, sorts, &left);
    int                      x = r->x + DROP + 14;
    struct label t = {x, r->y + SITE_HEAD - 6, r->x + r->w - SITE_PAD - x, TEXT, LEFT, false, NULL};
    char         text[400];
    for (int k = 0; k < n; k++) {
        uint32_t first = sorts[k].first, count = sorts[k].count;
        uint32_t run = site_alike(l->s, level + 1, first, g->child + g->nchildren);
        format_run(l->s, level + 1, first, count, run >= count, text, sizeof text);
        t.y += 16;
        canvas_label(c, &t, text);
    }
    if (left > 0) {
        snprintf(text, sizeof text, "and %" PRIu32 " %ss of other sorts", left, kinds[level + 1]);
        t.y += 16;
        canvas_label(c, &t, text);
    }
}

static void draw_rack(struct canvas *c, const struct site_layout *l, uint32_t i)
{
    const struct site_place *p = &l->places[SITE_RACK][i];
    const struct site_group *g = &l->s->groups[SITE_RACK][i];
    int                      x = p->r.x + SITE_PAD;
    open_group(c, l, SITE_RACK, i, x + site_bundle_width(l) + 4);
    if (l->detail == DETAIL_HOSTS) {
        site_draw_hosts(c, l, g, x, p->r.y + SITE_HEAD, p->channel + 4);
    } else {
        char         text[128] = "no NVLink domain";
        struct label t = {x + site_bundle_width(l) + 4,
                          p->r.y + 50,
                          p->r.w - 2 * SITE_PAD - site_bundle_width(l) - 4,
                          TEXT,
                          LEFT,
                          false,
                          NULL};
        if (g->ndomains == 1) {
            snprintf(text, sizeof text, "NVLink %s", l->s->hosts[g->host].label.nvlink);
        } else if (g->ndomains > 1) {
            snprintf(text, sizeof text, "%" PRIu32 " NVLink domains", g->ndomains);
        }
        canvas_label(c, &t, text);
        for (int k = 0; k < l->nrails; k++) {
            const int line[][2] = {{x + k * RAIL_STEP, p->channel + 4 + k * RAIL_STEP},
                                   {x + k * RAIL_STEP, p->r.y + p->r.h - 10}};
            canvas_line(c, "bundle", NULL, NULL, line, 2, site_rail_colour(l, k), 2, false);
        }
    }
    canvas_close(c);
}

static void draw_zone(struct canvas *c, const struct site_layout *l, uint32_t i)
{
    const struct site_group *g = &l->s->groups[SITE_ZONE][i];
    open_group(c, l, SITE_ZONE, i, l->places[SITE_ZONE][i].r.x + DROP + 14);
    if (l->detail == DETAIL_ZONES) {
        draw_sorts(c, l, SITE_ZONE, i);
    } else {
        for (uint32_t k = g->child; k < g->child + g->nchildren; k++) {
            draw_rack(c, l, k);
        }
    }
    canvas_close(c);
}

static void draw_dc(struct canvas *c, const struct site_layout *l, uint32_t i)
{
    const struct site_group *g = &l->s->groups[SITE_DC][i];
    open_group(c, l, SITE_DC, i, l->places[SITE_DC][i].r.x + DROP + 14);
    if (l->detail == DETAIL_DCS) {
        draw_sorts(c, l, SITE_DC, i);
    } else {
        for (uint32_t k = g->child; k < g->child + g->nchildren; k++) {
            draw_zone(c, l, k);
        }
    }
    canvas_close(c);
}

/* ---- what joins them --------------------------------------------------------------- */

/* The rails of a zone: along each row of racks, and down its left edge from row to row. */
static void draw_zone_rails(struct canvas *c, const struct site_layout *l, uint32_t zone)
{
    const struct site_group *g = &l->s->groups[SITE_ZONE][zone];
    int left = l->places[SITE_ZONE][zone].r.x + DROP, top = l->places[SITE_RACK][g->child].channel;
    int bottom = top;
    for (uint32_t i = g->child, end = g->child + g->nchildren; i < end; i++) {
        const struct site_place *p = &l->places[SITE_RACK][i];
        if (i + 1 < end && !l->places[SITE_RACK][i + 1].first) {
            continue; /* not the last of its row */
        }
        for (int k = 0; k < l->nrails; k++) {
            int       y = p->channel + 4 + k * RAIL_STEP;
            int       x = p->channel == top ? left : left + k * RAIL_STEP;
            const int line[][2] = {{x, y}, {p->r.x + SITE_PAD + k * RAIL_STEP, y}};
            canvas_line(c, "rail", NULL, NULL, line, 2, site_rail_colour(l, k), 2, false);
        }
        bottom = p->channel;
    }
    for (int k = 0; k < l->nrails && bottom > top; k++) {
        int       x = left + k * RAIL_STEP, y = 4 + k * RAIL_STEP;
        const int line[][2] = {{x, top + y}, {x, bottom + y}};
        canvas_line(c, "rail", NULL, NULL, line, 2, site_rail_colour(l, k), 2, false);
    }
}

/* What joins groups `first` to `end` of a level: a line above each row, one down to each group, one
 * at `left` from row to row. */
static void draw_spine(struct canvas *c, const struct site_layout *l, int level, uint32_t first,
                       uint32_t end, int left, bool comes_from_above)
{
    bool        dashed = level == SITE_DC;
    const char *colour = dashed ? BEYOND : SPINE;
    int         top = l->places[level][first].channel + 8, bottom = top;
    if (!comes_from_above && l->places[level][end - 1].channel == l->places[level][first].channel) {
        left = l->places[level][first].r.x + DROP; /* one row joins by itself */
    }
    for (uint32_t i = first; i < end; i++) {
        const struct site_place *p = &l->places[level][i];
        int                      x = p->r.x + DROP, y = p->channel + 8;
        /* To the channel of its own children, or to its edge where none are drawn. */
        bool      open = level == SITE_DC ? l->detail != DETAIL_DCS : l->detail <= DETAIL_RACKS;
        int       depth = level == SITE_DC ? 8 : 5 + (l->nrails - 1) * RAIL_STEP;
        int       y1 = p->r.y + (open ? SITE_HEAD + depth : 10);
        const int down[][2] = {{x, y}, {x, y1}};
        canvas_line(c, "spine", NULL, NULL, down, 2, colour, 3, dashed);
        if (i + 1 == end || l->places[level][i + 1].first) {
            const int along[][2] = {{left, y}, {x + 1, y}};
            canvas_line(c, "spine", NULL, NULL, along, 2, colour, 3, dashed);
        }
        bottom = y;
    }
    if (bottom > top) {
        const int upright[][2] = {{left, top}, {left, bottom}};
        canvas_line(c, "spine", NULL, NULL, upright, 2, colour, 3, dashed);
    }
}

static void draw_lines(struct canvas *c, const struct site_layout *l)
{
    if (l->nshown[SITE_DC] > 1) {
        draw_spine(c, l, SITE_DC, 0, l->nshown[SITE_DC], MARGIN_X, false);
    }
    for (uint32_t i = 0; i < l->nshown[SITE_DC] && l->detail != DETAIL_DCS; i++) {
        const struct site_group *g = &l->s->groups[SITE_DC][i];
        if (l->nshown[SITE_DC] > 1 || g->nchildren > 1) {
            draw_spine(c, l, SITE_ZONE, g->child, g->child + g->nchildren,
                       l->places[SITE_DC][i].r.x + DROP, l->nshown[SITE_DC] > 1);
        }
    }
    for (uint32_t i = 0; i < l->nshown[SITE_ZONE] && l->detail <= DETAIL_RACKS; i++) {
        draw_zone_rails(c, l, i);
    }
}

/* ---- the whole --------------------------------------------------------------------- */

static void draw_head(struct canvas *c, const struct site *s, int w)
{
    char              head[128], more[300];
    struct site_group all = {.nhosts = s->nhosts};
    char              count[128];
    for (uint32_t i = 0; i < s->ngroups[SITE_DC]; i++) {
        all.ngpus += s->groups[SITE_DC][i].ngpus;
        all.nrails =
            s->groups[SITE_DC][i].nrails > all.nrails ? s->groups[SITE_DC][i].nrails : all.nrails;
    }
    site_group_count(s, &all, SITE_RACK, count, sizeof count);
    snprintf(head, sizeof head, "%s", s->name[0] != '\0' ? s->name : "Cluster");
    snprintf(more, sizeof more,
             "data centres %" PRIu32 ", zones %" PRIu32 ", racks %" PRIu32 "; %s; source: %s",
             s->ngroups[SITE_DC], s->ngroups[SITE_ZONE], s->ngroups[SITE_RACK], count,
             s->source[0] != '\0' ? s->source : "not known");
    struct label one = {MARGIN_X, 40, w - 2 * MARGIN_X, 20, LEFT, true, NULL};
    struct label two = {MARGIN_X, 62, w - 2 * MARGIN_X, 12, LEFT, false, NULL};
    canvas_label(c, &one, head);
    canvas_label(c, &two, more);
}

static bool draw_site(const struct site *s, struct site_layout *l, struct canvas *c, FILE *to)
{
    enum { WIDTH_MIN = 1000 };
    char title[128];
    int  w = l->w + 2 * MARGIN_X > WIDTH_MIN ? l->w + 2 * MARGIN_X : WIDTH_MIN;
    int  y = 76 + l->h;
    draw_head(c, s, w);
    for (uint32_t i = 0; i < l->nshown[SITE_DC]; i++) {
        draw_dc(c, l, i);
    }
    draw_lines(c, l);
    if (l->nshown[SITE_DC] < s->ngroups[SITE_DC]) {
        struct label t = {MARGIN_X, y += 22, w - 2 * MARGIN_X, NAME, LEFT, true, NULL};
        snprintf(title, sizeof title, "and %" PRIu32 " data centres more",
                 s->ngroups[SITE_DC] - l->nshown[SITE_DC]);
        canvas_label(c, &t, title);
    }
    struct rect key = site_draw_key(c, l, (struct rect){MARGIN_X, y + 28, w - 2 * MARGIN_X, 0});
    w = key.w + 2 * MARGIN_X > w ? key.w + 2 * MARGIN_X : w;
    snprintf(title, sizeof title, "Topology of %s", s->name[0] != '\0' ? s->name : "a cluster");
    return canvas_write(c, to, w, key.y + key.h + 24, title);
}

bool site_svg(const struct site *s, FILE *to)
{
    struct canvas      c;
    struct site_layout l;
    bool               good = false;
    if (site_layout_init(&l, s, MARGIN_X, 76) != CTRAN_SUCCESS) {
        return false;
    }
    if (canvas_init(&c) == 0) {
        good = draw_site(s, &l, &c, to);
        canvas_fini(&c);
    }
    site_layout_fini(&l);
    return good;
}
