/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends, and their buffer. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_buffer_attach(void *buffer, ctran_count_t size)
{
    static const char  call[] = "ctran_buffer_attach";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (size < 0) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "size is %lld, must be >= 0",
                            (long long)size);
    }
    if (ct_p2p_buffer_attach(p, buffer, (size_t)size) != CTRAN_SUCCESS) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_BUFFER, call, "%s",
                            buffer == NULL ? "it is NULL" : "another one is attached");
    }
    return CTRAN_SUCCESS;
}

int ctran_buffer_detach(void *buffer_addr, ctran_count_t *size)
{
    static const char  call[] = "ctran_buffer_detach";
    struct ct_process *p = ct_api_enter(call);
    void              *base;
    size_t             size_bytes;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if (ct_p2p_buffer_detach(p, &base, &size_bytes) != CTRAN_SUCCESS) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_BUFFER, call, "no buffer is attached");
    }
    memcpy(buffer_addr, &base, sizeof base);
    *size = (ctran_count_t)size_bytes;
    return CTRAN_SUCCESS;
}

/* Checks and sends; a peer that is nobody takes no room. */
static int bsend(const char *call, const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                 int dest, int tag, ctran_comm_t comm, struct ct_transfer *t)
{
    int rc = ct_check_transfer(call, buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, t);
    if (rc != CTRAN_SUCCESS || t->null) {
        return rc;
    }
    if (ct_p2p_bsend(t->comm->p, t->ep, t->key, &t->area) != CTRAN_SUCCESS) {
        return ct_api_raise(t->comm, CTRAN_ERR_BUFFER, call,
                            "the attached buffer has no room for %zu bytes and "
                            "CTRAN_BSEND_OVERHEAD (see ctran_buffer_attach)",
                            t->area.len_bytes);
    }
    return CTRAN_SUCCESS;
}

int ctran_bsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                ctran_comm_t comm)
{
    struct ct_transfer t;
    return bsend("ctran_bsend", buf, count, datatype, dest, tag, comm, &t);
}

/* Done when it returns, like the blocking form: the request is one for form's sake. */
int ctran_ibsend(const void *buf, ctran_count_t count, ctran_datatype_t datatype, int dest, int tag,
                 ctran_comm_t comm, ctran_request_t *request)
{
    static const char  call[] = "ctran_ibsend";
    struct ct_transfer t;
    ctran_request_t    done;
    int rc = ct_check_transfer(call, buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, &t);
    rc = rc == CTRAN_SUCCESS ? ct_check_out(t.comm, call, request, "request") : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_transfer nobody = t;
    nobody.null = true;
    rc = ct_transfer_start_user(&nobody, call, &done);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = bsend(call, buf, count, datatype, dest, tag, comm, &t);
    if (rc != CTRAN_SUCCESS) {
        done->release(t.comm->p, done);
        return rc;
    }
    *request = done;
    return CTRAN_SUCCESS;
}
