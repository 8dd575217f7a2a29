/* SPDX-License-Identifier: BSD-3-Clause */
/* Time by size, or by ranks: both axes logarithmic, a line for each collective, algorithm and n. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "tools/topology/canvas.h"

enum { W = 960, H = 560, LEFT_X = 80, RIGHT_X = 560, TOP_Y = 50, LOW_Y = 500, POINTS = 256 };

struct axes {
    bool   by_ranks;
    double x_low, x_high, y_low, y_high; /* powers of 2 and of 10 */
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

static void tick_text(const struct axes *a, int power, char *out, size_t cap)
{
    static const char *const units[] = {"", "K", "M", "G", "T", "P"};
    double                   v = exp2(power);
    int                      u = 0;
    for (; !a->by_ranks && v >= 1024 && u < 5; u++) {
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
        int          y = place(p, a->y_low, a->y_high, LOW_Y, TOP_Y);
        struct label l = {LEFT_X - 8, y + 4, 70, 11, RIGHT, false, NULL};
        const int    line[2][2] = {{LEFT_X, y}, {RIGHT_X, y}};
        time_text(p, text, sizeof text);
        canvas_label(c, &l, text);
        canvas_line(c, "grid", text, text, line, 2, "#dddddd", 1, false);
    }
    for (int p = (int)a->x_low; p <= (int)a->x_high; p += step) {
        int          x = place(p, a->x_low, a->x_high, LEFT_X, RIGHT_X);
        struct label l = {x, LOW_Y + 18, 60, 11, MIDDLE, false, NULL};
        tick_text(a, p, text, sizeof text);
        canvas_label(c, &l, text);
    }
    struct label l = {(LEFT_X + RIGHT_X) / 2, LOW_Y + 40, 400, 12, MIDDLE, false, NULL};
    canvas_label(c, &l, a->by_ranks ? "ranks" : "bytes");
}

/* The line that begins at row `first`. */
static void draw_line(struct canvas *c, const struct axes *a, const struct sim_row *rows, size_t n,
                      size_t first, int index)
{
    const struct sim_case *what = &rows[first].what;
    int                    points[POINTS][2], k = 0;
    char                   algo[64], name[128];
    sim_case_name(what, algo, sizeof algo);
    for (size_t i = first; i < n && k < POINTS; i++) {
        if (same_line(a, &rows[first], &rows[i])) {
            points[k][0] = place(x_of(a, &rows[i]), a->x_low, a->x_high, LEFT_X, RIGHT_X);
            points[k++][1] = place(y_of(&rows[i]), a->y_low, a->y_high, LOW_Y, TOP_Y);
        }
    }
    if (a->by_ranks) {
        (void)snprintf(name, sizeof name, "%d %s %s", index + 1, ct_algo_coll_name(what->coll),
                       algo);
    } else {
        (void)snprintf(name, sizeof name, "%d %s %s, %u ranks", index + 1,
                       ct_algo_coll_name(what->coll), algo, what->n);
    }
    bool         again = index / CANVAS_COLOURS % 2 == 1;
    struct label key = {RIGHT_X + 30, TOP_Y + 10 + 18 * index, W - RIGHT_X - 40, 11, LEFT,
                        false,        canvas_colour(index)};
    struct label end = {points[k - 1][0] + 4, points[k - 1][1] + 4, 20, 11, LEFT, true,
                        canvas_colour(index)};
    canvas_line(c, "time", name, name, (const int(*)[2])points, k, canvas_colour(index), 2, again);
    canvas_label(c, &key, name);
    (void)snprintf(name, sizeof name, "%d", index + 1);
    canvas_label(c, &end, name);
}

bool sim_plot(const struct sim_row *rows, size_t n, FILE *to)
{
    struct axes   a = axes_of(rows, n);
    struct canvas c;
    char          title[256];
    int           lines = 0;
    if (canvas_init(&c) != 0) {
        return false;
    }
    (void)snprintf(title, sizeof title, "Simulated time on cluster %s", rows[0].what.cluster->name);
    struct label head = {LEFT_X, 28, W - 2 * LEFT_X, 14, LEFT, true, NULL};
    canvas_label(&c, &head, title);
    draw_axes(&c, &a);
    for (size_t i = 0; i < n; i++) {
        bool begun = false;
        for (size_t j = 0; j < i; j++) {
            begun |= same_line(&a, &rows[j], &rows[i]);
        }
        if (!begun) {
            draw_line(&c, &a, rows, n, i, lines++);
        }
    }
    int  h = TOP_Y + 30 + 18 * lines;
    bool good = canvas_write(&c, to, W, h > H ? h : H, title);
    canvas_fini(&c);
    return good;
}
