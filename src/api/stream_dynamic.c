/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream-ordered alltoallv whose counts only the GPU knows. */
#define CT_FOLDER "api"

#include "api/stream.h"
#include "gpu/kernels.h"

_Static_assert(sizeof(ctran_count_t) == sizeof(int64_t) && sizeof(ctran_aint_t) == sizeof(int64_t),
               "kernels read counts and displacements of 64 bits");

/* Buffers, and their type. */
static int check_buffers(struct ct_comm *comm, const char *call, const struct ct_span *send,
                         const struct ct_span *recv)
{
    if (send->type->size_bytes == 0) {
        return ct_api_raise(comm, CTRAN_ERR_TYPE, call, "elements of the datatype have no bytes");
    }
    int rc = ct_check_dense(comm, call, send);
    rc = rc == CTRAN_SUCCESS ? ct_check_dense(comm, call, recv) : rc;
    return rc == CTRAN_SUCCESS ? ct_check_disjoint(comm, call, send, recv) : rc;
}

/* Blocks of the kernel read what says what to send while others already say what has come. */
static int check_apart(struct ct_comm *comm, const char *call, const void *recvcounts,
                       const struct ct_kernel_dynamic *d)
{
    const size_t each = comm->run.n * sizeof(ctran_count_t);
    const struct {
        const char *name;
        const void *at;
        size_t      bytes;
    } all[] = {{"sendcounts", d->send_counts, each},
               {"sdispls", d->send_displs, each},
               {"rdispls", d->recv_displs, each},
               {"sindices", d->send_indices, d->indices * sizeof(ctran_count_t)},
               {"sendbuf", d->send, d->send_bytes},
               {"recvbuf", d->recv, d->recv_bytes}};
    const uintptr_t counts = (uintptr_t)recvcounts;
    for (size_t i = 0; i < CT_ARRAY_LEN(all); i++) {
        const uintptr_t at = (uintptr_t)all[i].at;
        if (at != 0 && all[i].bytes > 0 && at < counts + each && counts < at + all[i].bytes) {
            return ct_api_raise(comm, CTRAN_ERR_BUFFER, call,
                                "recvcounts overlaps %s: give it memory of its own", all[i].name);
        }
    }
    return CTRAN_SUCCESS;
}

static int check_arrays(struct ct_comm *comm, const char *call, const void *sendcounts,
                        const void *recvcounts, const void *indices, ctran_count_t nindices,
                        size_t elem_bytes)
{
    int64_t bytes;
    if (sendcounts == NULL || recvcounts == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                            "%s is NULL: give an array of a count for each rank, in memory that "
                            "the GPU reaches",
                            sendcounts == NULL ? "sendcounts" : "recvcounts");
    }
    if (indices == NULL) {
        return CTRAN_SUCCESS;
    }
    if (nindices < 0 || __builtin_mul_overflow(nindices, (int64_t)elem_bytes, &bytes)) {
        return ct_api_raise(comm, CTRAN_ERR_COUNT, call,
                            "nindices is %lld: give the number of elements of sindices",
                            (long long)nindices);
    }
    return CTRAN_SUCCESS;
}

int ctran_alltoallv_dynamic_enqueue(const void *sendbuf, ctran_count_t sendsize,
                                    const ctran_count_t sendcounts[], const ctran_aint_t sdispls[],
                                    const ctran_count_t sindices[], ctran_count_t nindices,
                                    void *recvbuf, ctran_count_t recvsize,
                                    ctran_count_t recvcounts[], const ctran_aint_t rdispls[],
                                    ctran_datatype_t datatype, ctran_comm_t comm,
                                    ctran_stream_t stream)
{
    static const char call[] = "ctran_alltoallv_dynamic_enqueue";
    struct ct_comm   *c;
    struct ct_span    send, recv;
    int               rc = ct_check_intra(call, comm, &c);
    rc = rc == CTRAN_SUCCESS ? ct_check_span(c, call, sendbuf, sendsize, datatype, &send) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_check_span(c, call, recvbuf, recvsize, datatype, &recv) : rc;
    rc = rc == CTRAN_SUCCESS ? check_buffers(c, call, &send, &recv) : rc;
    rc = rc == CTRAN_SUCCESS ? check_arrays(c, call, sendcounts, recvcounts, sindices, nindices,
                                            send.type->size_bytes)
                             : rc;
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_kernel_dynamic what = {.send = ct_dense_begin(send.buf, &send),
                                           .recv = ct_dense_begin(recv.buf, &recv),
                                           .elem_bytes = send.type->size_bytes,
                                           .send_bytes = send.bytes,
                                           .recv_bytes = recv.bytes,
                                           .send_counts = sendcounts,
                                           .send_displs = sdispls,
                                           .send_indices = sindices,
                                           .indices = sindices != NULL ? (uint64_t)nindices : 0,
                                           .recv_counts = recvcounts,
                                           .recv_displs = rdispls};
    rc = check_apart(c, call, recvcounts, &what);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_stream_call one = {.name = call, .kind = CT_STREAM_DYNAMIC, .dynamic = &what};
    return ct_api_pass(c, ct_stream_enqueue(c, stream, &one), call);
}
