/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where copy engines reach all peers, kernels do, too. A kernel has no handshake of streams before
 * it, so it is quicker for what is small; and it computes. Each rank gives a workspace of
 * CTRAN_STREAM_WORKSPACE bytes of its device, made with the communicator's stream context, since
 * memory is not to be allocated once streams wait, nor kernels loaded; all others map it. Kernels
 * number what they exchange in the workspaces themselves (gpu/kernels/args.h): they need no tokens,
 * and a replayed graph needs nothing of the host. So a communicator's kernels run one at a time, in
 * the same order on all ranks: that of the calls (ct_order_follow), and of the program's launches
 * of graphs. An eager one counts itself as over, which is cheaper than a write of its stream.
 *
 * Small messages are numbered in a part of the workspaces of their own, as stream.h says; so are
 * calls by rows. These are sent where a link of NVLink goes from each rank to each: what they rely
 * on is known of it, and of devices since Hopper, on which this was tried.
 *
 * A kernel that waits for its peers keeps its multiprocessors. Were there more waiting blocks than
 * fit, those of different communicators on two GPUs could keep each other's out. So each
 * communicator has a number of blocks for its own, which its kernels do not exceed: half of what is
 * left on the rank that has least left, when it is made, so that these fit one to a multiprocessor.
 * More blocks than that may wait: a communicator that finds nothing left has one all the same, and
 * an operation that launches both a direct kernel and one for messages may take twice its share. A
 * multiprocessor has room for several blocks, which takes these in. CTRAN_STREAM_BLOCKS takes this
 * over. How many blocks a small message takes follows from its length: one that would take more
 * than there are goes another way.
 *
 * A kernel that waits looks at the word that says that all is over: the watchdog has nothing to set
 * for it.
 *
 * A peer's kernel may still write into a workspace when this rank's are over: it says that it is
 * through with what it was sent when it begins the next time. So a workspace is freed once all
 * ranks have left the context, or have died; and not while a stream waits, where freeing and
 * unmapping may block. A rank looks whether that is so as it frees this or another communicator,
 * and at the end. Then it unmaps what the others gave, too.
 */
#define CT_FOLDER "stream"
#include "stream/kernel.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

#include "gpu/kernels.h"

struct ct_workspaces {
    CUdeviceptr           mine;
    struct ct_mem_import *imports[CT_TOKEN_RANKS];
    struct ct_kernel_comm comm;
    struct ct_kernel_comm messages;    /* for sends and receives: a part at the workspaces' end */
    size_t                at_messages; /* 0: there is none */
    struct ct_kernel_comm rows;        /* for calls by rows, if has_ll32: another part */
    size_t                at_ll32;
    bool                  has_ll32;
    struct ct_kernel_call call;   /* being built */
    uint32_t              blocks; /* a kernel's most */
    uint32_t              taken;  /* of the device's, for them */
};

/* ---- workspaces ------------------------------------------------------------------------------ */

/* What can be known before anything is made: equal on all ranks, except the last condition. */
static bool are_wanted(const struct ct_stream_context *c)
{
    const struct ct_config *cfg = &c->p->cfg;
    return cfg->stream_direct != 0 && cfg->stream_workspace > 0 &&
           (ct_kernels_built_in() || cfg->gpu_kernels[0] != '\0');
}

static int find_any(const struct ct_stream_context *c)
{
    struct ct_gpu_kernel kernel;
    return ct_gpu_kernel(c->p->gpu, c->ordinal, 0, &kernel);
}

void ct_stream_kernel_load(const struct ct_stream_context *c)
{
    if (are_wanted(c)) {
        (void)find_any(c);
    }
}

static size_t workspace_bytes(const struct ct_stream_context *c)
{
    enum { ALONE = 1 << 20 }; /* nothing goes through it but control words */
    const size_t bytes = (size_t)c->p->cfg.stream_workspace;
    return c->tokens.n > 1 ? bytes : ct_min_size(bytes, ALONE);
}

/* This rank's own: all zeros, and known by its export. */
static int make_mine(struct ct_stream_context *c, struct ct_workspaces *w,
                     struct ct_mem_export *out)
{
    static const char         what[] = "a workspace for stream-ordered calls";
    struct ct_gpu            *g = c->p->gpu;
    const size_t              bytes = workspace_bytes(c);
    CUstream                  aside = ct_stream_branch(c, 0);
    struct ct_kernel_division parts;
    int                       rc = ct_kernel_divide(w->comm.size, bytes, &parts);
    w->comm.layout = parts.calls;
    w->messages.layout = parts.messages;
    w->rows.layout = parts.rows;
    w->at_messages = parts.at_messages;
    w->at_ll32 = parts.at_ll32;
    if (rc != CTRAN_SUCCESS || aside == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    rc = find_any(c);
    rc = rc == CTRAN_SUCCESS ? CT_GPU_TRY(g, what, cuMemAlloc, (&w->mine, bytes)) : rc;
    rc =
        rc == CTRAN_SUCCESS ? CT_GPU_TRY(g, what, cuMemsetD8Async, (w->mine, 0, bytes, aside)) : rc;
    rc = rc == CTRAN_SUCCESS ? CT_GPU_TRY(g, what, cuStreamSynchronize, (aside)) : rc;
    return rc == CTRAN_SUCCESS ? ct_mem_export(c->p, (void *)w->mine, bytes, out) : rc;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Half of the blocks that no communicator of this process has, as a power of two. */
static uint32_t take_blocks(const struct ct_stream_context *c)
{
    const struct ct_gpu_device *d = ct_gpu_device(c->p->gpu, c->ordinal);
    uint32_t                    most = 1;
    ct_lock_acquire(&c->all->lock);
    while (2 * most <= CT_KERNEL_BLOCKS && 4 * most + c->all->blocks <= (uint32_t)d->processors) {
        most *= 2;
    }
    c->all->blocks += most;
    ct_lock_release(&c->all->lock);
    return most;
}

static void give_blocks(const struct ct_stream_context *c, uint32_t blocks)
{
    ct_lock_acquire(&c->all->lock);
    c->all->blocks -= blocks;
    ct_lock_release(&c->all->lock);
}

uint32_t ct_stream_kernel_blocks(const struct ct_stream_context *c)
{
    return c->work->blocks;
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* What a rank tells the others: its workspace, and by what it chooses between calls and divides
 * them, which all have to do alike. */
struct gift {
    struct ct_mem_export memory;
    int64_t              workspace, blocks, small, engines, stay;
    uint32_t             taken; /* blocks */
};

static struct gift gift_of(const struct ct_config *cfg, const struct ct_mem_export *memory,
                           uint32_t taken)
{
    return (struct gift){.memory = *memory,
                         .taken = taken,
                         .workspace = cfg->stream_workspace,
                         .blocks = cfg->stream_blocks,
                         .small = cfg->stream_small,
                         .engines = cfg->stream_engines,
                         .stay = cfg->stream_stay};
}

/* The same on all ranks. */
static int compare_settings(const struct ct_stream_context *c, const struct gift *all)
{
    for (uint32_t r = 1; r < c->tokens.n; r++) {
        const struct {
            const char *name;
            int64_t     first, other;
        } settings[] = {{"CTRAN_STREAM_WORKSPACE", all[0].workspace, all[r].workspace},
                        {"CTRAN_STREAM_BLOCKS", all[0].blocks, all[r].blocks},
                        {"CTRAN_STREAM_SMALL", all[0].small, all[r].small},
                        {"CTRAN_STREAM_ENGINES", all[0].engines, all[r].engines},
                        {"CTRAN_STREAM_STAY", all[0].stay, all[r].stay}};
        for (size_t i = 0; i < CT_ARRAY_LEN(settings); i++) {
            if (settings[i].first != settings[i].other) {
                ct_error(&c->p->log,
                         "%s is %" PRId64 " on rank 0 of a communicator, and %" PRId64
                         " on rank %" PRIu32 ": set it alike on all ranks that make stream-ordered "
                         "calls together",
                         settings[i].name, settings[i].first, settings[i].other, r);
                return CTRAN_ERR_CONFIG;
            }
        }
    }
    return CTRAN_SUCCESS;
}

/* What all have can be used; what this rank has beyond it it gives back. */
static void settle_blocks(const struct ct_stream_context *c, struct ct_workspaces *w,
                          const struct gift *all)
{
    const uint32_t asked = (uint32_t)c->p->cfg.stream_blocks, had = w->taken;
    for (uint32_t r = 0; r < c->tokens.n; r++) {
        w->taken = all[r].taken < w->taken ? all[r].taken : w->taken;
    }
    give_blocks(c, had - w->taken);
    w->blocks = asked != 0 ? asked : w->taken;
}

/* Whether what this rank sends by rows would arrive row by row, at whichever peer. */
static bool may_send_ll32(const struct ct_stream_context *c, const struct ct_workspaces *w,
                          const struct gift *all)
{
    enum { HOPPER = 9 };
    bool ok = c->p->cfg.stream_ll32 && w->at_ll32 > 0 &&
              ct_gpu_device(c->p->gpu, c->ordinal)->major >= HOPPER;
    for (uint32_t r = 0; r < c->tokens.n && ok; r++) {
        const int          peer = ct_gpu_find(c->p->gpu, &all[r].memory.uuid);
        struct ct_gpu_peer link = {.atomics = false};
        if (peer >= 0) {
            ct_gpu_peer(c->p->gpu, c->ordinal, peer, &link);
        }
        ok = link.atomics;
    }
    return ok;
}

static int map_others(struct ct_stream_context *c, struct ct_workspaces *w, const struct gift *all)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < c->tokens.n && rc == CTRAN_SUCCESS; r++) {
        CUdeviceptr at = w->mine;
        if (r != c->tokens.me) {
            rc = ct_mem_import(c->p, c->ordinal, &all[r].memory, true, &w->imports[r], &at);
        }
        w->comm.workspace[r] = (void *)at;
        w->messages.workspace[r] = (void *)(at + w->at_messages);
        w->rows.workspace[r] = (void *)(at + w->at_ll32);
    }
    return rc;
}

static struct ct_workspaces *new_workspaces(const struct ct_stream_context *c)
{
    struct ct_workspaces *w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->comm.rank = c->tokens.me;
        w->comm.size = c->tokens.n;
        w->comm.abort = (const uint32_t *)ct_stream_address(c, &c->tokens.head->over);
        w->messages = w->rows = w->comm;
    }
    return w;
}

static void destroy(struct ct_stream_context *c, struct ct_workspaces *w)
{
    for (uint32_t r = 0; r < CT_TOKEN_RANKS; r++) {
        ct_mem_import_drop(c->p, w->imports[r]);
    }
    if (w->mine != 0) {
        (void)c->cu->cuMemFree(w->mine); /* fails after the driver's own end only */
        ct_mem_freed(c->p, (const void *)w->mine);
    }
    give_blocks(c, w->taken);
    free(w);
}

/* On whether all have kernels, and on whether they send rows: at once, since who has heard that it
 * may launch one may do so. */
static int agree(struct ct_stream_context *c, struct ct_workspaces *w, const struct gift *all,
                 bool *have)
{
    enum { NONE, KERNELS, ROWS };
    int       least = NONE;
    const int mine = map_others(c, w, all) != CTRAN_SUCCESS ? NONE
                     : may_send_ll32(c, w, all)             ? ROWS
                                                            : KERNELS;
    const int rc = ct_stream_least(c->net, mine, &least);
    *have = rc == CTRAN_SUCCESS && least >= KERNELS;
    w->has_ll32 = *have && least == ROWS;
    return rc;
}

int ct_stream_kernel_open(struct ct_stream_context *c)
{
    struct ct_mem_export  memory = {.way = 0};
    struct gift           mine, all[CT_TOKEN_RANKS];
    struct ct_workspaces *w = c->reaches_all && are_wanted(c) ? new_workspaces(c) : NULL;
    bool                  ok = w != NULL && make_mine(c, w, &memory) == CTRAN_SUCCESS;
    if (!c->reaches_all) {
        return CTRAN_SUCCESS;
    }
    int rc = ct_stream_all_agree(c->net, ok, &ok);
    if (rc == CTRAN_SUCCESS && ok) {
        w->taken = take_blocks(c);
        mine = gift_of(&c->p->cfg, &memory, w->taken);
        rc = ct_stream_gather(c->net, &mine, all, sizeof mine);
        rc = rc == CTRAN_SUCCESS ? compare_settings(c, all) : rc;
        if (rc == CTRAN_SUCCESS) {
            settle_blocks(c, w, all);
        }
        rc = rc == CTRAN_SUCCESS ? agree(c, w, all, &ok) : rc;
    }
    if (rc == CTRAN_SUCCESS && ok) {
        c->work = w;
    } else if (w != NULL) { /* nobody has launched anything; where others did not hear of this */
        if (rc != CTRAN_SUCCESS) { /* their kernels are not to wait for this rank */
            (void)ct_tokens_end(&c->tokens, rc);
        }
        destroy(c, w);
    }
    if (rc == CTRAN_SUCCESS && !ok) {
        ct_info(&c->p->log,
                "no kernels for stream-ordered calls: a rank has none, or no workspace");
    }
    return rc;
}

void ct_stream_kernel_leave(struct ct_stream_context *c)
{
    if (c->work != NULL) {
        atomic_fetch_or_explicit(&c->tokens.head->left, UINT32_C(1) << c->tokens.me,
                                 memory_order_acq_rel);
    }
}

bool ct_stream_kernel_is_left(const struct ct_stream_context *c)
{
    const uint32_t left =
        c->work != NULL ? atomic_load_explicit(&c->tokens.head->left, memory_order_acquire) : 0;
    for (uint32_t r = 0; c->work != NULL && r < c->tokens.n; r++) {
        struct pollfd fd = {.fd = c->pidfd[r], .events = POLLIN};
        if (r != c->tokens.me && (left >> r & 1) == 0 && (fd.fd < 0 || poll(&fd, 1, 0) != 1)) {
            return false;
        }
    }
    return true;
}

void ct_stream_kernel_close(struct ct_stream_context *c)
{
    if (c->work != NULL) {
        destroy(c, c->work);
        c->work = NULL;
    }
}

/* ---- which calls ----------------------------------------------------------------------------- */

size_t ct_stream_burden(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    enum { PASSED_ON = 8 }; /* a chain of engines fills late */
    const size_t bytes = call->nmsgs > 0 ? call->msgs[0].bytes : 0;
    return call->kind == CT_BCAST && c->tokens.n > 2 ? bytes / PASSED_ON : bytes;
}

/* Of a call's kernel: a small workspace has room for fewer. */
static uint32_t most_blocks(const struct ct_workspaces *w)
{
    return (uint32_t)ct_min_size(w->blocks, w->comm.layout.channels);
}

static enum ct_kernel_shape shape_of(const struct ct_stream_call *call)
{
    if (call->reduction != NULL) {
        return call->reduction->kind == CT_ALLREDUCE ? CT_KERNEL_ALLREDUCED : CT_KERNEL_SCATTERED;
    }
    return call->kind == CT_BCAST ? CT_KERNEL_BROADCAST : CT_KERNEL_MOVED;
}

bool ct_stream_kernel_is_short(const struct ct_stream_context *c, const struct ct_stream_call *call,
                               size_t bytes)
{
    return ct_kernel_is_short(c->tokens.n, shape_of(call), bytes, most_blocks(c->work),
                              c->work->has_ll32);
}

bool ct_stream_kernel_takes(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    struct ct_kernel_reduction r;
    if (c->work == NULL || call->dynamic != NULL) {
        return c->work != NULL;
    }
    if (c->tokens.n < 2) {
        return false;
    }
    if (call->reduction != NULL) {
        return ct_kernel_reduction_of(call->reduction->handle, call->reduction->type, &r);
    }
    if (!call->even || call->nmsgs == 0) {
        return false;
    }
    const size_t small = (size_t)c->p->cfg.stream_small, bytes = call->msgs[0].bytes;
    return bytes <= small ||
           (ct_stream_burden(c, call) <= small && ct_stream_kernel_is_short(c, call, bytes));
}

/* Memory that the driver does not know would end the device's context. */
static int check_buffer(const struct ct_stream_context *c, const char *name, const void *buf,
                        size_t bytes)
{
    if (bytes == 0 || buf == NULL || ct_gpu_kind_of(c->p->gpu, buf, NULL) != CT_GPU_HOST) {
        return CTRAN_SUCCESS;
    }
    ct_error(&c->p->log,
             "%s: %zu bytes at %p are ordinary host memory: give memory of the GPU or page-locked "
             "memory",
             name, bytes, buf);
    return CTRAN_ERR_UNSUPPORTED_OPERATION;
}

static int check_dynamic(const struct ct_stream_context *c, const char *name,
                         const struct ct_kernel_dynamic *d)
{
    const struct {
        const void *at;
        size_t      bytes;
    } all[] = {{d->send, d->send_bytes}, {d->recv, d->recv_bytes},      {d->send_counts, 1},
               {d->send_displs, 1},      {d->send_indices, d->indices}, {d->recv_counts, 1},
               {d->recv_displs, 1}};
    int rc = CTRAN_SUCCESS;
    for (size_t i = 0; i < CT_ARRAY_LEN(all) && rc == CTRAN_SUCCESS; i++) {
        rc = check_buffer(c, name, all[i].at, all[i].bytes);
    }
    return rc;
}

int ct_stream_kernel_check(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    int                               rc = CTRAN_SUCCESS;
    if (call->dynamic != NULL) {
        return check_dynamic(c, call->name, call->dynamic);
    }
    if (r != NULL) {
        const bool   in_place = r->send == NULL;
        const size_t nrecv = in_place && r->nsend > r->nrecv ? r->nsend : r->nrecv;
        rc = check_buffer(c, call->name, r->send, r->nsend);
        return rc == CTRAN_SUCCESS ? check_buffer(c, call->name, r->recv, nrecv) : rc;
    }
    for (size_t i = 0; i < call->nmsgs && rc == CTRAN_SUCCESS; i++) {
        if (i == 0 || call->msgs[i].send != call->msgs[i - 1].send) { /* one buffer each way */
            rc = check_buffer(c, call->name, call->msgs[i].buf, call->msgs[i].bytes);
        }
    }
    return rc;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void build_reduction(struct ct_workspaces *w, struct ct_kernel_how how,
                            const struct ct_stream_reduction *x)
{
    struct ct_kernel_reduction r = {.elem_bytes = 0};
    const void                *send = x->send != NULL ? x->send : x->recv;
    (void)ct_kernel_reduction_of(x->handle, x->type, &r); /* there is one: ..._takes */
    switch (x->kind) {
    case CT_ALLREDUCE:
        ct_kernel_allreduce(&w->call, &w->comm, how, &r, send, x->recv, x->count);
        break;
    case CT_REDUCE:
        ct_kernel_reduce(&w->call, &w->comm, how, &r, send, x->recv, x->count, x->root);
        break;
    case CT_REDUCE_SCATTER:
        ct_kernel_reduce_scatter(&w->call, &w->comm, how, &r, send, x->recv, x->count, x->counts);
        break;
    default:
        ct_kernel_scan(&w->call, &w->comm, how, &r, send, x->recv, x->count, x->kind == CT_EXSCAN);
        break;
    }
}

static void build_moves(struct ct_workspaces *w, struct ct_kernel_how how,
                        const struct ct_stream_call *call)
{
    struct ct_kernel_move moves[CT_KERNEL_RANKS] = {{.src = NULL}};
    uint32_t              to = 0, from = 0;
    for (size_t i = 0; i < call->nmsgs; i++) {
        const struct ct_stream_msg *m = &call->msgs[i];
        struct ct_kernel_move      *move = &moves[m->peer];
        if (m->send) {
            move->src = m->buf;
            move->send_bytes = m->bytes;
            to |= UINT32_C(1) << m->peer;
        } else {
            move->dst = m->buf;
            move->recv_bytes = m->bytes;
            from |= UINT32_C(1) << m->peer;
        }
    }
    ct_kernel_moves(&w->call, &w->comm, how, moves, to, from, call->msgs[0].bytes);
}

static void build(struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const struct ct_kernel_how how = {.blocks = most_blocks(c->work),
                                      .rows = c->work->has_ll32 ? &c->work->rows : NULL};
    if (call->dynamic != NULL) {
        ct_kernel_alltoallv_dynamic(&c->work->call, &c->work->comm, how.blocks, call->dynamic);
    } else if (call->reduction != NULL) {
        build_reduction(c->work, how, call->reduction);
    } else if (call->kind == CT_STREAM_BARRIER) {
        ct_kernel_barrier(&c->work->call, &c->work->comm);
    } else if (call->kind == CT_BCAST) {
        const struct ct_stream_msg *m = &call->msgs[0];
        ct_kernel_bcast(&c->work->call, &c->work->comm, how, m->buf, m->bytes,
                        m->send ? c->tokens.me : m->peer);
    } else {
        build_moves(c->work, how, call);
    }
}

/* Whether a call may be started early (launch.c). In graphs since CUDA 12.3, the edges of which say
 * so. Not one that is beside others: what is before it on its stream is no kernel. */
static bool may_be_early(const struct ct_stream_context *c, const uint32_t *finishes, bool alone)
{
    enum { EDGES_SINCE = 12030 };
    return alone && c->p->cfg.stream_early &&
           (finishes != NULL || c->p->gpu->version >= EDGES_SINCE);
}

/* The call that has been built for a communicator, which tells it when it is over. */
static int launch(struct ct_stream_context *c, CUstream stream, const uint32_t *finishes,
                  bool alone)
{
    const bool early = may_be_early(c, finishes, alone);
    const int  rc = ct_kernel_launch(c->p->gpu, c->ordinal, stream, &c->work->call, early);
    if (rc != CTRAN_SUCCESS) { /* peers would wait for what never comes */
        ct_stream_end_all(c, rc);
        if (finishes != NULL) {
            ct_stream_lose(c, stream);
        }
    }
    return rc;
}

static void set_finish(const struct ct_stream_context *c, struct ct_kernel_comm *comm,
                       const uint32_t *finishes)
{
    comm->finished = finishes != NULL ? (uint32_t *)c->finished : NULL;
    comm->finishes = finishes != NULL ? *finishes : 0;
}

int ct_stream_kernel_submit(struct ct_stream_context *c, CUstream stream,
                            const struct ct_stream_call *call, const uint32_t *finishes)
{
    set_finish(c, &c->work->comm, finishes);
    set_finish(c, &c->work->rows, finishes);
    build(c, call);
    return launch(c, stream, finishes, true);
}

/* ---- on the ranks' own buffers --------------------------------------------------------------- */

bool ct_stream_kernel_has_messages(const struct ct_stream_context *c)
{
    return c->work != NULL && c->work->at_messages > 0;
}

int ct_stream_kernel_direct(struct ct_stream_context *c, CUstream stream,
                            const struct ct_direct_job *job)
{
    struct ct_workspaces             *w = c->work;
    struct ct_kernel_comm            *comm = job->messages ? &w->messages : &w->comm;
    const struct ct_stream_reduction *x = job->reduction;
    struct ct_kernel_reduction        r;
    c->direct_ops++;
    set_finish(c, comm, job->finishes);
    comm->let_go = (const uint32_t *)ct_stream_address(c, &c->tokens.head->let_go[c->tokens.me]);
    if (job->passed_on > 0) {
        void *bufs[CT_KERNEL_RANKS];
        for (uint32_t p = 0; p < comm->size; p++) {
            bufs[p] = job->ranks[p].dst;
        }
        ct_kernel_direct_bcast(&w->call, comm, job->blocks, bufs, job->passed_on, job->root);
        return launch(c, stream, job->finishes, !job->beside);
    }
    if (x == NULL) {
        ct_kernel_direct_move(&w->call, comm, job->blocks, job->ranks, job->open, job->use,
                              !job->messages);
        return launch(c, stream, job->finishes, !job->beside);
    }
    (void)ct_kernel_reduction_of(x->handle, x->type, &r); /* there is one: ..._wants */
    if (x->kind == CT_ALLREDUCE) {
        ct_kernel_direct_allreduce(&w->call, comm, job->blocks, &r, job->ranks, x->count,
                                   job->hands_out);
    } else {
        ct_kernel_direct_reduce_scatter(&w->call, comm, job->blocks, &r, job->ranks, x->count,
                                        job->given);
    }
    return launch(c, stream, job->finishes, !job->beside);
}

/* ---- messages -------------------------------------------------------------------------------- */

bool ct_stream_kernel_moves(const struct ct_stream_context *c, size_t bytes)
{
    return c->work != NULL && c->work->at_messages > 0 && bytes <= (size_t)c->p->cfg.stream_small &&
           bytes <= ct_kernel_message_most(&c->work->messages.layout, c->work->blocks);
}

int ct_stream_kernel_exchange(struct ct_stream_context *c, CUstream stream,
                              const struct ct_exchange_end *ends, size_t n,
                              const uint32_t *finishes, bool alone)
{
    struct ct_workspaces *w = c->work;
    struct ct_kernel_end  send[CT_KERNEL_RANKS], recv[CT_KERNEL_RANKS];
    uint32_t              to = 0, from = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ct_stream_msg *msg = ends[i].msg;
        if (ends[i].kernel) {
            const struct ct_kernel_end end = {msg->buf, msg->bytes, ends[i].bytes};
            (msg->send ? send : recv)[msg->peer] = end;
            *(msg->send ? &to : &from) |= UINT32_C(1) << msg->peer;
        }
    }
    set_finish(c, &w->messages, finishes);
    ct_kernel_messages(&w->call, &w->messages, send, to, recv, from);
    return launch(c, stream, finishes, alone);
}
