/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move one block for each rank: their arguments. */
#define CT_FOLDER "api"
#include "api/api.h"

/* The buffer that holds a block of each rank. */
static int check_whole(struct ct_comm *comm, const char *call, const void *buf, ctran_count_t count,
                       ctran_datatype_t datatype, struct ct_span *block)
{
    int rc = ct_check_span(comm, call, buf, count, datatype, block);
    return rc == CTRAN_SUCCESS ? ct_check_blocks(comm, call, block) : rc;
}

/* The buffer with this rank's part of a call whose other buffer is `whole`: as many bytes, or in
 * place. *buf becomes NULL in place. */
static int check_part(struct ct_comm *comm, const char *call, const void **buf, ctran_count_t count,
                      ctran_datatype_t datatype, const struct ct_span *whole)
{
    struct ct_span part;
    if (*buf == CTRAN_IN_PLACE) {
        *buf = NULL;
        return CTRAN_SUCCESS;
    }
    int rc = ct_check_span(comm, call, *buf, count, datatype, &part);
    if (rc == CTRAN_SUCCESS && part.bytes != whole->bytes) {
        rc = ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                          "a block sent has %zu bytes and one received %zu, or the reverse: they "
                          "must be equal",
                          part.bytes, whole->bytes);
    }
    return rc;
}

int ctran_allgather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                    void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                    ctran_comm_t handle)
{
    static const char call[] = "ctran_allgather";
    struct ct_comm   *comm;
    struct ct_span    recv;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_all(comm, call, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_whole(comm, call, recvbuf, recvcount, recvtype, &recv);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_part(comm, call, &sendbuf, sendcount, sendtype, &recv);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return ct_api_pass(comm, ct_coll_allgather(comm, sendbuf, recvbuf, recv.bytes), call);
}

int ctran_gather(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                 void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                 ctran_comm_t handle)
{
    static const char call[] = "ctran_gather";
    struct ct_comm   *comm;
    struct ct_span    block;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {.buf = sendbuf, .count = sendcount, .type = sendtype};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_rooted(comm, call, &in, &out, false, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((uint32_t)root != comm->run.me) {
        rc = ct_check_span(comm, call, sendbuf, sendcount, sendtype, &block);
    } else {
        rc = check_whole(comm, call, recvbuf, recvcount, recvtype, &block);
        if (rc == CTRAN_SUCCESS) {
            rc = check_part(comm, call, &sendbuf, sendcount, sendtype, &block);
        }
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_gather(comm, sendbuf, recvbuf, block.bytes, (uint32_t)root);
    return ct_api_pass(comm, rc, call);
}

int ctran_scatter(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                  void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype, int root,
                  ctran_comm_t handle)
{
    static const char call[] = "ctran_scatter";
    struct ct_comm   *comm;
    struct ct_span    block;
    const void       *own = recvbuf;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {
            .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
        const struct ct_side in = {.buf = recvbuf, .count = recvcount, .type = recvtype};
        return ct_inter_rooted(comm, call, &out, &in, true, root);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_root(comm, call, root);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if ((uint32_t)root != comm->run.me) {
        rc = ct_check_span(comm, call, recvbuf, recvcount, recvtype, &block);
    } else {
        rc = check_whole(comm, call, sendbuf, sendcount, sendtype, &block);
        if (rc == CTRAN_SUCCESS) {
            rc = check_part(comm, call, &own, recvcount, recvtype, &block);
        }
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_coll_scatter(comm, sendbuf, (void *)own, block.bytes, (uint32_t)root);
    return ct_api_pass(comm, rc, call);
}

int ctran_alltoall(const void *sendbuf, ctran_count_t sendcount, ctran_datatype_t sendtype,
                   void *recvbuf, ctran_count_t recvcount, ctran_datatype_t recvtype,
                   ctran_comm_t handle)
{
    static const char call[] = "ctran_alltoall";
    struct ct_comm   *comm;
    struct ct_span    recv;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        const struct ct_side out = {
            .buf = sendbuf, .count = sendcount, .type = sendtype, .each = true};
        const struct ct_side in = {
            .buf = recvbuf, .count = recvcount, .type = recvtype, .each = true};
        return ct_inter_all(comm, call, &out, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_whole(comm, call, recvbuf, recvcount, recvtype, &recv);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_part(comm, call, &sendbuf, sendcount, sendtype, &recv);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return ct_api_pass(comm, ct_coll_alltoall(comm, sendbuf, recvbuf, recv.bytes), call);
}
