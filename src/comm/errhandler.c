/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers as objects. */
#define CT_FOLDER "comm"
#include "comm/errhandler.h"

#include "comm/comms.h"

struct ct_errhandler *ct_errhandler_make(struct ct_process *p, ctran_comm_errhandler_function *fn)
{
    ct_comms_enter(p);
    struct ct_errhandler *h = ct_slab_get(&p->comms->errhandlers_pool);
    if (h != NULL) {
        *h = (struct ct_errhandler){
            .magic = CT_ERRHANDLER_MAGIC, .refs = 1, .handles = 1, .p = p, .fn = fn};
        ct_list_append(&p->comms->errhandlers, &h->node);
    }
    ct_comms_leave(p);
    return h;
}

struct ct_errhandler *ct_errhandler_of(struct ct_process *p, ctran_errhandler_t handle)
{
    if (ct_errhandler_is_fixed(handle)) {
        return handle;
    }
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_errhandler) != 0) {
        return NULL;
    }
    ct_comms_enter(p);
    const bool ok = handle->magic == CT_ERRHANDLER_MAGIC && handle->handles > 0;
    ct_comms_leave(p);
    return ok ? handle : NULL;
}

struct ct_errhandler *ct_errhandler_ref(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h)) {
        h->refs++;
    }
    return h;
}

void ct_errhandler_unref(struct ct_errhandler *h)
{
    if (!ct_errhandler_is_fixed(h) && --h->refs == 0) {
        ct_list_remove(&h->node);
        h->magic = 0;
        ct_slab_put(&h->p->comms->errhandlers_pool, h);
    }
}

void ct_errhandler_drop(struct ct_process *p, struct ct_errhandler *h)
{
    ct_comms_enter(p);
    ct_errhandler_unref(h);
    ct_comms_leave(p);
}

void ct_errhandler_release(struct ct_process *p, struct ct_errhandler *h)
{
    ct_comms_enter(p);
    if (!ct_errhandler_is_fixed(h)) {
        h->handles--;
    }
    ct_errhandler_unref(h);
    ct_comms_leave(p);
}

/* ---- of a communicator ----------------------------------------------------------------------- */

struct ct_errhandler *ct_comm_errhandler_hold(struct ct_comm *comm)
{
    ct_comms_enter(comm->p);
    struct ct_errhandler *h = ct_errhandler_ref(comm->errhandler);
    ct_comms_leave(comm->p);
    return h;
}

ctran_errhandler_t ct_comm_errhandler_give(struct ct_comm *comm)
{
    ct_comms_enter(comm->p);
    struct ct_errhandler *h = ct_errhandler_ref(comm->errhandler);
    if (!ct_errhandler_is_fixed(h)) {
        h->handles++;
    }
    ct_comms_leave(comm->p);
    return h;
}

void ct_comm_errhandler_set(struct ct_comm *comm, struct ct_errhandler *h)
{
    ct_comms_enter(comm->p);
    struct ct_errhandler *old = comm->errhandler;
    comm->errhandler = ct_errhandler_ref(h);
    ct_errhandler_unref(old);
    ct_comms_leave(comm->p);
}
