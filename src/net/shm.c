/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shm - the transport between processes of one host. Every rank makes a segment with one receive
 * pair a peer (shm_segment.h), which is two rings (ring_pair.h, ring.h); a peer that wants to
 * send maps it and takes its pair. Long messages may be read straight from the sender's memory
 * (shm_rma.h, shm_share.h), or copied from its GPU's (nvl.h).
 *
 * Ranks of one operating-system process work as well: they share the segment's very mapping.
 */
#define CT_FOLDER "net"
#include <inttypes.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/shm_own.h"
#include "net/shm_rma.h"
#include "net/shm_share.h"
#include "net/transports.h"

enum {
    BARRIER_AUTO, /* CTRAN_SHM_MEMBARRIER */
    RECORDS_A_TURN = 16,
    /* How long a process that was seen alive keeps its pid for sure, were it to end right then: the
     * kernel gives pids out in turn, and this is far less than a round takes. */
    PID_KEEPS_NS = 5000000,
};

/* ---- open and close -------------------------------------------------------------------------- */

/* Says in the peer's own segment, if it is mapped, that nothing more will come through it. */
static void shm_send_bye(struct ct_shm_peer *peer)
{
    struct ct_ring_ctl *ctl = peer->tx.ring[CT_RING_PAIR_LONG].ctl;
    if (peer->seg.mapped && ctl != NULL) {
        atomic_store_explicit(&ctl->producer_left, true, memory_order_release);
    }
}

/* Exposed memory is for those who can map it; without them the usual kind is as good. */
static void show_exposed(struct ct_shm *s, struct ct_expose_list *list)
{
    if (s->env.process != NULL && s->env.nlocal > 1 &&
        s->env.cfg->shm_single_copy != CT_SHM_COPY_NEVER) {
        ct_expose_show(s->env.process, list);
    }
}

/* If a rank has connected to no peer, peers see its own segment alone; a rank that never mapped
 * this segment has the ring. */
static void shm_close(struct ct_net *net)
{
    struct ct_shm *s = ct_shm_of(net);
    for (uint32_t i = 0; s->peers != NULL && i < s->env.nlocal; i++) {
        struct ct_shm_peer *peer = s->peers[i];
        if (peer != NULL) {
            shm_send_bye(peer);
            ct_attach_close(&peer->view);
            ct_shm_segment_close(&peer->seg, false);
            if (peer->pidfd >= 0) {
                close(peer->pidfd);
            }
            if (peer->bell >= 0) {
                close(peer->bell);
            }
            free(peer);
        }
    }
    show_exposed(s, NULL);
    ct_shm_segment_close(&s->own, true);
    ct_nvl_fini(&s->nvl);
    ct_shm_rma_fini(s);
    free(s->peers);
    free(s->rx);
    free(s->joined);
    free(s);
}

static int shm_open_net(const struct ct_net_env *env, struct ct_net **net)
{
    if (env->nlocal > CT_SHM_MAX_PEERS) {
        ct_error(env->log, "%" PRIu32 " ranks on one host; shm serves at most %d", env->nlocal,
                 CT_SHM_MAX_PEERS);
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    struct ct_shm *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    s->env = *env;
    s->own.fd = -1;
    ct_nvl_init(&s->nvl, &s->net, env);
    ct_shm_rma_init(s);
    s->peers = calloc(env->nlocal, sizeof(struct ct_shm_peer *));
    s->rx = calloc(env->nlocal, sizeof(struct ct_shm_peer *));
    s->joined = calloc(ct_div_up(env->nlocal, 64), sizeof(uint64_t));
    size_t bytes = ct_shmsize_ring(env->cfg->shm_ring_size, env->nlocal);
    bool   ok = s->peers != NULL && s->rx != NULL && s->joined != NULL;
    int    rc = ok ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        const struct ct_shm_owner owner = {env->log,        env->cfg,         env->job,
                                           env->id,         env->incarnation, env->local_index,
                                           env->local_group};
        rc = ct_shm_segment_create(&owner, env->nlocal, bytes, &s->own, &s->addr);
    }
    if (rc != CTRAN_SUCCESS) {
        shm_close(&s->net);
        return rc;
    }
    s->joined_barriers = env->cfg->shm_membarrier == BARRIER_AUTO && ct_membarrier_join();
    s->own.head->wake.bars = s->joined_barriers;
    s->net = (struct ct_net){
        .ops = &ct_net_shm, .caps = CT_NET_RMA, .eager_bytes = (size_t)env->cfg->eager_limit};
    if (env->cfg->shm_single_copy != CT_SHM_COPY_NEVER) {
        ct_shm_copy_allow();
    }
    show_exposed(s, &s->own.head->list);
    *net = &s->net;
    return CTRAN_SUCCESS;
}

static const void *shm_addr(struct ct_net *net, size_t *len_bytes)
{
    *len_bytes = sizeof(struct ct_shm_addr);
    return &ct_shm_of(net)->addr;
}

/* ---- peers ----------------------------------------------------------------------------------- */

static const char *shm_unreachable(struct ct_net *net, const void *bytes, size_t len_bytes)
{
    struct ct_shm     *s = ct_shm_of(net);
    struct ct_shm_addr addr;
    if (len_bytes != sizeof addr) {
        return "its address has a wrong length";
    }
    memcpy(&addr, bytes, sizeof addr);
    if (addr.host != s->addr.host) {
        return "it is on another host";
    }
    if (addr.local_group != s->addr.local_group || addr.local_index >= s->env.nlocal) {
        return "it belongs to another group of local ranks";
    }
    if (addr.file[0] == '\0' && addr.pid_space != s->addr.pid_space) {
        return "it is in another pid namespace (CTRAN_SHM_BACKING=file may help)";
    }
    return NULL;
}

/* The peer with this address, made if need be; NULL when out of memory, or when another process
 * has its place. The pidfd comes before the segment is mapped: if the pid had been reused earlier,
 * the mapping would show it; if later, the pidfd does. */
static struct ct_shm_peer *peer_at(struct ct_shm *s, const void *bytes, uint32_t id, void *cookie)
{
    struct ct_shm_addr addr;
    memcpy(&addr, bytes, sizeof addr);
    struct ct_shm_peer *peer = s->peers[addr.local_index];
    if (peer != NULL) {
        return peer->id == id ? peer : NULL;
    }
    peer = calloc(1, sizeof *peer);
    if (peer == NULL) {
        return NULL;
    }
    peer->link.net = &s->net;
    peer->id = id;
    peer->cookie = cookie;
    peer->seg.fd = -1;
    peer->addr = addr;
    peer->pidfd = -1;
    peer->bell = -1;
    if (addr.pid_space == s->addr.pid_space && addr.pid != s->addr.pid) {
        peer->pidfd = (int)syscall(SYS_pidfd_open, addr.pid, 0);
    }
    s->peers[addr.local_index] = peer;
    return peer;
}

/* Like peer_at, but found by what the peer has published. */
static struct ct_shm_peer *peer_find(struct ct_shm *s, uint32_t id, void *cookie)
{
    size_t      len;
    const void *addr = cookie != NULL ? s->env.lookup(cookie, &s->net, &len) : NULL;
    if (addr == NULL || shm_unreachable(&s->net, addr, len) != NULL) {
        return NULL;
    }
    return peer_at(s, addr, id, cookie);
}

static int peer_map(struct ct_shm *s, struct ct_shm_peer *peer)
{
    if (peer->mapped) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_shm_segment_attach(s->env.log, &peer->addr, &peer->seg);
    peer->mapped = rc == CTRAN_SUCCESS;
    return rc;
}

static int shm_connect(struct ct_net *net, void *cookie, uint32_t id, const void *bytes,
                       size_t len_bytes, struct ct_net_link **link)
{
    struct ct_shm      *s = ct_shm_of(net);
    uint32_t            place = s->env.local_index;
    struct ct_shm_peer *peer = peer_at(s, bytes, id, cookie);
    (void)len_bytes; /* checked by unreachable */
    if (peer == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    int rc = peer_map(s, peer);
    if (rc == CTRAN_SUCCESS && place >= peer->seg.nrings) {
        rc = CTRAN_ERR_PROC_FAILED;
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_shm_segment_reserve(s->env.log, &peer->seg,
                                    ct_shm_segment_ring_at(&peer->seg, place),
                                    ct_shm_segment_place_bytes(&peer->seg));
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_shm_segment_settle(&peer->seg);
    ct_shm_segment_ring_pair(&peer->seg, place, &peer->tx);
    struct ct_ring_ctl *ctl = peer->tx.ring[CT_RING_PAIR_LONG].ctl;
    ctl->producer_id = s->env.id;
    ctl->producer_incarnation = s->env.incarnation;
    peer->tx.ring[CT_RING_PAIR_LONG].barred = peer->tx.ring[CT_RING_PAIR_SHORT].barred =
        s->joined_barriers && peer->seg.head->wake.bars;
    peer->quiet = false;
    peer->copy = ct_shm_copy_probe(&s->env, &peer->addr);
    peer->link.attaches = ct_shm_copy_view(&s->env, &s->addr, &peer->addr, &peer->seg, &peer->view);
    peer->link.max_slice = ct_ring_max_payload(peer->seg.ring_bytes, CT_NET_MAX_HDR);
    atomic_fetch_or_explicit(&peer->seg.head->joined[place / 64], UINT64_C(1) << place % 64,
                             memory_order_seq_cst);
    atomic_fetch_add_explicit(&peer->seg.head->joins, 1, memory_order_seq_cst);
    ct_shm_wake_peer(peer);
    *link = &peer->link;
    return CTRAN_SUCCESS;
}

/* The mapping stays until close: the peer may still send to us. Memory that is shared with a rank
 * of this very process may have gone with that rank. */
static void shm_disconnect(struct ct_net_link *link)
{
    ct_shm_peer_of(link)->quiet = true;
    shm_send_bye(ct_shm_peer_of(link));
}

static void shm_watch(struct ct_net *net, void *cookie, uint32_t id)
{
    (void)peer_find(ct_shm_of(net), id, cookie);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Writes a record's header and payload. A peer that waits polls the record's first line: each look
 * takes the line away from the writer, which needs it once more to publish the record. So an
 * answer, for which the peer waits, is written from its second line on, and its first line last.
 * (Streams of short messages lose by that order.) False: the payload could not be read. */
static bool shm_fill(const struct ct_net_slice *slice, char *to, bool answers)
{
    const struct ct_area *area = slice->area;
    char *const           data = to + slice->hdr_len;
    const size_t          first = CT_CACHE_LINE - (uintptr_t)data % CT_CACHE_LINE;
    if (!answers || slice->len_bytes <= CT_CACHE_LINE || area->pieces != NULL) {
        ct_net_put_header(to, slice);
        return slice->len_bytes == 0 ||
               ct_area_gather_all(area, slice->pos, data, slice->len_bytes);
    }
    const size_t      want = ct_min_size(slice->len_bytes, area->len_bytes - *slice->pos);
    const char *const from = (const char *)area->base + *slice->pos;
    if (CT_LIKELY(want > first)) {
        ct_block_copy(data + first, from + first, want - first);
    }
    ct_block_copy(data, from, ct_min_size(want, first));
    ct_net_put_header(to, slice);
    *slice->pos += want;
    return true;
}

static int shm_send(struct ct_net_link *link, const struct ct_net_slice *slice)
{
    struct ct_shm_peer *peer = ct_shm_peer_of(link);
    if (CT_UNLIKELY(peer->lost)) {
        return CTRAN_ERR_PROC_FAILED;
    }
    char *to = ct_ring_pair_reserve(&peer->tx, slice->hdr_len, slice->len_bytes);
    if (CT_UNLIKELY(to == NULL)) {
        /* The ring's end may have been marked as skipped just now: that has to be consumed. */
        ct_shm_wake_peer(peer);
        return CT_AGAIN;
    }
    if (CT_UNLIKELY(!shm_fill(slice, to, peer->received))) {
        return CTRAN_ERR_BUFFER;
    }
    peer->received = false;
    ct_ring_pair_publish(&peer->tx, slice->type, slice->hdr_len, slice->len_bytes);
    ct_shm_wake_peer(peer);
    return CTRAN_SUCCESS;
}

bool ct_shm_keeps_pid(const struct ct_shm *s, struct ct_shm_peer *peer)
{
    uint64_t now = ct_clock_ns();
    if (now - peer->alive_ns < PID_KEEPS_NS) {
        return true;
    }
    if (ct_shm_owner_ended(&s->addr, &peer->addr, peer->pidfd)) {
        return false;
    }
    peer->alive_ns = now;
    return true;
}

static void shm_lose(struct ct_shm *s, struct ct_shm_peer *peer, int why)
{
    ct_attach_close(&peer->view);
    if (!peer->lost) {
        peer->lost = true;
        s->env.failed(peer->cookie, why);
    }
}

static void log_spoilt(const struct ct_shm *s, const struct ct_shm_peer *peer)
{
    ct_error(s->env.log,
             "rank %" PRIu32 " has written rubbish to shared memory; it is treated as dead",
             peer->id);
}

static void shm_spoilt(struct ct_shm *s, struct ct_shm_peer *peer)
{
    log_spoilt(s, peer);
    shm_lose(s, peer, CTRAN_ERR_PROC_FAILED);
}

/* ---- reads that both ends work at ------------------------------------------------------------ */

static bool shm_has_gone(void *peer)
{
    return !ct_shm_keeps_pid(ct_shm_of(((struct ct_shm_peer *)peer)->link.net), peer);
}

static int is_exposed(void *peer_, const struct ct_shm_remote *what)
{
    struct ct_shm_peer   *peer = peer_;
    const struct ct_area *area;
    if (ct_shm_of(peer->link.net)
            ->env.region(peer->cookie, what->key, 0, 0, CT_NET_REMOTE_READ, &area) !=
        CTRAN_SUCCESS) {
        return CT_AGAIN;
    }
    const uint64_t at = what->addr - (uintptr_t)area->base;
    const bool     within =
        area->pieces == NULL && at <= area->len_bytes && what->len_bytes <= area->len_bytes - at;
    return within ? CTRAN_SUCCESS : CTRAN_ERR_INTERN;
}

struct ct_shm_mate ct_shm_mate_of(struct ct_shm_peer *peer)
{
    return (struct ct_shm_mate){peer->copy, peer->addr.pid, shm_has_gone,
                                is_exposed, peer,           &peer->view};
}

/* Does a part of what a peer reads from this process. */
static unsigned shm_help(struct ct_shm *s, uint32_t place)
{
    struct ct_shm_peer *peer = place < s->env.nlocal ? s->peers[place] : NULL;
    if (peer == NULL || peer->lost || peer->quiet) {
        atomic_store_explicit(&s->own.head->offer, 0, memory_order_relaxed);
        return 0;
    }
    struct ct_shm_mate reader = ct_shm_mate_of(peer);
    int rc = ct_shm_share_help(ct_shm_segment_offer(&s->own, place), &s->own.head->offer, place,
                               &reader);
    if (CT_UNLIKELY(rc != CTRAN_SUCCESS && rc != CT_AGAIN)) {
        shm_spoilt(s, peer);
    }
    return rc == CTRAN_SUCCESS;
}

int ct_shm_outcome(struct ct_shm_peer *peer, int rc)
{
    struct ct_shm *s = ct_shm_of(peer->link.net);
    if (CT_UNLIKELY(rc == CTRAN_ERR_INTERN)) {
        log_spoilt(s, peer);
        return CTRAN_ERR_PROC_FAILED;
    }
    return rc == CTRAN_SUCCESS && !ct_shm_keeps_pid(s, peer) ? CTRAN_ERR_PROC_FAILED : rc;
}

/* ---- receiving ------------------------------------------------------------------------------- */

/* Takes up the ring at `place`, if its producer is the process with that place. */
static void take_ring(struct ct_shm *s, uint32_t place)
{
    struct ct_ring_pair pair;
    ct_shm_segment_ring_pair(&s->own, place, &pair);
    struct ct_ring_ctl *ctl = pair.ring[CT_RING_PAIR_LONG].ctl;
    uint32_t            id = ctl->producer_id;
    void               *cookie = s->env.peer(s->env.arg, id, ctl->producer_incarnation);
    struct ct_shm_peer *peer = peer_find(s, id, cookie);
    if (peer == NULL || peer->addr.local_index != place) {
        ct_error(s->env.log,
                 "the sender at place %" PRIu32 " of this host says that it is rank "
                 "%" PRIu32 ", which cannot be; its messages are ignored",
                 place, id);
        return;
    }
    peer->rx = pair;
    peer->receiving = true;
    s->rx[s->nrx++] = peer;
}

/* Takes up the rings of peers that have connected since the last look. */
static void take_joins(struct ct_shm *s)
{
    struct ct_shm_head *head = s->own.head;
    s->joins_seen = atomic_load_explicit(&head->joins, memory_order_seq_cst);
    for (uint32_t place = 0; place < s->env.nlocal; place++) {
        uint64_t word = atomic_load_explicit(&head->joined[place / 64], memory_order_seq_cst);
        if ((word & ~s->joined[place / 64]) >> place % 64 & 1) {
            s->joined[place / 64] |= UINT64_C(1) << place % 64;
            take_ring(s, place);
        }
    }
}

/* Whether the peer has closed its segment: by that, where we have it, or by its ring in ours. */
static bool has_left(const struct ct_shm_peer *peer)
{
    return (peer->mapped &&
            atomic_load_explicit(&peer->seg.head->state, memory_order_acquire) == CT_SHM_CLOSED) ||
           (peer->receiving &&
            atomic_load_explicit(&peer->rx.ring[CT_RING_PAIR_LONG].ctl->producer_left,
                                 memory_order_acquire));
}

/* The producer sleeps until there is room. Its segment is mapped for this if need be. */
static void wake_producer(struct ct_shm *s, struct ct_shm_peer *peer)
{
    if (peer_map(s, peer) == CTRAN_SUCCESS) {
        ct_shm_wake_peer(peer);
    }
}

/* Delivers up to `most` records; returns how many. */
static unsigned shm_drain(struct ct_shm *s, struct ct_shm_peer *peer, unsigned most)
{
    unsigned         n = 0;
    struct ct_record rec;
    int              got;
    bool             starves;
    while (n < most && (got = ct_ring_peek(ct_ring_pair_now(&peer->rx), &rec)) != 0) {
        struct ct_ring *ring = ct_ring_pair_now(&peer->rx);
        if (CT_UNLIKELY(got < 0)) {
            shm_spoilt(s, peer);
            return n;
        }
        if (CT_LIKELY(rec.type != CT_RING_SKIP)) {
            s->env.deliver(peer->cookie, rec.type, rec.hdr, rec.hdr_len, rec.data, rec.len_bytes);
            n++;
            peer->rx.turns = 0;
            peer->received = true;
            starves = ct_ring_release(ring, &rec);
        } else if (!ct_ring_pair_is_turn(&rec)) {
            ring->streak = 0; /* what it stands before is still the first */
            starves = ct_ring_release(ring, &rec);
        } else if (!ct_ring_pair_follow(&peer->rx, &starves)) {
            shm_spoilt(s, peer);
            return n;
        }
        if (CT_UNLIKELY(starves)) {
            wake_producer(s, peer);
        }
        if (rec.type != CT_RING_SKIP && ring->streak == 1) {
            break; /* the first after none: a look for another would hold up who waits for this */
        }
    }
    return n;
}

static unsigned shm_progress(struct ct_net *net)
{
    struct ct_shm *s = ct_shm_of(net);
    unsigned       n = 0;
    if (CT_UNLIKELY(atomic_load_explicit(&s->own.head->joins, memory_order_seq_cst) !=
                    s->joins_seen)) {
        take_joins(s);
    }
    uint32_t offer = atomic_load_explicit(&s->own.head->offer, memory_order_acquire);
    if (CT_UNLIKELY(offer != 0)) {
        n += shm_help(s, offer - 1);
    }
    n += ct_nvl_progress(&s->nvl);
    for (uint32_t i = 0; i < s->nrx; i++) {
        if (CT_LIKELY(!s->rx[i]->lost)) {
            n += shm_drain(s, s->rx[i], RECORDS_A_TURN);
        }
    }
    return n;
}

/* Whether the peer has ended, or closed its segment. What we cannot map for want of our own means
 * says nothing of the peer. */
static bool is_gone(struct ct_shm *s, struct ct_shm_peer *peer)
{
    return has_left(peer) || peer_map(s, peer) == CTRAN_ERR_PROC_FAILED || has_left(peer) ||
           ct_shm_owner_ended(&s->addr, &peer->addr, peer->pidfd);
}

static void shm_check_peers(struct ct_net *net)
{
    struct ct_shm *s = ct_shm_of(net);
    for (uint32_t i = 0; i < s->env.nlocal; i++) {
        struct ct_shm_peer *peer = s->peers[i];
        if (peer != NULL) {
            ct_attach_sweep(&peer->view);
        }
        if (peer == NULL || peer->lost || !is_gone(s, peer)) {
            continue;
        }
        /* What it sent before it went still counts, were it the first that we hear of it. */
        take_joins(s);
        while (peer->receiving && !peer->lost && shm_drain(s, peer, RECORDS_A_TURN) > 0) {
        }
        if (!peer->lost && has_left(peer)) {
            peer->lost = true;
            s->env.left(peer->cookie);
        }
        shm_lose(s, peer, CTRAN_ERR_PROC_FAILED);
    }
}

static struct ct_wake *shm_wake(struct ct_net *net)
{
    return &ct_shm_of(net)->own.head->wake;
}

const struct ct_net_ops ct_net_shm = {
    .name = "shm",
    .description = "shared memory between the processes of one host",
    .caps = CT_NET_RMA,
    .open = shm_open_net,
    .close = shm_close,
    .addr = shm_addr,
    .unreachable = shm_unreachable,
    .connect = shm_connect,
    .disconnect = shm_disconnect,
    .watch = shm_watch,
    .drain = ct_net_no_drain,
    .forget = ct_net_no_forget,
    .send = shm_send,
    .flushed = ct_net_all_flushed,
    .rma = &ct_shm_rma_ops,
    .progress = shm_progress,
    .check_peers = shm_check_peers,
    .wake = shm_wake,
    .fd = ct_net_no_fd,
};
