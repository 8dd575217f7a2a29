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
 * With --rma the ranks put their outermost cells straight into each other's rims: heat2d_halo.c.
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
#include "heat2d.h"
#include "png.h"

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

struct part part_of(const struct ranks *r, const struct options *o, int rank)
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

/* What both fields hold at the beginning. What lies beyond the plate is never received: it stays as
 * it is set here. */
static bool prepare(struct part *p, const struct options *o, double *memory)
{
    p->now = memory;
    p->next = memory + part_cells(p);
    for (int y = -1; memory != NULL && y <= p->h; y++) {
        for (int x = -1; x <= p->w; x++) {
            bool hot = p->y0 + y < 0 || in_disc(p->x0 + x, p->y0 + y, o);
            *cell(p, p->now, x, y) = *cell(p, p->next, x, y) = hot ? 1 : 0;
        }
    }
    return memory != NULL;
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
    double     *memory = malloc(2 * part_cells(&alone) * sizeof *memory);
    bool        same = prepare(&alone, o, memory);
    for (int i = 0; same && i < o->steps; i++) {
        step(&alone);
    }
    for (int y = 0; same && y < o->height; y++) {
        same = memcmp(all + (long)y * o->width, cell(&alone, alone.now, 0, y),
                      sizeof *all * (size_t)o->width) == 0;
    }
    free(memory);
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
        {"rma", ARG_TEXT, &o->rma, "HOW",
         "exchange one-sided, synchronised by fence, pscw, lock or signal", 0, 0},
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
    if (o->rma != NULL && !halo_knows(o->rma)) {
        if (speak) {
            fprintf(stderr, "heat2d: --rma is \"%s\": fence, pscw, lock and signal are there\n",
                    o->rma);
        }
        return 2;
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
static bool compute(struct part *p, const struct ranks *r, const struct options *o,
                    struct halo *halo)
{
    double change = 0, largest, begin = ctran_wtime();
    for (long i = 0; i < o->steps; i++) {
        halo_exchange(halo, p, i);
        change = step(p);
    }
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
    struct halo    halo;
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
    } else if (!prepare(&part, &o, halo_open(&halo, &part, &ranks, &o))) {
        fprintf(stderr, "heat2d: rank %d has no memory for its part\n", ranks.rank);
        ctran_abort(ranks.comm, 1);
    } else {
        good = compute(&part, &ranks, &o, &halo);
        halo_close(&halo);
    }
    ctran_comm_free(&ranks.comm);
    return ctran_finalize() == CTRAN_SUCCESS && good ? 0 : 1;
}
