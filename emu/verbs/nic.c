/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of a process: its lock, its thread, and one step of its work. A step takes what has
 * arrived, then what is due, then lets each QP that has work send some packets. The thread sleeps
 * on the futex of its slot when a step did nothing; while programs poll, their polls do the steps
 * and the thread only looks in now and then.
 */
#include "emu.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    RECEIVE_BUDGET = 64,   /* packets a step */
    SEND_BUDGET = 16,      /* packets a QP and step */
    LOOK_FIRST_NS = 20000, /* how soon the thread looks while programs poll; each look that finds */
    LOOK_LAST_NS = 100000, /* nothing to do doubles it */
    HELPED_NS = 100000,    /* who polled so lately polls still */
    DRAIN_NS = 2000000000
};

struct emu_nic emu_nic = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t emu_now_ps(void)
{
    struct timespec now;
    if (emu_set.virtual_time) {
        return atomic_load_explicit(&emu_nic.virtual_ps, memory_order_relaxed);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - emu_nic.fabric->epoch_ns) *
           EMU_PS_PER_NS;
}

uint64_t emu_verbs_now_ns(void)
{
    return emu_nic_start() ? emu_now_ps() / EMU_PS_PER_NS : 0;
}

uint64_t emu_random(void)
{
    uint64_t x = emu_nic.random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    emu_nic.random = x;
    return x * 0x2545f4914f6cdd1du;
}

void emu_lock(void)
{
    atomic_fetch_add_explicit(&emu_nic.wanted, 1, memory_order_relaxed);
    pthread_mutex_lock(&emu_nic.lock);
    atomic_fetch_sub_explicit(&emu_nic.wanted, 1, memory_order_relaxed);
}

void emu_unlock(void)
{
    pthread_mutex_unlock(&emu_nic.lock);
}

static struct emu_slot *own_slot(void)
{
    return &emu_nic.fabric->slots[emu_nic.place.slot];
}

struct emu_qp *emu_qp_find(uint32_t qpn)
{
    return qpn / EMU_MAX_QP == emu_nic.place.slot ? emu_nic.qps[qpn % EMU_MAX_QP] : NULL;
}

/* Lists of QPs that have work */

void emu_activate(struct emu_qp *qp)
{
    if (qp->active) {
        return;
    }
    qp->active = true;
    qp->active_next = NULL;
    if (emu_nic.active_last != NULL) {
        emu_nic.active_last->active_next = qp;
    } else {
        emu_nic.active_first = qp;
    }
    emu_nic.active_last = qp;
}

void emu_hold(struct emu_qp *qp)
{
    if (!qp->active) {
        qp->active = true;
        qp->active_next = emu_nic.held_first;
        emu_nic.held_first = qp;
    }
}

static void release_held(void)
{
    while (emu_nic.held_first != NULL) {
        struct emu_qp *qp = emu_nic.held_first;
        emu_nic.held_first = qp->active_next;
        qp->active = false;
        emu_activate(qp);
    }
}

void emu_bell(struct emu_qp *qp)
{
    if (!atomic_exchange(&qp->belled, true)) {
        qp->bell_next = atomic_load_explicit(&emu_nic.bells, memory_order_relaxed);
        while (!atomic_compare_exchange_weak(&emu_nic.bells, &qp->bell_next, qp)) {
        }
    }
    emu_fabric_ring_bell(own_slot());
}

static void take_bells(void)
{
    struct emu_qp *qp = atomic_exchange(&emu_nic.bells, NULL), *first = NULL;
    while (qp != NULL) { /* they come last first */
        struct emu_qp *next = qp->bell_next;
        qp->bell_next = first;
        first = qp;
        qp = next;
    }
    while (first != NULL) {
        struct emu_qp *next = first->bell_next;
        atomic_store(&first->belled, false);
        emu_activate(first);
        first = next;
    }
}

void emu_forget_qp(struct emu_qp *qp)
{
    take_bells();
    release_held();
    emu_port_leave(qp);
    struct emu_qp *last = NULL;
    for (struct emu_qp **at = &emu_nic.active_first; *at != NULL;) {
        if (*at == qp) {
            *at = qp->active_next;
        } else {
            last = *at;
            at = &(*at)->active_next;
        }
    }
    emu_nic.active_last = last;
    qp->active = false;
}

bool emu_serve(struct emu_qp *qp, unsigned budget)
{
    const enum ibv_qp_state state = (enum ibv_qp_state)atomic_load(&qp->state);
    if (!qp->backlogged) {
        qp->ready_ps = emu_nic.now_ps;
    }
    qp->cut_short = false;
    bool did = emu_respond(qp, budget);
    if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
        emu_qp_flush(qp);
    } else if (state == IBV_QPS_RTS || state == IBV_QPS_SQD) {
        did = emu_send(qp, budget) || did;
    }
    if (did) {
        emu_activate(qp);
    }
    qp->backlogged = qp->port_waits || qp->cut_short;
    return did;
}

static bool serve_all(void)
{
    bool           did = false;
    struct emu_qp *last = emu_nic.active_last;
    for (struct emu_qp *qp = NULL; emu_nic.active_first != NULL && qp != last;) {
        qp = emu_nic.active_first;
        emu_nic.active_first = qp->active_next;
        if (emu_nic.active_first == NULL) {
            emu_nic.active_last = NULL;
        }
        qp->active = false;
        did = emu_serve(qp, SEND_BUDGET) || did;
    }
    return did;
}

static struct emu_qp *qp_of_event(const struct emu_later *event)
{
    struct emu_qp *qp = emu_qp_find(event->number);
    return qp != NULL && qp->serial == event->serial ? qp : NULL;
}

static void happen(const struct emu_later *event)
{
    struct emu_qp *qp = NULL;
    switch (event->kind) {
    case EMU_EV_HOP:
        emu_packet_hop(event->packet);
        break;
    case EMU_EV_PORT:
        emu_port_free(event->number);
        break;
    case EMU_EV_TIMER:
        if ((qp = qp_of_event(event)) != NULL) {
            emu_rc_timer(qp);
        }
        break;
    case EMU_EV_WAKE:
        if ((qp = qp_of_event(event)) != NULL) {
            emu_activate(qp);
        }
        break;
    case EMU_EV_SCRIPT:
        emu_script_run(event->number);
        break;
    case EMU_EV_RINGS:
        emu_rings_retry();
        release_held();
        break;
    }
}

static bool receive_local(void)
{
    struct emu_packet *packet = emu_nic.local_first;
    const bool         some = packet != NULL;
    emu_nic.local_first = emu_nic.local_last = NULL;
    while (packet != NULL) {
        struct emu_packet *next = packet->next;
        emu_receive(&packet->wire, packet->payload);
        emu_packet_put(packet);
        packet = next;
    }
    return some;
}

/* True if there may be more to do at once. */
static bool step(void)
{
    struct emu_later event;
    emu_nic.now_ps = emu_now_ps();
    const unsigned changes = atomic_load(&emu_nic.fabric->changes);
    if (changes != atomic_load(&emu_nic.changes)) {
        atomic_store(&emu_nic.changes, changes);
        emu_ports_look();
    }
    bool did = emu_rings_receive(RECEIVE_BUDGET);
    did = receive_local() || did;
    while (emu_heap_pop(emu_nic.now_ps, &event)) {
        happen(&event);
        did = true;
    }
    take_bells();
    did = serve_all() || did;
    emu_rings_release();
    return did || emu_nic.local_first != NULL || emu_nic.active_first != NULL;
}

/* Whether something came since the last step; `sleeping` is set already. */
static bool has_work(void)
{
    struct emu_slot *own = own_slot();
    bool             work = atomic_load(&emu_nic.bells) != NULL;
    for (unsigned i = 0; i < EMU_SLOT_WORDS; i++) {
        work = work || atomic_load_explicit(&own->pending[i], memory_order_relaxed) != 0;
    }
    return work || atomic_load(&emu_nic.fabric->changes) != atomic_load(&emu_nic.changes);
}

static bool is_helped(uint64_t now_ps)
{
    const uint64_t helped = atomic_load_explicit(&emu_nic.helped_ps, memory_order_relaxed);
    return helped != 0 && now_ps < helped + (uint64_t)HELPED_NS * EMU_PS_PER_NS;
}

static void doze(unsigned bell, uint64_t now_ps, uint64_t until_ps)
{
    const uint64_t  ns = (until_ps - now_ps + EMU_PS_PER_NS - 1) / EMU_PS_PER_NS;
    struct timespec wait = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    (void)syscall(SYS_futex, &own_slot()->doorbell, FUTEX_WAIT, bell,
                  until_ps == UINT64_MAX ? NULL : &wait, NULL, 0);
}

/* Until the bell rings, or something is due. */
static void nap(uint64_t next_ps, uint64_t look_ns)
{
    struct emu_slot *own = own_slot();
    const unsigned   bell = atomic_load(&own->doorbell);
    const uint64_t   now_ps = emu_now_ps();
    const uint64_t   look = now_ps + look_ns * EMU_PS_PER_NS;
    if (is_helped(now_ps)) {
        if (next_ps > now_ps && !atomic_load(&emu_nic.stopping)) {
            doze(bell, now_ps, next_ps < look ? next_ps : look);
        }
        return;
    }
    atomic_store(&own->sleeping, 1);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with emu_fabric_ring_bell */
    if (!has_work() && !atomic_load(&emu_nic.stopping) && next_ps > now_ps) {
        doze(bell, now_ps, next_ps);
    }
    atomic_store(&own->sleeping, 0);
}

static bool drained(uint64_t since_ps)
{
    return (emu_nic.in_flight == 0 && !emu_rings_holding()) ||
           emu_now_ps() > since_ps + (uint64_t)DRAIN_NS * EMU_PS_PER_NS;
}

static void *nic_thread(void *arg)
{
    uint64_t stopped_ps = 0, look_ns = LOOK_FIRST_NS;
    (void)prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul); /* links are timed to the microsecond */
    for (;;) {
        pthread_mutex_lock(&emu_nic.lock);
        const bool more = step();
        emu_nic.wake_ps = emu_heap_next();
        const uint64_t next = emu_nic.wake_ps;
        if (atomic_load(&emu_nic.stopping)) {
            stopped_ps = stopped_ps == 0 ? emu_now_ps() : stopped_ps;
            if (drained(stopped_ps)) {
                pthread_mutex_unlock(&emu_nic.lock);
                return arg;
            }
        }
        pthread_mutex_unlock(&emu_nic.lock);
        for (int i = 0; i < 100 && atomic_load(&emu_nic.wanted) > 0; i++) {
            sched_yield();
        }
        if (more) {
            look_ns = LOOK_FIRST_NS;
        } else {
            nap(next, look_ns);
            look_ns = look_ns < LOOK_LAST_NS ? 2 * look_ns : LOOK_LAST_NS;
        }
    }
}

static void ring_own_bell(void)
{
    atomic_fetch_add(&own_slot()->doorbell, 1);
    (void)syscall(SYS_futex, &own_slot()->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void emu_nic_help(void)
{
    if (pthread_mutex_trylock(&emu_nic.lock) != 0) {
        sched_yield();
        return;
    }
    bool more = step();
    if (emu_set.virtual_time) {
        const uint64_t next = emu_heap_next();
        if (!more && next != UINT64_MAX && !emu_nic.held) {
            atomic_store(&emu_nic.virtual_ps, next);
            (void)step();
        }
    } else {
        atomic_store_explicit(&emu_nic.helped_ps, emu_nic.now_ps, memory_order_relaxed);
        if (emu_heap_next() < emu_nic.wake_ps) { /* the thread would sleep through it */
            emu_nic.wake_ps = emu_heap_next();
            ring_own_bell();
        }
    }
    pthread_mutex_unlock(&emu_nic.lock);
    if (!more && !emu_set.virtual_time) { /* there is nobody else to wait for */
        sched_yield();
    }
}

void emu_nic_pass_time(uint64_t ns)
{
    if (emu_set.virtual_time) {
        emu_lock();
        atomic_fetch_add(&emu_nic.virtual_ps, ns * EMU_PS_PER_NS);
        emu_unlock();
        return;
    }
    struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

void emu_verbs_hold(bool on)
{
    emu_nic.held = on;
}

bool emu_verbs_next(void)
{
    emu_lock();
    const bool     more = step();
    const uint64_t next = emu_heap_next();
    if (!more && next != UINT64_MAX) {
        atomic_store(&emu_nic.virtual_ps, next);
        (void)step();
    }
    emu_unlock();
    return more || next != UINT64_MAX;
}

/* What a program does that takes time. */
void emu_verbs_pass(uint64_t ns)
{
    emu_nic_pass_time(ns);
}

void emu_nic_help_until(struct emu_event_queue *queue)
{
    if (!emu_set.virtual_time) {
        atomic_store(&emu_nic.helped_ps, 0); /* who blocks polls no more */
        ring_own_bell();
        return;
    }
    struct pollfd ready = {.fd = queue->fd, .events = POLLIN};
    while (poll(&ready, 1, 0) == 0 && (emu_heap_next_locked() != UINT64_MAX || has_work())) {
        emu_nic_help();
    }
}

uint64_t emu_heap_next_locked(void)
{
    emu_lock();
    const uint64_t next = emu_heap_next();
    emu_unlock();
    return next;
}

/* No step is half done in the child. */
static void before_fork(void)
{
    emu_lock();
}

static void in_parent(void)
{
    emu_unlock();
}

/* A child of fork has no NIC thread and another slot: it begins anew. */
static void in_child(void)
{
    if (emu_nic.fabric != NULL) {
        emu_heap_clear();
        emu_rings_forget();
        emu_fabric_leave(emu_nic.fabric);
    }
    memset(emu_nic.qps, 0, sizeof emu_nic.qps);
    memset(emu_nic.mrs, 0, sizeof emu_nic.mrs);
    memset(emu_nic.ports, 0, sizeof emu_nic.ports);
    emu_nic.active_first = emu_nic.active_last = emu_nic.held_first = NULL;
    emu_nic.local_first = emu_nic.local_last = NULL;
    emu_nic.contexts = NULL;
    emu_nic.fabric = NULL;
    emu_nic.in_flight = 0;
    emu_nic.running = false;
    atomic_store(&emu_nic.virtual_ps, 0);
    atomic_store(&emu_nic.bells, NULL);
    atomic_store(&emu_nic.wanted, 0);
    atomic_store(&emu_nic.started, false);
    emu_unlock(); /* taken before the fork, by this thread */
}

bool emu_nic_start(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool            once;
    if (atomic_load_explicit(&emu_nic.started, memory_order_acquire)) {
        return true;
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load(&emu_nic.started)) {
        emu_settings_read();
        emu_nic.fabric = emu_fabric_join(&emu_nic.place);
        if (emu_nic.fabric != NULL) {
            emu_nic.random = (emu_set.seed + 1) * 0x9e3779b97f4a7c15u + emu_nic.place.incarnation;
            emu_nic.wake_ps = UINT64_MAX;
            emu_nic.now_ps = emu_now_ps();
            emu_script_start();
            atomic_store_explicit(&emu_nic.started, true, memory_order_release);
        }
        if (!once) {
            once = true;
            pthread_atfork(before_fork, in_parent, in_child);
        }
    }
    pthread_mutex_unlock(&lock);
    return atomic_load(&emu_nic.started);
}

int emu_nic_open(struct emu_context *context)
{
    int result = 0;
    emu_lock();
    if (!emu_nic.running && !emu_set.virtual_time) {
        sigset_t all, kept;
        sigfillset(&all); /* signals are for the program's threads */
        pthread_sigmask(SIG_SETMASK, &all, &kept);
        atomic_store(&emu_nic.stopping, false);
        result = pthread_create(&emu_nic.thread, NULL, nic_thread, NULL);
        pthread_sigmask(SIG_SETMASK, &kept, NULL);
        emu_nic.running = result == 0;
    }
    if (result == 0) {
        context->next = emu_nic.contexts;
        emu_nic.contexts = context;
    }
    emu_unlock();
    return result;
}

/* Packets that are on their way arrive before the thread ends. */
static void stop_thread(void)
{
    emu_lock();
    const bool running = emu_nic.running;
    emu_nic.running = false;
    atomic_store(&emu_nic.stopping, true);
    emu_unlock();
    if (running) {
        ring_own_bell();
        pthread_join(emu_nic.thread, NULL);
    }
}

void emu_nic_close(struct emu_context *context)
{
    emu_lock();
    struct emu_context **at = &emu_nic.contexts;
    while (*at != context) {
        at = &(*at)->next;
    }
    *at = context->next;
    const bool last = emu_nic.contexts == NULL;
    emu_unlock();
    if (last) {
        stop_thread();
    }
}

__attribute__((destructor)) static void at_end(void)
{
    if (!atomic_load(&emu_nic.started)) {
        return;
    }
    stop_thread();
    emu_lock();
    atomic_store(&own_slot()->used, false);
    emu_heap_clear();
    emu_rings_forget();
    emu_packets_free();
    emu_unlock();
}
