/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floods of messages that nobody receives yet, between ranks that are threads: what they take at
 * the receiver stays within the senders' credit, all of them arrive, in order, and a receive for
 * one far behind is not starved. Credit that a peer made up is refused.
 */
#include <sched.h>
#include <stdatomic.h>

#include "ranks.h"

#include "p2p/flow.h"

enum { CTX = 77, LIMIT = 64 << 10, MESSAGES = 3000, WINDOW = 1500 };

static const char *const settings[] = {"CTRAN_UNEXPECTED_LIMIT", "65536", "CTRAN_EAGER_LIMIT",
                                       "2048", NULL};

static size_t length(uint32_t i)
{
    static const size_t lengths[] = {0, 8, 100, 1000, 2048, 5000, 30000, 16};
    return lengths[i % 8];
}

static unsigned char byte_of(uint32_t src, uint32_t i)
{
    return (unsigned char)(src * 31 + i);
}

/* ---- senders --------------------------------------------------------------------------------- */

struct out {
    struct ct_p2p_req req;
    unsigned char    *mem;
};

static void start(struct rank *r, struct out *o, uint32_t i, int32_t tag)
{
    struct ct_p2p_key key = {CTX, (int32_t)r->me, tag};
    size_t            len = length(i);
    o->mem = malloc(len + 1);
    memset(o->mem, byte_of(r->me, i), len);
    struct ct_area area = {.base = o->mem, .len_bytes = len};
    if (i % 50 == 49) {
        ct_p2p_issend(&r->p, &o->req, ranks_ep(r, 0), key, &area);
    } else {
        ct_p2p_isend(&r->p, &o->req, ranks_ep(r, 0), key, &area);
    }
}

/* All messages at once: what has no credit waits in line. */
static void flood(struct rank *r, bool tags)
{
    struct out *out = calloc(MESSAGES, sizeof *out);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        start(r, &out[i], i, tags ? (int32_t)i : 5);
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &out[i].req.base), CTRAN_SUCCESS);
        free(out[i].mem);
    }
    free(out);
}

/* ---- the receiver ---------------------------------------------------------------------------- */

static void receive(struct rank *r, int32_t src, int32_t tag, uint32_t i)
{
    static _Thread_local unsigned char mem[30000];
    struct ct_p2p_req                  req;
    struct ct_area                     area = {.base = mem, .len_bytes = sizeof mem};
    struct ct_p2p_key                  key = {CTX, src, tag};
    struct ct_ep *from = src == CTRAN_ANY_SOURCE ? NULL : ranks_ep(r, (uint32_t)src);
    ct_p2p_irecv(&r->p, &req, from, key, &area);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, req.base.len_bytes, length(i));
    for (size_t b = 0; b < req.base.len_bytes; b += 97) {
        RANK_EQUAL(r, mem[b], byte_of((uint32_t)req.base.source, i));
    }
}

static void poke(struct rank *r)
{
    ct_domain_enter(&r->p);
    (void)ct_ep_progress(&r->p);
    ct_domain_leave(&r->p);
}

/* Whether the sender has used up its credit and waits. */
static bool waits(struct rank *r, uint32_t id)
{
    ct_domain_enter(&r->p);
    bool yes = !ct_list_empty(&ranks_ep(r, id)->flow.waits);
    ct_domain_leave(&r->p);
    return yes;
}

/* Busy with something else until all have come to a halt; then what they sent is bounded. */
static void soak(struct rank *r)
{
    for (uint32_t id = 1; id < r->n; id++) {
        while (!waits(r, id)) {
            poke(r);
            sched_yield();
        }
    }
    for (unsigned i = 0; i < 1000; i++) {
        poke(r);
    }
    size_t most = (r->n - 1) * r->p.p2p->share;
    ct_domain_enter(&r->p);
    RANK_CHECK(r, r->p.p2p->share <= LIMIT);
    RANK_CHECK(r, r->p.p2p->match.most_bytes <= most);
    RANK_CHECK(r, r->p.p2p->match.most_bytes > most / 2);
    ct_domain_leave(&r->p);
}

static void settled(struct rank *r)
{
    ct_domain_enter(&r->p);
    RANK_EQUAL(r, r->p.p2p->match.bytes, 0);
    for (uint32_t id = 1; id < r->n; id++) {
        RANK_EQUAL(r, ranks_ep(r, id)->flow.held, 0);
    }
    ct_domain_leave(&r->p);
}

static void in_order(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me > 0) {
        flood(r, false);
        return;
    }
    soak(r);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        for (uint32_t src = 1; src < r->n; src++) {
            receive(r, (int32_t)src, 5, i);
        }
    }
    /* Whoever takes them as they come stays within the bound. */
    ct_domain_enter(&r->p);
    RANK_CHECK(r, r->p.p2p->match.most_bytes <= 2 * (r->n - 1) * r->p.p2p->share);
    ct_domain_leave(&r->p);
    settled(r);
}

/* From the last to the first: each receive needs the announcement of all before it. */
static void from_behind(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me > 0) {
        flood(r, true);
        return;
    }
    soak(r);
    for (uint32_t i = MESSAGES; i-- > 0;) {
        for (uint32_t src = 1; src < r->n; src++) {
            receive(r, (int32_t)src, (int32_t)i, i);
        }
    }
    settled(r);
}

static void wild(struct rank *r, void *arg)
{
    uint32_t *next = calloc(r->n, sizeof *next);
    (void)arg;
    if (r->me > 0) {
        flood(r, true);
        free(next);
        return;
    }
    soak(r);
    for (uint32_t i = 0; i < MESSAGES * (r->n - 1); i++) {
        struct ct_p2p_key key = {CTX, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG};
        struct ct_request what;
        RANK_EQUAL(r, ct_p2p_probe(&r->p, NULL, &key, &what, NULL), CTRAN_SUCCESS);
        RANK_EQUAL(r, what.tag, next[what.source]);
        receive(r, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, (uint32_t)what.tag);
        next[what.source]++;
    }
    settled(r);
    free(next);
}

/* A probe for the last one finds it, though nothing is received meanwhile. */
static void probe_behind(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me > 0) {
        flood(r, true);
        return;
    }
    soak(r);
    for (uint32_t src = 1; src < r->n; src++) {
        struct ct_p2p_key key = {CTX, (int32_t)src, MESSAGES - 1};
        struct ct_request what;
        bool              found = false;
        while (src % 2 == 0 && !found) {
            RANK_EQUAL(r, ct_p2p_iprobe(&r->p, ranks_ep(r, src), &key, &found, &what, NULL),
                       CTRAN_SUCCESS);
        }
        RANK_EQUAL(r, ct_p2p_probe(&r->p, ranks_ep(r, src), &key, &what, NULL), CTRAN_SUCCESS);
        RANK_EQUAL(r, what.len_bytes, length(MESSAGES - 1));
    }
    for (uint32_t i = 0; i < MESSAGES; i++) {
        for (uint32_t src = 1; src < r->n; src++) {
            receive(r, (int32_t)src, (int32_t)i, i);
        }
    }
    settled(r);
}

/* A receive that was there before the flood is found by the last message of it. */
static void posted_before(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me > 0) {
        ranks_sync(r);
        flood(r, true);
        return;
    }
    unsigned char     mem[30000];
    struct ct_p2p_req req;
    struct ct_area    area = {.base = mem, .len_bytes = sizeof mem};
    struct ct_p2p_key key = {CTX, 1, MESSAGES - 1};
    ct_p2p_irecv(&r->p, &req, ranks_ep(r, 1), key, &area);
    ranks_sync(r);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    for (uint32_t src = 1; src < r->n; src++) {
        for (uint32_t i = 0; i < MESSAGES - (src == 1); i++) {
            receive(r, (int32_t)src, (int32_t)i, i);
        }
    }
    settled(r);
}

/* Sends in line end when they are cancelled, and when the peer is lost. */
static void given_up(struct rank *r, void *arg)
{
    static _Atomic bool over;
    (void)arg;
    if (r->me == 0) {
        ranks_drive_until(r, &over);
        return;
    }
    struct out *out = calloc(WINDOW, sizeof *out);
    for (uint32_t i = 0; i < WINDOW; i++) {
        start(r, &out[i], 1, 5);
    }
    ct_p2p_cancel(&out[WINDOW - 1].req, CTRAN_ERR_OTHER);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &out[WINDOW - 1].req.base), CTRAN_ERR_OTHER);
    ranks_fail(r, 0, CTRAN_ERR_PROC_FAILED);
    unsigned failed = 0;
    for (uint32_t i = 0; i < WINDOW - 1; i++) {
        int rc = ct_p2p_wait(&r->p, &out[i].req.base);
        RANK_CHECK(r, rc == CTRAN_SUCCESS || rc == CTRAN_ERR_PROC_FAILED);
        failed += rc != CTRAN_SUCCESS;
    }
    RANK_CHECK(r, failed > 0);
    free(out[WINDOW - 1].mem);
    start(r, &out[WINDOW - 1], 1, 5);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &out[WINDOW - 1].req.base), CTRAN_ERR_PROC_FAILED);
    for (uint32_t i = 0; i < WINDOW; i++) {
        free(out[i].mem);
    }
    free(out);
    atomic_store(&over, true);
}

static void false_credit(struct rank *r, void *arg)
{
    static _Atomic bool over;
    (void)arg;
    if (r->me == 0) {
        uint64_t        wire[2] = {123456789, 0}; /* more than can be out */
        struct ct_ep_op op = {.id = r->p.p2p->ids.credit, .hdr_len = sizeof wire};
        memcpy(op.hdr, wire, sizeof wire);
        RANK_EQUAL(r, ranks_send(r, 1, &op), CTRAN_SUCCESS);
        ranks_drive_until(r, &over);
        return;
    }
    struct out out;
    do { /* until the false message has come */
        start(r, &out, 0, 5);
        (void)ct_p2p_wait(&r->p, &out.req.base);
        free(out.mem);
        poke(r);
    } while (out.req.base.error == CTRAN_SUCCESS);
    RANK_EQUAL(r, out.req.base.error, CTRAN_ERR_INTERN);
    RANK_LOGGED(r, "gave 123456789 bytes of credit back");
    atomic_store(&over, true);
}

static void run(uint32_t n, void (*body)(struct rank *r, void *arg))
{
    struct ranks_args args = {.n = n, .settings = settings, .body = body};
    ranks_run(&args);
}

#define TEST(name, n)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        run(n, name);                                                                              \
    }
TEST(in_order, 4)
TEST(from_behind, 3)
TEST(wild, 4)
TEST(probe_behind, 3)
TEST(posted_before, 3)
TEST(given_up, 2)
TEST(false_credit, 2)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),      cmocka_unit_test(test_from_behind),
        cmocka_unit_test(test_wild),          cmocka_unit_test(test_probe_behind),
        cmocka_unit_test(test_posted_before), cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_false_credit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
