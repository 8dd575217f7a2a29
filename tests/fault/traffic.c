/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of messages between all pairs of ranks, one message under way in each direction. A stream
 * ends with its last message or with an error, which must be CTRAN_ERR_PROC_FAILED and about a
 * victim. A sender sends its last message once it knows of all deaths and some more have gone, so
 * those that live exchange data before, during and after each death.
 *
 * Besides, a receive from anybody waits on a communicator with the victims, which only a death can
 * end, and one on a communicator without, which only a message ends.
 */
#include "fault.h"

enum { HEAD_BYTES = 16, MESSAGES_AFTER = 8, TAGS = 5 };

/* What a message starts with. */
struct head {
    uint64_t index;
    uint64_t last;
};

struct stream {
    int      peer;
    bool     is_send, ended, failed;
    bool     sending_last;
    uint64_t index; /* of the message under way */
    char    *buf;
};

struct traffic {
    const struct fault_plan *plan;
    size_t                   most_bytes;
    int                      n; /* streams: n sends, then n receives */
    struct stream           *streams;
    ctran_request_t         *reqs;
    int                      nknown; /* deaths */
    bool                    *known;
    int                      sent_after; /* messages of all streams since the last death */
};

static uint64_t message_key(int source, int dest, uint64_t index)
{
    return key_of(source, dest, 77, (int)index) ^ check_seed;
}

static size_t message_bytes(const struct traffic *t, uint64_t key)
{
    uint64_t x = mix(key);
    if (strcmp(t->plan->mode, "large") == 0) {
        return t->most_bytes / 4 + x % (t->most_bytes * 3 / 4 + 1);
    }
    static const size_t limits[] = {64, 1024, 10000, 100000};
    return HEAD_BYTES + x % (limits[x >> 32 & 3]);
}

static int expected_deaths(const struct traffic *t)
{
    return fault_is_mode(t->plan, "finalize") ? 0 : t->plan->nvictims;
}

/* ---- one message ----------------------------------------------------------------------------- */

static uint64_t key_now(const struct stream *s)
{
    return s->is_send ? message_key(check_rank, s->peer, s->index)
                      : message_key(s->peer, check_rank, s->index);
}

static void start_send(struct traffic *t, struct stream *s, ctran_request_t *req)
{
    uint64_t key = key_now(s);
    size_t   bytes = message_bytes(t, key);
    bool     last = t->nknown == expected_deaths(t) && t->sent_after >= MESSAGES_AFTER * t->n &&
                !(fault_is_victim(t->plan, check_rank) && expected_deaths(t) > 0);
    struct head head = {s->index, last};
    memcpy(s->buf, &head, sizeof head);
    content_fill(s->buf + HEAD_BYTES, bytes - HEAD_BYTES, key);
    s->sending_last = last;
    OK(ctran_isend(s->buf, (ctran_count_t)bytes, CTRAN_BYTE, s->peer, (int)(key % TAGS),
                   CTRAN_COMM_WORLD, req));
}

static void start_recv(struct traffic *t, struct stream *s, ctran_request_t *req)
{
    uint64_t key = key_now(s);
    int      tag = mix(key) % 3 == 0 ? CTRAN_ANY_TAG : (int)(key % TAGS);
    guarded_reset(s->buf, t->most_bytes);
    OK(ctran_irecv(s->buf, (ctran_count_t)t->most_bytes, CTRAN_BYTE, s->peer, tag, CTRAN_COMM_WORLD,
                   req));
}

static void start(struct traffic *t, int i)
{
    if (t->streams[i].is_send) {
        start_send(t, &t->streams[i], &t->reqs[i]);
    } else {
        start_recv(t, &t->streams[i], &t->reqs[i]);
    }
}

static void finish_send(struct traffic *t, struct stream *s)
{
    t->sent_after++;
    s->ended = s->sending_last;
}

static void finish_recv(struct traffic *t, struct stream *s, const ctran_status_t *status)
{
    uint64_t    key = key_now(s);
    size_t      bytes = message_bytes(t, key);
    struct head head;
    memcpy(&head, s->buf, sizeof head);
    EXPECT_EQ(s->index, head.index);
    EXPECT_STATUS(status, s->peer, (int)(key % TAGS), bytes);
    EXPECT_CONTENT(s->buf + HEAD_BYTES, bytes - HEAD_BYTES, key);
    EXPECT_GUARDED(s->buf, t->most_bytes, bytes);
    s->ended = head.last != 0;
}

/* ---- deaths ---------------------------------------------------------------------------------- */

/* From now on nothing writes to the buffer, and what is started with the peer fails at once. */
static void fail(struct traffic *t, struct stream *s, int error)
{
    ctran_request_t again;
    int             flag = 0, rc;
    EXPECT_EQ(CTRAN_ERR_PROC_FAILED, error);
    EXPECT(fault_is_victim(t->plan, s->peer));
    if (!t->known[s->peer]) {
        t->known[s->peer] = true;
        t->nknown++;
        t->sent_after = 0;
        fault_say_knows(s->peer);
    }
    s->ended = s->failed = true;
    if (s->is_send) {
        OK(ctran_isend(s->buf, HEAD_BYTES, CTRAN_BYTE, s->peer, 0, CTRAN_COMM_WORLD, &again));
    } else {
        guarded_reset(s->buf, t->most_bytes);
        OK(ctran_irecv(s->buf, HEAD_BYTES, CTRAN_BYTE, s->peer, 0, CTRAN_COMM_WORLD, &again));
    }
    rc = ctran_test(&again, &flag, CTRAN_STATUS_IGNORE);
    EXPECT_EQ(1, flag);
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, rc);
}

/* ---- all streams ----------------------------------------------------------------------------- */

static void take(struct traffic *t, int i, const ctran_status_t *status, int error)
{
    struct stream *s = &t->streams[i];
    if (error != CTRAN_SUCCESS) {
        fail(t, s, error);
        return;
    }
    if (s->is_send) {
        finish_send(t, s);
    } else {
        finish_recv(t, s, status);
    }
    s->index++;
    if (!s->ended) {
        start(t, i);
    }
}

static void exchange(struct traffic *t)
{
    int            *indices = calloc(2 * (size_t)t->n, sizeof *indices);
    ctran_status_t *statuses = calloc(2 * (size_t)t->n, sizeof *statuses);
    EXPECT(indices != NULL && statuses != NULL);
    for (int i = 0; i < 2 * t->n; i++) {
        start(t, i);
    }
    while (true) {
        int done, rc;
        fault_point();
        rc = ctran_waitsome(2 * t->n, t->reqs, &done, indices, statuses);
        if (done == CTRAN_UNDEFINED) {
            break;
        }
        EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_IN_STATUS);
        for (int k = 0; k < done; k++) {
            take(t, indices[k], &statuses[k],
                 rc == CTRAN_SUCCESS ? CTRAN_SUCCESS : statuses[k].CTRAN_ERROR);
        }
    }
    free(indices);
    free(statuses);
}

static void set_up(struct traffic *t, const struct fault_plan *plan)
{
    *t = (struct traffic){.plan = plan, .n = check_size - 1};
    t->most_bytes = fault_is_mode(plan, "large") ? (size_t)2 << 20 : (size_t)128 << 10;
    t->streams = calloc(2 * (size_t)t->n, sizeof *t->streams);
    t->reqs = calloc(2 * (size_t)t->n, sizeof *t->reqs);
    t->known = calloc((size_t)check_size, sizeof *t->known);
    EXPECT(t->streams != NULL && t->reqs != NULL && t->known != NULL);
    for (int i = 0; i < 2 * t->n; i++) {
        struct stream *s = &t->streams[i];
        s->is_send = i < t->n;
        s->peer = (check_rank + 1 + i % t->n) % check_size;
        s->buf = guarded_new(t->most_bytes);
        t->reqs[i] = CTRAN_REQUEST_NULL;
    }
}

static void tear_down(struct traffic *t)
{
    for (int i = 0; i < 2 * t->n; i++) {
        if (t->streams[i].failed && !t->streams[i].is_send) {
            EXPECT_GUARDED(t->streams[i].buf, t->most_bytes, 0);
        }
        guarded_free(t->streams[i].buf);
    }
    free(t->streams);
    free(t->reqs);
    free(t->known);
}

/* ---- receives from anybody ------------------------------------------------------------------- */

struct anybody {
    ctran_request_t dying, living;
    int             values[2];
};

static void post_anybody(struct anybody *a, ctran_comm_t alive)
{
    OK(ctran_irecv(&a->values[0], 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1000, CTRAN_COMM_WORLD,
                   &a->dying));
    OK(ctran_irecv(&a->values[1], 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1000, alive, &a->living));
}

static void end_anybody(struct anybody *a, ctran_comm_t alive)
{
    int me, n, value;
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_wait(&a->dying, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_recv(&value, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1000,
                                                CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED,
              ctran_probe(CTRAN_ANY_SOURCE, 1000, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_rank(alive, &me));
    OK(ctran_comm_size(alive, &n));
    OK(ctran_send(&me, 1, CTRAN_INT, (me + 1) % n, 1000, alive));
    OK(ctran_wait(&a->living, CTRAN_STATUS_IGNORE));
    EXPECT_EQ((me + n - 1) % n, a->values[1]);
}

void fault_run_traffic(const struct fault_plan *plan, ctran_comm_t alive)
{
    struct traffic t;
    struct anybody a;
    bool           lives = alive != CTRAN_COMM_NULL && !fault_is_mode(plan, "finalize");
    set_up(&t, plan);
    if (fault_is_mode(plan, "traffic") || fault_is_mode(plan, "large") ||
        fault_is_mode(plan, "connect")) {
        fault_arm(plan, check_rank);
    }
    if (lives) {
        post_anybody(&a, alive);
    }
    exchange(&t);
    if (lives) {
        end_anybody(&a, alive);
    }
    tear_down(&t);
}
