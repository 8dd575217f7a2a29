/* SPDX-License-Identifier: BSD-3-Clause */
/* Time by size, or by ranks: both axes logarithmic, a line for each collective, algorithm and n.
 * The names of the lines stand at the right in the order in which the lines end, one below the
 * other, and a thin line leads from each end to its name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "tools/topology/canvas.h"

enum {
    W = 960,
    H = 560,
    LEFT_X = 80,
    RIGHT_X = 560,
    TOP_Y = 50,
    LOW_Y = 500,
    NAME_H = 18,
    POINTS = 256
};

struct axes {
    bool   by_ranks;
    double x_low, x_high, y_low, y_high; /* powers of 2 and of 10 */
    int    bottom;                       /* where y_low lies */
};

/* Of what one line shows. */
struct line {
    size_t first; /* row */
    int    index; /* in the order of the rows */
    int    end_x, end_y, name_y;
    char   name[128];
};

static double x_of(const struct axes *a, const struct sim_row *r)
{
    return log2(a->by_ranks ? r->what.n : r->what.bytes > 0 ? (double)r->what.bytes : 0.5);
}

static double y_of(const struct sim_row *r)
{
    double t = (double)r->result.time_ps / SIM_PS_PER_US;
    return log10(t > 1e-3 ? t : 1e-3);
}

static int place(double v, double low, double high, int from, int to)
{
    return from + (int)lround((v - low) / (high - low) * (to - from));
}

static struct axes axes_of(const struct sim_row *rows, size_t n)
{
    struct axes a = {.x_low = 1e9, .x_high = -1e9, .y_low = 1e9, .y_high = -1e9, .by_ranks = true};
    for (size_t i = 1; i < n; i++) {
        a.by_ranks = a.by_ranks && rows[i].what.bytes == rows[0].what.bytes;
    }
    for (size_t i = 0; i < n; i++) {
        a.x_low = fmin(a.x_low, floor(x_of(&a, &rows[i])));
        a.x_high = fmax(a.x_high, ceil(x_of(&a, &rows[i])));
        a.y_low = fmin(a.y_low, floor(y_of(&rows[i])));
        a.y_high = fmax(a.y_high, ceil(y_of(&rows[i])));
    }
    a.x_high += a.x_high == a.x_low;
    a.y_high += a.y_high == a.y_low;
    return a;
}

static bool same_line(const struct axes *a, const struct sim_row *x, const struct sim_row *y)
{
    return x->what.algo == y->what.algo && x->what.radix == y->what.radix &&
           (a->by_ranks ? x->what.bytes == y->what.bytes : x->what.n == y->what.n);
}

/* A power of two, of bytes or of ranks. */
static void tick_text(int power, char *out, size_t cap)
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P"};
    double                   v = exp2(power);
    int                      u = 0;
    for (; v >= 1024 && u < 5; u++) {
        v /= 1024;
    }
    (void)snprintf(out, cap, "%.0f%s", power < 0 ? 0 : v, units[u]);
}

/* A power of ten microseconds, in the unit that suits it. */
static void time_text(int power, char *out, size_t cap)
{
    const char *unit = power < 0 ? "ns" : power < 3 ? "us" : power < 6 ? "ms" : "s";
    int         shift = power < 0 ? -3 : power < 3 ? 0 : power < 6 ? 3 : 6;
    (void)snprintf(out, cap, "%g %s", pow(10, power - shift), unit);
}

static void draw_axes(struct canvas *c, const struct axes *a)
{
    char text[32];
    int  step = (int)(a->x_high - a->x_low) / 12 + 1;
    for (int p = (int)a->y_low; p <= (int)a->y_high; p++) {
        int          y = place(p, a->y_low, a->y_high, a->bottom, TOP_Y);
        struct label l = {LEFT_X - 8, y + 4, 70, 11, RIGHT, false, NULL};
        const int    line[2][2] = {{LEFT_X, y}, {RIGHT_X, y}};
        time_text(p, text, sizeof text);
        canvas_label(c, &l, text);
        canvas_line(c, "grid", text, text, line, 2, "#dddddd", 1, false);
    }
    for (int p = (int)a->x_low; p <= (int)a->x_high; p += step) {
        int          x = place(p, a->x_low, a->x_high, LEFT_X, RIGHT_X);
        struct label l = {x, a->bottom + 18, 60, 11, MIDDLE, false, NULL};
        tick_text(p, text, sizeof text);
        canvas_label(c, &l, text);
    }
    struct label l = {(LEFT_X + RIGHT_X) / 2, a->bottom + 40, 400, 12, MIDDLE, false, NULL};
    canvas_label(c, &l, a->by_ranks ? "ranks" : "bytes");
}

static void name_line(const struct axes *a, const struct sim_case *what, struct line *l)
{
    char algo[64], ranks[32] = "";
    sim_case_name(what, algo, sizeof algo);
    if (!a->by_ranks) {
        (void)snprintf(ranks, sizeof ranks, ", %u ranks", what->n);
    }
    (void)snprintf(l->name, sizeof l->name, "%d %s %s%s", l->index + 1,
                   ct_algo_coll_name(what->coll), algo, ranks);
}

static bool is_dashed(const struct line *l)
{
    return l->index / CANVAS_COLOURS % 2 == 1;
}

/* Draws a line; where it ends is in *l then. */
static void draw_line(struct canvas *c, const struct axes *a, const struct sim_row *rows, size_t n,
                      struct line *l)
{
    int points[POINTS][2], k = 0;
    for (size_t i = l->first; i < n && k < POINTS; i++) {
        if (same_line(a, &rows[l->first], &rows[i])) {
            points[k][0] = place(x_of(a, &rows[i]), a->x_low, a->x_high, LEFT_X, RIGHT_X);
            points[k++][1] = place(y_of(&rows[i]), a->y_low, a->y_high, a->bottom, TOP_Y);
        }
    }
    l->end_x = points[k - 1][0];
    l->end_y = points[k - 1][1];
    canvas_line(c, "time", l->name, l->name, (const int(*)[2])points, k, canvas_colour(l->index), 2,
                is_dashed(l));
}

static int by_end(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    return a->end_y != b->end_y ? (a->end_y > b->end_y) - (a->end_y < b->end_y)
                                : (a->index > b->index) - (a->index < b->index);
}

/* As near as possible to the ends, without two in one place: first each below the one before, then
 * back up where that led below the axes. */
static void place_names(struct line *lines, int n, int bottom)
{
    qsort(lines, (size_t)n, sizeof *lines, by_end);
    for (int i = 0; i < n; i++) {
        const int least = i > 0 ? lines[i - 1].name_y + NAME_H : TOP_Y;
        lines[i].name_y = lines[i].end_y > least ? lines[i].end_y : least;
    }
    for (int i = n - 1; i >= 0; i--) {
        const int most = bottom - (n - 1 - i) * NAME_H;
        lines[i].name_y = lines[i].name_y < most ? lines[i].name_y : most;
    }
}

static void draw_name(struct canvas *c, const struct line *l)
{
    const int          x = RIGHT_X + 40, level = RIGHT_X + 4;
    const int          lead[3][2] = {{l->end_x, l->end_y}, {level, l->end_y}, {x - 4, l->name_y}};
    const struct label name = {x,     l->name_y + 4,          W - x - 10, 11, LEFT,
                               false, canvas_colour(l->index)};
    canvas_line(c, "lead", l->name, l->name, lead, 3, canvas_colour(l->index), 1, is_dashed(l));
    canvas_label(c, &name, l->name);
}

/* Finds the lines, in the order of the rows; returns how many. */
static int find_lines(const struct axes *a, const struct sim_row *rows, size_t n,
                      struct line *lines)
{
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        bool begun = false;
        for (size_t j = 0; j < i && !begun; j++) {
            begun = same_line(a, &rows[j], &rows[i]);
        }
        if (!begun) {
            lines[count] = (struct line){.first = i, .index = count};
            name_line(a, &rows[i].what, &lines[count++]);
        }
    }
    return count;
}

bool sim_plot(const struct sim_row *rows, size_t n, FILE *to)
{
    struct axes   a = axes_of(rows, n);
    struct line  *lines = calloc(n, sizeof *lines);
    struct canvas c;
    char          title[256];
    if (lines == NULL || canvas_init(&c) != 0) {
        free(lines);
        return false;
    }
    const int count = find_lines(&a, rows, n, lines);
    a.bottom = TOP_Y + count * NAME_H > LOW_Y ? TOP_Y + count * NAME_H : LOW_Y;
    (void)snprintf(title, sizeof title, "Simulated time on cluster %s", rows[0].what.cluster->name);
    struct label head = {LEFT_X, 28, W - 2 * LEFT_X, 14, LEFT, true, NULL};
    canvas_label(&c, &head, title);
    draw_axes(&c, &a);
    for (int i = 0; i < count; i++) {
        draw_line(&c, &a, rows, n, &lines[i]);
    }
    place_names(lines, count, a.bottom);
    for (int i = 0; i < count; i++) {
        draw_name(&c, &lines[i]);
    }
    const bool good = canvas_write(&c, to, W, a.bottom + (H - LOW_Y), title);
    canvas_fini(&c);
    free(lines);
    return good;
}
