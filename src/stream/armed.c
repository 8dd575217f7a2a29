/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eager operations from their enqueue to their end. Each has a record of what it holds (imported
 * memory, work over the host). An enqueuer takes a record with ct_stream_arm, counts the operation
 * with ct_stream_count, and the stream counts the operation again when it is over. Then the record
 * is empty and serves another operation.
 */
#define CT_FOLDER "stream"
#include <inttypes.h>
#include <stdlib.h>

#include "stream/context.h"
#include "stream/graph.h"
#include "stream/staged.h"

void ct_stream_disarm(struct ct_stream_context *c, struct ct_stream_armed *a)
{
    const uint32_t n = atomic_load_explicit(&a->nends, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++) {
        if (a->ends[i].import != NULL) {
            ct_mem_import_put(c->p, a->ends[i].import);
        }
    }
    atomic_store_explicit(&a->nends, 0, memory_order_relaxed);
    if (a->staged != NULL) {
        ct_staged_drop(c, a->staged);
        a->staged = NULL;
    }
    c->submissions -= a->submissions;
    a->submissions = 0;
}

/* Frees what operations held that are over. The watchdog may be at one that has just ended: it
 * looks with the lists' lock held, and knows what is over now when it takes that again. */
static void reap(struct ct_stream_context *c)
{
    const uint32_t over = atomic_load_explicit(c->finished, memory_order_acquire);
    if (c->reaped != over) {
        ct_lock_acquire(&c->all->lock);
        ct_lock_release(&c->all->lock);
    }
    for (; c->reaped != over; c->reaped++) {
        ct_stream_disarm(c, &c->armed[c->reaped % CT_STREAM_ARMED]);
    }
}

/* Whether operations will never be counted, as the driver says: the GPU has failed, which any
 * stream of the device knows, or one has been lost and its stream has come to it. */
static bool is_at_end(struct ct_stream_context *c, CUresult *r)
{
    struct ct_gpu_visit v;
    if (ct_gpu_enter(c->p->gpu, c->ordinal, &v) != CTRAN_SUCCESS) {
        *r = CUDA_ERROR_UNKNOWN; /* logged; the context cannot be entered any more */
        return true;
    }
    *r = c->cu->cuStreamQuery(c->branch[0]);
    if (*r == CUDA_SUCCESS || *r == CUDA_ERROR_NOT_READY) {
        *r = c->lost ? c->cu->cuEventQuery(c->edge) : CUDA_ERROR_NOT_READY;
    }
    ct_gpu_leave(c->p->gpu, &v);
    return *r != CUDA_ERROR_NOT_READY;
}

/* What is left is not counted any more. */
static void give_up(struct ct_stream_context *c, CUresult r)
{
    const char *why = r == CUDA_SUCCESS ? "their stream has no more work" : ct_gpu_result_text(r);
    ct_error(&c->p->log, "%" PRIu32 " stream-ordered calls of a communicator have not ended: %s",
             ct_stream_pending(c), why);
    ct_stream_end_all(c, CTRAN_ERR_OTHER);
    atomic_store_explicit(c->finished, c->enqueued, memory_order_release);
}

void ct_stream_wait(struct ct_stream_context *c, uint32_t most)
{
    enum { ASK_NS = 20000000 }; /* between questions to the driver, which may make it busy */
    CUresult r;
    uint64_t next_ns = 0;
    while (ct_stream_pending(c) > most) {
        const uint64_t now = ct_clock_ns();
        ct_stream_pause(c);
        if (next_ns == 0) {
            next_ns = now + ASK_NS;
        } else if (now > next_ns) {
            next_ns = now + ASK_NS;
            if (is_at_end(c, &r) && ct_stream_pending(c) > most) {
                give_up(c, r);
            }
        }
    }
}

/* So many operations may be under way, and no more than the driver holds: it would block. */
struct ct_stream_armed *ct_stream_arm(struct ct_stream_context *c, size_t nends,
                                      uint32_t submissions)
{
    struct ct_stream_armed *a = &c->armed[c->enqueued % CT_STREAM_ARMED];
    ct_stream_wait(c, CT_STREAM_ARMED - 1);
    reap(c);
    while (c->submissions + submissions > CT_STREAM_SUBMISSIONS && c->reaped != c->enqueued) {
        ct_stream_wait(c, c->enqueued - c->reaped - 1); /* until the oldest is over */
        reap(c);
    }
    c->submissions += submissions - a->submissions;
    a->submissions = submissions;
    if (nends > a->room) {
        free(a->ends);
        a->ends = calloc(nends, sizeof *a->ends);
        a->room = a->ends != NULL ? nends : 0;
    }
    return nends == 0 || a->ends != NULL ? a : NULL;
}

/* What frees imports and pinned memory knows of it, too. */
int ct_stream_count(struct ct_stream_context *c, CUstream stream, uint32_t enqueued)
{
    const int rc = ct_order_follow(c, stream);
    if (rc != CTRAN_SUCCESS) {
        ct_stream_end_all(c, rc);
    }
    atomic_fetch_add_explicit(&c->p->gpu->armed, 1, memory_order_relaxed);
    atomic_store_explicit(&c->enqueued, enqueued, memory_order_release);
    return rc;
}
