/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_probe - probes find the message that a receive would get, and leave it there; matched ones
 * take it away from everybody else. Run by p2p.c.
 */
#include "p2p.h"

enum { ANY_S = CTRAN_ANY_SOURCE, ANY_T = CTRAN_ANY_TAG, MOST = 300000 };

static const size_t lens[] = {0, 1, 5000, 16384, 16385, MOST};
static ctran_comm_t comm; /* its own, so that receives from any source see nothing else */

static int iprobe(int source, int tag, ctran_status_t *status)
{
    int flag = -1;
    OK(ctran_iprobe(source, tag, comm, &flag, status));
    EXPECT(flag == 0 || flag == 1);
    return flag;
}

static void wait_iprobe(int source, int tag, ctran_status_t *status)
{
    while (!iprobe(source, tag, status)) {
    }
}

/* Message i of a series to the next rank, and the same from the one before. */
static ctran_request_t send(char *buf, int i)
{
    ctran_request_t request;
    content_fill(buf, lens[i], key_of(check_rank, next_rank(), i, 5));
    OK(ctran_isend(buf, (ctran_count_t)lens[i], CTRAN_BYTE, next_rank(), i, comm, &request));
    return request;
}

static void expect(const char *buf, const ctran_status_t *status, int i)
{
    EXPECT_STATUS(status, prev_rank(), i, lens[i]);
    EXPECT_CONTENT(buf, lens[i], key_of(prev_rank(), check_rank, i, 5));
    EXPECT_GUARDED(buf, MOST, lens[i]);
}

static void receive(int source, int tag, int i)
{
    char          *in = guarded_new(MOST);
    ctran_status_t status;
    OK(ctran_recv(in, MOST, CTRAN_BYTE, source, tag, comm, &status));
    expect(in, &status, i);
    guarded_free(in);
}

/* Found in each way to name it, as often as one looks, and then received. */
static void each_wildcard(void)
{
    static const bool wild[][2] = {{false, false}, {true, false}, {false, true}, {true, true}};
    for (int i = 0; i < (int)LEN(lens); i++) {
        for (size_t w = 0; w < LEN(wild); w++) {
            const int       source = wild[w][0] ? ANY_S : prev_rank(), tag = wild[w][1] ? ANY_T : i;
            char           *out = guarded_new(lens[i]);
            ctran_request_t request = send(out, i);
            ctran_status_t  status;
            OK(ctran_probe(source, tag, comm, &status));
            EXPECT_STATUS(&status, prev_rank(), i, lens[i]);
            EXPECT_EQ(1, iprobe(source, tag, &status));
            EXPECT_STATUS(&status, prev_rank(), i, lens[i]);
            EXPECT_EQ(0, iprobe(prev_rank(), i + 1, &status));
            EXPECT_STATUS(&status, prev_rank(), i, lens[i]); /* untouched */
            receive(source, tag, i);
            EXPECT_EQ(0, iprobe(source, tag, CTRAN_STATUS_IGNORE));
            OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
            guarded_free(out);
            OK(ctran_barrier(comm)); /* so far, nobody has sent the next one */
        }
    }
}

/* With wildcards, the first to come is found; what a posted receive gets, is not. */
static void in_order(void)
{
    char           *out[3], *in = guarded_new(MOST);
    ctran_request_t sends[3], recv;
    ctran_status_t  status;
    OK(ctran_irecv(in, MOST, CTRAN_BYTE, prev_rank(), 1, comm, &recv));
    OK(ctran_barrier(comm));
    for (int k = 0; k < 3; k++) {
        const int i = 3 - k; /* tags 3, 2, 1: the last has its receive */
        out[k] = guarded_new(lens[i]);
        sends[k] = send(out[k], i);
    }
    OK(ctran_wait(&recv, &status));
    expect(in, &status, 1);
    EXPECT_EQ(0, iprobe(prev_rank(), 1, &status));
    wait_iprobe(ANY_S, ANY_T, &status);
    EXPECT_STATUS(&status, prev_rank(), 3, lens[3]);
    EXPECT_EQ(1, iprobe(ANY_S, 2, &status));
    EXPECT_STATUS(&status, prev_rank(), 2, lens[2]);
    receive(ANY_S, ANY_T, 3);
    receive(ANY_S, ANY_T, 2);
    OK(ctran_waitall(3, sends, CTRAN_STATUSES_IGNORE));
    for (int k = 0; k < 3; k++) {
        guarded_free(out[k]);
    }
    guarded_free(in);
}

/* Two messages alike: the first is taken, the second is what others see, and is received first. */
static void matched(int i, bool blocking)
{
    char           *out[2] = {guarded_new(lens[i]), guarded_new(lens[i])}, *in = guarded_new(MOST);
    ctran_request_t sends[2] = {send(out[0], i), CTRAN_REQUEST_NULL}, request;
    ctran_message_t message = CTRAN_MESSAGE_NULL;
    ctran_status_t  status;
    const char      second = 'x';
    char            got = 0;
    OK(ctran_isend(&second, 1, CTRAN_BYTE, next_rank(), i, comm, &sends[1]));
    if (blocking) {
        OK(ctran_mprobe(ANY_S, i, comm, &message, &status));
    } else {
        for (int flag = 0; flag == 0;) {
            OK(ctran_improbe(prev_rank(), ANY_T, comm, &flag, &message, &status));
            EXPECT(flag == 1 || message == CTRAN_MESSAGE_NULL);
        }
    }
    EXPECT_STATUS(&status, prev_rank(), i, lens[i]);
    EXPECT(message != CTRAN_MESSAGE_NULL && message != CTRAN_MESSAGE_NO_PROC);
    OK(ctran_recv(&got, 1, CTRAN_BYTE, ANY_S, ANY_T, comm, &status));
    EXPECT_EQ('x', got);
    EXPECT_STATUS(&status, prev_rank(), i, 1);
    EXPECT_EQ(0, iprobe(ANY_S, ANY_T, CTRAN_STATUS_IGNORE));
    if (blocking) {
        OK(ctran_mrecv(in, MOST, CTRAN_BYTE, &message, &status));
    } else {
        OK(ctran_imrecv(in, MOST, CTRAN_BYTE, &message, &request));
        OK(ctran_wait(&request, &status));
    }
    EXPECT_PTR(CTRAN_MESSAGE_NULL, message);
    expect(in, &status, i);
    OK(ctran_waitall(2, sends, CTRAN_STATUSES_IGNORE));
    guarded_free(in);
    guarded_free(out[0]);
    guarded_free(out[1]);
}

static void from_nobody(void)
{
    int             flag = 0, value = 5;
    ctran_message_t message = CTRAN_MESSAGE_NULL;
    ctran_request_t request;
    ctran_status_t  status;
    OK(ctran_probe(CTRAN_PROC_NULL, 3, comm, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, ANY_T, 0);
    EXPECT_EQ(1, iprobe(CTRAN_PROC_NULL, 3, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, ANY_T, 0);
    OK(ctran_mprobe(CTRAN_PROC_NULL, ANY_T, comm, &message, &status));
    EXPECT_PTR(CTRAN_MESSAGE_NO_PROC, message);
    OK(ctran_mrecv(&value, 1, CTRAN_INT, &message, &status));
    EXPECT_PTR(CTRAN_MESSAGE_NULL, message);
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, ANY_T, 0);
    OK(ctran_improbe(CTRAN_PROC_NULL, 3, comm, &flag, &message, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(1, flag);
    OK(ctran_imrecv(&value, 1, CTRAN_INT, &message, &request));
    EXPECT_PTR(CTRAN_MESSAGE_NULL, message);
    OK(ctran_wait(&request, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, ANY_T, 0);
    EXPECT_EQ(5, value);
}

static void wrong(void)
{
    int                flag, value = 0;
    ctran_message_t    message = CTRAN_MESSAGE_NULL;
    ctran_request_t    request;
    ctran_errhandler_t before;
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_get_errhandler(CTRAN_COMM_SELF, &before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_RANK, ctran_probe(check_size, 0, comm, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_TAG, ctran_iprobe(0, -7, comm, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_mprobe(0, 0, CTRAN_COMM_NULL, &message, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_mrecv(&value, 1, CTRAN_INT, &message, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_imrecv(&value, 1, CTRAN_INT, &message, &request));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, before));
    /* A message for which the buffer is too short is gone with the error. */
    char            out[40000] = {1};
    ctran_request_t send;
    OK(ctran_isend(out, sizeof out, CTRAN_BYTE, next_rank(), 8, comm, &send));
    OK(ctran_mprobe(prev_rank(), 8, comm, &message, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_mrecv(&value, 1, CTRAN_INT, &message, CTRAN_STATUS_IGNORE));
    EXPECT_PTR(CTRAN_MESSAGE_NULL, message);
    OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
}

void p2p_probe(void)
{
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    each_wildcard();
    OK(ctran_barrier(comm)); /* what comes next does not get into the last one's wildcards */
    in_order();
    from_nobody();
    wrong();
    OK(ctran_comm_free(&comm));
}

void p2p_mprobe(void)
{
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    for (int i = 0; i < (int)LEN(lens); i++) {
        matched(i, true);
        OK(ctran_barrier(comm)); /* the next messages are not for these receives from anywhere */
        matched(i, false);
        OK(ctran_barrier(comm));
    }
    /* A message outlives its communicator's handle. */
    char            in = 0, out = 'y';
    ctran_message_t message;
    ctran_request_t send;
    OK(ctran_isend(&out, 1, CTRAN_BYTE, next_rank(), 1, comm, &send));
    OK(ctran_mprobe(prev_rank(), 1, comm, &message, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_free(&comm));
    OK(ctran_mrecv(&in, 1, CTRAN_BYTE, &message, CTRAN_STATUS_IGNORE));
    OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
    EXPECT_EQ('y', in);
}
