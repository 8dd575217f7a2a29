/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_cancel - a request's status without completing it, and cancelling: a receive without its
 * message ends and leaves the message to others; nothing else does. Run by p2p.c.
 */
#include "foreign.h"
#include "p2p.h"

static const size_t lens[] = {0, 3, 16384, 16385, 100000};

static int was_cancelled(const ctran_status_t *status)
{
    int flag = -1;
    OK(ctran_test_cancelled(status, &flag));
    return flag;
}

void p2p_get_status(void)
{
    ctran_request_t none = CTRAN_REQUEST_NULL;
    ctran_status_t  status;
    int             flag = -1;
    OK(ctran_request_get_status(none, &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    for (int i = 0; i < (int)LEN(lens); i++) {
        const size_t    len = lens[i];
        char           *out = guarded_new(len), *in = guarded_new(len);
        ctran_request_t send, recv;
        content_fill(out, len, key_of(check_rank, next_rank(), i, 6));
        OK(ctran_irecv(in, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), i, CTRAN_COMM_WORLD,
                       &recv));
        OK(ctran_request_get_status(recv, &flag, &status));
        EXPECT_EQ(0, flag);
        token(prev_rank(), next_rank(), TAG_GO); /* the next rank has looked, too */
        OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), i, CTRAN_COMM_WORLD,
                       &send));
        for (flag = 0; flag == 0;) {
            OK(ctran_request_get_status(recv, &flag, &status));
        }
        EXPECT_STATUS(&status, prev_rank(), i, len);
        EXPECT_EQ(0, was_cancelled(&status));
        EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, i, 6));
        OK(ctran_request_get_status(recv, &flag, CTRAN_STATUS_IGNORE)); /* again */
        EXPECT_EQ(1, flag);
        OK(ctran_wait(&recv, &status));
        EXPECT_STATUS(&status, prev_rank(), i, len);
        OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
        guarded_free(in);
        guarded_free(out);
    }
}

/* The receive ends untouched; the message that comes then goes to another receive. */
static void unmatched(size_t len, int source, int tag)
{
    char           *out = guarded_new(len), *not_in = guarded_new(len), *in = guarded_new(len);
    ctran_request_t send, recv;
    ctran_status_t  status;
    content_fill(out, len, key_of(check_rank, next_rank(), 7, 7));
    OK(ctran_irecv(not_in, (ctran_count_t)len, CTRAN_BYTE, source, tag, CTRAN_COMM_WORLD, &recv));
    OK(ctran_cancel(&recv));
    EXPECT(recv != CTRAN_REQUEST_NULL);
    OK(ctran_cancel(&recv)); /* once more does nothing */
    OK(ctran_wait(&recv, &status));
    EXPECT_EQ(1, was_cancelled(&status));
    EXPECT_PTR(CTRAN_REQUEST_NULL, recv);
    OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), 7, CTRAN_COMM_WORLD, &send));
    OK(ctran_recv(in, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), 7, CTRAN_COMM_WORLD, &status));
    EXPECT_EQ(0, was_cancelled(&status));
    EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, 7, 7));
    EXPECT_GUARDED(not_in, len, 0);
    OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
    guarded_free(in);
    guarded_free(not_in);
    guarded_free(out);
}

/* A send, and a receive that has its message, end as if nothing had been asked. */
static void matched(size_t len)
{
    char           *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t send, recv;
    ctran_status_t  status;
    content_fill(out, len, key_of(check_rank, next_rank(), 8, 8));
    OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), 8, CTRAN_COMM_WORLD, &send));
    OK(ctran_cancel(&send));
    OK(ctran_probe(prev_rank(), 8, CTRAN_COMM_WORLD, &status));
    OK(ctran_irecv(in, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), 8, CTRAN_COMM_WORLD, &recv));
    OK(ctran_cancel(&recv));
    OK(ctran_wait(&recv, &status));
    EXPECT_STATUS(&status, prev_rank(), 8, len);
    EXPECT_EQ(0, was_cancelled(&status));
    EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, 8, 8));
    OK(ctran_wait(&send, &status));
    EXPECT_EQ(0, was_cancelled(&status));
    guarded_free(in);
    guarded_free(out);
}

/* What is over when it begins cannot be cancelled any more, on requests never used before too. */
static void over_at_once(void)
{
    enum { MORE = 200 }; /* than are made at a time */
    static char      room[MORE * (CTRAN_BSEND_OVERHEAD + 1)];
    static char      out[MORE], in[MORE];
    ctran_request_t *requests = calloc(3 * MORE, sizeof *requests);
    ctran_status_t   status;
    void            *detached;
    ctran_count_t    size;
    OK(ctran_buffer_attach(foreign_exempt(room, sizeof room), sizeof room));
    for (int i = 0; i < MORE; i++) {
        ctran_request_t *r = &requests[3 * i];
        OK(ctran_isend(out, 1, CTRAN_CHAR, CTRAN_PROC_NULL, 9, CTRAN_COMM_WORLD, &r[0]));
        OK(ctran_irecv(in, 1, CTRAN_CHAR, CTRAN_PROC_NULL, 9, CTRAN_COMM_WORLD, &r[1]));
        OK(ctran_ibsend(&out[i], 1, CTRAN_CHAR, next_rank(), 9, CTRAN_COMM_WORLD, &r[2]));
    }
    for (int i = 0; i < 3 * MORE; i++) {
        OK(ctran_cancel(&requests[i]));
        OK(ctran_wait(&requests[i], &status));
        EXPECT_EQ(0, was_cancelled(&status));
    }
    for (int i = 0; i < MORE; i++) {
        OK(ctran_recv(&in[i], 1, CTRAN_CHAR, prev_rank(), 9, CTRAN_COMM_WORLD, &status));
    }
    OK(ctran_buffer_detach(&detached, &size));
    free(requests);
}

void p2p_cancel(void)
{
    ctran_request_t    request = CTRAN_REQUEST_NULL;
    ctran_errhandler_t before;
    for (size_t i = 0; i < LEN(lens); i++) {
        unmatched(lens[i], prev_rank(), 9); /* a tag that nobody uses here */
        unmatched(lens[i], CTRAN_ANY_SOURCE, 9);
        matched(lens[i]);
    }
    over_at_once();
    /* Cancelled and freed: it is gone, and its buffer free. */
    int value = 3;
    OK(ctran_irecv(&value, 1, CTRAN_INT, prev_rank(), 9, CTRAN_COMM_WORLD, &request));
    OK(ctran_cancel(&request));
    OK(ctran_request_free(&request));
    EXPECT_EQ(3, value);
    OK(ctran_comm_get_errhandler(CTRAN_COMM_SELF, &before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&request));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, before));
}
