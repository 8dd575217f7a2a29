/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests (MPI-4.1 sec. 13.2): operations that the program does by itself, with a
 * request that waits and tests know. Its functions are called without any lock: query each time
 * that a status is asked for, free once, after the last of completion and the user's letting go.
 */
#define CT_FOLDER "api"
#include <inttypes.h>
#include <stdlib.h>

#include "api/api.h"

struct grequest {
    struct ct_request               base; /* first: the user's handle */
    struct ct_process              *p;
    ctran_grequest_query_function  *query;
    ctran_grequest_free_function   *free;
    ctran_grequest_cancel_function *cancel;
    void                           *extra;
};

static struct grequest *of(struct ct_request *base)
{
    return CT_CONTAINER_OF(base, struct grequest, base);
}

static int query(struct ct_request *base, ctran_status_t *status)
{
    return of(base)->query != NULL ? of(base)->query(of(base)->extra, status) : CTRAN_SUCCESS;
}

static int cancel(struct ct_request *base)
{
    return of(base)->cancel != NULL ? of(base)->cancel(of(base)->extra, ct_request_is_done(base))
                                    : CTRAN_SUCCESS;
}

int ct_grequest_end(struct ct_request *base)
{
    struct grequest *g = of(base);
    base->magic = 0;
    const int error = g->free != NULL ? g->free(g->extra) : CTRAN_SUCCESS;
    free(g);
    return error;
}

/* Frees a request without reporting errors, as there is no caller left. */
static void release(struct ct_process *p, struct ct_request *base)
{
    (void)p;
    (void)ct_grequest_end(base);
}

int ctran_grequest_start(ctran_grequest_query_function  *query_fn,
                         ctran_grequest_free_function   *free_fn,
                         ctran_grequest_cancel_function *cancel_fn, void *extra_state,
                         ctran_request_t *request)
{
    static const char  call[] = "ctran_grequest_start";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (request == NULL) {
        return ct_check_out(ct_comm_self(p), call, request, "request");
    }
    struct grequest *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for a request");
    }
    *g = (struct grequest){
        .base = {.magic = CT_REQUEST_MAGIC, .release = release, .cancel = cancel, .query = query},
        .p = p,
        .query = query_fn,
        .free = free_fn,
        .cancel = cancel_fn,
        .extra = extra_state,
    };
    *request = &g->base;
    return CTRAN_SUCCESS;
}

/* Completion would release what the user let go of inside the domain: its function is called
 * afterwards instead. */
static void complete(struct grequest *g)
{
    struct ct_process *p = g->p;
    ct_domain_enter(p);
    const bool orphan = g->base.orphan;
    g->base.orphan = false;
    ct_request_complete(p, &g->base);
    ct_domain_poll_ends(p);
    ct_domain_leave(p);
    if (orphan) {
        release(p, &g->base);
    }
}

int ctran_grequest_complete(ctran_request_t request)
{
    static const char  call[] = "ctran_grequest_complete";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if ((uintptr_t)request < 0x1000 || (uintptr_t)request % _Alignof(struct ct_request) != 0 ||
        request == CTRAN_REQUEST_NULL || request->magic != CT_REQUEST_MAGIC ||
        request->release != release) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call,
                            "it is no request of ctran_grequest_start");
    }
    if (ct_request_is_done(request)) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call, "it was completed before");
    }
    complete(of(request));
    return CTRAN_SUCCESS;
}

int ctran_status_set_elements(ctran_status_t *status, ctran_datatype_t datatype,
                              ctran_count_t count)
{
    static const char      call[] = "ctran_status_set_elements";
    const struct ct_dtype *type;
    struct ct_comm        *self;
    size_t                 bytes;
    int                    rc = ct_check_own_type(call, datatype, &self, &type);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (status == CTRAN_STATUS_IGNORE) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "status is CTRAN_STATUS_IGNORE");
    }
    if (count < 0 || !ct_dtype_bytes_of_elems(type, (size_t)count, &bytes) || bytes > INT64_MAX) {
        return ct_api_raise(self, CTRAN_ERR_COUNT, call,
                            "count is %" PRId64 ", must be a number of basic elements of %s that "
                            "memory can hold",
                            count, type->name);
    }
    const int64_t stored = (int64_t)bytes;
    memcpy(status->ctran_internal, &stored, sizeof stored);
    return CTRAN_SUCCESS;
}

int ctran_status_set_cancelled(ctran_status_t *status, int flag)
{
    static const char  call[] = "ctran_status_set_cancelled";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (status == CTRAN_STATUS_IGNORE) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "status is CTRAN_STATUS_IGNORE");
    }
    status->ctran_internal[CT_STATUS_CANCELLED] = flag != 0;
    return CTRAN_SUCCESS;
}
