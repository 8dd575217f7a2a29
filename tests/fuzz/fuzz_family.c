/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What jobs of a family ask of each other, at the root: meetings and questions that make sense and
 * others, ranks that end, jobs that go; and descriptions of jobs. Each request that is taken gets
 * one answer, at the latest when the jobs that it is about are gone.
 */
#include "fuzz.h"

#include "launcher/family/members.h"
#include "launcher/family/root_get.h"
#include "launcher/family/root_meet.h"

enum { JOBS = 3, NODES = 2, RANKS = 3, MOST = 256 };

static const char *const names[JOBS + 1] = {"a", "b", "c", "no job"};

struct state {
    struct ct_family            fam;
    struct ct_family_job        jobs[JOBS];
    uint32_t                    sent, fetched;
    const struct ct_family_job *fetched_of;
    uint8_t                     from[MOST], open[MOST]; /* by number: 1 asked, 2 answered */
    uint32_t                    node[MOST];
    enum ct_msg_type            type[MOST];
};

/* ---- what members.c is to the root ----------------------------------------------------------- */

struct ct_family_job *ct_family_find(const struct ct_family *fam, const char *nspace)
{
    struct state *s = (struct state *)(uintptr_t)fam;
    for (int i = 0; i < JOBS; i++) {
        if (!s->jobs[i].gone && strcmp(names[i], nspace) == 0) {
            return &s->jobs[i];
        }
    }
    return NULL;
}

void ct_family_send(struct ct_family *fam, const struct ct_family_job *to, enum ct_msg_type type,
                    struct evbuffer *body)
{
    struct state    *s = (struct state *)fam;
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    uint32_t         node = ct_unpack_u32(&in), number = ct_unpack_u32(&in);
    uint32_t         last = ct_unpack_u32(&in);
    FUZZ_CHECK(!in.bad && node < NODES);
    if (type == CT_MSG_FAMILY_FETCH) {
        FUZZ_CHECK(!to->gone && last < RANKS && to->desc->ranks.node_of[last] == node);
        s->fetched = number;
        s->fetched_of = to;
        return;
    }
    FUZZ_CHECK(type == CT_MSG_FAMILY_MET ? s->type[number] == CT_MSG_FAMILY_MEET
                                         : s->type[number] == CT_MSG_FAMILY_GET);
    FUZZ_CHECK(last <= CT_FAMILY_NO_MEMORY && number < s->sent && s->open[number] == 1);
    FUZZ_CHECK(&s->jobs[s->from[number]] == to);
    s->open[number] = 2;
}

static void on_answer(void *arg, const char *nspace, struct ct_unpack *message)
{
    (void)arg;
    (void)nspace;
    (void)message;
}

/* ---- requests -------------------------------------------------------------------------------- */

static uint32_t any_rank(struct fuzz *f)
{
    uint32_t r = fuzz_below(f, RANKS + 2);
    return r > RANKS ? CT_FAMILY_ALL : r;
}

static void add_meeting(struct fuzz *f, struct evbuffer *body)
{
    uint32_t n = fuzz_below(f, 4);
    ct_pack_u32(body, fuzz_below(f, CT_FAMILY_KINDS + 1));
    ct_pack_u32(body, fuzz_below(f, 16) == 15 ? n + 1 : n);
    for (uint32_t i = 0; i < n; i++) {
        ct_pack_text(body, names[fuzz_below(f, 8) % (JOBS + 1)]);
        ct_pack_u32(body, any_rank(f));
    }
}

static void ask(struct fuzz *f, struct state *s, enum ct_msg_type type)
{
    struct evbuffer *body = evbuffer_new();
    uint32_t         from = fuzz_below(f, JOBS), number = s->sent;
    uint32_t         node = fuzz_below(f, NODES + 1);
    ct_pack_u32(body, node);
    ct_pack_u32(body, number);
    if (type == CT_MSG_FAMILY_MEET) {
        add_meeting(f, body);
    } else {
        ct_pack_text(body, names[fuzz_below(f, JOBS + 1)]);
        ct_pack_u32(body, any_rank(f));
    }
    struct ct_unpack in = {.at = evbuffer_pullup(body, -1), .left = evbuffer_get_length(body)};
    in.left -= fuzz_below(f, 32) == 31 ? in.left / 3 : 0;
    if (!s->jobs[from].gone) {
        s->sent++;
        s->open[number] = 1;
        s->from[number] = (uint8_t)from;
        s->type[number] = type;
        s->node[number] = node;
        if (type == CT_MSG_FAMILY_MEET) {
            ct_family_meet(&s->fam, &s->jobs[from], &in);
        } else {
            ct_family_get(&s->fam, &s->jobs[from], &in);
        }
        FUZZ_CHECK(!in.bad || s->open[number] == 1);
        s->open[number] = in.bad ? 2 : s->open[number];
    }
    evbuffer_free(body);
}

static void end_rank(struct state *s, uint32_t job, uint32_t rank)
{
    struct ct_family_job *m = &s->jobs[job];
    if (!m->gone && !ct_family_has_ended(m, rank)) {
        ct_published_ended(s->fam.published, m->published, rank);
        ct_family_meet_ended(&s->fam, m, rank);
        ct_family_get_ended(&s->fam, m, rank);
    }
}

/* What it has asked itself needs no answer any more. */
static void bury(struct state *s, uint32_t job)
{
    struct ct_family_job *m = &s->jobs[job];
    if (m->gone) {
        return;
    }
    ct_family_meet_gone(&s->fam, m);
    ct_family_get_gone(&s->fam, m);
    m->gone = true;
    for (uint32_t i = 0; i < s->sent; i++) {
        s->open[i] = s->from[i] == job ? 2 : s->open[i];
    }
}

static void found(struct fuzz *f, struct state *s)
{
    uint8_t          bytes[12] = {(uint8_t)(s->fetched - fuzz_below(f, 2)), 0, 0, 0,
                                  (uint8_t)fuzz_below(f, 2)};
    struct ct_unpack in = {.at = bytes, .left = fuzz_below(f, 13)};
    uint32_t         job = fuzz_below(f, 2 * JOBS); /* another's word counts for nothing */
    ct_family_found(&s->fam, job < JOBS ? &s->jobs[job] : s->fetched_of, &in);
}

/* Who no longer waits is not answered. */
static void give_up(struct fuzz *f, struct state *s)
{
    uint32_t         number = fuzz_below(f, s->sent + 1);
    uint8_t          bytes[8] = {0};
    struct ct_unpack in = {.at = bytes, .left = fuzz_below(f, 16) == 15 ? 5 : 8};
    if (number == s->sent || s->type[number] != CT_MSG_FAMILY_MEET ||
        s->jobs[s->from[number]].gone) {
        return;
    }
    bytes[0] = (uint8_t)s->node[number];
    bytes[4] = (uint8_t)number;
    ct_family_meet_give_up(&s->fam, &s->jobs[s->from[number]], &in);
    s->open[number] = in.bad ? s->open[number] : 2;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void describe(struct fuzz *f)
{
    struct ct_jobdesc d;
    size_t            len;
    uint8_t          *bytes = fuzz_bytes(f, fuzz_below(f, 64), &len);
    struct ct_unpack  in = {.at = bytes, .left = len};
    bool              ok = ct_family_job_unpack(&d, &in);
    FUZZ_CHECK(!ok || ct_jobdesc_ranks(&d) > 0);
    ct_jobdesc_fini(&d);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ct_app     app = {.ranks = RANKS};
    static struct ct_node    nodes[NODES] = {{.ranks = 2}, {.ranks = 1}};
    static struct ct_jobdesc d;
    struct fuzz              f = {data, size};
    struct state             s = {0};
    if (d.napps == 0) {
        d = (struct ct_jobdesc){.apps = &app, .napps = 1, .nodes = nodes, .nnodes = NODES};
        FUZZ_CHECK(ct_jobdesc_map(&d));
    }
    ct_list_init(&s.fam.meetings);
    ct_list_init(&s.fam.gets);
    s.fam.published = ct_published_create(NULL, on_answer, &s);
    for (uint32_t i = 0; i < JOBS; i++) {
        s.jobs[i] =
            (struct ct_family_job){.nspace = (char *)(uintptr_t)names[i],
                                   .desc = &d,
                                   .published = ct_published_add(s.fam.published, names[i], &d)};
    }
    describe(&f);
    while (f.left > 0 && s.sent < MOST) {
        uint32_t what = fuzz_below(&f, 32);
        if (what == 0) {
            bury(&s, fuzz_below(&f, JOBS));
        } else if (what < 3) {
            end_rank(&s, fuzz_below(&f, JOBS), fuzz_below(&f, RANKS));
        } else if (what < 7) {
            found(&f, &s);
        } else if (what < 9) {
            give_up(&f, &s);
        } else {
            ask(&f, &s, what < 24 ? CT_MSG_FAMILY_MEET : CT_MSG_FAMILY_GET);
        }
    }
    for (uint32_t i = 0; size % 2 == 0 && i < JOBS * RANKS; i++) { /* else the family ends first */
        end_rank(&s, i % JOBS, i / JOBS);
    }
    for (uint32_t i = 0; size % 2 == 0 && i < s.sent; i++) {
        FUZZ_CHECK(s.open[i] == 2);
    }
    ct_family_meet_fini(&s.fam);
    ct_family_get_fini(&s.fam);
    ct_published_destroy(s.fam.published);
    return 0;
}
