/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures and order.
 *
 * A capture gets a set of tokens at its first operation of the communicator that needs one. The
 * driver says when the graph is gone by calling a function of ours on a thread of its own, where
 * CUDA must not be called: so it leaves a mark, and the context's next call frees. Until then the
 * process counts as one whose streams may wait. A driver (580) that is to do so takes 1.5 us for
 * each node at each launch, which is longer than a small kernel: so graphs that keep nothing are
 * not watched, and after one of them the process counts so, apart, until the communicator's end.
 *
 * The node that allocates memory: of a graph that has one the driver instantiates a second
 * executable only when the first has been destroyed (CUDA_ERROR_NOT_SUPPORTED), and clones
 * none. Two executables would share a set of tokens and might run at once.
 */
#define CT_FOLDER "stream"
#include "stream/graph.h"

#include <stdlib.h>

#include "stream/staged.h"

/* The second one to let go frees. */
enum { HELD, GONE /* the driver's part */, LEFT /* the context's */ };

static void gone(void *arg)
{
    struct ct_graph *g = arg;
    uint32_t         held = HELD;
    if (!atomic_compare_exchange_strong_explicit(&g->state, &held, GONE, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        free(g);
    }
}

/* ---- what it holds --------------------------------------------------------------------------- */

int ct_graph_hold(struct ct_graph *g, struct ct_mem_import *import)
{
    struct ct_mem_import **more = realloc(g->imports, (g->nimports + 1) * sizeof *more);
    if (more == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    g->imports = more;
    g->imports[g->nimports++] = import;
    return CTRAN_SUCCESS;
}

static void let_go(struct ct_stream_context *c, struct ct_graph *g)
{
    for (size_t i = 0; i < g->nimports; i++) {
        ct_mem_import_put(c->p, g->imports[i]);
    }
    free(g->imports);
    g->imports = NULL;
    g->nimports = 0;
    ct_staged_drop_all(c, &g->staged);
    atomic_fetch_sub_explicit(&c->p->gpu->graphs, 1, memory_order_release);
    c->sets &= ~(UINT64_C(1) << g->set);
    ct_list_remove(&g->node);
}

/* Frees what graphs had that are gone. */
static void reap(struct ct_stream_context *c)
{
    struct ct_list *node = c->graphs.next;
    while (node != &c->graphs) {
        struct ct_graph *g = CT_LIST_ENTRY(node, struct ct_graph, node);
        node = node->next;
        if (atomic_load_explicit(&g->state, memory_order_acquire) == GONE) {
            if (c->capture.graph == g) {
                c->capture = (struct ct_stream_capture){.id = 0};
            }
            let_go(c, g);
            free(g);
        }
    }
}

void ct_graphs_leave(struct ct_stream_context *c)
{
    reap(c);
    if (c->capture.graph != NULL && !c->capture.graph->keeps) {
        free(c->capture.graph);
    }
    c->capture = (struct ct_stream_capture){.id = 0};
    if (c->has_captured) {
        atomic_fetch_sub_explicit(&c->p->gpu->quick, 1, memory_order_release);
        c->has_captured = false;
    }
    while (!ct_list_empty(&c->graphs)) {
        struct ct_graph *g = CT_LIST_ENTRY(c->graphs.next, struct ct_graph, node);
        uint32_t         held = HELD;
        let_go(c, g);
        if (!atomic_compare_exchange_strong_explicit(&g->state, &held, LEFT, memory_order_acq_rel,
                                                     memory_order_acquire)) {
            free(g);
        }
    }
}

/* ---- a new capture --------------------------------------------------------------------------- */

static int take_set(struct ct_stream_context *c, uint32_t *set)
{
    for (*set = 1; *set < CT_TOKEN_SETS; ++*set) {
        if ((c->sets >> *set & 1) == 0) {
            c->sets |= UINT64_C(1) << *set;
            return CTRAN_SUCCESS;
        }
    }
    ct_error(&c->p->log,
             "a communicator's operations may be in %d captured graphs at a time: destroy one, or "
             "use a duplicate of the communicator",
             CT_TOKEN_SETS - 1);
    return CTRAN_ERR_NO_MEM;
}

/* The node that allocates. */
static int guard(struct ct_stream_context *c, CUstream stream)
{
    CUdeviceptr ptr = 0;
    int         rc =
        CT_GPU_TRY(c->p->gpu, "guarding a captured graph", cuMemAllocAsync, (&ptr, 16, stream));
    return rc == CTRAN_SUCCESS
               ? CT_GPU_TRY(c->p->gpu, "guarding a captured graph", cuMemFreeAsync, (ptr, stream))
               : rc;
}

/* From now on the driver tells when the graph is gone. */
static int watch(struct ct_stream_context *c, struct ct_graph *g)
{
    static const char what[] = "capturing a stream-ordered call";
    CUuserObject      object;
    int               rc = CT_GPU_TRY(c->p->gpu, what, cuUserObjectCreate,
                                      (&object, g, gone, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return rc == CTRAN_SUCCESS ? CT_GPU_TRY(c->p->gpu, what, cuGraphRetainUserObject,
                                            (g->driver, object, 1, CU_GRAPH_USER_OBJECT_MOVE))
                               : rc;
}

int ct_graph_keep(struct ct_stream_context *c, struct ct_graph *g)
{
    uint32_t set;
    int      rc = g->keeps ? CTRAN_SUCCESS : take_set(c, &set);
    if (g->keeps || rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = watch(c, g);
    if (rc != CTRAN_SUCCESS) {
        c->sets &= ~(UINT64_C(1) << set);
        return rc;
    }
    g->set = set;
    g->keeps = true;
    ct_list_append(&c->graphs, &g->node);
    atomic_fetch_add_explicit(&c->p->gpu->graphs, 1, memory_order_relaxed);
    return CTRAN_SUCCESS;
}

/* The last capture's graph, if that keeps nothing, is forgotten. */
static int begin(struct ct_stream_context *c, CUstream stream, cuuint64_t id, CUgraph graph)
{
    struct ct_graph *g = c->capture.graph;
    if (g == NULL || g->keeps) {
        g = calloc(1, sizeof *g);
    }
    c->capture = (struct ct_stream_capture){.id = id, .graph = g, .last = stream};
    if (g == NULL) {
        c->capture.id = 0;
        return CTRAN_ERR_NO_MEM;
    }
    g->driver = graph;
    ct_list_init(&g->staged);
    const int rc = guard(c, stream);
    if (rc != CTRAN_SUCCESS) {
        c->capture.id = 0;
    }
    return rc;
}

/* ---- order ----------------------------------------------------------------------------------- */

static const char what[] = "ordering a call behind the communicator's last one";

int ct_order_follow(struct ct_stream_context *c, CUstream stream)
{
    const bool waits = c->ordered && c->last != stream && ct_stream_pending(c) > 0;
    c->last = stream;
    c->ordered = true;
    return waits ? CT_GPU_TRY(
                       c->p->gpu, what, cuStreamWaitValue32,
                       (stream, (CUdeviceptr)c->finished, c->enqueued, CU_STREAM_WAIT_VALUE_GEQ))
                 : CTRAN_SUCCESS;
}

int ct_order_enter(struct ct_stream_context *c, CUstream stream, struct ct_graph **out)
{
    CUstreamCaptureStatus status;
    cuuint64_t            id;
    CUgraph               graph;
    *out = NULL;
    reap(c);
    int rc = CT_GPU_TRY(c->p->gpu, what, cuStreamGetCaptureInfo,
                        (stream, &status, &id, &graph, NULL, NULL));
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (status == CU_STREAM_CAPTURE_STATUS_NONE) {
        return CTRAN_SUCCESS;
    }
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        ct_error(&c->p->log, "a stream-ordered call is made on a stream whose capture has been "
                             "invalidated by an earlier call: end it, and capture anew");
        return CTRAN_ERR_ARG;
    }
    if (c->capture.id != id) {
        rc = begin(c, stream, id, graph);
    } else if (c->capture.last != stream) {
        rc = CT_GPU_TRY(c->p->gpu, what, cuStreamWaitEvent,
                        (stream, c->captured_edge, CU_EVENT_WAIT_DEFAULT));
    }
    *out = c->capture.graph;
    return rc;
}

int ct_order_leave(struct ct_stream_context *c, CUstream stream, const struct ct_graph *graph)
{
    if (graph == NULL) {
        return CTRAN_SUCCESS;
    }
    if (!graph->keeps && !c->has_captured) { /* nobody will say that it has gone */
        c->has_captured = true;
        atomic_fetch_add_explicit(&c->p->gpu->quick, 1, memory_order_relaxed);
    }
    c->capture.last = stream;
    return CT_GPU_TRY(c->p->gpu, what, cuEventRecord, (c->captured_edge, stream));
}
