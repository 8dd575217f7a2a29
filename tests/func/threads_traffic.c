/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_traffic - messages that many threads send and receive at once: on communicators of their
 * own, on one for all, to receivers that take anything, and within a process. Run by threads.c.
 */
#include "threads.h"

/* ---- random traffic -------------------------------------------------------------------------- */

enum { ROUNDS = 30, BATCH = 12, LONGEST = 60000 };

struct lane {
    ctran_comm_t comm;
    int          tag; /* added to each message's */
};

struct pair {
    ctran_request_t reqs[2 * BATCH]; /* receives, then sends */
    char           *in[BATCH], *out[BATCH];
    size_t          len[BATCH];
};

/* The lengths of a batch, which both ends draw alike. */
static void draw(struct member *m, struct pair *b)
{
    for (int i = 0; i < BATCH; i++) {
        int most = rng_below(&m->seed, 6) == 0 ? LONGEST : 600;
        b->len[i] = (size_t)rng_below(&m->seed, most);
    }
}

/* To the rank `step` further on and from that as far back, all at once. */
static void start(const struct lane *lane, struct pair *b, int round, int step)
{
    int to = (check_rank + step) % check_size, from = (check_rank - step + check_size) % check_size;
    for (int i = 0; i < BATCH; i++) {
        int tag = lane->tag + i % 3;
        b->in[i] = guarded_new(b->len[i]);
        b->out[i] = malloc(b->len[i] + 1);
        EXPECT(b->out[i] != NULL);
        content_fill(b->out[i], b->len[i], key_of(check_rank, to, lane->tag, round * BATCH + i));
        OK(ctran_irecv(b->in[i], (ctran_count_t)b->len[i], CTRAN_BYTE, from, tag, lane->comm,
                       &b->reqs[i]));
    }
    for (int i = 0; i < BATCH; i++) {
        OK((i % 4 == 3 ? ctran_issend : ctran_isend)(b->out[i], (ctran_count_t)b->len[i],
                                                     CTRAN_BYTE, to, lane->tag + i % 3, lane->comm,
                                                     &b->reqs[BATCH + i]));
    }
}

/* One of the ways there are to complete requests. */
static void complete(struct member *m, struct pair *b)
{
    int flag = 0, index, left = 2 * BATCH, n, done[2 * BATCH];
    switch (rng_below(&m->mine, 6)) {
    case 0:
        OK(ctran_waitall(2 * BATCH, b->reqs, CTRAN_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = 2 * BATCH; i-- > 0;) {
            OK(ctran_wait(&b->reqs[i], CTRAN_STATUS_IGNORE));
        }
        break;
    case 2:
        for (; left > 0; left--) {
            OK(ctran_waitany(2 * BATCH, b->reqs, &index, CTRAN_STATUS_IGNORE));
            EXPECT(index >= 0 && index < 2 * BATCH);
        }
        break;
    case 3:
        for (; left > 0; left -= n) {
            OK(ctran_waitsome(2 * BATCH, b->reqs, &n, done, CTRAN_STATUSES_IGNORE));
            EXPECT(n > 0);
        }
        break;
    case 4:
        while (!flag) {
            OK(ctran_testall(2 * BATCH, b->reqs, &flag, CTRAN_STATUSES_IGNORE));
        }
        break;
    default:
        for (; left > 0; left -= flag) {
            OK(ctran_testany(2 * BATCH, b->reqs, &index, &flag, CTRAN_STATUS_IGNORE));
        }
    }
}

static void finish(const struct lane *lane, struct pair *b, int round, int step)
{
    int from = (check_rank - step + check_size) % check_size;
    for (int i = 0; i < BATCH; i++) {
        EXPECT_PTR(CTRAN_REQUEST_NULL, b->reqs[i]);
        EXPECT_CONTENT(b->in[i], b->len[i], key_of(from, check_rank, lane->tag, round * BATCH + i));
        EXPECT_GUARDED(b->in[i], b->len[i], b->len[i]);
        guarded_free(b->in[i]);
        free(b->out[i]);
    }
}

static void traffic(struct member *m, const struct lane *lane)
{
    struct pair b;
    for (int round = 0; round < ROUNDS; round++) {
        int step = rng_below(&m->seed, check_size);
        draw(m, &b);
        start(lane, &b, round, step);
        complete(m, &b);
        finish(lane, &b, round, step);
    }
}

static void own_comm(struct member *m)
{
    traffic(m, &(struct lane){m->comm, 0});
}

void run_own_comms(void)
{
    team_run(own_comm, NULL);
}

/* One member after the other, which no lock of the library's sees. */
static void in_turns(struct member *m)
{
    for (int turn = 0; turn < MEMBERS; turn++) {
        if (turn == m->me) {
            own_comm(m);
        }
        team_meet();
    }
}

void run_in_turns(void)
{
    team_run(in_turns, NULL);
}

static void shared_comm(struct member *m)
{
    traffic(m, &(struct lane){CTRAN_COMM_WORLD, 10 * m->me});
}

void run_shared_comm(void)
{
    team_run(shared_comm, NULL);
}

/* ---- anything from anybody ------------------------------------------------------------------- */

enum { MANY = 200, TAGS = 4 };

/* What the receivers of this rank have got: each message once. */
struct got {
    ctran_comm_t  comm;
    atomic_uchar *seen;  /* by source and index */
    atomic_int    taken; /* messages that a receiver has set out to take */
};

struct note {
    int32_t source, index;
    char    more[100];
};

static void take_note(struct got *g, const struct note *note, const ctran_status_t *status)
{
    EXPECT_EQ(status->CTRAN_SOURCE, note->source);
    EXPECT(note->index >= 0 && note->index < MANY);
    EXPECT_CONTENT(note->more, sizeof note->more, key_of(note->source, check_rank, note->index, 0));
    EXPECT_EQ(0, atomic_fetch_add(&g->seen[note->source * MANY + note->index], 1));
}

/* This member's share of what its rank sends to everybody; some wait for their receiver. */
static void send_notes(struct member *m, const struct got *g)
{
    struct note note = {.source = check_rank};
    for (note.index = m->me; note.index < MANY; note.index += MEMBERS) {
        for (int to = 0; to < check_size; to++) {
            content_fill(note.more, sizeof note.more, key_of(check_rank, to, note.index, 0));
            ctran_request_t req;
            OK((note.index % 16 == 5 ? ctran_issend : ctran_isend)(
                &note, sizeof note, CTRAN_BYTE, to, rng_below(&m->mine, TAGS), g->comm, &req));
            OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
        }
    }
}

static void got_init(struct got *g)
{
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &g->comm));
    g->seen = calloc((size_t)check_size * MANY, sizeof *g->seen);
    EXPECT(g->seen != NULL);
    atomic_init(&g->taken, 0);
}

static void got_check(struct got *g)
{
    for (int i = 0; i < check_size * MANY; i++) {
        EXPECT_EQ(1, g->seen[i]);
    }
    free(g->seen);
    OK(ctran_comm_free(&g->comm));
}

/* Members 0 and 1 receive, the others send; so that synchronous sends are met. */
static void wild(struct member *m)
{
    struct got    *g = m->arg;
    struct note    note;
    ctran_status_t status;
    if (m->me >= 2) {
        for (int share = m->me - 2; share < MEMBERS; share += 2) {
            struct member as = *m;
            as.me = share;
            send_notes(&as, g);
        }
        return;
    }
    while (atomic_fetch_add(&g->taken, 1) < check_size * MANY) {
        OK(ctran_recv(&note, sizeof note, CTRAN_BYTE, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, g->comm,
                      &status));
        EXPECT_STATUS(&status, note.source, status.CTRAN_TAG, sizeof note);
        take_note(g, &note, &status);
    }
}

void run_wildcards(void)
{
    struct got g;
    got_init(&g);
    team_run(wild, &g);
    got_check(&g);
}

/* A message of any rank, by probe and matched receive; in one of four ways. */
static void probe_one(struct member *m, struct got *g)
{
    ctran_message_t message;
    ctran_status_t  status, again;
    ctran_request_t req;
    struct note     note;
    int             flag = 0, way = rng_below(&m->mine, 4);
    if (way == 0) {
        OK(ctran_probe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, g->comm, &status));
    }
    while (way == 1 && !flag) {
        OK(ctran_improbe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, g->comm, &flag, &message, &status));
    }
    if (!flag) { /* what ctran_probe has seen may be another thread's by now */
        OK(ctran_mprobe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, g->comm, &message, &status));
    }
    if (way == 2) {
        OK(ctran_imrecv(&note, sizeof note, CTRAN_BYTE, &message, &req));
        OK(ctran_wait(&req, &again));
    } else {
        OK(ctran_mrecv(&note, sizeof note, CTRAN_BYTE, &message, &again));
    }
    EXPECT_STATUS(&again, status.CTRAN_SOURCE, status.CTRAN_TAG, sizeof note);
    take_note(g, &note, &again);
}

static void probing(struct member *m)
{
    struct got *g = m->arg;
    if (m->me >= 2) {
        wild(m);
        return;
    }
    while (atomic_fetch_add(&g->taken, 1) < check_size * MANY) {
        probe_one(m, g);
    }
}

void run_mprobes(void)
{
    struct got g;
    got_init(&g);
    team_run(probing, &g);
    got_check(&g);
}

/* ---- within a process ------------------------------------------------------------------------ */

enum { EXCHANGES = 500 };

/* Members 0 and 1, 2 and 3 play ping-pong: whoever sleeps is woken by a thread of its own. */
static void to_self(struct member *m)
{
    int mine = m->me, other = m->me ^ 1, number, out;
    for (int i = 0; i < EXCHANGES; i++) {
        if (m->me % 2 == 0) {
            OK(ctran_send(&i, 1, CTRAN_INT, 0, other, CTRAN_COMM_SELF));
        }
        OK(ctran_recv(&number, 1, CTRAN_INT, 0, mine, CTRAN_COMM_SELF, CTRAN_STATUS_IGNORE));
        out = m->me % 2 == 0 ? i + 1000 : i;
        EXPECT_EQ(out, number);
        if (m->me % 2 == 1) {
            out = i + 1000;
            OK((i % 2 == 0 ? ctran_send : ctran_ssend)(&out, 1, CTRAN_INT, 0, other,
                                                       CTRAN_COMM_SELF));
        }
    }
}

void run_to_self(void)
{
    team_run(to_self, NULL);
}
