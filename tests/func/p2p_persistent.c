/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_persistent - persistent requests do the same transfer each time they are started, and count
 * as null between. Run by p2p.c.
 */
#include "foreign.h"
#include "p2p.h"

enum { MODES = 4, ROUNDS = 3, TAG = 31, LONGEST = 100000 };

typedef int (*init_fn)(const void *, ctran_count_t, ctran_datatype_t, int, int, ctran_comm_t,
                       ctran_request_t *);

static const init_fn inits[MODES] = {ctran_send_init, ctran_bsend_init, ctran_ssend_init,
                                     ctran_rsend_init};

/* A wait, a test and the rest return at once with nothing. */
static void expect_inactive(ctran_request_t *request)
{
    const ctran_request_t before = *request;
    ctran_status_t        status;
    int                   flag = 0, index = 0;
    OK(ctran_wait(request, &status));
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    OK(ctran_test(request, &flag, &status));
    EXPECT_EQ(1, flag);
    OK(ctran_waitany(1, request, &index, &status));
    EXPECT_EQ(CTRAN_UNDEFINED, index);
    OK(ctran_waitall(1, request, &status));
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    OK(ctran_request_get_status(*request, &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_PTR(before, *request);
}

static void rounds(size_t len, int mode, int source)
{
    static char     space[LONGEST + CTRAN_BSEND_OVERHEAD];
    void           *back;
    ctran_count_t   size;
    char           *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t requests[2]; /* the receive, the send */
    ctran_status_t  statuses[2];
    OK(ctran_recv_init(in, (ctran_count_t)len, CTRAN_BYTE, source, TAG, CTRAN_COMM_WORLD,
                       &requests[0]));
    OK(inits[mode](out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), TAG, CTRAN_COMM_WORLD,
                   &requests[1]));
    for (int round = 0; round < ROUNDS; round++) {
        expect_inactive(&requests[0]);
        expect_inactive(&requests[1]);
        content_fill(out, len, key_of(check_rank, next_rank(), round, 30 + mode));
        OK(ctran_start(&requests[0]));
        OK(ctran_buffer_attach(foreign_exempt(space, sizeof space),
                               sizeof space)); /* empty again: detaching waits for that */
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_startall(1, &requests[1]));
        OK(ctran_waitall(2, requests, statuses));
        EXPECT_STATUS(&statuses[0], prev_rank(), TAG, len);
        EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, round, 30 + mode));
        EXPECT_GUARDED(in, len, len);
        OK(ctran_buffer_detach(&back, &size));
        OK(ctran_barrier(CTRAN_COMM_WORLD));
    }
    for (int i = 0; i < 2; i++) {
        OK(ctran_request_free(&requests[i]));
        EXPECT_PTR(CTRAN_REQUEST_NULL, requests[i]);
    }
    guarded_free(in);
    guarded_free(out);
}

static void cancelled_and_nobody(void)
{
    int             value = 4, flag = 0;
    ctran_request_t request;
    ctran_status_t  status;
    OK(ctran_recv_init(&value, 1, CTRAN_INT, prev_rank(), TAG, CTRAN_COMM_WORLD, &request));
    OK(ctran_start(&request));
    OK(ctran_cancel(&request));
    OK(ctran_wait(&request, &status));
    OK(ctran_test_cancelled(&status, &flag));
    EXPECT_EQ(1, flag);
    expect_inactive(&request);
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* nobody has sent so far */
    OK(ctran_start(&request));           /* it works as before */
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_start(&request));
    OK(ctran_send(&check_rank, 1, CTRAN_INT, next_rank(), TAG, CTRAN_COMM_WORLD));
    OK(ctran_wait(&request, &status));
    EXPECT_EQ(prev_rank(), value);
    OK(ctran_request_free(&request));
    OK(ctran_recv_init(&value, 1, CTRAN_INT, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD, &request));
    OK(ctran_start(&request));
    OK(ctran_wait(&request, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
    OK(ctran_request_free(&request));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_start(&request));
    EXPECT_RC(CTRAN_ERR_RANK,
              ctran_send_init(&value, 1, CTRAN_INT, check_size, 1, CTRAN_COMM_WORLD, &request));
}

void p2p_persistent(void)
{
    static const size_t lens[] = {0, 5, 16385, LONGEST};
    ctran_errhandler_t  before;
    OK(ctran_comm_get_errhandler(CTRAN_COMM_WORLD, &before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    for (int mode = 0; mode < MODES; mode++) {
        for (size_t i = 0; i < LEN(lens); i++) {
            rounds(lens[i], mode, i % 2 == 0 ? prev_rank() : CTRAN_ANY_SOURCE);
        }
    }
    cancelled_and_nobody();
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, before));
}
