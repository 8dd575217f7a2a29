/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks: each fills in an entry of a table. Invariant: an entry whose state is not 0 is
 * complete, except its algorithm, end and error, which come later. Called through p->trace, from
 * any floor and thread.
 */
#define CT_FOLDER "trace"
#include <sched.h>
#include <string.h>

#include "base/blocked.h"
#include "trace/own.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* The name's place in the table, where it may stand under another address; else the next one. */
static uint32_t find_or_add(struct ct_tracer *t, const char *text)
{
    const uint32_t n = atomic_load_explicit(&t->nnames, memory_order_relaxed);
    for (uint32_t i = 1; i < n; i++) {
        if (strncmp(t->seg->names[i], text, CT_TRACE_NAME - 1) == 0) {
            return i;
        }
    }
    if (n >= CT_TRACE_MAX_NAMES) {
        return CT_TRACE_NO_NAME;
    }
    const size_t len = strnlen(text, CT_TRACE_NAME - 1);
    memcpy(t->seg->names[n], text, len);
    t->seg->names[n][len] = '\0';
    atomic_store_explicit(&t->nnames, n + 1, memory_order_release);
    return n;
}

/* The slow way, one thread at a time. */
static uint32_t add_name(struct ct_tracer *t, const char *text)
{
    while (atomic_flag_test_and_set_explicit(&t->naming, memory_order_acquire)) {
        (void)sched_yield();
    }
    const uint32_t index = find_or_add(t, text);
    atomic_flag_clear_explicit(&t->naming, memory_order_release);
    return index;
}

uint16_t ct_trace_name_of(struct ct_tracer *t, const char *text)
{
    if (text == NULL) {
        return CT_TRACE_NO_NAME;
    }
    const uintptr_t at = (uintptr_t)text;
    const size_t    h = (at ^ at >> 7 ^ at >> 14) % CT_TRACE_MAX_NAMES;
    if (CT_LIKELY(atomic_load_explicit(&t->seen[h].text, memory_order_acquire) == text)) {
        return (uint16_t)atomic_load_explicit(&t->seen[h].index, memory_order_relaxed);
    }
    const uint32_t index = add_name(t, text);
    const char    *none = NULL;
    if (atomic_load_explicit(&t->seen[h].text, memory_order_relaxed) == NULL && index != 0 &&
        atomic_compare_exchange_strong(&t->seen[h].text, &none, "")) {
        atomic_store_explicit(&t->seen[h].index, index, memory_order_relaxed);
        atomic_store_explicit(&t->seen[h].text, text, memory_order_release);
    }
    return (uint16_t)index;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* The members as runs; their number, 0 where there are more runs than room. */
static uint32_t find_runs(const struct ct_trace_group *g, struct ct_trace_run *run)
{
    uint32_t nruns = 0;
    for (uint32_t r = 0; r < g->n; r++) {
        const uint32_t       id = g->process_of(g->group, r);
        struct ct_trace_run *last = nruns > 0 ? &run[nruns - 1] : NULL;
        if (last != NULL && last->count == 1) {
            last->stride = (int32_t)(id - last->first);
        }
        if (last != NULL && id == last->first + last->count * (uint32_t)last->stride) {
            last->count++;
        } else if (nruns < CT_TRACE_RUNS) {
            run[nruns++] = (struct ct_trace_run){id, 1, 1};
        } else {
            return 0;
        }
    }
    return nruns;
}

/* A place of its own: one that was never used, else one whose communicator is freed. */
static struct ct_trace_comm *take_comm(struct ct_trace_segment *seg)
{
    static const uint32_t free_states[] = {CT_TRACE_COMM_NONE, CT_TRACE_COMM_FREED};
    for (size_t s = 0; s < CT_ARRAY_LEN(free_states); s++) {
        for (size_t i = 0; i < CT_TRACE_MAX_COMMS; i++) {
            uint32_t was = free_states[s];
            if (atomic_load_explicit(&seg->comms[i].state, memory_order_relaxed) == was &&
                atomic_compare_exchange_strong(&seg->comms[i].state, &was, UINT32_MAX)) {
                return &seg->comms[i];
            }
        }
    }
    return NULL;
}

static struct ct_trace_comm *record_comm_open(struct ct_trace *base, const struct ct_trace_group *g)
{
    struct ct_tracer     *t = ct_tracer_of(base);
    struct ct_trace_comm *c = take_comm(t->seg);
    if (c == NULL) {
        return NULL;
    }
    c->id = g->id;
    c->n = g->n;
    c->me = g->me;
    atomic_store_explicit(&c->started, 0, memory_order_relaxed);
    c->nruns = find_runs(g, c->run);
    atomic_store_explicit(&c->state, CT_TRACE_COMM_OPEN, memory_order_release);
    return c;
}

static void record_comm_close(struct ct_trace *base, struct ct_trace_comm *c)
{
    (void)base;
    atomic_store_explicit(&c->state, CT_TRACE_COMM_FREED, memory_order_release);
}

/* ---- collective calls ------------------------------------------------------------------------ */

/* The next entry whose call is over; NULL: too many are not. */
static struct ct_trace_call *take_call(struct ct_tracer *t)
{
    enum { TRIES = 64 };
    struct ct_trace_header *h = &t->seg->header;
    for (int i = 0; i < TRIES; i++) {
        uint64_t at;
        if (CT_UNLIKELY(t->p->threaded)) {
            at = atomic_fetch_add_explicit(&h->ncalls, 1, memory_order_relaxed);
        } else {
            at = atomic_load_explicit(&h->ncalls, memory_order_relaxed);
            atomic_store_explicit(&h->ncalls, at + 1, memory_order_relaxed);
        }
        struct ct_trace_call *call = &t->seg->calls[at % CT_TRACE_MAX_CALLS];
        uint32_t              was = atomic_load_explicit(&call->state, memory_order_acquire);
        if (CT_LIKELY(was != CT_TRACE_CALL_STARTED)) {
            atomic_store_explicit(&call->state, CT_TRACE_CALL_NONE, memory_order_relaxed);
            atomic_thread_fence(memory_order_release); /* before what follows is seen */
            return call;
        }
    }
    atomic_fetch_add_explicit(&h->lost, 1, memory_order_relaxed);
    return NULL;
}

static void put_names(struct ct_tracer *t, struct ct_trace_call *call,
                      const struct ct_trace_what *what)
{
    uint16_t *n = t->last.numbers, now[3];
    if (CT_UNLIKELY(t->p->threaded || what->name != t->last.name || what->type != t->last.type ||
                    what->op != t->last.op)) {
        now[0] = ct_trace_name_of(t, what->name);
        now[1] = ct_trace_name_of(t, what->type);
        now[2] = ct_trace_name_of(t, what->op);
        if (!t->p->threaded) {
            t->last.name = what->name;
            t->last.type = what->type;
            t->last.op = what->op;
            memcpy(t->last.numbers, now, sizeof now);
        }
        n = now;
    }
    call->name = n[0];
    call->type = n[1];
    call->op = n[2];
    call->algorithm = CT_TRACE_NO_NAME;
}

static struct ct_trace_call *record_call_begin(struct ct_trace *base, struct ct_trace_comm *c,
                                               const struct ct_trace_what *what)
{
    struct ct_tracer     *t = ct_tracer_of(base);
    struct ct_trace_call *call = take_call(t);
    /* Counted also where there is no room: the numbers of a communicator are alike on all ranks.
     * One thread at a time calls collectives of a communicator. */
    const uint64_t number = atomic_load_explicit(&c->started, memory_order_relaxed);
    atomic_store_explicit(&c->started, number + 1, memory_order_release);
    if (CT_UNLIKELY(call == NULL)) {
        return NULL;
    }
    call->comm = c->id;
    call->number = number;
    call->bytes = what->bytes;
    call->end = 0;
    call->root = what->root;
    call->error = 0;
    put_names(t, call, what);
    call->flags = what->flags;
    call->start = ct_trace_ticks(t->by_counter);
    atomic_store_explicit(&call->state, CT_TRACE_CALL_STARTED, memory_order_release);
    return call;
}

static void record_call_algorithm(struct ct_trace *base, struct ct_trace_call *call,
                                  const char *name)
{
    struct ct_tracer *t = ct_tracer_of(base);
    if (CT_LIKELY(!t->p->threaded && name == t->last.algorithm)) {
        call->algorithm = t->last.algorithm_number;
        return;
    }
    call->algorithm = ct_trace_name_of(t, name);
    if (!t->p->threaded) {
        t->last.algorithm = name;
        t->last.algorithm_number = call->algorithm;
    }
}

static void record_call_end(struct ct_trace *base, struct ct_trace_call *call, int error,
                            bool lasted)
{
    const struct ct_tracer *t = ct_tracer_of(base);
    if (CT_UNLIKELY(lasted || t->ends)) {
        call->end = ct_trace_ticks(t->by_counter);
    }
    call->error = error;
    atomic_store_explicit(&call->state, CT_TRACE_CALL_OVER, memory_order_release);
}

/* ---- waits ----------------------------------------------------------------------------------- */

static uint32_t record_wait_begin(struct ct_trace *base, const struct ct_blocked *b,
                                  uint64_t since_ns)
{
    struct ct_tracer *t = ct_tracer_of(base);
    for (uint32_t i = 0; i < CT_TRACE_MAX_WAITS; i++) {
        struct ct_trace_wait *w = &t->seg->waits[i];
        uint32_t              none = 0;
        if (atomic_load_explicit(&w->state, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&w->state, &none, 2)) {
            w->since_ns = since_ns;
            w->name = ct_trace_name_of(t, b->call);
            w->comm = b->comm;
            w->npending = w->nitems = 0;
            return i + 1;
        }
    }
    return 0;
}

static void record_wait_item(struct ct_trace *base, uint32_t wait, const struct ct_trace_item *item)
{
    struct ct_trace_wait *w = &ct_tracer_of(base)->seg->waits[wait - 1];
    w->npending++;
    if (w->nitems < CT_TRACE_ITEMS) {
        w->item[w->nitems++] = (struct ct_trace_wait_item){
            .comm = item->comm,
            .bytes = item->bytes,
            .kind = item->kind,
            .peer = item->peer,
            .tag = item->tag,
        };
    }
}

static void record_wait_shown(struct ct_trace *base, uint32_t wait)
{
    atomic_store_explicit(&ct_tracer_of(base)->seg->waits[wait - 1].state, 1, memory_order_release);
}

/* The thread is about to list what it waits for once more. */
static void record_wait_again(struct ct_trace *base, uint32_t wait)
{
    struct ct_trace_wait *w = &ct_tracer_of(base)->seg->waits[wait - 1];
    atomic_store_explicit(&w->state, 2, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    w->npending = w->nitems = 0;
}

static void record_wait_end(struct ct_trace *base, uint32_t wait)
{
    atomic_store_explicit(&ct_tracer_of(base)->seg->waits[wait - 1].state, 0, memory_order_release);
}

const struct ct_trace_ops ct_trace_record_ops = {
    .comm_open = record_comm_open,
    .comm_close = record_comm_close,
    .call_begin = record_call_begin,
    .call_algorithm = record_call_algorithm,
    .call_end = record_call_end,
    .wait_begin = record_wait_begin,
    .wait_again = record_wait_again,
    .wait_item = record_wait_item,
    .wait_shown = record_wait_shown,
    .wait_end = record_wait_end,
    .dump = ct_trace_write_dump,
};
