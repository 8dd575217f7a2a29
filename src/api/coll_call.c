/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives at once, as requests, and as persistent requests; see coll_call.h. */
#define CT_FOLDER "api"
#include "api/coll_call.h"

#include <stdlib.h>

/* A description that lasts. */
struct request {
    struct ct_request base; /* first: the user's handle points here */
    struct ct_task    task;
    uint64_t          number; /* of a persistent one, by which ranks know it; else 0 */
    void             *kept;   /* freed with it; NULL: nothing */
    CT_ALIGNED(16) char described[];
};

static struct ct_described *described(struct request *r)
{
    return (struct ct_described *)(void *)r->described;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int check_request(const struct ct_call *how, struct ct_comm *comm)
{
    struct ct_info *hints;
    if (CT_LIKELY(how->mode == CT_CALL_BLOCKS)) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_check_out(comm, how->name, how->request, "request");
    return rc == CTRAN_SUCCESS && how->mode == CT_CALL_PERSISTENT
               ? ct_check_info(comm, how->name, how->info, &hints)
               : rc;
}

int ct_call_check(const struct ct_call *how, struct ct_comm **comm)
{
    int rc = ct_check_comm(how->name, how->comm, comm);
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? check_request(how, *comm) : rc;
}

int ct_call_check_intra(const struct ct_call *how, struct ct_comm **comm)
{
    int rc = ct_check_intra(how->name, how->comm, comm);
    return rc == CTRAN_SUCCESS ? check_request(how, *comm) : rc;
}

/* ---- the trace ------------------------------------------------------------------------------- */

/* A call that has been described begins. */
static inline void trace(struct ct_described *d, uint32_t flags)
{
    static const uint32_t rooted = CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER;
    const struct ct_coll *c = &d->coll;
    if (d->comm->p->trace != NULL) {
        const bool has_plan = c->kind != 0 && c->post == NULL;
        const bool has_bytes = c->post == NULL && (c->kind == 0 || c->bytes != CT_BYTES_UNKNOWN);
        const struct ct_trace_what what = {
            .name = d->call,
            .type = d->types[0] != NULL ? d->types[0]->name : NULL,
            .op = d->op != NULL ? d->op->name : NULL,
            .bytes = !has_bytes     ? CT_TRACE_UNKNOWN
                     : c->kind != 0 ? c->bytes
                                    : 0,
            .root =
                has_plan && (c->kind & rooted) != 0 ? (int32_t)c->args.env.root : CT_TRACE_NO_RANK,
            .flags = flags,
        };
        d->coll.trace = ct_api_trace_begin(d->comm, &what);
    }
}

/* ---- a request ------------------------------------------------------------------------------- */

static void hold(const struct ct_described *d)
{
    for (unsigned i = 0; i < CT_ARRAY_LEN(d->types); i++) {
        if (d->types[i] != NULL) {
            ct_dtype_hold(d->types[i]);
        }
    }
    if (d->op != NULL) {
        ct_op_hold(d->op);
    }
}

static void let_go(const struct ct_described *d)
{
    for (unsigned i = 0; i < CT_ARRAY_LEN(d->types); i++) {
        if (d->types[i] != NULL) {
            ct_dtype_drop(d->types[i]);
        }
    }
    if (d->op != NULL) {
        ct_op_drop(d->op);
    }
}

static void destroy(struct ct_described *d)
{
    if (d->ops->destroy != NULL) {
        d->ops->destroy(d);
    }
}

static void release(struct ct_process *p, struct ct_request *base)
{
    struct request *r = CT_CONTAINER_OF(base, struct request, base);
    (void)p;
    base->magic = 0;
    destroy(described(r));
    let_go(described(r));
    ct_api_disown(base->owner, NULL);
    free(r->kept);
    free(r);
}

bool ct_api_keep(struct ct_request *req, void *memory)
{
    if (req->release != release) {
        return false;
    }
    CT_CONTAINER_OF(req, struct request, base)->kept = memory;
    return true;
}

/* A step. The user may have freed the request when this returns true. */
static bool step(struct ct_process *p, struct ct_task *task)
{
    struct request      *r = CT_CONTAINER_OF(task, struct request, task);
    struct ct_described *d = described(r);
    if (!ct_coll_step(&d->coll)) {
        return false;
    }
    ct_trace_end(p, d->coll.trace, d->coll.rc, true);
    const int closed = d->ops->close(d, d->coll.rc == CTRAN_SUCCESS);
    ct_domain_enter(p);
    r->base.error = d->coll.rc != CTRAN_SUCCESS ? d->coll.rc : closed;
    ct_request_complete(p, &r->base);
    ct_domain_leave(p);
    return true;
}

static int begin(struct ct_process *p, struct request *r)
{
    struct ct_described *d = described(r);
    r->task = (struct ct_task){.run = step};
    ct_coll_init(&d->coll, d->comm, &r->task);
    d->coll.number = r->number;
    const uint32_t seq = d->comm->run.seq, remote_seq = d->comm->remote_seq;
    int            rc = d->ops->open(d);
    if (rc != CTRAN_SUCCESS && r->number != 0) { /* it has its own: none was left out */
        d->comm->run.seq = seq;
        d->comm->remote_seq = remote_seq;
    }
    if (rc == CTRAN_SUCCESS) {
        trace(d, r->number != 0 ? CT_TRACE_PERSISTENT : 0);
        r->base.error = CTRAN_SUCCESS;
        r->base.waiter = NULL;
        r->base.inactive = false;
        ct_request_set_done(&r->base, false);
        ct_task_start(p, &r->task);
    }
    return rc;
}

static int start(struct ct_process *p, struct ct_request *base)
{
    return begin(p, CT_CONTAINER_OF(base, struct request, base));
}

/* Inactive, and owner of what the description has; NULL when out of memory. */
static struct request *make(const struct ct_described *d)
{
    const size_t    size = d->ops->size_bytes;
    struct request *r = aligned_alloc(64, ct_round_up(sizeof *r + size, 64));
    if (r == NULL) {
        return NULL;
    }
    memset(r, 0, sizeof *r);
    memcpy(r->described, d, size);
    hold(d);
    ct_api_adopt(&r->base, d->comm, NULL);
    ct_request_set_done(&r->base, true);
    r->base.magic = CT_REQUEST_MAGIC;
    r->base.release = release;
    r->base.source = CTRAN_ANY_SOURCE;
    r->base.tag = CTRAN_ANY_TAG;
    r->base.inactive = true;
    return r;
}

bool ct_call_is_bound(const struct ct_request *req)
{
    return req->release == release && !req->inactive && !ct_request_is_done(req);
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static int run(struct ct_described *d)
{
    ct_coll_init(&d->coll, d->comm, NULL);
    int rc = d->ops->open(d);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        struct ct_blocked b;
        trace(d, CT_TRACE_BLOCKING);
        ct_api_block(&b, d->call, d->comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
        rc = ct_coll_run(&d->coll);
        ct_blocked_end(&b);
        ct_trace_end(d->comm->p, d->coll.trace, rc, ct_blocked_lasted(&b));
        const int closed = d->ops->close(d, rc == CTRAN_SUCCESS);
        rc = rc != CTRAN_SUCCESS ? rc : closed;
    }
    destroy(d);
    return ct_api_pass(d->comm, rc, d->call);
}

/* A call that cannot become a request is described nevertheless, as the other ranks count it. Where
 * that fails it has been left out. */
static void leave_out(struct ct_described *d)
{
    ct_coll_init(&d->coll, d->comm, NULL);
    if (d->ops->open(d) == CTRAN_SUCCESS) {
        ct_coll_leave_out(&d->coll);
        d->ops->close(d, false);
    }
}

int ct_call_go(const struct ct_call *how, struct ct_described *d)
{
    if (CT_LIKELY(how->mode == CT_CALL_BLOCKS)) {
        return run(d);
    }
    if (how->mode == CT_CALL_PERSISTENT && d->comm->npersistent == CT_RUN_OWN_NUMBERS) {
        destroy(d);
        return ct_api_raise(d->comm, CTRAN_ERR_UNSUPPORTED_OPERATION, d->call,
                            "a communicator has up to %d persistent collectives in its life, and "
                            "this one has had them: prepare more on a duplicate",
                            CT_RUN_OWN_NUMBERS);
    }
    struct ct_process *p = d->comm->p;
    struct request    *r = make(d);
    uint64_t           number = 0;
    if (how->mode == CT_CALL_PERSISTENT) {
        number = ct_run_own_number(d->comm->npersistent++);
    }
    if (r == NULL) {
        if (how->mode == CT_CALL_REQUEST) {
            leave_out(d);
        }
        destroy(d);
        return ct_api_raise(d->comm, CTRAN_ERR_NO_MEM, d->call, "for a request");
    }
    if (how->mode == CT_CALL_PERSISTENT) {
        r->base.start = start;
        r->number = number;
    } else {
        int rc = begin(p, r);
        if (rc != CTRAN_SUCCESS) {
            rc = ct_api_pass(d->comm, rc, d->call);
            release(p, &r->base);
            return rc;
        }
    }
    *how->request = &r->base;
    return CTRAN_SUCCESS;
}
