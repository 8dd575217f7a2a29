/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_bsend - buffered sends never wait, keep their messages in the right buffer and nowhere else,
 * and say when it is full; flushes wait for what they find. Run by p2p.c.
 */
#include "foreign.h"
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
    OK(ctran_buffer_attach(foreign_exempt(space + offset, (ptrdiff_t)size), (ctran_count_t)size));
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
    OK(ctran_buffer_attach(foreign_exempt(space, (ptrdiff_t)size), (ctran_count_t)size));
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

/* ---- whose buffer ---------------------------------------------------------------------------- */

enum { ROOM = 2 * CTRAN_BSEND_OVERHEAD, UNUSED = 0x5a };

/* A buffer that shows whether it has been used, and its owner: none, a communicator or a session.
 */
struct place {
    unsigned char   memory[ROOM];
    ctran_comm_t    comm;
    ctran_session_t session;
};

static int attach(const struct place *pl, void *buffer, ctran_count_t size)
{
    (void)foreign_exempt(buffer, size);
    return pl->comm != CTRAN_COMM_NULL ? ctran_comm_attach_buffer(pl->comm, buffer, size)
           : pl->session != CTRAN_SESSION_NULL
               ? ctran_session_attach_buffer(pl->session, buffer, size)
               : ctran_buffer_attach(buffer, size);
}

static int detach(const struct place *pl, void *buffer_addr, ctran_count_t *size)
{
    return pl->comm != CTRAN_COMM_NULL ? ctran_comm_detach_buffer(pl->comm, buffer_addr, size)
           : pl->session != CTRAN_SESSION_NULL
               ? ctran_session_detach_buffer(pl->session, buffer_addr, size)
               : ctran_buffer_detach(buffer_addr, size);
}

static int flush(const struct place *pl)
{
    return pl->comm != CTRAN_COMM_NULL         ? ctran_comm_flush_buffer(pl->comm)
           : pl->session != CTRAN_SESSION_NULL ? ctran_session_flush_buffer(pl->session)
                                               : ctran_buffer_flush();
}

static int iflush(const struct place *pl, ctran_request_t *request)
{
    return pl->comm != CTRAN_COMM_NULL         ? ctran_comm_iflush_buffer(pl->comm, request)
           : pl->session != CTRAN_SESSION_NULL ? ctran_session_iflush_buffer(pl->session, request)
                                               : ctran_buffer_iflush(request);
}

static bool used(const struct place *pl)
{
    for (size_t i = 0; i < ROOM; i++) {
        if (pl->memory[i] != UNUSED) {
            return true;
        }
    }
    return false;
}

/* A message to oneself on comm; which of the places has kept it? -1: none. */
static int who_keeps(struct place places[], int n, ctran_comm_t comm)
{
    int me, in = -1, keeper = -1;
    for (int i = 0; i < n; i++) {
        int rc = flush(&places[i]); /* what it keeps of an earlier message is not ours to change */
        EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_BUFFER);
        memset(places[i].memory, UNUSED, ROOM);
    }
    OK(ctran_comm_rank(comm, &me));
    OK(ctran_bsend(&me, 1, CTRAN_INT, me, 3, comm));
    OK(ctran_recv(&in, 1, CTRAN_INT, me, 3, comm, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(me, in);
    for (int i = 0; i < n; i++) {
        if (used(&places[i])) {
            EXPECT_EQ(-1, keeper);
            keeper = i;
        }
    }
    return keeper;
}

static ctran_comm_t session_comm(ctran_session_t session)
{
    ctran_group_t all, part;
    ctran_comm_t  comm;
    int           range[1][3] = {{check_size - 1, 0, -1}};
    OK(ctran_group_from_session_pset(session, "mpi://WORLD", &all));
    OK(ctran_group_range_incl(all, 1, range,
                              &part)); /* what is made of a group is of its session */
    OK(ctran_comm_create_from_group(part, "ctran.tests.bsend", CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN,
                                    &comm));
    OK(ctran_group_free(&part));
    OK(ctran_group_free(&all));
    return comm;
}

static void fails_without(const struct place *pl)
{
    void           *back = &back;
    ctran_count_t   size = -7;
    ctran_request_t request = CTRAN_REQUEST_NULL;
    EXPECT_RC(CTRAN_ERR_BUFFER, detach(pl, &back, &size));
    EXPECT_PTR(&back, back);
    EXPECT_EQ(-7, size);
    EXPECT_RC(CTRAN_ERR_BUFFER, flush(pl));
    EXPECT_RC(CTRAN_ERR_BUFFER, iflush(pl, &request));
    EXPECT_PTR(CTRAN_REQUEST_NULL, request);
    EXPECT_RC(CTRAN_ERR_BUFFER, attach(pl, NULL, ROOM));
    EXPECT_RC(CTRAN_ERR_ARG, attach(pl, (void *)pl->memory, -1));
}

static void give_back(struct place *pl, void *want, ctran_count_t want_size)
{
    void         *back = NULL;
    ctran_count_t size = -7;
    EXPECT_RC(CTRAN_ERR_BUFFER, attach(pl, pl->memory, ROOM));
    EXPECT_RC(CTRAN_ERR_BUFFER, attach(pl, CTRAN_BUFFER_AUTOMATIC, 0));
    EXPECT_RC(CTRAN_ERR_ARG, detach(pl, NULL, &size));
    EXPECT_RC(CTRAN_ERR_ARG, detach(pl, &back, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, iflush(pl, NULL));
    OK(flush(pl));
    OK(detach(pl, &back, &size));
    EXPECT_PTR(want, back);
    EXPECT_EQ(want_size, size);
    fails_without(pl);
}

/* The communicator's buffer comes before its session's, and that before the process's, also where
 * it is full. */
static void whose(void)
{
    enum { PROCESS, SESSION, COMM, PLACES };
    static struct place places[PLACES];
    ctran_session_t     session, other;
    ctran_comm_t        copy, halves;
    OK(ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &session));
    OK(ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &other));
    ctran_comm_t comm = session_comm(session);
    OK(ctran_comm_dup(comm, &copy));
    OK(ctran_comm_split(copy, check_rank % 2, 0, &halves));
    places[PROCESS] = (struct place){.comm = CTRAN_COMM_NULL, .session = CTRAN_SESSION_NULL};
    places[SESSION] = (struct place){.comm = CTRAN_COMM_NULL, .session = session};
    places[COMM] = (struct place){.comm = comm};
    for (int i = 0; i < PLACES; i++) {
        fails_without(&places[i]);
    }
    for (int i = 0; i < PLACES; i++) {
        OK(attach(&places[i], places[i].memory, ROOM));
        EXPECT_EQ(PROCESS, who_keeps(places, PLACES, CTRAN_COMM_WORLD));
        EXPECT_EQ(i, who_keeps(places, PLACES, comm));
        EXPECT_EQ(i < SESSION ? i : SESSION, who_keeps(places, PLACES, copy));
        EXPECT_EQ(i < SESSION ? i : SESSION, who_keeps(places, PLACES, halves));
    }
    EXPECT_RC(CTRAN_ERR_BUFFER, ctran_bsend(places, ROOM, CTRAN_BYTE, 0, 3, comm));
    OK(ctran_session_attach_buffer(other, CTRAN_BUFFER_AUTOMATIC, -1)); /* nobody's here */
    EXPECT_EQ(SESSION, who_keeps(places, PLACES, copy));
    for (int i = PLACES - 1; i >= 0; i--) {
        give_back(&places[i], places[i].memory, ROOM);
        OK(attach(&places[i], CTRAN_BUFFER_AUTOMATIC, 12345));
        EXPECT_EQ(-1, who_keeps(places, PLACES, comm));
        give_back(&places[i], CTRAN_BUFFER_AUTOMATIC, 0);
    }
    OK(ctran_comm_free(&halves));
    OK(ctran_comm_free(&copy));
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&other)); /* with its buffer */
    OK(ctran_session_finalize(&session));
}

/* An automatic buffer has room for what an attached one would need to be told of. */
static void automatic(void)
{
    enum { MESSAGES = 8 };
    char         *work = malloc(LONG);
    void         *back = NULL;
    ctran_count_t size = -1;
    OK(ctran_buffer_attach(CTRAN_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < MESSAGES; i++) {
        content_fill(work, LONG, key_of(check_rank, next_rank(), i, 22));
        OK(bsend(i % 2 == 0, work, LONG, i));
    }
    token(next_rank(), prev_rank(), TAG_GO);
    for (int i = 0; i < MESSAGES; i++) {
        OK(ctran_recv(work, LONG, CTRAN_BYTE, prev_rank(), i, CTRAN_COMM_WORLD,
                      CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(work, LONG, key_of(prev_rank(), check_rank, i, 22));
    }
    OK(ctran_buffer_detach(&back, &size));
    EXPECT_PTR(CTRAN_BUFFER_AUTOMATIC, back);
    free(work);
}

/* ---- flushing -------------------------------------------------------------------------------- */

static void receive(void *in, size_t len, int tag, ctran_comm_t comm)
{
    OK(ctran_recv(in, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), tag, comm, CTRAN_STATUS_IGNORE));
    EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, tag, 23));
}

static void post(void *out, size_t len, int tag, ctran_comm_t comm)
{
    content_fill(out, len, key_of(check_rank, next_rank(), tag, 23));
    OK(ctran_bsend(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag, comm));
}

/* A flush is not done before its messages have been received, and does not wait for later ones.
 * What frees the communicator waits like detach. */
static void flushes(void)
{
    const size_t    len = (1 << 20) + 1, size = 3 * (len + CTRAN_BSEND_OVERHEAD);
    char           *space = malloc(size), *work = malloc(len);
    int             flag = -1;
    ctran_status_t  status;
    ctran_request_t request, second, freed;
    ctran_comm_t    comm;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_attach_buffer(comm, foreign_exempt(space, (ptrdiff_t)size), (ctran_count_t)size));
    OK(ctran_comm_iflush_buffer(comm, &request));
    OK(ctran_test(&request, &flag, &status)); /* nothing to wait for */
    EXPECT_EQ(1, flag);
    EXPECT_STATUS(&status, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, 0);
    post(work, len, 1, comm);
    OK(ctran_comm_iflush_buffer(comm, &request));
    post(work, len, 2, comm);
    OK(ctran_comm_iflush_buffer(comm, &second));
    OK(ctran_comm_iflush_buffer(comm, &freed));
    OK(ctran_request_free(&freed));
    OK(ctran_test(&request, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(0, flag);
    EXPECT_RC(CTRAN_ERR_REQUEST, ctran_cancel(&request));
    token(next_rank(), prev_rank(), TAG_GO); /* the next rank's receives come after that */
    receive(work, len, 1, comm);
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE)); /* nobody has received the other one yet */
    token(next_rank(), prev_rank(), TAG_READY);
    OK(ctran_test(&second, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(0, flag);
    token(next_rank(), prev_rank(), TAG_GO);
    receive(work, len, 2, comm);
    OK(ctran_comm_flush_buffer(comm));
    OK(ctran_test(&second, &flag, CTRAN_STATUS_IGNORE));
    EXPECT_EQ(1, flag);
    for (int tag = 3; tag < 6; tag++) {
        post(work, len, tag, comm); /* all of it is free again */
    }
    for (int tag = 3; tag < 6; tag++) {
        receive(work, len, tag, comm);
    }
    OK(ctran_comm_flush_buffer(comm));
    post(work, len, 6, comm);
    ctran_request_t receiving;
    OK(ctran_irecv(work, (ctran_count_t)len, CTRAN_BYTE, prev_rank(), 6, comm, &receiving));
    OK(ctran_comm_free(&comm));
    memset(space, 0, size); /* it is ours: the message does not need it */
    OK(ctran_wait(&receiving, CTRAN_STATUS_IGNORE));
    EXPECT_CONTENT(work, len, key_of(prev_rank(), check_rank, 6, 23));
    free(space);
    free(work);
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
        flushes();
    }
    whose();
    automatic();
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, before));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, before));
}
