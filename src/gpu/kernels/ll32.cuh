/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows: flagged items for what is too long to be sent twice and too short for handshakes. A row is
 * 32 bytes that two threads of a warp store at once, a line each; the last 4 bytes are the item's
 * number, the other 28 payload. That is what a GPU's cache keeps as a whole, and a link of NVLink
 * carries four of them, so who finds the number finds all of the row. The PTX memory model does not
 * promise that: rows are for ranks between which such a link is, or which share a GPU
 * (stream/kernel.c). NCCL relies on more ("LL128"): there 128 bytes come as one, and are loaded
 * again once the number has been seen, since a load of so many may meet them half way; that took
 * 0.4 us each time.
 *
 * A thread has four lines, one of each of its warp's four groups of rows, and so four units of 16
 * bytes; one whose lines end their rows has three, which are in front of the numbers.
 */
#ifndef CT_GPU_KERNELS_LL32_H
#define CT_GPU_KERNELS_LL32_H

#include "gpu/kernels/short.cuh"

enum { UNITS = LL32_GROUPS /* of a thread */ };

/* ---- what a thread has ----------------------------------------------------------------------- */

/* Of thread t, behind where a step begins. */
struct position {
    uint32_t t, lane;   /* in the block, in its warp */
    uint32_t data;      /* where its warp's units begin, */
    uint32_t at[UNITS]; /* and its own */
    uint32_t line;      /* in a slot, its first line */
    bool     ends;      /* its lines end their rows: of its units there are but three */
};

/* The units of a warp lie side by side, the first of each thread, then the second, and so on. */
CT_DEV struct position position_of(uint32_t t)
{
    const uint32_t warp = t / CT_KERNEL_WARP, lane = t % CT_KERNEL_WARP;
    const uint32_t data = warp * CT_KERNEL_WARP_DATA, most = CT_KERNEL_WARP * 16;
    const uint32_t first = data + lane * 16, fourth = data + 3 * most + lane / LL32_LINES * 16;
    return {t,
            lane,
            data,
            {first, first + most, first + 2 * most, fourth},
            warp * CT_KERNEL_WARP_LINES + lane * LINE_BYTES,
            lane % LL32_LINES == LL32_LINES - 1};
}

/* Whether all that a warp has of a step with so many bytes left is whole units. */
CT_DEV bool is_whole(const struct position &s, uint32_t left, bool vectors)
{
    return vectors && s.data + CT_KERNEL_WARP_DATA <= left;
}

CT_DEV uint32_t odd_bytes(const struct position &s, uint32_t u, uint32_t left)
{
    return u == UNITS - 1 && s.ends ? 0 : unit_of(s.at[u], left);
}

/* What is not whole is done out of line: the way of all else is shorter. */
struct units {
    vec x[UNITS];
};

CT_OUTLINE struct units load_odd(const struct position s, const char *src, uint32_t left)
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

CT_OUTLINE void store_odd(const struct position s, char *dst, uint32_t left, struct units all)
{
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        const uint32_t bytes = odd_bytes(s, u, left);
        if (bytes > 0) {
            store_some(dst + s.at[u], all.x[u], bytes);
        }
    }
}

CT_DEV void load_units(const struct position &s, const char *src, uint32_t left, bool vectors,
                       vec (&x)[UNITS])
{
    if (is_whole(s, left, vectors)) {
        x[0] = load_vec(src + s.at[0]);
        x[1] = load_vec(src + s.at[1]);
        x[2] = load_vec(src + s.at[2]);
        if (!s.ends) {
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

CT_DEV void store_units(const struct position &s, char *dst, uint32_t left, bool vectors,
                        const vec (&x)[UNITS])
{
    if (is_whole(s, left, vectors)) {
        store_vec(dst + s.at[0], x[0]);
        store_vec(dst + s.at[1], x[1]);
        store_vec(dst + s.at[2], x[2]);
        if (!s.ends) {
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

CT_DEV line line_with(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return {a | (uint64_t)b << 32, c | (uint64_t)d << 32};
}

CT_DEV uint32_t word_of(line l, uint32_t i)
{
    const uint64_t both = i < 2 ? l.a : l.b;
    return (uint32_t)(i % 2 == 0 ? both : both >> 32);
}

/* `lines`: the thread's first in the slot. */
CT_DEV void store_ll32(const struct position &s, char *lines, uint32_t item, const vec (&x)[UNITS])
{
    warp_meets(); /* its stores are rows */
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        uint32_t w[4];
        CT_UNROLL
        for (uint32_t i = 0; i < 3; i++) {
            w[i] = s.ends ? x[(3 * u + i) / 4].w[(3 * u + i) % 4] : x[u].w[i];
        }
        store_ll32_line(lines + u * LL32_GROUP,
                       line_with(w[0], w[1], w[2], s.ends ? item : x[u].w[3]));
    }
}

CT_DEV void units_of(const struct position &s, const line (&l)[UNITS], vec (&x)[UNITS])
{
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        CT_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t k = 4 * u + i; /* of the words in front of the numbers */
            x[u].w[i] = s.ends && u < UNITS - 1 ? word_of(l[k / 3], k % 3) : word_of(l[u], i);
        }
    }
}

#endif
