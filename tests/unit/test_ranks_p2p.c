/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between ranks that are threads: random traffic of all lengths under several settings,
 * the order of messages under wildcards, a sender without room, sleepers that are woken, and
 * operations given up.
 */
#include <sched.h>
#include <stdatomic.h>

#include "ranks.h"

#include "ep/ep_set.h"

enum { CTX = 99, GUARD = 16, MOST_PIECES = 5, MOST_WINDOW = 32 };

/* ---- random traffic -------------------------------------------------------------------------- */

/* A message as both ends know it. */
struct message {
    uint32_t src, dst;
    int32_t  tag;
    size_t   len_bytes, room_bytes; /* of the message; of its receive */
    uint64_t seed;
};

struct traffic {
    unsigned        count, window;
    struct message *messages;
};

/* One end's part in a message. */
struct part {
    const struct message *m;
    bool                  is_recv;
    struct ct_p2p_req     req;
    unsigned char        *mem;
    struct ct_piece       pieces[MOST_PIECES];
    struct ct_area        area;
};

static unsigned char byte_of(uint64_t seed, size_t i)
{
    return (unsigned char)((seed >> (i % 7)) + i * 29 + (i >> 9));
}

static size_t random_length(uint64_t *seed)
{
    switch (unit_below(seed, 6)) {
    case 0:
        return unit_below(seed, 2);
    case 1:
        return unit_below(seed, 100);
    case 2:
        return 16384 - 1 + unit_below(seed, 3); /* about the eager limit */
    case 3:
        return 1 + unit_below(seed, 120000);
    default:
        return unit_below(seed, 5000);
    }
}

static void make_traffic(struct traffic *t, uint32_t n, unsigned count, uint64_t seed)
{
    t->count = count;
    t->messages = calloc(count, sizeof *t->messages);
    assert_non_null(t->messages);
    for (unsigned i = 0; i < count; i++) {
        struct message *m = &t->messages[i];
        m->src = unit_below(&seed, n);
        m->dst = unit_below(&seed, n);
        m->tag = (int32_t)unit_below(&seed, 3);
        m->len_bytes = random_length(&seed);
        m->room_bytes = m->len_bytes;
        if (unit_below(&seed, 8) == 0) { /* more room than needed, or less */
            m->room_bytes = unit_below(&seed, (uint32_t)m->len_bytes * 2 + 1);
        }
        m->seed = unit_random(&seed);
    }
}

/* Cuts mem into pieces; a single one half of the time. */
static void cut(struct part *part, size_t len_bytes, uint64_t *seed)
{
    uint32_t n = unit_below(seed, 2) == 0 ? 1 : 1 + unit_below(seed, MOST_PIECES), pieces = 0;
    size_t   at = GUARD, left = len_bytes;
    for (uint32_t i = 0; i < n && left > 0; i++) {
        size_t len = i + 1 == n ? left : 1 + unit_below(seed, (uint32_t)left);
        part->pieces[pieces++] = (struct ct_piece){
            .from_bytes = at - GUARD, .at_bytes = (ptrdiff_t)at, .len_bytes = len, .reps = 1};
        at += len;
        left -= len;
    }
    part->area = ct_area_make(part->mem, part->pieces, pieces, 1, 0);
}

static void start(struct rank *r, struct part *part)
{
    const struct message *m = part->m;
    size_t                len = part->is_recv ? m->room_bytes : m->len_bytes;
    struct ct_p2p_key     key = {CTX, (int32_t)m->src, m->tag};
    part->mem = malloc(len + 2 * GUARD);
    RANK_CHECK(r, part->mem != NULL);
    memset(part->mem, 0xa5, len + 2 * GUARD);
    cut(part, len, &r->seed);
    if (part->is_recv) {
        ct_p2p_irecv(&r->p, &part->req, ranks_ep(r, m->src), key, &part->area);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        part->mem[GUARD + i] = byte_of(m->seed, i);
    }
    ct_p2p_isend(&r->p, &part->req, ranks_ep(r, m->dst), key, &part->area);
}

static void check_received(struct rank *r, const struct part *part)
{
    const struct message *m = part->m;
    size_t                got = ct_min_size(m->len_bytes, m->room_bytes);
    RANK_EQUAL(r, part->req.base.len_bytes, got);
    RANK_EQUAL(r, part->req.base.source, m->src);
    RANK_EQUAL(r, part->req.base.tag, m->tag);
    for (size_t i = 0; i < m->room_bytes + 2 * GUARD; i++) {
        bool data = i >= GUARD && i < GUARD + got;
        RANK_EQUAL(r, part->mem[i], data ? byte_of(m->seed, i - GUARD) : 0xa5);
    }
}

static void finish(struct rank *r, struct part *part)
{
    const struct message *m = part->m;
    bool                  cut_off = part->is_recv && m->len_bytes > m->room_bytes;
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &part->req.base),
               cut_off ? CTRAN_ERR_TRUNCATE : CTRAN_SUCCESS);
    if (part->is_recv) {
        check_received(r, part);
    }
    free(part->mem);
}

/* Every rank takes up its parts in the messages' one order, and waits for the oldest when its
 * window is full; so the oldest message of all can always move. */
static void exchange_traffic(struct rank *r, void *arg)
{
    const struct traffic *t = arg;
    struct part          *parts = calloc(t->window, sizeof *parts);
    unsigned              first = 0, next = 0;
    RANK_CHECK(r, parts != NULL);
    for (unsigned i = 0; i < 2 * t->count; i++) {
        const struct message *m = &t->messages[i / 2];
        bool                  is_recv = i % 2 == 0;
        if ((is_recv ? m->dst : m->src) != r->me) {
            continue;
        }
        if (next - first == t->window) {
            finish(r, &parts[first++ % t->window]);
        }
        struct part *part = &parts[next++ % t->window];
        part->m = m;
        part->is_recv = is_recv;
        start(r, part);
        if (unit_below(&r->seed, 8) == 0) {
            ct_domain_poke(&r->p);
        }
    }
    while (first < next) {
        finish(r, &parts[first++ % t->window]);
    }
    free(parts);
    RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
}

static void run_traffic(uint32_t n, unsigned count, const char *const *settings)
{
    for (unsigned window = 2; window <= MOST_WINDOW; window *= 4) {
        struct traffic t = {.window = window};
        make_traffic(&t, n, count, n * 100 + window);
        struct ranks_args args = {
            .n = n, .settings = settings, .body = exchange_traffic, .arg = &t};
        ranks_run(&args);
        free(t.messages);
    }
}

static void test_traffic(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 5; n++) {
        run_traffic(n, 300, NULL);
    }
}

static void test_traffic_in_pieces(void **state)
{
    (void)state;
    static const char *const off[] = {"CTRAN_SHM_SINGLE_COPY", "off", NULL};
    run_traffic(4, 400, off);
}

/* Small rings, no eager messages but empty ones, and all of it in pieces. */
static void test_traffic_tiny(void **state)
{
    (void)state;
    static const char *const tiny[] = {"CTRAN_SHM_RING_SIZE", "4K", NULL};
    static const char *const all[] = {"CTRAN_SHM_RING_SIZE",
                                      "4K",
                                      "CTRAN_EAGER_LIMIT",
                                      "0",
                                      "CTRAN_SHM_SINGLE_COPY",
                                      "off",
                                      "CTRAN_SPIN",
                                      "0",
                                      NULL};
    run_traffic(3, 300, tiny);
    run_traffic(4, 300, all);
}

static void test_traffic_big_eager(void **state)
{
    (void)state;
    static const char *const big[] = {"CTRAN_EAGER_LIMIT", "1M", "CTRAN_SHM_BACKING", "file", NULL};
    run_traffic(3, 300, big);
}

/* ---- wildcards ------------------------------------------------------------------------------- */

enum { FLOOD = 120, LONG = 20000 };

struct flood {
    uint32_t src, number;
    char     rest[LONG];
};

/* Every rank sends to every rank, itself too; all receives take anything. In order of posting,
 * each source's numbers come one after the other, long and short messages alike. */
static void wildcards(struct rank *r, void *arg)
{
    unsigned           total = r->n * FLOOD;
    struct ct_p2p_req *sends = calloc(total, sizeof *sends), *recvs = calloc(total, sizeof *recvs);
    struct flood      *in = calloc(total, sizeof *in), *out = calloc(total, sizeof *out);
    uint32_t           next[16] = {0};
    bool               late = arg != NULL && r->me % 2 == 0;
    struct ct_p2p_key  any = {CTX, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG};
    RANK_CHECK(r, sends != NULL && recvs != NULL && in != NULL && out != NULL);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < total && (pass == 0) == late; i++) {
            struct ct_p2p_key key = {CTX, (int32_t)r->me, (int32_t)(i % 5)};
            size_t len = unit_below(&r->seed, 4) == 0 ? sizeof *out : 8 + unit_below(&r->seed, 99);
            out[i].src = r->me;
            out[i].number = i / r->n;
            ct_p2p_isend(&r->p, &sends[i], ranks_ep(r, i % r->n), key,
                         &(struct ct_area){.base = &out[i], .len_bytes = len});
        }
        for (unsigned i = 0; i < total && (pass == 0) != late; i++) {
            ct_p2p_irecv(&r->p, &recvs[i], NULL, any,
                         &(struct ct_area){.base = &in[i], .len_bytes = sizeof *in});
        }
    }
    for (unsigned i = 0; i < total; i++) {
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &recvs[i].base), CTRAN_SUCCESS);
        RANK_CHECK(r, in[i].src < r->n);
        RANK_EQUAL(r, recvs[i].base.source, in[i].src);
        RANK_EQUAL(r, in[i].number, next[in[i].src]);
        RANK_EQUAL(r, recvs[i].base.tag, (in[i].number * r->n + r->me) % 5);
        next[in[i].src]++;
    }
    for (unsigned i = 0; i < total; i++) {
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &sends[i].base), CTRAN_SUCCESS);
    }
    RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
    free(sends);
    free(recvs);
    free(in);
    free(out);
}

static void test_wildcards(void **state)
{
    (void)state;
    static const char *const off[] = {"CTRAN_SHM_SINGLE_COPY", "off", NULL};
    for (uint32_t n = 1; n <= 4; n++) {
        ranks_run(&(struct ranks_args){.n = n, .body = wildcards});
        ranks_run(&(struct ranks_args){.n = n, .body = wildcards, .settings = off, .arg = &n});
    }
}

/* ---- no room, and sleep ---------------------------------------------------------------------- */

enum { BURST = 500 };

/* Returns once the rank sleeps, or is about to: it naps again and again while it waits. */
static void await_sleep(struct rank *r, uint32_t id)
{
    struct ct_wake *wake = ranks_of(r, id)->p.ep->wake;
    while (atomic_load(&wake->asleep) == 0) {
        sched_yield();
    }
}

/* Rank 0 sends more than fits while rank 1 does not look; then it sleeps for want of room, until
 * rank 1 has made some. */
static void burst(struct rank *r, void *arg)
{
    static const struct ct_p2p_key key = {CTX, 0, 1};
    struct ct_p2p_req             *reqs = calloc(BURST, sizeof *reqs);
    uint32_t                       queued = 0, (*mem)[200] = calloc(BURST, sizeof *mem);
    (void)arg;
    RANK_CHECK(r, reqs != NULL && mem != NULL);
    for (uint32_t i = 0; r->me == 0 && i < BURST; i++) {
        mem[i][0] = mem[i][199] = i;
        ct_p2p_isend(&r->p, &reqs[i], ranks_ep(r, 1), key,
                     &(struct ct_area){.base = mem[i], .len_bytes = sizeof mem[i]});
        queued += !reqs[i].base.done;
    }
    RANK_EQUAL(r, ranks_drained(r), r->me != 0);
    RANK_CHECK(r, r->me != 0 || queued > BURST / 2);
    ranks_sync(r);
    if (r->me == 1) {
        await_sleep(r, 0);
    }
    for (uint32_t i = 0; i < BURST; i++) {
        if (r->me == 1) {
            ct_p2p_irecv(&r->p, &reqs[i], ranks_ep(r, 0), key,
                         &(struct ct_area){.base = mem[i], .len_bytes = sizeof mem[i]});
        }
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &reqs[i].base), CTRAN_SUCCESS);
        RANK_EQUAL(r, mem[i][0], i);
        RANK_EQUAL(r, mem[i][199], i);
    }
    RANK_CHECK(r, ranks_drained(r));
    RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
    free(mem);
    free(reqs);
}

static void test_no_room(void **state)
{
    (void)state;
    static const char *const tiny[] = {"CTRAN_SHM_RING_SIZE", "4K", "CTRAN_SPIN", "0", NULL};
    ranks_run(&(struct ranks_args){.n = 2, .settings = tiny, .body = burst});
}

/* Each message is sent to a rank that sleeps. */
static void wake_up(struct rank *r, void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t          value = i, other = 1 - r->me;
        struct ct_p2p_key key = {CTX, (int32_t)(i % 2), 0};
        struct ct_p2p_req req;
        struct ct_area    area = {.base = &value, .len_bytes = sizeof value};
        if (r->me == i % 2) {
            await_sleep(r, other);
            ct_p2p_isend(&r->p, &req, ranks_ep(r, other), key, &area);
        } else {
            value = 0;
            ct_p2p_irecv(&r->p, &req, ranks_ep(r, other), key, &area);
        }
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
        RANK_EQUAL(r, value, i);
    }
}

static void test_wake_up(void **state)
{
    (void)state;
    static const char *const sleepy[] = {"CTRAN_SPIN", "0", NULL};
    ranks_run(&(struct ranks_args){.n = 2, .settings = sleepy, .body = wake_up});
}

/* ---- giving up ------------------------------------------------------------------------------- */

static int wait_signal(struct rank *r, uint32_t from, int tag)
{
    struct ct_p2p_req req;
    struct ct_area    none = {.base = NULL, .len_bytes = 0};
    struct ct_p2p_key key = {CTX, (int32_t)from, tag};
    ct_p2p_irecv(&r->p, &req, ranks_ep(r, from), key, &none);
    return ct_p2p_wait(&r->p, &req.base);
}

static int give_signal(struct rank *r, uint32_t to, int tag)
{
    struct ct_p2p_req req;
    struct ct_area    none = {.base = NULL, .len_bytes = 0};
    struct ct_p2p_key key = {CTX, (int32_t)r->me, tag};
    ct_p2p_isend(&r->p, &req, ranks_ep(r, to), key, &none);
    return ct_p2p_wait(&r->p, &req.base);
}

enum { GIVEN_UP = 4, SIGNAL = 5 };

/* A long send that is given up ends only when its receiver has let go of it. */
static void withdraw(struct rank *r, struct ct_area *area)
{
    struct ct_p2p_key key = {CTX, 0, GIVEN_UP};
    struct ct_p2p_req req;
    ct_p2p_isend(&r->p, &req, ranks_ep(r, 1), key, area);
    RANK_CHECK(r, !req.base.done);
    ct_p2p_cancel(&req, CTRAN_ERR_OTHER);
    RANK_CHECK(r, !req.base.done);         /* the receiver may be at it */
    ct_p2p_cancel(&req, CTRAN_ERR_INTERN); /* the first reason stands */
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_ERR_OTHER);
    ct_p2p_cancel(&req, CTRAN_ERR_INTERN); /* too late */
    RANK_EQUAL(r, req.base.error, CTRAN_ERR_OTHER);
}

static void give_up_sender(struct rank *r, struct ct_area *area)
{
    struct ct_p2p_key key = {CTX, 0, GIVEN_UP};
    struct ct_p2p_req req;
    struct ct_area    byte = {.base = area->base, .len_bytes = 1};
    withdraw(r, area); /* nobody has asked for it */
    RANK_EQUAL(r, give_signal(r, 1, SIGNAL), CTRAN_SUCCESS);
    RANK_EQUAL(r, wait_signal(r, 1, SIGNAL), CTRAN_SUCCESS);
    withdraw(r, area); /* a receive waits for it */
    RANK_EQUAL(r, wait_signal(r, 1, SIGNAL), CTRAN_SUCCESS);
    ct_p2p_isend(&r->p, &req, ranks_ep(r, 1), key, &byte);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
}

static void give_up_receiver(struct rank *r, struct ct_area *area)
{
    struct ct_p2p_key key = {CTX, 0, GIVEN_UP};
    struct ct_p2p_req first, second;
    RANK_EQUAL(r, wait_signal(r, 0, SIGNAL), CTRAN_SUCCESS);
    /* The first one is forgotten, so this receive meets the second, and is told. */
    ct_p2p_irecv(&r->p, &first, ranks_ep(r, 0), key, area);
    RANK_CHECK(r, !first.base.done);
    RANK_EQUAL(r, give_signal(r, 0, SIGNAL), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &first.base), CTRAN_ERR_OTHER);
    /* A receive that is given up leaves its message to the next one. */
    ct_p2p_irecv(&r->p, &first, ranks_ep(r, 0), key, area);
    ct_p2p_irecv(&r->p, &second, ranks_ep(r, 0), key, area);
    ct_p2p_cancel(&first, CTRAN_ERR_OTHER);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &first.base), CTRAN_ERR_OTHER);
    RANK_EQUAL(r, give_signal(r, 0, SIGNAL), CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &second.base), CTRAN_SUCCESS);
    RANK_EQUAL(r, second.base.len_bytes, 1);
}

static void give_up(struct rank *r, void *arg)
{
    static char    mem[2][LONG];
    struct ct_area area = {.base = mem[r->me], .len_bytes = LONG};
    (void)arg;
    if (r->me == 0) {
        give_up_sender(r, &area);
    } else {
        give_up_receiver(r, &area);
    }
}

static void test_give_up(void **state)
{
    (void)state;
    static const char *const off[] = {"CTRAN_SHM_SINGLE_COPY", "off", NULL};
    ranks_run(&(struct ranks_args){.n = 2, .settings = off, .body = give_up});
}

/* ---- receives that come after the announcement ----------------------------------------------- */

enum { RENDEZVOUS = 6 };

typedef void start_fn(struct ct_process *, struct ct_p2p_req *, struct ct_ep *, struct ct_p2p_key,
                      const struct ct_area *);

/* Rank 0 announces a message and drives transfers; rank 1 has heard of it before it receives, and
 * looks at its memory before it drives any itself. Whether it was there by then. */
static bool come_late(struct rank *r, start_fn *send, start_fn *recv, uint64_t seed)
{
    static unsigned char mem[2][LONG];
    struct ct_area       area = {.base = mem[r->me], .len_bytes = LONG};
    struct ct_p2p_key    key = {CTX, 0, RENDEZVOUS};
    struct ct_p2p_req    req;
    bool                 at_once = false;
    for (size_t i = 0; i < LONG; i++) {
        mem[r->me][i] = r->me == 0 ? byte_of(seed, i) : 0;
    }
    if (r->me == 0) {
        send(&r->p, &req, ranks_ep(r, 1), key, &area);
        RANK_CHECK(r, !ct_request_is_done(&req.base));
        RANK_EQUAL(r, give_signal(r, 1, SIGNAL), CTRAN_SUCCESS);
    } else {
        RANK_EQUAL(r, wait_signal(r, 0, SIGNAL), CTRAN_SUCCESS);
        recv(&r->p, &req, ranks_ep(r, 0), key, &area);
        at_once = ct_request_is_done(&req.base);
    }
    RANK_EQUAL(r, ct_p2p_wait(&r->p, &req.base), CTRAN_SUCCESS);
    for (size_t i = 0; i < LONG; i++) {
        RANK_EQUAL(r, mem[r->me][i], byte_of(seed, i));
    }
    return at_once;
}

static void late(struct rank *r, void *arg)
{
    bool *single_copy = arg;
    bool  at_once = come_late(r, ct_p2p_isend, ct_p2p_irecv, 1);
    if (r->me == 1) {
        *single_copy = at_once;
    }
}

static void test_late(void **state)
{
    (void)state;
    static const char *const off[] = {"CTRAN_SHM_SINGLE_COPY", "off", NULL};
    bool                     single_copy;
    ranks_run(&(struct ranks_args){.n = 2, .settings = off, .body = late, .arg = &single_copy});
    assert_false(single_copy);
    ranks_run(&(struct ranks_args){.n = 2, .body = late, .arg = &single_copy});
    if (!single_copy) {
        print_message("a process may not read another's memory here: not tried\n");
        skip();
    }
}

/* ---- messages that are taken ----------------------------------------------------------------- */

enum { PART = 300000, MOST_TAKEN = 4 * PART };

struct taken {
    struct ct_p2p_req req;
    size_t            bytes, longest;
};

static void take_part(struct ct_p2p_req *req, size_t at, const void *data, size_t len_bytes)
{
    struct taken        *t = CT_CONTAINER_OF(req, struct taken, req);
    const struct rank   *r = CT_CONTAINER_OF(req->p, struct rank, p);
    const unsigned char *in = data;
    for (size_t i = 0; i < len_bytes; i++) {
        RANK_EQUAL(r, in[i], byte_of(PART, at + i));
    }
    t->bytes += len_bytes;
    t->longest = ct_max_size(t->longest, len_bytes);
}

/* Rank 1 takes what rank 0 sends: all of it or nothing, and no long part where it is threaded. */
static void take_message(struct rank *r, void *arg)
{
    static unsigned char    out[MOST_TAKEN], in[MOST_TAKEN];
    static const size_t     lengths[] = {1, 5000, CT_P2P_TAKE_SHARED, PART, MOST_TAKEN};
    const struct ct_p2p_key key = {CTX, 0, 1};
    (void)arg;
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct taken         t = {.bytes = 0};
        const struct ct_area area = {.base = r->me == 0 ? out : in, .len_bytes = lengths[i]};
        if (r->me == 0) {
            for (size_t at = 0; at < lengths[i]; at++) {
                out[at] = byte_of(PART, at);
            }
            ct_p2p_isend(&r->p, &t.req, ranks_ep(r, 1), key, &area);
        } else {
            memset(in, 0xa5, sizeof in);
            ct_p2p_take_recv(&r->p, &t.req, ranks_ep(r, 0), key, &area, take_part);
        }
        RANK_EQUAL(r, ct_p2p_wait(&r->p, &t.req.base), CTRAN_SUCCESS);
        if (r->me == 1) {
            const bool shared = r->p.threaded && lengths[i] > CT_P2P_TAKE_SHARED;
            RANK_EQUAL(r, t.bytes, shared ? 0 : lengths[i]);
            RANK_EQUAL(r, t.longest > CT_P2P_TAKE_SHARED,
                       !shared && lengths[i] > CT_P2P_TAKE_SHARED);
            RANK_EQUAL(r, in[lengths[i] - 1], shared ? byte_of(PART, lengths[i] - 1) : 0xa5);
        }
    }
    RANK_EQUAL(r, ct_coll_barrier_now(ct_comm_world(&r->p)), CTRAN_SUCCESS);
}

static void test_take(void **state)
{
    (void)state;
    static const char *const rings[] = {"CTRAN_SHM_RING_SIZE", "1M", "CTRAN_SHM_SINGLE_COPY", "off",
                                        NULL};
    for (int threaded = 0; threaded < 2; threaded++) {
        ranks_run(&(struct ranks_args){
            .n = 2, .threaded = threaded != 0, .settings = rings, .body = take_message});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traffic),      cmocka_unit_test(test_traffic_in_pieces),
        cmocka_unit_test(test_traffic_tiny), cmocka_unit_test(test_traffic_big_eager),
        cmocka_unit_test(test_wildcards),    cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_wake_up),      cmocka_unit_test(test_give_up),
        cmocka_unit_test(test_late),         cmocka_unit_test(test_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
