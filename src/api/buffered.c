/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered sends. */
#define CT_FOLDER "api"
#include "api/api.h"

/* Checks and sends; a message to CTRAN_PROC_NULL takes no room in the buffer. */
static int bsend(const char *call, const void *buf, ctran_count_t count, ctran_datatype_t datatype,
                 int dest, int tag, ctran_comm_t comm, struct ct_transfer *t)
{
    uint64_t owners[CT_BUFFER_OWNERS];
    int rc = ct_check_transfer(call, buf, count, datatype, dest, tag, comm, CT_TRANSFER_SEND, t);
    if (rc != CTRAN_SUCCESS || t->null) {
        return rc;
    }
    ct_api_buffer_owners(t->comm, owners);
    rc = ct_p2p_bsend(t->comm->p, owners, t->ep, t->key, &t->area);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        return rc;
    }
    if (rc == CTRAN_ERR_OTHER) {
        return ct_api_unreachable(t->comm, call);
    }
    return ct_api_raise(t->comm, rc, call,
                        rc == CTRAN_ERR_NO_MEM
                            ? "for a copy of %zu bytes"
                            : "the buffer of the communicator, its session or the process has no "
                              "room for %zu bytes and CTRAN_BSEND_OVERHEAD, or there is none: see "
                              "ctran_buffer_attach",
                        t->area.len_bytes);
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
