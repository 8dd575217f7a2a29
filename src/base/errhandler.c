/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers as objects. */
#include "base/errhandler.h"

struct ct_errhandler *ct_errhandler_make(struct ct_errhandlers *s, enum ct_errhandler_kind kind,
                                         ct_errhandler_fn *fn)
{
    pthread_mutex_lock(&s->lock);
    if (s->pool.obj_size == 0) {
        ct_slab_init(&s->pool, sizeof(struct ct_errhandler), 8);
    }
    struct ct_errhandler *h = ct_slab_get(&s->pool);
    if (h != NULL) {
        *h = (struct ct_errhandler){
            .magic = CT_ERRHANDLER_MAGIC, .refs = 1, .handles = 1, .kind = kind, .fn = fn};
    }
    pthread_mutex_unlock(&s->lock);
    return h;
}

struct ct_errhandler *ct_errhandler_of(struct ct_errhandlers *s, ctran_errhandler_t handle)
{
    if (ct_errhandler_is_fixed(handle)) {
        return handle;
    }
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_errhandler) != 0) {
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    const bool ok = handle->magic == CT_ERRHANDLER_MAGIC && handle->handles > 0;
    pthread_mutex_unlock(&s->lock);
    return ok ? handle : NULL;
}

/* ---- references; under the lock -------------------------------------------------------------- */

static struct ct_errhandler *ref(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h)) {
        h->refs++;
    }
    return h;
}

static void unref(struct ct_errhandlers *s, struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h) && --h->refs == 0) {
        h->magic = 0;
        ct_slab_put(&s->pool, h);
    }
}

/* ---- by the user and by objects -------------------------------------------------------------- */

void ct_errhandler_drop(struct ct_errhandlers *s, struct ct_errhandler *h)
{
    pthread_mutex_lock(&s->lock);
    unref(s, h);
    pthread_mutex_unlock(&s->lock);
}

void ct_errhandler_release(struct ct_errhandlers *s, struct ct_errhandler *h)
{
    pthread_mutex_lock(&s->lock);
    if (!ct_errhandler_is_fixed(h)) {
        h->handles--;
    }
    unref(s, h);
    pthread_mutex_unlock(&s->lock);
}

struct ct_errhandler *ct_errhandler_hold_at(struct ct_errhandlers       *s,
                                            struct ct_errhandler *const *place)
{
    pthread_mutex_lock(&s->lock);
    struct ct_errhandler *h = ref(*place);
    pthread_mutex_unlock(&s->lock);
    return h;
}

ctran_errhandler_t ct_errhandler_give_at(struct ct_errhandlers       *s,
                                         struct ct_errhandler *const *place)
{
    pthread_mutex_lock(&s->lock);
    struct ct_errhandler *h = ref(*place);
    if (!ct_errhandler_is_fixed(h)) {
        h->handles++;
    }
    pthread_mutex_unlock(&s->lock);
    return h;
}

void ct_errhandler_set_at(struct ct_errhandlers *s, struct ct_errhandler **place,
                          struct ct_errhandler *h)
{
    pthread_mutex_lock(&s->lock);
    struct ct_errhandler *old = *place;
    *place = ref(h);
    unref(s, old);
    pthread_mutex_unlock(&s->lock);
}
