/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_exchange - exchanges that are requests, in two buffers and in one, and what can be asked of
 * several requests without completing them. Run by p2p.c.
 */
#include "p2p.h"

static const size_t lens[] = {0, 1, 100, 4097, 16384, 16385, 300000};

enum { MANY = 12 };

static void exchange(size_t len, int tag, bool in_one)
{
    char           *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t request;
    ctran_status_t  status;
    content_fill(in_one ? in : out, len, key_of(check_rank, next_rank(), tag, 3));
    if (in_one) {
        OK(ctran_isendrecv_replace(in, (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag,
                                   prev_rank(), tag, CTRAN_COMM_WORLD, &request));
    } else {
        OK(ctran_isendrecv(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag, in,
                           (ctran_count_t)len, CTRAN_BYTE, prev_rank(), tag, CTRAN_COMM_WORLD,
                           &request));
    }
    OK(ctran_wait(&request, &status));
    EXPECT_PTR(CTRAN_REQUEST_NULL, request);
    EXPECT_STATUS(&status, prev_rank(), tag, len);
    EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, tag, 3));
    EXPECT_GUARDED(in, len, len);
    guarded_free(in);
    guarded_free(out);
}

/* Many at once, completed backwards, with ordinary messages of the same tags between them: the
 * order is that of the calls. */
static void many_at_once(void)
{
    ctran_request_t requests[MANY];
    ctran_status_t  status;
    int             out[MANY], in[MANY], one = -1;
    for (int i = 0; i < MANY; i++) {
        out[i] = check_rank * MANY + i;
        OK(ctran_isendrecv(&out[i], 1, CTRAN_INT, next_rank(), 5, &in[i], 1, CTRAN_INT, prev_rank(),
                           5, CTRAN_COMM_WORLD, &requests[i]));
    }
    OK(ctran_sendrecv(&check_rank, 1, CTRAN_INT, next_rank(), 5, &one, 1, CTRAN_INT, prev_rank(), 5,
                      CTRAN_COMM_WORLD, &status));
    EXPECT_EQ(prev_rank(), one);
    for (int i = MANY - 1; i >= 0; i--) {
        OK(ctran_wait(&requests[i], &status));
        EXPECT_EQ(prev_rank() * MANY + i, in[i]);
    }
}

/* Every second integer out of one array and into another: the datatypes are freed at once. */
static void with_types(void)
{
    enum { N = 5000 };
    static int       out[2 * N], in[2 * N];
    ctran_datatype_t gaps;
    ctran_request_t  request;
    for (int i = 0; i < 2 * N; i++) {
        out[i] = check_rank + i;
        in[i] = -1;
    }
    OK(ctran_type_vector(N, 1, 2, CTRAN_INT, &gaps));
    OK(ctran_type_commit(&gaps));
    OK(ctran_isendrecv(out, 1, gaps, next_rank(), 6, in + 1, 1, gaps, prev_rank(), 6,
                       CTRAN_COMM_WORLD, &request));
    OK(ctran_type_free(&gaps));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    for (int i = 0; i < N; i++) {
        EXPECT_EQ(-1, in[2 * i]);
        EXPECT_EQ(prev_rank() + 2 * i, in[2 * i + 1]);
    }
}

static void one_side_is_nobody(void)
{
    ctran_request_t request;
    ctran_status_t  status;
    int             in = -1;
    OK(ctran_isendrecv(&check_rank, 1, CTRAN_INT, CTRAN_PROC_NULL, 7, &in, 1, CTRAN_INT,
                       CTRAN_PROC_NULL, 7, CTRAN_COMM_WORLD, &request));
    OK(ctran_wait(&request, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
    ctran_request_t other;
    OK(ctran_isendrecv(&check_rank, 1, CTRAN_INT, next_rank(), 7, &in, 1, CTRAN_INT,
                       CTRAN_PROC_NULL, 7, CTRAN_COMM_WORLD, &request));
    OK(ctran_isendrecv_replace(&in, 1, CTRAN_INT, CTRAN_PROC_NULL, 7, prev_rank(), 7,
                               CTRAN_COMM_WORLD, &other));
    OK(ctran_wait(&other, &status));
    EXPECT_STATUS(&status, prev_rank(), 7, sizeof in);
    EXPECT_EQ(prev_rank(), in);
    OK(ctran_wait(&request, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
}

/* The error of a half is the request's; one that was let go of still carries its message. */
static void ends(void)
{
    static int      out[2]; /* which is sent when this has ended, maybe */
    int             in[2] = {-1, -1};
    ctran_request_t request;
    ctran_status_t  status;
    out[0] = check_rank;
    out[1] = 1;
    OK(ctran_isendrecv(out, 2, CTRAN_INT, next_rank(), 8, in, 1, CTRAN_INT, prev_rank(), 8,
                       CTRAN_COMM_WORLD, &request));
    EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_wait(&request, &status));
    EXPECT_EQ(prev_rank(), in[0]);
    EXPECT_EQ(-1, in[1]);
    OK(ctran_isendrecv(out, 1, CTRAN_INT, next_rank(), 9, &in[1], 1, CTRAN_INT, prev_rank(), 10,
                       CTRAN_COMM_WORLD, &request));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&request));
    OK(ctran_request_free(&request));
    OK(ctran_recv(in, 1, CTRAN_INT, prev_rank(), 9, CTRAN_COMM_WORLD, &status));
    EXPECT_EQ(prev_rank(), in[0]);
    out[1] = check_rank + 100;
    OK(ctran_sendrecv(&out[1], 1, CTRAN_INT, next_rank(), 10, NULL, 0, CTRAN_INT, CTRAN_PROC_NULL,
                      0, CTRAN_COMM_WORLD, &status));
    token(next_rank(), prev_rank(), TAG_READY); /* behind it: so that one is there as well */
    EXPECT_EQ(prev_rank() + 100, in[1]);
}

void p2p_exchange(void)
{
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    for (size_t i = 0; i < LEN(lens); i++) {
        exchange(lens[i], (int)i, false);
        exchange(lens[i], (int)i, true);
    }
    many_at_once();
    with_types();
    one_side_is_nobody();
    ends();
}

/* ---- statuses of several requests ------------------------------------------------------------ */

/* Three receives, of which the messages of one after the other are let come. */
static void expect_some(ctran_request_t requests[5], int come)
{
    ctran_status_t  statuses[5];
    ctran_request_t before[5];
    int             flag = -1, n = -1, indices[5], index = -5;
    memcpy(before, requests, sizeof before);
    do {
        OK(ctran_request_get_status_some(5, requests, &n, indices, statuses));
    } while (n < come);
    EXPECT_EQ(come, n);
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(2 * i, indices[i]); /* the others are null */
        EXPECT_STATUS(&statuses[i], prev_rank(), i, sizeof(int));
        EXPECT_EQ(CTRAN_SUCCESS, statuses[i].CTRAN_ERROR);
    }
    OK(ctran_request_get_status_any(5, requests, &index, &flag, &statuses[0]));
    EXPECT_EQ(come > 0, flag);
    EXPECT_EQ(come > 0 ? 0 : CTRAN_UNDEFINED, index);
    OK(ctran_request_get_status_all(5, requests, &flag, statuses));
    EXPECT_EQ(come == 3, flag);
    if (flag) {
        EXPECT_STATUS(&statuses[1], CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
        EXPECT_STATUS(&statuses[4], prev_rank(), 2, sizeof(int));
    }
    EXPECT(memcmp(before, requests, sizeof before) == 0);
}

void p2p_get_statuses(void)
{
    ctran_request_t requests[5] = {CTRAN_REQUEST_NULL, CTRAN_REQUEST_NULL, CTRAN_REQUEST_NULL,
                                   CTRAN_REQUEST_NULL, CTRAN_REQUEST_NULL};
    ctran_status_t  status;
    int             in[3], flag = -1, n = -5, index = -5;
    for (int i = 0; i < 3; i++) {
        OK(ctran_irecv(&in[i], 1, CTRAN_INT, prev_rank(), i, CTRAN_COMM_WORLD, &requests[2 * i]));
    }
    for (int come = 0; come <= 3; come++) {
        expect_some(requests, come);
        token(prev_rank(), next_rank(), TAG_GO); /* whom I send to has looked */
        if (come < 3) {
            OK(ctran_send(&come, 1, CTRAN_INT, next_rank(), come, CTRAN_COMM_WORLD));
        }
    }
    OK(ctran_waitall(5, requests, CTRAN_STATUSES_IGNORE));
    OK(ctran_request_get_status_some(5, requests, &n, NULL, CTRAN_STATUSES_IGNORE));
    EXPECT_EQ(CTRAN_UNDEFINED, n);
    OK(ctran_request_get_status_any(5, requests, &index, &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_EQ(CTRAN_UNDEFINED, index);
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    OK(ctran_request_get_status_all(0, NULL, &flag, CTRAN_STATUSES_IGNORE));
    EXPECT_EQ(1, flag);
}
