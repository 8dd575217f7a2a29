/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of messages between all pairs of ranks, one message under way in each direction. A stream
 * ends with its last message or with an error, which must be CTRAN_ERR_PROC_FAILED and about a
 * victim. A sender sends its last message once it knows of all deaths and some more have gone, so
 * those that live exchange data before, during and after each death. Some streams are of
 * partitioned messages.
 *
 * Besides, a receive from anybody waits on a communicator with the victims, which only a death can
 * end, and one on a communicator without, which only a message ends.
 */
#include "fault.h"

enum { HEAD_BYTES = 16, MESSAGES_AFTER = 8, TAGS = 5 };
enum { SENT_PARTS = 6, RECEIVED_PARTS = 4, EVEN_PARTS = 12 }; /* both divide the last */

/* Partitioned streams go to the ranks at these distances; their number is the tag. */
static const int distances[] = {1, 3};

/* What a message starts with. */
struct head {
    uint64_t index;
    uint64_t last;
};

struct stream {
    int      peer;
    bool     is_send, ended, failed;
    bool     sending_last;
    int      parted_tag; /* 0: not partitioned */
    uint64_t index;      /* of the message under way */
    char    *buf;
};

struct traffic {
    const struct fault_plan *plan;
    size_t                   most_bytes;
    int                      n; /* streams: n sends, n receives, then the partitioned ones */
    int                      nstreams;
    struct stream           *streams;
    ctran_request_t         *reqs;
    int                      nknown; /* deaths */
    bool                    *known;
    int                      sent_after; /* messages of all streams since the last death */
};

static uint64_t message_key(int source, int dest, const struct stream *s)
{
    return key_of(source, dest, 77 + s->parted_tag, (int)s->index) ^ check_seed;
}

static size_t parted_bytes(const struct traffic *t)
{
    size_t most = fault_is_mode(t->plan, "large") ? t->most_bytes : (size_t)20000;
    return most / EVEN_PARTS * EVEN_PARTS;
}

static size_t message_bytes(const struct traffic *t, const struct stream *s, uint64_t key)
{
    uint64_t x = mix(key);
    if (s->parted_tag != 0) {
        return parted_bytes(t);
    }
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
    return s->is_send ? message_key(check_rank, s->peer, s) : message_key(s->peer, check_rank, s);
}

static int tag_now(const struct stream *s, uint64_t key)
{
    return s->parted_tag != 0 ? s->parted_tag : (int)(key % TAGS);
}

/* All parts, in no order; that the peer has died meanwhile is not told here. */
static void mark_parts(ctran_request_t req)
{
    static const int some[] = {2, 0};
    OK(ctran_pready_range(3, SENT_PARTS - 1, req));
    OK(ctran_pready(1, req));
    OK(ctran_pready_list((int)LEN(some), some, req));
}

static void start_send(struct traffic *t, struct stream *s, ctran_request_t *req)
{
    uint64_t key = key_now(s);
    size_t   bytes = message_bytes(t, s, key);
    bool     last = t->nknown == expected_deaths(t) && t->sent_after >= MESSAGES_AFTER * t->n &&
                !(fault_is_victim(t->plan, check_rank) && expected_deaths(t) > 0);
    struct head head = {s->index, last};
    memcpy(s->buf, &head, sizeof head);
    content_fill(s->buf + HEAD_BYTES, bytes - HEAD_BYTES, key);
    s->sending_last = last;
    if (s->parted_tag != 0) {
        OK(ctran_start(req));
        mark_parts(*req);
        return;
    }
    OK(ctran_isend(s->buf, (ctran_count_t)bytes, CTRAN_BYTE, s->peer, (int)(key % TAGS),
                   CTRAN_COMM_WORLD, req));
}

static void start_recv(struct traffic *t, struct stream *s, ctran_request_t *req)
{
    uint64_t key = key_now(s);
    int      tag = mix(key) % 3 == 0 ? CTRAN_ANY_TAG : (int)(key % TAGS);
    guarded_reset(s->buf, t->most_bytes);
    if (s->parted_tag != 0) {
        OK(ctran_start(req));
        return;
    }
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
    size_t      bytes = message_bytes(t, s, key);
    struct head head;
    memcpy(&head, s->buf, sizeof head);
    EXPECT_EQ(s->index, head.index);
    EXPECT_STATUS(status, s->peer, tag_now(s, key), bytes);
    EXPECT_CONTENT(s->buf + HEAD_BYTES, bytes - HEAD_BYTES, key);
    EXPECT_GUARDED(s->buf, t->most_bytes, bytes);
    s->ended = head.last != 0;
}

/* ---- deaths ---------------------------------------------------------------------------------- */

/* What is started with the dead peer fails at once. */
static void fail_again(struct traffic *t, struct stream *s, ctran_request_t *parted)
{
    ctran_request_t plain, *again = s->parted_tag != 0 ? parted : &plain;
    int             flag = 0, rc;
    if (!s->is_send) {
        guarded_reset(s->buf, t->most_bytes);
    }
    if (s->parted_tag != 0) {
        OK(ctran_start(again));
        if (s->is_send) {
            mark_parts(*again);
        }
    } else if (s->is_send) {
        OK(ctran_isend(s->buf, HEAD_BYTES, CTRAN_BYTE, s->peer, 0, CTRAN_COMM_WORLD, again));
    } else {
        OK(ctran_irecv(s->buf, HEAD_BYTES, CTRAN_BYTE, s->peer, 0, CTRAN_COMM_WORLD, again));
    }
    if (s->parted_tag != 0) { /* its parts may still be on their way out */
        rc = ctran_wait(again, CTRAN_STATUS_IGNORE);
    } else {
        rc = ctran_test(again, &flag, CTRAN_STATUS_IGNORE);
        EXPECT_EQ(1, flag);
    }
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, rc);
}

/* From now on nothing writes to the buffer. */
static void fail(struct traffic *t, int i, int error)
{
    struct stream *s = &t->streams[i];
    EXPECT_EQ(CTRAN_ERR_PROC_FAILED, error);
    EXPECT(fault_is_victim(t->plan, s->peer));
    if (!t->known[s->peer]) {
        t->known[s->peer] = true;
        t->nknown++;
        t->sent_after = 0;
        fault_print_knows(s->peer);
    }
    s->ended = s->failed = true;
    fail_again(t, s, &t->reqs[i]);
}

/* ---- all streams ----------------------------------------------------------------------------- */

static void take(struct traffic *t, int i, const ctran_status_t *status, int error)
{
    struct stream *s = &t->streams[i];
    if (error != CTRAN_SUCCESS) {
        fail(t, i, error);
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
    int            *indices = calloc((size_t)t->nstreams, sizeof *indices);
    ctran_status_t *statuses = calloc((size_t)t->nstreams, sizeof *statuses);
    EXPECT(indices != NULL && statuses != NULL);
    for (int i = 0; i < t->nstreams; i++) {
        start(t, i);
    }
    while (true) {
        int done, rc;
        fault_point();
        rc = ctran_waitsome(t->nstreams, t->reqs, &done, indices, statuses);
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

static void set_up_parted(struct traffic *t, int i, int distance)
{
    struct stream *s = &t->streams[i];
    const size_t   bytes = parted_bytes(t);
    s->parted_tag = distance;
    if (s->is_send) {
        s->peer = (check_rank + distance) % check_size;
        OK(ctran_psend_init(s->buf, SENT_PARTS, (ctran_count_t)(bytes / SENT_PARTS), CTRAN_BYTE,
                            s->peer, distance, CTRAN_COMM_WORLD, CTRAN_INFO_NULL, &t->reqs[i]));
    } else {
        s->peer = (check_rank + check_size - distance) % check_size;
        OK(ctran_precv_init(s->buf, RECEIVED_PARTS, (ctran_count_t)(bytes / RECEIVED_PARTS),
                            CTRAN_BYTE, s->peer, distance, CTRAN_COMM_WORLD, CTRAN_INFO_NULL,
                            &t->reqs[i]));
    }
}

static void set_up(struct traffic *t, const struct fault_plan *plan)
{
    *t = (struct traffic){.plan = plan, .n = check_size - 1};
    t->nstreams = 2 * t->n + 2 * (int)LEN(distances);
    t->most_bytes = fault_is_mode(plan, "large") ? (size_t)2 << 20 : (size_t)128 << 10;
    t->streams = calloc((size_t)t->nstreams, sizeof *t->streams);
    t->reqs = calloc((size_t)t->nstreams, sizeof *t->reqs);
    t->known = calloc((size_t)check_size, sizeof *t->known);
    EXPECT(t->streams != NULL && t->reqs != NULL && t->known != NULL);
    for (int i = 0; i < t->nstreams; i++) {
        struct stream *s = &t->streams[i];
        const int      parted = i - 2 * t->n;
        s->is_send = parted < 0 ? i < t->n : parted % 2 == 0;
        s->peer = (check_rank + 1 + i % t->n) % check_size;
        s->buf = guarded_new(t->most_bytes);
        t->reqs[i] = CTRAN_REQUEST_NULL;
        if (parted >= 0) {
            set_up_parted(t, i, distances[parted / 2]);
        }
    }
}

static void tear_down(struct traffic *t)
{
    for (int i = 0; i < t->nstreams; i++) {
        if (t->reqs[i] != CTRAN_REQUEST_NULL) {
            OK(ctran_request_free(&t->reqs[i]));
        }
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

/* What a death has left pending is received once all deaths are acknowledged, also those that come
 * meanwhile. */
static void go_on_with_anybody(struct anybody *a, ctran_comm_t alive)
{
    ctran_group_t living, world;
    int           me, n, right, to, rc;
    EXPECT(a->dying != CTRAN_REQUEST_NULL);
    OK(ctran_comm_rank(alive, &me));
    OK(ctran_comm_size(alive, &n));
    OK(ctran_comm_group(alive, &living));
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &world));
    right = (me + 1) % n;
    OK(ctran_group_translate_ranks(living, 1, &right, world, &to));
    OK(ctran_barrier(alive)); /* all have seen that it was pending */
    OK(ctran_send(&me, 1, CTRAN_INT, to, 1000, CTRAN_COMM_WORLD));
    do {
        OK(ctran_comm_failure_ack(CTRAN_COMM_WORLD));
        rc = ctran_wait(&a->dying, CTRAN_STATUS_IGNORE);
    } while (rc == CTRAN_ERR_PROC_FAILED_PENDING);
    OK(rc);
    EXPECT_EQ((me + n - 1) % n, a->values[0]);
    OK(ctran_group_free(&world));
    OK(ctran_group_free(&living));
}

static void end_anybody(struct anybody *a, ctran_comm_t alive)
{
    int me, n, value;
    EXPECT_RC(CTRAN_ERR_PROC_FAILED_PENDING, ctran_wait(&a->dying, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_recv(&value, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1000,
                                                CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED,
              ctran_probe(CTRAN_ANY_SOURCE, 1000, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    go_on_with_anybody(a, alive);
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
