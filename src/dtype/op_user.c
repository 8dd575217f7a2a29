/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators of users (MPI-4.1 sec. 6.9.5): objects that are counted, since a reduction under way
 * outlives the handle; and the way from "dst = a op b", as algorithms want it, to the user's
 * "inout = in op inout".
 *
 * The function is called with elements of the user's type, as many as it pleases us: where dst is
 * b, it gets them all at once; else b is first copied to where the result goes, or, where a lies
 * there, to scratch, a bounded number of elements at a time. No lock is held during the call.
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dtype/dtype.h"

enum { SCRATCH_BYTES = 16 << 10 };

struct user_op {
    struct ct_op    op;
    ct_op_short_fn *short_fn; /* NULL: op.user is called */
    atomic_uint     refs;
};

static struct user_op *op_user_counted(const struct ct_op *op)
{
    return (struct user_op *)CT_CONTAINER_OF(op, struct user_op, op);
}

static const struct ct_op *op_user_create(ctran_user_function *fn, ct_op_short_fn *short_fn,
                                          bool commutative)
{
    struct user_op *u = calloc(1, sizeof *u);
    if (u == NULL) {
        return NULL;
    }
    u->op = (struct ct_op){
        .magic = CT_OP_MAGIC, .name = "a user's operator", .commutative = commutative, .user = fn};
    u->short_fn = short_fn;
    atomic_init(&u->refs, 1);
    return &u->op;
}

const struct ct_op *ct_op_create(ctran_user_function *fn, bool commutative)
{
    return op_user_create(fn, NULL, commutative);
}

/* Stands for a function with short counts, where `user` tells a user's operator from others. */
static void never_called(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

const struct ct_op *ct_op_create_short(ct_op_short_fn *fn, bool commutative)
{
    return op_user_create(never_called, fn, commutative);
}

void ct_op_hold(const struct ct_op *op)
{
    if (op->user != NULL) {
        atomic_fetch_add_explicit(&op_user_counted(op)->refs, 1, memory_order_relaxed);
    }
}

void ct_op_drop(const struct ct_op *op)
{
    /* Release, acquire: whoever frees it has seen all others let go. */
    if (op->user != NULL &&
        atomic_fetch_sub_explicit(&op_user_counted(op)->refs, 1, memory_order_acq_rel) == 1) {
        op_user_counted(op)->op.magic = 0;
        free(op_user_counted(op));
    }
}

int ct_reduction_begin(struct ct_reduction *r)
{
    r->scratch = NULL;
    if (r->op == NULL || r->op->user == NULL) {
        return CTRAN_SUCCESS;
    }
    r->scratch_elems = ct_max_size(SCRATCH_BYTES / ct_max_size(r->elem_bytes, 1), 1);
    r->scratch = malloc(ct_max_size(r->scratch_elems * r->elem_bytes, 1));
    if (r->scratch == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_op_hold(r->op);
    return CTRAN_SUCCESS;
}

void ct_reduction_end(struct ct_reduction *r)
{
    if (r->scratch != NULL) {
        free(r->scratch);
        r->scratch = NULL;
        ct_op_drop(r->op);
    }
}

/* As many elements at once as an int can tell. */
static void call_short(ct_op_short_fn *fn, const struct ct_reduction *r, uintptr_t in,
                       uintptr_t inout, size_t count)
{
    ctran_datatype_t type = ct_dtype_handle(r->type);
    while (count > 0) {
        const size_t n = ct_min_size(count, INT_MAX);
        int          len = (int)n;
        fn((void *)in, (void *)inout, &len, &type);
        in += n * r->elem_bytes;
        inout += n * r->elem_bytes;
        count -= n;
    }
}

static void op_user_call(const struct ct_reduction *r, const char *in, char *inout, size_t count)
{
    ctran_count_t    len = (ctran_count_t)count;
    ctran_datatype_t type = ct_dtype_handle(r->type);
    ct_op_short_fn  *short_fn = op_user_counted(r->op)->short_fn;
    /* An element's address may lie elsewhere than its data: anywhere, if the type is absolute. */
    const uintptr_t first = (uintptr_t)r->type->true_lb_bytes;
    if (short_fn != NULL) {
        call_short(short_fn, r, (uintptr_t)in - first, (uintptr_t)inout - first, count);
        return;
    }
    r->op->user((void *)((uintptr_t)in - first), (void *)((uintptr_t)inout - first), &len, &type);
}

void ct_reduction_call(const struct ct_reduction *r, void *dst, const void *a, const void *b,
                       size_t count)
{
    if (dst != a) {
        if (dst != b) {
            memcpy(dst, b, count * r->elem_bytes);
        }
        op_user_call(r, a, dst, count);
        return;
    }
    for (size_t at = 0, n; at < count; at += n) {
        char *to = (char *)dst + at * r->elem_bytes;
        n = ct_min_size(count - at, r->scratch_elems);
        memcpy(r->scratch, (const char *)b + at * r->elem_bytes, n * r->elem_bytes);
        op_user_call(r, to, r->scratch, n);
        memcpy(to, r->scratch, n * r->elem_bytes);
    }
}
