/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests: a transfer whose arguments are checked once and which is started again and
 * again. Between completion and start it is inactive; see struct ct_request.
 */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/api.h"

struct persistent {
    struct ct_p2p_req  req; /* first: the user's handle points here */
    struct ct_transfer t;
    bool               buffered;
};

static void release(struct ct_process *p, struct ct_request *base)
{
    struct persistent *r = CT_CONTAINER_OF(base, struct persistent, req.base);
    (void)p;
    base->magic = 0;
    ct_api_disown(base->owner, base->type);
    free(r);
}

/* Completes a request that has nothing left to do: the peer is CTRAN_PROC_NULL, or the message is
 * in the buffer. */
static void finish(struct ct_request *base)
{
    ct_request_set_done(base, true);
    base->cancelled = false;
    base->error = CTRAN_SUCCESS;
    base->source = CTRAN_PROC_NULL;
    base->tag = CTRAN_ANY_TAG;
    base->len_bytes = 0;
}

static int start(struct ct_process *p, struct ct_request *base)
{
    struct persistent *r = CT_CONTAINER_OF(base, struct persistent, req.base);
    int                rc = CTRAN_SUCCESS;
    if (r->t.null) {
        finish(base);
    } else if (r->buffered) {
        uint64_t owners[CT_BUFFER_OWNERS];
        ct_api_buffer_owners(r->t.comm, owners);
        rc = ct_p2p_bsend(p, owners, r->t.ep, r->t.key, &r->t.area);
        finish(base);
    } else {
        ct_transfer_start(&r->t, &r->req);
    }
    base->inactive = rc != CTRAN_SUCCESS;
    return rc;
}

static int init(const char *call, const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                int peer, int tag, ctran_comm_t comm, enum ct_transfer_mode mode, bool buffered,
                ctran_request_t *request)
{
    struct ct_transfer t;
    int rc = ct_check_transfer(call, buf, count, datatype, peer, tag, comm, mode, &t);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(t.comm, call, request, "request") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct persistent *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return ct_api_raise(t.comm, CTRAN_ERR_NO_MEM, call, "for a request");
    }
    r->t = t;
    r->buffered = buffered;
    finish(&r->req.base);
    ct_api_adopt(&r->req.base, t.comm, t.type);
    r->req.base.magic = CT_REQUEST_MAGIC;
    r->req.base.release = release;
    r->req.base.cancel = ct_p2p_req_cancel;
    r->req.base.start = start;
    r->req.base.inactive = true;
    *request = &r->req.base;
    return CTRAN_SUCCESS;
}

int ctran_send_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                    int tag, ctran_comm_t comm, ctran_request_t *request)
{
    return init("ctran_send_init", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, false,
                request);
}

int ctran_bsend_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                     int tag, ctran_comm_t comm, ctran_request_t *request)
{
    return init("ctran_bsend_init", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, true,
                request);
}

int ctran_ssend_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                     int tag, ctran_comm_t comm, ctran_request_t *request)
{
    return init("ctran_ssend_init", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SSEND, false,
                request);
}

int ctran_rsend_init(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                     int tag, ctran_comm_t comm, ctran_request_t *request)
{
    return init("ctran_rsend_init", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, false,
                request);
}

int ctran_recv_init(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source, int tag,
                    ctran_comm_t comm, ctran_request_t *request)
{
    return init("ctran_recv_init", buf, count, datatype, source, tag, comm, CT_TRANSFER_RECV, false,
                request);
}

/* ---- starting -------------------------------------------------------------------------------- */

static int check_startable(struct ct_process *p, const char *call, ctran_request_t r, int i)
{
    if (r == CTRAN_REQUEST_NULL || (uintptr_t)r < 0x1000 || r->magic != CT_REQUEST_MAGIC ||
        r->start == NULL || !r->inactive) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call,
                            "number %d is not persistent, or was started and not completed", i);
    }
    return CTRAN_SUCCESS;
}

static int start_all(const char *call, int count, ctran_request_t requests[])
{
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (count < 0) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_COUNT, call, "count is %d, must be >= 0",
                            count);
    }
    if (count > 0 && requests == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call, "there are %d, at NULL",
                            count);
    }
    for (int i = 0; i < count; i++) {
        int rc = check_startable(p, call, requests[i], i);
        if (rc != CTRAN_SUCCESS) {
            return rc;
        }
        rc = requests[i]->start(p, requests[i]);
        if (rc != CTRAN_SUCCESS) {
            return ct_api_pass(requests[i]->owner, rc, call);
        }
    }
    return CTRAN_SUCCESS;
}

int ctran_start(ctran_request_t *request)
{
    return start_all("ctran_start", 1, request);
}

int ctran_startall(int count, ctran_request_t requests[])
{
    return start_all("ctran_startall", count, requests);
}
