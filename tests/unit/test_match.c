/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching: random receives and messages against a model that keeps both in plain arrays and
 * takes the first that fits, which is MPI's rule (MPI-4.1 sec. 3.5).
 */
#include "unit.h"

#include "p2p/match.h"

enum { MOST = 4000, ROUNDS = 60000 };

struct receive {
    struct ct_p2p_req req;
    unsigned          number;
    bool              waiting;
};

/* Both kinds in order of their start; `open` of them are listed. */
struct model {
    struct ct_p2p_key key[MOST];
    unsigned          number[MOST], open;
};

static void model_add(struct model *m, const struct ct_p2p_key *key, unsigned number)
{
    assert_true(m->open < MOST);
    m->key[m->open] = *key;
    m->number[m->open++] = number;
}

static bool fits(const struct ct_p2p_key *receive, const struct ct_p2p_key *message)
{
    if (receive->ctx != message->ctx) {
        return false;
    }
    if (receive->src != CTRAN_ANY_SOURCE && receive->src != message->src) {
        return false;
    }
    return receive->tag == CTRAN_ANY_TAG ? message->tag >= 0 : receive->tag == message->tag;
}

/* Takes entry i out; returns its number. */
static unsigned model_take(struct model *m, unsigned i)
{
    unsigned number = m->number[i];
    m->open--;
    memmove(&m->key[i], &m->key[i + 1], (m->open - i) * sizeof m->key[0]);
    memmove(&m->number[i], &m->number[i + 1], (m->open - i) * sizeof m->number[0]);
    return number;
}

/* The number of the first receive that takes the message, or of the first message that the
 * receive takes; -1 when there is none. */
static int model_receive_for(struct model *m, const struct ct_p2p_key *message)
{
    for (unsigned i = 0; i < m->open; i++) {
        if (fits(&m->key[i], message)) {
            return (int)model_take(m, i);
        }
    }
    return -1;
}

static int model_message_for(struct model *m, const struct ct_p2p_key *receive)
{
    for (unsigned i = 0; i < m->open; i++) {
        if (fits(receive, &m->key[i])) {
            return (int)model_take(m, i);
        }
    }
    return -1;
}

static struct ct_p2p_key random_key(uint64_t *seed, unsigned wild_in_8)
{
    static const uint64_t contexts[] = {1, 2, UINT64_C(1) << 63 | 1};
    /* Negative tags serve internal messages, which no wildcard takes. */
    struct ct_p2p_key key = {contexts[unit_below(seed, 3)], (int32_t)unit_below(seed, 4),
                             (int32_t)unit_below(seed, 6)};
    if (key.tag == 5) {
        key.tag = -7;
    } else if (key.tag == 4) {
        key.tag = CTRAN_TAG_MAX;
    }
    if (unit_below(seed, 8) < wild_in_8) {
        key.src = CTRAN_ANY_SOURCE;
    }
    if (unit_below(seed, 8) < wild_in_8) {
        key.tag = CTRAN_ANY_TAG;
    }
    return key;
}

struct world {
    struct ct_match match;
    struct model    posted, unexpected;
    struct receive *receives;
    unsigned        nreceives, nmessages;
};

static void post(struct world *w, uint64_t *seed, unsigned wild_in_8)
{
    struct ct_p2p_key     key = random_key(seed, wild_in_8);
    struct receive       *r = &w->receives[w->nreceives++];
    struct ct_unexpected *u = ct_match_take_unexpected(&w->match, &key);
    int                   want = model_message_for(&w->unexpected, &key);
    assert_int_equal(u != NULL ? (int)u->len_bytes : -1, want);
    if (u != NULL) {
        ct_match_release(&w->match, u);
    }
    if (want < 0) {
        r->number = w->nreceives - 1;
        r->req.key = key;
        ct_match_post(&w->match, &r->req);
        model_add(&w->posted, &key, r->number);
    }
}

static void arrive(struct world *w, uint64_t *seed)
{
    struct ct_p2p_key  key = random_key(seed, 0);
    struct ct_p2p_req *req = ct_match_take_posted(&w->match, &key);
    int                want = model_receive_for(&w->posted, &key);
    unsigned           number = w->nmessages++;
    assert_int_equal(req != NULL ? (int)CT_LIST_ENTRY(req, struct receive, req)->number : -1, want);
    if (want < 0) {
        struct ct_unexpected *u = ct_match_make(&w->match, 0);
        assert_non_null(u);
        u->key = key;
        u->len_bytes = number;
        ct_match_keep(&w->match, u);
        model_add(&w->unexpected, &key, number);
    }
}

static void run(uint64_t seed, unsigned wild_in_8)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    w.receives = calloc(ROUNDS, sizeof *w.receives);
    assert_non_null(w.receives);
    ct_match_init(&w.match);
    for (unsigned r = 0; r < ROUNDS; r++) {
        /* The tide turns: now receives pile up, now messages. */
        unsigned chance = 3 + (r / 500) % 3;
        if (unit_below(&seed, 8) < chance && w.posted.open < MOST) {
            post(&w, &seed, wild_in_8);
        } else if (w.unexpected.open < MOST) {
            arrive(&w, &seed);
        }
    }
    ct_match_fini(&w.match);
    free(w.receives);
}

static void test_exact(void **state)
{
    (void)state;
    run(1, 0);
}

static void test_some_wild(void **state)
{
    (void)state;
    run(2, 1);
    run(3, 2);
}

static void test_all_wild(void **state)
{
    (void)state;
    run(4, 8);
}

/* ---- walks ----------------------------------------------------------------------------------- */

static void unlink_even(struct ct_p2p_req *req, void *arg)
{
    unsigned *seen = arg;
    (*seen)++;
    if (req->key.tag % 2 == 0) {
        ct_list_remove(&req->node);
    }
}

static void test_for_posted(void **state)
{
    (void)state;
    struct ct_match   m;
    struct ct_p2p_req reqs[600] = {0};
    unsigned          seen = 0;
    ct_match_init(&m);
    for (int i = 0; i < 600; i++) {
        reqs[i].key = (struct ct_p2p_key){1, i % 5 == 0 ? CTRAN_ANY_SOURCE : 3, i};
        ct_match_post(&m, &reqs[i]);
    }
    ct_match_for_posted(&m, unlink_even, &seen);
    assert_int_equal(seen, 600);
    for (int i = 0; i < 600; i++) {
        struct ct_p2p_key key = {1, 3, i};
        assert_ptr_equal(ct_match_take_posted(&m, &key), i % 2 == 0 ? NULL : &reqs[i]);
    }
    ct_match_fini(&m);
}

/* A withdrawn announcement goes, and nothing else. */
static void test_drop(void **state)
{
    (void)state;
    struct ct_match m;
    struct ct_ep    one = {0}, other = {0};
    ct_match_init(&m);
    for (unsigned i = 0; i < 40; i++) {
        struct ct_unexpected *u = ct_match_make(&m, 0);
        assert_non_null(u);
        u->key = (struct ct_p2p_key){1, 0, 0};
        u->ep = i % 2 == 0 ? &one : &other;
        u->rendezvous = i % 3 == 0;
        u->sender_id = i / 2;
        u->len_bytes = i;
        ct_match_keep(&m, u);
    }
    ct_match_drop(&m, &one, 6);    /* 12 */
    ct_match_drop(&m, &one, 7);    /* 14 is not announced, but here */
    ct_match_drop(&m, &other, 10); /* 21 */
    ct_match_drop(&m, &other, 99);
    struct ct_p2p_key any = {1, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG};
    for (unsigned i = 0; i < 40; i++) {
        if (i == 12 || i == 21) {
            continue;
        }
        struct ct_unexpected *u = ct_match_take_unexpected(&m, &any);
        assert_non_null(u);
        assert_int_equal(u->len_bytes, i);
        ct_match_release(&m, u);
    }
    assert_null(ct_match_take_unexpected(&m, &any));
    ct_match_fini(&m);
}

/* The memory of long messages is used again, if it is not far too much or very much; so many are
 * kept, and those that came last. */
static void test_spares(void **state)
{
    (void)state;
    enum { LONG = 60000, MANY = 3 * CT_MATCH_SPARES };
    struct ct_match       m;
    struct ct_unexpected *us[MANY];
    ct_match_init(&m);
    struct ct_unexpected *first = ct_match_make(&m, LONG);
    assert_non_null(first);
    assert_int_equal(m.bytes, ct_match_cost(LONG));
    ct_match_release(&m, first);
    assert_int_equal(m.bytes, 0);
    us[0] = ct_match_make(&m, LONG / 2);
    assert_ptr_equal(us[0], first);
    assert_int_equal(us[0]->cost, ct_match_cost(LONG / 2)); /* as its sender has paid for */
    assert_int_equal(m.bytes, ct_match_cost(LONG / 2));
    ct_match_release(&m, us[0]);
    us[0] = ct_match_make(&m, LONG / 8);
    us[1] = ct_match_make(&m, LONG + 1);
    us[2] = ct_match_make(&m, 2 * CT_MATCH_SPARE_BYTES);
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_not_equal(us[i], first);
        ct_match_release(&m, us[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        us[i] = ct_match_make(&m, LONG);
        assert_non_null(us[i]);
        memset(us[i]->data, (int)i, LONG);
    }
    for (unsigned i = 0; i < MANY; i++) {
        ct_match_release(&m, us[i]);
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < CT_MATCH_SPARES; i++) {
        for (unsigned k = 0; k < MANY; k++) {
            kept += m.spare[i] == us[k] && k >= MANY - CT_MATCH_SPARES;
        }
    }
    assert_int_equal(kept, CT_MATCH_SPARES);
    assert_int_equal(m.bytes, 0);
    ct_match_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_some_wild),
        cmocka_unit_test(test_all_wild), cmocka_unit_test(test_for_posted),
        cmocka_unit_test(test_drop),     cmocka_unit_test(test_spares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
