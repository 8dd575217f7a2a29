/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_wait - the calls that complete requests: each form completes what it should and nothing
 * else, passes null requests over, and reports errors where it belongs. Run by p2p.c.
 */
#include "p2p.h"

enum { COUNT = 24, MOST = 40000 };

/* COUNT receives from the rank before with null requests between them, and their sends. */
struct batch {
    int             length; /* of `requests`: two slots a receive, every other one null */
    ctran_request_t requests[2 * COUNT], sends[COUNT];
    char           *in[COUNT], *out[COUNT];
    bool            seen[COUNT];
    int             left;
};

static size_t len_of(int i)
{
    return i % 6 == 4 ? MOST - (size_t)i : (size_t)i * 3;
}

static void batch_send(struct batch *b)
{
    for (int i = 0; i < COUNT; i++) {
        b->out[i] = guarded_new(len_of(i));
        content_fill(b->out[i], len_of(i), key_of(check_rank, next_rank(), i, 10));
        OK(ctran_isend(b->out[i], (ctran_count_t)len_of(i), CTRAN_BYTE, next_rank(), i,
                       CTRAN_COMM_WORLD, &b->sends[i]));
    }
}

static void batch_receive(struct batch *b)
{
    b->length = 2 * COUNT;
    b->left = COUNT;
    for (int i = 0; i < COUNT; i++) {
        b->seen[i] = false;
        b->in[i] = guarded_new(MOST);
        b->requests[2 * i] = CTRAN_REQUEST_NULL;
        OK(ctran_irecv(b->in[i], MOST, CTRAN_BYTE, prev_rank(), i, CTRAN_COMM_WORLD,
                       &b->requests[2 * i + 1]));
    }
}

/* The request at `index` was completed just now. */
static void batch_took(struct batch *b, int index, const ctran_status_t *status)
{
    EXPECT(index >= 0 && index < b->length && index % 2 == 1);
    const int i = index / 2;
    EXPECT_EQ(false, b->seen[i]);
    b->seen[i] = true;
    b->left--;
    EXPECT_PTR(CTRAN_REQUEST_NULL, b->requests[index]);
    EXPECT_STATUS(status, prev_rank(), i, len_of(i));
    EXPECT_CONTENT(b->in[i], len_of(i), key_of(prev_rank(), check_rank, i, 10));
    EXPECT_GUARDED(b->in[i], MOST, len_of(i));
}

static void batch_end(struct batch *b)
{
    EXPECT_EQ(0, b->left);
    OK(ctran_waitall(COUNT, b->sends, CTRAN_STATUSES_IGNORE));
    for (int i = 0; i < 2 * COUNT; i++) {
        EXPECT_PTR(CTRAN_REQUEST_NULL, b->requests[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        EXPECT_PTR(CTRAN_REQUEST_NULL, b->sends[i]);
        guarded_free(b->in[i]);
        guarded_free(b->out[i]);
    }
}

/* ---- the forms; each completes a whole batch ------------------------------------------------- */

static void by_wait(struct batch *b)
{
    for (int i = b->length - 1; i > 0; i -= 2) {
        ctran_status_t status;
        OK(ctran_wait(&b->requests[i], &status));
        batch_took(b, i, &status);
    }
}

static void by_test(struct batch *b)
{
    while (b->left > 0) {
        for (int i = 1; i < b->length; i += 2) {
            ctran_status_t  status;
            ctran_request_t before = b->requests[i];
            int             flag = -1;
            OK(ctran_test(&b->requests[i], &flag, &status));
            EXPECT(flag == 0 || flag == 1);
            EXPECT(flag == 1 || b->requests[i] == before);
            if (flag && before != CTRAN_REQUEST_NULL) {
                batch_took(b, i, &status);
            }
        }
    }
}

static void took_all(struct batch *b, const ctran_status_t *statuses)
{
    for (int i = 0; i < b->length; i++) {
        EXPECT_EQ(CTRAN_SUCCESS, statuses[i].CTRAN_ERROR);
        if (i % 2 == 1) {
            batch_took(b, i, &statuses[i]);
        } else {
            EXPECT_STATUS(&statuses[i], CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
        }
    }
}

static void by_waitall(struct batch *b)
{
    ctran_status_t statuses[2 * COUNT];
    OK(ctran_waitall(b->length, b->requests, statuses));
    took_all(b, statuses);
}

static void by_testall(struct batch *b)
{
    ctran_status_t statuses[2 * COUNT];
    for (int flag = 0; flag == 0;) {
        ctran_request_t before[2 * COUNT];
        memcpy(before, b->requests, sizeof before);
        OK(ctran_testall(b->length, b->requests, &flag, statuses));
        EXPECT(flag == 1 || memcmp(before, b->requests, sizeof before) == 0);
    }
    took_all(b, statuses);
}

static void by_waitany(struct batch *b)
{
    ctran_status_t status;
    int            index = -1;
    while (b->left > 0) {
        OK(ctran_waitany(b->length, b->requests, &index, &status));
        batch_took(b, index, &status);
    }
    OK(ctran_waitany(b->length, b->requests, &index, &status));
    EXPECT_EQ(CTRAN_UNDEFINED, index);
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
}

static void by_testany(struct batch *b)
{
    ctran_status_t status;
    int            index = -1, flag = -1;
    while (b->left > 0) {
        OK(ctran_testany(b->length, b->requests, &index, &flag, &status));
        if (flag) {
            batch_took(b, index, &status);
        } else {
            EXPECT_EQ(CTRAN_UNDEFINED, index);
        }
    }
    OK(ctran_testany(b->length, b->requests, &index, &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_EQ(CTRAN_UNDEFINED, index);
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
}

static void took_some(struct batch *b, int outcount, const int *indices,
                      const ctran_status_t *statuses)
{
    EXPECT(outcount >= 0 && outcount <= b->left);
    for (int k = 0; k < outcount; k++) {
        EXPECT_EQ(CTRAN_SUCCESS, statuses[k].CTRAN_ERROR);
        batch_took(b, indices[k], &statuses[k]);
    }
}

static void by_waitsome(struct batch *b)
{
    ctran_status_t statuses[2 * COUNT];
    int            indices[2 * COUNT], outcount = -1;
    while (b->left > 0) {
        OK(ctran_waitsome(b->length, b->requests, &outcount, indices, statuses));
        EXPECT(outcount > 0);
        took_some(b, outcount, indices, statuses);
    }
    OK(ctran_waitsome(b->length, b->requests, &outcount, indices, statuses));
    EXPECT_EQ(CTRAN_UNDEFINED, outcount);
}

static void by_testsome(struct batch *b)
{
    ctran_status_t statuses[2 * COUNT];
    int            indices[2 * COUNT], outcount = -1;
    while (b->left > 0) {
        OK(ctran_testsome(b->length, b->requests, &outcount, indices, statuses));
        took_some(b, outcount, indices, statuses);
    }
    OK(ctran_testsome(b->length, b->requests, &outcount, indices, statuses));
    EXPECT_EQ(CTRAN_UNDEFINED, outcount);
}

void p2p_wait_forms(void)
{
    static void (*const forms[])(struct batch *) = {
        by_wait, by_test, by_waitall, by_testall, by_waitany, by_testany, by_waitsome, by_testsome,
    };
    for (size_t f = 0; f < 2 * LEN(forms); f++) {
        struct batch b;
        if (f % 2 == 0) {
            batch_receive(&b);
            token(prev_rank(), next_rank(), TAG_READY);
            batch_send(&b);
        } else {
            batch_send(&b);
            token(next_rank(), prev_rank(), TAG_GO);
            batch_receive(&b);
        }
        forms[f / 2](&b);
        batch_end(&b);
    }
}

/* ---- null requests alone, and no requests at all --------------------------------------------- */

static void null_one(void)
{
    ctran_request_t request = CTRAN_REQUEST_NULL;
    ctran_status_t  status;
    int             flag = -1;
    OK(ctran_wait(&request, &status));
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    memset(&status, 0x55, sizeof status);
    OK(ctran_test(&request, &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    OK(ctran_test(&request, &flag, CTRAN_STATUS_IGNORE));
}

static void null_many(int count)
{
    ctran_request_t requests[3] = {CTRAN_REQUEST_NULL, CTRAN_REQUEST_NULL, CTRAN_REQUEST_NULL};
    ctran_status_t  statuses[3];
    int             flag = -1, index = -1, outcount = -1, indices[3];
    memset(statuses, 0x55, sizeof statuses);
    OK(ctran_waitall(count, requests, statuses));
    for (int i = 0; i < count; i++) {
        EXPECT_STATUS(&statuses[i], CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    }
    OK(ctran_testall(count, requests, &flag, statuses));
    EXPECT_EQ(1, flag);
    OK(ctran_waitany(count, requests, &index, statuses));
    EXPECT_EQ(CTRAN_UNDEFINED, index);
    index = flag = -1;
    OK(ctran_testany(count, requests, &index, &flag, statuses));
    EXPECT_EQ(CTRAN_UNDEFINED, index);
    EXPECT_EQ(1, flag);
    OK(ctran_waitsome(count, requests, &outcount, indices, statuses));
    EXPECT_EQ(CTRAN_UNDEFINED, outcount);
    outcount = -1;
    OK(ctran_testsome(count, requests, &outcount, indices, statuses));
    EXPECT_EQ(CTRAN_UNDEFINED, outcount);
}

void p2p_wait_null(void)
{
    null_one();
    null_many(3);
    null_many(0);
    OK(ctran_waitall(0, NULL, CTRAN_STATUSES_IGNORE));
}

/* ---- one of several fails -------------------------------------------------------------------- */

/* Receives 0 and 2 have room, 1 has not. */
static void cut_batch(ctran_request_t recvs[3], ctran_request_t sends[3], char in[3][64],
                      const char *out)
{
    for (int i = 0; i < 3; i++) {
        memset(in[i], 0, 64);
        OK(ctran_irecv(in[i], i == 1 ? 8 : 64, CTRAN_BYTE, prev_rank(), i, CTRAN_COMM_WORLD,
                       &recvs[i]));
        OK(ctran_isend(out, 64, CTRAN_BYTE, next_rank(), i, CTRAN_COMM_WORLD, &sends[i]));
    }
}

static void expect_cut(int i, const ctran_status_t *status)
{
    EXPECT_RC(i == 1 ? CTRAN_ERR_TRUNCATE : CTRAN_SUCCESS, status->CTRAN_ERROR);
    EXPECT_STATUS(status, prev_rank(), i, i == 1 ? 8 : 64);
}

static void cut_some(ctran_request_t recvs[3], bool blocking)
{
    ctran_status_t statuses[3];
    int            indices[3], outcount;
    for (int left = 3; left > 0; left -= outcount) {
        int rc = blocking ? ctran_waitsome(3, recvs, &outcount, indices, statuses)
                          : ctran_testsome(3, recvs, &outcount, indices, statuses);
        int wanted = CTRAN_SUCCESS;
        EXPECT(outcount >= 0 && outcount <= left);
        for (int k = 0; k < outcount; k++) {
            expect_cut(indices[k], &statuses[k]);
            wanted = indices[k] == 1 ? CTRAN_ERR_IN_STATUS : wanted;
        }
        EXPECT_RC(wanted, rc);
    }
}

static void cut_any(ctran_request_t recvs[3])
{
    for (int left = 3; left > 0; left--) {
        ctran_status_t status;
        int            index = -1, rc = ctran_waitany(3, recvs, &index, &status);
        EXPECT(index >= 0 && index < 3);
        EXPECT_RC(index == 1 ? CTRAN_ERR_TRUNCATE : CTRAN_SUCCESS, rc);
        EXPECT_STATUS(&status, prev_rank(), index, index == 1 ? 8 : 64);
    }
}

static void cut_all(ctran_request_t recvs[3], int form)
{
    ctran_status_t statuses[3];
    int            flag = 0;
    if (form == 0) {
        EXPECT_RC(CTRAN_ERR_IN_STATUS, ctran_waitall(3, recvs, statuses));
    } else if (form == 1) {
        int rc = CTRAN_SUCCESS;
        while (flag == 0) {
            rc = ctran_testall(3, recvs, &flag, statuses);
            EXPECT_RC(flag ? CTRAN_ERR_IN_STATUS : CTRAN_SUCCESS, rc);
        }
    } else {
        EXPECT_RC(CTRAN_ERR_IN_STATUS, ctran_waitall(3, recvs, CTRAN_STATUSES_IGNORE));
        return;
    }
    for (int i = 0; i < 3; i++) {
        expect_cut(i, &statuses[i]);
    }
}

void p2p_wait_in_status(void)
{
    char out[64], in[3][64];
    content_fill(out, sizeof out, 11);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    for (int form = 0; form < 6; form++) {
        ctran_request_t recvs[3], sends[3];
        cut_batch(recvs, sends, in, out);
        if (form < 3) {
            cut_all(recvs, form);
        } else if (form == 3) {
            cut_any(recvs);
        } else {
            cut_some(recvs, form == 4);
        }
        for (int i = 0; i < 3; i++) {
            EXPECT_PTR(CTRAN_REQUEST_NULL, recvs[i]);
            EXPECT_CONTENT(in[i], i == 1 ? 8 : 64, 11);
        }
        EXPECT_EQ(0, in[1][8]);
        OK(ctran_waitall(3, sends, CTRAN_STATUSES_IGNORE));
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
}

/* ---- requests that nobody waits for ---------------------------------------------------------- */

/* Freed at once, sends and receives go on; the user learns of the end by a message. */
static void free_pending(size_t len, int index)
{
    char           *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t send, recv, tick;
    const uint64_t  wanted = key_of(prev_rank(), check_rank, 1, index);
    size_t          bad;
    OK(ctran_irecv(in, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), 1, CTRAN_COMM_WORLD, &recv));
    OK(ctran_request_free(&recv));
    EXPECT_PTR(CTRAN_REQUEST_NULL, recv);
    content_fill(out, len, key_of(check_rank, next_rank(), 1, index));
    OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), 1, CTRAN_COMM_WORLD, &send));
    OK(ctran_request_free(&send));
    EXPECT_PTR(CTRAN_REQUEST_NULL, send);
    OK(ctran_irecv(NULL, 0, CTRAN_BYTE, 0, 3, CTRAN_COMM_SELF, &tick));
    while (!content_is(in, len, wanted, &bad)) {
        int flag = -1;
        OK(ctran_test(&tick, &flag, CTRAN_STATUS_IGNORE)); /* drives the transfers */
        EXPECT_EQ(0, flag);
    }
    OK(ctran_send(NULL, 0, CTRAN_BYTE, 0, 3, CTRAN_COMM_SELF));
    OK(ctran_wait(&tick, CTRAN_STATUS_IGNORE));
    EXPECT_GUARDED(in, len, len);
    token(prev_rank(), next_rank(), 2); /* `out` has been read */
    guarded_free(out);
    guarded_free(in);
}

/* Freed when it is complete already. */
static void free_complete(void)
{
    char            out = 'x', in = 0;
    ctran_request_t requests[2];
    OK(ctran_irecv(&in, 1, CTRAN_BYTE, 0, 1, CTRAN_COMM_SELF, &requests[0]));
    OK(ctran_isend(&out, 1, CTRAN_BYTE, 0, 1, CTRAN_COMM_SELF, &requests[1]));
    OK(ctran_sendrecv(NULL, 0, CTRAN_BYTE, 0, 2, NULL, 0, CTRAN_BYTE, 0, 2, CTRAN_COMM_SELF,
                      CTRAN_STATUS_IGNORE));
    EXPECT_EQ('x', in); /* so the first receive is complete: messages do not overtake */
    OK(ctran_request_free(&requests[0]));
    OK(ctran_request_free(&requests[1]));
    OK(ctran_isend(&out, 1, CTRAN_BYTE, CTRAN_PROC_NULL, 1, CTRAN_COMM_SELF, &requests[0]));
    OK(ctran_request_free(&requests[0]));
    EXPECT_PTR(CTRAN_REQUEST_NULL, requests[0]);
}

void p2p_request_free(void)
{
    static const size_t lens[] = {1, 64, 16384, 16385, 100000, 1 << 20};
    for (int i = 0; i < 2 * (int)LEN(lens); i++) {
        free_pending(lens[(size_t)i / 2], i);
    }
    free_complete();
}
