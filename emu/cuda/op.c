/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works and ops. Who holds what: an op holds its work, its stream, and until it has ended those
 * that come after it (`then`); a stream holds its last op, an event the one that recorded it.
 * The list of all ops that have not ended holds each of them.
 */
#include "emu.h"

#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  ended = PTHREAD_COND_INITIALIZER;
static struct emu_op  *first, *last; /* all that have not ended, in the order of their numbers */
static struct emu_op  *dead;         /* whose last holder is gone; freed without the lock */
static struct emu_op  *over; /* that have ended, each held, and what they kept is to be let go */
static uint64_t        numbers;
static unsigned        waiters;
static bool            draining; /* somebody has closed the gate and waits */

struct emu_work *emu_work_new(enum emu_what what, CUcontext ctx)
{
    struct emu_work *work = calloc(1, sizeof *work);
    if (work != NULL) {
        atomic_init(&work->refs, 1);
        work->what = what;
        work->ctx = ctx;
    }
    return work;
}

struct emu_work *emu_work_hold(struct emu_work *work)
{
    atomic_fetch_add_explicit(&work->refs, 1, memory_order_relaxed);
    return work;
}

void emu_work_drop(struct emu_work *work)
{
    if (work == NULL || atomic_fetch_sub_explicit(&work->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (work->what == EMU_COPY) {
        free(work->copy.staged);
    } else if (work->what == EMU_MEMOPS) {
        free(work->memops.list);
    } else if (work->what == EMU_KERNEL) {
        free(work->kernel.params);
    }
    free(work);
}

void emu_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void let_go(struct emu_op *list)
{
    while (list != NULL) {
        struct emu_op *op = list;
        list = op->dead_next;
        op->kept_drop(op->kept);
        emu_lock();
        emu_op_drop(op);
        emu_unlock();
    }
}

void emu_unlock(void)
{
    struct emu_op *list = dead, *keepers = over;
    dead = over = NULL;
    pthread_mutex_unlock(&lock);
    while (list != NULL) {
        struct emu_op *op = list;
        list = op->dead_next;
        emu_work_drop(op->work);
        free(op->then);
        free(op);
    }
    let_go(keepers);
}

bool emu_tidy(void)
{
    const bool any = dead != NULL || over != NULL;
    if (any) {
        emu_unlock();
        emu_lock();
    }
    return any;
}

struct emu_op *emu_op_hold(struct emu_op *op)
{
    atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed);
    return op;
}

void emu_op_drop(struct emu_op *op)
{
    if (op != NULL && atomic_fetch_sub_explicit(&op->refs, 1, memory_order_acq_rel) == 1) {
        op->dead_next = dead;
        dead = op;
    }
}

static void *must(void *memory)
{
    if (memory == NULL) {
        abort(); /* an emulation that loses work would only hide errors */
    }
    return memory;
}

struct emu_op *emu_op_new(struct emu_work *work, CUstream stream, bool counted)
{
    struct emu_op *op = must(calloc(1, sizeof *op));
    atomic_init(&op->refs, 2); /* the caller's and the list's */
    op->work = work;
    op->stream = stream;
    op->counted = counted;
    op->unmet = 1;
    op->number = ++numbers;
    stream->refs++;
    stream->pending += counted;
    stream->ctx->pending += counted;
    op->prev = last;
    *(last != NULL ? &last->next : &first) = op;
    last = op;
    if (emu_set.connections == 1) {
        CUcontext ctx = stream->ctx;
        op->queue_prev = ctx->last;
        *(ctx->last != NULL ? &ctx->last->queue_next : &ctx->first) = op;
        ctx->last = op;
    }
    return op;
}

void emu_op_after(struct emu_op *op, struct emu_op *before)
{
    if (before == NULL || before->done) {
        return;
    }
    if (before->nthen == before->cap) {
        before->cap = before->cap == 0 ? 4 : 2 * before->cap;
        before->then = must(realloc(before->then, before->cap * sizeof(struct emu_op *)));
    }
    before->then[before->nthen++] = emu_op_hold(op);
    op->unmet++;
}

void emu_op_go(struct emu_op *op)
{
    if (--op->unmet > 0) {
        return;
    }
    emu_op_ready(op);
    if (op->sleepers > 0 && op->work->awaited) {
        pthread_cond_broadcast(&ended); /* whoever waits for it may carry it out */
    }
}

void emu_op_end(struct emu_op *op)
{
    op->done = true;
    op->end_ns = emu_now_ns();
    *(op->prev != NULL ? &op->prev->next : &first) = op->next;
    *(op->next != NULL ? &op->next->prev : &last) = op->prev;
    op->stream->pending -= op->counted;
    op->stream->ctx->pending -= op->counted;
    for (unsigned i = 0; i < op->nthen; i++) {
        emu_op_go(op->then[i]);
        emu_op_drop(op->then[i]);
    }
    op->nthen = 0;
    emu_stream_drop(op->stream);
    if (op->kept_drop != NULL) {
        op->dead_next = over;
        over = emu_op_hold(op);
    }
    if (waiters > 0 || op->sleepers > 0) {
        pthread_cond_broadcast(&ended);
    }
    emu_op_drop(op);
}

void emu_any_wait(void)
{
    waiters++;
    pthread_cond_wait(&ended, &lock);
    waiters--;
}

void emu_sleep(pthread_cond_t *cond, const struct timespec *until)
{
    if (until != NULL) {
        pthread_cond_timedwait(cond, &lock, until);
    } else {
        pthread_cond_wait(cond, &lock);
    }
}

void emu_op_wait(struct emu_op *op)
{
    if (op == NULL) {
        return;
    }
    emu_op_hold(op);
    while (!op->done) {
        if (op->work->awaited && op->unmet == 0) {
            if (!emu_op_carry_out(op)) {
                emu_any_wait(); /* it may not start yet, or somebody carries it out */
            }
        } else {
            op->sleepers++;
            pthread_cond_wait(&ended, &lock);
            op->sleepers--;
        }
    }
    emu_op_drop(op);
}

/* The first op up to `number` that has not ended. */
static struct emu_op *unfinished(CUcontext ctx, uint64_t number)
{
    struct emu_op *op = first;
    while (op != NULL && ctx != NULL && op->stream->ctx != ctx) {
        op = op->next;
    }
    return op != NULL && op->number <= number ? op : NULL;
}

void emu_finish(CUcontext ctx)
{
    const uint64_t number = numbers;
    for (struct emu_op *op; (op = unfinished(ctx, number)) != NULL;) {
        emu_op_wait(op);
    }
}

/* Ops of this process that wait for a value. */
static unsigned waiting(void)
{
    unsigned sum = 0;
    for (int i = 0; i < (int)emu_set.devices; i++) {
        const CUcontext ctx = emu_ctx_of(i);
        sum += ctx != NULL ? ctx->waiting : 0;
    }
    return sum;
}

void emu_gate(void)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
}

void emu_drain(void)
{
    pthread_mutex_lock(&gate);
    emu_lock();
    draining = true;
    emu_finish(NULL);
    while (waiting() > 0) {
        emu_any_wait();
    }
    draining = false;
    emu_unlock();
}

void emu_look(unsigned *waits, unsigned *drains)
{
    emu_lock();
    *waits = waiting();
    *drains = draining;
    emu_unlock();
}

void emu_drained(void)
{
    pthread_mutex_unlock(&gate);
}
