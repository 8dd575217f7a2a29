/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slab hands out objects of one size in constant time and takes memory in pages of objects, so
 * that hot paths never call malloc. Not thread-safe: its owner's lock protects it.
 */
#ifndef CT_BASE_SLAB_H
#define CT_BASE_SLAB_H

#include <assert.h>
#include <stddef.h>

#include "base/util.h"

struct ct_slab {
    size_t obj_size, per_page;
    void  *free;  /* first free object; each begins with a pointer to the next */
    void  *pages; /* likewise for the pages */
    size_t in_use;
};

/* `per_page` objects of obj_size bytes, aligned to 64, are allocated at a time. */
void ct_slab_init(struct ct_slab *s, size_t obj_size, size_t per_page);

/* Frees all pages; objects still in use become invalid. */
void ct_slab_fini(struct ct_slab *s);

/* Takes memory for one more page: -1 when there is none. */
int ct_slab_grow(struct ct_slab *s);

/* An object with undefined contents, or NULL when out of memory. */
static inline void *ct_slab_get(struct ct_slab *s)
{
    if (CT_UNLIKELY(s->free == NULL) && ct_slab_grow(s) != 0) {
        return NULL;
    }
    void *obj = s->free;
    s->free = *(void **)obj;
    s->in_use++;
    return obj;
}

static inline void ct_slab_put(struct ct_slab *s, void *obj)
{
    assert(s->in_use > 0);
    *(void **)obj = s->free;
    s->free = obj;
    s->in_use--;
}

#endif
