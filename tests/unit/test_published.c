/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks publish, at the head: answers under way are bounded for each rank, and those that are
 * too much until others have arrived come when these have. */
#include "unit.h"

#include <event2/event.h>

#include "launcher/launcher.h"
#include "launcher/family/published.h"

enum { VALUE = 3 << 20 };

static struct ct_pub_job *job;

struct answers {
    uint32_t n, last, status;
    size_t   bytes; /* of values, as CT_MSG_DATA_TAKEN counts them */
};

static void on_answer(void *arg, const char *nspace, struct ct_unpack *m)
{
    struct answers *a = arg;
    assert_string_equal(nspace, "job");
    (void)ct_unpack_u32(m);
    a->last = ct_unpack_u32(m);
    a->status = ct_unpack_u32(m);
    (void)ct_unpack_u32(m);
    a->bytes = m->left;
    a->n++;
}

static void ask(struct ct_published *p, uint32_t number, uint32_t rank, struct evbuffer *rest)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, 0);
    ct_pack_u32(body, number);
    ct_pack_u32(body, rank);
    evbuffer_add_buffer(body, rest);
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    ct_published_take(p, job, &in);
    assert_false(in.bad);
    evbuffer_free(body);
    evbuffer_free(rest);
}

static void publish(struct ct_published *p, uint32_t number, const char *key, size_t len)
{
    struct evbuffer *rest = evbuffer_new();
    char            *bytes = calloc(1, len);
    assert_non_null(bytes);
    ct_pack_u32(rest, CT_DATA_PUBLISH);
    ct_pack_u32(rest, CT_RANGE_SESSION);
    ct_pack_u32(rest, CT_PERSIST_JOB);
    ct_pack_u32(rest, 1);
    ct_pack_text(rest, key);
    ct_pack_bytes(rest, bytes, len);
    free(bytes);
    ask(p, number, 0, rest);
}

static void lookup(struct ct_published *p, uint32_t number, uint32_t rank, const char *key)
{
    struct evbuffer *rest = evbuffer_new();
    ct_pack_u32(rest, CT_DATA_LOOKUP);
    ct_pack_u32(rest, CT_RANGE_SESSION);
    ct_pack_u32(rest, UINT32_MAX);
    ct_pack_u32(rest, 0);
    ct_pack_u32(rest, 1);
    ct_pack_text(rest, key);
    ask(p, number, rank, rest);
}

/* Returns whether it made sense. */
static bool taken(struct ct_published *p, uint32_t rank, size_t bytes)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, rank);
    ct_pack_u32(body, (uint32_t)bytes);
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    ct_published_taken(p, job, &in);
    evbuffer_free(body);
    return !in.bad;
}

static void test_answers_bounded(void **state)
{
    struct ct_app     app = {.ranks = 2};
    struct ct_node    node = {.ranks = 2};
    struct ct_jobdesc d = {.apps = &app, .napps = 1, .nodes = &node, .nnodes = 1};
    struct answers    a = {0};
    (void)state;
    assert_true(ct_jobdesc_map(&d));
    struct event_base   *base = event_base_new();
    struct ct_published *p = ct_published_create(base, on_answer, &a);
    assert_non_null(p);
    job = ct_published_add(p, "job", &d);
    assert_non_null(job);
    assert_false(taken(p, 0, 0)); /* nobody has asked */
    publish(p, 1, "big", VALUE);
    publish(p, 2, "small", 100);
    for (uint32_t i = 0; i < 6; i++) {
        lookup(p, 10 + i, 1, "big");
    }
    assert_int_equal(a.n, 4); /* two publishes, two lookups: 6 of 8 MiB */
    assert_int_equal(a.last, 11);
    size_t each = a.bytes;
    assert_true(each > VALUE);
    /* Small ones pass, and so do those of others. */
    lookup(p, 20, 1, "small");
    assert_int_equal(a.last, 20);
    lookup(p, 21, 0, "big");
    assert_int_equal(a.last, 21);
    /* What arrives makes room, in order. */
    assert_false(taken(p, 1, 2 * each + 1));
    assert_false(taken(p, 2, 1));
    assert_true(taken(p, 1, each));
    assert_int_equal(a.last, 12);
    assert_int_equal(a.n, 7);
    assert_true(taken(p, 1, 2 * each));
    assert_int_equal(a.last, 14);
    assert_int_equal(a.n, 9);
    /* What is no longer there when its turn comes is waited for; and a dead rank keeps nobody. */
    struct evbuffer *rest = evbuffer_new();
    ct_pack_u32(rest, CT_DATA_UNPUBLISH);
    ct_pack_u32(rest, CT_RANGE_ANY);
    ct_pack_u32(rest, 1);
    ct_pack_text(rest, "big");
    ask(p, 30, 0, rest);
    assert_int_equal(a.n, 10);
    assert_true(taken(p, 1, 2 * each));
    assert_int_equal(a.n, 10);
    publish(p, 31, "big", VALUE);
    assert_int_equal(a.last, 15);
    assert_int_equal(a.n, 12);
    for (uint32_t i = 0; i < 4; i++) {
        lookup(p, 40 + i, 1, "big");
    }
    assert_int_equal(a.last, 40);
    ct_published_ended(p, job, 1);
    assert_int_equal(a.last, 43);
    assert_int_equal(a.status, CT_DATA_OK);
    /* A job is forgotten when nothing is left of it. */
    struct ct_pub_job *other = ct_published_add(p, "other", &d);
    ct_published_ended(p, other, 0);
    ct_published_ended(p, other, 1);
    assert_true(ct_published_forget(p, other));
    ct_published_ended(p, job, 0);
    assert_false(ct_published_forget(p, job)); /* "big" stays as long as the family */
    ct_published_destroy(p);
    event_base_free(base);
    free(d.ranks.node_of); /* all of the map */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
