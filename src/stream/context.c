/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and ending a communicator's stream context. Nothing is made before its first
 * stream-ordered call. Then all ranks find out together whether the copy engines of each reach
 * the memory of all others: by trying, since what a driver says of peers and what it does
 * differ under containers and CUDA_VISIBLE_DEVICES.
 */
#define CT_FOLDER "stream"
#include "stream/context.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stream/graph.h"
#include "stream/kernel.h"
#include "stream/staged.h"

enum {
    TRIAL_BYTES = 256,
    PAGE = 4096,
    LEAVE_NS = 1000000000, /* without a barrier before: for ranks that are in their last calls */
};

/* What a rank tells the others. */
struct facts {
    int32_t              pid;
    bool                 able;
    struct ct_mem_export trial;
};

/* ---- the process's --------------------------------------------------------------------------- */

/* Under `making`: one thread at a time gives a process its streams, or begins a context. Never held
 * while others are waited for. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t  ended;
    struct ct_list  comms; /* those that a context is being made for */
} making = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .ended = PTHREAD_COND_INITIALIZER,
            .comms = {&making.comms, &making.comms}};

/* One of those, its maker's. */
struct made {
    struct ct_list  node;
    struct ct_comm *comm;
};

static struct ct_streams *new_streams(struct ct_process *p)
{
    struct ct_streams *all = calloc(1, sizeof *all);
    if (all != NULL) {
        all->p = p;
        ct_lock_init(&all->lock, true);
        ct_list_init(&all->contexts);
        ct_list_init(&all->staged);
        ct_list_init(&all->closed);
    }
    return all;
}

/* With their thread. */
static int streams_of(struct ct_process *p, struct ct_streams **out)
{
    pthread_mutex_lock(&making.lock);
    if (p->streams == NULL) {
        p->streams = new_streams(p);
    }
    *out = p->streams;
    int rc = *out != NULL ? ct_watch_start(*out) : CTRAN_ERR_NO_MEM;
    pthread_mutex_unlock(&making.lock);
    return rc;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool pin(struct ct_stream_context *c)
{
    struct ct_gpu *g = c->p->gpu;
    if (CT_GPU_TRY(g, "pinning tokens", cuMemHostRegister,
                   (c->common.base, c->tokens.pinned_bytes,
                    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)) != CTRAN_SUCCESS) {
        return false;
    }
    c->is_pinned = true;
    return CT_GPU_TRY(g, "the address of tokens", cuMemHostGetDevicePointer,
                      (&c->pinned, c->common.base, 0)) == CTRAN_SUCCESS;
}

/* Whether the memory of each of the others can be mapped here. */
static bool try_peers(struct ct_stream_context *c, const struct facts *facts)
{
    bool ok = true;
    for (uint32_t r = 0; r < c->net->run.n && ok; r++) {
        struct ct_mem_import *import = NULL;
        CUdeviceptr           at;
        ok = facts[r].able &&
             ct_mem_import(c->p, c->ordinal, &facts[r].trial, true, &import, &at) == CTRAN_SUCCESS;
        if (ok) {
            ct_mem_import_put(c->p, import);
        }
    }
    return ok;
}

static void watch_peers(struct ct_stream_context *c, const struct facts *facts)
{
    for (uint32_t r = 0; r < c->net->run.n; r++) {
        if (r != c->net->run.me) {
            c->pidfd[r] = (int)syscall(SYS_pidfd_open, (pid_t)facts[r].pid, 0);
            if (c->pidfd[r] < 0) {
                ct_warn(&c->p->log, "rank %" PRIu32 "'s death will not be noticed on streams: %s",
                        r, strerror(errno));
            }
        }
    }
}

/* The way by copy engine, on all ranks or on none. */
static int open_direct(struct ct_stream_context *c)
{
    struct ct_run_ctx *ctx = &c->net->run;
    struct facts       mine = {.pid = getpid()}, all[CT_TOKEN_RANKS];
    CUdeviceptr        trial;
    if (ctx->n > CT_TOKEN_RANKS) {
        return CTRAN_SUCCESS;
    }
    mine.able = c->p->cfg.stream_direct != 0 &&
                ct_mem_small_get(c->p, TRIAL_BYTES, &trial) == CTRAN_SUCCESS;
    const bool got = mine.able;
    mine.able =
        got && ct_mem_export(c->p, (void *)trial, TRIAL_BYTES, &mine.trial) == CTRAN_SUCCESS;
    int rc = ct_common_open(ctx, ct_tokens_bytes(ctx->n), true, &c->common);
    if (rc == CTRAN_SUCCESS && c->common.base != NULL) {
        ct_tokens_place(&c->tokens, c->common.base, ctx->n, ctx->me);
        ct_signals_init(&c->tokens);
        mine.able = mine.able && pin(c);
        rc = ct_stream_gather(c->net, &mine, all, sizeof mine);
        rc = rc == CTRAN_SUCCESS ? ct_stream_all_agree(c->net, try_peers(c, all), &c->reaches_all)
                                 : rc;
    }
    if (rc == CTRAN_SUCCESS && c->reaches_all) {
        watch_peers(c, all);
    }
    if (got) {
        ct_mem_small_put(c->p, trial, TRIAL_BYTES);
    }
    return rc == CTRAN_SUCCESS ? ct_stream_kernel_open(c) : rc;
}

/* ---- making ---------------------------------------------------------------------------------- */

static int make_events(struct ct_stream_context *c)
{
    static const char what[] = "a communicator's stream context";
    struct ct_gpu    *g = c->p->gpu;
    CUevent *const    events[] = {&c->edge, &c->captured_edge, &c->fork, &c->join};
    c->finished = ct_mem_pinned_get(c->p, PAGE);
    if (c->finished == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    atomic_init(c->finished, 0);
    int rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < CT_ARRAY_LEN(events) && rc == CTRAN_SUCCESS; i++) {
        rc = CT_GPU_TRY(g, what, cuEventCreate, (events[i], CU_EVENT_DISABLE_TIMING));
    }
    /* One branch is always there: it is asked how the device is. */
    return rc == CTRAN_SUCCESS && ct_stream_branch(c, 0) == NULL ? CTRAN_ERR_NO_MEM : rc;
}

static void free_context(struct ct_stream_context *c)
{
    struct ct_gpu *g = c->p->gpu;
    CUevent        events[] = {c->edge, c->captured_edge, c->fork, c->join};
    for (size_t i = 0; i < CT_ARRAY_LEN(events); i++) {
        if (events[i] != NULL) {
            (void)g->cu->cuEventDestroy(events[i]); /* fails after the driver's own end only */
        }
    }
    for (unsigned i = 0; i < c->nbranches; i++) {
        (void)g->cu->cuStreamDestroy(c->branch[i]);
    }
    ct_stream_kernel_close(c);
    if (c->is_pinned) {
        (void)g->cu->cuMemHostUnregister(c->common.base);
    }
    for (unsigned r = 0; r < CT_TOKEN_RANKS; r++) {
        if (c->pidfd[r] >= 0) {
            close(c->pidfd[r]);
        }
    }
    for (unsigned i = 0; i < CT_STREAM_ARMED; i++) {
        free(c->armed[i].ends);
    }
    if (c->finished != NULL) {
        ct_mem_pinned_put(c->p, (void *)c->finished, PAGE);
    }
    ct_common_close(&c->common);
    ct_comm_drop(c->net);
    ct_lock_fini(&c->lock);
    free(c->branch);
    free(c);
}

static struct ct_stream_context *new_context(struct ct_comm *comm, struct ct_comm *net,
                                             struct ct_streams *all, int ordinal)
{
    struct ct_stream_context *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->p = comm->p;
        c->all = all;
        c->comm = comm;
        c->net = net;
        c->ordinal = ordinal;
        c->cu = comm->p->gpu->cu;
        ct_comm_hold(net);
        ct_lock_init(&c->lock, comm->p->threaded);
        ct_list_init(&c->graphs);
        for (unsigned r = 0; r < CT_TOKEN_RANKS; r++) {
            c->pidfd[r] = -1;
        }
    }
    return c;
}

/* This rank's part, on the device of the stream; after CTRAN_SUCCESS the caller stands in the
 * stream's context. Errors are logged. */
static int make_local(struct ct_comm *comm, struct ct_comm *net, CUstream stream,
                      struct ct_gpu_visit *v, struct ct_stream_context **out)
{
    struct ct_gpu     *g = comm->p->gpu;
    struct ct_streams *all;
    int                ordinal;
    if (g == NULL) {
        ct_error(&comm->p->log,
                 "stream-ordered calls need a GPU and its driver, libcuda.so.1: there is none, or "
                 "CTRAN_GPU=off");
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    int rc = ct_gpu_enter_stream(g, stream, &ordinal, v);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = streams_of(comm->p, &all);
    *out = rc == CTRAN_SUCCESS ? new_context(comm, net, all, ordinal) : NULL;
    if (*out == NULL && (rc == CTRAN_SUCCESS || rc == CTRAN_ERR_NO_MEM)) {
        ct_error(&comm->p->log, "no memory for a communicator's stream context");
        rc = CTRAN_ERR_NO_MEM;
    }
    if (rc == CTRAN_SUCCESS) {
        ct_stream_kernel_load(*out);
        rc = make_events(*out);
        if (rc != CTRAN_SUCCESS) {
            free_context(*out);
        }
    }
    if (rc != CTRAN_SUCCESS) {
        ct_gpu_leave(g, v);
    }
    return rc;
}

/* All ranks come here. One that cannot have a context, for which it has logged the cause, says so,
 * and then none has one. */
static int make(struct ct_comm *comm, CUstream stream, struct ct_stream_context **out)
{
    struct ct_gpu_visit v;
    struct ct_comm     *net;
    bool                all_can = false;
    int                 rc = ct_comm_dup_bare(comm, &net);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const bool can = make_local(comm, net, stream, &v, out) == CTRAN_SUCCESS;
    rc = ct_stream_all_agree(net, can, &all_can);
    if (rc == CTRAN_SUCCESS && !all_can) {
        rc = CTRAN_ERR_UNSUPPORTED_OPERATION;
        if (can) {
            ct_error(&comm->p->log,
                     "stream-ordered calls are not possible in this communicator: another of its "
                     "ranks cannot make them, and says why");
        }
    }
    rc = rc == CTRAN_SUCCESS ? open_direct(*out) : rc;
    if (rc != CTRAN_SUCCESS && can) {
        free_context(*out);
    }
    if (can) {
        ct_gpu_leave(comm->p->gpu, &v);
    }
    ct_comm_drop(net); /* the context holds it */
    return rc;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool may_be_buried(const struct ct_stream_context *c)
{
    return atomic_load_explicit(&c->running, memory_order_acquire) == 0 &&
           ct_stream_kernel_is_left(c);
}

/* A closed context whose transfers are over and whose workspace is not in use. */
static struct ct_stream_context *next_closed(struct ct_streams *all)
{
    struct ct_stream_context *found = NULL;
    ct_lock_acquire(&all->lock);
    CT_LIST_FOR (node, &all->closed) {
        struct ct_stream_context *c = CT_LIST_ENTRY(node, struct ct_stream_context, node);
        if (found == NULL && may_be_buried(c)) {
            ct_list_remove(&c->node);
            found = c;
        }
    }
    ct_lock_release(&all->lock);
    return found;
}

/* What may block while streams wait, when none does. */
static void bury(struct ct_streams *all)
{
    struct ct_stream_context *c;
    while ((c = next_closed(all)) != NULL) {
        free_context(c);
    }
}

/* At the end: the other ranks have left (ct_stream_settle), or do soon, where a session ends. */
static void bury_all(struct ct_streams *all)
{
    const uint64_t      end_ns = ct_clock_ns() + LEAVE_NS;
    struct ct_gpu      *g = all->p->gpu;
    struct ct_gpu_visit v;
    int                 ordinal;
    if (ct_gpu_mine(g, &ordinal) != CTRAN_SUCCESS ||
        ct_gpu_enter(g, ordinal, &v) != CTRAN_SUCCESS) {
        return; /* the driver has failed: nothing can be freed */
    }
    bury(all);
    while (!ct_list_empty(&all->closed) && ct_clock_ns() < end_ns) {
        (void)ct_domain_poke(all->p);
        (void)sched_yield();
        bury(all);
    }
    ct_gpu_leave(g, &v);
}

static bool is_quiet(struct ct_streams *all)
{
    bool quiet = true;
    ct_lock_acquire(&all->lock);
    CT_LIST_FOR (node, &all->contexts) {
        quiet &= ct_stream_pending(CT_LIST_ENTRY(node, struct ct_stream_context, node)) == 0;
    }
    ct_lock_release(&all->lock);
    return quiet;
}

static void close_context(struct ct_comm *comm)
{
    struct ct_stream_context *c = comm->stream;
    struct ct_streams        *all = c->all;
    struct ct_gpu            *g = c->p->gpu;
    struct ct_gpu_visit       v;
    const int                 ordinal = c->ordinal;
    comm->stream = NULL;
    ct_stream_wait(c, 0);
    ct_lock_acquire(&all->lock);
    ct_list_remove(&c->node); /* from here on the watchdog does not look at it */
    ct_stream_discount(c);
    ct_lock_release(&all->lock);
    for (unsigned i = 0; i < CT_STREAM_ARMED; i++) {
        ct_stream_disarm(c, &c->armed[i]);
    }
    ct_graphs_leave(c);
    ct_stream_kernel_leave(c);
    ct_lock_acquire(&all->lock);
    ct_list_append(&all->closed, &c->node);
    ct_lock_release(&all->lock);
    if (ct_gpu_enter(g, ordinal, &v) == CTRAN_SUCCESS) {
        if (is_quiet(all)) {
            bury(all);
        }
        ct_gpu_leave(g, &v);
    }
}

void ct_stream_settle(struct ct_process *p)
{
    struct ct_streams *all = p->streams;
    if (all == NULL) {
        return;
    }
    CT_LIST_FOR (node, &all->contexts) { /* no other thread calls any more */
        struct ct_stream_context *c = CT_LIST_ENTRY(node, struct ct_stream_context, node);
        ct_stream_wait(c, 0);
        ct_stream_kernel_leave(c);
    }
}

void ct_stream_fini(struct ct_process *p)
{
    struct ct_streams *all = p->streams;
    if (all == NULL) {
        return;
    }
    while (!ct_list_empty(&all->contexts)) {
        close_context(CT_LIST_ENTRY(all->contexts.next, struct ct_stream_context, node)->comm);
    }
    ct_watch_stop(all);
    bury_all(all);
    p->streams = NULL;
    if (!ct_list_empty(&all->closed)) {
        ct_warn(&p->log, "stream-ordered operations that were given up, or kernels of other ranks, "
                         "have not ended: what they use is left");
        return; /* they may still look at it */
    }
    ct_lock_fini(&all->lock);
    free(all);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Whether the caller is the one to make it: then it says when it has, made or not. Else another
 * thread has made it, or tried to, and the caller looks again. */
static bool begin_making(struct made *m, struct ct_comm *comm)
{
    bool mine = true;
    pthread_mutex_lock(&making.lock);
    CT_LIST_FOR (node, &making.comms) {
        mine &= CT_LIST_ENTRY(node, struct made, node)->comm != comm;
    }
    if (!mine) {
        pthread_cond_wait(&making.ended, &making.lock);
    }
    mine = mine && comm->stream == NULL;
    if (mine) {
        m->comm = comm;
        ct_list_append(&making.comms, &m->node);
    }
    pthread_mutex_unlock(&making.lock);
    return mine;
}

static void end_making(struct made *m)
{
    pthread_mutex_lock(&making.lock);
    ct_list_remove(&m->node);
    pthread_cond_broadcast(&making.ended);
    pthread_mutex_unlock(&making.lock);
}

static void publish(struct ct_comm *comm, struct ct_stream_context *c)
{
    ct_lock_acquire(&c->all->lock);
    ct_list_append(&c->all->contexts, &c->node);
    ct_lock_release(&c->all->lock);
    comm->stream_close = close_context;
    comm->stream = c;
    ct_info(&comm->p->log, "stream-ordered calls of a communicator of %" PRIu32 " ranks go %s",
            comm->run.n, c->reaches_all ? "by copy engine" : "over the host");
}

int ct_stream_context_get(struct ct_comm *comm, CUstream stream, struct ct_stream_context **out)
{
    struct made m;
    int         rc = CTRAN_SUCCESS;
    while ((*out = comm->stream) == NULL && rc == CTRAN_SUCCESS) {
        if (begin_making(&m, comm)) {
            rc = make(comm, stream, out);
            if (rc == CTRAN_SUCCESS) {
                publish(comm, *out);
            }
            end_making(&m);
        }
    }
    return rc;
}
