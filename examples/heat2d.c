/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heat2d - how heat spreads over a plate, computed by any number of ranks.
 *
 *     ctranrun -n 6 ./heat2d --size 400x300 --steps 2000 --picture heat.png
 *
 * The plate is a grid of cells, whose edge is held at 0 but for its upper side, which is hot; a
 * disc in the middle begins hot, too. In each step every cell moves towards the mean of its four
 * neighbours. The ranks form a grid as well, and each has a rectangle of cells, with a rim of one
 * cell around it: before a step it gets there what its neighbours' outermost cells are, the halo.
 *
 *         . . . .             .  what the neighbours own: received before each step
 *       . o o o o .           o  the outermost own cells: sent
 *       . o x x o .           x  other own cells
 *       . o o o o .
 *         . . . .
 *
 * Every cell goes through the same arithmetic wherever it lies, so the field is the same, bit by
 * bit, for any number of ranks; --check compares it with that of one rank alone.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctran.h>

#include "png.h"

enum { UP, DOWN, LEFT, RIGHT, SIDES };

struct options {
    int         width, height, steps;
    bool        check;
    const char *picture;
};

/* A rectangle of the plate: cells x0 .. x0 + w - 1, y0 .. y0 + h - 1. Both fields have the rim, so
 * a row has w + 2 cells, and `row` is the distance of two rows. */
struct part {
    int     x0, y0, w, h, row;
    double *now, *next;
    double *columns[2][2]; /* left and right column: to send, received */
    int     neighbour[SIDES];
};

static double *cell(const struct part *p, double *field, int x, int y)
{
    return field + (y + 1) * p->row + (x + 1);
}

/* ---- the grid of ranks ------------------------------------------------------------------------
 */

/* Columns of ranks, so that they and the rows multiply to `size` and the parts are most nearly
 * square. A prime number of ranks makes stripes. */
static int rank_columns(int size, const struct options *o)
{
    int best = 1;
    for (int columns = 1; columns <= size; columns++) {
        double shape = (double)o->width / columns / ((double)o->height * columns / size);
        double shape_of_best = (double)o->width / best / ((double)o->height * best / size);
        if (size % columns == 0 && fabs(log(shape)) < fabs(log(shape_of_best))) {
            best = columns;
        }
    }
    return best;
}

/* Where the i-th of n pieces of `length` cells begins. */
static int piece(int length, int i, int n)
{
    return (int)((long)length * i / n);
}

/* The part of a rank; ranks go row by row over the plate. */
static void place(struct part *p, const struct options *o, int rank, int size)
{
    int columns = rank_columns(size, o), rows = size / columns;
    int x = rank % columns, y = rank / columns;
    p->x0 = piece(o->width, x, columns);
    p->y0 = piece(o->height, y, rows);
    p->w = piece(o->width, x + 1, columns) - p->x0;
    p->h = piece(o->height, y + 1, rows) - p->y0;
    p->row = p->w + 2;
    p->neighbour[UP] = y > 0 ? rank - columns : CTRAN_PROC_NULL;
    p->neighbour[DOWN] = y < rows - 1 ? rank + columns : CTRAN_PROC_NULL;
    p->neighbour[LEFT] = x > 0 ? rank - 1 : CTRAN_PROC_NULL;
    p->neighbour[RIGHT] = x < columns - 1 ? rank + 1 : CTRAN_PROC_NULL;
}

/* ---- the field --------------------------------------------------------------------------------
 */

static bool in_disc(int x, int y, const struct options *o)
{
    double dx = x - o->width / 2.0, dy = y - o->height / 2.0;
    double r = (o->width < o->height ? o->width : o->height) / 5.0;
    return dx * dx + dy * dy < r * r;
}

/* Memory for both fields, and what they hold at the beginning. What lies beyond the plate is never
 * received: it stays as it is set here. */
static bool prepare(struct part *p, const struct options *o)
{
    size_t  cells = (size_t)p->row * (size_t)(p->h + 2);
    double *columns = calloc(4 * (size_t)p->h, sizeof *columns);
    p->now = calloc(cells, sizeof *p->now);
    p->next = calloc(cells, sizeof *p->next);
    if (p->now == NULL || p->next == NULL || columns == NULL) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        p->columns[i / 2][i % 2] = columns + i * p->h;
    }
    for (int y = -1; y <= p->h; y++) {
        for (int x = -1; x <= p->w; x++) {
            bool hot = p->y0 + y < 0 || in_disc(p->x0 + x, p->y0 + y, o);
            *cell(p, p->now, x, y) = *cell(p, p->next, x, y) = hot ? 1 : 0;
        }
    }
    return true;
}

static void drop(struct part *p)
{
    free(p->now);
    free(p->next);
    free(p->columns[0][0]);
}

/* One column of the field, to or from contiguous memory. */
static void copy_column(struct part *p, int x, double *memory, bool out)
{
    for (int y = 0; y < p->h; y++) {
        double *at = cell(p, p->now, x, y);
        if (out) {
            memory[y] = *at;
        } else {
            *at = memory[y];
        }
    }
}

/* Fills the rim with the neighbours' outermost cells. All receives and sends are under way at the
 * same time; those with CTRAN_PROC_NULL, at the edge of the plate, do nothing. */
static void exchange(struct part *p)
{
    ctran_request_t requests[2 * SIDES];
    double *receive[SIDES] = {cell(p, p->now, 0, -1), cell(p, p->now, 0, p->h), p->columns[0][1],
                              p->columns[1][1]};
    double *send[SIDES] = {cell(p, p->now, 0, 0), cell(p, p->now, 0, p->h - 1), p->columns[0][0],
                           p->columns[1][0]};
    copy_column(p, 0, send[LEFT], true);
    copy_column(p, p->w - 1, send[RIGHT], true);
    for (int side = 0; side < SIDES; side++) {
        int count = side == UP || side == DOWN ? p->w : p->h;
        ctran_irecv(receive[side], count, CTRAN_DOUBLE, p->neighbour[side], 0, CTRAN_COMM_WORLD,
                    &requests[side]);
        ctran_isend(send[side], count, CTRAN_DOUBLE, p->neighbour[side], 0, CTRAN_COMM_WORLD,
                    &requests[SIDES + side]);
    }
    ctran_waitall(2 * SIDES, requests, CTRAN_STATUSES_IGNORE);
    if (p->neighbour[LEFT] != CTRAN_PROC_NULL) {
        copy_column(p, -1, receive[LEFT], false);
    }
    if (p->neighbour[RIGHT] != CTRAN_PROC_NULL) {
        copy_column(p, p->w, receive[RIGHT], false);
    }
}

/* One step; the largest change of a cell. */
static double step(struct part *p)
{
    double largest = 0;
    for (int y = 0; y < p->h; y++) {
        const double *up = cell(p, p->now, 0, y - 1), *here = cell(p, p->now, 0, y);
        const double *down = cell(p, p->now, 0, y + 1);
        double       *out = cell(p, p->next, 0, y);
        for (int x = 0; x < p->w; x++) {
            double change = 0.2 * (up[x] + down[x] + here[x - 1] + here[x + 1] - 4 * here[x]);
            out[x] = here[x] + change;
            largest = fabs(change) > largest ? fabs(change) : largest;
        }
    }
    double *old = p->now;
    p->now = p->next;
    p->next = old;
    return largest;
}

/* ---- the result -------------------------------------------------------------------------------
 */

/* The whole field at rank 0, row by row, to be freed there; NULL elsewhere. Each rank sends its
 * rows, and rank 0 knows where those of each rank belong. */
static double *collect(struct part *p, const struct options *o, int rank, int size)
{
    double *all = NULL;
    if (rank == 0) {
        all = malloc(sizeof *all * (size_t)o->width * (size_t)o->height);
        for (int y = 0; all != NULL && y < p->h; y++) {
            memcpy(all + (long)y * o->width, cell(p, p->now, 0, y), (size_t)p->w * sizeof *all);
        }
    }
    for (int y = 0; rank > 0 && y < p->h; y++) {
        ctran_send(cell(p, p->now, 0, y), p->w, CTRAN_DOUBLE, 0, y, CTRAN_COMM_WORLD);
    }
    for (int from = 1; all != NULL && from < size; from++) {
        struct part other;
        place(&other, o, from, size);
        for (int y = 0; y < other.h; y++) {
            ctran_recv(all + (long)(other.y0 + y) * o->width + other.x0, other.w, CTRAN_DOUBLE,
                       from, y, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        }
    }
    return all;
}

/* The same field, computed by this rank alone. */
static bool same_as_alone(const double *all, const struct options *o)
{
    struct part alone;
    bool        same = true;
    place(&alone, o, 0, 1);
    if (!prepare(&alone, o)) {
        return false;
    }
    for (int i = 0; i < o->steps; i++) {
        step(&alone);
    }
    for (int y = 0; same && y < o->height; y++) {
        same = memcmp(all + (long)y * o->width, cell(&alone, alone.now, 0, y),
                      sizeof *all * (size_t)o->width) == 0;
    }
    drop(&alone);
    return same;
}

/* Black, red, yellow, white: the colours of hot iron. */
static uint8_t shade(double t, int colour)
{
    double v = 3 * t - colour;
    return (uint8_t)(255 * (v < 0 ? 0 : v > 1 ? 1 : v));
}

static bool draw(const double *all, const struct options *o)
{
    size_t   cells = (size_t)o->width * (size_t)o->height;
    uint8_t *rgb = malloc(3 * cells);
    for (size_t i = 0; rgb != NULL && i < 3 * cells; i++) {
        rgb[i] = shade(all[i / 3], (int)(i % 3));
    }
    bool drawn =
        rgb != NULL && png_write(o->picture, (uint32_t)o->width, (uint32_t)o->height, rgb) == 0;
    if (!drawn) {
        fprintf(stderr, "heat2d: %s was not written: %s\n", o->picture, strerror(errno));
    }
    free(rgb);
    return drawn;
}

/* What rank 0 does in the end; its success is everybody's. */
static bool finish(struct part *p, const struct options *o, int rank, int size)
{
    int     good = 1;
    double *all = collect(p, o, rank, size);
    if (rank == 0) {
        good = all != NULL && (o->picture == NULL || draw(all, o));
        if (good && o->check) {
            good = same_as_alone(all, o);
            printf("the field %s that of one rank\n", good ? "equals" : "DIFFERS from");
        }
    }
    free(all);
    ctran_bcast(&good, 1, CTRAN_INT, 0, CTRAN_COMM_WORLD);
    return good;
}

static const char usage[] = "usage: ctranrun -n RANKS heat2d [OPTION]...\n"
                            "Computes how heat spreads over a plate.\n"
                            "  --size WxH      cells (default 300x200)\n"
                            "  --steps N       (default 1000)\n"
                            "  --picture FILE  draw the result as PNG\n"
                            "  --check         compare it with that of one rank alone\n";

static bool parse(int argc, char **argv, struct options *o)
{
    static const struct option names[] = {{"size", required_argument, NULL, 's'},
                                          {"steps", required_argument, NULL, 'n'},
                                          {"picture", required_argument, NULL, 'p'},
                                          {"check", no_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
    bool                       good = true;
    int                        c;
    *o = (struct options){.width = 300, .height = 200, .steps = 1000};
    opterr = 0;
    while (good && (c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 's':
            good = sscanf(optarg, "%dx%d", &o->width, &o->height) == 2;
            break;
        case 'n':
            good = sscanf(optarg, "%d", &o->steps) == 1;
            break;
        case 'p':
            o->picture = optarg;
            break;
        case 'c':
            o->check = true;
            break;
        default:
            good = false;
        }
    }
    good = good && optind == argc && o->steps >= 0;
    return good && o->width > 0 && o->width <= 1 << 15 && o->height > 0 && o->height <= 1 << 15;
}

int main(int argc, char **argv)
{
    struct options o;
    struct part    part;
    int            rank, size;
    double         change = 0, largest;

    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    if (!parse(argc, argv, &o)) {
        if (rank == 0) {
            fputs(usage, stderr);
        }
        ctran_finalize();
        return 2;
    }

    int columns = rank_columns(size, &o);
    if (columns > o.width || size / columns > o.height) {
        if (rank == 0) {
            fprintf(stderr, "heat2d: %dx%d cells are too few for %d ranks\n", o.width, o.height,
                    size);
        }
        ctran_finalize();
        return 1;
    }
    place(&part, &o, rank, size);
    if (!prepare(&part, &o)) {
        fprintf(stderr, "heat2d: rank %d has no memory for its part\n", rank);
        ctran_abort(CTRAN_COMM_WORLD, 1);
    }
    double begin = ctran_wtime();
    for (int i = 0; i < o.steps; i++) {
        exchange(&part);
        change = step(&part);
    }
    ctran_reduce(&change, &largest, 1, CTRAN_DOUBLE, CTRAN_MAX, 0, CTRAN_COMM_WORLD);
    if (rank == 0) {
        printf("%dx%d cells on %dx%d ranks, %d steps: last change %.3e, %.3f s\n", o.width,
               o.height, columns, size / columns, o.steps, largest, ctran_wtime() - begin);
    }
    bool good = finish(&part, &o, rank, size);
    drop(&part);
    return ctran_finalize() == CTRAN_SUCCESS && good ? 0 : 1;
}
