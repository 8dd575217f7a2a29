/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of objects of one size. */
#include "base/slab.h"

#include <stdlib.h>

#include "base/util.h"

void ct_slab_init(struct ct_slab *s, size_t obj_size, size_t per_page)
{
    *s = (struct ct_slab){
        .obj_size = ct_round_up(ct_max_size(obj_size, sizeof(void *)), CT_CACHE_LINE),
        .per_page = per_page,
    };
}

void ct_slab_fini(struct ct_slab *s)
{
    for (void *page = s->pages, *next; page != NULL; page = next) {
        next = *(void **)page;
        free(page);
    }
    s->pages = s->free = NULL;
    s->in_use = 0;
}

/* The first line of a page links it to the next page; objects follow. */
int ct_slab_grow(struct ct_slab *s)
{
    char *page = aligned_alloc(CT_CACHE_LINE, CT_CACHE_LINE + s->obj_size * s->per_page);
    if (page == NULL) {
        return -1;
    }
    *(void **)page = s->pages;
    s->pages = page;
    for (size_t i = s->per_page; i-- > 0;) {
        void *obj = page + CT_CACHE_LINE + i * s->obj_size;
        *(void **)obj = s->free;
        s->free = obj;
    }
    return 0;
}
