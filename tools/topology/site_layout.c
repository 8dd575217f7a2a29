/* SPDX-License-Identifier: BSD-3-Clause */
/* Detail, sizes and places of a cluster's groups; see site_layout.h. */
#include "tools/topology/site_layout.h"

#include <stdlib.h>

enum {
    RACK_W = 188,    /* of one whose hosts are not shown */
    SUMMARY_W = 414, /* of a group whose children are counted */
    SUMMARY_LINE = 16,
    LINE_CHANNEL = 16,
};

/* Width of what a group of this level holds, at most. */
static const int inner_most[SITE_LEVELS] = {[SITE_DC] = 1720, [SITE_ZONE] = 1600, [SITE_RACK] = 0};

static enum site_detail choose_detail(const struct site *s)
{
    if (s->nhosts <= SITE_HOSTS_MOST && s->ngroups[SITE_RACK] <= SITE_RACKS_MOST) {
        return DETAIL_HOSTS;
    }
    if (s->ngroups[SITE_RACK] <= SITE_RACKS_MOST) {
        return DETAIL_RACKS;
    }
    return s->ngroups[SITE_ZONE] <= SITE_ZONES_MOST ? DETAIL_ZONES : DETAIL_DCS;
}

int site_bundle_width(const struct site_layout *l)
{
    return l->nrails * RAIL_STEP;
}

const char *site_rail_colour(const struct site_layout *l, int rail)
{
    return l->s->ngroups[SITE_DC] > 0 && l->nrails > 0 && l->has_rails ? canvas_colour(rail)
                                                                       : "#8d8d8d";
}

int site_channel(const struct site_layout *l, int level)
{
    return level == SITE_RACK ? site_bundle_width(l) + 12 : LINE_CHANNEL;
}

/* The deepest level whose groups have a box of their own. */
static int deepest(const struct site_layout *l)
{
    return l->detail <= DETAIL_RACKS ? SITE_RACK : l->detail == DETAIL_ZONES ? SITE_ZONE : SITE_DC;
}

/* ---- sizes ------------------------------------------------------------------------- */

static void measure_leaf(struct site_layout *l, int level, uint32_t i)
{
    const struct site_group *g = &l->s->groups[level][i];
    struct rect             *r = &l->places[level][i].r;
    if (level == SITE_RACK && l->detail == DETAIL_HOSTS) {
        struct rect hosts = site_draw_hosts(NULL, l, g, 0, 0, 0);
        *r = (struct rect){0, 0, hosts.w + 2 * SITE_PAD, SITE_HEAD + hosts.h + SITE_PAD};
    } else if (level == SITE_RACK) {
        *r = (struct rect){0, 0, RACK_W + site_bundle_width(l), SITE_HEAD + 22};
    } else {
        struct site_sort sorts[SITE_SORTS_MOST];
        uint32_t         left;
        int              lines = site_find_sorts(l->s, level, g, sorts, &left);
        lines += left > 0;
        *r = (struct rect){0, 0, SUMMARY_W, SITE_HEAD + lines * SUMMARY_LINE + SITE_PAD};
    }
}

/* Left edge of what lies in a group of this level, from its own. */
static int indent(const struct site_layout *l, int level)
{
    return level == SITE_ZONE ? DROP + site_bundle_width(l) + 8 : DROP + 14;
}

/* Lets places flow in rows from (x, y) on; what they take. */
static struct rect flow(const struct site_layout *l, int level, uint32_t first, uint32_t n, int x,
                        int y, int most)
{
    struct rect all = {x, y, 0, 0};
    int         at = x, row = y, height = 0;
    for (uint32_t i = first; i < first + n && i < l->nshown[level]; i++) {
        struct site_place *p = &l->places[level][i];
        bool               wraps = at > x && at + p->r.w > x + most;
        if (wraps) {
            at = x;
            row += height + SITE_GAP;
        }
        height = wraps || at == x ? 0 : height;
        p->first = at == x;
        p->channel = row;
        p->r.x = at;
        p->r.y = row + site_channel(l, level);
        at += p->r.w + SITE_GAP;
        height =
            site_channel(l, level) + p->r.h > height ? site_channel(l, level) + p->r.h : height;
        all.w = at - SITE_GAP - x > all.w ? at - SITE_GAP - x : all.w;
        all.h = row + height - y > all.h ? row + height - y : all.h;
    }
    return all;
}

static void measure(struct site_layout *l, int level, uint32_t i)
{
    if (level == deepest(l)) {
        measure_leaf(l, level, i);
        return;
    }
    const struct site_group *g = &l->s->groups[level][i];
    struct rect in = flow(l, level + 1, g->child, g->nchildren, 0, 0, inner_most[level]);
    l->places[level][i].r =
        (struct rect){0, 0, indent(l, level) + in.w + SITE_PAD, SITE_HEAD + in.h + SITE_PAD};
}

static void place_children(struct site_layout *l, int level)
{
    for (uint32_t i = 0; level < deepest(l) && i < l->nshown[level]; i++) {
        const struct site_group *g = &l->s->groups[level][i];
        const struct rect       *r = &l->places[level][i].r;
        flow(l, level + 1, g->child, g->nchildren, r->x + indent(l, level), r->y + SITE_HEAD,
             inner_most[level]);
    }
}

int site_layout_init(struct site_layout *l, const struct site *s, int x, int y)
{
    enum { MOST_W = 1800 };
    *l = (struct site_layout){.s = s, .detail = choose_detail(s), .nrails = 1};
    for (uint32_t i = 0; i < s->ngroups[SITE_DC]; i++) {
        int n = s->groups[SITE_DC][i].nrails;
        l->has_rails = l->has_rails || n > 0;
        l->nrails = n > l->nrails ? n : l->nrails;
    }
    l->nrails = l->nrails > RAILS_MOST ? RAILS_MOST : l->nrails;
    for (int level = deepest(l); level >= SITE_DC; level--) {
        l->nshown[level] = s->ngroups[level];
        if (level == SITE_DC && l->nshown[level] > SITE_DCS_MOST && l->detail == DETAIL_DCS) {
            l->nshown[level] = SITE_DCS_MOST;
        }
        l->places[level] = calloc((size_t)l->nshown[level] + 1, sizeof *l->places[level]);
        if (l->places[level] == NULL) {
            site_layout_fini(l);
            return CTRAN_ERR_NO_MEM;
        }
        for (uint32_t i = 0; i < l->nshown[level]; i++) {
            measure(l, level, i);
        }
    }
    struct rect all = flow(l, SITE_DC, 0, l->nshown[SITE_DC], x + DROP + 4, y, MOST_W);
    l->w = all.w + DROP + 4;
    l->h = all.h;
    place_children(l, SITE_DC);
    place_children(l, SITE_ZONE);
    return CTRAN_SUCCESS;
}

void site_layout_fini(struct site_layout *l)
{
    for (int level = 0; level < SITE_LEVELS; level++) {
        free(l->places[level]);
        l->places[level] = NULL;
    }
}
