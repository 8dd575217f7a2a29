/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process keeps of datatypes besides themselves: names, and attributes with their keys.
 * Predefined types are constant, so theirs lie here; derived ones carry their own, which are made
 * ready at first use. Called by src/api/type_attr.c.
 */
#include <stdlib.h>

#include "dtype/derived.h"

enum { PREDEFINED = 256 }; /* handles, from CTRAN_DATATYPE_NULL on */

extern struct ct_guard ct_types_guard;

struct ct_types {
    struct ct_lock    lock; /* a leaf: names, and whether attributes are ready */
    struct ct_keyvals keyvals;
    char *names[PREDEFINED] CT_GUARDED_BY(ct_types_guard); /* what the program has renamed */
    struct ct_attrs attrs[PREDEFINED];
};

static void types_enter(struct ct_types *s) CT_ACQUIRE(ct_types_guard) CT_UNCHECKED
{
    ct_lock_acquire(&s->lock);
}

static void types_leave(struct ct_types *s) CT_RELEASE(ct_types_guard) CT_UNCHECKED
{
    ct_lock_release(&s->lock);
}

static size_t types_index_of(const struct ct_dtype *type)
{
    return (uintptr_t)ct_dtype_handle(type) - (uintptr_t)CTRAN_DATATYPE_NULL;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static int types_copy_attr(const struct ct_keyval *keyval, void *type, void *in, void *out,
                           int *flag)
{
    ctran_type_copy_attr_function *fn = (ctran_type_copy_attr_function *)keyval->copy;
    return fn(ct_dtype_handle(type), keyval->number, keyval->extra_state, in, out, flag);
}

static int types_delete_attr(const struct ct_keyval *keyval, void *type, void *value)
{
    ctran_type_delete_attr_function *fn = (ctran_type_delete_attr_function *)keyval->del;
    return fn(ct_dtype_handle(type), keyval->number, value, keyval->extra_state);
}

struct ct_keyvals *ct_dtype_keyvals(struct ct_process *p)
{
    return &p->types->keyvals;
}

struct ct_attrs *ct_dtype_attrs(struct ct_process *p, const struct ct_dtype *type)
{
    struct ct_derived *d = ct_derived_of(type);
    struct ct_attrs   *attrs = d != NULL ? &d->attrs : &p->types->attrs[types_index_of(type)];
    types_enter(p->types);
    if (attrs->kind == NULL) {
        ct_attrs_init(attrs, &p->types->keyvals, (void *)type);
    }
    types_leave(p->types);
    return attrs;
}

/* ---- names ----------------------------------------------------------------------------------- */

int ct_dtype_set_name(struct ct_process *p, const struct ct_dtype *type, const char *name)
{
    struct ct_derived *d = ct_derived_of(type);
    size_t             len = strnlen(name, CTRAN_MAX_OBJECT_NAME - 1);
    char              *copy = d == NULL ? malloc(CTRAN_MAX_OBJECT_NAME) : NULL;
    if (d == NULL && copy == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    types_enter(p->types);
    if (d == NULL) {
        free(p->types->names[types_index_of(type)]);
        p->types->names[types_index_of(type)] = copy;
    }
    char *to = d != NULL ? d->name : copy;
    memmove(to, name, len);
    to[len] = '\0';
    types_leave(p->types);
    return CTRAN_SUCCESS;
}

void ct_dtype_get_name(struct ct_process *p, const struct ct_dtype *type, char *name)
{
    types_enter(p->types);
    const char *renamed =
        type->scalar != CT_SCALAR_DERIVED ? p->types->names[types_index_of(type)] : NULL;
    strcpy(name, renamed != NULL ? renamed : type->name);
    types_leave(p->types);
}

/* ---- init and fini --------------------------------------------------------------------------- */

int ct_dtype_init(struct ct_process *p)
{
    static const struct ct_attr_ops ops = {types_copy_attr, types_delete_attr};
    p->types = calloc(1, sizeof *p->types);
    if (p->types == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ct_lock_init(&p->types->lock, p->threaded);
    ct_keyvals_init(&p->types->keyvals, CT_KEYVALS_TYPE, &ops, p->threaded);
    return CTRAN_SUCCESS;
}

void ct_dtype_set_threaded(struct ct_process *p)
{
    ct_lock_set(&p->types->lock, p->threaded);
    ct_keyvals_set_threaded(&p->types->keyvals, p->threaded);
}

/* No other thread is here any more. */
void ct_dtype_fini(struct ct_process *p) CT_UNCHECKED
{
    struct ct_types *s = p->types;
    if (s == NULL) {
        return;
    }
    for (size_t i = 0; i < PREDEFINED; i++) {
        free(s->names[i]);
        if (s->attrs[i].kind != NULL) {
            ct_attrs_fini(&s->attrs[i]);
        }
    }
    ct_keyvals_fini(&s->keyvals);
    ct_lock_fini(&s->lock);
    free(s);
    p->types = NULL;
}
