/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_waits - who waits for what: threads that take the polling over from one another, that
 * wait for requests of another, and that cancel what another waits for. Run by threads.c.
 */
#include "foreign.h"
#include "threads.h"

static int next_rank(void)
{
    return (check_rank + 1) % check_size;
}

static int last_rank(void)
{
    return (check_rank + check_size - 1) % check_size;
}

/* ---- handing over ---------------------------------------------------------------------------- */

enum { TURNS = 40, PINGS = 20 };

/* One member after the other plays with the next rank, while the rest sleep in receives that
 * its last act ends: every time the one that polls leaves while others wait. Tags tell turns and
 * members apart, since a rank may be ahead of its neighbour. */
static void handover(struct member *m)
{
    int number = -1;
    for (int turn = 0; turn < TURNS; turn++) {
        const int ping = 10 * turn, late = ping + 1;
        if (turn % MEMBERS != m->me) {
            OK(ctran_recv(&number, 1, CTRAN_INT, last_rank(), late + m->me, CTRAN_COMM_WORLD,
                          CTRAN_STATUS_IGNORE));
            EXPECT_EQ(turn, number);
            continue;
        }
        for (int i = 0; i < PINGS; i++) {
            OK(ctran_sendrecv(&i, 1, CTRAN_INT, next_rank(), ping, &number, 1, CTRAN_INT,
                              last_rank(), ping, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
            EXPECT_EQ(i, number);
        }
        for (int other = 0; other < MEMBERS; other++) {
            if (other != m->me) {
                OK(ctran_send(&turn, 1, CTRAN_INT, next_rank(), late + other, CTRAN_COMM_WORLD));
            }
        }
    }
}

void run_handover(void)
{
    team_run(handover, NULL);
}

/* ---- requests of another --------------------------------------------------------------------- */

enum { PASSED = 10, LONG = 40000 };

static ctran_request_t passed[MEMBERS][2 * PASSED];

/* Starts sends and receives that the next member completes. */
static void pass_requests(struct member *m)
{
    const size_t lens[] = {1, 100, LONG};
    char        *in[PASSED], *out[PASSED];
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < PASSED; i++) {
            size_t len = lens[i % 3];
            in[i] = guarded_new(len);
            out[i] = malloc(len);
            EXPECT(out[i] != NULL);
            content_fill(out[i], len, key_of(check_rank, next_rank(), m->me, i));
            OK(ctran_irecv(in[i], (ctran_count_t)len, CTRAN_BYTE, last_rank(), i, m->comm,
                           &passed[m->me][i]));
            OK(ctran_isend(out[i], (ctran_count_t)len, CTRAN_BYTE, next_rank(), i, m->comm,
                           &passed[m->me][PASSED + i]));
        }
        team_meet();
        OK(ctran_waitall(2 * PASSED, passed[(m->me + 1) % MEMBERS], CTRAN_STATUSES_IGNORE));
        team_meet();
        for (int i = 0; i < PASSED; i++) {
            EXPECT_CONTENT(in[i], lens[i % 3], key_of(last_rank(), check_rank, m->me, i));
            guarded_free(in[i]);
            free(out[i]);
        }
    }
}

void run_others_requests(void)
{
    team_run(pass_requests, NULL);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

enum { CANCELS = 100, NEVER = 999 };

/* Members 0 and 2 wait for what will not come, until 1 and 3 cancel it. */
static void cancel_waited(struct member *m)
{
    ctran_status_t status;
    int            gone = 0, none;
    for (int i = 0; i < CANCELS; i++) {
        ctran_request_t *req = &passed[m->me / 2][i % (2 * PASSED)];
        if (m->me % 2 == 0) {
            OK(ctran_irecv(&none, 1, CTRAN_INT, CTRAN_ANY_SOURCE, NEVER, m->comm, req));
        }
        team_meet();
        ctran_request_t copy = *req;
        team_meet();
        if (m->me % 2 == 1) {
            OK(ctran_cancel(&copy));
        } else {
            OK(ctran_wait(req, &status));
            OK(ctran_test_cancelled(&status, &gone));
            EXPECT_EQ(1, gone);
        }
        team_meet();
    }
}

/* A message and its receive's end race: either it is received or it is still there. */
static void cancel_raced(struct member *m)
{
    ctran_status_t status;
    int            gone = 0, number = -1, tag = m->me / 2;
    for (int i = 0; i < CANCELS; i++) {
        if (m->me % 2 == 0) {
            ctran_request_t req;
            OK(ctran_irecv(&number, 1, CTRAN_INT, 0, tag, CTRAN_COMM_SELF, &req));
            team_meet();
            OK(ctran_cancel(&req));
            OK(ctran_wait(&req, &status));
            OK(ctran_test_cancelled(&status, &gone));
            if (gone) {
                OK(ctran_recv(&number, 1, CTRAN_INT, 0, tag, CTRAN_COMM_SELF, &status));
            }
            EXPECT_EQ(i, number);
        } else {
            team_meet();
            OK(ctran_send(&i, 1, CTRAN_INT, 0, tag, CTRAN_COMM_SELF));
        }
        team_meet();
    }
}

void run_cancels(void)
{
    team_run(cancel_waited, NULL);
    team_run(cancel_raced, NULL);
}

/* ---- persistent and buffered ----------------------------------------------------------------- */

static void persistent(struct member *m)
{
    enum { BYTES = 5000 };
    ctran_request_t reqs[3];
    char            in[BYTES], out[BYTES];
    int             in_number, out_number;
    OK(ctran_recv_init(in, BYTES, CTRAN_BYTE, last_rank(), 1, m->comm, &reqs[0]));
    OK(ctran_send_init(out, BYTES, CTRAN_BYTE, next_rank(), 1, m->comm, &reqs[1]));
    OK(ctran_recv_init(&in_number, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 2, m->comm, &reqs[2]));
    for (int i = 0; i < 50; i++) {
        content_fill(out, BYTES, key_of(check_rank, next_rank(), m->me, i));
        OK(ctran_startall(3, reqs));
        out_number = i;
        OK(ctran_send(&out_number, 1, CTRAN_INT, next_rank(), 2, m->comm));
        OK(ctran_waitall(3, reqs, CTRAN_STATUSES_IGNORE));
        EXPECT_CONTENT(in, BYTES, key_of(last_rank(), check_rank, m->me, i));
        EXPECT_EQ(i, in_number);
    }
    for (int i = 0; i < 3; i++) {
        OK(ctran_request_free(&reqs[i]));
    }
}

void run_persistent(void)
{
    team_run(persistent, NULL);
}

enum { BUFFERED = 30, BUFFERED_BYTES = 1000 };

static void buffered(struct member *m)
{
    char buf[BUFFERED_BYTES];
    for (int i = 0; i < BUFFERED; i++) {
        content_fill(buf, sizeof buf, key_of(check_rank, next_rank(), m->me, i));
        OK(ctran_bsend(buf, sizeof buf, CTRAN_BYTE, next_rank(), 0, m->comm));
    }
    for (int i = 0; i < BUFFERED; i++) {
        OK(ctran_recv(buf, sizeof buf, CTRAN_BYTE, last_rank(), 0, m->comm, CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(buf, sizeof buf, key_of(last_rank(), check_rank, m->me, i));
    }
}

void run_buffered(void)
{
    ctran_count_t size = MEMBERS * BUFFERED * (BUFFERED_BYTES + CTRAN_BSEND_OVERHEAD);
    void         *buffer = malloc((size_t)size), *back = NULL;
    EXPECT(buffer != NULL);
    OK(ctran_buffer_attach(foreign_exempt(buffer, size), size));
    team_run(buffered, NULL);
    OK(ctran_buffer_detach(&back, &size));
    EXPECT_PTR(buffer, back);
    free(buffer);
}
