/* SPDX-License-Identifier: BSD-3-Clause */
/* One collective call; see ranks_call.h. */
#define CT_FOLDER "unit"
#include "ranks_call.h"

/* ---- elements -------------------------------------------------------------------------------- */

/* x -> a x + b modulo 2^32; the operator is composition, which does not commute. */
struct affine {
    uint32_t a, b;
};

static void compose(void *dst, const void *left, const void *right, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct affine l, r, out;
        memcpy(&l, (const struct affine *)left + i, sizeof l);
        memcpy(&r, (const struct affine *)right + i, sizeof r);
        out.a = l.a * r.a;
        out.b = l.a * r.b + l.b;
        memcpy((struct affine *)dst + i, &out, sizeof out);
    }
}

const struct ct_op call_composition = {
    .magic = CT_OP_MAGIC,
    .name = "composition",
    .commutative = false,
    .fn = {[CT_SCALAR_U64] = compose},
};

/* Eight bytes, read as a number or as a map. */
uint64_t call_input(uint32_t rank, size_t i)
{
    uint64_t seed = (rank + 1) * UINT64_C(1000003) + i * 77 + 5;
    return unit_random(&seed);
}

uint64_t call_combined(const struct ct_op *op, const struct ct_dtype *type, uint32_t n, size_t i)
{
    uint64_t sum = call_input(0, i);
    for (uint32_t k = 1; k < n; k++) {
        uint64_t more = call_input(k, i);
        ct_op_kernel(op, type)(&sum, &sum, &more, 1);
    }
    return sum;
}

/* ---- where things are ------------------------------------------------------------------------ */

/* Whether in place means this rank: of some collectives the root alone. */
static bool may_be_in_place(uint32_t me, const struct call *c)
{
    const uint32_t at_root = CT_REDUCE | CT_GATHER | CT_SCATTER;
    return c->inplace && ((c->coll & at_root) == 0 || me == c->root);
}

/* Whether this rank's input lies in recv. */
static bool input_there(const struct rank *r, const struct call *c)
{
    return c->coll == CT_BCAST || (may_be_in_place(r->me, c) && c->coll != CT_SCATTER);
}

/* Elements that this rank puts in. */
static size_t sent(const struct rank *r, const struct call *c)
{
    switch (c->coll) {
    case CT_REDUCE_SCATTER:
    case CT_ALLTOALL:
        return c->count * r->n;
    case CT_SCATTER:
        return r->me == c->root ? c->count * r->n : 0;
    case CT_BCAST:
        return r->me == c->root ? c->count : 0;
    default:
        return c->count;
    }
}

static size_t received(const struct rank *r, const struct call *c)
{
    switch (c->coll) {
    case CT_BARRIER:
        return 0;
    case CT_ALLGATHER:
    case CT_ALLTOALL:
        return c->count * r->n;
    case CT_GATHER:
        return r->me == c->root ? c->count * r->n : 0;
    case CT_SCATTER:
        return may_be_in_place(r->me, c) ? 0 : c->count;
    case CT_REDUCE:
        return r->me == c->root ? c->count : 0;
    case CT_EXSCAN:
        return r->me > 0 ? c->count : 0;
    default:
        return c->count;
    }
}

/* ---- one call -------------------------------------------------------------------------------- */

void call_prepare(const struct rank *r, const struct call *c, struct buffers *b)
{
    memset(b, 0x5a, sizeof *b);
    uint64_t *to = input_there(r, c) ? b->recv : b->send;
    if (to == b->recv && (c->coll & (CT_ALLGATHER | CT_GATHER)) != 0) {
        to += r->me * c->count;
    }
    for (size_t i = 0; i < sent(r, c); i++) {
        to[i] = call_input(r->me, i);
    }
}

static int describe_sum(struct ct_coll *coll, const struct call *c, const void *send, void *recv)
{
    switch (c->coll) {
    case CT_REDUCE:
        ct_coll_reduce(coll, send, recv, c->count, c->type, c->op, c->root);
        return CTRAN_SUCCESS;
    case CT_ALLREDUCE:
        ct_coll_allreduce(coll, send, recv, c->count, c->type, c->op);
        return CTRAN_SUCCESS;
    case CT_REDUCE_SCATTER:
        return ct_coll_reduce_scatter_block(coll, send, recv, c->count, c->type, c->op);
    default:
        ct_coll_scan(coll, send, recv, c->count, c->type, c->op, c->coll == CT_EXSCAN);
        return CTRAN_SUCCESS;
    }
}

static int describe_move(struct ct_coll *coll, const struct call *c, const void *send, void *recv)
{
    const size_t bytes = c->count * sizeof(uint64_t);
    switch (c->coll) {
    case CT_BARRIER:
        ct_coll_barrier(coll);
        break;
    case CT_BCAST:
        ct_coll_bcast(coll, recv, bytes, c->root);
        break;
    case CT_ALLGATHER:
        ct_coll_allgather(coll, send, recv, bytes);
        break;
    case CT_GATHER:
        ct_coll_gather(coll, send, recv, bytes, c->root);
        break;
    case CT_SCATTER:
        ct_coll_scatter(coll, send, recv, bytes, c->root);
        break;
    default:
        return ct_coll_alltoall(coll, send, recv, bytes);
    }
    return CTRAN_SUCCESS;
}

int call_perform(struct ct_comm *comm, const struct call *c, struct buffers *b)
{
    const bool     here = may_be_in_place(comm->run.me, c);
    const void    *send = here && c->coll != CT_SCATTER ? CTRAN_IN_PLACE : b->send;
    void          *recv = here && c->coll == CT_SCATTER ? CTRAN_IN_PLACE : b->recv;
    struct ct_coll coll;
    ct_coll_init(&coll, comm, NULL);
    int rc = (c->coll & CT_SUMS) != 0 ? describe_sum(&coll, c, send, recv)
                                      : describe_move(&coll, c, send, recv);
    return rc == CTRAN_SUCCESS ? ct_coll_run(&coll) : rc;
}

/* Element i of what this rank should have received. */
static uint64_t expected(const struct rank *r, const struct call *c, size_t i)
{
    const size_t mine = r->me * c->count;
    switch (c->coll) {
    case CT_BCAST:
        return call_input(c->root, i);
    case CT_ALLGATHER:
    case CT_GATHER:
        return call_input((uint32_t)(i / c->count), i % c->count);
    case CT_SCATTER:
        return call_input(c->root, mine + i);
    case CT_ALLTOALL:
        return call_input((uint32_t)(i / c->count), mine + i % c->count);
    case CT_REDUCE_SCATTER:
        return call_combined(c->op, c->type, r->n, mine + i);
    case CT_SCAN:
        return call_combined(c->op, c->type, r->me + 1, i);
    case CT_EXSCAN:
        return call_combined(c->op, c->type, r->me, i);
    default:
        return call_combined(c->op, c->type, r->n, i);
    }
}

void call_verify(const struct rank *r, const struct call *c, const struct buffers *b)
{
    const size_t got = received(r, c), mine = sent(r, c);
    const bool   there = input_there(r, c);
    for (size_t i = 0; i < got; i++) {
        RANK_EQUAL(r, b->recv[i], expected(r, c, i));
    }
    /* In place, reduce_scatter may use all of its input's memory; exscan leaves rank 0's alone. */
    const size_t end = there ? ct_max_size(got, mine) : got;
    for (size_t i = 0; i < GUARD; i++) {
        RANK_EQUAL(r, b->recv[end + i], UINT64_C(0x5a5a5a5a5a5a5a5a));
        RANK_EQUAL(r, b->send[(there ? 0 : mine) + i], UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
    const uint64_t *input = !there ? b->send : c->coll == CT_EXSCAN && r->me == 0 ? b->recv : NULL;
    for (size_t i = 0; i < mine && input != NULL; i++) {
        RANK_EQUAL(r, input[i], call_input(r->me, i)); /* is only read */
    }
}

/* ---- by an algorithm ------------------------------------------------------------------------- */

void call_force(struct rank *r, const struct ct_algo *algo, uint32_t radix)
{
    char text[128];
    snprintf(text, sizeof text, radix == CT_RADIX_DEFAULT ? "%s:%s" : "%s:%s:%u",
             ct_algo_coll_name(algo->colls), algo->name, radix);
    RANK_EQUAL(r, ct_config_set(&r->p.cfg, &r->p.log, "CTRAN_COLL_ALGORITHM", text, CT_ORIGIN_SET),
               CTRAN_SUCCESS);
    struct ct_comm *world = ct_comm_world(&r->p);
    ct_chooser_drop(&r->p, world->chooser);
    world->chooser = NULL;
    RANK_EQUAL(r, ct_policy_init(&r->p), CTRAN_SUCCESS);
}

/* The world's next call of this kind would run it. */
static void expect_chosen(struct rank *r, const struct ct_algo *algo, const struct call *c)
{
    struct ct_run_args     args = {.layout = {.count = 0}};
    const struct ct_select what = {
        .coll = c->coll, .bytes = c->count * 8, .ordered = !c->op->commutative, .root = c->root};
    int                      rc;
    const struct ct_chooser *chooser = ct_coll_chooser(ct_comm_world(&r->p), &rc);
    RANK_EQUAL(r, rc, CTRAN_SUCCESS);
    RANK_EQUAL(r, ct_coll_choose(&r->p, chooser, &what, &args), CTRAN_SUCCESS);
    RANK_CHECK(r, args.algo == algo);
    RANK_EQUAL(r, args.env.radix, c->radix);
}

bool call_by(struct rank *r, const struct ct_algo *algo, const struct call *c)
{
    static _Thread_local struct buffers b;

    struct ct_comm *world = ct_comm_world(&r->p);
    RANK_EQUAL(r, ct_coll_levels(world, NULL), CTRAN_SUCCESS);
    const struct ct_env env = {.n = r->n,
                               .me = r->me,
                               .root = c->root,
                               .radix = c->radix,
                               .ordered = !c->op->commutative,
                               .levels = world->run.levels};
    if (!algo->fits(&env)) {
        return false;
    }
    expect_chosen(r, algo, c);
    call_prepare(r, c, &b);
    RANK_EQUAL(r, call_perform(world, c, &b), CTRAN_SUCCESS);
    call_verify(r, c, &b);
    return true;
}
