/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of derived datatypes, and their arithmetic: from parts to size, bounds and alignment.
 * All sums are checked when a type is made: a type that would not fit into memory is refused, so
 * that no later function has to check. Called by the constructors and by those who hold types.
 */
#include "dtype/derived.h"

#include <stdlib.h>

/* ---- life ------------------------------------------------------------------------------------ */

struct ct_derived *ct_derived_new(size_t nparts)
{
    struct ct_derived *d;
    size_t             bytes;
    if (__builtin_mul_overflow(nparts, sizeof d->parts[0], &bytes) ||
        __builtin_add_overflow(bytes, sizeof *d, &bytes)) {
        return NULL;
    }
    d = malloc(bytes);
    if (d != NULL) {
        *d = (struct ct_derived){.refs = 1, .handles = 1, .nparts = nparts};
        d->type.magic = CT_DTYPE_MAGIC;
        d->type.scalar = CT_SCALAR_DERIVED;
        d->type.name = d->name;
    }
    return d;
}

static void derived_destroy(struct ct_derived *d)
{
    for (size_t i = 0; i < d->nparts; i++) {
        ct_dtype_drop(d->parts[i].type);
    }
    if (d->attrs.kind != NULL) {
        ct_attrs_fini(&d->attrs);
    }
    ct_contents_fini(&d->contents);
    free(d->own);
    free(d);
}

void ct_dtype_hold_derived(const struct ct_dtype *type)
{
    atomic_fetch_add_explicit(&ct_derived_of(type)->refs, 1, memory_order_relaxed);
}

/* Pairs with itself: what others did with the type comes before its end. */
void ct_dtype_drop_derived(const struct ct_dtype *type)
{
    struct ct_derived *d = ct_derived_of(type);
    if (atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) == 1) {
        derived_destroy(d);
    }
}

void ct_dtype_take_handle(const struct ct_dtype *type)
{
    struct ct_derived *d = ct_derived_of(type);
    if (d != NULL && atomic_fetch_add_explicit(&d->handles, 1, memory_order_acq_rel) == 0) {
        ct_dtype_hold(type);
        d->type.magic = CT_DTYPE_MAGIC;
    }
}

bool ct_dtype_last_handle(const struct ct_dtype *type)
{
    return atomic_load_explicit(&ct_derived_of(type)->handles, memory_order_acquire) == 1;
}

void ct_dtype_release(const struct ct_dtype *type)
{
    struct ct_derived *d = ct_derived_of(type);
    if (atomic_fetch_sub_explicit(&d->handles, 1, memory_order_acq_rel) == 1) {
        d->type.magic = 0;
        ct_dtype_drop(type);
    }
}

void ct_dtype_commit(const struct ct_dtype *type)
{
    if (type->scalar == CT_SCALAR_DERIVED) {
        ct_derived_of(type)->type.committed = true;
    }
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* Bytes from `from` up to `to`. */
struct range {
    ptrdiff_t from, to;
};

static void derived_widen(struct range *all, bool *any, struct range r)
{
    all->from = !*any || r.from < all->from ? r.from : all->from;
    all->to = !*any || r.to > all->to ? r.to : all->to;
    *any = true;
}

/* *r, `len` times at this distance. False: outside of memory. */
static bool derived_repeat(struct range *r, size_t len, ptrdiff_t stride)
{
    ptrdiff_t last;
    if (len > PTRDIFF_MAX || __builtin_mul_overflow((ptrdiff_t)len - 1, stride, &last)) {
        return false;
    }
    ptrdiff_t *end = last < 0 ? &r->from : &r->to;
    return !__builtin_add_overflow(*end, last, end);
}

/* Where all of a part's elements reach, each of which reaches `r`. */
static bool derived_spread(const struct ct_part *p, struct range r, struct range *out)
{
    bool fits = derived_repeat(&r, p->len, p->type->extent_bytes) &&
                derived_repeat(&r, p->reps, p->stride_bytes) &&
                !__builtin_add_overflow(r.from, p->at_bytes, &out->from) &&
                !__builtin_add_overflow(r.to, p->at_bytes, &out->to);
    ptrdiff_t length;
    return fits && !__builtin_sub_overflow(out->to, out->from, &length);
}

/* Everything that sums up over the parts. */
struct sums {
    bool         data, marked; /* there are any */
    struct range true_range, markers;
};

static struct ct_markers markers_of(const struct ct_dtype *type)
{
    const struct ct_derived *d = ct_derived_of(type);
    return d != NULL ? d->markers : (struct ct_markers){.set = false};
}

static bool derived_add_part(struct ct_derived *d, const struct ct_part *p, struct sums *s)
{
    const struct ct_dtype *t = p->type;
    struct ct_markers      m = markers_of(t);
    struct range           r;
    size_t                 n, bytes, elems;
    if (p->len == 0 || p->reps == 0) {
        return true;
    }
    if (__builtin_mul_overflow(p->len, p->reps, &n) ||
        __builtin_mul_overflow(n, t->size_bytes, &bytes) ||
        __builtin_mul_overflow(n, ct_dtype_elems(t), &elems) ||
        __builtin_add_overflow(d->type.size_bytes, bytes, &d->type.size_bytes) ||
        d->type.size_bytes > PTRDIFF_MAX || __builtin_add_overflow(d->elems, elems, &d->elems)) {
        return false;
    }
    if (t->size_bytes > 0) {
        if (!derived_spread(
                p, (struct range){t->true_lb_bytes, t->true_lb_bytes + t->true_extent_bytes}, &r)) {
            return false;
        }
        derived_widen(&s->true_range, &s->data, r);
        d->type.align_bytes = ct_max_size(d->type.align_bytes, t->align_bytes);
    }
    if (m.set) {
        if (!derived_spread(p, (struct range){m.lb_bytes, m.ub_bytes}, &r)) {
            return false;
        }
        derived_widen(&s->markers, &s->marked, r);
    }
    return true;
}

/* MPI-4.1 sec. 5.1.6: markers, where there are any, are the bounds; else the data, and up to what
 * the alignment of the next element asks for. */
static bool set_bounds(struct ct_derived *d, const struct sums *s)
{
    struct ct_dtype *t = &d->type;
    struct range     r = s->marked ? s->markers : s->true_range;
    if (__builtin_sub_overflow(r.to, r.from, &t->extent_bytes) ||
        __builtin_sub_overflow(s->true_range.to, s->true_range.from, &t->true_extent_bytes)) {
        return false;
    }
    t->lb_bytes = r.from;
    t->true_lb_bytes = s->true_range.from;
    d->markers = (struct ct_markers){s->marked, r.from, r.to};
    if (!s->marked && t->align_bytes > 1) {
        size_t up = ct_round_up((size_t)t->extent_bytes, t->align_bytes);
        if (up > PTRDIFF_MAX) {
            return false;
        }
        t->extent_bytes = (ptrdiff_t)up;
    }
    return true;
}

size_t ct_dtype_elems(const struct ct_dtype *type)
{
    const struct ct_derived *d = ct_derived_of(type);
    bool is_pair = type->scalar >= CT_SCALAR_F32_INT && type->scalar <= CT_SCALAR_LONG_INT;
    return d != NULL ? d->elems : is_pair ? 2 : 1;
}

int ct_derived_finish(struct ct_derived *d, const struct ct_markers *markers)
{
    struct sums s = {.data = false};
    bool        fits = true;
    for (size_t i = 0; i < d->nparts; i++) {
        ct_dtype_hold(d->parts[i].type);
        fits = fits && derived_add_part(d, &d->parts[i], &s);
    }
    if (markers != NULL) {
        s.marked = true;
        s.markers = (struct range){markers->lb_bytes, markers->ub_bytes};
    }
    int rc = fits && set_bounds(d, &s) ? ct_derived_flatten(d) : CTRAN_ERR_COUNT;
    if (rc != CTRAN_SUCCESS) {
        derived_destroy(d);
    }
    return rc;
}
