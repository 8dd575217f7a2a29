/* SPDX-License-Identifier: BSD-3-Clause */
/* Below a cluster's picture: what lines mean, how many pairs of hosts are how far from each other,
 * and the matrix of distances between hosts, or groups where there are too many hosts. */
#include <inttypes.h>

#include "tools/topology/site_layout.h"

enum { TEXT = 11, HEAD = 13, ROW = 20, LIST_W = 480, CELL_W = 58, CELL_H = 18, NAME_W = 150 };
enum { MATRIX_MOST = 24 };

static const struct {
    const char *fill, *what;
} classes[CT_DIST_CLASSES] = {
    [CT_DIST_SELF] = {"#ffffff", "the same"},
    [CT_DIST_NODE] = {"#ffffff", "the same host"},
    [CT_DIST_NVLINK] = {"#fdeeb5", "of one NVLink domain"},
    [CT_DIST_RACK] = {"#d8f0d8", "of one rack"},
    [CT_DIST_ZONE] = {"#d7ebf5", "of one zone, in different racks"},
    [CT_DIST_DC] = {"#d9d2e6", "of one data centre, in different zones"},
    [CT_DIST_BEYOND] = {"#d6cfcb", "of different data centres"},
};

static void put(struct canvas *c, int x, int y, int room, bool bold, const char *text)
{
    struct label l = {x, y, room, bold ? HEAD : TEXT, LEFT, bold, NULL};
    canvas_label(c, &l, text);
}

static void put_cell(struct canvas *c, const char *kind, struct rect r, enum ct_distance d,
                     const char *text, const char *title)
{
    struct look  look = {classes[d].fill, "#a8a8a8", 1, 2, false};
    struct label l = {r.x + r.w / 2, r.y + 13, r.w - 4, TEXT, MIDDLE, false, NULL};
    canvas_open(c, kind, NULL, title, r, &look);
    canvas_label(c, &l, text);
    canvas_close(c);
}

static int draw_line(struct canvas *c, int x, int y, const char *text, const char *colour,
                     bool dashed)
{
    const int line[][2] = {{x, y + ROW / 2}, {x + 40, y + ROW / 2}};
    canvas_line(c, "sample", text, NULL, line, 2, colour, 3, dashed);
    put(c, x + 62, y + 14, LIST_W - 62, false, text);
    return y + ROW;
}

static int draw_lines(struct canvas *c, const struct site_layout *l, int x, int y)
{
    const struct site *s = l->s;
    put(c, x, y += 14, LIST_W, true, "Lines");
    y += 6;
    if (l->detail <= DETAIL_RACKS && !l->has_rails) {
        y = draw_line(c, x, y, "network within a zone", site_rail_colour(l, 0), false);
    }
    for (int k = 0; l->detail <= DETAIL_RACKS && l->has_rails && k < l->nrails; k++) {
        char text[64];
        snprintf(text, sizeof text, "rail %d%s", k, k == 0 ? ", within a zone" : "");
        y = draw_line(c, x, y, text, site_rail_colour(l, k), false);
    }
    if (l->detail != DETAIL_DCS && s->ngroups[SITE_ZONE] > 1) {
        y = draw_line(c, x, y, "between zones of a data centre", "#5a5a5a", false);
    }
    if (s->ngroups[SITE_DC] > 1) {
        y = draw_line(c, x, y, "between data centres", "#7d5a3c", true);
    }
    return y;
}

static int draw_pairs(struct canvas *c, const struct site *s, int x, int y)
{
    uint64_t all = 0;
    for (int d = 0; d < CT_DIST_CLASSES; d++) {
        all += s->pairs[d];
    }
    if (all == 0) {
        return y;
    }
    put(c, x, y += 22, LIST_W, true, "Pairs of hosts, nearest first");
    y += 6;
    for (int d = CT_DIST_NVLINK; d < CT_DIST_CLASSES; d++) {
        char text[128];
        if (s->pairs[d] == 0) {
            continue;
        }
        snprintf(text, sizeof text, "%s: %" PRIu64 " (%.*f %%)", classes[d].what, s->pairs[d], 1,
                 100.0 * (double)s->pairs[d] / (double)all);
        put_cell(c, "key", (struct rect){x, y + 1, 50, CELL_H}, (enum ct_distance)d,
                 ct_distance_name((enum ct_distance)d), classes[d].what);
        put(c, x + 62, y + 14, LIST_W - 62, false, text);
        y += ROW;
    }
    return y;
}

/* ---- matrix ------------------------------------------------------------------------ */

/* What the rows stand for: the smallest that there are not too many of. -1: of all too many, else a
 * level, SITE_LEVELS for hosts. */
static int matrix_level(const struct site *s)
{
    if (s->nhosts <= MATRIX_MOST) {
        return SITE_LEVELS;
    }
    for (int level = SITE_RACK; level >= SITE_DC; level--) {
        if (s->ngroups[level] <= MATRIX_MOST) {
            return level;
        }
    }
    return -1;
}

static uint32_t row_host(const struct site *s, int level, uint32_t row)
{
    return level == SITE_LEVELS ? row : s->groups[level][row].host;
}

static const char *row_name(const struct site *s, int level, uint32_t row)
{
    const char *name = level == SITE_LEVELS ? s->hosts[row].name : s->groups[level][row].name;
    return name[0] != '\0' ? name : "not named";
}

/* With what it lies in: r1 of one zone is not r1 of another. */
static void format_row(const struct site *s, int level, uint32_t row, char *out, size_t cap)
{
    const struct ct_label *l = &s->hosts[row_host(s, level, row)].label;
    bool                   dc = level > SITE_DC && level < SITE_LEVELS && s->ngroups[SITE_DC] > 1;
    bool                   zone = level == SITE_RACK && s->ngroups[SITE_ZONE] > 1;
    snprintf(out, cap, "%s%s%s%s%s", dc ? l->dc : "", dc ? " " : "", zone ? l->zone : "",
             zone ? " " : "", row_name(s, level, row));
}

static struct rect draw_matrix(struct canvas *c, const struct site *s, int x, int y)
{
    static const char *const heads[] = {"Distances between data centres", "Distances between zones",
                                        "Distances between racks", "Distances between hosts"};
    int                      level = matrix_level(s);
    struct rect              r = {x, y, 0, 0};
    uint32_t n = level < 0 ? 0 : level == SITE_LEVELS ? s->nhosts : s->ngroups[level];
    if (n < 2) {
        return r;
    }
    r.w = NAME_W + 9 + (int)n * CELL_W;
    put(c, x, y += 14, r.w, true, heads[level]);
    y += 6;
    bool numbers = false; /* at the columns, where names are too long */
    for (uint32_t k = 0; k < n; k++) {
        numbers = numbers || canvas_width(row_name(s, level, k), 10, false) > CELL_W - 4;
    }
    for (uint32_t k = 0; k < n; k++) {
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, k + 1);
        struct label l = {x + NAME_W + 9 + (int)k * CELL_W + CELL_W / 2,
                          y + 13,
                          CELL_W - 4,
                          10,
                          MIDDLE,
                          false,
                          NULL};
        canvas_label(c, &l, numbers ? number : row_name(s, level, k));
    }
    y += ROW;
    for (uint32_t i = 0; i < n; i++, y += ROW) {
        char         name[256], number[16];
        int          room = numbers ? NAME_W - 24 : NAME_W;
        struct label l = {x + room, y + 13, room, TEXT, RIGHT, false, NULL};
        struct label at = {x + NAME_W, y + 13, 22, 10, RIGHT, false, NULL};
        format_row(s, level, i, name, sizeof name);
        canvas_label(c, &l, name);
        snprintf(number, sizeof number, "%" PRIu32, i + 1);
        canvas_label(c, &at, numbers ? number : "");
        for (uint32_t k = 0; k < n; k++) {
            struct ct_location locations[] = {s->hosts[row_host(s, level, i)].location,
                                              s->hosts[row_host(s, level, k)].location};
            enum ct_distance   d = i == k ? CT_DIST_SELF : ct_distance_between(locations, 0, 1);
            char               title[320];
            snprintf(title, sizeof title, "%s and %s: %s", row_name(s, level, i),
                     row_name(s, level, k), classes[d].what);
            put_cell(c, "cell",
                     (struct rect){x + NAME_W + 9 + (int)k * CELL_W, y, CELL_W - 3, CELL_H}, d,
                     i == k ? "-" : ct_distance_name(d), title);
        }
    }
    r.h = y - r.y;
    return r;
}

struct rect site_draw_key(struct canvas *c, const struct site_layout *l, struct rect room)
{
    int y = draw_lines(c, l, room.x, room.y);
    y = draw_pairs(c, l->s, room.x, y);
    struct rect matrix = draw_matrix(c, l->s, room.x + LIST_W + 40, room.y);
    int         w = matrix.x + matrix.w - room.x;
    room.w = room.w > w ? room.w : w;
    room.h = y - room.y > matrix.h ? y - room.y : matrix.h;
    return room;
}
