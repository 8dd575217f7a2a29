/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA kernels, compiled for the host: every rank is a thread, workspaces and buffers are plain
 * memory (kernels.h). Hundreds of calls of all kinds in a row, which the
 * ranks run through each at its own pace, are held against what one loop over the ranks makes with
 * the host's operators.
 */
#include "dtype/dtype.h"
#include "kernels.h"

enum { CALLS = 150, GUARD = 64 };

enum what {
    BARRIER,
    ALLGATHER,
    ALLTOALL,
    BCAST,
    SHIFT,
    ALLREDUCE,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_V,
    SCAN,
    EXSCAN,
    DYNAMIC,
    WHATS
};

/* A call of all ranks, or of those in `members`. */
struct call {
    enum what                  what;
    struct ct_kernel_reduction red;
    const struct ct_op        *op;
    const struct ct_dtype     *type;
    struct ct_kernel_how       how;
    size_t                     count; /* elements; bytes of what is moved */
    ctran_count_t              counts[MOST_RANKS];
    int64_t                    matrix[MOST_RANKS][MOST_RANKS]; /* DYNAMIC: from, to */
    int64_t                    displs[MOST_RANKS][MOST_RANKS], got[MOST_RANKS][MOST_RANKS];
    bool                       packed;    /* DYNAMIC: received one after the other */
    bool                       direct;    /* by a kernel that works on the ranks' own buffers */
    bool                       halved;    /* long reductions: copies are the test's */
    bool                       passed_on; /* a broadcast, by peers */
    bool                       together;
    uint32_t                   root, members;
    uint32_t                   in_place; /* ranks that are; each decides for itself */
    size_t                     send_bytes, recv_bytes;
    char                      *send[MOST_RANKS], *recv[MOST_RANKS], *want[MOST_RANKS];
    char                      *to_free[MOST_RANKS][2];
};

static void *module;

/* Calls of flagged items, in the short form and in the general one; and by rows, some of which take
 * more items than the window holds. */
static _Atomic unsigned ran_short, ran_flagged, ran_ll32, ran_streams;

/* What the ranks do, one call after the other. */
struct run {
    struct world w;
    struct call *calls;
    size_t       ncalls;
    uint64_t     seed;
};

struct rank {
    struct run *run;
    uint32_t    me;
};

/* ---- the types and operators that there are -------------------------------------------------- */

static const ctran_datatype_t *all_types(size_t *n)
{
    static ctran_datatype_t types[] = {
        CTRAN_INT8_T,    CTRAN_UINT8_T,    CTRAN_INT16_T,         CTRAN_UINT16_T,
        CTRAN_INT32_T,   CTRAN_UINT32_T,   CTRAN_INT64_T,         CTRAN_UINT64_T,
        CTRAN_FLOAT16,   CTRAN_BFLOAT16,   CTRAN_FLOAT,           CTRAN_DOUBLE,
        CTRAN_C_BOOL,    CTRAN_BYTE,       CTRAN_C_FLOAT_COMPLEX, CTRAN_C_DOUBLE_COMPLEX,
        CTRAN_FLOAT_INT, CTRAN_DOUBLE_INT, CTRAN_SHORT_INT,       CTRAN_2INT,
        CTRAN_LONG_INT,
    };
    *n = CT_ARRAY_LEN(types);
    return types;
}

static const ctran_op_t *all_ops(size_t *n)
{
    static ctran_op_t ops[] = {
        CTRAN_SUM,  CTRAN_PROD, CTRAN_MIN,  CTRAN_MAX,  CTRAN_BAND,   CTRAN_BOR,
        CTRAN_BXOR, CTRAN_LOR,  CTRAN_LAND, CTRAN_LXOR, CTRAN_MINLOC, CTRAN_MAXLOC,
    };
    *n = CT_ARRAY_LEN(ops);
    return ops;
}

/* Numbers whose sums and products are often exact, now and then any bits but NaNs'. */
static void fill(uint64_t *seed, const struct ct_dtype *type, char *at, size_t count)
{
    const size_t n = count * (size_t)type->extent_bytes;
    for (size_t i = 0; i < n; i++) {
        at[i] = (char)unit_below(seed, 256);
    }
    for (size_t i = 0; i < count; i++) {
        char *const  e = at + i * (size_t)type->extent_bytes;
        const double v = (double)unit_below(seed, 2001) / 16 - 62;
        const float  f = (float)v;
        uint32_t     bits;
        memcpy(&bits, &f, sizeof bits);
        switch (type->scalar) {
        case CT_SCALAR_F16:
        case CT_SCALAR_BF16: { /* not 0x7c.. and up, so neither NaN nor infinity */
            const uint16_t h = (uint16_t)(unit_below(seed, 0x8000) + 0x1000);
            memcpy(e, &(uint16_t){(uint16_t)(h & 0xbbff)}, 2);
            break;
        }
        case CT_SCALAR_F32:
        case CT_SCALAR_F32_INT:
            memcpy(e, &f, sizeof f);
            break;
        case CT_SCALAR_CF32:
            memcpy(e, &f, sizeof f);
            memcpy(e + 4, &(float){(float)unit_below(seed, 99) / 7}, sizeof f);
            break;
        case CT_SCALAR_F64:
        case CT_SCALAR_F64_INT:
            memcpy(e, &v, sizeof v);
            break;
        case CT_SCALAR_CF64:
            memcpy(e, &v, sizeof v);
            memcpy(e + 8, &(double){unit_below(seed, 99) / 7.0}, sizeof v);
            break;
        default:
            break;
        }
    }
}

/* Equal in all data: a pair's gaps are none. */
static bool same(const struct ct_dtype *type, char *a, char *b, size_t count)
{
    const size_t   n = count * type->size_bytes;
    char *const    flat = malloc(2 * n + 1);
    struct ct_area left = ct_dtype_area(type, a, count), right = ct_dtype_area(type, b, count);
    size_t         from = 0, of = 0;
    (void)ct_area_gather(&left, &from, flat, n);
    (void)ct_area_gather(&right, &of, flat + n, n);
    const bool equal = memcmp(flat, flat + n, n) == 0;
    free(flat);
    return equal;
}

/* ---- what a call is to make ------------------------------------------------------------------ */

static bool takes_part(const struct call *c, uint32_t rank)
{
    return (c->members >> rank & 1) != 0;
}

/* The next member after `rank`, around. */
static uint32_t next_member(const struct call *c, uint32_t size, uint32_t rank)
{
    do {
        rank = (rank + 1) % size;
    } while (!takes_part(c, rank));
    return rank;
}

/* `elems` elements from element `at` on of the first `n` ranks, combined in order. */
static void combine(const struct call *c, char *const send[], uint32_t n, size_t at, size_t elems,
                    char *out)
{
    const size_t size = (size_t)c->type->extent_bytes;
    memcpy(out, send[0] + at * size, elems * size);
    for (uint32_t p = 1; p < n; p++) {
        ct_op_kernel(c->op, c->type)(out, out, send[p] + at * size, elems);
    }
}

static void want_moves(struct call *c, uint32_t size, uint32_t me, char *const send[])
{
    const size_t n = c->count;
    for (uint32_t p = 0; p < size; p++) {
        if (c->what == ALLGATHER) {
            memcpy(c->want[me] + p * n, send[p], n);
        } else if (c->what == ALLTOALL) {
            memcpy(c->want[me] + p * n, send[p] + me * n, n);
        } else if (c->what == SHIFT && takes_part(c, p) && next_member(c, size, p) == me) {
            memcpy(c->want[me], send[p], n);
        } else if (c->what == DYNAMIC) {
            memcpy(c->want[me] + c->displs[me][p] * 4, send[p] + (size_t)me * n * 4,
                   (size_t)c->matrix[p][me] * 4);
        }
    }
    if (c->what == BCAST) {
        memcpy(c->want[me], send[c->root], n);
    }
}

static void want_reduced(struct call *c, uint32_t size, uint32_t me, char *const send[])
{
    size_t at = 0;
    switch (c->what) {
    case ALLREDUCE:
        combine(c, send, size, 0, c->count, c->want[me]);
        break;
    case REDUCE:
        if (me == c->root) {
            combine(c, send, size, 0, c->count, c->want[me]);
        }
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_V:
        for (uint32_t p = 0; p < me; p++) {
            at += (size_t)c->counts[p];
        }
        combine(c, send, size, at, (size_t)c->counts[me], c->want[me]);
        break;
    case SCAN:
        combine(c, send, me + 1, 0, c->count, c->want[me]);
        break;
    case EXSCAN:
        if (me > 0) {
            combine(c, send, me, 0, c->count, c->want[me]);
        }
        break;
    default:
        break;
    }
}

/* ---- making calls ---------------------------------------------------------------------------- */

static bool reduces(enum what what)
{
    return what >= ALLREDUCE && what <= EXSCAN;
}

static void choose_operator(struct call *c, uint64_t *seed)
{
    size_t                  ntypes, nops;
    const ctran_datatype_t *types = all_types(&ntypes);
    const ctran_op_t       *ops = all_ops(&nops);
    for (;;) {
        const ctran_op_t op = ops[unit_below(seed, (uint32_t)nops)];
        c->type = ct_dtype_get(types[unit_below(seed, (uint32_t)ntypes)]);
        c->op = ct_op_get(op);
        if (ct_kernel_reduction_of(op, c->type, &c->red)) {
            return;
        }
    }
}

static void choose_counts(struct call *c, uint32_t size, uint64_t *seed)
{
    static const uint32_t most[] = {3, 40, 700, 6000, 40000};
    const uint32_t        limit = most[unit_below(seed, CT_ARRAY_LEN(most))];
    size_t                sum = 0;
    c->count = unit_below(seed, c->what == BCAST ? 8 * limit : limit); /* of several pieces */
    for (uint32_t p = 0; p < size; p++) {
        c->counts[p] =
            c->what == REDUCE_SCATTER ? (ctran_count_t)c->count : unit_below(seed, limit);
        sum += (size_t)c->counts[p];
        c->packed = unit_below(seed, 2) == 0;
        for (uint32_t q = 0; q < size && c->what == DYNAMIC; q++) {
            c->matrix[p][q] =
                unit_below(seed, 4) == 0 ? 0 : unit_below(seed, (uint32_t)c->count + 1);
        }
    }
    const size_t elem = reduces(c->what) ? (size_t)c->type->extent_bytes : 1;
    c->send_bytes = c->recv_bytes = c->count * elem;
    switch (c->what) {
    case ALLGATHER:
        c->recv_bytes *= size;
        break;
    case ALLTOALL:
        c->send_bytes = c->recv_bytes = c->count * size;
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_V:
        c->send_bytes = c->recv_bytes = sum * elem;
        break;
    case DYNAMIC:
        c->send_bytes = c->recv_bytes = c->count * size * 4;
        break;
    default:
        break;
    }
}

/* Where each rank's peers' data go: packed, or a block of `count` each. */
static void place_dynamic(struct call *c, uint32_t size)
{
    for (uint32_t me = 0; me < size; me++) {
        int64_t at = 0;
        for (uint32_t p = 0; p < size; p++) {
            c->displs[me][p] = c->packed ? at : (int64_t)(p * c->count);
            at += c->matrix[p][me];
        }
    }
}

static char *buffer(struct call *c, uint32_t me, unsigned which, size_t bytes, size_t shift)
{
    char *const all = aligned_alloc(64, (bytes + 3 * GUARD) / 64 * 64 + 64);
    assert_non_null(all);
    memset(all, 0x5a, bytes + 2 * GUARD);
    c->to_free[me][which] = all;
    return all + GUARD + shift;
}

static void make_buffers(struct run *run, struct call *c)
{
    const uint32_t size = run->w.size;
    char          *sent[MOST_RANKS];
    const size_t   align = reduces(c->what) ? c->type->align_bytes : 1;
    for (uint32_t p = 0; p < size; p++) {
        const size_t shift =
            unit_below(&run->seed, 2) * unit_below(&run->seed, (uint32_t)(16 / align)) * align;
        const size_t most = c->send_bytes > c->recv_bytes ? c->send_bytes : c->recv_bytes;
        c->recv[p] = buffer(c, p, 0, most, shift);
        const bool in_place = (c->in_place >> p & 1) != 0;
        c->send[p] = in_place ? c->recv[p] : buffer(c, p, 1, c->send_bytes, shift);
        if (in_place && c->what == ALLGATHER) {
            c->send[p] += p * c->count;
        }
        c->want[p] = malloc(most + 1);
        sent[p] = malloc(c->send_bytes + 1);
        assert_non_null(c->want[p]);
        assert_non_null(sent[p]);
        if (reduces(c->what)) {
            const size_t elem = (size_t)c->type->extent_bytes;
            fill(&run->seed, c->type, c->send[p], c->send_bytes / elem);
        } else {
            fill(&run->seed, ct_dtype_get(CTRAN_BYTE), c->send[p], c->send_bytes);
        }
        memcpy(sent[p], c->send[p], c->send_bytes);
    }
    for (uint32_t p = 0; p < size; p++) {
        memcpy(c->want[p], c->recv[p], c->recv_bytes);
        if (reduces(c->what)) {
            want_reduced(c, size, p, sent);
        } else if (takes_part(c, p)) {
            want_moves(c, size, p, sent);
        }
    }
    for (uint32_t p = 0; p < size; p++) {
        free(sent[p]);
    }
}

static bool may_be_direct(const struct call *c)
{
    const bool apart = c->what == ALLTOALL || c->what == REDUCE_SCATTER;
    return ((c->what >= ALLGATHER && c->what <= ALLREDUCE) || c->what == REDUCE_SCATTER) &&
           (!apart || c->in_place == 0);
}

static void make_call(struct run *run, struct call *c)
{
    uint64_t *const seed = &run->seed;
    const uint32_t  size = run->w.size;
    memset(c, 0, sizeof *c);
    c->what = (enum what)unit_below(seed, WHATS);
    c->how.form = (enum ct_kernel_form)unit_below(seed, CT_KERNEL_AS_LL32 + 1);
    c->how.blocks = unit_below(seed, 4);
    c->root = unit_below(seed, size);
    c->members = (1u << size) - 1;
    if (c->what == BCAST) {
        c->in_place = c->members;
    } else if (unit_below(seed, 3) == 0 && c->what != SHIFT && c->what != DYNAMIC) {
        c->in_place = unit_below(seed, 2) == 0 ? c->members : unit_below(seed, c->members);
    }
    if (c->what == SHIFT && unit_below(seed, 2) == 0) {
        c->members &= (uint32_t)unit_random(seed);
    }
    if (c->members == 0) {
        c->members = 3;
    }
    if (reduces(c->what)) {
        choose_operator(c, seed);
    }
    choose_counts(c, size, seed);
    place_dynamic(c, size);
    c->direct = may_be_direct(c) && unit_below(seed, 2) == 0;
    c->halved = c->direct && (c->what == ALLREDUCE || (c->what == REDUCE_SCATTER && size > 2)) &&
                unit_below(seed, 2) == 0;
    c->together = unit_below(seed, 2) == 0;
    c->passed_on = c->what == BCAST && size > 2 && unit_below(seed, 3) > 0;
    make_buffers(run, c);
}

/* ---- running them ---------------------------------------------------------------------------- */

static void build_shift(struct world *w, struct call *c, uint32_t me, struct ct_kernel_call *k)
{
    struct ct_kernel_move moves[MOST_RANKS];
    uint32_t              to = next_member(c, w->size, me), from = me;
    memset(moves, 0, sizeof moves);
    while (next_member(c, w->size, from) != me) {
        from = next_member(c, w->size, from);
    }
    moves[to].src = c->send[me];
    moves[to].send_bytes = c->count;
    moves[from].dst = c->recv[me];
    moves[from].recv_bytes = c->count;
    ct_kernel_moves(k, &w->comm[me],
                    (struct ct_kernel_how){c->how.blocks, c->how.form, &w->rows[me]}, moves,
                    1u << to, 1u << from, c->count);
}

static void build_dynamic(struct world *w, struct call *c, uint32_t me, struct ct_kernel_call *k,
                          int64_t *send_displs)
{
    for (uint32_t p = 0; p < w->size; p++) {
        send_displs[p] = (int64_t)(p * c->count);
    }
    const struct ct_kernel_dynamic d = {
        .send = c->send[me],
        .recv = c->recv[me],
        .elem_bytes = 4,
        .send_bytes = c->send_bytes,
        .recv_bytes = c->recv_bytes,
        .send_counts = c->matrix[me],
        .send_displs = send_displs,
        .recv_counts = c->got[me],
        .recv_displs = c->packed ? NULL : c->displs[me],
    };
    ct_kernel_alltoallv_dynamic(k, &w->comm[me], c->how.blocks, &d);
}

/* What `from` sends to `to`; false: nothing. */
static bool message(const struct world *w, const struct call *c, uint32_t from, uint32_t to,
                    struct ct_kernel_reach *m)
{
    const size_t n = c->count;
    *m = (struct ct_kernel_reach){c->send[from], c->recv[to], n};
    switch (c->what) {
    case ALLGATHER:
        m->dst = c->recv[to] + from * n;
        return true;
    case ALLTOALL:
        m->src = c->send[from] + to * n;
        m->dst = c->recv[to] + from * n;
        return true;
    case BCAST:
        m->src = c->recv[from];
        return from == c->root && to != from;
    default:
        return from != to && takes_part(c, from) && next_member(c, w->size, from) == to;
    }
}

static void build_direct_moves(struct world *w, struct call *c, uint32_t me,
                               struct ct_kernel_call *k)
{
    struct ct_kernel_reach moves[MOST_RANKS] = {{NULL, NULL, 0}}, other;
    uint32_t               open = 0, use = 0;
    for (uint32_t p = 0; p < w->size; p++) {
        if (p == me) {
            const bool own = message(w, c, me, me, &moves[me]) && moves[me].src != moves[me].dst;
            moves[me].bytes = own ? moves[me].bytes : 0;
        } else {
            use |= (uint32_t)message(w, c, me, p, &moves[p]) << p;
            open |= (uint32_t)message(w, c, p, me, &other) << p;
        }
    }
    ct_kernel_direct_move(k, &w->comm[me], c->how.blocks, moves, open, use, c->together);
}

static void build_direct(struct world *w, struct call *c, uint32_t me, struct ct_kernel_call *k)
{
    struct ct_kernel_reach ranks[MOST_RANKS];
    for (uint32_t p = 0; p < w->size; p++) {
        ranks[p] = (struct ct_kernel_reach){c->send[p], c->recv[p], 0};
    }
    if (c->what == ALLREDUCE) {
        ct_kernel_direct_allreduce(k, &w->comm[me], c->how.blocks, &c->red, ranks, c->count,
                                   !c->halved);
    } else if (c->what == REDUCE_SCATTER) {
        ct_kernel_direct_reduce_scatter(k, &w->comm[me], c->how.blocks, &c->red, ranks, c->count,
                                        c->halved);
    } else if (c->passed_on) {
        void *bufs[MOST_RANKS];
        for (uint32_t p = 0; p < w->size; p++) {
            bufs[p] = c->recv[p];
        }
        ct_kernel_direct_bcast(k, &w->comm[me], c->how.blocks, bufs, c->count, c->root);
    } else {
        build_direct_moves(w, c, me, k);
    }
}

static void build(struct world *w, struct call *c, uint32_t me, struct ct_kernel_call *k)
{
    const struct ct_kernel_comm *comm = &w->comm[me];
    const struct ct_kernel_how   how = {c->how.blocks, c->how.form, &w->rows[me]};
    void *const send = c->send[me], *const recv = c->recv[me];
    switch (c->what) {
    case BARRIER:
        ct_kernel_barrier(k, comm);
        break;
    case ALLGATHER:
        ct_kernel_allgather(k, comm, how, send, recv, c->count);
        break;
    case ALLTOALL:
        ct_kernel_alltoall(k, comm, how, send, recv, c->count);
        break;
    case BCAST:
        ct_kernel_bcast(k, comm, how, recv, c->count, c->root);
        break;
    case ALLREDUCE:
        ct_kernel_allreduce(k, comm, how, &c->red, send, recv, c->count);
        break;
    case REDUCE:
        ct_kernel_reduce(k, comm, how, &c->red, send, recv, c->count, c->root);
        break;
    case REDUCE_SCATTER:
        ct_kernel_reduce_scatter(k, comm, how, &c->red, send, recv, c->count, NULL);
        break;
    case REDUCE_SCATTER_V:
        ct_kernel_reduce_scatter(k, comm, how, &c->red, send, recv, 0, c->counts);
        break;
    case SCAN:
    case EXSCAN:
        ct_kernel_scan(k, comm, how, &c->red, send, recv, c->count, c->what == EXSCAN);
        break;
    default:
        break;
    }
}

static void count_form(const struct ct_kernel_call *k)
{
    char name[CT_KERNEL_NAME];
    assert_true(ct_kernel_name(k->kernel, name));
    ran_short += strstr(name, "_short") != NULL && strstr(name, "_short_int") == NULL;
    ran_flagged += strstr(name, "_flagged") != NULL;
    ran_ll32 += strstr(name, "_ll32") != NULL;
    ran_streams += strstr(name, "_ll32") != NULL && k->brief.steps > CT_KERNEL_WINDOW;
}

static void *run_rank(void *arg)
{
    const struct rank *r = arg;
    struct world      *w = &r->run->w;
    for (size_t i = 0; i < r->run->ncalls; i++) {
        struct call          *c = &r->run->calls[i];
        struct ct_kernel_call k;
        int64_t               displs[MOST_RANKS];
        if (!takes_part(c, r->me)) {
            continue;
        }
        if (c->what == SHIFT && next_member(c, w->size, r->me) == r->me) {
            memcpy(c->recv[r->me], c->send[r->me], c->count); /* alone */
            continue;
        }
        if (c->direct) {
            build_direct(w, c, r->me, &k);
        } else if (c->what == SHIFT) {
            build_shift(w, c, r->me, &k);
        } else if (c->what == DYNAMIC) {
            build_dynamic(w, c, r->me, &k, displs);
        } else {
            build(w, c, r->me, &k);
        }
        count_form(&k);
        run_kernel(w, &k);
    }
    return NULL;
}

static void run_all(struct run *run)
{
    pthread_t   threads[MOST_RANKS];
    struct rank ranks[MOST_RANKS];
    for (uint32_t p = 0; p < run->w.size; p++) {
        ranks[p] = (struct rank){run, p};
        assert_int_equal(pthread_create(&threads[p], NULL, run_rank, &ranks[p]), 0);
    }
    for (uint32_t p = 0; p < run->w.size; p++) {
        assert_int_equal(pthread_join(threads[p], NULL), 0);
    }
}

static void check_call(struct world *w, struct call *c, size_t number)
{
    const struct ct_dtype *type = reduces(c->what) ? c->type : ct_dtype_get(CTRAN_BYTE);
    for (uint32_t p = 0; p < w->size; p++) {
        size_t     count = c->recv_bytes / (size_t)type->extent_bytes;
        const bool in_place = (c->in_place >> p & 1) != 0;
        if (in_place && (c->what == REDUCE_SCATTER || c->what == REDUCE_SCATTER_V)) {
            count = (size_t)c->counts[p]; /* what lies behind is as it may */
        }
        if (!same(type, c->recv[p], c->want[p], count)) {
            fail_msg(
                "call %zu, what %d, %s %s, count %zu, %s, form %u, blocks %u, %s: rank %u of %u "
                "has another result",
                number, c->what, type->name, reduces(c->what) ? c->op->name : "", c->count,
                c->direct ? "direct" : "by slots", c->how.form, c->how.blocks,
                in_place ? "in place" : "apart", p, w->size);
        }
        for (uint32_t q = 0; q < w->size && c->what == DYNAMIC; q++) {
            assert_int_equal(c->got[p][q], c->matrix[q][p]);
        }
        free(c->to_free[p][0]);
        free(c->to_free[p][1]);
        free(c->want[p]);
    }
}

/* What copy engines do in front of the kernels and behind them. */
static void give(const struct world *w, const struct call *c)
{
    const size_t bytes = c->count * c->red.elem_bytes;
    for (uint32_t p = 0; p < w->size; p++) {
        memcpy(c->recv[p], c->send[(p + w->size - 1) % w->size] + p * bytes, bytes);
    }
}

static void hand_out(const struct world *w, const struct call *c)
{
    const size_t bytes = c->count * c->red.elem_bytes;
    const size_t part = ct_kernel_direct_part(w->size, bytes);
    for (uint32_t p = 0; p < w->size * w->size; p++) {
        const uint32_t from = p / w->size, to = p % w->size;
        const size_t   at = ct_min_size(from * part, bytes);
        if (from != to) {
            memcpy(c->recv[to] + at, c->recv[from] + at, ct_min_size(part, bytes - at));
        }
    }
}

static void many_calls(uint32_t size, uint32_t channels, size_t bytes, uint32_t first_item)
{
    struct run run = {.ncalls = CALLS, .seed = 88172645463325252u + size};
    world_init(&run.w, module, size, channels, bytes, first_item);
    run.calls = malloc(CALLS * sizeof *run.calls);
    assert_non_null(run.calls);
    for (size_t i = 0; i < run.ncalls; i++) {
        make_call(&run, &run.calls[i]);
        if (run.calls[i].halved && run.calls[i].what == REDUCE_SCATTER) {
            give(&run.w, &run.calls[i]);
        }
    }
    run_all(&run);
    for (size_t i = 0; i < run.ncalls; i++) {
        if (run.calls[i].halved && run.calls[i].what == ALLREDUCE) {
            hand_out(&run.w, &run.calls[i]);
        }
        check_call(&run.w, &run.calls[i], i);
    }
    free(run.calls);
    world_fini(&run.w);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void every_call(void **state)
{
    (void)state;
    for (uint32_t size = 2; size <= MOST_RANKS; size++) {
        many_calls(size, 4, 4 << 20, 0);
    }
    assert_true(ran_short > 1000); /* ranks choose by themselves, so pairs mix the two */
    assert_true(ran_flagged > 700);
    assert_true(ran_ll32 > 80);
}

/* Slots of the least size: many steps each. */
static void small_workspace(void **state)
{
    (void)state;
    many_calls(2, 2, 128 << 10, 0);
    many_calls(3, 1, 128 << 10, 0);
    many_calls(4, 3, 512 << 10, 0);
    many_calls(5, 3, 512 << 10, 0);
    assert_true(ran_streams > 20);
}

/* The numbers of items wrap, and old flags are wiped. */
static void numbers_wrap(void **state)
{
    (void)state;
    many_calls(3, 2, 512 << 10, UINT32_MAX - 40);
    many_calls(4, 2, 512 << 10, (1u << 28) - 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call),
        cmocka_unit_test(small_workspace),
        cmocka_unit_test(numbers_wrap),
    };
    module = world_module();
    return module == NULL ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
