/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher's messages: the description of a job, and what a process of the tree hears from its
 * children, as bytes over their streams, and from above. The file of the children is included, to
 * give them streams without starting anybody.
 */
#include "fuzz.h"

#include <signal.h>
#include <sys/socket.h>

#include "launcher/tree/router.h"
#include "launcher/tree/router_child.c"
#include "launcher/family/spawned_place.h"
#include "launcher/job/strlist.h"

enum { NODES = 6, RANKS = 8, MINE = 2, HEAD = 16, BODY = 300 };

static struct event_base *base;

/* ---- who is above ---------------------------------------------------------------------------- */

static void on_up(void *arg, enum ct_msg_type type, const void *data, size_t len)
{
    (void)arg;
    FUZZ_CHECK(type > 0 && type < CT_MSG_TYPES);
    fuzz_touch(data, len);
}

static void on_joined(void *arg, uint32_t node, bool remote)
{
    (void)arg, (void)remote;
    FUZZ_CHECK(node < NODES);
}

static void on_router_lost(void *arg, uint32_t node, bool remote, const char *why)
{
    (void)arg, (void)remote;
    FUZZ_CHECK(node < NODES);
    fuzz_touch(why, strlen(why));
}

static void on_over(void *arg)
{
    FUZZ_CHECK(++*(int *)arg == 1);
}

static const struct ct_router_ops router_ops = {on_up, on_joined, on_router_lost, on_over};

/* ---- a job ----------------------------------------------------------------------------------- */

static struct ct_jobdesc *make_desc(bool recovery)
{
    static char              empty[] = "", file[] = "/bin/true", zeros[] = "00";
    static char             *words[] = {file, NULL};
    static struct ct_app     app = {RANKS, file, empty, words, NULL};
    static struct ct_node    nodes[NODES];
    static char              names[NODES][2] = {"a", "b", "c", "d", "e", "f"};
    static struct ct_jobdesc d;
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = (struct ct_node){names[i], i < 2 ? 2 : 1};
    }
    if (d.napps == 0) {
        d = (struct ct_jobdesc){.job = empty, .apps = &app, .napps = 1, .nodes = nodes};
        d.nnodes = NODES;
        d.agent = words;
        d.fan_out = 2;
        d.key = d.nspace = zeros;
        d.debug_ranks = zeros + 1;
        d.output_dir = empty;
        d.stdin_to = CT_STDIN_ALL;
        FUZZ_CHECK(ct_jobdesc_map(&d));
    }
    d.recovery = recovery;
    return &d;
}

static void use_desc(struct ct_jobdesc *d)
{
    uint32_t n = ct_jobdesc_ranks(d);
    FUZZ_CHECK(n > 0 && d->me < d->nnodes && d->ranks.first[d->nnodes] == n);
    for (uint32_t rank = 0; rank < n && rank < 4; rank++) {
        char **env = ct_jobdesc_env(d, rank), **command = ct_jobdesc_command(d, rank);
        FUZZ_CHECK(d->ranks.node_of[rank] < d->nnodes);
        FUZZ_CHECK(env != NULL && command != NULL && command[0] != NULL);
        ct_strlist_free(env);
        ct_strlist_free(command);
        (void)ct_jobdesc_has_terminal(d, rank);
    }
}

/* A description with some bytes changed, or none that ever was one. */
static void describe(struct fuzz *f)
{
    struct evbuffer  *packed = evbuffer_new();
    struct ct_jobdesc d;
    size_t            len;
    ct_pack_u32(packed, fuzz_below(f, NODES));
    ct_pack_u32(packed, 1);
    ct_jobdesc_pack(make_desc(false), packed);
    len = evbuffer_get_length(packed);
    uint8_t *bytes = malloc(len);
    FUZZ_CHECK(bytes != NULL && evbuffer_remove(packed, bytes, len) == (int)len);
    evbuffer_free(packed);
    if (fuzz_below(f, 4) == 0) {
        free(bytes);
        bytes = fuzz_bytes(f, BODY, &len);
    }
    for (uint32_t n = fuzz_below(f, 6); n > 0 && len > 0; n--) {
        bytes[fuzz_number(f, 2) % len] = (uint8_t)fuzz_number(f, 1);
    }
    struct ct_unpack in = {.at = bytes, .left = len};
    ct_jobdesc_unpack(&d, &in);
    if (!in.bad) {
        use_desc(&d);
    }
    ct_jobdesc_fini(&d);
    free(bytes);
}

/* What a rank wants to have spawned: right in parts, and then anything. */
static void spawn(struct fuzz *f)
{
    static const char *const hosts[] = {"", "a", "a,b", "nowhere", ",,"};
    struct ct_spawned_place  p;
    const struct ct_jobdesc *d = make_desc(false);
    struct evbuffer         *body = evbuffer_new();
    size_t                   len, more;
    ct_pack_text(body, hosts[fuzz_below(f, 5)]);
    ct_pack_u32(body, fuzz_below(f, 4));
    uint32_t napps = fuzz_below(f, 3);
    ct_pack_u32(body, napps);
    for (uint32_t i = 0; i < napps; i++) {
        ct_pack_u32(body, fuzz_below(f, 9));
        ct_pack_text(body, fuzz_below(f, 8) == 0 ? "" : "file");
        ct_pack_text(body, "");
        ct_jobdesc_pack_list(body, d->agent);
        ct_jobdesc_pack_list(body, NULL);
    }
    uint8_t *rest = fuzz_bytes(f, fuzz_below(f, 40), &more);
    evbuffer_add(body, rest, more);
    free(rest);
    len = evbuffer_get_length(body);
    uint8_t *bytes = malloc(len);
    FUZZ_CHECK(bytes != NULL && evbuffer_remove(body, bytes, len) == (int)len);
    evbuffer_free(body);
    for (uint32_t n = fuzz_below(f, 6); n > 3; n--) {
        bytes[fuzz_number(f, 2) % len] = (uint8_t)fuzz_number(f, 1);
    }
    struct ct_unpack in = {.at = bytes, .left = len};
    if (ct_spawned_place_read(&p, d, MINE, &in)) {
        uint64_t ranks = 0, placed = 0;
        FUZZ_CHECK(!in.bad && p.nnodes > 0 && p.nnodes <= NODES && p.napps == napps);
        for (uint32_t i = 0; i < p.napps; i++) {
            ranks += p.apps[i].ranks;
        }
        for (uint32_t i = 0; i < p.nnodes; i++) {
            placed += p.nodes[i].ranks;
            FUZZ_CHECK(p.nodes[i].ranks > 0);
        }
        FUZZ_CHECK(ranks == placed && (p.local == CT_NO_NODE || p.local < p.nnodes));
    }
    ct_spawned_place_fini(&p);
    free(bytes);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put32(uint8_t *at, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(v >> 8 * i);
    }
}

/* A payload: a few small numbers, then bytes; so fences are of ranks, and texts have lengths. */
static size_t payload(struct fuzz *f, uint8_t *out)
{
    uint32_t n = fuzz_below(f, 8);
    size_t   len, at = 0;
    for (; n > 0; n--, at += 4) {
        put32(out + at, fuzz_below(f, RANKS + 2));
    }
    uint8_t *rest = fuzz_bytes(f, fuzz_below(f, BODY - 40), &len);
    memcpy(out + at, rest, len);
    free(rest);
    return at + len;
}

static void from_child(struct ct_router_child *c, int fd, struct fuzz *f)
{
    static const char version[] = PACKAGE_VERSION;
    uint8_t           message[HEAD + BODY + 32] = {0};
    uint8_t           choice = (uint8_t)fuzz_number(f, 1);
    uint32_t          type = 1 + fuzz_below(f, CT_MSG_TYPES);
    size_t            len;
    if (!c->joined && choice < 200) {
        type = CT_MSG_HELLO;
        len = 4 + sizeof version + 4 + 5;
        put32(message + HEAD, sizeof version - 1);
        memcpy(message + HEAD + 4, version, sizeof version);
    } else {
        len = payload(f, message + HEAD);
    }
    put32(message, CT_PROTO_MAGIC);
    put32(message + 4, CT_PROTO_VERSION);
    put32(message + 8, type);
    put32(message + 12, (uint32_t)len + (choice == 255));
    message[HEAD + len] = choice == 254 ? 'x' : '\n';
    (void)!send(fd, message, HEAD + len + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void from_above(struct ct_router *h, struct fuzz *f)
{
    uint8_t          bytes[BODY];
    uint32_t         type = 1 + fuzz_below(f, CT_MSG_TYPES);
    size_t           len = payload(f, bytes);
    struct ct_unpack in = {.at = bytes, .left = len};
    if (type == CT_MSG_END && fuzz_below(f, 8) != 0) {
        return;
    }
    ct_router_down(h, type, &in);
}

static void play(struct ct_router *h, int *fds, struct fuzz *f)
{
    while (f->left > 0) {
        uint8_t what = (uint8_t)fuzz_number(f, 1);
        int    *fd = &fds[what % h->nchildren];
        what /= 8;
        if (what < 24 && *fd >= 0) {
            from_child(&h->children[fd - fds], *fd, f);
        } else if (what == 24 && *fd >= 0) {
            (void)close(*fd);
            *fd = -1;
        } else if (what == 25) {
            event_active(h->events.look, EV_TIMEOUT, 0);
        } else if (what < 31) {
            from_above(h, f);
        } else if (*fd >= 0) {
            size_t   len;
            uint8_t *raw = fuzz_bytes(f, 1 + fuzz_below(f, 40), &len);
            (void)!send(*fd, raw, len, MSG_NOSIGNAL | MSG_DONTWAIT);
            free(raw);
        }
        (void)event_base_loop(base, EVLOOP_NONBLOCK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz      f = {data, size};
    struct ct_router h;
    int              over = 0, fds[NODES], pair[2];
    if (base == NULL) {
        base = event_base_new();
        (void)signal(SIGPIPE, SIG_IGN); /* as all processes of the launcher do */
    }
    uint32_t choice = fuzz_below(&f, 8);
    if (choice == 0 && (size & 1) != 0) {
        spawn(&f);
        return 0;
    }
    if (choice == 0) {
        describe(&f);
        return 0;
    }
    struct ct_span span =
        (choice & 1) != 0 ? (struct ct_span){0, NODES} : (struct ct_span){MINE, 4};
    FUZZ_CHECK(
        ct_router_init(&h, base, make_desc(choice == 2), span, MINE, 200, &router_ops, &over));
    for (uint32_t i = 0; i < h.nchildren; i++) {
        FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
        FUZZ_CHECK(connect_child(&h.children[i], pair[0]));
        fds[i] = pair[1];
    }
    play(&h, fds, &f);
    for (uint32_t i = 0; i < h.nchildren; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    ct_router_fini(&h);
    (void)event_base_loop(base, EVLOOP_NONBLOCK); /* libevent closes what was given back */
    return 0;
}
