/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs and their instances. A launch makes one op for each node, ordered as the graph says,
 * between an op that begins and one that ends it; only those two stand in the stream, and only
 * the first takes one of its places. Launches of one instance come one after the other,
 * whichever streams they are in. The last op holds the instance, so that one may be destroyed
 * while it runs.
 */
#include "emu.h"

#include <stdlib.h>
#include <string.h>

struct node {
    struct emu_work *work;
    size_t          *deps;
    size_t           ndeps;
};

struct CUgraphExec_st {
    unsigned          magic;
    atomic_uint       refs;
    struct node      *nodes;
    size_t            count;
    struct emu_op    *last; /* of the last launch */
    struct emu_owned *owned;
    CUuserObject      single;
    bool              once, launched; /* once: it allocates what it does not free */
};

struct CUgraph_st *emu_graph_new(void)
{
    struct CUgraph_st *graph = calloc(1, sizeof *graph);
    if (graph != NULL) {
        graph->magic = EMU_GRAPH;
    }
    return graph;
}

struct CUgraphNode_st *emu_graph_add(struct CUgraph_st *graph, struct emu_work *work,
                                     struct CUgraphNode_st **deps, size_t ndeps)
{
    if (graph->count == graph->cap) {
        const size_t            cap = graph->cap == 0 ? 16 : 2 * graph->cap;
        struct CUgraphNode_st **nodes = realloc(graph->nodes, cap * sizeof *nodes);
        if (nodes == NULL) {
            return NULL;
        }
        graph->nodes = nodes;
        graph->cap = cap;
    }
    struct CUgraphNode_st *node = calloc(1, sizeof *node);
    if (node == NULL || (node->deps = malloc((ndeps + 1) * sizeof(CUgraphNode))) == NULL) {
        free(node);
        return NULL;
    }
    if (ndeps > 0) {
        memcpy(node->deps, deps, ndeps * sizeof(CUgraphNode));
    }
    node->ndeps = ndeps;
    node->graph = graph;
    node->index = graph->count;
    node->work = emu_work_hold(work);
    graph->nodes[graph->count++] = node;
    return node;
}

void emu_graph_free(struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        emu_work_drop(graph->nodes[i]->work);
        free(graph->nodes[i]->deps);
        free(graph->nodes[i]);
    }
    emu_owned_drop(graph->owned);
    graph->magic = 0;
    free(graph->nodes);
    free(graph);
}

CUresult cuGraphDestroy(CUgraph graph)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (graph == NULL || graph->magic != EMU_GRAPH) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_graph_free(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (graph == NULL || graph->magic != EMU_GRAPH || count == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; nodes != NULL && i < *count; i++) {
        nodes[i] = i < graph->count ? graph->nodes[i] : NULL;
    }
    *count = nodes == NULL || graph->count < *count ? graph->count : *count;
    return CUDA_SUCCESS;
}

static void exec_drop(void *arg)
{
    CUgraphExec exec = arg;
    if (atomic_fetch_sub(&exec->refs, 1) != 1) {
        return;
    }
    emu_lock();
    emu_op_drop(exec->last);
    emu_unlock();
    for (size_t i = 0; i < exec->count; i++) {
        emu_work_drop(exec->nodes[i].work);
        free(exec->nodes[i].deps);
    }
    emu_owned_drop(exec->owned);
    free(exec->nodes);
    free(exec);
}

static bool copy_nodes(CUgraphExec exec, const struct CUgraph_st *graph)
{
    exec->nodes = calloc(graph->count + 1, sizeof *exec->nodes);
    for (size_t i = 0; exec->nodes != NULL && i < graph->count; i++) {
        const struct CUgraphNode_st *from = graph->nodes[i];
        struct node                 *to = &exec->nodes[i];
        to->deps = malloc((from->ndeps + 1) * sizeof *to->deps);
        if (to->deps == NULL) {
            return false;
        }
        to->work = emu_work_hold(from->work);
        to->ndeps = from->ndeps;
        for (size_t k = 0; k < from->ndeps; k++) {
            to->deps[k] = from->deps[k]->index;
        }
        exec->count++;
    }
    return exec->nodes != NULL;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (exec == NULL || graph == NULL || graph->magic != EMU_GRAPH) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    const bool refused = graph->single != NULL && graph->single->live;
    if (graph->single != NULL) {
        graph->single->live = true;
    }
    emu_unlock();
    if (refused) {
        return CUDA_ERROR_NOT_SUPPORTED; /* as driver 580 was seen to say */
    }
    CUgraphExec made = calloc(1, sizeof *made);
    if (made == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->magic = EMU_EXEC;
    atomic_init(&made->refs, 1);
    made->single = graph->single;
    made->once =
        graph->unfreed > 0 && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0;
    if (!copy_nodes(made, graph) || emu_owned_copy(&made->owned, graph->owned) != CUDA_SUCCESS) {
        exec_drop(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *exec = made;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    const CUresult result = emu_enter(__func__);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (exec == NULL || exec->magic != EMU_EXEC) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_lock();
    exec->magic = 0;
    if (exec->single != NULL) {
        exec->single->live = false;
    }
    emu_unlock();
    exec_drop(exec);
    return CUDA_SUCCESS;
}

/* Entered, and both handles are sound. */
static CUresult sound(const char *call, CUgraphExec exec, CUstream handle, CUstream *stream)
{
    CUcontext      ctx;
    const CUresult result = emu_enter_ctx(call, &ctx);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    *stream = emu_stream_of(handle);
    if (*stream == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return exec != NULL && exec->magic == EMU_EXEC ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    return sound(__func__, exec, handle, &stream);
}

/* Under the lock: the ops of a launch. `ops` has room for one a node. */
static void launch(CUgraphExec exec, CUstream stream, struct emu_work *begin, struct emu_work *end,
                   struct emu_op **ops)
{
    emu_stream_room(stream);
    struct emu_op *first = emu_op_new(begin, stream, true);
    emu_stream_append(stream, first);
    emu_op_after(first, exec->last);
    for (size_t i = 0; i < exec->count; i++) {
        const struct node *node = &exec->nodes[i];
        ops[i] = emu_op_new(emu_work_hold(node->work), stream, false);
        emu_op_after(ops[i], first);
        for (size_t k = 0; k < node->ndeps; k++) {
            emu_op_after(ops[i], ops[node->deps[k]]);
        }
    }
    struct emu_op *last = emu_op_new(end, stream, false);
    last->kept = exec;
    last->kept_drop = exec_drop;
    emu_op_after(last, first);
    for (size_t i = 0; i < exec->count; i++) {
        emu_op_after(last, ops[i]);
    }
    emu_op_drop(stream->last);
    stream->last = emu_op_hold(last);
    emu_op_drop(exec->last);
    exec->last = emu_op_hold(last);
    emu_op_go(first);
    emu_op_drop(first);
    for (size_t i = 0; i < exec->count; i++) {
        emu_op_go(ops[i]);
        emu_op_drop(ops[i]);
    }
    emu_op_go(last);
    emu_op_drop(last);
    exec->launched = true;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    CUresult result = sound(__func__, exec, handle, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct emu_work *begin = emu_work_new(EMU_NOTHING, stream->ctx);
    struct emu_work *end = emu_work_new(EMU_NOTHING, stream->ctx);
    struct emu_op  **ops = malloc((exec->count + 1) * sizeof *ops);
    if (begin == NULL || end == NULL || ops == NULL) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    emu_lock();
    if (result == CUDA_SUCCESS && stream->capture != NULL) {
        result = emu_capture_spoil(stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    if (result == CUDA_SUCCESS && exec->once && exec->launched) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result == CUDA_SUCCESS) {
        result = emu_capture_implicit(stream);
    }
    if (result == CUDA_SUCCESS) {
        atomic_fetch_add(&exec->refs, 1);
        launch(exec, stream, begin, end, ops);
        begin = end = NULL;
    }
    emu_unlock();
    emu_work_drop(begin);
    emu_work_drop(end);
    free(ops);
    return result;
}
