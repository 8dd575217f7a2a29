/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators as objects: world, self, look-up, life and death. */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"
#include "pmi/pmi.h"

/* Numbers of communicators: process number above, count below; of all worlds that there are in the
 * life of a process each has its own. */
static const uint32_t COUNT_SELF = 1u << 31, COUNT_WORLD = 3u << 30;

static uint64_t make_id(uint32_t process, uint32_t count)
{
    return (uint64_t)process << 32 | count;
}

uint64_t ct_comms_propose(struct ct_process *p)
{
    /* From 1 on: the number 0 is none. */
    uint32_t n = 1 + atomic_fetch_add_explicit(&p->ncomm_numbers, 1, memory_order_relaxed);
    return make_id(ct_job_me(p->job), n);
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

void ct_comms_open_quietly(struct ct_comm *comm, uint64_t id)
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

void ct_comms_open(struct ct_comm *comm, uint64_t id)
{
    ct_comms_open_quietly(comm, id);
    if (comm->p->comms->on_open != NULL) {
        comm->p->comms->on_open(comm);
    }
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

/* Only where deaths are survived is anything late: else all have seen to the end of what they do
 * with a communicator. */
static void note_closed(struct ct_process *p, uint64_t id) CT_IN_COMMS
{
    struct ct_comms *s = p->comms;
    if (p->job->events.on && s->closed == NULL) {
        s->closed = calloc(CT_COMMS_CLOSED, sizeof *s->closed);
    }
    if (s->closed != NULL) {
        s->closed[s->nclosed++ % CT_COMMS_CLOSED] = id;
    }
}

void ct_comm_end_(struct ct_comm *comm)
{
    struct ct_process *p = comm->p;
    if (ct_comm_is_revoked(comm)) {
        ct_p2p_unrevoke(p);
    }
    if (comm->stream != NULL) {
        comm->stream_close(comm);
    }
    ct_attrs_fini(&comm->attrs);
    ct_errhandler_drop(&p->errhandlers, comm->errhandler);
    ct_comms_enter(p);
    if (comm->open) {
        HASH_DEL(p->comms->by_id, comm);
        note_closed(p, comm->id);
    }
    comm->magic = 0;
    if (comm->trace != NULL) {
        p->trace->ops->comm_close(p->trace, comm->trace);
    }
    unref_groups(comm->group, comm->remote);
    ct_vtopo_drop(comm->topo);
    ct_shm_coll_close(comm->run.shm);
    ct_levels_free(comm->run.levels);
    ct_chooser_drop(p, comm->chooser);
    free(comm->coll_algorithm);
    ct_slab_put(&p->comms->pool, comm);
    ct_comms_leave(p);
}

void ct_comm_release(struct ct_comm *comm)
{
    comm->magic = 0;
    if (comm == comm->p->comms->parent) {
        comm->p->comms->parent = NULL;
    }
    if (comm->stream != NULL) { /* who drops the last hold may be where nothing can be waited for */
        comm->stream_close(comm);
    }
    struct ct_process *p = comm->p;
    ct_comm_drop(comm);
    if (CT_UNLIKELY(p->job->events.on)) { /* what was for it, and nobody receives */
        ct_domain_enter(p);
        ct_p2p_purge(p);
        ct_domain_leave(p);
    }
}

struct ct_comm *ct_comm_parent(struct ct_process *p)
{
    return p->comms->parent;
}

void ct_comm_set_parent(struct ct_process *p, struct ct_comm *comm)
{
    p->comms->parent = comm;
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

static bool is_object(ctran_comm_t handle)
{
    return (uintptr_t)handle >= 0x1000 && (uintptr_t)handle % _Alignof(struct ct_comm) == 0;
}

struct ct_comm *ct_comm_of_early(struct ct_process *p, ctran_comm_t handle)
{
    return is_object(handle) && handle->magic == CT_COMM_MAGIC_DUP ? handle : ct_comm_of(p, handle);
}

struct ct_comm *ct_comm_of(struct ct_process *p, ctran_comm_t handle)
{
    if (CT_LIKELY(handle == CTRAN_COMM_WORLD)) {
        return p->comms->world;
    }
    if (handle == CTRAN_COMM_SELF) {
        return p->comms->world != NULL ? p->comms->self : NULL;
    }
    return is_object(handle) && handle->magic == CT_COMM_MAGIC ? handle : NULL;
}

ctran_comm_t ct_comm_handle(const struct ct_comm *comm)
{
    if (comm != NULL && comm == comm->p->comms->world) {
        return CTRAN_COMM_WORLD;
    }
    return comm == comm->p->comms->self ? CTRAN_COMM_SELF : (ctran_comm_t)comm;
}

static struct ct_comm *find(struct ct_process *p, uint64_t id) CT_IN_COMMS
{
    struct ct_comm *comm = NULL;
    HASH_FIND(hh, p->comms->by_id, &id, sizeof id, comm);
    return comm;
}

/* Without the kind of the context. */
static uint64_t id_of(uint64_t ctx)
{
    return ctx & (((uint64_t)1 << CT_CTX_SHIFT) - 1);
}

static bool is_named(uint64_t ctx)
{
    return ctx >> CT_CTX_SHIFT == CT_CTX_NAMED;
}

/* For matching: whether a process may send in a context, and how many others may. */
static bool is_member(struct ct_process *p, uint64_t ctx, const struct ct_ep *ep)
{
    const uint64_t id = id_of(ctx);
    ct_comms_enter(p);
    const struct ct_comm *comm = find(p, id);
    bool                  is =
        comm != NULL && (ct_group_find(ct_comm_peers(comm), ep->id) != CTRAN_UNDEFINED ||
                         (ctx != id && ct_group_find(comm->group, ep->id) != CTRAN_UNDEFINED));
    ct_comms_leave(p);
    return is;
}

static uint32_t count_others(struct ct_process *p, uint64_t ctx)
{
    ct_comms_enter(p);
    const struct ct_comm *comm = find(p, id_of(ctx));
    const uint32_t n = comm != NULL ? ct_comm_peers(comm)->n - (comm->remote == NULL ? 1 : 0) : 0;
    ct_comms_leave(p);
    return n;
}

static bool is_revoked(struct ct_process *p, uint64_t ctx)
{
    ct_comms_enter(p);
    const struct ct_comm *comm = is_named(ctx) ? NULL : find(p, id_of(ctx));
    const bool            is = comm != NULL && ct_comm_is_revoked(comm);
    ct_comms_leave(p);
    return is;
}

static size_t count_acked(struct ct_process *p, uint64_t ctx)
{
    ct_comms_enter(p);
    const struct ct_comm *comm = is_named(ctx) ? NULL : find(p, id_of(ctx));
    const size_t n = comm != NULL ? atomic_load_explicit(&comm->nacked, memory_order_relaxed) : 0;
    ct_comms_leave(p);
    return n;
}

static bool was_closed(struct ct_comms *s, uint64_t id) CT_IN_COMMS
{
    for (uint32_t i = 0; s->closed != NULL && i < CT_COMMS_CLOSED; i++) {
        if (s->closed[i] == id) {
            return true;
        }
    }
    return false;
}

static bool is_closed(struct ct_process *p, uint64_t ctx)
{
    if (CT_LIKELY(!p->job->events.on) || is_named(ctx)) {
        return false;
    }
    ct_comms_enter(p);
    const bool is = find(p, id_of(ctx)) == NULL && was_closed(p->comms, id_of(ctx));
    ct_comms_leave(p);
    return is;
}

struct ct_comm *ct_comm_by_id(struct ct_process *p, uint64_t id, bool *closed)
{
    *closed = false;
    if (p->comms == NULL) {
        return NULL;
    }
    ct_comms_enter(p);
    struct ct_comm *comm = find(p, id);
    if (comm != NULL && !ct_ref_try_hold(&comm->refs, p->threaded)) {
        *closed = true; /* another thread is ending it */
        comm = NULL;
    } else if (comm == NULL) {
        *closed = was_closed(p->comms, id);
    }
    ct_comms_leave(p);
    return comm;
}

void ct_comm_for_all(struct ct_process *p, void (*fn)(struct ct_comm *comm, void *arg), void *arg)
{
    struct ct_comm *comm, *next;
    ct_comms_enter(p);
    HASH_ITER (hh, p->comms->by_id, comm, next) {
        fn(comm, arg);
    }
    ct_comms_leave(p);
}

void ct_comm_on_open(struct ct_process *p, void (*on_open)(struct ct_comm *comm))
{
    p->comms->on_open = on_open;
}

struct ct_errhandler *ct_comm_initial_errhandler(const struct ct_process *p)
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

static struct ct_comm *make_predefined(struct ct_process *p, uint64_t id, struct ct_group *group,
                                       uint32_t me, const char *name)
{
    struct ct_comm *comm = ct_comms_make(p, id, group, me, NULL);
    if (comm != NULL) {
        comm->errhandler = ct_comm_initial_errhandler(p);
        ct_comm_set_name(comm, name);
    }
    return comm;
}

int ct_comm_world_open(struct ct_process *p)
{
    const struct ct_job *job = p->job;
    struct ct_group     *all = ct_group_make(p, job->size, NULL, job->first);
    p->comms->world = make_predefined(p, make_id(job->first, COUNT_WORLD + p->nworlds), all,
                                      job->rank, "CTRAN_COMM_WORLD");
    p->nworlds += p->comms->world != NULL;
    return p->comms->world != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

/* The next world finds self as if it were new. */
void ct_comm_world_close(struct ct_process *p)
{
    struct ct_comm *world = p->comms->world, *self = p->comms->self;
    p->comms->world = NULL;
    if (p->comms->parent != NULL) {
        ct_comm_release(p->comms->parent);
    }
    ct_comm_release(world);
    ct_errhandler_set_at(&p->errhandlers, &self->errhandler, ct_comm_initial_errhandler(p));
    ct_comm_set_name(self, "CTRAN_COMM_SELF");
    ct_hints_reset(self);
}

/* No other thread is here yet. */
int ct_comm_init(struct ct_process *p) CT_UNCHECKED
{
    struct ct_comms *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    p->comms = s;
    ct_lock_init(&s->lock, p->threaded);
    ct_keyvals_init(&s->keyvals, CT_KEYVALS_COMM, &attr_ops, p->threaded);
    ct_slab_init(&s->pool, sizeof(struct ct_comm), 16);
    ct_slab_init(&s->groups_pool, sizeof(struct ct_group), 16);
    ct_list_init(&s->groups);
    s->empty = ct_group_make(p, 0, NULL, 0);
    s->self = make_predefined(p, make_id(ct_job_me(p->job), COUNT_SELF),
                              ct_group_make(p, 1, NULL, ct_job_me(p->job)), 0, "CTRAN_COMM_SELF");
    static const struct ct_p2p_contexts contexts = {is_member, count_others, is_revoked,
                                                    count_acked, is_closed};
    ct_p2p_set_contexts(p, &contexts);
    return s->empty != NULL && s->self != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

void ct_comm_set_threaded(struct ct_process *p)
{
    ct_lock_set(&p->comms->lock, p->threaded);
    ct_keyvals_set_threaded(&p->comms->keyvals, p->threaded);
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
    ct_keyvals_fini(&s->keyvals);
    ct_slab_fini(&s->pool);
    ct_slab_fini(&s->groups_pool);
    ct_lock_fini(&s->lock);
    ct_p2p_set_contexts(p, NULL);
    free(s->closed);
    free(s);
    p->comms = NULL;
}
