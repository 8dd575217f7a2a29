/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives at random. Elements are numbers that follow from rank, place, salt and turn, so that
 * every rank can work out what another one put in. With gaps every second long of memory is one, by
 * a derived type; ordered reductions multiply affine maps, which do not commute.
 */
#include "icoll.h"

enum {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    ALLGATHER,
    GATHER,
    SCATTER,
    ALLTOALL,
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER
};

static const long GAP = -77;

/* Whose algorithms they take, as the table of algorithms calls them. */
static const char *const collectives[ICOLL_KINDS] = {
    [BARRIER] = "barrier",
    [BCAST] = "bcast",
    [REDUCE] = "reduce",
    [ALLREDUCE] = "allreduce",
    [SCAN] = "scan",
    [EXSCAN] = "exscan",
    [ALLGATHER] = "allgather",
    [GATHER] = "gather",
    [SCATTER] = "scatter",
    [ALLTOALL] = "alltoall",
    [ALLGATHERV] = "allgather",
    [GATHERV] = "gather",
    [SCATTERV] = "scatter",
    [ALLTOALLV] = "alltoall",
    [ALLTOALLW] = "alltoall",
    [REDUCE_SCATTER_BLOCK] = "reduce_scatter",
    [REDUCE_SCATTER] = "reduce_scatter",
};

/* ---- what it should give --------------------------------------------------------------------- */

static long input(const struct icase *c, int turn, int rank, size_t at)
{
    return (
        long)(mix(((uint64_t)c->salt << 32) + (uint64_t)turn * 1009 + (uint64_t)rank * 65537 + at) &
              0xffffffff);
}

/* x -> a x + b as one word: a high, b low, modulo 65536 each. */
static long compose(long f, long g)
{
    const long a = (f >> 16) * (g >> 16) & 0xffff;
    const long b = ((f >> 16) * (g & 0xffff) + (f & 0xffff)) & 0xffff;
    return a << 16 | b;
}

/* The operators, for elements that are `step` longs apart. */
static void apply(long (*fn)(long, long), size_t step, const void *in, void *inout,
                  ctran_count_t len)
{
    for (size_t i = 0; i < (size_t)len * step; i += step) {
        ((long *)inout)[i] = fn(((const long *)in)[i], ((long *)inout)[i]);
    }
}

static long add(long a, long b)
{
    return a + b;
}

static void compose_dense(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    (void)type;
    apply(compose, 1, in, inout, *len);
}

static void compose_gaps(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    (void)type;
    apply(compose, 2, in, inout, *len);
}

static void add_gaps(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    (void)type;
    apply(add, 2, in, inout, *len);
}

static long reduced(const struct icase *c, int turn, int ranks, size_t at)
{
    long x = input(c, turn, 0, at);
    for (int r = 1; r < ranks; r++) {
        const long y = input(c, turn, r, at);
        x = c->ordered ? compose(x, y) : x + y;
    }
    return x;
}

static bool is_reduction(const struct icase *c)
{
    return (c->kind >= REDUCE && c->kind <= EXSCAN) || c->kind >= REDUCE_SCATTER_BLOCK;
}

static bool is_rooted(const struct icase *c)
{
    return c->kind == BCAST || c->kind == REDUCE || c->kind == GATHER || c->kind == SCATTER ||
           c->kind == GATHERV || c->kind == SCATTERV;
}

/* Places in memory: of element `at`, and how many longs hold n elements. */
static size_t place(const struct icase *c, size_t at)
{
    return c->gaps ? 2 * at : at;
}

static size_t whole(const struct icase *c)
{
    return (size_t)c->count * (size_t)c->n;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static int draw_kind(uint64_t *rng)
{
    int kind;
    do {
        kind = rng_below(rng, ICOLL_KINDS);
    } while (!forced_wants(collectives[kind]));
    return kind;
}

void icase_draw(struct icase *c, ctran_comm_t comm, uint64_t *rng)
{
    static const ctran_count_t counts[] = {0, 1, 7, 300, 9000};
    *c = (struct icase){.comm = comm, .kind = draw_kind(rng)};
    OK(ctran_comm_rank(comm, &c->me));
    OK(ctran_comm_size(comm, &c->n));
    c->root = rng_below(rng, c->n);
    c->salt = rng_below(rng, 1 << 20);
    c->in_place = rng_below(rng, 2) == 0 && c->kind != BCAST && c->kind != BARRIER;
    c->gaps = rng_below(rng, 3) == 0;
    c->ordered = rng_below(rng, 2) == 0;
    c->count = counts[rng_below(rng, LEN(counts))];
    const size_t longs = 2 * whole(c) + 1;
    c->send = malloc(longs * sizeof(long));
    c->recv = malloc(longs * sizeof(long));
    EXPECT(c->send != NULL && c->recv != NULL);
}

void icase_free(struct icase *c)
{
    free(c->send);
    free(c->recv);
}

/* Whether this rank's input lies in recv. */
static bool inputs_there(const struct icase *c)
{
    if (!c->in_place || c->kind == SCATTER || c->kind == SCATTERV) {
        return false;
    }
    return !is_rooted(c) || c->me == c->root;
}

/* The elements that this rank puts in, from `first` on in its buffer. */
static size_t input_elems(const struct icase *c)
{
    switch (c->kind) {
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
    case SCATTER:
    case SCATTERV:
    case REDUCE_SCATTER_BLOCK:
    case REDUCE_SCATTER:
        return whole(c);
    default:
        return (size_t)c->count;
    }
}

static bool is_gather(const struct icase *c)
{
    return c->kind == ALLGATHER || c->kind == GATHER || c->kind == ALLGATHERV || c->kind == GATHERV;
}

void icase_fill(struct icase *c, int turn)
{
    for (size_t i = 0; i < 2 * whole(c) + 1; i++) {
        c->send[i] = c->recv[i] = GAP;
    }
    long  *buf = inputs_there(c) ? c->recv : c->send;
    size_t first = is_gather(c) && inputs_there(c) ? (size_t)c->me * (size_t)c->count : 0;
    if (c->kind == BCAST) {
        buf = c->recv;
    }
    if (is_rooted(c) && c->me != c->root &&
        (c->kind == BCAST || c->kind == SCATTER || c->kind == SCATTERV)) {
        return;
    }
    for (size_t i = 0; i < input_elems(c); i++) {
        buf[place(c, first + i)] = input(c, turn, c->me, i);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum how { BEGIN, INIT, DO };

/* The three forms of a call. */
#define CALL(name, ...)                                                                            \
    (how == BEGIN  ? ctran_i##name(__VA_ARGS__, r)                                                 \
     : how == INIT ? ctran_##name##_init(__VA_ARGS__, CTRAN_INFO_NULL, r)                          \
                   : ctran_##name(__VA_ARGS__))

static void call_moves(struct icase *c, enum how how, const void *s, void *v, ctran_datatype_t t,
                       ctran_request_t *r)
{
    const ctran_count_t n = c->count;
    const int           root = c->root;
    const ctran_comm_t  comm = c->comm;
    switch (c->kind) {
    case BARRIER:
        OK(CALL(barrier, comm));
        break;
    case BCAST:
        OK(CALL(bcast, c->recv, n, t, root, comm));
        break;
    case ALLGATHER:
        OK(CALL(allgather, s, n, t, v, n, t, comm));
        break;
    case GATHER:
        OK(CALL(gather, s, n, t, v, n, t, root, comm));
        break;
    case SCATTER:
        OK(CALL(scatter, s, n, t, v, n, t, root, comm));
        break;
    case ALLTOALL:
        OK(CALL(alltoall, s, n, t, v, n, t, comm));
        break;
    case ALLGATHERV:
        OK(CALL(allgatherv, s, n, t, v, c->counts, c->displs, t, comm));
        break;
    case GATHERV:
        OK(CALL(gatherv, s, n, t, v, c->counts, c->displs, t, root, comm));
        break;
    case SCATTERV:
        OK(CALL(scatterv, s, c->counts, c->displs, t, v, n, t, root, comm));
        break;
    case ALLTOALLV:
        OK(CALL(alltoallv, s, c->counts, c->displs, t, v, c->counts, c->displs, t, comm));
        break;
    default:
        OK(CALL(alltoallw, s, c->counts, c->bytes, c->types, v, c->counts, c->bytes, c->types,
                comm));
        break;
    }
}

static void call_reduction(struct icase *c, enum how how, const void *s, void *v,
                           ctran_datatype_t t, ctran_op_t op, ctran_request_t *r)
{
    const ctran_count_t n = c->count;
    const ctran_comm_t  comm = c->comm;
    switch (c->kind) {
    case REDUCE:
        OK(CALL(reduce, s, v, n, t, op, c->root, comm));
        break;
    case ALLREDUCE:
        OK(CALL(allreduce, s, v, n, t, op, comm));
        break;
    case SCAN:
        OK(CALL(scan, s, v, n, t, op, comm));
        break;
    case EXSCAN:
        OK(CALL(exscan, s, v, n, t, op, comm));
        break;
    case REDUCE_SCATTER_BLOCK:
        OK(CALL(reduce_scatter_block, s, v, n, t, op, comm));
        break;
    default:
        OK(CALL(reduce_scatter, s, v, c->counts, t, op, comm));
        break;
    }
}

static void make_op(const struct icase *c, ctran_op_t *op)
{
    OK(ctran_op_create(c->ordered ? c->gaps ? compose_gaps : compose_dense : add_gaps, !c->ordered,
                       op));
}

static void make_type(const struct icase *c, ctran_datatype_t *t)
{
    OK(ctran_type_create_resized(CTRAN_LONG, 0, (c->gaps ? 2 : 1) * (ctran_aint_t)sizeof(long), t));
    OK(ctran_type_commit(t));
}

static void call(struct icase *c, enum how how, ctran_request_t *r)
{
    const bool       first = c->in_place && (!is_rooted(c) || c->me == c->root);
    const bool       scatters = c->kind == SCATTER || c->kind == SCATTERV;
    const void      *s = first && !scatters ? CTRAN_IN_PLACE : (const void *)c->send;
    void            *v = first && scatters ? (void *)CTRAN_IN_PLACE : c->recv;
    ctran_datatype_t t = CTRAN_LONG;
    ctran_op_t       op = CTRAN_SUM;
    const bool       derived = c->gaps;
    if (derived) {
        make_type(c, &t);
    }
    for (int i = 0; i < c->n; i++) {
        c->counts[i] = c->count;
        c->displs[i] = i * c->count;
        c->bytes[i] = c->displs[i] * (ctran_aint_t)sizeof(long) * (c->gaps ? 2 : 1);
        c->types[i] = t;
    }
    if (is_reduction(c)) {
        const bool own = c->ordered || derived;
        if (own) {
            make_op(c, &op);
        }
        call_reduction(c, how, s, v, t, op, r);
        if (own) {
            OK(ctran_op_free(&op));
        }
    } else {
        call_moves(c, how, s, v, t, r);
    }
    if (derived) {
        OK(ctran_type_free(&t));
    }
}

void icase_begin(struct icase *c, ctran_request_t *r)
{
    call(c, BEGIN, r);
}

void icase_init(struct icase *c, ctran_request_t *r)
{
    call(c, INIT, r);
}

void icase_do(struct icase *c)
{
    call(c, DO, NULL);
}

/* ---- results --------------------------------------------------------------------------------- */

/* How many elements of recv this rank gets, and from where on. */
static size_t result_elems(const struct icase *c, size_t *first)
{
    *first = 0;
    switch (c->kind) {
    case BARRIER:
        return 0;
    case REDUCE:
        return c->me == c->root ? (size_t)c->count : 0;
    case EXSCAN:
        return c->me > 0 ? (size_t)c->count : 0;
    case GATHER:
    case GATHERV:
        return c->me == c->root ? whole(c) : 0;
    case SCATTER:
    case SCATTERV:
        return c->in_place && c->me == c->root ? 0 : (size_t)c->count;
    case ALLGATHER:
    case ALLGATHERV:
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return whole(c);
    default:
        return (size_t)c->count;
    }
}

static long wanted(const struct icase *c, int turn, size_t i)
{
    const size_t count = c->count > 0 ? (size_t)c->count : 1;
    const size_t mine = (size_t)c->me * count;
    switch (c->kind) {
    case BCAST:
        return input(c, turn, c->root, i);
    case REDUCE:
    case ALLREDUCE:
        return reduced(c, turn, c->n, i);
    case SCAN:
        return reduced(c, turn, c->me + 1, i);
    case EXSCAN:
        return reduced(c, turn, c->me, i);
    case ALLGATHER:
    case ALLGATHERV:
    case GATHER:
    case GATHERV:
        return input(c, turn, (int)(i / count), i % count);
    case SCATTER:
    case SCATTERV:
        return input(c, turn, c->root, mine + i);
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return input(c, turn, (int)(i / count), mine + i % count);
    default:
        return reduced(c, turn, c->n, mine + i);
    }
}

void icase_check(struct icase *c, int turn)
{
    size_t       first;
    const size_t n = result_elems(c, &first);
    for (size_t i = 0; i < n; i++) {
        const long want = wanted(c, turn, i), found = c->recv[place(c, first + i)];
        if (want != found) {
            check_fail(__FILE__, __LINE__,
                       "kind %d, %d ranks, in place %d, gaps %d, ordered %d, root %d, count %lld: "
                       "element %zu is %ld, wanted %ld",
                       c->kind, c->n, c->in_place, c->gaps, c->ordered, c->root,
                       (long long)c->count, i, found, want);
        }
        if (c->gaps) {
            EXPECT_EQ(GAP, c->recv[2 * (first + i) + 1]);
        }
    }
}
