/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router and children that are slow: what waits for whom, who is waited for, and what is told
 * of that. The children are the other ends of sockets, which this test reads as fast as it likes;
 * it also says when the router looks at them. Files of the router are included, to give it such
 * children.
 */
#include "unit.h"

#include <signal.h>
#include <sys/socket.h>

#include "launcher/tree/router.h"
#include "launcher/tree/router_child.c"
#include "launcher/tree/router_events.c"

enum {
    NODES = 3,
    OWN = 0,   /* a daemon; the others are routers, */
    FAR = 1,   /* of one node each, */
    TELLER = 2 /* of which this one tells the events */
};
enum { HEAD = 16, EVENT = 60000, MANY = 1000, WINDOW = 100, SOME = 64 << 10 };

/* A child's end. */
struct peer {
    int      fd;
    uint8_t *in; /* of which the first `have` bytes are there */
    size_t   have;
    uint32_t got, last; /* events, and the number of the last one */
};

struct world {
    struct event_base *base;
    struct ct_router   router;
    struct peer        peers[NODES];
    uint32_t           told, taken; /* events: given to the router, and of those told to be taken */
    unsigned           warnings, lost;
    char               text[512];
};

/* ---- what is above --------------------------------------------------------------------------- */

static void on_up(void *arg, enum ct_msg_type type, const void *data, size_t len)
{
    struct world    *w = arg;
    struct ct_unpack in = {.at = data, .left = len};
    if (type == CT_MSG_EVENT_TAKEN) {
        w->taken += ct_unpack_u32(&in);
        assert_in_range(w->taken, 0, w->told);
    } else if (type == CT_MSG_WARNING) {
        (void)ct_unpack_u32(&in);
        (void)snprintf(w->text, sizeof w->text, "%s", ct_unpack_text(&in));
        w->warnings++;
    }
    assert_false(in.bad);
}

static void on_joined(void *arg, uint32_t node, bool remote)
{
    (void)arg, (void)node, (void)remote;
}

static void on_child_lost(void *arg, uint32_t node, bool remote, const char *why)
{
    struct world *w = arg;
    (void)node, (void)remote;
    (void)snprintf(w->text, sizeof w->text, "%s", why);
    w->lost++;
}

static void on_over(void *arg)
{
    (void)arg;
}

/* ---- what is below --------------------------------------------------------------------------- */

static void turn(struct world *w)
{
    assert_int_not_equal(event_base_loop(w->base, EVLOOP_NONBLOCK), -1);
}

static void put32(uint8_t *out, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        out[i] = (uint8_t)(v >> 8 * i);
    }
}

static uint32_t get32(const uint8_t *in)
{
    return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static void send_as(struct world *w, uint32_t who, enum ct_msg_type type, struct evbuffer *body)
{
    uint8_t head[HEAD];
    put32(head, CT_PROTO_MAGIC);
    put32(head + 4, CT_PROTO_VERSION);
    put32(head + 8, type);
    put32(head + 12, (uint32_t)evbuffer_get_length(body));
    assert_int_equal(evbuffer_prepend(body, head, sizeof head), 0);
    assert_int_equal(evbuffer_add(body, "\n", 1), 0);
    while (evbuffer_get_length(body) > 0) {
        assert_true(evbuffer_write(body, w->peers[who].fd) > 0);
    }
    evbuffer_free(body);
    turn(w);
}

static void send_taken(struct world *w, uint32_t who, uint32_t n)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, n);
    send_as(w, who, CT_MSG_EVENT_TAKEN, body);
}

/* One message that has come, if all of it has. */
static bool take(struct peer *p)
{
    const size_t len = p->have >= HEAD ? get32(p->in + 12) : 0;
    if (p->have < HEAD + len + 1) {
        return false;
    }
    if (get32(p->in + 8) == CT_MSG_EVENT) {
        assert_int_equal(len, EVENT);
        assert_int_equal(get32(p->in + HEAD), TELLER);
        p->last = get32(p->in + HEAD + 4);
        p->got++;
    }
    p->have -= HEAD + len + 1;
    memmove(p->in, p->in + HEAD + len + 1, p->have);
    return true;
}

/* Reads up to so many bytes; false where there are none. */
static bool read_some(struct world *w, uint32_t who, size_t most)
{
    struct peer *p = &w->peers[who];
    ssize_t      n = recv(p->fd, p->in + p->have, ct_min_size(most, SOME), MSG_DONTWAIT);
    p->have += n > 0 ? (size_t)n : 0;
    while (take(p)) {
    }
    turn(w);
    return n > 0;
}

/* Drops some of what has come; false where there is nothing. */
static bool discard(struct world *w, uint32_t who)
{
    static uint8_t bytes[SOME];
    ssize_t        n = recv(w->peers[who].fd, bytes, sizeof bytes, MSG_DONTWAIT);
    turn(w);
    return n > 0;
}

static void read_all(struct world *w, uint32_t who)
{
    while (read_some(w, who, SOME)) {
    }
}

static void look(struct world *w)
{
    on_look(-1, 0, &w->router);
    turn(w);
}

/* ---- a world --------------------------------------------------------------------------------- */

static struct ct_jobdesc *make_desc(void)
{
    static char              empty[] = "", file[] = "/bin/true", zeros[] = "00";
    static char             *words[] = {file, NULL};
    static struct ct_app     app = {NODES, file, empty, words, NULL};
    static struct ct_node    nodes[NODES] = {{"a", 1}, {"b", 1}, {"c", 1}};
    static struct ct_jobdesc d;
    if (d.napps == 0) {
        d = (struct ct_jobdesc){.job = empty, .apps = &app, .napps = 1, .nodes = nodes};
        d.nnodes = NODES;
        d.agent = words;
        d.fan_out = NODES;
        d.key = d.nspace = zeros;
        d.debug_ranks = zeros + 1;
        d.output_dir = empty;
        d.stdin_to = CT_STDIN_ALL;
        assert_true(ct_jobdesc_map(&d));
    }
    return &d;
}

static int begin(void **state)
{
    static const struct ct_router_ops ops = {on_up, on_joined, on_child_lost, on_over};
    struct world                     *w = calloc(1, sizeof *w);
    const struct ct_span              span = {0, NODES};
    assert_non_null(w);
    w->base = event_base_new();
    assert_true(ct_router_init(&w->router, w->base, make_desc(), span, OWN, 200, &ops, w));
    assert_int_equal(w->router.nchildren, NODES);
    for (uint32_t i = 0; i < NODES; i++) {
        int              pair[2];
        struct evbuffer *hello = evbuffer_new();
        assert_int_equal(w->router.children[i].span.first, i);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        assert_true(connect_child(&w->router.children[i], pair[0]));
        w->peers[i] = (struct peer){.fd = pair[1], .in = malloc(HEAD + EVENT + 1 + SOME)};
        assert_non_null(w->peers[i].in);
        ct_pack_text(hello, PACKAGE_VERSION);
        ct_pack_u32(hello, 1);
        ct_pack_text(hello, "host");
        send_as(w, i, CT_MSG_HELLO, hello);
        read_all(w, i);
    }
    *state = w;
    return 0;
}

static int end(void **state)
{
    struct world *w = *state;
    for (uint32_t i = 0; i < NODES; i++) {
        (void)close(w->peers[i].fd);
        free(w->peers[i].in);
    }
    turn(w);
    ct_router_fini(&w->router);
    turn(w);
    event_base_free(w->base);
    free(w);
    return 0;
}

static void tell_event(struct world *w)
{
    static uint8_t   body[EVENT];
    struct ct_unpack in = {.at = body, .left = sizeof body};
    put32(body, TELLER);
    put32(body + 4, ++w->told);
    ct_router_down(&w->router, CT_MSG_EVENT, &in);
    assert_false(in.bad);
    assert_in_range(w->router.events.bytes, 0, CT_EVENTS_BEHIND_MAX);
    for (uint32_t i = 0; i < NODES; i++) {
        assert_in_range(ct_conn_pending(w->router.children[i].conn), 0,
                        CT_EVENTS_AHEAD + 2 * EVENT);
    }
    turn(w);
}

/* The router takes what has come at once. */
static void router_takes(struct world *w)
{
    const uint32_t before = w->peers[FAR].got;
    read_all(w, FAR);
    if (w->peers[FAR].got > before) {
        send_taken(w, FAR, w->peers[FAR].got - before);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A child that is far slower than what is told gets all of it, since the source hears how far it
 * is: more than anybody keeps for it. */
static void test_slow(void **state)
{
    struct world *w = *state;
    while (w->peers[OWN].got < MANY) {
        while (w->told < MANY && w->told - w->taken < WINDOW) {
            tell_event(w);
            router_takes(w);
        }
        (void)read_some(w, OWN, SOME);
        router_takes(w);
        look(w);
        assert_false(w->router.children[OWN].events.still);
        assert_int_equal(w->peers[OWN].last, w->peers[OWN].got);
    }
    assert_int_equal(w->peers[FAR].got, MANY);
    assert_int_equal(w->peers[TELLER].got, 0);
    assert_int_equal(w->taken, MANY);
    assert_int_equal(w->warnings, 0);
    assert_int_equal(w->router.events.bytes, 0);
}

/* One that takes nothing holds nobody up for long, costs no more than it may, and misses the rest.
 * How many that were is told when it has caught up, and then it is waited for again. */
static void test_still(void **state)
{
    struct world *w = *state;
    while (w->told < WINDOW) {
        tell_event(w);
        router_takes(w);
    }
    const uint32_t taken = w->taken;
    assert_in_range(taken, 0, WINDOW / 2);
    for (int i = 0; i < CT_EVENTS_LOOKS; i++) {
        assert_int_equal(w->taken, taken);
        look(w);
    }
    look(w);
    assert_int_equal(w->taken, WINDOW);
    while (w->told < MANY) {
        tell_event(w);
        router_takes(w);
        assert_int_equal(w->taken, w->told);
    }
    assert_int_equal(w->peers[FAR].got, MANY);
    assert_int_equal(w->warnings, 1);
    assert_non_null(strstr(w->text, "the host takes events too slowly; 32 MiB of events"));
    assert_true(w->router.children[OWN].events.still);
    read_all(w, OWN);
    assert_int_equal(w->peers[OWN].last, MANY);
    assert_in_range(w->peers[OWN].got, CT_EVENTS_BEHIND_MAX / (EVENT + 100), MANY - 1);
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted,
                   "the host takes events in time again; its ranks have missed %u events",
                   MANY - w->peers[OWN].got);
    assert_string_equal(w->text, wanted);
    assert_int_equal(w->warnings, 2);
    assert_false(w->router.children[OWN].events.still);
    while (w->told - w->taken < SOME / 1000) { /* until its socket is full */
        tell_event(w);
        router_takes(w);
    }
    read_all(w, OWN);
    assert_int_equal(w->taken, w->told);
    assert_int_equal(w->warnings, 2);
}

/* A router that waits for others says so, and is waited for; one that says nothing is not, although
 * its stream has taken all; and one that says more than is true is none. */
static void test_slow_router(void **state)
{
    struct world           *w = *state;
    struct ct_router_child *c = &w->router.children[FAR];
    tell_event(w);
    tell_event(w);
    read_all(w, OWN);
    read_all(w, FAR);
    for (int i = 0; i < 3 * CT_EVENTS_LOOKS; i++) {
        look(w);
        send_taken(w, FAR, 0);
    }
    assert_int_equal(w->taken, 0);
    send_taken(w, FAR, 1);
    assert_int_equal(w->taken, 1);
    for (int i = 0; i <= CT_EVENTS_LOOKS; i++) {
        look(w);
    }
    assert_true(c->events.still);
    assert_int_equal(w->taken, 2);
    send_taken(w, FAR, 1);
    assert_false(c->events.still);
    assert_int_equal(w->warnings, 0);
    send_taken(w, FAR, 1);
    assert_non_null(strstr(c->why, "makes no sense"));
}

/* The loss of one that others wait for. */
static void test_gone(void **state)
{
    struct world *w = *state;
    tell_event(w);
    router_takes(w);
    tell_event(w);
    read_all(w, OWN);
    assert_int_equal(w->taken, 1);
    assert_int_equal(shutdown(w->peers[FAR].fd, SHUT_RDWR), 0);
    while (w->lost == 0) {
        assert_int_not_equal(event_base_loop(w->base, EVLOOP_ONCE), -1);
    }
    assert_int_equal(w->taken, 2);
}

/* ---- what may not be missed ------------------------------------------------------------------ */

static void broadcast(struct world *w, enum ct_msg_type type, size_t len)
{
    uint8_t         *body = calloc(1, len);
    struct ct_unpack in = {.at = body, .left = len};
    assert_non_null(body);
    ct_router_down(&w->router, type, &in);
    assert_false(in.bad);
    free(body);
    turn(w);
}

/* A child that takes nothing of it is lost in the end; those that are never through with it, but
 * take it, are not. */
static void test_broadcast(void **state)
{
    enum { STEP = 1 << 20, STEPS = (CT_BROADCAST_BEHIND_MAX >> 20) + 2 };
    struct world *w = *state;
    for (int i = 0; i < 3 * STEPS; i++) {
        broadcast(w, CT_MSG_FAMILY_JOB, STEP);
        for (uint32_t who = 0; who < NODES; who++) {
            while (ct_conn_pending(w->router.children[who].conn) > STEP / 2) {
                discard(w, who);
            }
        }
    }
    for (int i = 0; i < STEPS; i++) {
        assert_true(i > STEPS - 3 || !w->router.children[OWN].given_up);
        broadcast(w, CT_MSG_FAMILY_JOB, STEP);
        while (discard(w, FAR) || discard(w, TELLER)) {
        }
    }
    assert_true(w->router.children[OWN].given_up);
    while (w->lost == 0) {
        assert_int_not_equal(event_base_loop(w->base, EVLOOP_ONCE), -1);
    }
    assert_non_null(strstr(w->text, "on host a) was lost (more than 64 MiB of messages wait, and "
                                    "none is taken); its ranks are killed"));
    assert_false(w->router.children[FAR].given_up || w->router.children[TELLER].given_up);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_slow, begin, end),
        cmocka_unit_test_setup_teardown(test_still, begin, end),
        cmocka_unit_test_setup_teardown(test_slow_router, begin, end),
        cmocka_unit_test_setup_teardown(test_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_broadcast, begin, end),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as all processes of the launcher do */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
