/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes, and receives of messages that a probe has taken. */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/api.h"

enum { MESSAGE_MAGIC = 0x4d736721 };

/* A message that is out of the line and waits for its receive; it holds comm. */
struct ct_message {
    uint32_t              magic;
    struct ct_comm       *comm;
    struct ct_unexpected *what;
};

static int check(const char *call, int source, int tag, ctran_comm_t handle, struct ct_transfer *t)
{
    int rc = ct_check_comm(call, handle, &t->comm);
    return rc == CTRAN_SUCCESS ? ct_check_key(call, source, tag, true, t) : rc;
}

/* A probe that lasts waits as a receive does. */
struct blocked_probe {
    struct ct_blocked         base;
    const struct ct_transfer *transfer;
};

static void list_probe(struct ct_blocked *base)
{
    const struct ct_transfer  *t = CT_CONTAINER_OF(base, struct blocked_probe, base)->transfer;
    const struct ct_trace_item item = {
        .kind = CT_TRACE_RECV,
        .peer = t->ep != NULL ? (int32_t)t->ep->id : CT_TRACE_ANY_RANK,
        .tag = t->key.tag == CTRAN_ANY_TAG ? -1 : t->key.tag,
        .comm = t->comm->id,
    };
    ct_blocked_item(base, &item);
}

/* A blocking probe. */
static int wait_for_message(const char *call, const struct ct_transfer *t, int source, int tag,
                            struct ct_request *what, struct ct_unexpected **taken)
{
    struct blocked_probe b = {.transfer = t};
    ct_api_block(&b.base, call, t->comm, source, tag);
    b.base.list = list_probe;
    int rc = ct_p2p_probe(t->comm->p, t->ep, &t->key, what, taken);
    ct_blocked_end(&b.base);
    return rc;
}

int ctran_iprobe(int source, int tag, ctran_comm_t comm, int *flag, ctran_status_t *status)
{
    static const char  call[] = "ctran_iprobe";
    struct ct_transfer t;
    struct ct_request  what = {0};
    bool               found;
    int                rc = check(call, source, tag, comm, &t);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(t.comm, call, flag, "flag");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (t.null) {
        *flag = 1;
        ct_api_null_status(status);
        return CTRAN_SUCCESS;
    }
    rc = ct_p2p_iprobe(t.comm->p, t.ep, &t.key, &found, &what, NULL);
    if (rc != CTRAN_SUCCESS) {
        return ct_api_pass(t.comm, rc, call);
    }
    *flag = found;
    if (found) {
        ct_api_status(status, &what);
    }
    return CTRAN_SUCCESS;
}

int ctran_probe(int source, int tag, ctran_comm_t comm, ctran_status_t *status)
{
    static const char  call[] = "ctran_probe";
    struct ct_transfer t;
    struct ct_request  what = {0};
    int                rc = check(call, source, tag, comm, &t);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (t.null) {
        ct_api_null_status(status);
        return CTRAN_SUCCESS;
    }
    rc = wait_for_message(call, &t, source, tag, &what, NULL);
    if (rc == CTRAN_SUCCESS) {
        ct_api_status(status, &what);
    }
    return ct_api_pass(t.comm, rc, call);
}

/* ---- matched probes -------------------------------------------------------------------------- */

/* The object is made before a message is taken: there is no way to put one back. */
static int take(const char *call, struct ct_transfer *t, bool blocking, int source, int tag,
                ctran_message_t *message, ctran_status_t *status, int *flag)
{
    struct ct_process *p = t->comm->p;
    struct ct_message *m = malloc(sizeof *m);
    struct ct_request  what = {0};
    bool               found = blocking;
    if (m == NULL) {
        return ct_api_raise(t->comm, CTRAN_ERR_NO_MEM, call, "for a message");
    }
    *m = (struct ct_message){.magic = MESSAGE_MAGIC, .comm = t->comm};
    int rc = blocking ? wait_for_message(call, t, source, tag, &what, &m->what)
                      : ct_p2p_iprobe(p, t->ep, &t->key, &found, &what, &m->what);
    if (rc != CTRAN_SUCCESS || !found) {
        free(m);
        *flag = rc == CTRAN_SUCCESS ? 0 : *flag;
        return ct_api_pass(t->comm, rc, call);
    }
    ct_comm_hold(t->comm);
    ct_api_status(status, &what);
    *flag = 1;
    *message = m;
    return CTRAN_SUCCESS;
}

static int mprobe(const char *call, bool blocking, int source, int tag, ctran_comm_t comm,
                  int *flag, ctran_message_t *message, ctran_status_t *status)
{
    struct ct_transfer t;
    int                rc = check(call, source, tag, comm, &t);
    if (rc == CTRAN_SUCCESS && (flag == NULL || message == NULL)) {
        rc = ct_check_out(t.comm, call, NULL, flag == NULL ? "flag" : "message");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (t.null) {
        *flag = 1;
        *message = CTRAN_MESSAGE_NO_PROC;
        ct_api_null_status(status);
        return CTRAN_SUCCESS;
    }
    return take(call, &t, blocking, source, tag, message, status, flag);
}

int ctran_mprobe(int source, int tag, ctran_comm_t comm, ctran_message_t *message,
                 ctran_status_t *status)
{
    int flag = 0;
    return mprobe("ctran_mprobe", true, source, tag, comm, &flag, message, status);
}

int ctran_improbe(int source, int tag, ctran_comm_t comm, int *flag, ctran_message_t *message,
                  ctran_status_t *status)
{
    return mprobe("ctran_improbe", false, source, tag, comm, flag, message, status);
}

/* ---- their receives -------------------------------------------------------------------------- */

/* Checks the arguments of a matched receive: *m is the message; NULL for a message from
 * CTRAN_PROC_NULL. */
static int check_receive(const char *call, void *buf, ctran_count_t count,
                         ctran_datatype_t datatype, const ctran_message_t *message,
                         struct ct_transfer *t, struct ct_message **m)
{
    struct ct_process *p = ct_api_enter(call);
    struct ct_span     span;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (message == NULL || *message == CTRAN_MESSAGE_NULL || *message == NULL ||
        (*message != CTRAN_MESSAGE_NO_PROC && (*message)->magic != MESSAGE_MAGIC)) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_REQUEST, call,
                            "the message is null, or was received before");
    }
    t->null = *message == CTRAN_MESSAGE_NO_PROC;
    *m = t->null ? NULL : *message;
    t->comm = t->null ? ct_comm_self(p) : (*m)->comm;
    int rc = ct_check_span(t->comm, call, buf, count, datatype, &span);
    if (rc == CTRAN_SUCCESS) {
        ct_transfer_describe(t, &span);
    }
    return rc;
}

static void start(struct ct_message *m, struct ct_transfer *t, struct ct_p2p_req *req)
{
    struct ct_unexpected *what = m->what;
    m->magic = 0;
    free(m);
    ct_p2p_irecv_message(t->comm->p, req, what, &t->area);
}

int ctran_mrecv(void *buf, ctran_count_t count, ctran_datatype_t datatype, ctran_message_t *message,
                ctran_status_t *status)
{
    static const char  call[] = "ctran_mrecv";
    struct ct_transfer t;
    struct ct_message *m;
    struct ct_p2p_req  req;
    int                rc = check_receive(call, buf, count, datatype, message, &t, &m);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *message = CTRAN_MESSAGE_NULL;
    if (t.null) {
        ct_api_null_status(status);
        return CTRAN_SUCCESS;
    }
    start(m, &t, &req);
    rc = ct_api_wait(call, t.comm, req.key.src, req.key.tag, &req.base);
    ct_api_status(status, &req.base);
    rc = ct_api_pass(t.comm, rc, call);
    ct_comm_drop(t.comm);
    return rc;
}

int ctran_imrecv(void *buf, ctran_count_t count, ctran_datatype_t datatype,
                 ctran_message_t *message, ctran_request_t *request)
{
    static const char  call[] = "ctran_imrecv";
    struct ct_transfer t;
    struct ct_message *m;
    int                rc = check_receive(call, buf, count, datatype, message, &t, &m);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(t.comm, call, request, "request");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (t.null) {
        rc = ct_transfer_start_user(&t, call, request);
        *message = rc == CTRAN_SUCCESS ? CTRAN_MESSAGE_NULL : *message;
        return rc;
    }
    struct ct_p2p_req *req = ct_p2p_req_get(t.comm->p);
    if (req == NULL) {
        return ct_api_raise(t.comm, CTRAN_ERR_NO_MEM, call, "for a request");
    }
    *message = CTRAN_MESSAGE_NULL;
    start(m, &t, req);
    ct_api_adopt(&req->base, t.comm, t.type);
    ct_comm_drop(t.comm); /* the request holds it now */
    *request = &req->base;
    return CTRAN_SUCCESS;
}
