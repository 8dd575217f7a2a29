/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passes between two ranks that share cores (ep/traffic.c): that messages are counted at both
 * ends, whichever way they go; and what many bytes for each answer are, and what few.
 */
#define CT_FOLDER "unit"
#include "ranks.h"

#include "ep/ep_set.h"

enum { SHORT = 100, LONG = 100000, JUDGED = 64 }; /* answers, which suffice for a judgement */

static const uint64_t CTX = 5;

static struct ct_p2p_key key_of(uint32_t rank)
{
    return (struct ct_p2p_key){CTX, (int32_t)rank, 1};
}

static void recv_one(struct rank *r, size_t len)
{
    static char       in[2][LONG];
    struct ct_p2p_req req;
    const uint32_t    from = 1 - r->me;
    ct_p2p_irecv(&r->p, &req, ranks_ep(r, from), key_of(from),
                 &(struct ct_area){.base = in[r->me], .len_bytes = len});
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, req.base.len_bytes, len);
}

static void send_one(struct rank *r, size_t len, bool synchronous)
{
    static char          out[2][LONG];
    struct ct_p2p_req    req;
    struct ct_ep        *to = ranks_ep(r, 1 - r->me);
    const struct ct_area area = {.base = out[r->me], .len_bytes = len};
    if (!synchronous && ct_p2p_send_now(&r->p, to, key_of(r->me), &area)) {
        return;
    }
    if (synchronous) {
        ct_p2p_issend(&r->p, &req, to, key_of(r->me), &area);
    } else {
        ct_p2p_isend(&r->p, &req, to, key_of(r->me), &area);
    }
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
}

/* Three messages one way, unasked, synchronous and long, and an answer, twice: it is the second
 * time that rank 0 has said something after it was told something. No judgement comes between. */
static void counted(struct rank *r, void *arg) CT_UNCHECKED
{
    const bool                 oversubscribed = *(const bool *)arg;
    const struct ct_ep_traffic none = {0};
    for (int i = 0; i < 2; i++) {
        for (unsigned j = 0; j < 3; j++) {
            if (r->me == 0) {
                send_one(r, j < 2 ? SHORT : LONG, j == 1);
            } else {
                recv_one(r, j < 2 ? SHORT : LONG);
            }
        }
        if (r->me == 1) {
            send_one(r, SHORT, false);
        } else {
            recv_one(r, SHORT);
        }
    }
    const struct ct_ep_traffic *traffic = &ranks_ep(r, 1 - r->me)->traffic;
    const struct ct_ep_traffic *now = oversubscribed ? traffic : &none;
    RANK_EQUAL(r, traffic->bytes, oversubscribed ? 2 * (3 * SHORT + LONG) : 0);
    RANK_EQUAL(r, r->p.ep->traffic_bytes, traffic->bytes);
    RANK_EQUAL(r, traffic->answers, now->answers);
    RANK_EQUAL(r, traffic->answers, !oversubscribed ? 0 : r->me == 0 ? 1 : 2);
}

/* Whether so many rounds, each of a row of messages one way and an answer, are found to be much. */
static bool is_much(struct rank *r, unsigned rounds, unsigned row, size_t len) CT_UNCHECKED
{
    struct ct_ep *ep = ranks_ep(r, 1);
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned j = 0; j < row; j++) {
            ct_ep_sent(ep, len);
        }
        ct_ep_received(ep, 0);
    }
    r->p.ep->from = ep;
    ct_ep_learn_placement(&r->p, &(struct ct_wait){0});
    return ep->traffic.much;
}

static void judged(struct rank *r, void *arg) CT_UNCHECKED
{
    (void)arg;
    if (r->me == 0) {
        struct ct_ep *self = ranks_ep(r, 0);
        RANK_CHECK(r, !is_much(r, JUDGED, 1, 2048)); /* to and fro 1 KiB each */
        RANK_CHECK(r, !is_much(r, 4, 1, 4096));      /* too few to tell */
        RANK_CHECK(r, is_much(r, JUDGED, 1, 4096));
        RANK_CHECK(r, is_much(r, JUDGED, 1, 2560)); /* between the two: as before */
        RANK_CHECK(r, !is_much(r, JUDGED, 1, 2048));
        RANK_CHECK(r, !is_much(r, JUDGED, 1, 2560));
        RANK_CHECK(r, is_much(r, JUDGED, 64, 64)); /* as many bytes, in a row */
        RANK_CHECK(r, !is_much(r, JUDGED, 64, 8));
        RANK_CHECK(r, is_much(r, 1, 512, 4096)); /* none is answered */
        ct_ep_sent(self, (size_t)2 * JUDGED * 4096);
        RANK_CHECK(r, !is_much(r, JUDGED, 1, 4096)); /* more passes elsewhere */
        RANK_CHECK(r, is_much(r, JUDGED, 1, 4096));  /* and does no longer */
    }
    ranks_sync(r);
}

/* As many bytes go to and from each of two others, and come in any order. */
static void two_partners(struct rank *r, void *arg) CT_UNCHECKED
{
    static const size_t lens[] = {4096, 30000, 300000};
    struct ct_ep       *ep[2] = {ranks_ep(r, 0), ranks_ep(r, 1)};
    (void)arg;
    for (unsigned i = 0; r->me == 0 && i < 9 * JUDGED; i++) {
        const size_t   len = lens[i / 3 / JUDGED];
        const unsigned first = (unsigned)(unit_random(&r->seed) % 2);
        ct_ep_sent(ep[0], len);
        ct_ep_sent(ep[1], len);
        for (unsigned j = 0; j < 2; j++) {
            r->p.ep->from = ep[first ^ j];
            ct_ep_received(ep[first ^ j], len);
            ct_ep_learn_placement(&r->p, &(struct ct_wait){0});
            RANK_CHECK(r, !ep[first ^ j]->traffic.much);
        }
    }
    ranks_sync(r);
}

static void run(bool oversubscribed, void (*body)(struct rank *r, void *arg))
{
    const char *const settings[] = {"CTRAN_SPIN", oversubscribed ? "0" : "10", NULL};
    ranks_run(
        &(struct ranks_args){.n = 2, .settings = settings, .body = body, .arg = &oversubscribed});
}

static void test_counted(void **state)
{
    (void)state;
    run(true, counted);
}

static void test_not_counted(void **state)
{
    (void)state;
    run(false, counted);
}

static void test_judged(void **state)
{
    (void)state;
    run(true, judged);
}

static void test_two_partners(void **state)
{
    (void)state;
    run(true, two_partners);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_not_counted),
        cmocka_unit_test(test_judged),
        cmocka_unit_test(test_two_partners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
