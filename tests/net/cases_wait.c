/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that share an instance, and a rank that sleeps until something comes. */
#define CT_FOLDER "test"
#include <poll.h>
#include <pthread.h>

#include "cases.h"

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 150, PART = 512 };

/* One of the threads, and its part of the next rank's memory. */
struct worker {
    struct world      *w;
    struct ct_ep_rkey *rkey;
    uint32_t           index;
};

/* Any thread's progress may end the operation. */
static int await(struct world *w, const struct ct_net_comp *comp)
{
    for (;;) {
        ct_domain_enter(&w->p);
        const uint32_t pending = comp->pending;
        const int      status = comp->status;
        ct_domain_leave(&w->p);
        if (pending == 0) {
            return status;
        }
        world_turn(w);
    }
}

static int carry_out(struct worker *me, struct ct_net_rma net)
{
    struct ct_net_comp comp = {.pending = 0};
    struct ct_ep_rma   op = {.net = net, .rkey = me->rkey};
    op.net.comp = &comp;
    do_start(me->w, &op);
    return await(me->w, &comp);
}

/* What it puts it gets, whoever drives transfers meanwhile. */
static void *work(void *arg)
{
    struct worker       *me = arg;
    struct world        *w = me->w;
    unsigned char        out[PART], in[PART];
    const struct ct_area from = {.base = out, .len_bytes = PART};
    const struct ct_area to = {.base = in, .len_bytes = PART};
    const uint64_t       at = PART + (uint64_t)me->index * PART;
    for (unsigned i = 0; i < ROUNDS; i++) {
        memset(out, (int)(i + 50 * me->index + 1), PART);
        memset(in, 0, PART);
        EQUAL(w,
              carry_out(me,
                        (struct ct_net_rma){
                            .op = CT_NET_OP_PUT, .offset = at, .area = &from, .len_bytes = PART}),
              CTRAN_SUCCESS);
        EQUAL(w,
              carry_out(me,
                        (struct ct_net_rma){
                            .op = CT_NET_OP_GET, .offset = at, .area = &to, .len_bytes = PART}),
              CTRAN_SUCCESS);
        CHECK(w, memcmp(in, out, PART) == 0);
        EQUAL(w,
              carry_out(me, (struct ct_net_rma){.op = CT_NET_OP_ATOMIC,
                                                .atomic = CT_NET_ADD,
                                                .size_bytes = 8,
                                                .operand = 1}),
              CTRAN_SUCCESS);
    }
    return NULL;
}

/* Several threads start operations and drive transfers of one instance, one at a time. */
static void threads(struct world *w)
{
    struct worker workers[THREADS];
    pthread_t     ids[THREADS];
    uint64_t      sum;
    w->p.threaded = true;
    ct_ep_set_threaded(&w->p);
    struct target t = target_make(w, (THREADS + 1) * PART, ALL_RIGHTS, CT_EP_ANY_PEER, 0, 0);
    world_meet(w);
    struct ct_ep_rkey *rkey = key_open(w, next_rank(w), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){w, rkey, i};
        EQUAL(w, pthread_create(&ids[i], NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        EQUAL(w, pthread_join(ids[i], NULL), 0);
    }
    world_meet(w);
    memcpy(&sum, t.bytes, sizeof sum);
    EQUAL(w, sum, THREADS * ROUNDS);
    key_close(w, rkey);
    world_meet(w);
    target_drop(w, &t);
}

/* ---- sleep ----------------------------------------------------------------------------------- */

enum { NAPS = 20 };

static uint32_t calls; /* messages that have come */

static void on_call(struct ct_ep *from, const void *hdr, size_t hdr_len, const void *data,
                    size_t len_bytes)
{
    (void)from, (void)hdr, (void)hdr_len, (void)data, (void)len_bytes;
    calls++;
}

static void call(struct world *w, uint32_t to, uint8_t id)
{
    struct ct_area none = {.len_bytes = 0};
    bool           sent = false;
    while (!sent) {
        ct_domain_enter(&w->p);
        struct ct_ep *ep = world_ep(w, to);
        CHECK(w, ct_ep_max_payload(ep) > 0);
        sent = ct_ep_send_now(ep, id, &w->me, sizeof w->me, &none);
        ct_domain_leave(&w->p);
        world_turn(w);
    }
}

/* Sleeps on what the transport says, until it is woken. `number` tells the other rank, which waits
 * for that before it calls, so that nothing but its call ends the sleep. */
static void sleep_once(struct world *w, struct ct_net *net, uint32_t number)
{
    struct ct_wake *wake = net->ops->wake(net);
    const int       fd = net->ops->fd(net);
    struct pollfd   p = {.fd = fd, .events = POLLIN};
    CHECK(w, wake != NULL || fd >= 0);
    if (wake != NULL) {
        ct_wake_announce(wake);
    }
    world_turn(w); /* what came before */
    atomic_store(&w->shared->words[0], number);
    if (wake != NULL) {
        ct_wake_sleep(wake, 3600 * UINT64_C(1000) * CT_NS_PER_MS);
    } else {
        EQUAL(w, poll(&p, 1, -1), 1);
    }
    while (calls < number) {
        world_turn(w);
    }
}

static void sleeps(struct world *w)
{
    const uint8_t id = ct_ep_register(&w->p, on_call);
    if (w->n == 1) {
        return; /* who wakes itself does not sleep */
    }
    call(w, 1 - w->me, id);
    while (calls < 1) {
        world_turn(w);
    }
    world_meet(w);
    const struct ct_ep *peer = world_ep(w, 1 - w->me);
    ct_domain_enter(&w->p);
    struct ct_net *net = peer->link->net;
    ct_domain_leave(&w->p);
    for (uint32_t i = 2; i < NAPS; i++) {
        if (w->me == 0) {
            sleep_once(w, net, i);
        } else {
            while (atomic_load(&w->shared->words[0]) != i) {
                world_turn(w);
            }
            call(w, 0, id);
        }
    }
    world_meet(w);
}

const struct world_case cases_wait[] = {
    {"threads", 2, 0, threads},
    {"sleep", 2, 0, sleeps},
    {NULL, 0, 0, NULL},
};
