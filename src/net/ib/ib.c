/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ib - the transport over InfiniBand and RoCE. ib.h tells what its files do, ctran-ib(7) what the
 * user sees.
 */
#define CT_FOLDER "net"
#include "net/ib/ib.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    CLOCK_TURNS = 16,   /* turns of progress between looks at the clock, */
    EVENT_TURNS = 1024, /* and between looks for events of devices, */
    EVENT_IDLE = 64,    /* after so many turns that bring nothing */
    STUCK_MS = 1000,    /* check_stuck */
    OBJECTS = 64,
};

uint64_t ct_ib_random(struct ct_ib *t)
{
    t->random ^= t->random << 13;
    t->random ^= t->random >> 7;
    t->random ^= t->random << 17;
    return (t->random * 0x2545f4914f6cdd1du) >> 16;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void run_timers(struct ct_ib *t)
{
    CT_LIST_FOR (node, &t->timed) {
        struct ct_ib_peer *peer = CT_LIST_ENTRY(node, struct ct_ib_peer, timed);
        if (peer->again_ns <= t->turn_ns) {
            ct_ib_peer_timer(peer, t->turn_ns);
            return; /* the list may be another one now; the rest has its turn next */
        }
    }
}

static void pump_all(struct ct_ib *t)
{
    struct ct_list now;
    ct_list_init(&now);
    ct_list_splice(&now, &t->pumps);
    for (struct ct_list *node; (node = ct_list_pop(&now)) != NULL;) {
        ct_ib_rma_pump(CT_LIST_ENTRY(node, struct ct_ib_peer, pump));
    }
}

static void ib_mend(struct ct_ib *t)
{
    struct ct_ib_peer *peer, *next;
    t->broken = false;
    HASH_ITER (hh, t->peers, peer, next) {
        struct ct_ib_qpset *set = peer->phase == CT_IB_OPEN ? ct_ib_peer_qpset(peer) : NULL;
        bool                broken = false;
        for (uint32_t i = 0; set != NULL && i < set->n; i++) {
            broken = broken || set->qp[i].broken;
        }
        if (broken) {
            ct_ib_path_failed(peer, "a queue pair takes no requests");
        }
    }
}

/* Those that have said BYE, once their writes have come by all ports. */
static void ib_part(struct ct_ib *t)
{
    struct ct_ib_peer *peer, *next;
    t->parting = false;
    HASH_ITER (hh, t->peers, peer, next) {
        if (peer->left) {
            ct_ib_peer_lose(peer, CTRAN_ERR_PROC_FAILED);
        }
    }
}

/* A write waits for earlier ones of the same peer, and no port has any completion. The completions
 * of the earlier writes may be on their way: a port that was looked at before may have one by now,
 * and nothing orders a NIC's completions with its acknowledgements. After STUCK_MS the peer has
 * broken the rules of order.h. */
static void check_stuck(struct ct_ib *t)
{
    const uint64_t now = t->now();
    if (t->stuck_ns == 0) {
        t->stuck_ns = now;
    }
    if (now - t->stuck_ns < (uint64_t)STUCK_MS * CT_NS_PER_MS) {
        return;
    }
    t->stuck_ns = 0;
    for (unsigned i = 0; i < t->nports; i++) {
        if (t->ports[i]->held) {
            ct_ib_port_give_up(t->ports[i]);
        }
    }
}

static unsigned poll_ports(struct ct_ib *t)
{
    unsigned done = 0;
    bool     held = false;
    for (unsigned i = 0; i < t->nports; i++) {
        const unsigned n = ct_ib_port_poll(t->ports[i]);
        if (CT_UNLIKELY(t->ports[i]->armed && n > 0)) {
            ct_ib_port_disarm(t->ports[i]);
        }
        held = held || t->ports[i]->held;
        done += n;
    }
    t->counters.completions += done;
    if (CT_UNLIKELY(held && done == 0)) {
        check_stuck(t);
    } else {
        t->stuck_ns = 0;
    }
    return done;
}

static void ib_look_around(struct ct_ib *t, bool idle)
{
    if (t->turns % CLOCK_TURNS == 0 || !ct_list_empty(&t->timed)) {
        t->turn_ns = t->now();
        if (!ct_list_empty(&t->timed)) {
            run_timers(t);
        }
    }
    if (t->turns % (idle ? EVENT_IDLE : EVENT_TURNS) == 0) {
        t->events += ct_ib_path_events(t);
    }
}

unsigned ct_ib_progress(struct ct_net *net)
{
    struct ct_ib *t = ct_ib_of(net);
    if (CT_UNLIKELY(t->unusable != NULL)) {
        return 0;
    }
    t->events = t->uncounted;
    t->uncounted = 0;
    t->turns++;
    const unsigned done = poll_ports(t);
    ib_look_around(t, done == 0);
    if (!ct_list_empty(&t->pumps)) {
        pump_all(t);
    }
    if (CT_UNLIKELY(t->broken)) {
        ib_mend(t);
    }
    if (CT_UNLIKELY(t->parting && done == 0)) {
        ib_part(t);
    }
    return t->events;
}

static void ib_drain(struct ct_net *net, uint32_t id)
{
    struct ct_ib *t = ct_ib_of(net);
    if (ct_ib_peer_find(t, id) == NULL) {
        return;
    }
    const unsigned before = t->events;
    for (unsigned i = 0; i < 2 * t->nports; i++) { /* a write may wait for one of another port */
        ct_ib_port_drain(t->ports[i % t->nports], id);
    }
    t->uncounted += t->events - before;
}

static void ib_forget(struct ct_net *net, uint32_t id)
{
    struct ct_ib_peer *peer = ct_ib_peer_find(ct_ib_of(net), id);
    if (peer != NULL) {
        ct_ib_peer_quit(peer, CTRAN_ERR_PROC_FAILED);
    }
}

static void ib_check_peers(struct ct_net *net)
{
    ct_ib_path_probe(ct_ib_of(net));
}

/* ---- sleeping -------------------------------------------------------------------------------- */

static void ib_set_timer(struct ct_ib *t)
{
    uint64_t          next = t->stuck_ns != 0 ? t->stuck_ns + STUCK_MS * CT_NS_PER_MS : UINT64_MAX;
    const uint64_t    now = t->now();
    struct itimerspec at = {.it_value = {0, 0}};
    CT_LIST_FOR (node, &t->timed) {
        const struct ct_ib_peer *peer = CT_LIST_ENTRY(node, struct ct_ib_peer, timed);
        next = peer->again_ns < next ? peer->again_ns : next;
    }
    if (next != UINT64_MAX) {
        const uint64_t ns = next > now ? next - now : 1;
        at.it_value.tv_sec = (time_t)(ns / 1000000000u);
        at.it_value.tv_nsec = (long)(ns % 1000000000u);
    }
    (void)timerfd_settime(t->timer, 0, &at, NULL);
}

static bool ib_is_needed(const struct ct_ib *t)
{
    return t->peers != NULL || t->env.nlocal < t->env.size ||
           strstr(t->env.cfg->transports, "shm") == NULL;
}

static int ib_fd(struct ct_net *net)
{
    struct ct_ib *t = ct_ib_of(net);
    if (t->unusable != NULL || !ib_is_needed(t)) {
        return -1;
    }
    for (unsigned i = 0; i < t->nports; i++) {
        ct_ib_port_arm(t->ports[i]);
    }
    ib_set_timer(t);
    t->turns = EVENT_TURNS - 1; /* the next turn looks at everything */
    return t->epoll;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int open_ports(struct ct_ib *t, struct ibv_device **list)
{
    struct ct_ib_choice choice[CT_IB_MAX_PORTS];
    unsigned            n, nprimary;
    const int           rc = ct_ib_choose(t, list, choice, &n, &nprimary);
    for (unsigned i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        if (ct_ib_port_open(t, &choice[i], &t->ports[t->nports]) == CTRAN_SUCCESS) {
            t->nports++;
            t->nprimary += i < nprimary;
        }
    }
    if (t->nprimary == 0 && t->nports > 0) {
        t->nprimary = 1;
    }
    if (rc == CTRAN_SUCCESS && t->nports == 0) {
        t->unusable = "this host has no RDMA port that is up";
    }
    return rc;
}

static int open_devices(struct ct_ib *t)
{
    int                 n = 0;
    struct ibv_device **list = t->v->get_device_list(&n);
    if (list == NULL || n == 0) {
        t->unusable = "this host has no RDMA device";
        if (list != NULL) {
            t->v->free_device_list(list);
        }
        return CTRAN_SUCCESS;
    }
    int rc = t->env.key(t->env.arg, &t->key);
    if (rc == CTRAN_SUCCESS) {
        t->qkey = (uint32_t)ct_auth_number(&t->key, "ib qkey") & 0x7fffffff;
        rc = open_ports(t, list);
    }
    t->v->free_device_list(list);
    return rc;
}

static bool make_buffers(struct ct_ib *t)
{
    const size_t n = (size_t)t->env.cfg->ib_buffers;
    t->buf_bytes =
        (uint32_t)ct_round_up(sizeof(struct ct_ib_head) + CT_NET_MAX_HDR + t->slice_bytes, 64);
    t->buf_memory_bytes = ct_round_up(n * t->buf_bytes, 4096);
    t->buf_memory = aligned_alloc(4096, t->buf_memory_bytes);
    t->all_bufs = calloc(n, sizeof *t->all_bufs);
    if (t->buf_memory == NULL || t->all_bufs == NULL) {
        return false;
    }
    memset(t->buf_memory, 0, t->buf_memory_bytes);
    for (size_t i = 0; i < n; i++) {
        t->all_bufs[i].bytes = t->buf_memory + i * t->buf_bytes;
        ct_ib_buf_put(t, &t->all_bufs[i]);
    }
    return true;
}

static bool make_waiting(struct ct_ib *t)
{
    struct epoll_event e = {.events = EPOLLIN};
    t->epoll = epoll_create1(EPOLL_CLOEXEC);
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return t->epoll >= 0 && t->timer >= 0 &&
           epoll_ctl(t->epoll, EPOLL_CTL_ADD, t->timer, &e) == 0 &&
           getrandom(&t->addr.instance, sizeof t->addr.instance, 0) ==
               (ssize_t)sizeof t->addr.instance;
}

static void ib_release(struct ct_ib *t)
{
    struct ct_ib_peer *peer, *next;
    HASH_ITER (hh, t->peers, peer, next) {
        ct_ib_peer_free(peer);
    }
    while (!ct_list_empty(&t->dying)) {
        ct_ib_qpset_destroy(CT_LIST_ENTRY(t->dying.next, struct ct_ib_qpset, node));
    }
    ct_ib_memory_fini(t);
    for (unsigned i = 0; i < t->nports; i++) {
        ct_ib_port_close(t->ports[i]);
    }
    if (t->epoll >= 0) {
        close(t->epoll);
    }
    if (t->timer >= 0) {
        close(t->timer);
    }
    ct_slab_fini(&t->ops);
    ct_slab_fini(&t->reads);
    ct_slab_fini(&t->eras);
    ct_auth_wipe(&t->key, sizeof t->key);
    free(t->buf_memory);
    free(t->all_bufs);
    free(t);
}

static void ib_set_up(struct ct_ib *t, const struct ct_net_env *env)
{
    t->env = *env;
    t->net = (struct ct_net){.ops = &ct_net_ib, .caps = CT_NET_RMA};
    t->now = ct_clock_ns;
    t->epoll = t->timer = -1;
    t->slice_bytes = (uint32_t)env->cfg->ib_slice;
    t->net.eager_bytes = t->slice_bytes;
    ct_list_init(&t->timed);
    ct_list_init(&t->pumps);
    ct_list_init(&t->dying);
    ct_list_init(&t->memories);
    ct_slab_init(&t->ops, sizeof(struct ct_ib_op), OBJECTS);
    ct_slab_init(&t->reads, sizeof(struct ct_ib_read), OBJECTS);
    ct_slab_init(&t->eras, sizeof(struct ct_ib_era), OBJECTS);
    t->addr.magic = CT_IB_ADDR_MAGIC;
    t->addr.version = CT_IB_VERSION;
    t->addr.slice_bytes = t->slice_bytes;
}

/* Sets `unusable` where there is nothing to use, which is no error. */
static int make_ready(struct ct_ib *t)
{
    int rc = ct_ib_limits_read(t->env.cfg, t->env.log, t->limits);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (t->env.size == 1) {
        t->unusable = "there is no other rank";
    } else if (!ct_auth_available()) {
        t->unusable = "this build has no libsodium, without which no rank can prove who it is";
    } else {
        t->v = ct_ib_verbs_load(&t->unusable);
    }
    if (t->v == NULL) {
        return CTRAN_SUCCESS;
    }
    if (!make_waiting(t) || !make_buffers(t)) {
        ct_error(t->env.log, "cannot prepare ib: %s", strerror(errno));
        return CTRAN_ERR_SYSTEM;
    }
    t->random = t->addr.instance | 1;
    return open_devices(t);
}

static int ib_open(const struct ct_net_env *env, struct ct_net **net)
{
    struct ct_ib *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    ib_set_up(t, env);
    const int rc = make_ready(t);
    if (rc != CTRAN_SUCCESS) {
        ib_release(t);
        return rc;
    }
    t->addr.nports = (uint8_t)t->nports;
    t->addr.nprimary = (uint8_t)t->nprimary;
    for (unsigned i = 0; i < t->nports; i++) {
        t->addr.ports[i] = t->ports[i]->where;
    }
    if (t->unusable != NULL) {
        ct_debug(env->log, "ib is not used: %s", t->unusable);
    }
    t->turn_ns = t->now();
    *net = &t->net;
    return CTRAN_SUCCESS;
}

/* ---- close ----------------------------------------------------------------------------------- */

/* Whether this peer has yet to take something. Says BYE as the last thing. */
static bool is_left_behind(struct ct_ib_peer *peer)
{
    if (peer->phase == CT_IB_OVER || peer->left ||
        (peer->phase == CT_IB_PARKED && ct_ib_peer_settled(peer))) {
        return false;
    }
    if (!peer->bye_sent && peer->phase == CT_IB_OPEN && ct_ib_peer_settled(peer)) {
        peer->bye_sent = ct_ib_message_add(peer, CT_IB_BYE, NULL, 0);
    }
    return !peer->bye_sent || !ct_ib_peer_settled(peer);
}

static unsigned ib_leave(struct ct_ib *t)
{
    unsigned           n = 0;
    struct ct_ib_peer *peer, *next;
    HASH_ITER (hh, t->peers, peer, next) {
        n += is_left_behind(peer);
    }
    return n;
}

static void ib_leave_behind(struct ct_ib *t)
{
    struct ct_ib_peer *peer, *next;
    HASH_ITER (hh, t->peers, peer, next) {
        if (is_left_behind(peer)) {
            ct_error(t->env.log,
                     "rank %" PRIu32 " has taken nothing for %" PRId64 " ms (CTRAN_IB_LINGER) of "
                     "what this rank, which ends, has sent to it. Is it stopped?",
                     peer->id, t->env.cfg->ib_linger);
            ct_ib_peer_lose(peer, CTRAN_ERR_PROC_FAILED);
        }
    }
}

static void ib_close(struct ct_net *net)
{
    enum { NAP_MS = 5 };
    struct ct_ib *t = ct_ib_of(net);
    t->closing = true;
    if (t->unusable == NULL) {
        const uint64_t     linger_ns = (uint64_t)t->env.cfg->ib_linger * CT_NS_PER_MS;
        uint64_t           since_ns = t->now();
        unsigned           left, before = 0;
        struct epoll_event e;
        while ((left = ib_leave(t)) > 0) {
            since_ns = left != before ? t->now() : since_ns;
            before = left;
            if (t->now() - since_ns > linger_ns) {
                ib_leave_behind(t);
            }
            if (ct_ib_progress(net) == 0) {
                (void)ib_fd(net);
                (void)(ct_ib_progress(net) == 0 && epoll_wait(t->epoll, &e, 1, NAP_MS));
            }
        }
    }
    ib_release(t);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static const void *ib_addr(struct ct_net *net, size_t *len_bytes)
{
    struct ct_ib *t = ct_ib_of(net);
    *len_bytes = offsetof(struct ct_ib_addr, ports) + t->nports * sizeof t->addr.ports[0];
    return &t->addr;
}

static const char *ib_unreachable(struct ct_net *net, const void *bytes, size_t len_bytes)
{
    const struct ct_ib *t = ct_ib_of(net);
    struct ct_ib_addr   addr = {0};
    if (t->unusable != NULL) {
        return t->unusable;
    }
    if (len_bytes < offsetof(struct ct_ib_addr, ports) || len_bytes > sizeof addr) {
        return "its address has a wrong length";
    }
    memcpy(&addr, bytes, len_bytes);
    if (addr.magic != CT_IB_ADDR_MAGIC || addr.version != CT_IB_VERSION ||
        addr.nports > CT_IB_MAX_PORTS || addr.nprimary > addr.nports ||
        len_bytes != offsetof(struct ct_ib_addr, ports) + addr.nports * sizeof addr.ports[0]) {
        return "its address is no address of this version";
    }
    if (addr.nports == 0 || addr.nprimary == 0) {
        return "its host has no RDMA port that is up";
    }
    if (addr.slice_bytes != t->slice_bytes) {
        return "its CTRAN_IB_SLICE is another";
    }
    return ((addr.ports[0].flags ^ t->addr.ports[0].flags) & CT_IB_ETHERNET) == 0
               ? NULL
               : "one host has InfiniBand and the other one has RoCE";
}

static int ib_connect(struct ct_net *net, void *cookie, uint32_t id, const void *bytes,
                      size_t len_bytes, struct ct_net_link **link)
{
    struct ct_ib_addr addr = {0};
    memcpy(&addr, bytes, len_bytes); /* checked by unreachable */
    struct ct_ib_peer *peer = ct_ib_peer_get(ct_ib_of(net), id, cookie, &addr);
    if (peer == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    if (peer->phase == CT_IB_OVER) {
        return CTRAN_ERR_PROC_FAILED;
    }
    ct_ib_peer_need(peer);
    *link = &peer->link;
    return CTRAN_SUCCESS;
}

static void ib_disconnect(struct ct_net_link *link)
{
    ct_ib_peer_quit(ct_ib_peer_of(link), CTRAN_ERR_PROC_FAILED);
}

static bool ib_flushed(struct ct_net *net)
{
    for (const struct ct_ib_peer *peer = ct_ib_of(net)->peers; peer != NULL; peer = peer->hh.next) {
        if (peer->phase != CT_IB_OVER && !peer->left && peer->message_una != peer->message_next) {
            return false;
        }
    }
    return true;
}

const struct ct_net_ops ct_net_ib = {
    .name = "ib",
    .description = "InfiniBand and RoCE, several queue pairs and ports for each pair of ranks",
    .caps = CT_NET_RMA,
    .open = ib_open,
    .close = ib_close,
    .addr = ib_addr,
    .unreachable = ib_unreachable,
    .connect = ib_connect,
    .disconnect = ib_disconnect,
    .watch = ct_net_no_watch,
    .drain = ib_drain,
    .forget = ib_forget,
    .send = ct_ib_message_send,
    .flushed = ib_flushed,
    .rma = &ct_ib_rma_ops,
    .progress = ct_ib_progress,
    .check_peers = ib_check_peers,
    .wake = ct_net_no_wake,
    .fd = ib_fd,
};
