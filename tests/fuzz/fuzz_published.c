/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks publish, at the head: requests that make sense and others, ranks that end, timeouts.
 * Each request that is taken gets one answer, at the latest when its rank has ended.
 */
#include "fuzz.h"

#include <event2/event.h>

#include "launcher/launcher.h"
#include "launcher/family/published.h"

enum { NODES = 3, RANKS = 6, MOST = 256, JOBS = 2 };

static struct event_base *base;

struct state {
    uint32_t           sent;
    struct ct_pub_job *jobs[JOBS];
    uint8_t            open[MOST]; /* by number: 1 asked, 2 answered */
};

static void on_answer(void *arg, const char *nspace, struct ct_unpack *m)
{
    FUZZ_CHECK(nspace[0] == 'a' || nspace[0] == 'b');
    struct state *s = arg;
    size_t        len;
    uint32_t      node = ct_unpack_u32(m), number = ct_unpack_u32(m), status = ct_unpack_u32(m);
    uint32_t      n = ct_unpack_u32(m);
    FUZZ_CHECK(!m->bad && node < NODES && status <= CT_DATA_TIMEOUT);
    FUZZ_CHECK(status == CT_DATA_OK || status == CT_DATA_PARTIAL || n == 0);
    for (uint32_t i = 0; i < n; i++) {
        const char *key = ct_unpack_text(m);
        FUZZ_CHECK(strcmp(ct_unpack_text(m), nspace) != 0); /* the asker's own is "" */
        FUZZ_CHECK(key[0] != '\0' && ct_unpack_u32(m) < RANKS);
        const void *bytes = ct_unpack_bytes(m, &len);
        fuzz_touch(bytes, len);
    }
    FUZZ_CHECK(!m->bad && m->left == 0);
    FUZZ_CHECK(number < s->sent && s->open[number] == 1);
    s->open[number] = 2;
}

static const struct ct_jobdesc *make_desc(void)
{
    static struct ct_app     apps[2] = {{.ranks = 4}, {.ranks = 2}};
    static struct ct_node    nodes[NODES] = {{.ranks = 2}, {.ranks = 3}, {.ranks = 1}};
    static struct ct_jobdesc d;
    if (d.napps == 0) {
        d = (struct ct_jobdesc){.apps = apps, .napps = 2, .nodes = nodes, .nnodes = NODES};
        FUZZ_CHECK(ct_jobdesc_map(&d));
    }
    return &d;
}

static void add_keys(struct fuzz *f, struct evbuffer *body, bool values)
{
    static const char *const keys[] = {"a", "b", "c", "", "a longer one"};
    uint32_t                 n = fuzz_below(f, 4);
    ct_pack_u32(body, n);
    for (uint32_t i = 0; i < n; i++) {
        ct_pack_text(body, keys[fuzz_below(f, 16) % 5]);
        if (values) {
            size_t   len;
            uint8_t *bytes = fuzz_bytes(f, fuzz_below(f, 8), &len);
            ct_pack_bytes(body, bytes, len);
            free(bytes);
        }
    }
}

/* A request, and some with a few bytes changed. */
static void ask(struct fuzz *f, struct ct_published *p, struct state *s)
{
    struct evbuffer *body = evbuffer_new();
    uint32_t         op = fuzz_below(f, CT_DATA_OPS + 1), number = s->sent;
    ct_pack_u32(body, fuzz_below(f, NODES));
    ct_pack_u32(body, number);
    ct_pack_u32(body, fuzz_below(f, RANKS));
    ct_pack_u32(body, op);
    ct_pack_u32(body, fuzz_below(f, CT_RANGE_ANY + 2));
    if (op == CT_DATA_PUBLISH) {
        ct_pack_u32(body, fuzz_below(f, CT_DATA_PERSISTS + 1));
    } else if (op == CT_DATA_LOOKUP) {
        ct_pack_u32(body, fuzz_below(f, 4));
        ct_pack_u32(body, fuzz_below(f, 2));
    }
    add_keys(f, body, op == CT_DATA_PUBLISH);
    size_t   len = evbuffer_get_length(body);
    uint8_t *bytes = malloc(len);
    FUZZ_CHECK(bytes != NULL && evbuffer_remove(body, bytes, len) == (int)len);
    evbuffer_free(body);
    for (uint32_t n = fuzz_below(f, 8); n > 5; n--) {
        size_t at = 8 + fuzz_number(f, 2) % (len - 8); /* the asker and its number are right */
        bytes[at] = (uint8_t)fuzz_number(f, 1);
    }
    struct ct_unpack in = {.at = bytes, .left = fuzz_below(f, 32) == 31 ? len / 2 : len};
    s->open[s->sent++] = 1;
    ct_published_take(p, s->jobs[fuzz_below(f, JOBS)], &in);
    FUZZ_CHECK(!in.bad || s->open[number] == 1);
    s->open[number] = in.bad ? 2 : s->open[number];
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz  f = {data, size};
    struct state s = {0};
    base = base != NULL ? base : event_base_new();
    struct ct_published *p = ct_published_create(base, on_answer, &s);
    FUZZ_CHECK(p != NULL);
    for (uint32_t i = 0; i < JOBS; i++) {
        s.jobs[i] = ct_published_add(p, i == 0 ? "a" : "b", make_desc());
        FUZZ_CHECK(s.jobs[i] != NULL);
    }
    while (f.left > 0 && s.sent < MOST) {
        uint32_t what = fuzz_below(&f, 16);
        if (what == 0) {
            ct_published_ended(p, s.jobs[fuzz_below(&f, JOBS)], fuzz_below(&f, RANKS + 1));
        } else if (what == 1) {
            (void)event_base_loop(base, EVLOOP_NONBLOCK);
        } else if (what == 2) {
            uint8_t          bytes[8] = {(uint8_t)fuzz_below(&f, RANKS + 1), 0, 0, 0,
                                         (uint8_t)fuzz_below(&f, 2)};
            struct ct_unpack in = {.at = bytes, .left = sizeof bytes};
            ct_published_taken(p, s.jobs[fuzz_below(&f, JOBS)], &in);
        } else {
            ask(&f, p, &s);
        }
    }
    bool all = size % 2 == 0; /* else the job ends with its requests */
    for (uint32_t i = 0; all && i < JOBS * RANKS; i++) {
        ct_published_ended(p, s.jobs[i % JOBS], i / JOBS);
    }
    for (uint32_t i = 0; all && i < s.sent; i++) {
        FUZZ_CHECK(s.open[i] == 2);
    }
    ct_published_destroy(p);
    return 0;
}
