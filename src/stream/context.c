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
#include "stream/staged.h"

enum { TRIAL_BYTES = 256, PAGE = 4096 };

/* What a rank tells the others. */
struct facts {
    int32_t              pid;
    bool                 able;
    struct ct_mem_export trial;
};

/* ---- the process's --------------------------------------------------------------------------- */

static int streams_of(struct ct_process *p, struct ct_streams **out)
{
    if (p->streams == NULL) {
        struct ct_streams *all = calloc(1, sizeof *all);
        if (all == NULL) {
            return CTRAN_ERR_NO_MEM;
        }
        all->p = p;
        ct_lock_init(&all->lock, true);
        ct_list_init(&all->contexts);
        ct_list_init(&all->staged);
        ct_list_init(&all->closed);
        p->streams = all;
    }
    *out = p->streams;
    return CTRAN_SUCCESS;
}

/* ---- agreement ------------------------------------------------------------------------------- */

static int gather(struct ct_comm *net, const void *mine, void *all, size_t bytes)
{
    struct ct_coll coll;
    ct_coll_init(&coll, net, NULL);
    ct_coll_allgather(&coll, mine, all, bytes);
    return ct_coll_run(&coll);
}

/* Whether all ranks say yes. */
static int all_say(struct ct_comm *net, bool mine, bool *all)
{
    char says[CT_TOKEN_RANKS], yes = mine;
    int  rc = gather(net, &yes, says, 1);
    *all = rc == CTRAN_SUCCESS && memchr(says, 0, net->run.n) == NULL;
    return rc;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool pin(struct ct_stream_context *c)
{
    struct ct_gpu *g = c->p->gpu;
    ct_tokens_place(&c->tokens, c->common.base, c->net->run.n, c->net->run.me);
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
static bool try_peers(struct ct_stream_context *c, int ordinal, const struct facts *facts)
{
    bool ok = true;
    for (uint32_t r = 0; r < c->net->run.n && ok; r++) {
        struct ct_mem_import *import = NULL;
        CUdeviceptr           at;
        ok = facts[r].able &&
             ct_mem_import(c->p, ordinal, &facts[r].trial, &import, &at) == CTRAN_SUCCESS;
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
static int open_direct(struct ct_stream_context *c, int ordinal)
{
    struct ct_run_ctx *ctx = &c->net->run;
    struct facts       mine = {.pid = getpid()}, all[CT_TOKEN_RANKS];
    CUdeviceptr        trial;
    if (ctx->n > CT_TOKEN_RANKS || !c->p->cfg.stream_direct) {
        return CTRAN_SUCCESS;
    }
    mine.able = ct_mem_small_get(c->p, TRIAL_BYTES, &trial) == CTRAN_SUCCESS;
    const bool got = mine.able;
    mine.able =
        got && ct_mem_export(c->p, (void *)trial, TRIAL_BYTES, &mine.trial) == CTRAN_SUCCESS;
    int rc = ct_common_open(ctx, ct_tokens_bytes(ctx->n), mine.able, &c->common);
    if (rc == CTRAN_SUCCESS && c->common.base != NULL) {
        mine.able = pin(c);
        rc = gather(c->net, &mine, all, sizeof mine);
        rc = rc == CTRAN_SUCCESS ? all_say(c->net, try_peers(c, ordinal, all), &c->direct) : rc;
    }
    if (rc == CTRAN_SUCCESS && c->direct) {
        watch_peers(c, all);
    }
    if (got) {
        ct_mem_small_put(c->p, trial, TRIAL_BYTES);
    }
    return rc;
}

/* ---- making ---------------------------------------------------------------------------------- */

static int make_local(struct ct_stream_context *c)
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
    return rc;
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
    ct_lock_fini(&c->lock);
    free(c->branch);
    free(c);
}

static struct ct_stream_context *new_context(struct ct_comm *comm, struct ct_streams *all)
{
    struct ct_stream_context *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->p = comm->p;
        c->all = all;
        c->comm = comm;
        c->cu = comm->p->gpu->cu;
        ct_lock_init(&c->lock, comm->p->threaded);
        ct_list_init(&c->graphs);
        for (unsigned r = 0; r < CT_TOKEN_RANKS; r++) {
            c->pidfd[r] = -1;
        }
    }
    return c;
}

/* All ranks come here, or none that knows better: who has no memory is missed by the others until
 * it dies, as by any collective. */
static int make(struct ct_comm *comm, struct ct_stream_context **out)
{
    struct ct_streams        *all;
    struct ct_gpu_visit       v;
    int                       ordinal;
    int                       rc = streams_of(comm->p, &all);
    struct ct_stream_context *c = rc == CTRAN_SUCCESS ? new_context(comm, all) : NULL;
    if (c == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    rc = ct_gpu_mine(comm->p->gpu, &ordinal);
    rc = rc == CTRAN_SUCCESS ? ct_gpu_enter(comm->p->gpu, ordinal, &v) : rc;
    if (rc != CTRAN_SUCCESS) {
        free_context(c);
        return rc;
    }
    rc = make_local(c);
    rc = rc == CTRAN_SUCCESS ? ct_comm_dup(comm, &c->net) : rc;
    rc = rc == CTRAN_SUCCESS ? open_direct(c, ordinal) : rc;
    rc = rc == CTRAN_SUCCESS ? ct_watch_start(all) : rc;
    if (rc != CTRAN_SUCCESS && c->net != NULL) {
        ct_comm_drop(c->net);
    }
    if (rc != CTRAN_SUCCESS) {
        free_context(c);
    }
    ct_gpu_leave(comm->p->gpu, &v);
    *out = c;
    return rc;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void drain(struct ct_stream_context *c)
{
    while (ct_stream_pending(c) > 0) {
        (void)ct_domain_poke(c->p);
        (void)sched_yield();
    }
}

/* One that is closed, and whose transfers are over. */
static struct ct_stream_context *next_closed(struct ct_streams *all)
{
    struct ct_stream_context *found = NULL;
    ct_lock_acquire(&all->lock);
    CT_LIST_FOR (node, &all->closed) {
        struct ct_stream_context *c = CT_LIST_ENTRY(node, struct ct_stream_context, node);
        if (found == NULL && atomic_load_explicit(&c->running, memory_order_acquire) == 0) {
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
    int                       ordinal;
    comm->stream = NULL;
    drain(c);
    for (unsigned i = 0; i < CT_STREAM_ARMED; i++) {
        ct_stream_disarm(c, &c->armed[i]);
    }
    ct_graphs_leave(c);
    ct_lock_acquire(&all->lock);
    ct_list_remove(&c->node);
    ct_stream_discount(c);
    ct_list_append(&all->closed, &c->node);
    ct_lock_release(&all->lock);
    ct_comm_drop(c->net);
    if (ct_gpu_mine(g, &ordinal) == CTRAN_SUCCESS &&
        ct_gpu_enter(g, ordinal, &v) == CTRAN_SUCCESS) {
        if (is_quiet(all)) {
            bury(all);
        }
        ct_gpu_leave(g, &v);
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
    bury(all);
    if (!ct_list_empty(&all->closed)) {
        ct_warn(&p->log, "operations over the host that were given up have not ended");
        return; /* they may still look at it */
    }
    ct_lock_fini(&all->lock);
    free(all);
    p->streams = NULL;
}

/* ---- use ------------------------------------------------------------------------------------- */

int ct_stream_context_get(struct ct_comm *comm, struct ct_stream_context **out)
{
    struct ct_process *p = comm->p;
    if (CT_LIKELY(comm->stream != NULL)) {
        *out = comm->stream;
        return CTRAN_SUCCESS;
    }
    if (p->gpu == NULL) {
        ct_error(&p->log,
                 "stream-ordered calls need a GPU and its driver, libcuda.so.1: there is none, or "
                 "CTRAN_GPU=off");
        return CTRAN_ERR_UNSUPPORTED_OPERATION;
    }
    int rc = make(comm, out);
    if (rc == CTRAN_SUCCESS) {
        ct_lock_acquire(&(*out)->all->lock);
        ct_list_append(&(*out)->all->contexts, &(*out)->node);
        ct_lock_release(&(*out)->all->lock);
        comm->stream = *out;
        comm->stream_close = close_context;
        ct_info(&p->log, "stream-ordered calls of a communicator of %" PRIu32 " ranks go %s",
                comm->run.n, (*out)->direct ? "by copy engine" : "over the host");
    }
    return rc;
}

CUstream ct_stream_branch(struct ct_stream_context *c, unsigned i)
{
    if (i >= c->nbranches) {
        CUstream *more = realloc(c->branch, (i + 1) * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        c->branch = more;
        while (c->nbranches <= i) {
            if (CT_GPU_TRY(c->p->gpu, "an internal stream", cuStreamCreate,
                           (&c->branch[c->nbranches], CU_STREAM_NON_BLOCKING)) != CTRAN_SUCCESS) {
                return NULL;
            }
            c->nbranches++;
        }
    }
    return c->branch[i];
}
