/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of bottom.h, and their two names: a pointer with a datatype of base 0, or
 * CTRAN_BOTTOM with a datatype whose base is the buffer's address.
 */
#include "bottom.h"

#include "device.h"

enum { AROUND = 64 /* bytes before the first element and behind the last one */ };

void end_new(struct end *e, bool spaced)
{
    const size_t extent = layout_extent(e->layout, e->scalar);
    ctran_aint_t at = 0;
    for (int i = 0; i < e->n; i++) {
        e->displs[i] = at;
        at += e->counts[i] + (spaced ? 1 : 0);
    }
    e->bytes = (size_t)at * extent + 2 * (size_t)AROUND;
    e->memory = mem_new(e->memory_kind, e->bytes);
    e->at = e->memory + AROUND;
}

void end_free(struct end *e)
{
    mem_free(e->memory_kind, e->memory);
}

/* `base` is the datatype's. */
static void name(struct end *e, void *buf, ctran_aint_t base)
{
    e->buf = buf;
    e->base = base;
    e->type = layout_type(e->layout, e->scalar, base);
}

static ctran_aint_t address_of(const struct end *e)
{
    ctran_aint_t address;
    OK(ctran_get_address(e->at, &address));
    return address;
}

/* Each block has a type of its own. An absolute address is in the type or in the displacement. */
static void name_blocks(struct end *e, bool in_displs)
{
    const ctran_aint_t extent = (ctran_aint_t)layout_extent(e->layout, e->scalar);
    const ctran_aint_t address = e->buf == CTRAN_BOTTOM && in_displs ? e->base : 0;
    for (int i = 0; i < e->n; i++) {
        e->bytes_displs[i] = e->displs[i] * extent + address;
        e->types[i] = layout_type(e->layout, e->scalar, e->base - address);
    }
}

/* Two buffers with one datatype: its addresses are those of the one at CTRAN_BOTTOM, and the other
 * one is as far away as the two are apart. */
static void name_alike(struct args *a, bool absolute)
{
    const bool         of_send = !a->in_place && rng_below(&a->own, 2) == 1;
    struct end        *bottom = of_send ? &a->send : &a->recv;
    struct end        *other = of_send ? &a->recv : &a->send;
    const ctran_aint_t base = absolute ? address_of(bottom) : 0;
    name(bottom, absolute ? CTRAN_BOTTOM : bottom->at, base);
    name(other, (void *)((uintptr_t)other->at - (uintptr_t)base), base);
}

void ends_name(struct args *a, bool absolute)
{
    struct end *ends[] = {&a->send, &a->recv};
    const int   which = absolute ? 1 + rng_below(&a->own, 3) : 0;
    if (a->shape->one_type) {
        name_alike(a, absolute);
    }
    for (size_t i = 0; i < LEN(ends); i++) {
        const bool bottom = (which >> i & 1) != 0;
        if (!a->shape->one_type) {
            name(ends[i], bottom ? CTRAN_BOTTOM : ends[i]->at, bottom ? address_of(ends[i]) : 0);
        }
        name_blocks(ends[i], rng_below(&a->own, 2) == 1);
    }
    if (a->in_place && a->shape->in_place == RECV_AT_ROOT) {
        a->recv.buf = CTRAN_IN_PLACE;
    } else if (a->in_place) {
        a->send.buf = CTRAN_IN_PLACE;
    }
}

void ends_unname(struct args *a)
{
    struct end *ends[] = {&a->send, &a->recv};
    for (size_t i = 0; i < LEN(ends); i++) {
        for (int b = 0; b < ends[i]->n; b++) {
            OK(ctran_type_free(&ends[i]->types[b]));
        }
        OK(ctran_type_free(&ends[i]->type));
    }
}

/* ---- the operator ---------------------------------------------------------------------------- */

/* The function is given a datatype's handle, and may not ask the library about it. */
static const struct args *current;

static void add(void *from, void *to, ctran_count_t *count, ctran_datatype_t *type)
{
    const struct end *e = *type == current->send.type ? &current->send : &current->recv;
    EXPECT(*type == e->type);
    layout_add(e->layout, e->scalar, (const char *)((uintptr_t)from + (uintptr_t)e->base),
               (char *)((uintptr_t)to + (uintptr_t)e->base), *count);
}

ctran_op_t ends_op(const struct args *a, int commute)
{
    ctran_op_t op;
    current = a;
    OK(ctran_op_create(add, commute, &op));
    return op;
}
