/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halo of heat2d: two-sided, by one call that exchanges with all neighbours; or one-sided,
 * where each rank puts its outermost cells into the rims of its neighbours' fields. Both fields of
 * a rank lie in a window, and in step i all ranks use field i % 2. A rim is put to again two steps
 * later: by then its owner has used it, as its own cells of the step between have come.
 */
#include "heat2d.h"

#include <stdlib.h>
#include <string.h>

ctran_datatype_t block_type(int h, int w, int row)
{
    ctran_datatype_t type;
    ctran_type_vector(h, w, row, CTRAN_DOUBLE, &type);
    ctran_type_commit(&type);
    return type;
}

bool halo_knows(const char *how)
{
    return strcmp(how, "fence") == 0 || strcmp(how, "pscw") == 0 || strcmp(how, "lock") == 0 ||
           strcmp(how, "signal") == 0;
}

static bool is(const struct halo *h, const char *how)
{
    return h->how != NULL && strcmp(h->how, how) == 0;
}

/* Cells from the beginning of a field on. */
static ctran_aint_t place(const struct part *p, int x, int y)
{
    return (y + 1) * (ctran_aint_t)p->row + x + 1;
}

/* ---- one-sided ------------------------------------------------------------------------------- */

static void find_neighbours(struct halo *h, const struct options *o)
{
    ctran_group_t all;
    int           ranks[SIDES], n = 0;
    ctran_cart_shift(h->ranks->comm, 0, 1, &h->neighbour[0], &h->neighbour[1]);
    ctran_cart_shift(h->ranks->comm, 1, 1, &h->neighbour[2], &h->neighbour[3]);
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] != CTRAN_PROC_NULL) {
            ranks[n++] = h->neighbour[s];
            h->theirs[s] = part_of(h->ranks, o, h->neighbour[s]);
            h->their_type[s] = s < 2 ? block_type(1, h->theirs[s].w, 1)
                                     : block_type(h->theirs[s].h, 1, h->theirs[s].row);
        }
    }
    ctran_comm_group(h->ranks->comm, &all);
    ctran_group_incl(all, n, ranks, &h->group);
    ctran_group_free(&all);
}

/* This rank's cells at one side, to the rim at the other side of the neighbour there. */
static void put(const struct halo *h, const struct part *p, int side, long i)
{
    const struct part     *t = &h->theirs[side];
    const int              w = p->w, height = p->h;
    const ctran_aint_t     own[SIDES] = {place(p, 0, 0), place(p, 0, height - 1), place(p, 0, 0),
                                         place(p, w - 1, 0)};
    const ctran_aint_t     rim[SIDES] = {place(t, 0, t->h), place(t, 0, -1), place(t, t->w, 0),
                                         place(t, -1, 0)};
    const ctran_aint_t     at = i % 2 * (ctran_aint_t)part_cells(t) + rim[side];
    const ctran_datatype_t type = side < 2 ? CTRAN_DOUBLE : h->column;
    const ctran_count_t    count = side < 2 ? w : 1;
    const double          *from = p->now + own[side];
    if (is(h, "signal")) {
        ctran_put_signal(from, count, type, h->neighbour[side], at, 1, h->their_type[side], h->win);
    } else {
        ctran_put(from, count, type, h->neighbour[side], at, 1, h->their_type[side], h->win);
    }
}

static void begin(const struct halo *h)
{
    if (is(h, "fence")) {
        ctran_win_fence(CTRAN_MODE_NOPRECEDE, h->win);
    } else if (is(h, "pscw")) {
        ctran_win_post(h->group, 0, h->win);
        ctran_win_start(h->group, 0, h->win);
    }
}

static void end(const struct halo *h, long i)
{
    if (is(h, "fence")) {
        ctran_win_fence(CTRAN_MODE_NOSUCCEED, h->win);
    } else if (is(h, "pscw")) {
        ctran_win_complete(h->win);
        ctran_win_wait(h->win);
    } else if (is(h, "lock")) {
        ctran_barrier(h->ranks->comm);
    }
    for (int s = 0; is(h, "signal") && s < SIDES; s++) {
        ctran_wait_signal(h->neighbour[s], i + 1, h->win);
    }
}

static void exchange_one_sided(const struct halo *h, const struct part *p, long i)
{
    begin(h);
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] == CTRAN_PROC_NULL) {
            continue;
        }
        if (is(h, "lock")) {
            ctran_win_lock(CTRAN_LOCK_SHARED, h->neighbour[s], 0, h->win);
        }
        put(h, p, s, i);
        if (is(h, "lock")) {
            ctran_win_unlock(h->neighbour[s], h->win);
        }
    }
    end(h, i);
}

/* ---- two-sided ------------------------------------------------------------------------------- */

/* In the order of the grid: above, below, left, right. */
static void exchange_two_sided(const struct halo *h, const struct part *p)
{
    const ctran_aint_t     bytes = sizeof *p->now;
    const ctran_datatype_t types[SIDES] = {CTRAN_DOUBLE, CTRAN_DOUBLE, h->column, h->column};
    const ctran_count_t    counts[SIDES] = {p->w, p->w, 1, 1};
    const ctran_aint_t     own[SIDES] = {place(p, 0, 0) * bytes, place(p, 0, p->h - 1) * bytes,
                                         place(p, 0, 0) * bytes, place(p, p->w - 1, 0) * bytes};
    const ctran_aint_t     rim[SIDES] = {place(p, 0, -1) * bytes, place(p, 0, p->h) * bytes,
                                         place(p, -1, 0) * bytes, place(p, p->w, 0) * bytes};
    ctran_neighbor_alltoallw(p->now, counts, own, types, p->now, counts, rim, types,
                             h->ranks->comm);
}

/* ---- both ------------------------------------------------------------------------------------ */

double *halo_open(struct halo *h, const struct part *p, const struct ranks *r,
                  const struct options *o)
{
    const size_t bytes = 2 * part_cells(p) * sizeof(double);
    *h = (struct halo){.how = o->rma, .ranks = r, .column = block_type(p->h, 1, p->row)};
    if (h->how == NULL) {
        h->memory = malloc(bytes);
        return h->memory;
    }
    ctran_win_allocate((ctran_aint_t)bytes, sizeof(double), CTRAN_INFO_NULL, r->comm, &h->memory,
                       &h->win);
    find_neighbours(h, o);
    if (is(h, "signal")) {
        ctran_win_lock_all(CTRAN_MODE_NOCHECK, h->win);
    }
    return h->memory;
}

void halo_exchange(struct halo *h, const struct part *p, long i)
{
    if (h->how == NULL) {
        exchange_two_sided(h, p);
        return;
    }
    if (i == 0) {
        ctran_barrier(h->ranks->comm); /* all fields are prepared */
    }
    exchange_one_sided(h, p, i);
}

void halo_close(struct halo *h)
{
    ctran_type_free(&h->column);
    if (h->how == NULL) {
        free(h->memory);
        return;
    }
    if (is(h, "signal")) {
        ctran_win_unlock_all(h->win);
    }
    for (int s = 0; s < SIDES; s++) {
        if (h->neighbour[s] != CTRAN_PROC_NULL) {
            ctran_type_free(&h->their_type[s]);
        }
    }
    ctran_group_free(&h->group);
    ctran_win_free(&h->win);
}
