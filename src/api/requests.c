/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as the user's handles: how they come, what they report, and how they go. */
#define CT_FOLDER "api"
#include "api/api.h"
#include "api/coll_call.h"

void ct_api_status(ctran_status_t *status, const struct ct_request *req)
{
    if (status == CTRAN_STATUS_IGNORE) {
        return;
    }
    int64_t bytes = req != NULL ? (int64_t)req->len_bytes : 0;
    status->CTRAN_SOURCE = req != NULL ? req->source : CTRAN_ANY_SOURCE;
    status->CTRAN_TAG = req != NULL ? req->tag : CTRAN_ANY_TAG;
    memset(status->ctran_internal, 0, sizeof status->ctran_internal);
    memcpy(status->ctran_internal, &bytes, sizeof bytes);
    status->ctran_internal[CT_STATUS_CANCELLED] = req != NULL && req->cancelled;
    if (req == NULL) { /* MPI-4.1 sec. 3.7.3: an empty status has no error */
        status->CTRAN_ERROR = CTRAN_SUCCESS;
    }
}

int ct_api_outcome(struct ct_request *req, ctran_status_t *status)
{
    ctran_status_t unwanted = {0};
    if (CT_LIKELY(req->query == NULL)) {
        ct_api_status(status, req);
        return req->error;
    }
    status =
        status != CTRAN_STATUS_IGNORE ? status : &unwanted; /* a query always has one to fill */
    const int error = status->CTRAN_ERROR; /* which calls that complete one request leave alone */
    ct_api_status(status, NULL);
    status->CTRAN_ERROR = error;
    return req->query(req, status);
}

struct ct_request *ct_api_null_request(struct ct_process *p)
{
    struct ct_p2p_req *req = ct_p2p_req_get(p);
    if (req == NULL) {
        return NULL;
    }
    req->p = p;
    ct_request_set_done(&req->base, true);
    req->base.orphan = false;
    req->base.cancelled = false;
    req->base.error = CTRAN_SUCCESS;
    req->base.source = CTRAN_PROC_NULL;
    req->base.tag = CTRAN_ANY_TAG;
    req->base.len_bytes = 0;
    return &req->base;
}

static void release_user(struct ct_process *p, struct ct_request *req)
{
    struct ct_comm        *comm = req->owner;
    const struct ct_dtype *type = req->type;
    ct_p2p_req_put(p, req);
    ct_api_disown(comm, type);
}

void ct_api_describe_request(const struct ct_request *base, const struct ct_comm *comm, int *peer,
                             int *tag)
{
    const struct ct_p2p_req *req = CT_CONTAINER_OF(base, struct ct_p2p_req, base);
    if (base->release != release_user) {
        return; /* a collective, or one that is persistent */
    }
    *peer = req->key.src == CTRAN_ANY_SOURCE ? CT_BLOCKED_ANY : req->key.src;
    *tag = req->key.tag == CTRAN_ANY_TAG ? CT_BLOCKED_ANY : req->key.tag;
    if (!req->is_recv) {
        int rank =
            req->ep != NULL
                ? ct_group_find(comm->remote != NULL ? comm->remote : comm->group, req->ep->id)
                : CTRAN_UNDEFINED;
        *peer = rank != CTRAN_UNDEFINED ? rank : CT_BLOCKED_NONE;
    }
}

/* The endpoint of a receive from any rank changes inside the domain: it is not looked at. */
static void list_message(struct ct_blocked *b, const struct ct_request *base,
                         const struct ct_comm *comm)
{
    const struct ct_p2p_req   *req = CT_CONTAINER_OF(base, struct ct_p2p_req, base);
    const bool                 any = req->is_recv && req->key.src == CTRAN_ANY_SOURCE;
    const struct ct_trace_item item = {
        .kind = req->is_recv ? CT_TRACE_RECV : CT_TRACE_SEND,
        .peer = !any && req->ep != NULL ? (int32_t)req->ep->id : CT_TRACE_ANY_RANK,
        .tag = req->key.tag == CTRAN_ANY_TAG ? -1 : req->key.tag,
        .bytes = req->area.len_bytes,
        .comm = comm->id,
    };
    ct_blocked_item(b, &item);
}

void ct_api_list_request(struct ct_blocked *b, const struct ct_request *base,
                         const struct ct_comm *comm)
{
    const struct ct_trace_item item = {
        .kind = ct_call_is_bound(base) ? CT_TRACE_COLLECTIVE : CT_TRACE_OTHER,
        .peer = CT_TRACE_NO_RANK,
        .tag = -1,
        .comm = comm->id,
    };
    if (base->cancel == ct_p2p_req_cancel) { /* of sends and receives alone */
        list_message(b, base, comm);
    } else {
        ct_blocked_item(b, &item);
    }
}

/* A wait for one send or receive, as it is described once it lasts. */
struct blocked_request {
    struct ct_blocked        base;
    const struct ct_request *request;
    const struct ct_comm    *comm;
};

static void list_one(struct ct_blocked *base)
{
    const struct blocked_request *b = CT_CONTAINER_OF(base, struct blocked_request, base);
    list_message(base, b->request, b->comm);
}

int ct_api_wait(const char *call, const struct ct_comm *comm, int peer, int tag,
                struct ct_request *req)
{
    struct blocked_request b = {.request = req, .comm = comm};
    if (ct_request_is_done(req)) {
        return req->error;
    }
    ct_api_block(&b.base, call, comm, peer, tag);
    b.base.list = list_one;
    int rc = ct_p2p_wait(comm->p, req);
    ct_blocked_end(&b.base);
    return rc;
}

void ct_api_disown(struct ct_comm *comm, const struct ct_dtype *type)
{
    if (CT_UNLIKELY(type != NULL)) {
        ct_dtype_drop(type);
    }
    ct_comm_drop(comm);
}

void ct_api_adopt(struct ct_request *req, struct ct_comm *comm, const struct ct_dtype *type)
{
    ct_comm_hold(comm);
    if (CT_UNLIKELY(type != NULL)) {
        ct_dtype_hold(type);
    }
    req->owner = comm;
    req->type = type;
    req->release = release_user;
}

int ctran_test_cancelled(const ctran_status_t *status, int *flag)
{
    static const char  call[] = "ctran_test_cancelled";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (status == CTRAN_STATUS_IGNORE) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "status is CTRAN_STATUS_IGNORE");
    }
    if (flag == NULL) {
        return ct_check_out(ct_comm_self(p), call, flag, "flag");
    }
    *flag = status->ctran_internal[CT_STATUS_CANCELLED] != 0;
    return CTRAN_SUCCESS;
}
