/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p_traffic - many messages at a time: random ones between random ranks, a flood of short ones
 * to a receiver that does not look, more than the buffers between two ranks hold, and long ones
 * both ways. Run by p2p.c.
 */
#include "p2p.h"

/* ---- random traffic -------------------------------------------------------------------------- */

enum { MESSAGES = 2000, WINDOW = 100, LONGEST = 300000 };

/* How a message is received; each way has a communicator of its own, so that wildcards meet only
 * messages meant for them. ANY_AT_ALL occurs in every other window. */
enum way { EXACT, ANY_SOURCE, ANY_AT_ALL, WAYS };

struct message {
    int      source, dest, tag;
    enum way way;
    size_t   len;
};

struct traffic {
    struct message  plan[MESSAGES]; /* the same at every rank */
    ctran_comm_t    comms[WAYS];
    uint64_t        seed;            /* this rank's own choices */
    int             last_from[1024]; /* ANY_AT_ALL: index of the last message of each source */
    int             count;           /* the window's requests, receives and sends in any order */
    ctran_request_t requests[2 * WINDOW];
    int             message[2 * WINDOW]; /* index of the message; -1 - index for a send */
    char           *bufs[2 * WINDOW];
};

static size_t draw_len(uint64_t *seed)
{
    static const int spans[] = {1, 16, 100, 100, 100, 1000, 5000, 20000};
    if (rng_below(seed, 40) == 0) {
        return 8 + (size_t)rng_below(seed, LONGEST - 8);
    }
    return 8 + (size_t)rng_below(seed, spans[rng_below(seed, (int)LEN(spans))]);
}

static void draw_plan(struct traffic *t)
{
    uint64_t seed = rng_of(200);
    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &t->plan[i];
        m->source = rng_below(&seed, check_size);
        m->dest = rng_below(&seed, check_size);
        m->way = (enum way)rng_below(&seed, i / WINDOW % 2 == 1 ? WAYS : ANY_AT_ALL);
        m->tag = m->way == ANY_SOURCE ? i : rng_below(&seed, 5);
        m->len = draw_len(&seed);
    }
}

/* The first word of a message is its index: what ANY_AT_ALL got is told by looking. */
static void message_fill(const struct traffic *t, int i, char *buf)
{
    const uint64_t        index = (uint64_t)i;
    const struct message *m = &t->plan[i];
    content_fill(buf, m->len, key_of(m->source, m->dest, m->tag, i));
    memcpy(buf, &index, sizeof index);
}

static void message_check(const struct traffic *t, int i, const char *buf,
                          const ctran_status_t *status)
{
    const struct message *m = &t->plan[i];
    uint64_t              index;
    memcpy(&index, buf, sizeof index);
    EXPECT_EQ(i, index);
    EXPECT_EQ(check_rank, m->dest);
    EXPECT_STATUS(status, m->source, m->tag, m->len);
    char *wanted = malloc(m->len);
    EXPECT(wanted != NULL);
    message_fill(t, i, wanted);
    EXPECT(memcmp(wanted, buf, m->len) == 0);
    free(wanted);
}

/* A type that the length is a multiple of. */
static ctran_datatype_t type_for(size_t len, size_t *unit)
{
    if (len % 8 == 0) {
        *unit = 8;
        return len % 16 == 0 ? CTRAN_DOUBLE : CTRAN_INT64_T;
    }
    *unit = len % 4 == 0 ? 4 : 1;
    return *unit == 4 ? CTRAN_FLOAT : CTRAN_BYTE;
}

static void start_send(struct traffic *t, int i)
{
    const struct message *m = &t->plan[i];
    const int             at = t->count++;
    size_t                unit;
    ctran_datatype_t      type = type_for(m->len, &unit);
    t->message[at] = -1 - i;
    t->bufs[at] = guarded_new(m->len);
    message_fill(t, i, t->bufs[at]);
    OK(ctran_isend(t->bufs[at], (ctran_count_t)(m->len / unit), type, m->dest, m->tag,
                   t->comms[m->way], &t->requests[at]));
}

static void start_receive(struct traffic *t, int i)
{
    const struct message *m = &t->plan[i];
    const int             at = t->count++;
    size_t                unit, len = m->way == ANY_AT_ALL ? LONGEST : m->len;
    ctran_datatype_t      type = type_for(len, &unit);
    t->message[at] = i;
    t->bufs[at] = guarded_new(len);
    OK(ctran_irecv(t->bufs[at], (ctran_count_t)(len / unit), type,
                   m->way == EXACT ? m->source : CTRAN_ANY_SOURCE,
                   m->way == ANY_AT_ALL ? CTRAN_ANY_TAG : m->tag, t->comms[m->way],
                   &t->requests[at]));
}

/* Request `at` is complete. */
static void finished(struct traffic *t, int at, const ctran_status_t *status)
{
    int    i = t->message[at];
    size_t room = i >= 0 ? t->plan[i].len : 0;
    EXPECT_PTR(CTRAN_REQUEST_NULL, t->requests[at]);
    if (i >= 0 && t->plan[i].way == ANY_AT_ALL) {
        uint64_t index;
        memcpy(&index, t->bufs[at], sizeof index);
        EXPECT(index < MESSAGES && t->plan[index].way == ANY_AT_ALL);
        i = (int)index;
        room = LONGEST;
    }
    if (i >= 0) {
        message_check(t, i, t->bufs[at], status);
        EXPECT_GUARDED(t->bufs[at], room, t->plan[i].len);
    }
    guarded_free(t->bufs[at]);
}

static void finish_any(struct traffic *t)
{
    for (int left = t->count; left > 0; left--) {
        ctran_status_t status;
        int            index;
        OK(ctran_waitany(t->count, t->requests, &index, &status));
        EXPECT(index >= 0 && index < t->count);
        finished(t, index, &status);
    }
}

static void finish_some(struct traffic *t, bool blocking)
{
    ctran_status_t statuses[2 * WINDOW];
    int            indices[2 * WINDOW], outcount;
    for (int left = t->count; left > 0; left -= outcount) {
        OK(blocking ? ctran_waitsome(t->count, t->requests, &outcount, indices, statuses)
                    : ctran_testsome(t->count, t->requests, &outcount, indices, statuses));
        EXPECT(outcount >= 0 && outcount <= left);
        for (int k = 0; k < outcount; k++) {
            finished(t, indices[k], &statuses[k]);
        }
    }
}

static void finish(struct traffic *t)
{
    ctran_status_t statuses[2 * WINDOW];
    switch (rng_below(&t->seed, 4)) {
    case 0:
        finish_any(t);
        break;
    case 1:
        finish_some(t, true);
        break;
    case 2:
        finish_some(t, false);
        break;
    default:
        OK(ctran_waitall(t->count, t->requests, statuses));
        for (int i = 0; i < t->count; i++) {
            finished(t, i, &statuses[i]);
        }
    }
}

/* The window's messages in order; receives before, after or among the sends. */
static void run_window(struct traffic *t, int begin)
{
    const int mode = rng_below(&t->seed, 3);
    t->count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = begin; i < begin + WINDOW; i++) {
            if (t->plan[i].dest == check_rank && (mode == 2 ? pass == 0 : pass == mode)) {
                start_receive(t, i);
            }
            if (t->plan[i].source == check_rank && (mode == 2 ? pass == 0 : pass != mode)) {
                start_send(t, i);
            }
        }
    }
    finish(t);
}

void p2p_random(void)
{
    struct traffic *t = calloc(1, sizeof *t);
    EXPECT(t != NULL);
    t->seed = rng_of(300 + (uint64_t)check_rank);
    draw_plan(t);
    for (int way = 0; way < WAYS; way++) {
        OK(ctran_comm_dup(CTRAN_COMM_WORLD, &t->comms[way]));
    }
    for (int begin = 0; begin < MESSAGES; begin += WINDOW) {
        /* Were a rank ahead of others in a window with ANY_AT_ALL, its messages would take receives
         * which they need to get on. The other windows may overlap. */
        const bool alone = begin / WINDOW % 2 == 1;
        OK(alone ? ctran_barrier(CTRAN_COMM_WORLD) : CTRAN_SUCCESS);
        run_window(t, begin);
        OK(alone ? ctran_barrier(CTRAN_COMM_WORLD) : CTRAN_SUCCESS);
    }
    for (int way = 0; way < WAYS; way++) {
        OK(ctran_comm_free(&t->comms[way]));
    }
    free(t);
}

/* ---- one way --------------------------------------------------------------------------------- */

enum { FLOOD = 5000 };

static size_t flood_len(int i)
{
    return (size_t)i * 7 % 61;
}

static void flood_send(int peer)
{
    char buf[64];
    for (int i = 0; i < FLOOD; i++) {
        content_fill(buf, flood_len(i), key_of(check_rank, peer, i % 3, i));
        OK(ctran_send(buf, (ctran_count_t)flood_len(i), CTRAN_BYTE, peer, i % 3, CTRAN_COMM_WORLD));
    }
    OK(ctran_send(NULL, 0, CTRAN_BYTE, peer, TAG_GO, CTRAN_COMM_WORLD));
}

static void flood_receive(int peer, bool late)
{
    if (late) { /* the last message first: all others wait in the library */
        OK(ctran_recv(NULL, 0, CTRAN_BYTE, peer, TAG_GO, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    }
    for (int i = 0; i < FLOOD; i++) {
        char           buf[64];
        ctran_status_t status;
        OK(ctran_recv(buf, 64, CTRAN_BYTE, peer, i % 5 == 0 ? CTRAN_ANY_TAG : i % 3,
                      CTRAN_COMM_WORLD, &status));
        EXPECT_STATUS(&status, peer, i % 3, flood_len(i));
        EXPECT_CONTENT(buf, flood_len(i), key_of(peer, check_rank, i % 3, i));
    }
    if (!late) {
        OK(ctran_recv(NULL, 0, CTRAN_BYTE, peer, TAG_GO, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    }
}

/* Whether blocking sends of so many short messages wait for receives, as with CTRAN_EAGER_LIMIT=0,
 * or where there is no credit for them. */
static bool sends_wait(void)
{
    return size_setting("CTRAN_EAGER_LIMIT", 4 << 10) < 64 ||
           size_setting("CTRAN_UNEXPECTED_LIMIT", 4 << 20) < FLOOD * 200;
}

void p2p_flood(void)
{
    const int peer = check_rank ^ 1;
    if (peer >= check_size) {
        return;
    }
    for (int round = 0; round < 2; round++) {
        if (check_rank % 2 == round) {
            flood_send(peer);
        } else {
            flood_receive(peer, round == 1 && !sends_wait());
        }
    }
}

/* ---- more than the buffers hold -------------------------------------------------------------- */

/* Every rank sends much to several others before it receives anything. */
void p2p_backlog(void)
{
    enum { PEERS = 3, EACH = 250, BYTES = 3000 };
    ctran_request_t *sends = malloc(PEERS * EACH * sizeof *sends);
    char            *out = malloc((size_t)PEERS * EACH * BYTES), *in = guarded_new(BYTES);
    EXPECT(sends != NULL && out != NULL);
    for (int i = 0; i < PEERS * EACH; i++) {
        const int peer = (check_rank + i % PEERS) % check_size;
        char     *buf = out + (size_t)i * BYTES;
        content_fill(buf, BYTES, key_of(check_rank, peer, i % PEERS, i));
        OK(ctran_isend(buf, BYTES, CTRAN_BYTE, peer, i % PEERS, CTRAN_COMM_WORLD, &sends[i]));
    }
    for (int i = 0; i < PEERS * EACH; i++) {
        const int      peer = (check_rank + PEERS * check_size - i % PEERS) % check_size;
        ctran_status_t status;
        OK(ctran_recv(in, BYTES, CTRAN_BYTE, peer, i % PEERS, CTRAN_COMM_WORLD, &status));
        EXPECT_STATUS(&status, peer, i % PEERS, BYTES);
        EXPECT_CONTENT(in, BYTES, key_of(peer, check_rank, i % PEERS, i));
    }
    OK(ctran_waitall(PEERS * EACH, sends, CTRAN_STATUSES_IGNORE));
    guarded_free(in);
    free(out);
    free(sends);
}

/* ---- long messages --------------------------------------------------------------------------- */

/* Both ways at once between a and b. */
static void long_exchange(int peer, size_t len)
{
    char           *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t requests[4];
    const size_t    half = len / 2;
    content_fill(out, len, key_of(check_rank, peer, 1, (int)len));
    OK(ctran_isend(out, (ctran_count_t)half, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD, &requests[0]));
    OK(ctran_isend(out + half, (ctran_count_t)(len - half), CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
                   &requests[1]));
    OK(ctran_irecv(in, (ctran_count_t)half, CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD, &requests[2]));
    OK(ctran_irecv(in + half, (ctran_count_t)(len - half), CTRAN_BYTE, peer, 1, CTRAN_COMM_WORLD,
                   &requests[3]));
    OK(ctran_waitall(4, requests, CTRAN_STATUSES_IGNORE));
    EXPECT_CONTENT(in, len, key_of(peer, check_rank, 1, (int)len));
    OK(ctran_sendrecv(in, (ctran_count_t)len, CTRAN_BYTE, peer, 2, out, (ctran_count_t)len,
                      CTRAN_BYTE, peer, 2, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    EXPECT_CONTENT(out, len, key_of(check_rank, peer, 1, (int)len)); /* it came back */
    EXPECT_GUARDED(in, len, len);
    EXPECT_GUARDED(out, len, len);
    guarded_free(out);
    guarded_free(in);
}

/* Long ones from everyone to everyone, all at once. */
static void long_all_to_all(size_t len)
{
    const size_t     n = (size_t)check_size;
    char            *out = malloc(n * len), *in = malloc(n * len);
    ctran_request_t *requests = malloc((2 * n + 1) * sizeof *requests);
    EXPECT(out != NULL && in != NULL && requests != NULL);
    for (int r = 0; r < check_size; r++) {
        content_fill(out + (size_t)r * len, len, key_of(check_rank, r, 3, 0));
        OK(ctran_isend(out + (size_t)r * len, (ctran_count_t)len, CTRAN_BYTE, r, 3,
                       CTRAN_COMM_WORLD, &requests[r]));
    }
    for (int r = 0; r < check_size; r++) {
        OK(ctran_irecv(in + (size_t)r * len, (ctran_count_t)len, CTRAN_BYTE, r, 3, CTRAN_COMM_WORLD,
                       &requests[check_size + r]));
    }
    OK(ctran_waitall(2 * check_size, requests, CTRAN_STATUSES_IGNORE));
    for (int r = 0; r < check_size; r++) {
        EXPECT_CONTENT(in + (size_t)r * len, len, key_of(r, check_rank, 3, 0));
    }
    free(out);
    free(in);
    free(requests);
}

void p2p_long(void)
{
    const int peer = check_rank ^ 1;
    if (check_size == 1) {
        long_exchange(0, (8 << 20) + 5);
    } else if (peer < check_size) {
        long_exchange(peer, check_rank < 4 ? (8 << 20) + 5 : 300000);
    }
    long_all_to_all((size_t)(2 << 20) / (size_t)check_size + 20001);
}
