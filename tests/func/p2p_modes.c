/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_modes - the modes of sending, and exchanges in one buffer: a synchronous send is complete
 * when it was matched and never before, short or long. Run by p2p.c.
 */
#include "p2p.h"

static const size_t lens[] = {0, 1, 100, 4097, 16384, 16385, 300000};

static int is_done(ctran_request_t *request)
{
    int flag = -1;
    for (int i = 0; i < 20; i++) {
        OK(ctran_test(request, &flag, CTRAN_STATUS_IGNORE));
    }
    return flag;
}

/* The message has come to the next rank, which receives it only when told that it was looked at
 * here before. */
static void held_back(size_t len, int tag)
{
    const int       to = next_rank(), from = prev_rank();
    char           *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t request;
    ctran_status_t  status;
    content_fill(out, len, key_of(check_rank, to, tag, 1));
    OK(ctran_issend(out, (ctran_count_t)len, CTRAN_BYTE, to, tag, CTRAN_COMM_WORLD, &request));
    token(to, from, TAG_READY);
    EXPECT_EQ(0, is_done(&request));
    token(to, from, TAG_GO);
    OK(ctran_recv(in, (ctran_count_t)len, CTRAN_BYTE, from, tag, CTRAN_COMM_WORLD, &status));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    EXPECT_STATUS(&status, from, tag, len);
    EXPECT_CONTENT(in, len, key_of(from, check_rank, tag, 1));
    EXPECT_GUARDED(in, len, len);
    guarded_free(in);
    guarded_free(out);
}

/* The blocking form, to a receive that is there, and in order with standard sends around it. */
static void in_line(size_t len, int tag)
{
    char           *out = guarded_new(len), *in = guarded_new(len);
    int             numbers[2] = {1, 2}, got[2] = {0, 0};
    ctran_request_t sends[2], recvs[3];
    ctran_status_t  statuses[3];
    content_fill(out, len, key_of(check_rank, next_rank(), tag, 2));
    for (int i = 0; i < 3; i++) {
        OK(ctran_irecv(i == 1 ? (void *)in : &got[i / 2], i == 1 ? (ctran_count_t)len : 4,
                       CTRAN_BYTE, prev_rank(), tag, CTRAN_COMM_WORLD, &recvs[i]));
    }
    OK(ctran_isend(&numbers[0], 4, CTRAN_BYTE, next_rank(), tag, CTRAN_COMM_WORLD, &sends[0]));
    OK(ctran_ssend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag, CTRAN_COMM_WORLD));
    OK(ctran_isend(&numbers[1], 4, CTRAN_BYTE, next_rank(), tag, CTRAN_COMM_WORLD, &sends[1]));
    OK(ctran_waitall(2, sends, CTRAN_STATUSES_IGNORE));
    OK(ctran_waitall(3, recvs, statuses));
    EXPECT_EQ(1, got[0]);
    EXPECT_EQ(2, got[1]);
    EXPECT_STATUS(&statuses[1], prev_rank(), tag, len);
    EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, tag, 2));
    guarded_free(in);
    guarded_free(out);
}

void p2p_ssend(void)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* receives from any source lie behind */
    for (size_t i = 0; i < LEN(lens); i++) {
        held_back(lens[i], (int)i);
        in_line(lens[i], (int)i);
    }
    /* Too short a buffer is the receiver's error alone. */
    char               out[100] = {1}, in[10];
    ctran_request_t    request;
    ctran_errhandler_t before;
    OK(ctran_comm_get_errhandler(CTRAN_COMM_WORLD, &before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_issend(out, 100, CTRAN_BYTE, next_rank(), 5, CTRAN_COMM_WORLD, &request));
    EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_recv(in, 10, CTRAN_BYTE, prev_rank(), 5, CTRAN_COMM_WORLD,
                                             CTRAN_STATUS_IGNORE));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, before));
}

void p2p_rsend(void)
{
    for (size_t i = 0; i < LEN(lens); i++) {
        const size_t    len = lens[i];
        char           *out = guarded_new(len), *in[2] = {guarded_new(len), guarded_new(len)};
        ctran_request_t recvs[2], send;
        content_fill(out, len, key_of(check_rank, next_rank(), (int)i, 3));
        for (int k = 0; k < 2; k++) {
            OK(ctran_irecv(in[k], (ctran_count_t)len, CTRAN_BYTE, prev_rank(), (int)i,
                           CTRAN_COMM_WORLD, &recvs[k]));
        }
        token(prev_rank(), next_rank(), TAG_READY);
        OK(ctran_rsend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), (int)i, CTRAN_COMM_WORLD));
        OK(ctran_irsend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), (int)i, CTRAN_COMM_WORLD,
                        &send));
        OK(ctran_waitall(2, recvs, CTRAN_STATUSES_IGNORE));
        OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
        for (int k = 0; k < 2; k++) {
            EXPECT_CONTENT(in[k], len, key_of(prev_rank(), check_rank, (int)i, 3));
            guarded_free(in[k]);
        }
        guarded_free(out);
    }
}

void p2p_replace(void)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* the receives from any source are for these only */
    for (size_t i = 0; i < LEN(lens); i++) {
        const size_t   len = lens[i];
        char          *buf = guarded_new(len);
        ctran_status_t status;
        content_fill(buf, len, key_of(check_rank, next_rank(), (int)i, 4));
        OK(ctran_sendrecv_replace(buf, (ctran_count_t)len, CTRAN_BYTE, next_rank(), (int)i,
                                  CTRAN_ANY_SOURCE, (int)i, CTRAN_COMM_WORLD, &status));
        EXPECT_STATUS(&status, prev_rank(), (int)i, len);
        EXPECT_CONTENT(buf, len, key_of(prev_rank(), check_rank, (int)i, 4));
        EXPECT_GUARDED(buf, len, len);
        guarded_free(buf);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    /* With nobody the buffer stays as it is. */
    int            value = 17;
    ctran_status_t status;
    OK(ctran_sendrecv_replace(&value, 1, CTRAN_INT, CTRAN_PROC_NULL, 0, CTRAN_PROC_NULL, 0,
                              CTRAN_COMM_WORLD, &status));
    EXPECT_EQ(17, value);
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
}

void p2p_modes_check(void)
{
    int                value = 0;
    ctran_request_t    request;
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    ctran_errhandler_t before;
    OK(ctran_ssend(&value, 1, CTRAN_INT, CTRAN_PROC_NULL, 0, world));
    OK(ctran_issend(&value, 1, CTRAN_INT, CTRAN_PROC_NULL, 0, world, &request));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_get_errhandler(world, &before));
    OK(ctran_comm_set_errhandler(world, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_ssend(&value, 1, CTRAN_INT, check_size, 0, world));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_rsend(&value, 1, CTRAN_INT, 0, CTRAN_ANY_TAG, world));
    EXPECT_RC(CTRAN_ERR_COUNT, ctran_irsend(&value, -1, CTRAN_INT, 0, 0, world, &request));
    EXPECT_RC(CTRAN_ERR_RANK,
              ctran_issend(&value, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 0, world, &request));
    EXPECT_PTR(CTRAN_REQUEST_NULL, request);
    EXPECT_RC(CTRAN_ERR_BUFFER,
              ctran_sendrecv_replace(NULL, 1, CTRAN_INT, 0, 0, 0, 0, world, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_set_errhandler(world, before));
}
