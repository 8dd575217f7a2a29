/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of bottom_calls.def that need others around them. */
#include "bottom.h"

#include "device.h"

static ctran_message_t probed(const struct args *a)
{
    ctran_message_t message;
    OK(ctran_mprobe(a->left, 0, a->comm, &message, CTRAN_STATUS_IGNORE));
    return message;
}

int hand_mrecv(struct args *a)
{
    ctran_message_t message = probed(a);
    return ctran_mrecv(a->recv.buf, a->recv.count, a->recv.type, &message, CTRAN_STATUS_IGNORE);
}

int hand_imrecv(struct args *a)
{
    ctran_message_t message = probed(a);
    return ctran_imrecv(a->recv.buf, a->recv.count, a->recv.type, &message, &a->request);
}

/* Each block as partitions: of one element to send, all in one to receive. */
int hand_partitioned(struct args *a)
{
    ctran_request_t both[2];
    const int       n = (int)a->send.count;
    OK(ctran_psend_init(a->send.buf, n, 1, a->send.type, a->right, 0, a->comm, CTRAN_INFO_NULL,
                        &both[0]));
    OK(ctran_precv_init(a->recv.buf, 1, a->recv.count, a->recv.type, a->left, 0, a->comm,
                        CTRAN_INFO_NULL, &both[1]));
    OK(ctran_startall(2, both));
    for (int i = n - 1; i >= 0; i--) {
        OK(ctran_pready(i, both[0]));
    }
    OK(ctran_waitall(2, both, CTRAN_STATUSES_IGNORE));
    OK(ctran_request_free(&both[0]));
    OK(ctran_request_free(&both[1]));
    return CTRAN_SUCCESS;
}

int hand_enqueue(struct args *a)
{
    OK(ctran_group_start());
    OK(ctran_send_enqueue(a->send.buf, a->send.count, a->send.type, a->right, 0, a->comm,
                          a->stream));
    OK(ctran_recv_enqueue(a->recv.buf, a->recv.count, a->recv.type, a->left, 0, a->comm,
                          a->stream));
    return ctran_group_end();
}

/* Counts are in memory of the device; displacements are those of blocks one after the other. */
int hand_dynamic(struct args *a)
{
    const int      n = a->team->n;
    const size_t   bytes = (size_t)n * sizeof(ctran_count_t);
    static char   *counts;
    ctran_count_t *came, *sent;
    if (counts == NULL) {
        counts = mem_new(DEVICE, 2 * PEERS * sizeof(ctran_count_t));
    }
    sent = (ctran_count_t *)counts;
    came = sent + PEERS;
    mem_put(DEVICE, sent, a->send.counts, bytes);
    return ctran_alltoallv_dynamic_enqueue(a->send.buf, a->send.count * n, sent, NULL, NULL, 0,
                                           a->recv.buf, a->recv.count * n, came, NULL, a->recv.type,
                                           a->comm, a->stream);
}
