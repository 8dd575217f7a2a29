/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of heat2d share. */
#ifndef HEAT2D_H
#define HEAT2D_H

#include <stdbool.h>
#include <stddef.h>

#include <ctran.h>

enum { SIDES = 4 };

struct options {
    int         width, height;
    long        steps;
    bool        check;
    const char *rma; /* NULL: two-sided */
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

static inline double *cell(const struct part *p, double *field, int x, int y)
{
    return field + (y + 1) * p->row + (x + 1);
}

/* Cells of one field. */
static inline size_t part_cells(const struct part *p)
{
    return (size_t)p->row * (size_t)(p->h + 2);
}

struct part part_of(const struct ranks *r, const struct options *o, int rank);

/* h rows of w cells each, `row` cells apart. */
ctran_datatype_t block_type(int h, int w, int row);

/* ---- the halo: heat2d_halo.c ----------------------------------------------------------------- */

struct halo {
    const char         *how;
    const struct ranks *ranks;
    double             *memory;
    ctran_datatype_t    column;
    /* One-sided: the neighbours above, below, left and right, CTRAN_PROC_NULL: there is none. */
    ctran_win_t      win;
    ctran_group_t    group;
    int              neighbour[SIDES];
    struct part      theirs[SIDES];
    ctran_datatype_t their_type[SIDES];
};

/* Whether there is such a way of --rma. */
bool halo_knows(const char *how);
/* Memory for both fields; NULL: there is none. */
double *halo_open(struct halo *h, const struct part *p, const struct ranks *r,
                  const struct options *o);
/* Fills the rim of p->now in step i with the neighbours' outermost cells. At the edge of the plate
 * there is nobody, and the rim stays as it is. */
void halo_exchange(struct halo *h, const struct part *p, long i);
void halo_close(struct halo *h);

#endif
