/* SPDX-License-Identifier: BSD-3-Clause */
/* A transfer from its arguments to a started operation: what all point-to-point calls share. */
#define CT_FOLDER "api"
#include "api/api.h"

static int check_peer(const char *call, int rank, bool is_recv, struct ct_transfer *t)
{
    t->ep = NULL;
    t->null = rank == CTRAN_PROC_NULL;
    if (t->null || (is_recv && rank == CTRAN_ANY_SOURCE)) {
        return CTRAN_SUCCESS;
    }
    const uint32_t n = ct_comm_peers(t->comm)->n;
    if (CT_UNLIKELY(rank < 0 || (uint32_t)rank >= n)) {
        return ct_api_raise(t->comm, CTRAN_ERR_RANK, call, "rank is %d, the %s has ranks 0 to %u",
                            rank, t->comm->remote != NULL ? "remote group" : "communicator", n - 1);
    }
    t->ep = ct_comm_ep(t->comm, (uint32_t)rank);
    return t->ep != NULL ? CTRAN_SUCCESS
                         : ct_api_raise(t->comm, CTRAN_ERR_NO_MEM, call, "for an endpoint");
}

int ct_check_key(const char *call, int peer, int tag, bool is_recv, struct ct_transfer *t)
{
    int rc = check_peer(call, peer, is_recv, t);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS)) {
        return rc;
    }
    if (CT_UNLIKELY(tag < 0 && !(is_recv && tag == CTRAN_ANY_TAG))) {
        return ct_api_raise(t->comm, CTRAN_ERR_TAG, call, "tag is %d, must be 0 to %d%s", tag,
                            CTRAN_TAG_MAX, is_recv ? " or CTRAN_ANY_TAG" : "");
    }
    t->key = (struct ct_p2p_key){t->comm->id, is_recv ? peer : (int)t->comm->run.me, tag};
    return CTRAN_SUCCESS;
}

/* That of the first block which is not plain. */
static const struct ct_memory *memory_among(struct ct_process *p, const struct ct_area *area)
{
    enum { FEW = 16 };
    const struct ct_memory *memory = NULL;
    struct iovec            blocks[FEW];
    unsigned                n;
    size_t                  pos = 0;
    while (memory == NULL && ct_area_next(area, &pos, SIZE_MAX, blocks, FEW, &n) > 0) {
        for (unsigned i = 0; i < n && memory == NULL; i++) {
            memory = p->memory_of(p, blocks[i].iov_base);
        }
    }
    return memory;
}

void ct_span_find_memory(struct ct_process *p, const struct ct_dtype *type, struct ct_area *area)
{
    struct iovec first;
    unsigned     n;
    if (ct_type_is_absolute(type)) {
        ct_area_set_memory(area, memory_among(p, area));
    } else if (ct_area_next(area, &(size_t){0}, 1, &first, 1, &n) > 0) {
        ct_area_set_memory(area, p->memory_of(p, first.iov_base));
    }
}

int ct_api_unreachable(struct ct_comm *comm, const char *call)
{
    return ct_api_raise(comm, CTRAN_ERR_BUFFER, call,
                        "memory of the program could not be copied (was it freed?): see the log");
}

void ct_transfer_describe(struct ct_transfer *t, const struct ct_span *span)
{
    ct_span_describe(t->comm->p, span, &t->area);
    t->type = CT_LIKELY(t->area.pieces == NULL) ? NULL : span->type;
}

int ct_check_transfer(const char *call, const void *buf, ctran_count_t count,
                      ctran_datatype_t datatype, int peer, int tag, ctran_comm_t handle,
                      enum ct_transfer_mode mode, struct ct_transfer *t)
{
    struct ct_span span;
    int            rc = ct_check_comm(call, handle, &t->comm);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        rc = ct_check_span(t->comm, call, buf, count, datatype, &span);
    }
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        rc = ct_check_key(call, peer, tag, mode == CT_TRANSFER_RECV, t);
    }
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        t->mode = mode;
        ct_transfer_describe(t, &span);
    }
    return rc;
}

/* Calls by name, not by what a condition gives: those are made where they stand. */
void ct_transfer_start(struct ct_transfer *t, struct ct_p2p_req *req)
{
    struct ct_process *p = t->comm->p;
    if (t->mode == CT_TRANSFER_RECV) {
        ct_p2p_irecv(p, req, t->ep, t->key, &t->area);
    } else if (t->mode == CT_TRANSFER_SSEND) {
        ct_p2p_issend(p, req, t->ep, t->key, &t->area);
    } else {
        ct_p2p_isend(p, req, t->ep, t->key, &t->area);
    }
}

/* Starts a transfer for a request that the program holds. */
static void start_request(struct ct_transfer *t, struct ct_p2p_req *req)
{
    if (t->mode == CT_TRANSFER_RECV && t->ep == NULL) {
        ct_p2p_irecv_any(t->comm->p, req, t->key, &t->area);
    } else {
        ct_transfer_start(t, req);
    }
}

void ct_api_null_status(ctran_status_t *status)
{
    if (status != CTRAN_STATUS_IGNORE) {
        const int error = status->CTRAN_ERROR; /* which calls with one status leave alone */
        ct_api_status(status, NULL);
        status->CTRAN_SOURCE = CTRAN_PROC_NULL;
        status->CTRAN_ERROR = error;
    }
}

bool ct_transfer_at_once(const struct ct_transfer *t)
{
    return t->mode == CT_TRANSFER_SEND && ct_p2p_send_now(t->comm->p, t->ep, t->key, &t->area);
}

int ct_transfer_start_user(struct ct_transfer *t, const char *call, ctran_request_t *request)
{
    struct ct_request *base;
    if (CT_UNLIKELY(request == NULL)) {
        return ct_check_out(t->comm, call, request, "request");
    }
    if (CT_LIKELY(!t->null) && ct_transfer_at_once(t)) {
        *request = ct_p2p_sent(t->comm->p);
        return CTRAN_SUCCESS;
    }
    if (CT_UNLIKELY(t->null)) {
        base = ct_api_null_request(t->comm->p);
    } else {
        struct ct_p2p_req *req = ct_p2p_req_get(t->comm->p);
        base = req != NULL ? &req->base : NULL;
        if (req != NULL) {
            start_request(t, req);
        }
    }
    if (base == NULL) {
        return ct_api_raise(t->comm, CTRAN_ERR_NO_MEM, call, "for a request");
    }
    ct_api_adopt(base, t->comm, t->null ? NULL : t->type);
    *request = base;
    return CTRAN_SUCCESS;
}
