/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_fail - copies from and to a device that fail, as they do when its memory has been freed:
 * each is the error of the calls that it concerns, at both ends where both wait, and of no other.
 * Run by device.c.
 */
#include "device.h"
#include "foreign.h"

enum { SHORT = 1000, LONG = 2600000, TAG = 6 }; /* LONG: three copies and more */

/* A message from 0 to 1 of which the n-th copy fails at one end; kind: of the other end. */
static void failing(size_t len, int n, bool at_sender, int kind)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank > 1) {
        return;
    }
    const int own = (check_rank == 0) == at_sender ? DEVICE : kind;
    char     *buf = mem_new(own, len), *host = malloc(len);
    int       rc = CTRAN_SUCCESS;
    EXPECT(host != NULL);
    content_fill(host, len, key_of(check_rank, 0, n, (int)len));
    mem_put(own, buf, host, len);
    foreign_fail((check_rank == 0) == at_sender ? n : 0);
    if (check_rank == 0) {
        rc = ctran_ssend(buf, (ctran_count_t)len, CTRAN_BYTE, 1, TAG, CTRAN_COMM_WORLD);
    } else {
        rc = ctran_recv(buf, (ctran_count_t)len, CTRAN_BYTE, 0, TAG, CTRAN_COMM_WORLD,
                        CTRAN_STATUS_IGNORE);
    }
    foreign_fail(0);
    /* A sender does not hear of what went wrong after the last byte. */
    EXPECT_EQ(at_sender || check_rank == 1 ? CTRAN_ERR_BUFFER : CTRAN_SUCCESS, rc);
    mem_free(own, buf);
    free(host);
}

/* An eager message that cannot be read has not been sent: the next one comes first. */
static void unsent(void)
{
    if (check_rank == 0) {
        char *buf = mem_new(DEVICE, SHORT), text[SHORT];
        for (int i = 0; i < 5000; i++) { /* more than there is credit for, were it lost */
            foreign_fail(-1);
            EXPECT_RC(CTRAN_ERR_BUFFER,
                      ctran_send(buf, SHORT, CTRAN_BYTE, 1, TAG, CTRAN_COMM_WORLD));
        }
        foreign_fail(0);
        content_fill(text, SHORT, 5);
        mem_put(DEVICE, buf, text, SHORT);
        OK(ctran_send(buf, SHORT, CTRAN_BYTE, 1, TAG, CTRAN_COMM_WORLD));
        foreign_fail(1);
        EXPECT_RC(CTRAN_ERR_BUFFER, ctran_sendrecv_replace(buf, SHORT, CTRAN_BYTE, 0, TAG, 0, TAG,
                                                           CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        mem_free(DEVICE, buf);
    } else {
        char in[SHORT];
        OK(ctran_recv(in, SHORT, CTRAN_BYTE, 0, TAG, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(in, SHORT, 5);
    }
}

/* The result of a collective that cannot be stored; all ranks have taken part. */
static void unstored(void)
{
    char *buf = mem_new(DEVICE, LONG);
    foreign_fail(check_rank == 1 ? 1 : 0);
    EXPECT_EQ(check_rank == 1 ? CTRAN_ERR_BUFFER : CTRAN_SUCCESS,
              ctran_bcast(buf, LONG, CTRAN_BYTE, 0, CTRAN_COMM_WORLD));
    foreign_fail(0);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    mem_free(DEVICE, buf);
}

void device_failures(void)
{
    if (check_size < 2 || mem_is_real()) {
        return;
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    for (int kind = HOST; kind <= DEVICE; kind++) {
        for (int at_sender = 0; at_sender < 2; at_sender++) {
            failing(SHORT, 1, at_sender, kind);
            failing(LONG, 1, at_sender, kind);
            failing(LONG, 3, at_sender, kind);
        }
    }
    if (check_rank < 2 && size_setting("CTRAN_EAGER_LIMIT", 4 << 10) >= SHORT) {
        unsent();
    }
    unstored();
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
}
