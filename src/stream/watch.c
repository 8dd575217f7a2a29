/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream thread: one for a process that has made stream-ordered calls, until their end. It has
 * two tasks. It starts operations over the host that a stream has told to go (staged.c). And it is
 * the watchdog: it notices that a peer has died or a deadline has passed, and where a
 * communicator's work has ended it lets the streams go, as stream.h says.
 *
 * It calls no CUDA, takes no lock that is held while CUDA is called, and sees records of operations
 * as their enqueuer has published them (ct_stream_arm). A record is its operation's until that is
 * over, and only the one that the stream is in is looked at.
 */
#define CT_FOLDER "stream"
#include <inttypes.h>
#include <poll.h>
#include <signal.h>

#include "pmi/pmi.h"
#include "stream/graph.h"
#include "stream/staged.h"

enum {
    SPIN_NS = 200000,      /* after something has happened, between looks it yields */
    NAP_NS = 50000,        /* while an operation over the host may be told to go */
    LONG_NAP_NS = 2000000, /* else: deaths and deadlines */
    FORCE_NS = 2000000000, /* an operation that is let go by nobody else by then is by force */
};

void ct_stream_revoke(struct ct_comm *comm, int error)
{
    struct ct_streams *all = comm->p->streams;
    if (all == NULL || comm->stream == NULL) {
        return;
    }
    ct_lock_acquire(&all->lock); /* from which it is taken before it goes */
    if (comm->stream != NULL) {
        ct_stream_end_all(comm->stream, error);
    }
    ct_lock_release(&all->lock);
}

/* ---- letting go ------------------------------------------------------------------------------ */

/* To no less than any stream waits for. */
static void set(_Atomic uint32_t *word)
{
    atomic_store_explicit(word, INT32_MAX / 2, memory_order_seq_cst);
}

/* All tokens that this rank's streams may wait for of a peer: sets from `from` on. By those whose
 * ready word lets this rank push, a peer that lives is written to: only by force. */
static void set_all(struct ct_stream_context *c, uint32_t peer, uint32_t from, bool force)
{
    const struct ct_tokens *t = &c->tokens;
    const bool              push = force || c->dead[peer];
    for (uint32_t way = 0; way < 2; way++) {
        for (uint32_t s = from; s < CT_TOKEN_SETS; s++) {
            for (uint32_t lane = 0; lane < CT_TOKEN_LANES; lane++) {
                set(&ct_token_at(t, t->me, peer, way, s, lane)->done);
                if (way == CT_PRODUCER || push) {
                    set(&ct_token_at(t, peer, t->me, way, s, lane)->ready);
                }
            }
        }
    }
}

/* An end of the operation that the stream is in. */
static void let_end_go(struct ct_stream_context *c, struct ct_stream_end *e, bool force)
{
    const struct ct_tokens *t = &c->tokens;
    const uint32_t          from = e->send ? t->me : e->peer, to = e->send ? e->peer : t->me;
    if (e->token == NULL) {
        return;
    }
    if (force || c->dead[e->peer]) {
        set(e->first ? &e->token->done : &e->token->ready);
    } else if (e->first && !e->let_go && ct_slot_close(t, from, to, e->number)) {
        e->let_go = true; /* once: the stream clears it */
        set(&e->token->done);
    }
}

/* Kernels do not wait for dead ranks, or, by force, for any rank. */
static void let_kernels_go(struct ct_stream_context *c, bool force)
{
    uint32_t mask = force ? UINT32_MAX : 0;
    for (uint32_t r = 0; c->reaches_all && r < c->tokens.n; r++) {
        mask |= (uint32_t)c->dead[r] << r;
    }
    if (c->reaches_all) {
        atomic_store_explicit(&c->tokens.head->let_go[c->tokens.me], mask, memory_order_seq_cst);
    }
}

static void let_go(struct ct_stream_context *c, uint32_t at, bool force)
{
    struct ct_stream_armed *a = &c->armed[at % CT_STREAM_ARMED];
    const uint32_t          n = atomic_load_explicit(&a->nends, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++) {
        let_end_go(c, &a->ends[i], force);
    }
    if (a->staged != NULL) {
        ct_staged_let_go(a->staged);
    }
}

/* Graphs that may be running. */
static void let_graphs_go(struct ct_stream_context *c, bool force)
{
    for (uint32_t r = 0; c->reaches_all && r < c->tokens.n; r++) {
        if (r != c->tokens.me) {
            set_all(c, r, 1, force);
        }
    }
}

/* What this rank's streams wait for in windows. Waits of one put set no memory of a peer free: the
 * put comes before. */
static void let_signals_go(struct ct_stream_context *c)
{
    const struct ct_tokens *t = &c->tokens;
    for (uint32_t r = 0; c->reaches_all && r < t->n; r++) {
        for (uint64_t k = 0; k < CT_SIGNALS; k++) {
            set(&ct_signal_at(t, r, t->me, k)->sent);
            set(&ct_signal_at(t, t->me, r, k)->room);
        }
    }
}

/* ---- what ends it ---------------------------------------------------------------------------- */

static void look_for_deaths(struct ct_stream_context *c)
{
    for (uint32_t r = 0; c->reaches_all && r < c->tokens.n; r++) {
        struct pollfd fd = {.fd = c->pidfd[r], .events = POLLIN};
        if (!c->dead[r] && fd.fd >= 0 && poll(&fd, 1, 0) == 1) {
            c->dead[r] = true;
            if (ct_stream_pending(c) > 0 || c->has_captured || !ct_list_empty(&c->graphs)) {
                ct_error(&c->p->log,
                         "rank %" PRIu32
                         " of a communicator has died while stream-ordered calls were "
                         "under way: they end",
                         r);
            }
            ct_stream_end_all(c, CTRAN_ERR_PROC_FAILED);
        }
    }
}

/* How long the operation that the stream is in has been that, if there is one. */
static uint64_t age_ns(struct ct_stream_context *c, uint32_t finished)
{
    const uint64_t now = ct_clock_ns();
    if (finished != c->seen || c->since_ns == 0) {
        c->seen = finished;
        c->since_ns = now;
    }
    return now - c->since_ns;
}

void ct_stream_discount(struct ct_stream_context *c)
{
    const uint32_t finished = atomic_load_explicit(c->finished, memory_order_acquire);
    atomic_fetch_sub_explicit(&c->p->gpu->armed, finished - c->discounted, memory_order_release);
    c->discounted = finished;
}

static void look(struct ct_stream_context *c)
{
    const uint32_t finished = atomic_load_explicit(c->finished, memory_order_acquire);
    const uint32_t enqueued = atomic_load_explicit(&c->enqueued, memory_order_acquire);
    const uint64_t limit_ns = (uint64_t)c->p->cfg.stream_timeout * CT_NS_PER_MS;
    ct_stream_discount(c);
    look_for_deaths(c);
    if (finished == enqueued) {
        c->since_ns = 0;
    } else if (limit_ns > 0 && age_ns(c, finished) > limit_ns &&
               ct_stream_over(c) == CTRAN_SUCCESS) {
        ct_error(&c->p->log,
                 "stream-ordered call %" PRIu32 " of a communicator has not ended in %" PRId64
                 " ms (CTRAN_STREAM_TIMEOUT): its work on streams ends",
                 finished + 1, (int64_t)c->p->cfg.stream_timeout);
        ct_stream_end_all(c, CTRAN_ERR_TIMEOUT);
    }
    if (ct_stream_over(c) != CTRAN_SUCCESS) {
        if (finished != enqueued) {
            if (!c->ending) {
                c->ending = true;
                c->since_ns = 0;
            }
            let_go(c, finished, age_ns(c, finished) > FORCE_NS);
        }
        c->over_ns = c->over_ns != 0 ? c->over_ns : ct_clock_ns();
        const bool late = ct_clock_ns() - c->over_ns > FORCE_NS;
        let_kernels_go(c, late);
        let_graphs_go(c, late);
        let_signals_go(c);
    }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void look_at_all(struct ct_streams *all)
{
    ct_lock_acquire(&all->lock);
    CT_LIST_FOR (node, &all->contexts) {
        look(CT_LIST_ENTRY(node, struct ct_stream_context, node));
    }
    ct_lock_release(&all->lock);
}

/* Whether a stream may tell an operation over the host to go: what is over has left the count. */
static bool may_be_told(struct ct_streams *all)
{
    const struct ct_gpu *g = all->p->gpu;
    if (atomic_load_explicit(&g->armed, memory_order_acquire) == 0 &&
        atomic_load_explicit(&g->graphs, memory_order_acquire) == 0) {
        return false;
    }
    ct_lock_acquire(&all->lock);
    const bool has = !ct_list_empty(&all->staged);
    ct_lock_release(&all->lock);
    return has;
}

static void *live(void *arg)
{
    struct ct_streams *all = arg;
    uint64_t           busy_ns = 0, looked_ns = 0;
    while (!atomic_load_explicit(&all->stop, memory_order_acquire)) {
        const uint64_t now = ct_clock_ns();
        if (ct_staged_serve(all)) {
            busy_ns = now;
        }
        if (now - looked_ns > LONG_NAP_NS) {
            looked_ns = now;
            look_at_all(all);
        }
        const bool staged = may_be_told(all);
        if (staged && now - busy_ns < SPIN_NS) {
            (void)sched_yield();
        } else if (atomic_exchange_explicit(&all->bell, 0, memory_order_acq_rel) == 0) {
            ct_futex_wait_private(&all->bell, 0, staged ? NAP_NS : LONG_NAP_NS);
        }
    }
    return NULL;
}

/* No signal of the program's is for this thread. */
int ct_watch_start(struct ct_streams *all)
{
    sigset_t every, old;
    if (all->runs) {
        return CTRAN_SUCCESS;
    }
    sigfillset(&every);
    (void)pthread_sigmask(SIG_SETMASK, &every, &old);
    const int err = pthread_create(&all->thread, NULL, live, all);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err != 0) {
        ct_error(&all->p->log, "the stream thread cannot be started: %s", strerror(err));
        return CTRAN_ERR_SYSTEM;
    }
    (void)pthread_setname_np(all->thread, "ctran-stream");
    all->runs = true;
    return CTRAN_SUCCESS;
}

void ct_watch_stop(struct ct_streams *all)
{
    if (all->runs) {
        atomic_store_explicit(&all->stop, true, memory_order_release);
        ct_watch_ring(all);
        (void)pthread_join(all->thread, NULL); /* fails for what is no thread: our bug */
        all->runs = false;
    }
}
