/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives. */
#define CT_FOLDER "api"
#include "api/api.h"

/* What nearly all are: between two ranks of an intracommunicator, elements of a predefined type in
 * a block of memory, nothing wrong. Then t is as ct_check_transfer makes it, by half of its
 * instructions, which is a tenth of all that a short message takes. False: that has to look. */
static inline bool take_usual(const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                              int peer, int tag, ctran_comm_t handle, enum ct_transfer_mode mode,
                              struct ct_transfer *t)
{
    if (CT_UNLIKELY(ct_api_now() != CT_API_RUNNING)) {
        return false;
    }
    struct ct_process     *p = ct_api_process();
    struct ct_comm        *comm = ct_comm_of(p, handle);
    const struct ct_dtype *type = ct_dtype_get(datatype);
    if (CT_UNLIKELY(comm == NULL || comm->remote != NULL || type == NULL || !type->contiguous ||
                    type->scalar == CT_SCALAR_DERIVED || p->memory_of != NULL)) {
        return false;
    }
    if (CT_UNLIKELY(count < 0 || count > INT32_MAX || tag < 0 || (uint32_t)peer >= comm->group->n ||
                    buf == NULL || buf == CTRAN_IN_PLACE)) {
        return false;
    }
    t->comm = comm;
    t->ep = ct_comm_ep(comm, (uint32_t)peer);
    t->null = false;
    t->mode = mode;
    t->key =
        (struct ct_p2p_key){comm->id, mode == CT_TRANSFER_RECV ? peer : (int)comm->run.me, tag};
    t->type = NULL;
    ct_dtype_describe(type, (void *)buf, (size_t)count, &t->area);
    return CT_LIKELY(t->ep != NULL);
}

static inline int check(const char *call, const void *buf, ctran_count_t count,
                        ctran_datatype_t datatype, int peer, int tag, ctran_comm_t comm,
                        enum ct_transfer_mode mode, struct ct_transfer *t)
{
    return CT_LIKELY(take_usual(buf, count, datatype, peer, tag, comm, mode, t))
               ? CTRAN_SUCCESS
               : ct_check_transfer(call, buf, count, datatype, peer, tag, comm, mode, t);
}

/* The blocking sends. */
static int send(const char *call, const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                int dest, int tag, ctran_comm_t comm, enum ct_transfer_mode mode)
{
    struct ct_transfer t;
    struct ct_p2p_req  req;
    int                rc = check(call, buf, count, datatype, dest, tag, comm, mode, &t);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS || t.null)) {
        return rc;
    }
    if (CT_LIKELY(ct_transfer_at_once(&t))) {
        return CTRAN_SUCCESS;
    }
    ct_transfer_start(&t, &req);
    return ct_api_pass(t.comm, ct_api_wait(call, t.comm, dest, tag, &req.base), call);
}

int ctran_send(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
               ctran_comm_t comm)
{
    return send("ctran_send", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND);
}

int ctran_ssend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                ctran_comm_t comm)
{
    return send("ctran_ssend", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SSEND);
}

/* That the receive is there already opens no shorter way. */
int ctran_rsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                ctran_comm_t comm)
{
    return send("ctran_rsend", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND);
}

int ctran_recv(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source, int tag,
               ctran_comm_t comm, ctran_status_t *status)
{
    static const char  call[] = "ctran_recv";
    struct ct_transfer t;
    struct ct_p2p_req  req;
    int rc = check(call, buf, count, datatype, source, tag, comm, CT_TRANSFER_RECV, &t);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_UNLIKELY(t.null)) {
        ct_api_null_status(status);
        return CTRAN_SUCCESS;
    }
    ct_transfer_start(&t, &req);
    rc = ct_api_wait(call, t.comm, source, tag, &req.base);
    ct_api_status(status, &req.base);
    return ct_api_pass(t.comm, rc, call);
}

/* The nonblocking transfers. */
static int istart(const char *call, const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                  int peer, int tag, ctran_comm_t comm, enum ct_transfer_mode mode,
                  ctran_request_t *request)
{
    struct ct_transfer t;
    int                rc = check(call, buf, count, datatype, peer, tag, comm, mode, &t);
    return CT_LIKELY(rc == CTRAN_SUCCESS) ? ct_transfer_start_user(&t, call, request) : rc;
}

int ctran_isend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                ctran_comm_t comm, ctran_request_t *request)
{
    return istart("ctran_isend", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, request);
}

int ctran_issend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                 ctran_comm_t comm, ctran_request_t *request)
{
    return istart("ctran_issend", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SSEND,
                  request);
}

int ctran_irsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                 ctran_comm_t comm, ctran_request_t *request)
{
    return istart("ctran_irsend", buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, request);
}

int ctran_irecv(void *buf, ctran_count_t count, ctran_datatype_t datatype, int source, int tag,
                ctran_comm_t comm, ctran_request_t *request)
{
    return istart("ctran_irecv", buf, count, datatype, source, tag, comm, CT_TRANSFER_RECV,
                  request);
}
