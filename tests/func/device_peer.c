/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_peer - messages that the receiver fetches from the sender's GPU: to memory of every kind,
 * many at once in both directions, shorter than announced, from memory that is freed and allocated
 * again between messages, and from the middle of an allocation. How many were fetched is counted.
 * Run by device.c, on a driver of CUDA.
 *
 * CT_FETCHES in the environment says how many of those that can be are expected to be: all (the
 * default), some, or none, as where a setting rules it out or copies are made to fail.
 */
#include "api/api.h"

#include "device.h"

enum { SHORT = 20000, LONG = 1 << 20, LONGEST = (5 << 20) / 2, TAG = 11 };

static uint64_t fetched_before;

static void count_from_here(void)
{
    fetched_before = ct_p2p_fetched(ct_api_process());
}

static bool fetches(const char *how)
{
    const char *expected = getenv("CT_FETCHES");
    return strcmp(expected != NULL ? expected : "all", how) == 0;
}

static void expect_fetched(int possible)
{
    const int found = (int)(ct_p2p_fetched(ct_api_process()) - fetched_before);
    if (fetches("all")) {
        EXPECT_EQ(possible, found);
    } else if (fetches("none")) {
        EXPECT_EQ(0, found);
    } else {
        EXPECT(found <= possible);
    }
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Room for a message of `len` with an edge behind it, `skip` bytes into an allocation. */
struct buffer {
    char  *base, *at;
    int    kind;
    size_t len;
};

static char *host; /* what goes in and comes out */

static void buffer_new(struct buffer *b, int kind, size_t len, size_t skip)
{
    *b = (struct buffer){.kind = kind, .len = len};
    b->base = mem_new(kind, skip + len + EDGE);
    b->at = b->base + skip;
}

static void buffer_free(struct buffer *b)
{
    mem_free(b->kind, b->base);
}

static void buffer_fill(struct buffer *b, uint64_t key)
{
    content_fill(host, b->len, key);
    mem_put(b->kind, b->at, host, b->len);
}

static void buffer_clear(struct buffer *b)
{
    memset(host, 0x77, b->len + EDGE);
    mem_put(b->kind, b->at, host, b->len + EDGE);
}

/* The message, as far as `len`, and nothing written behind. */
static void buffer_expect(const struct buffer *b, size_t len, uint64_t key)
{
    mem_get(b->kind, host, b->at, b->len + EDGE);
    EXPECT_CONTENT(host, len, key);
    for (size_t i = len; i < b->len + EDGE; i++) {
        EXPECT_EQ(0x77, host[i]);
    }
}

/* ---- one at a time --------------------------------------------------------------------------- */

/* From each rank to the next one, or to itself. */
static void pass_on(int to_kind, size_t len, size_t got_len, int round)
{
    const int       next = (check_rank + 1) % check_size;
    const int       prev = (check_rank + check_size - 1) % check_size;
    struct buffer   out, in;
    ctran_request_t r[2];
    ctran_status_t  status[2];
    buffer_new(&out, DEVICE, len, (size_t)(round % 3) * 4096);
    buffer_new(&in, to_kind, got_len, (size_t)(round % 2) * 640);
    buffer_fill(&out, key_of(check_rank, next, TAG, round));
    buffer_clear(&in);
    OK(ctran_irecv(in.at, (ctran_count_t)got_len, CTRAN_BYTE, prev, TAG, CTRAN_COMM_WORLD, &r[0]));
    OK((round % 2 ? ctran_isend : ctran_issend)(out.at, (ctran_count_t)len, CTRAN_BYTE, next, TAG,
                                                CTRAN_COMM_WORLD, &r[1]));
    const int rc = ctran_wait(&r[0], &status[0]);
    EXPECT_EQ(got_len < len ? CTRAN_ERR_TRUNCATE : CTRAN_SUCCESS, rc);
    OK(ctran_wait(&r[1], &status[1]));
    EXPECT_STATUS(&status[0], prev, TAG, got_len);
    buffer_expect(&in, got_len, key_of(prev, check_rank, TAG, round));
    buffer_free(&in);
    buffer_free(&out);
}

/* Memory comes and goes with each message: its address comes again, for another buffer. */
static void again_and_again(void)
{
    const int devices = mem_devices();
    int       round = 0;
    count_from_here();
    for (; round < 60; round++) {
        mem_use((check_rank + round / 7) % devices);
        pass_on(round % mem_kinds, LONG + (size_t)round, LONG + (size_t)round, round);
    }
    expect_fetched(round);
    mem_use(check_rank % devices);
}

static void too_long(void)
{
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    count_from_here();
    for (int kind = 0; kind < mem_kinds; kind++) {
        pass_on(kind, LONGEST, LONGEST - 12345, kind);
    }
    expect_fetched(mem_kinds);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
}

/* ---- many at once ---------------------------------------------------------------------------- */

enum { EACH = 24 }; /* more than run at once */

struct message {
    size_t len;
    int    kinds[2];
};

/* The i-th of all, alike on all ranks. */
static struct message draw(int way, int i)
{
    uint64_t       rng = rng_of((uint64_t)(911 + way) << 32 | (uint64_t)i);
    const int      most = rng_below(&rng, 2) == 0 ? SHORT : LONGEST;
    struct message m = {.len = (size_t)(1 + rng_below(&rng, most))};
    m.kinds[0] = rng_below(&rng, 4) == 0 ? HOST : DEVICE;
    m.kinds[1] = rng_below(&rng, mem_kinds);
    return m;
}

/* Each rank sends to each; the receiver's turn comes first, or last. */
static void crowd(bool posted_first)
{
    const int        n = EACH * check_size;
    struct buffer   *out = calloc((size_t)n, sizeof *out), *in = calloc((size_t)n, sizeof *in);
    ctran_request_t *r = calloc((size_t)n * 2, sizeof(ctran_request_t));
    const size_t     eager = size_setting("CTRAN_GPU_EAGER_LIMIT", 0);
    const size_t     own = size_setting("CTRAN_EAGER_LIMIT", 64 << 10);
    int              possible = 0;
    EXPECT(out != NULL && in != NULL && r != NULL);
    count_from_here();
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n * check_size; i++) {
            const struct message m = draw(posted_first, i);
            const int            source = i / n, dest = i % check_size, index = i % n;
            if (dest == check_rank && (turn == 0) == posted_first) {
                struct buffer *b = &in[source * EACH + index / check_size];
                buffer_new(b, m.kinds[1], m.len, 0);
                buffer_clear(b);
                OK(ctran_irecv(b->at, (ctran_count_t)m.len, CTRAN_BYTE, source, index,
                               CTRAN_COMM_WORLD, &r[n + source * EACH + index / check_size]));
                possible += m.kinds[0] == DEVICE && m.len > (source == check_rank ? own : eager);
            }
            if (source == check_rank && (turn == 0) != posted_first) {
                buffer_new(&out[index], m.kinds[0], m.len, 0);
                buffer_fill(&out[index], key_of(source, dest, TAG, index));
                OK(ctran_isend(out[index].at, (ctran_count_t)m.len, CTRAN_BYTE, dest, index,
                               CTRAN_COMM_WORLD, &r[index]));
            }
        }
    }
    OK(ctran_waitall(2 * n, r, CTRAN_STATUSES_IGNORE));
    expect_fetched(possible);
    for (int i = 0; i < n; i++) {
        const int source = i / EACH, index = i % EACH * check_size + check_rank;
        buffer_expect(&in[i], in[i].len, key_of(source, check_rank, TAG, index));
        buffer_free(&in[i]);
        buffer_free(&out[i]);
    }
    free(out);
    free(in);
    free(r);
}

/* ---- the library's own memory ---------------------------------------------------------------- */

/* Two messages from one block: the second one's mapping is there. */
static void from_pool(void)
{
    const int       other = check_rank ^ 1;
    char           *buf = NULL;
    ctran_request_t r;
    if (other >= check_size) {
        return;
    }
    count_from_here();
    OK(ctran_mem_alloc(2 * LONG, CTRAN_INFO_NULL, &buf));
    for (int round = 0; round < 4; round++) {
        content_fill(host, LONG, key_of(check_rank, other, TAG, round));
        mem_put(DEVICE, buf, host, LONG);
        OK(ctran_irecv(buf + LONG, LONG, CTRAN_BYTE, other, TAG, CTRAN_COMM_WORLD, &r));
        OK(ctran_send(buf, LONG, CTRAN_BYTE, other, TAG, CTRAN_COMM_WORLD));
        OK(ctran_wait(&r, CTRAN_STATUS_IGNORE));
        mem_get(DEVICE, host, buf + LONG, LONG);
        EXPECT_CONTENT(host, LONG, key_of(other, check_rank, TAG, round));
    }
    expect_fetched(4);
    OK(ctran_mem_free(buf));
}

/* ---- senders that give up -------------------------------------------------------------------- */

static void give_up(int dest)
{
    struct buffer   out[EACH];
    ctran_request_t r[EACH];
    for (int i = 0; i < EACH; i++) {
        buffer_new(&out[i], DEVICE, LONG, 0);
        buffer_fill(&out[i], key_of(check_rank, dest, TAG, i));
        OK(ctran_isend(out[i].at, LONG, CTRAN_BYTE, dest, TAG, CTRAN_COMM_WORLD, &r[i]));
        ct_p2p_cancel(CT_CONTAINER_OF(r[i], struct ct_p2p_req, base), CTRAN_ERR_OTHER);
    }
    for (int i = EACH; i-- > 0;) {
        const int rc = ctran_wait(&r[i], CTRAN_STATUS_IGNORE);
        EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_OTHER);
        buffer_clear(&out[i]); /* nobody reads it any more */
        buffer_free(&out[i]);
    }
}

/* What has begun to be fetched when its sender gives it up is received all the same. */
static void given_up(void)
{
    const int       last = check_size - 1;
    struct buffer   in[EACH];
    ctran_request_t r[EACH];
    if (last == 0) {
        return;
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    for (int i = 0; check_rank == 0 && i < EACH; i++) {
        buffer_new(&in[i], i % mem_kinds, LONG, 0);
        buffer_clear(&in[i]);
        OK(ctran_irecv(in[i].at, LONG, CTRAN_BYTE, last, TAG, CTRAN_COMM_WORLD, &r[i]));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == last) {
        give_up(0);
    }
    for (int i = 0; check_rank == 0 && i < EACH; i++) {
        const int rc = ctran_wait(&r[i], CTRAN_STATUS_IGNORE);
        EXPECT(rc == CTRAN_SUCCESS || (rc == CTRAN_ERR_OTHER && !fetches("all")));
        if (rc == CTRAN_SUCCESS) {
            buffer_expect(&in[i], LONG, key_of(last, 0, TAG, i));
        }
        buffer_free(&in[i]);
    }
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
}

void device_peers(void)
{
    if (!mem_is_real()) {
        return;
    }
    host = malloc(LONGEST + EDGE);
    EXPECT(host != NULL);
    again_and_again();
    too_long();
    crowd(true);
    crowd(false);
    from_pool();
    given_up();
    free(host);
}
