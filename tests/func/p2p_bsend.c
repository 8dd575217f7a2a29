/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_bsend - buffered sends never wait, keep their messages in the buffer of the right size and
 * nowhere else, and say when it is full. Run by p2p.c.
 */
#include "p2p.h"

enum { COUNT = 5, LONG = 200000 };

static const size_t lens[COUNT] = {0, 1, 16384, 16385, LONG};

static int bsend(bool blocking, void *buf, size_t len, int tag)
{
    ctran_request_t request = CTRAN_REQUEST_NULL;
    if (blocking) {
        return ctran_bsend(buf, (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag, CTRAN_COMM_WORLD);
    }
    int rc = ctran_ibsend(buf, (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag, CTRAN_COMM_WORLD,
                          &request);
    EXPECT((request != CTRAN_REQUEST_NULL) == (rc == CTRAN_SUCCESS));
    if (rc == CTRAN_SUCCESS) {
        OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    }
    return rc;
}

/* All messages lie in a buffer just large enough before anybody receives one. */
static void all_at_once(bool blocking, size_t offset)
{
    size_t size = 0;
    for (int i = 0; i < COUNT; i++) {
        size += lens[i] + CTRAN_BSEND_OVERHEAD;
    }
    char         *space = guarded_new(size + offset), *work = guarded_new(LONG);
    void         *back = NULL;
    ctran_count_t back_size = 0;
    OK(ctran_buffer_attach(space + offset, (ctran_count_t)size));
    for (int i = 0; i < COUNT; i++) {
        content_fill(work, lens[i], key_of(check_rank, next_rank(), i, 20));
        OK(bsend(blocking, work, lens[i], i));
        memset(work, 0, LONG); /* it is ours again */
    }
    token(next_rank(), prev_rank(), TAG_GO);
    for (int i = COUNT - 1; i >= 0; i--) {
        ctran_status_t status;
        OK(ctran_recv(work, LONG, CTRAN_BYTE, prev_rank(), i, CTRAN_COMM_WORLD, &status));
        EXPECT_STATUS(&status, prev_rank(), i, lens[i]);
        EXPECT_CONTENT(work, lens[i], key_of(prev_rank(), check_rank, i, 20));
    }
    OK(ctran_buffer_detach(&back, &back_size));
    EXPECT_PTR(space + offset, back);
    EXPECT_EQ(size, back_size);
    EXPECT_GUARDED(space, size + offset, size + offset);
    guarded_free(space);
    guarded_free(work);
}

/* A message that waits for its receive fills the buffer; when it has gone there is room again. */
static void full(void)
{
    const size_t  len = (1 << 20) + 1, size = len + CTRAN_BSEND_OVERHEAD;
    char         *space = malloc(size), *work = malloc(len), *in = malloc(len);
    void         *back = NULL;
    ctran_count_t back_size = 0;
    content_fill(work, len, key_of(check_rank, next_rank(), 1, 21));
    EXPECT_RC(CTRAN_ERR_BUFFER, bsend(true, work, 1, 1)); /* none attached */
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_buffer_detach(&back, &back_size));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_buffer_attach(NULL, 1));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_buffer_attach(space, -1));
    OK(ctran_buffer_attach(space, (ctran_count_t)size));
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_buffer_attach(space, (ctran_count_t)size));
    EXPECT_RC(CTRAN_ERR_BUFFER, bsend(false, work, size, 1));
    for (int round = 0; round < 3; round++) {
        OK(bsend(round == 1, work, len, 1));
        EXPECT_RC(CTRAN_ERR_BUFFER, bsend(true, work, len, 1));
        EXPECT_RC(CTRAN_ERR_BUFFER, bsend(false, work, len, 1));
        OK(ctran_bsend(work, 1, CTRAN_BYTE, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD));
        token(next_rank(), prev_rank(), TAG_GO); /* the next rank's receive comes after that */
        OK(ctran_recv(in, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), 1, CTRAN_COMM_WORLD,
                      CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, 1, 21));
        token(prev_rank(), next_rank(), TAG_READY); /* ours has been received */
    }
    OK(ctran_buffer_detach(&back, &back_size));
    EXPECT_PTR(space, back);
    free(space);
    free(work);
    free(in);
}

void p2p_bsend(void)
{
    ctran_errhandler_t before;
    OK(ctran_comm_get_errhandler(CTRAN_COMM_WORLD, &before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    all_at_once(true, 0);
    all_at_once(false, 3);
    if (size_setting("CTRAN_EAGER_LIMIT", 16 << 10) <= 1 << 20) {
        full();
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, before));
}
