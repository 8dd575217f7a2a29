/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators as objects: world, self, look-up, life and death. */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"
#include "pmi/pmi.h"

/* Numbers of communicators: process number above, count below. */
enum { COUNT_WORLD = 1, COUNT_SELF = 2, COUNT_FIRST = 16 };

static uint64_t make_id(uint32_t process, uint32_t count)
{
    return (uint64_t)process << 32 | count;
}

uint64_t ct_comms_propose(struct ct_process *p)
{
    return make_id(p->job->rank,
                   atomic_fetch_add_explicit(&p->comms->next_count, 1, memory_order_relaxed));
}

/* Collectives run over the local group. */
static struct ct_ep *run_ep(const struct ct_run_ctx *run, uint32_t rank)
{
    const struct ct_comm *comm = CT_CONTAINER_OF(run, struct ct_comm, run);
    return ct_ep_get(comm->p, ct_comm_id_of(comm, rank));
}

static void unref_groups(struct ct_group *group, struct ct_group *remote) CT_IN_COMMS
{
    if (group != NULL) {
        ct_group_unref(group);
    }
    if (remote != NULL) {
        ct_group_unref(remote);
    }
}

struct ct_comm *ct_comms_prepare(struct ct_process *p, struct ct_group *group, uint32_t me,
                                 struct ct_group *remote)
{
    struct ct_comm *comm = NULL;
    ct_comms_enter(p);
    if (group != NULL) {
        comm = ct_slab_get(&p->comms->pool);
    }
    if (comm != NULL) {
        *comm = (struct ct_comm){
            .refs = {1},
            .p = p,
            .errhandler = CTRAN_ERRORS_ARE_FATAL,
            .run = {.p = p, .n = group->n, .me = me, .ep = run_ep},
            .group = group,
            .remote = remote,
        };
        ct_attrs_init(&comm->attrs, &p->comms->keyvals, comm);
    } else {
        unref_groups(group, remote);
    }
    ct_comms_leave(p);
    return comm;
}

void ct_comms_open(struct ct_comm *comm, uint64_t id)
{
    struct ct_comms *s = comm->p->comms;
    comm->open = true;
    comm->id = id;
    comm->run.id = ct_ctx(id, CT_CTX_COLL);
    ct_comms_enter(comm->p);
    HASH_ADD(hh, s->by_id, id, sizeof comm->id, comm);
    ct_comms_leave(comm->p);
    comm->magic = CT_COMM_MAGIC;
}

struct ct_comm *ct_comms_make(struct ct_process *p, uint64_t id, struct ct_group *group,
                              uint32_t me, struct ct_group *remote)
{
    struct ct_comm *comm = ct_comms_prepare(p, group, me, remote);
    if (comm != NULL) {
        ct_comms_open(comm, id);
    }
    return comm;
}

void ct_comm_drop(struct ct_comm *comm)
{
    struct ct_process *p = comm->p;
    if (ct_ref_drop(&comm->refs, p->threaded)) {
        ct_attrs_fini(&comm->attrs);
        ct_comms_enter(p);
        if (comm->open) {
            HASH_DEL(p->comms->by_id, comm);
        }
        comm->magic = 0;
        ct_errhandler_unref(comm->errhandler);
        unref_groups(comm->group, comm->remote);
        ct_topo_drop(comm->topo);
        ct_slab_put(&p->comms->pool, comm);
        ct_comms_leave(p);
    }
}

void ct_comm_release(struct ct_comm *comm)
{
    comm->magic = 0;
    ct_comm_drop(comm);
}

void ct_comm_set_name(struct ct_comm *comm, const char *name)
{
    ct_comms_enter(comm->p);
    size_t len = strnlen(name, sizeof comm->name - 1);
    memmove(comm->name, name, len);
    comm->name[len] = '\0';
    ct_comms_leave(comm->p);
}

void ct_comm_get_name(struct ct_comm *comm, char *name)
{
    ct_comms_enter(comm->p);
    strcpy(name, comm->name);
    ct_comms_leave(comm->p);
}

/* ---- look-up --------------------------------------------------------------------------------- */

struct ct_keyvals *ct_comm_keyvals(struct ct_process *p)
{
    return &p->comms->keyvals;
}

struct ct_comm *ct_comm_world(struct ct_process *p)
{
    return p->comms->world;
}

struct ct_comm *ct_comm_self(struct ct_process *p)
{
    return p->comms->self;
}

struct ct_comm *ct_comm_of(struct ct_process *p, ctran_comm_t handle)
{
    if (CT_LIKELY(handle == CTRAN_COMM_WORLD)) {
        return p->comms->world;
    }
    if (handle == CTRAN_COMM_SELF) {
        return p->comms->self;
    }
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_comm) != 0 ||
        handle->magic != CT_COMM_MAGIC) {
        return NULL;
    }
    return handle;
}

ctran_comm_t ct_comm_handle(const struct ct_comm *comm)
{
    if (comm == comm->p->comms->world) {
        return CTRAN_COMM_WORLD;
    }
    return comm == comm->p->comms->self ? CTRAN_COMM_SELF : (ctran_comm_t)comm;
}

/* For matching: whether a process may send in a context. */
static bool is_member(struct ct_process *p, uint64_t ctx, const struct ct_ep *ep)
{
    struct ct_comm *comm = NULL;
    const uint64_t  id = ctx & (((uint64_t)1 << CT_CTX_SHIFT) - 1);
    ct_comms_enter(p);
    HASH_FIND(hh, p->comms->by_id, &id, sizeof id, comm);
    bool is =
        comm != NULL && (ct_group_find(ct_comm_peers(comm), ep->id) != CTRAN_UNDEFINED ||
                         (ctx != id && ct_group_find(comm->group, ep->id) != CTRAN_UNDEFINED));
    ct_comms_leave(p);
    return is;
}

/* What world and self start with (MPI-4.1 sec. 9.3). */
static struct ct_errhandler *initial_errhandler(const struct ct_process *p)
{
    static struct ct_errhandler *const choices[] = {CTRAN_ERRORS_ARE_FATAL, CTRAN_ERRORS_ABORT,
                                                    CTRAN_ERRORS_RETURN};
    return choices[p->cfg.initial_errhandler];
}

/* ---- init and fini --------------------------------------------------------------------------- */

static int copy_attr(const struct ct_keyval *keyval, void *comm, void *in, void *out, int *flag)
{
    ctran_comm_copy_attr_function *fn = (ctran_comm_copy_attr_function *)keyval->copy;
    return fn(ct_comm_handle(comm), keyval->number, keyval->extra_state, in, out, flag);
}

static int delete_attr(const struct ct_keyval *keyval, void *comm, void *value)
{
    ctran_comm_delete_attr_function *fn = (ctran_comm_delete_attr_function *)keyval->del;
    return fn(ct_comm_handle(comm), keyval->number, value, keyval->extra_state);
}

static const struct ct_attr_ops attr_ops = {copy_attr, delete_attr};

/* No other thread is here yet. */
int ct_comm_init(struct ct_process *p) CT_UNCHECKED
{
    const struct ct_job *job = p->job;
    struct ct_comms     *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->comms = s;
    ct_lock_init(&s->lock, p->threaded);
    s->next_count = COUNT_FIRST;
    ct_keyvals_init(&s->keyvals, &attr_ops, p->threaded);
    ct_slab_init(&s->pool, sizeof(struct ct_comm), 16);
    ct_slab_init(&s->groups_pool, sizeof(struct ct_group), 16);
    ct_list_init(&s->groups);
    ct_slab_init(&s->errhandlers_pool, sizeof(struct ct_errhandler), 8);
    ct_list_init(&s->errhandlers);
    s->empty = ct_group_make(p, 0, NULL, 0);
    s->world = ct_comms_make(p, make_id(0, COUNT_WORLD), ct_group_make(p, job->size, NULL, 0),
                             job->rank, NULL);
    s->self = ct_comms_make(p, make_id(job->rank, COUNT_SELF), ct_group_make(p, 1, NULL, job->rank),
                            0, NULL);
    ct_p2p_set_member(p, is_member);
    if (s->world != NULL && s->self != NULL) {
        strcpy(s->world->name, "CTRAN_COMM_WORLD");
        strcpy(s->self->name, "CTRAN_COMM_SELF");
        s->world->errhandler = s->self->errhandler = initial_errhandler(p);
    }
    return s->empty != NULL && s->world != NULL && s->self != NULL ? CTRAN_SUCCESS
                                                                   : CTRAN_ERR_NO_MEM;
}

/* No other thread is here any more. */
void ct_comm_fini(struct ct_process *p) CT_UNCHECKED
{
    struct ct_comms *s = p->comms;
    if (s == NULL) {
        return;
    }
    /* What the user has not freed goes too. */
    struct ct_comm *comm, *next;
    HASH_ITER (hh, s->by_id, comm, next) {
        comm->refs.n = 1;
        ct_comm_drop(comm);
    }
    CT_LIST_FOR (node, &s->groups) {
        struct ct_group *group = CT_LIST_ENTRY(node, struct ct_group, node);
        group->refs = 1;
        ct_group_unref(group);
    }
    CT_LIST_FOR (node, &s->errhandlers) {
        struct ct_errhandler *h = CT_LIST_ENTRY(node, struct ct_errhandler, node);
        h->refs = 1;
        ct_errhandler_unref(h);
    }
    ct_keyvals_fini(&s->keyvals);
    ct_slab_fini(&s->pool);
    ct_slab_fini(&s->groups_pool);
    ct_slab_fini(&s->errhandlers_pool);
    ct_lock_fini(&s->lock);
    free(s);
    p->comms = NULL;
}
