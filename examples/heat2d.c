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
 * Columns are no contiguous memory: a datatype says how far apart their cells are. The grid of
 * ranks is a Cartesian communicator, which knows the neighbours; a single call exchanges with all
 * of them.
 *
 * Every cell goes through the same arithmetic wherever it lies, so the field is the same, bit by
 * bit, for any number of ranks; --check compares it with that of one rank alone.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ctran.h>

#include "args.h"
#include "png.h"

enum { SIDES = 4 };

struct options {
    int         width, height;
    long        steps;
    bool        check;
    const char *picture;
};

/* A rectangle of the plate: cells x0 .. x0 + w - 1, y0 .. y0 + h - 1. Both fields have the rim, so
 * a row has w + 2 cells, and `row` is the distance of two rows. */
struct part {
    int     x0, y0, w, h, row;
    double *now, *next;
};

/* The ranks: a grid of as many rows and columns, without wrapping round. */
struct ranks {
    ctran_comm_t comm;
    int          rank, size, rows, columns;
};

static double *cell(const struct part *p, double *field, int x, int y)
{
    return field + (y + 1) * p->row + (x + 1);
}

/* ---- the grid of ranks ------------------------------------------------------------------------
 */

/* As nearly square as the number of ranks allows; the longer side along the plate's longer one. */
static void make_grid(struct ranks *r, const struct options *o)
{
    int dims[2] = {0, 0}, wrap[2] = {0, 0};
    ctran_comm_size(CTRAN_COMM_WORLD, &r->size);
    ctran_dims_create(r->size, 2, dims);
    r->rows = o->height > o->width ? dims[0] : dims[1];
    r->columns = r->size / r->rows;
    ctran_cart_create(CTRAN_COMM_WORLD, 2, (int[]){r->rows, r->columns}, wrap, 0, &r->comm);
    ctran_comm_rank(r->comm, &r->rank);
}

/* Where the i-th of n pieces of `length` cells begins. */
static int piece(int length, int i, int n)
{
    return (int)((long)length * i / n);
}

/* Which cells are the part at this place of a grid of rows and columns. */
static struct part part_at(const struct options *o, int y, int x, int rows, int columns)
{
    struct part p = {.x0 = piece(o->width, x, columns), .y0 = piece(o->height, y, rows)};
    p.w = piece(o->width, x + 1, columns) - p.x0;
    p.h = piece(o->height, y + 1, rows) - p.y0;
    p.row = p.w + 2;
    return p;
}

static struct part part_of(const struct ranks *r, const struct options *o, int rank)
{
    int at[2];
    ctran_cart_coords(r->comm, rank, 2, at);
    return part_at(o, at[0], at[1], r->rows, r->columns);
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
    size_t cells = (size_t)p->row * (size_t)(p->h + 2);
    p->now = calloc(cells, sizeof *p->now);
    p->next = calloc(cells, sizeof *p->next);
    for (int y = -1; p->now != NULL && p->next != NULL && y <= p->h; y++) {
        for (int x = -1; x <= p->w; x++) {
            bool hot = p->y0 + y < 0 || in_disc(p->x0 + x, p->y0 + y, o);
            *cell(p, p->now, x, y) = *cell(p, p->next, x, y) = hot ? 1 : 0;
        }
    }
    return p->now != NULL && p->next != NULL;
}

static void drop(struct part *p)
{
    free(p->now);
    free(p->next);
}

/* h rows of w cells each, `row` cells apart. */
static ctran_datatype_t block_type(int h, int w, int row)
{
    ctran_datatype_t type;
    ctran_type_vector(h, w, row, CTRAN_DOUBLE, &type);
    ctran_type_commit(&type);
    return type;
}

/* How many bytes from its beginning a cell of a field is. */
static ctran_aint_t place(const struct part *p, int x, int y)
{
    return (cell(p, p->now, x, y) - p->now) * (ctran_aint_t)sizeof *p->now;
}

/* Fills the rim with the neighbours' outermost cells, in the order of the grid: above, below, left,
 * right. At the edge of the plate there is nobody, and the rim stays as it is. */
static void exchange(const struct part *p, const struct ranks *r, ctran_datatype_t column)
{
    const ctran_datatype_t types[SIDES] = {CTRAN_DOUBLE, CTRAN_DOUBLE, column, column};
    const ctran_count_t    counts[SIDES] = {p->w, p->w, 1, 1};
    const ctran_aint_t     own[SIDES] = {place(p, 0, 0), place(p, 0, p->h - 1), place(p, 0, 0),
                                         place(p, p->w - 1, 0)};
    const ctran_aint_t     rim[SIDES] = {place(p, 0, -1), place(p, 0, p->h), place(p, -1, 0),
                                         place(p, p->w, 0)};
    ctran_neighbor_alltoallw(p->now, counts, own, types, p->now, counts, rim, types, r->comm);
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
 * part, and rank 0 receives it where it belongs: with datatypes on both sides nobody copies. */
static double *collect(struct part *p, const struct ranks *r, const struct options *o)
{
    ctran_request_t  request;
    ctran_datatype_t type = block_type(p->h, p->w, p->row);
    double          *all = NULL;
    ctran_isend(cell(p, p->now, 0, 0), 1, type, 0, 0, r->comm, &request);
    ctran_type_free(&type);
    if (r->rank == 0) {
        all = malloc(sizeof *all * (size_t)o->width * (size_t)o->height);
        if (all == NULL) {
            fprintf(stderr, "heat2d: no memory for the whole field\n");
            ctran_abort(r->comm, 1);
        }
    }
    for (int from = 0; r->rank == 0 && from < r->size; from++) {
        struct part part = part_of(r, o, from);
        type = block_type(part.h, part.w, o->width);
        ctran_recv(all + (long)part.y0 * o->width + part.x0, 1, type, from, 0, r->comm,
                   CTRAN_STATUS_IGNORE);
        ctran_type_free(&type);
    }
    ctran_wait(&request, CTRAN_STATUS_IGNORE);
    return all;
}

/* The same field, computed by this rank alone. */
static bool same_as_alone(const double *all, const struct options *o)
{
    struct part alone = part_at(o, 0, 0, 1, 1);
    bool        same = prepare(&alone, o);
    for (int i = 0; same && i < o->steps; i++) {
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
static bool finish(struct part *p, const struct ranks *r, const struct options *o)
{
    int     good = 1;
    double *all = collect(p, r, o);
    if (r->rank == 0) {
        good = o->picture == NULL || draw(all, o);
        if (good && o->check) {
            good = same_as_alone(all, o);
            printf("the field %s that of one rank\n", good ? "equals" : "DIFFERS from");
        }
    }
    free(all);
    ctran_bcast(&good, 1, CTRAN_INT, 0, r->comm);
    return good;
}

/* -1: go on. Otherwise the exit status. */
static int parse(int argc, char **argv, bool speak, struct options *o)
{
    enum { LARGEST = 1 << 15 };
    const char      *size = "300x200";
    char             rest;
    const struct arg table[] = {
        {"size", ARG_TEXT, &size, "WxH", "cells (default 300x200)", 0, 0},
        {"steps", ARG_LONG, &o->steps, "N", "(default 1000)", 0, INT_MAX},
        {"picture", ARG_TEXT, &o->picture, "FILE", "draw the result as PNG", 0, 0},
        {"check", ARG_FLAG, &o->check, NULL, "compare it with that of one rank alone", 0, 0},
        {NULL, ARG_FLAG, NULL, NULL, NULL, 0, 0},
    };
    const struct args args = {"heat2d", "Computes how heat spreads over a plate.\n", table};
    *o = (struct options){.steps = 1000};
    const int status = args_parse(&args, argc, argv, speak);
    if (status >= 0) {
        return status;
    }
    if (sscanf(size, "%dx%d%c", &o->width, &o->height, &rest) == 2 && o->width > 0 &&
        o->width <= LARGEST && o->height > 0 && o->height <= LARGEST) {
        return -1;
    }
    if (speak) {
        fprintf(stderr, "heat2d: \"%s\" is no valid value for --size WxH, 1 to %d each\n", size,
                LARGEST);
    }
    return 2;
}

/* All steps, and what rank 0 tells of them. */
static bool compute(struct part *p, const struct ranks *r, const struct options *o)
{
    double           change = 0, largest, begin = ctran_wtime();
    ctran_datatype_t column = block_type(p->h, 1, p->row);
    for (long i = 0; i < o->steps; i++) {
        exchange(p, r, column);
        change = step(p);
    }
    ctran_type_free(&column);
    ctran_reduce(&change, &largest, 1, CTRAN_DOUBLE, CTRAN_MAX, 0, r->comm);
    if (r->rank == 0) {
        printf("%dx%d cells on %dx%d ranks, %ld steps: last change %.3e, %.3f s\n", o->width,
               o->height, r->columns, r->rows, o->steps, largest, ctran_wtime() - begin);
    }
    return finish(p, r, o);
}

int main(int argc, char **argv)
{
    struct options o;
    struct ranks   ranks;
    bool           good = false;

    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &ranks.rank);
    const int status = parse(argc, argv, ranks.rank == 0, &o);
    if (status >= 0) {
        ctran_finalize();
        return status;
    }

    make_grid(&ranks, &o);
    struct part part = part_of(&ranks, &o, ranks.rank);
    if (ranks.columns > o.width || ranks.rows > o.height) {
        if (ranks.rank == 0) {
            fprintf(stderr, "heat2d: %dx%d cells are too few for %dx%d ranks\n", o.width, o.height,
                    ranks.columns, ranks.rows);
        }
    } else if (!prepare(&part, &o)) {
        fprintf(stderr, "heat2d: rank %d has no memory for its part\n", ranks.rank);
        ctran_abort(ranks.comm, 1);
    } else {
        good = compute(&part, &ranks, &o);
        drop(&part);
    }
    ctran_comm_free(&ranks.comm);
    return ctran_finalize() == CTRAN_SUCCESS && good ? 0 : 1;
}
