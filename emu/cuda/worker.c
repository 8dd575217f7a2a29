/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The workers: which op is next, and who watches the values that streams wait for.
 *
 * An op is *ready* when nothing stands before it, and *resumed* when it has started and a value
 * that it waited for is there. One idle worker at a time is the watcher: it looks at all values,
 * yields, and when that has gone on for a while naps, longer each time, until an op ends or
 * comes. CLOCK_MONOTONIC stands behind the naps.
 */
#include "emu.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { YIELDS = 100, FIRST_NAP_NS = 10000 };

struct list {
    struct emu_op **ops;
    unsigned        count, cap;
};

static struct list    ready, resumed, watched;
static pthread_cond_t work;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool           watcher;
static unsigned       idle;   /* workers that sleep, the watcher's naps included */
static bool           ending; /* a worker ends an op, and then looks for the next one */
static uint64_t       seed;

uint64_t emu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void push(struct list *list, struct emu_op *op)
{
    if (list->count == list->cap) {
        list->cap = list->cap == 0 ? 64 : 2 * list->cap;
        list->ops = realloc(list->ops, list->cap * sizeof(struct emu_op *));
        if (list->ops == NULL) {
            abort(); /* an emulation that loses work would only hide errors */
        }
    }
    list->ops[list->count++] = op;
}

static struct emu_op *take(struct list *list, unsigned i)
{
    struct emu_op *op = list->ops[i];
    list->ops[i] = list->ops[--list->count];
    return op;
}

static unsigned below(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed * 0x2545f4914f6cdd1du >> 32) * limit >> 32);
}

/* With one connection ops start in the order of their submission, and a wait counts as started when
 * it is over; with more, none starts while too many wait. */
static bool may_start(const struct emu_op *op)
{
    const struct CUctx_st *ctx = op->stream->ctx;
    if (emu_set.connections == 1) {
        return ctx->first == op;
    }
    return ctx->waiting < (emu_set.connections != 0 ? emu_set.connections : EMU_QUEUES);
}

/* `op` stands in nobody's way any more. */
static void has_started(struct emu_op *op)
{
    if (emu_set.connections != 1 || op->started) {
        return;
    }
    CUcontext ctx = op->stream->ctx;
    *(op->queue_prev != NULL ? &op->queue_prev->queue_next : &ctx->first) = op->queue_next;
    *(op->queue_next != NULL ? &op->queue_next->queue_prev : &ctx->last) = op->queue_prev;
    op->started = true;
}

static struct emu_op *next_op(void)
{
    if (resumed.count > 0) {
        return take(&resumed, below(resumed.count));
    }
    const unsigned start = ready.count > 0 ? below(ready.count) : 0;
    for (unsigned k = 0; k < ready.count; k++) {
        const unsigned i = (start + k) % ready.count;
        if (may_start(ready.ops[i])) {
            return take(&ready, i);
        }
    }
    return NULL;
}

/* Moves what need not wait any longer; false if there is nothing of that kind. */
static bool look(void)
{
    bool any = false;
    for (unsigned i = watched.count; i-- > 0;) {
        struct emu_op *op = watched.ops[i];
        if (emu_memops_satisfied(op) || atomic_load(&op->work->ctx->fault) != CUDA_SUCCESS) {
            take(&watched, i);
            push(&resumed, op);
            op->stream->ctx->waiting--;
            any = true;
        }
    }
    return any;
}

/* Carries out what `op` stands for, without the lock; false if it has not ended, for it stands
 * at a wait or goes on elsewhere. */
static bool perform(struct emu_op *op, bool *watch)
{
    if (atomic_load(&op->work->ctx->fault) != CUDA_SUCCESS) {
        return true; /* a context that failed does nothing any more */
    }
    switch (op->work->what) {
    case EMU_NOTHING:
        return true;
    case EMU_COPY:
        emu_copy_run(op->work);
        return true;
    case EMU_FILL:
        emu_fill_run(op->work);
        return true;
    case EMU_MEMOPS:
        *watch = !emu_memops_run(op);
        return !*watch;
    case EMU_CALL:
        op->work->host.run(op->work->host.arg);
        return true;
    case EMU_KERNEL:
        emu_kernel_start(op);
        return false;
    case EMU_HOST:
        emu_host_start(op);
        return false;
    }
    return true;
}

/* A worker that has ended an op takes what this has made ready, which others need not be woken for:
 * one op after the other in a stream is one worker's. */
static void end(struct emu_op *op, bool by_worker)
{
    ending = by_worker;
    emu_op_end(op);
    ending = false;
    if (watched.count > 0 || ready.count > (by_worker ? 1 : 0)) {
        emu_workers_wake();
    }
}

static void carry_out(struct emu_op *op, bool by_worker)
{
    bool watch = false;
    if (op->work->what != EMU_MEMOPS) {
        has_started(op);
    }
    emu_unlock();
    const bool over = perform(op, &watch);
    emu_lock();
    if (watch) {
        push(&watched, op);
        op->stream->ctx->waiting++;
    } else if (over) {
        has_started(op);
        end(op, by_worker);
    }
}

static void nap(uint64_t ns)
{
    const uint64_t  end = emu_now_ns() + ns;
    struct timespec until = {.tv_sec = (time_t)(end / 1000000000u),
                             .tv_nsec = (long)(end % 1000000000u)};
    emu_sleep(&work, ns > 0 ? &until : NULL);
}

/* Until there may be something to do. */
static void be_idle(void)
{
    if (watcher || watched.count == 0) {
        idle++;
        nap(0);
        idle--;
        return;
    }
    watcher = true;
    uint64_t nap_ns = FIRST_NAP_NS;
    for (unsigned k = 0; watched.count > 0 && resumed.count == 0 && !look(); k++) {
        const unsigned before = ready.count;
        if (k < YIELDS) {
            emu_unlock();
            sched_yield();
            emu_lock();
        } else {
            idle++;
            nap(nap_ns);
            idle--;
            nap_ns = 2 * nap_ns < EMU_NAP_NS ? 2 * nap_ns : EMU_NAP_NS;
        }
        if (ready.count > before) {
            break;
        }
    }
    watcher = false;
    if (watched.count > 0 || resumed.count > 1) {
        emu_workers_wake(); /* somebody else watches while this one works */
    }
}

static void *worker(void *unused)
{
    (void)unused;
    emu_lock();
    for (;;) {
        struct emu_op *op = next_op();
        if (op != NULL) {
            carry_out(op, true);
        } else if (!emu_tidy()) {
            be_idle();
        }
    }
    return NULL;
}

static void start(void)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&work, &attr);
    pthread_condattr_destroy(&attr);
    seed = emu_set.seed * 0x9e3779b97f4a7c15u + 1;
    for (unsigned i = 0; i < emu_set.workers; i++) {
        emu_thread_make(worker, NULL);
    }
}

void emu_workers_wake(void)
{
    if (idle > 0) {
        pthread_cond_broadcast(&work);
    }
}

void emu_op_ready(struct emu_op *op)
{
    pthread_once(&once, start);
    push(&ready, op);
    if (idle > 0 && !op->work->awaited && !ending) {
        pthread_cond_signal(&work); /* one op, one worker */
    }
}

bool emu_op_carry_out(struct emu_op *op)
{
    for (unsigned i = 0; i < ready.count; i++) {
        if (ready.ops[i] == op && may_start(op)) {
            carry_out(take(&ready, i), false);
            return true;
        }
    }
    return false;
}
