/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers as objects. */
#define CT_FOLDER "comm"
#include "comm/errhandler.h"

#include "comm/comms.h"

struct ct_errhandler *ct_errhandler_make(struct ct_process *p, ctran_comm_errhandler_function *fn)
{
    struct ct_errhandler *h = ct_slab_get(&p->comms->errhandlers_pool);
    if (h != NULL) {
        *h = (struct ct_errhandler){
            .magic = CT_ERRHANDLER_MAGIC, .refs = 1, .handles = 1, .p = p, .fn = fn};
        ct_list_append(&p->comms->errhandlers, &h->node);
    }
    return h;
}

struct ct_errhandler *ct_errhandler_of(ctran_errhandler_t handle)
{
    if (ct_errhandler_is_fixed(handle)) {
        return handle;
    }
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_errhandler) != 0 ||
        handle->magic != CT_ERRHANDLER_MAGIC || handle->handles == 0) {
        return NULL;
    }
    return handle;
}

struct ct_errhandler *ct_errhandler_hold(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h)) {
        h->refs++;
    }
    return h;
}

void ct_errhandler_drop(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h) && --h->refs == 0) {
        ct_list_remove(&h->node);
        h->magic = 0;
        ct_slab_put(&h->p->comms->errhandlers_pool, h);
    }
}

ctran_errhandler_t ct_errhandler_give(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h)) {
        h->handles++;
    }
    return ct_errhandler_hold(h);
}

void ct_errhandler_release(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h)) {
        h->handles--;
    }
    ct_errhandler_drop(h);
}
