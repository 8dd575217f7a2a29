/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of neighbours (MPI-4.1 sec. 8.6 to 8.8): their arguments and descriptions. Each block
 * is sent from and received into where it lies, whatever its datatype. A block for CTRAN_PROC_NULL,
 * at the border of a grid, is ignored. Called by neighbor_calls.c.
 */
#define CT_FOLDER "api"
#include <stdlib.h>
#include <string.h>

#include "api/coll_call.h"

enum { FEW = 8 }; /* blocks of both buffers: those of a grid of two dimensions */

/* A call: what its buffers hold for each neighbour, first SEND's blocks, then RECV's. */
struct exchange {
    struct ct_described d;
    bool                held;  /* the types are */
    struct ct_span     *spans; /* nobody's are empty; NULL: they are few */
    struct ct_area     *areas; /* the same; pieces are the types' */
    struct ct_span      few_spans[FEW];
    struct ct_area      few_areas[FEW];
};

static struct exchange *exchange_of(struct ct_described *d)
{
    return CT_CONTAINER_OF(d, struct exchange, d);
}

static const struct ct_neighbours *near_of(const struct exchange *x)
{
    return &x->d.comm->topo->near;
}

static size_t blocks_of(const struct exchange *x)
{
    return (size_t)near_of(x)->ndestinations + near_of(x)->nsources;
}

static struct ct_span *spans_of(struct exchange *x)
{
    return x->spans != NULL ? x->spans : x->few_spans;
}

static struct ct_area *areas_of(struct exchange *x)
{
    return x->areas != NULL ? x->areas : x->few_areas;
}

static int open_exchange(struct ct_described *d)
{
    struct exchange      *x = exchange_of(d);
    const struct ct_area *areas = areas_of(x);
    ct_coll_neighbor(&d->coll, areas, areas + near_of(x)->ndestinations);
    return CTRAN_SUCCESS;
}

static int close_exchange(struct ct_described *d, bool store)
{
    (void)d;
    (void)store;
    return CTRAN_SUCCESS;
}

static void destroy_exchange(struct ct_described *d)
{
    struct exchange      *x = exchange_of(d);
    const struct ct_span *spans = spans_of(x);
    for (size_t i = 0; x->held && i < blocks_of(x); i++) {
        if (spans[i].type != NULL) {
            ct_dtype_drop(spans[i].type);
        }
    }
    free(x->spans);
    free(x->areas);
}

static const struct ct_described_ops exchange_ops = {sizeof(struct exchange), open_exchange,
                                                     close_exchange, destroy_exchange};

/* ---- arguments ------------------------------------------------------------------------------- */

/* The communicator has neighbours, and messages between them match. */
static int check_topology(struct ct_comm *comm, const char *call)
{
    if (comm->topo == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_TOPOLOGY, call,
                            "the communicator has no topology: make it with ctran_cart_create, "
                            "ctran_graph_create or ctran_dist_graph_create");
    }
    return !comm->topo->uneven
               ? CTRAN_SUCCESS
               : ct_api_raise(comm, CTRAN_ERR_TOPOLOGY, call,
                              "a rank of the graph has another for a neighbour more often than "
                              "that one has it: a graph that goes one way is made with "
                              "ctran_dist_graph_create");
}

static int allocate(const struct ct_call *how, struct exchange *x)
{
    const size_t n = blocks_of(x);
    if (n > FEW) {
        x->spans = malloc(n * sizeof *x->spans);
        x->areas = malloc(n * sizeof *x->areas);
        if (x->spans == NULL || x->areas == NULL) {
            if (how->mode != CT_CALL_PERSISTENT) {
                ct_run_skip(&x->d.comm->run); /* as the other ranks count it */
            }
            return ct_api_raise(x->d.comm, CTRAN_ERR_NO_MEM, how->name, "for %zu neighbours", n);
        }
    }
    if (near_of(x)->nedges < n) {
        memset(spans_of(x), 0, n * sizeof *x->spans);
        memset(areas_of(x), 0, n * sizeof *x->areas);
    }
    return CTRAN_SUCCESS;
}

/* One buffer, with blocks for n neighbours. */
static int check_side(const struct exchange *x, const struct ct_side *side, uint32_t n,
                      const char *name)
{
    if (side->buf == CTRAN_IN_PLACE) {
        return ct_api_raise(x->d.comm, CTRAN_ERR_BUFFER, x->d.call,
                            "%s is CTRAN_IN_PLACE, which neighbours do not take", name);
    }
    return n > 0 ? ct_side_check(x->d.comm, x->d.call, side) : CTRAN_SUCCESS;
}

/* A block of one buffer. *like is another of it, NULL where there is none yet: without arrays, what
 * holds of one holds of all. */
static int describe(const struct exchange *x, const struct ct_side *side, uint32_t block,
                    struct ct_span *span, struct ct_area *area, const struct ct_span **like)
{
    int rc;
    if (*like != NULL && side->counts == NULL) {
        const void   *buf;
        ctran_count_t count;
        rc = ct_side_block(x->d.comm, x->d.call, side, block, &buf, &count);
        *span = **like;
        span->buf = (void *)buf;
    } else {
        rc = ct_side_span(x->d.comm, x->d.call, side, block, span);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *like = span;
    *area = ct_span_area(x->d.comm->p, span);
    return side->buf == CTRAN_BOTTOM && side->types != NULL
               ? ct_check_there(x->d.comm, x->d.call, area, block)
               : CTRAN_SUCCESS;
}

/* What is received is not what is sent: of two buffers with many blocks those with equal numbers
 * are compared. */
static int check_apart(struct exchange *x)
{
    const struct ct_neighbours *near = near_of(x);
    const struct ct_span       *sends = spans_of(x), *recvs = sends + near->ndestinations;
    int                         rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < near->ndestinations && i < near->nsources && rc == CTRAN_SUCCESS;
         i++) {
        rc = ct_check_disjoint(x->d.comm, x->d.call, &sends[i], &recvs[i]);
    }
    return rc;
}

/* The blocks that have a neighbour. */
static int describe_all(struct exchange *x, const struct ct_side *send, const struct ct_side *recv)
{
    const struct ct_neighbours *near = near_of(x);
    struct ct_span             *spans = spans_of(x);
    struct ct_area             *areas = areas_of(x);
    const struct ct_span       *sent = NULL, *received = NULL;
    int                         rc = CTRAN_SUCCESS;
    for (uint32_t i = 0; i < near->nedges && rc == CTRAN_SUCCESS; i++) {
        const uint32_t b = near->edges[i].block, at = b + near->ndestinations;
        rc = near->edges[i].in ? describe(x, recv, b, &spans[at], &areas[at], &received)
                               : describe(x, send, b, &spans[b], &areas[b], &sent);
    }
    return rc == CTRAN_SUCCESS ? check_apart(x) : rc;
}

/* For a call that lasts: the areas have the types' pieces. */
static void hold_types(struct exchange *x)
{
    const struct ct_span *spans = spans_of(x);
    for (size_t i = 0; i < blocks_of(x); i++) {
        if (spans[i].type != NULL) {
            ct_dtype_hold(spans[i].type);
        }
    }
    x->held = true;
}

int ct_call_neighbor(const struct ct_call *how, struct ct_side send, struct ct_side recv)
{
    struct exchange x;
    struct ct_comm *comm;
    int             rc = ct_call_check(how, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = check_topology(comm, how->name);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    ct_described_init(&x.d, how, comm, &exchange_ops);
    x.held = false;
    x.spans = NULL;
    x.areas = NULL;
    rc = check_side(&x, &send, near_of(&x)->ndestinations, "sendbuf");
    if (rc == CTRAN_SUCCESS) {
        rc = check_side(&x, &recv, near_of(&x)->nsources, "recvbuf");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = allocate(how, &x);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = describe_all(&x, &send, &recv);
    }
    if (rc != CTRAN_SUCCESS) {
        destroy_exchange(&x.d);
        return rc;
    }
    if (how->mode != CT_CALL_BLOCKS) {
        hold_types(&x);
    }
    return ct_call_go(how, &x.d);
}
