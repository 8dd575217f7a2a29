/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows ("LL128" with the field): flagged items for what is too long to be sent twice and too short
 * for handshakes. A row is 128 bytes that eight threads of a warp store at once, a line each; the
 * last 8 bytes are the item's number, the other 120 payload. A link of NVLink carries a row as a
 * whole, and the receiver's cache takes it as one, so who finds the number finds all of it. The PTX
 * memory model does not promise that: as with NCCL, rows are for where such a link is
 * (stream/kernel.c).
 *
 * A thread has four lines, one of each of its warp's four groups of rows, and so four units of 16
 * bytes; one whose lines end their rows has two, whose halves are in front of the numbers.
 */
#ifndef CT_GPU_KERNELS_ROW_H
#define CT_GPU_KERNELS_ROW_H

#include "gpu/kernels/short.cuh"

enum { UNITS = ROW_GROUPS /* of a thread */ };

/* ---- what a thread has ----------------------------------------------------------------------- */

/* Of thread t, behind where a step begins. */
struct spot {
    uint32_t t, lane;   /* in the block, in its warp */
    uint32_t data;      /* where its warp's units begin, */
    uint32_t at[UNITS]; /* and its own */
    uint32_t line;      /* in a slot, its first line */
    bool     ends;      /* its lines end their rows: of its units there are but two */
};

/* The units of a warp lie side by side, the first of each thread, then the second, and so on. */
CT_DEV struct spot spot_of(uint32_t t)
{
    const uint32_t warp = t / CT_KERNEL_WARP, lane = t % CT_KERNEL_WARP;
    const uint32_t data = warp * CT_KERNEL_WARP_DATA, most = CT_KERNEL_WARP * 16;
    const uint32_t some = most / ROW_LINES * (ROW_LINES - 1);
    const uint32_t first = data + lane * 16, third = first + 2 * most - lane / ROW_LINES * 16;
    return {t,
            lane,
            data,
            {first, first + most, third, third + some},
            warp * CT_KERNEL_WARP_LINES + lane * LINE_BYTES,
            lane % ROW_LINES == ROW_LINES - 1};
}

/* Whether all that a warp has of a step with so many bytes left is whole units. */
CT_DEV bool is_whole(const struct spot &s, uint32_t left, bool vectors)
{
    return vectors && s.data + CT_KERNEL_WARP_DATA <= left;
}

CT_DEV uint32_t odd_bytes(const struct spot &s, uint32_t u, uint32_t left)
{
    return u >= 2 && s.ends ? 0 : unit_of(s.at[u], left);
}

/* What is not whole is done out of line: the way of all else is shorter. */
struct units {
    vec x[UNITS];
};

CT_OUTLINE struct units load_odd(const struct spot s, const char *src, uint32_t left)
{
    struct units all = {};
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        const uint32_t bytes = odd_bytes(s, u, left);
        if (bytes > 0) {
            all.x[u] = load_some(src + s.at[u], bytes);
        }
    }
    return all;
}

CT_OUTLINE void store_odd(const struct spot s, char *dst, uint32_t left, struct units all)
{
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        const uint32_t bytes = odd_bytes(s, u, left);
        if (bytes > 0) {
            store_some(dst + s.at[u], all.x[u], bytes);
        }
    }
}

CT_DEV void load_units(const struct spot &s, const char *src, uint32_t left, bool vectors,
                       vec (&x)[UNITS])
{
    if (is_whole(s, left, vectors)) {
        x[0] = load_vec(src + s.at[0]);
        x[1] = load_vec(src + s.at[1]);
        if (!s.ends) {
            x[2] = load_vec(src + s.at[2]);
            x[3] = load_vec(src + s.at[3]);
        }
        return;
    }
    const struct units all = load_odd(s, src, left);
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        x[u] = all.x[u];
    }
}

CT_DEV void store_units(const struct spot &s, char *dst, uint32_t left, bool vectors,
                        const vec (&x)[UNITS])
{
    if (is_whole(s, left, vectors)) {
        store_vec(dst + s.at[0], x[0]);
        store_vec(dst + s.at[1], x[1]);
        if (!s.ends) {
            store_vec(dst + s.at[2], x[2]);
            store_vec(dst + s.at[3], x[3]);
        }
        return;
    }
    struct units all;
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        all.x[u] = x[u];
    }
    store_odd(s, dst, left, all);
}

/* ---- rows ------------------------------------------------------------------------------------ */

CT_DEV uint64_t half_of(vec v, uint32_t h)
{
    return v.w[2 * h] | (uint64_t)v.w[2 * h + 1] << 32;
}

CT_DEV vec joined(uint64_t first, uint64_t second)
{
    return {{(uint32_t)first, (uint32_t)(first >> 32), (uint32_t)second, (uint32_t)(second >> 32)}};
}

CT_DEV uint64_t number_of(uint32_t item)
{
    return item | (uint64_t)item << 32;
}

/* `lines`: the thread's first in the slot. */
CT_DEV void store_rows(const struct spot &s, char *lines, uint32_t item, const vec (&x)[UNITS])
{
    const uint64_t number = number_of(item);
    warp_meets(); /* its stores are rows */
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        const uint64_t a = s.ends ? half_of(x[u / 2], u % 2) : half_of(x[u], 0);
        store_row_line(lines + u * ROW_GROUP, {a, s.ends ? number : half_of(x[u], 1)});
    }
}

CT_DEV void units_of(const struct spot &s, const line (&l)[UNITS], vec (&x)[UNITS])
{
    x[0] = joined(l[0].a, s.ends ? l[1].a : l[0].b);
    x[1] = joined(s.ends ? l[2].a : l[1].a, s.ends ? l[3].a : l[1].b);
    x[2] = joined(l[2].a, l[2].b);
    x[3] = joined(l[3].a, l[3].b);
}

#endif
