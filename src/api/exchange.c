/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send and a receive at once, blocking and not. A request for both is done with the last of its
 * halves, which are the library's: each releases itself, inside the domain.
 */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/api.h"

/* The arguments of one half. */
struct side {
    const void      *buf;
    ctran_count_t    count;
    ctran_datatype_t type;
    int              peer, tag;
};

static int check_both(const char *call, const struct side *send, const struct side *recv,
                      ctran_comm_t comm, struct ct_transfer *out, struct ct_transfer *in)
{
    int rc = ct_check_transfer(call, send->buf, send->count, send->type, send->peer, send->tag,
                               comm, CT_TRANSFER_SEND, out);
    return rc != CTRAN_SUCCESS
               ? rc
               : ct_check_transfer(call, recv->buf, recv->count, recv->type, recv->peer, recv->tag,
                                   comm, CT_TRANSFER_RECV, in);
}

/* Both halves of an exchange; the receive is there before the message goes out. */
static int exchange(const char *call, struct ct_transfer *out, struct ct_transfer *in, int dest,
                    ctran_status_t *status)
{
    struct ct_p2p_req send, recv;
    int               rc = CTRAN_SUCCESS;
    if (!in->null) {
        ct_transfer_start(in, &recv);
    }
    if (!out->null) {
        ct_transfer_start(out, &send);
        rc = ct_api_wait(call, out->comm, dest, out->key.tag, &send.base);
    }
    if (in->null) {
        ct_api_null_status(status);
    } else {
        int err = ct_api_wait(call, in->comm, in->key.src, in->key.tag, &recv.base);
        ct_api_status(status, &recv.base);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return ct_api_pass(out->comm, rc, call);
}

int ctran_sendrecv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                   int dest, int sendtag, void *recvbuf, ctran_count_t recvcount,
                   ctran_datatype_t recvtype, int source, int recvtag, ctran_comm_t comm,
                   ctran_status_t *status)
{
    static const char  call[] = "ctran_sendrecv";
    struct ct_transfer out, in;
    int                rc =
        check_both(call, &(struct side){sendbuf, sendcount, sendtype, dest, sendtag},
                   &(struct side){recvbuf, recvcount, recvtype, source, recvtag}, comm, &out, &in);
    return rc == CTRAN_SUCCESS ? exchange(call, &out, &in, dest, status) : rc;
}

/* With one buffer, what is sent is a copy of it, to be freed; NULL where nothing can be
 * lost. */
static int check_replace(const char *call, void *buf, ctran_count_t count,
                         ctran_datatype_t datatype, int dest, int sendtag, int source, int recvtag,
                         ctran_comm_t comm, struct ct_transfer *out, struct ct_transfer *in,
                         void **copy)
{
    int rc = check_both(call, &(struct side){buf, count, datatype, dest, sendtag},
                        &(struct side){buf, count, datatype, source, recvtag}, comm, out, in);
    *copy = NULL;
    const size_t len = rc == CTRAN_SUCCESS ? out->area.len_bytes : 0;
    if (rc != CTRAN_SUCCESS || out->null || in->null || len == 0) {
        return rc;
    }
    *copy = malloc(len);
    if (*copy == NULL) {
        return ct_api_raise(out->comm, CTRAN_ERR_NO_MEM, call, "for a copy of %zu bytes", len);
    }
    if (!ct_area_gather_all(&out->area, &(size_t){0}, *copy, len)) {
        free(*copy);
        return ct_api_unreachable(out->comm, call);
    }
    out->area = (struct ct_area){.base = *copy, .len_bytes = len};
    out->type = NULL;
    return CTRAN_SUCCESS;
}

int ctran_sendrecv_replace(void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                           int sendtag, int source, int recvtag, ctran_comm_t comm,
                           ctran_status_t *status)
{
    static const char  call[] = "ctran_sendrecv_replace";
    struct ct_transfer out, in;
    void              *copy;
    int rc = check_replace(call, buf, count, datatype, dest, sendtag, source, recvtag, comm, &out,
                           &in, &copy);
    if (rc == CTRAN_SUCCESS) {
        rc = exchange(call, &out, &in, dest, status);
        free(copy);
    }
    return rc;
}

/* ---- nonblocking ----------------------------------------------------------------------------- */

struct exchange {
    struct ct_request      base; /* first: the user's handle; a status is that of the receive */
    struct ct_p2p_req      send, recv;
    unsigned pending       CT_GUARDED_BY(ct_domain); /* halves */
    const struct ct_dtype *sendtype;                 /* held; NULL: its memory needs none */
    void                  *copy; /* of what is sent, where its buffer is the receive's */
};

/* Outside the domain, or inside where the user let go of it. */
static void release(struct ct_process *p, struct ct_request *base)
{
    struct exchange       *x = CT_CONTAINER_OF(base, struct exchange, base);
    struct ct_comm        *comm = base->owner;
    const struct ct_dtype *type = base->type;
    (void)p;
    base->magic = 0;
    if (x->sendtype != NULL) {
        ct_dtype_drop(x->sendtype);
    }
    free(x->copy);
    free(x);
    ct_api_disown(comm, type);
}

/* Takes over what the receive says, and the first error. */
static void conclude(struct exchange *x)
{
    const struct ct_request *recv = &x->recv.base, *send = &x->send.base;
    x->base.source = recv->source;
    x->base.tag = recv->tag;
    x->base.len_bytes = recv->len_bytes;
    x->base.error = send->error != CTRAN_SUCCESS ? send->error : recv->error;
}

/* One half is done. */
static void half_done(struct ct_process *p, struct exchange *x) CT_IN_DOMAIN
{
    if (--x->pending == 0) {
        conclude(x);
        ct_request_complete(p, &x->base);
    }
}

static void release_send(struct ct_process *p, struct ct_request *half) CT_IN_DOMAIN
{
    half_done(p, CT_CONTAINER_OF(half, struct exchange, send.base));
}

static void release_recv(struct ct_process *p, struct ct_request *half) CT_IN_DOMAIN
{
    half_done(p, CT_CONTAINER_OF(half, struct exchange, recv.base));
}

static void start_half(struct ct_transfer *t, struct ct_p2p_req *req)
{
    if (!t->null) {
        ct_transfer_start(t, req);
        return;
    }
    req->base = (struct ct_request){.source = CTRAN_PROC_NULL, .tag = CTRAN_ANY_TAG};
    ct_request_set_done(&req->base, true);
}

/* Those that are not done yet become the library's. */
static void watch_halves(struct ct_process *p, struct exchange *x)
{
    struct ct_request *halves[] = {&x->send.base, &x->recv.base};
    x->send.base.release = release_send;
    x->recv.base.release = release_recv;
    ct_domain_enter(p);
    for (size_t i = 0; i < CT_ARRAY_LEN(halves); i++) {
        halves[i]->orphan = !ct_request_is_done(halves[i]);
        x->pending += halves[i]->orphan;
    }
    if (x->pending == 0) {
        conclude(x);
        ct_request_set_done(&x->base, true);
    }
    ct_domain_leave(p);
}

/* `copy` becomes the request's. */
static int iexchange(const char *call, struct ct_transfer *out, struct ct_transfer *in, void *copy,
                     ctran_request_t *request)
{
    struct exchange *x = calloc(1, sizeof *x);
    if (x == NULL) {
        free(copy);
        return ct_api_raise(out->comm, CTRAN_ERR_NO_MEM, call, "for a request");
    }
    x->copy = copy;
    x->sendtype = out->null ? NULL : out->type;
    if (x->sendtype != NULL) {
        ct_dtype_hold(x->sendtype);
    }
    ct_api_adopt(&x->base, out->comm, in->null ? NULL : in->type);
    x->base.magic = CT_REQUEST_MAGIC;
    x->base.release = release;
    start_half(in, &x->recv); /* before the message goes out that may be its answer's cause */
    start_half(out, &x->send);
    watch_halves(out->comm->p, x);
    *request = &x->base;
    return CTRAN_SUCCESS;
}

int ctran_isendrecv(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                    int dest, int sendtag, void *recvbuf, ctran_count_t recvcount,
                    ctran_datatype_t recvtype, int source, int recvtag, ctran_comm_t comm,
                    ctran_request_t *request)
{
    static const char  call[] = "ctran_isendrecv";
    struct ct_transfer out, in;
    int                rc =
        check_both(call, &(struct side){sendbuf, sendcount, sendtype, dest, sendtag},
                   &(struct side){recvbuf, recvcount, recvtype, source, recvtag}, comm, &out, &in);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(out.comm, call, request, "request");
    }
    return rc == CTRAN_SUCCESS ? iexchange(call, &out, &in, NULL, request) : rc;
}

int ctran_isendrecv_replace(void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest,
                            int sendtag, int source, int recvtag, ctran_comm_t comm,
                            ctran_request_t *request)
{
    static const char  call[] = "ctran_isendrecv_replace";
    struct ct_transfer out, in;
    struct ct_comm    *c;
    void              *copy;
    int                rc = ct_check_comm_for(call, comm, &c, request, "request");
    if (rc == CTRAN_SUCCESS) {
        rc = check_replace(call, buf, count, datatype, dest, sendtag, source, recvtag, comm, &out,
                           &in, &copy);
    }
    return rc == CTRAN_SUCCESS ? iexchange(call, &out, &in, copy, request) : rc;
}
