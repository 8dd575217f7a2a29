/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * p2p - sends and receives: that each message comes where it belongs, whole, once and in order,
 * whether its receive was there first or it was, short or long, and that what goes wrong (too
 * short a buffer) stays with the one receive. Usage: p2p [SEED]
 */
#include "p2p.h"

/* Around the eager limit and the library's own units, powers of two, and odd ones. */
static size_t sizes[] = {0,    1,    2,     3,     7,     8,     63,
                         64,   65,   1000,  4095,  4096,  4097,  8191,
                         8192, 8193, 16383, 16384, 16385, 65536, (1 << 20) + 3,
                         0,    0,    0};

static void find_sizes(void)
{
    size_t limit = size_setting("CTRAN_EAGER_LIMIT", 16 << 10);
    sizes[LEN(sizes) - 3] = limit > 0 ? limit - 1 : 0;
    sizes[LEN(sizes) - 2] = limit;
    sizes[LEN(sizes) - 1] = limit + 1;
}

/* ---- one message, each way to send and receive it -------------------------------------------- */

enum how { EXPECTED, UNEXPECTED, BOTH_AT_ONCE, HOWS };

/* One message of `len` bytes once round the ring. */
static void ring_message(size_t len, enum how how, int tag)
{
    void              *out = guarded_new(len), *in = guarded_new(len);
    ctran_request_t    send, recv;
    ctran_status_t     status;
    const int          to = next_rank(), from = prev_rank();
    const ctran_comm_t world = CTRAN_COMM_WORLD;
    content_fill(out, len, key_of(check_rank, to, tag, 0));
    switch (how) {
    case EXPECTED:
        OK(ctran_irecv(in, (ctran_count_t)len, CTRAN_BYTE, from, tag, world, &recv));
        token(from, to, TAG_READY);
        OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, to, tag, world, &send));
        OK(ctran_wait(&recv, &status));
        OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
        break;
    case UNEXPECTED:
        OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, to, tag, world, &send));
        token(to, from, TAG_GO);
        OK(ctran_recv(in, (ctran_count_t)len, CTRAN_BYTE, from, tag, world, &status));
        OK(ctran_wait(&send, CTRAN_STATUS_IGNORE));
        break;
    default:
        OK(ctran_sendrecv(out, (ctran_count_t)len, CTRAN_BYTE, to, tag, in, (ctran_count_t)len,
                          CTRAN_BYTE, from, tag, world, &status));
    }
    EXPECT_STATUS(&status, from, tag, len);
    EXPECT_CONTENT(in, len, key_of(from, check_rank, tag, 0));
    EXPECT_GUARDED(in, len, len);
    EXPECT_CONTENT(out, len, key_of(check_rank, to, tag, 0));
    guarded_free(out);
    guarded_free(in);
}

static void all_sizes(void)
{
    find_sizes();
    for (size_t i = 0; i < LEN(sizes); i++) {
        for (int how = 0; how < HOWS; how++) {
            ring_message(sizes[i], (enum how)how, (int)i * HOWS + how);
        }
    }
}

/* ctran_send and ctran_recv alone, between pairs: the even rank sends first. */
static void blocking_pairs(void)
{
    const int peer = check_rank ^ 1;
    if (peer >= check_size) {
        return;
    }
    for (size_t i = 0; i < 2 * LEN(sizes); i++) {
        const size_t   len = sizes[i / 2];
        const int      tag = (int)i;
        void          *buf = guarded_new(len);
        ctran_status_t status;
        if (check_rank % 2 == (int)i % 2) {
            content_fill(buf, len, key_of(check_rank, peer, tag, 1));
            OK(ctran_send(buf, (ctran_count_t)len, CTRAN_BYTE, peer, tag, CTRAN_COMM_WORLD));
        } else {
            OK(ctran_recv(buf, (ctran_count_t)len, CTRAN_BYTE, peer, tag, CTRAN_COMM_WORLD,
                          &status));
            EXPECT_STATUS(&status, peer, tag, len);
            EXPECT_CONTENT(buf, len, key_of(peer, check_rank, tag, 1));
        }
        EXPECT_GUARDED(buf, len, len);
        guarded_free(buf);
    }
}

/* Buffers at places in a page where copies of long blocks would be slow, and go in another way
 * (base/block.h), and at others: in pieces, unasked, and read. */
static void places_in_a_page(void)
{
    enum { PAGE = 4096, ROOM = 64 };
    static const size_t lens[] = {3000, 20000, 65536, 300001, 1 << 20};
    static const size_t places[][2] = {{0, 16}, {16, 0}, {16, 16}, {5, 36}, {4080, 0}, {0, 31}};
    for (size_t l = 0; l < LEN(lens); l++) {
        const size_t bytes = (lens[l] + 2 * PAGE + PAGE - 1) / PAGE * PAGE;
        char        *out = aligned_alloc(PAGE, bytes), *in = aligned_alloc(PAGE, bytes);
        for (size_t p = 0; p < LEN(places); p++) {
            const int tag = (int)(l * LEN(places) + p);
            char     *to = in + places[p][1];
            memset(in, 0x5a, bytes);
            content_fill(out + places[p][0], lens[l], key_of(check_rank, next_rank(), tag, 3));
            OK(ctran_sendrecv(out + places[p][0], (ctran_count_t)lens[l], CTRAN_BYTE, next_rank(),
                              tag, to, (ctran_count_t)lens[l], CTRAN_BYTE, prev_rank(), tag,
                              CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
            EXPECT_CONTENT(to, lens[l], key_of(prev_rank(), check_rank, tag, 3));
            for (size_t i = 0; i < ROOM; i++) {
                EXPECT_EQ(0x5a, to[lens[l] + i]);
            }
            for (size_t i = 0; i < places[p][1]; i++) {
                EXPECT_EQ(0x5a, in[i]);
            }
        }
        free(out);
        free(in);
    }
}

/* A longer buffer than the message: the rest of it stays as it was. */
static void long_buffer(void)
{
    for (size_t i = 0; i < LEN(sizes); i++) {
        const size_t   len = sizes[i], cap = len + 1 + len / 3;
        void          *out = guarded_new(len), *in = guarded_new(cap);
        ctran_status_t status;
        content_fill(out, len, key_of(check_rank, next_rank(), (int)i, 2));
        OK(ctran_sendrecv(out, (ctran_count_t)len, CTRAN_BYTE, next_rank(), (int)i, in,
                          (ctran_count_t)cap, CTRAN_BYTE, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG,
                          CTRAN_COMM_WORLD, &status));
        EXPECT_STATUS(&status, prev_rank(), (int)i, len);
        EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, (int)i, 2));
        EXPECT_GUARDED(in, cap, len);
        guarded_free(out);
        guarded_free(in);
        /* The wildcard may not take the next message early. */
        token(next_rank(), prev_rank(), TAG_GO);
    }
}

/* ---- types ----------------------------------------------------------------------------------- */

static const struct {
    ctran_datatype_t type;
    size_t           bytes;
} types[] = {
    {CTRAN_BYTE, 1},
    {CTRAN_CHAR, 1},
    {CTRAN_SIGNED_CHAR, 1},
    {CTRAN_UNSIGNED_CHAR, 1},
    {CTRAN_INT8_T, 1},
    {CTRAN_UINT8_T, 1},
    {CTRAN_C_BOOL, sizeof(bool)},
    {CTRAN_SHORT, sizeof(short)},
    {CTRAN_UNSIGNED_SHORT, sizeof(short)},
    {CTRAN_INT16_T, 2},
    {CTRAN_UINT16_T, 2},
    {CTRAN_FLOAT16, 2},
    {CTRAN_BFLOAT16, 2},
    {CTRAN_WCHAR, sizeof(wchar_t)},
    {CTRAN_INT, sizeof(int)},
    {CTRAN_UNSIGNED, sizeof(int)},
    {CTRAN_INT32_T, 4},
    {CTRAN_UINT32_T, 4},
    {CTRAN_FLOAT, sizeof(float)},
    {CTRAN_LONG, sizeof(long)},
    {CTRAN_UNSIGNED_LONG, sizeof(long)},
    {CTRAN_LONG_LONG, sizeof(long long)},
    {CTRAN_LONG_LONG_INT, sizeof(long long)},
    {CTRAN_UNSIGNED_LONG_LONG, sizeof(long long)},
    {CTRAN_INT64_T, 8},
    {CTRAN_UINT64_T, 8},
    {CTRAN_AINT, sizeof(ctran_aint_t)},
    {CTRAN_COUNT, sizeof(ctran_count_t)},
    {CTRAN_OFFSET, 8},
    {CTRAN_DOUBLE, sizeof(double)},
    {CTRAN_LONG_DOUBLE, sizeof(long double)},
};

static void typed_message(size_t t, ctran_count_t count)
{
    const size_t   len = (size_t)count * types[t].bytes;
    void          *out = guarded_new(len), *in = guarded_new(len + 1);
    ctran_status_t status;
    ctran_count_t  found = -1;
    content_fill(out, len, key_of(check_rank, next_rank(), (int)t, (int)count));
    OK(ctran_sendrecv(out, count, types[t].type, next_rank(), (int)t, in, count, types[t].type,
                      prev_rank(), (int)t, CTRAN_COMM_WORLD, &status));
    EXPECT_STATUS(&status, prev_rank(), (int)t, len);
    EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, (int)t, (int)count));
    EXPECT_GUARDED(in, len + 1, len);
    for (size_t u = 0; u < LEN(types); u++) {
        OK(ctran_get_count(&status, types[u].type, &found));
        EXPECT_EQ(len % types[u].bytes == 0 ? (ctran_count_t)(len / types[u].bytes)
                                            : CTRAN_UNDEFINED,
                  found);
    }
    guarded_free(out);
    guarded_free(in);
}

static void all_types(void)
{
    static const ctran_count_t counts[] = {0, 1, 7, 1000, 2500};
    for (size_t t = 0; t < LEN(types); t++) {
        ctran_count_t size = -1;
        OK(ctran_type_size(types[t].type, &size));
        EXPECT_EQ(types[t].bytes, size);
        for (size_t i = 0; i < LEN(counts); i++) {
            typed_message(t, counts[i]);
        }
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { TAG_ORDER = 5 };

/* Short and long ones mixed, so that a short one has the chance to overtake. */
static size_t order_len(int index)
{
    static const size_t lens[] = {8, 40000, 16, 300, 17000, 8, 8, 100000, 24};
    return lens[(size_t)index % LEN(lens)];
}

/* Rank 0 hears from all the others with wildcards: from each, messages come in order. */
static void order_from_many(void)
{
    enum { COUNT = 40, MOST = 100000 };
    if (check_rank != 0) {
        char           *bufs[COUNT];
        ctran_request_t sends[COUNT];
        for (int i = 0; i < COUNT; i++) {
            bufs[i] = guarded_new(order_len(i));
            content_fill(bufs[i], order_len(i), key_of(check_rank, 0, TAG_ORDER, i));
            OK(ctran_isend(bufs[i], (ctran_count_t)order_len(i), CTRAN_BYTE, 0, TAG_ORDER,
                           CTRAN_COMM_WORLD, &sends[i]));
        }
        OK(ctran_waitall(COUNT, sends, CTRAN_STATUSES_IGNORE));
        for (int i = 0; i < COUNT; i++) {
            guarded_free(bufs[i]);
        }
        return;
    }
    char *buf = guarded_new(MOST);
    int  *next = calloc((size_t)check_size, sizeof *next);
    EXPECT(next != NULL);
    for (int i = 0; i < COUNT * (check_size - 1); i++) {
        ctran_status_t status;
        OK(ctran_recv(buf, MOST, CTRAN_BYTE, CTRAN_ANY_SOURCE,
                      i % 3 != 0 ? CTRAN_ANY_TAG : TAG_ORDER, CTRAN_COMM_WORLD, &status));
        const int source = status.CTRAN_SOURCE;
        EXPECT(source > 0 && source < check_size);
        EXPECT_STATUS(&status, source, TAG_ORDER, order_len(next[source]));
        EXPECT_CONTENT(buf, order_len(next[source]), key_of(source, 0, TAG_ORDER, next[source]));
        next[source]++;
    }
    for (int r = 1; r < check_size; r++) {
        EXPECT_EQ(COUNT, next[r]);
    }
    free(next);
    guarded_free(buf);
}

/* A draw of messages and receives, and which belongs to which: the standard's rule, played through
 * one message at a time. Both ends of a ring edge draw the same. */
enum { DRAW = 60, DRAW_TAGS = 4, DRAW_MOST = 20000 };

struct draw {
    int    messages;       /* DRAW and those added for receives that found none */
    int    tags[2 * DRAW]; /* of the messages, in order of sending */
    size_t lens[2 * DRAW];
    int    receives;
    bool   any_source[2 * DRAW], any_tag[2 * DRAW];
    int    want_tag[2 * DRAW];
    int    takes[2 * DRAW]; /* receive -> message */
};

static bool draw_fits(const struct draw *d, int receive, int message)
{
    return d->any_tag[receive] || d->want_tag[receive] == d->tags[message];
}

/* In order of receives, which is the same as in order of messages: the pairs are equal, since each
 * takes the first that fits. */
static void draw_match(struct draw *d)
{
    bool taken[2 * DRAW] = {false};
    for (int r = 0; r < d->receives; r++) {
        d->takes[r] = -1;
        for (int m = 0; m < d->messages && d->takes[r] < 0; m++) {
            if (!taken[m] && draw_fits(d, r, m)) {
                d->takes[r] = m;
                taken[m] = true;
            }
        }
        if (d->takes[r] < 0) { /* one more message, made for it */
            d->tags[d->messages] = d->want_tag[r];
            d->lens[d->messages] = 8;
            d->takes[r] = d->messages;
            taken[d->messages++] = true;
        }
    }
    for (int m = 0; m < d->messages; m++) { /* the rest, in order */
        if (!taken[m]) {
            d->any_source[d->receives] = d->any_tag[d->receives] = true;
            d->takes[d->receives++] = m;
        }
    }
}

static void draw_make(struct draw *d, uint64_t seed)
{
    memset(d, 0, sizeof *d);
    d->messages = DRAW;
    for (int m = 0; m < DRAW; m++) {
        d->tags[m] = rng_below(&seed, DRAW_TAGS);
        d->lens[m] = (size_t)rng_below(&seed, rng_below(&seed, 8) == 0 ? DRAW_MOST : 100);
    }
    d->receives = DRAW / 2 + rng_below(&seed, DRAW / 2);
    for (int r = 0; r < d->receives; r++) {
        d->want_tag[r] = rng_below(&seed, DRAW_TAGS);
        d->any_tag[r] = rng_below(&seed, 3) == 0;
        d->any_source[r] = rng_below(&seed, 3) == 0;
    }
    draw_match(d);
    EXPECT_EQ(d->messages, d->receives);
}

struct draw_end {
    struct draw     draw;
    char           *bufs[2 * DRAW];
    ctran_request_t requests[2 * DRAW];
};

static void draw_send(struct draw_end *e)
{
    for (int m = 0; m < e->draw.messages; m++) {
        e->bufs[m] = guarded_new(e->draw.lens[m]);
        content_fill(e->bufs[m], e->draw.lens[m],
                     key_of(check_rank, next_rank(), e->draw.tags[m], m));
        OK(ctran_isend(e->bufs[m], (ctran_count_t)e->draw.lens[m], CTRAN_BYTE, next_rank(),
                       e->draw.tags[m], CTRAN_COMM_WORLD, &e->requests[m]));
    }
}

static void draw_receive(struct draw_end *e)
{
    for (int r = 0; r < e->draw.receives; r++) {
        e->bufs[r] = guarded_new(DRAW_MOST);
        OK(ctran_irecv(e->bufs[r], DRAW_MOST, CTRAN_BYTE,
                       e->draw.any_source[r] ? CTRAN_ANY_SOURCE : prev_rank(),
                       e->draw.any_tag[r] ? CTRAN_ANY_TAG : e->draw.want_tag[r], CTRAN_COMM_WORLD,
                       &e->requests[r]));
    }
}

static void draw_finish(struct draw_end *e, bool received)
{
    ctran_status_t statuses[2 * DRAW];
    OK(ctran_waitall(e->draw.messages, e->requests, statuses));
    for (int r = 0; r < e->draw.messages; r++) {
        if (received) {
            const int    m = e->draw.takes[r], tag = e->draw.tags[m];
            const size_t len = e->draw.lens[m];
            EXPECT_STATUS(&statuses[r], prev_rank(), tag, len);
            EXPECT_CONTENT(e->bufs[r], len, key_of(prev_rank(), check_rank, tag, m));
            EXPECT_GUARDED(e->bufs[r], DRAW_MOST, len);
        }
        guarded_free(e->bufs[r]);
    }
}

/* Receives with and without wildcards match as the standard says, posted before the messages come
 * and after. */
static void order_as_drawn(void)
{
    struct draw_end *out = malloc(sizeof *out), *in = malloc(sizeof *in);
    EXPECT(out != NULL && in != NULL);
    for (int round = 0; round < 8; round++) {
        draw_make(&out->draw, rng_of(100) + (uint64_t)(round * check_size + check_rank));
        draw_make(&in->draw, rng_of(100) + (uint64_t)(round * check_size + prev_rank()));
        if (round % 2 == 0) {
            draw_receive(in);
            OK(ctran_barrier(CTRAN_COMM_WORLD));
            draw_send(out);
        } else {
            draw_send(out);
            OK(ctran_barrier(CTRAN_COMM_WORLD));
            draw_receive(in);
        }
        draw_finish(in, true);
        draw_finish(out, false);
        OK(ctran_barrier(CTRAN_COMM_WORLD)); /* no wildcard meets the next round */
    }
    free(out);
    free(in);
}

/* Tags picked from last to first: matching is by tag, not by arrival. */
static void tags_backwards(void)
{
    enum { COUNT = 50 };
    static char     out[COUNT][20000], in[20000];
    ctran_request_t sends[COUNT];
    ctran_status_t  status;
    for (int i = 0; i < COUNT; i++) {
        const size_t len = i % 10 == 3 ? 20000 : (size_t)i * 8;
        const int    tag = i == COUNT - 1 ? CTRAN_TAG_MAX : i;
        content_fill(out[i], len, key_of(check_rank, next_rank(), tag, 3));
        OK(ctran_isend(out[i], (ctran_count_t)len, CTRAN_BYTE, next_rank(), tag, CTRAN_COMM_WORLD,
                       &sends[i]));
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        const size_t len = i % 10 == 3 ? 20000 : (size_t)i * 8;
        const int    tag = i == COUNT - 1 ? CTRAN_TAG_MAX : i;
        OK(ctran_recv(in, sizeof in, CTRAN_BYTE, prev_rank(), tag, CTRAN_COMM_WORLD, &status));
        EXPECT_STATUS(&status, prev_rank(), tag, len);
        EXPECT_CONTENT(in, len, key_of(prev_rank(), check_rank, tag, 3));
    }
    OK(ctran_waitall(COUNT, sends, CTRAN_STATUSES_IGNORE));
}

/* ---- messages that are too long -------------------------------------------------------------- */

/* A message of `len` bytes into `cap`, and one after it. */
static void cut_message(size_t len, size_t cap, bool expected)
{
    void           *out = guarded_new(len), *in = guarded_new(cap), *after = guarded_new(len);
    ctran_request_t sends[2], recv;
    ctran_status_t  status;
    const int       to = next_rank(), from = prev_rank();
    content_fill(out, len, key_of(check_rank, to, 1, (int)cap));
    if (expected) {
        OK(ctran_irecv(in, (ctran_count_t)cap, CTRAN_BYTE, from, 1, CTRAN_COMM_WORLD, &recv));
        token(from, to, TAG_READY);
    }
    for (int i = 0; i < 2; i++) {
        OK(ctran_isend(out, (ctran_count_t)len, CTRAN_BYTE, to, 1, CTRAN_COMM_WORLD, &sends[i]));
    }
    if (expected) {
        EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_wait(&recv, &status));
        EXPECT_PTR(CTRAN_REQUEST_NULL, recv);
    } else {
        token(to, from, TAG_GO);
        EXPECT_RC(CTRAN_ERR_TRUNCATE, ctran_recv(in, (ctran_count_t)cap, CTRAN_BYTE, from, 1,
                                                 CTRAN_COMM_WORLD, &status));
    }
    EXPECT_STATUS(&status, from, 1, cap);
    EXPECT_CONTENT(in, cap, key_of(from, check_rank, 1, (int)cap));
    EXPECT_GUARDED(in, cap, cap);
    OK(ctran_recv(after, (ctran_count_t)len, CTRAN_BYTE, from, 1, CTRAN_COMM_WORLD, &status));
    EXPECT_STATUS(&status, from, 1, len);
    EXPECT_CONTENT(after, len, key_of(from, check_rank, 1, (int)cap));
    OK(ctran_waitall(2, sends, CTRAN_STATUSES_IGNORE)); /* the sender is not concerned */
    guarded_free(out);
    guarded_free(in);
    guarded_free(after);
}

static void truncation(void)
{
    static const size_t lens[] = {1, 8, 64, 1000, 16384, 16385, 70000, 600001};
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    for (size_t i = 0; i < LEN(lens); i++) {
        const size_t caps[] = {0, 1, lens[i] / 2, lens[i] - 1};
        for (size_t c = 0; c < LEN(caps); c++) {
            if (caps[c] < lens[i]) {
                cut_message(lens[i], caps[c], false);
                cut_message(lens[i], caps[c], true);
            }
        }
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
}

/* ---- nobody, and oneself --------------------------------------------------------------------- */

static void proc_null(void)
{
    char           *buf = guarded_new(100);
    ctran_status_t  status;
    ctran_request_t requests[2];
    int             flag = 0;
    OK(ctran_send(buf, 100, CTRAN_BYTE, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD));
    status.CTRAN_ERROR = CTRAN_ERR_DIMS; /* such a call leaves this alone */
    OK(ctran_recv(buf, 100, CTRAN_BYTE, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
    EXPECT_EQ(CTRAN_ERR_DIMS, status.CTRAN_ERROR);
    OK(ctran_probe(CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD, &status));
    EXPECT_EQ(CTRAN_ERR_DIMS, status.CTRAN_ERROR);
    OK(ctran_recv(buf, 100, CTRAN_BYTE, CTRAN_PROC_NULL, CTRAN_ANY_TAG, CTRAN_COMM_WORLD,
                  CTRAN_STATUS_IGNORE));
    OK(ctran_isend(buf, 100, CTRAN_BYTE, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD, &requests[0]));
    OK(ctran_irecv(buf, 100, CTRAN_BYTE, CTRAN_PROC_NULL, 1, CTRAN_COMM_WORLD, &requests[1]));
    EXPECT(requests[0] != CTRAN_REQUEST_NULL && requests[1] != CTRAN_REQUEST_NULL);
    OK(ctran_wait(&requests[0], CTRAN_STATUS_IGNORE));
    OK(ctran_test(&requests[1], &flag, &status));
    EXPECT_EQ(1, flag);
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
    EXPECT_GUARDED(buf, 100, 0);
    /* One end of a line: send on, receive from nobody; and the other way round. */
    OK(ctran_sendrecv("x", 1, CTRAN_BYTE, CTRAN_PROC_NULL, 1, buf, 100, CTRAN_BYTE, CTRAN_PROC_NULL,
                      1, CTRAN_COMM_WORLD, &status));
    EXPECT_STATUS(&status, CTRAN_PROC_NULL, CTRAN_ANY_TAG, 0);
    const int right = check_rank + 1 < check_size ? check_rank + 1 : CTRAN_PROC_NULL;
    const int left = check_rank > 0 ? check_rank - 1 : CTRAN_PROC_NULL;
    OK(ctran_sendrecv("x", 1, CTRAN_BYTE, right, 1, buf, 100, CTRAN_BYTE, left, 1, CTRAN_COMM_WORLD,
                      &status));
    EXPECT_STATUS(&status, left, left >= 0 ? 1 : CTRAN_ANY_TAG, left >= 0 ? 1 : 0);
    EXPECT_GUARDED(buf, 100, left >= 0 ? 1 : 0);
    guarded_free(buf);
}

/* Many messages to oneself at once; `recv_first` posts the receives before. */
static void self_messages(ctran_comm_t comm, int me, size_t len, bool recv_first)
{
    enum { COUNT = 12 };
    char           *out[COUNT], *in[COUNT];
    ctran_request_t requests[2 * COUNT];
    ctran_status_t  statuses[2 * COUNT];
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < COUNT; i++) {
            const int tag = i / 3;
            if ((pass == 0) == recv_first) {
                in[i] = guarded_new(len);
                OK(ctran_irecv(in[i], (ctran_count_t)len, CTRAN_BYTE,
                               i % 4 == 0 ? CTRAN_ANY_SOURCE : me, tag, comm, &requests[i]));
            } else {
                out[i] = guarded_new(len);
                content_fill(out[i], len, key_of(me, me, tag, i));
                OK(ctran_isend(out[i], (ctran_count_t)len, CTRAN_BYTE, me, tag, comm,
                               &requests[COUNT + i]));
            }
        }
    }
    OK(ctran_waitall(2 * COUNT, requests, statuses));
    for (int i = 0; i < COUNT; i++) {
        EXPECT_STATUS(&statuses[i], me, i / 3, len);
        EXPECT_CONTENT(in[i], len, key_of(me, me, i / 3, i));
        EXPECT_GUARDED(in[i], len, len);
        guarded_free(in[i]);
        guarded_free(out[i]);
    }
}

static void oneself(void)
{
    static const size_t lens[] = {0, 1, 64, 4097, 16384, 16385, 100000};
    for (size_t i = 0; i < LEN(lens); i++) {
        self_messages(CTRAN_COMM_WORLD, check_rank, lens[i], false);
        self_messages(CTRAN_COMM_WORLD, check_rank, lens[i], true);
        self_messages(CTRAN_COMM_SELF, 0, lens[i], i % 2 == 0);
    }
    int            out = 42 + check_rank, in = 0;
    ctran_status_t status;
    OK(ctran_sendrecv(&out, 1, CTRAN_INT, 0, 9, &in, 1, CTRAN_INT, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG,
                      CTRAN_COMM_SELF, &status));
    EXPECT_EQ(42 + check_rank, in);
    EXPECT_STATUS(&status, 0, 9, sizeof in);
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"all sizes", all_sizes},
        {"blocking calls", blocking_pairs},
        {"places in a page", places_in_a_page},
        {"buffers longer than the message", long_buffer},
        {"all types", all_types},
        {"order from many", order_from_many},
        {"order with wildcards", order_as_drawn},
        {"tags backwards", tags_backwards},
        {"truncation", truncation},
        {"nobody", proc_null},
        {"oneself", oneself},
        {"synchronous sends", p2p_ssend},
        {"ready sends", p2p_rsend},
        {"one buffer for both", p2p_replace},
        {"exchanges as requests", p2p_exchange},
        {"arguments of the modes", p2p_modes_check},
        {"probes", p2p_probe},
        {"matched probes", p2p_mprobe},
        {"status of a request", p2p_get_status},
        {"statuses of several requests", p2p_get_statuses},
        {"cancel", p2p_cancel},
        {"buffered sends", p2p_bsend},
        {"persistent requests", p2p_persistent},
        {"forms of waiting", p2p_wait_forms},
        {"null requests", p2p_wait_null},
        {"errors in statuses", p2p_wait_in_status},
        {"freed requests", p2p_request_free},
        {"random traffic", p2p_random},
        {"flood", p2p_flood},
        {"backlog", p2p_backlog},
        {"long messages", p2p_long},
    };
    check_start(argc, argv);
    check_run(subjects, LEN(subjects));
    return check_end();
}
