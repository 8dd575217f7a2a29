/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_coll - every collective, in place and not, with every mix of memory: each rank's buffers
 * are of kinds of their own. Run by device.c, and with each call as a request and as a persistent
 * one.
 */
#include "device.h"

enum { MOST = 64 }; /* ranks */

/* ---- blocks of one length -------------------------------------------------------------------- */

enum {
    BCAST,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    ALLGATHER,
    GATHER,
    SCATTER,
    ALLTOALL,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    WAYS
};

static void reduce_scatter(const struct operation *o, const void *send, void *recv)
{
    ctran_count_t counts[MOST];
    for (int r = 0; r < check_size; r++) {
        counts[r] = r % 3 == 1 ? 0 : o->count;
    }
    OK(ctran_reduce_scatter(send, recv, counts, o->type, o->op, o->comm));
}

static void run_coll(const struct operation *o, void *buf[BUFS])
{
    const bool  in_place = o->way >= WAYS, root = o->root == check_rank;
    const void *send = in_place ? CTRAN_IN_PLACE : buf[0];
    void       *recv = buf[1];
    switch (o->way % WAYS) {
    case BCAST:
        OK(ctran_bcast(recv, o->count, o->type, o->root, o->comm));
        break;
    case REDUCE:
        OK(ctran_reduce(in_place && !root ? recv : send, recv, o->count, o->type, o->op, o->root,
                        o->comm));
        break;
    case ALLREDUCE:
        OK(ctran_allreduce(send, recv, o->count, o->type, o->op, o->comm));
        break;
    case SCAN:
        OK(ctran_scan(send, recv, o->count, o->type, o->op, o->comm));
        break;
    case EXSCAN:
        OK(ctran_exscan(send, recv, o->count, o->type, o->op, o->comm));
        break;
    case ALLGATHER:
        OK(ctran_allgather(send, o->count, o->type, recv, o->count, o->type, o->comm));
        break;
    case GATHER:
        OK(ctran_gather(in_place && !root ? recv : send, o->count, o->type, recv, o->count, o->type,
                        o->root, o->comm));
        break;
    case SCATTER:
        OK(ctran_scatter(buf[0], o->count, o->type, in_place && root ? CTRAN_IN_PLACE : recv,
                         o->count, o->type, o->root, o->comm));
        break;
    case ALLTOALL:
        OK(ctran_alltoall(send, o->count, o->type, recv, o->count, o->type, o->comm));
        break;
    case REDUCE_SCATTER_BLOCK:
        OK(ctran_reduce_scatter_block(send, recv, o->count, o->type, o->op, o->comm));
        break;
    default:
        reduce_scatter(o, send, recv);
    }
}

static bool reduces(int way)
{
    const int w = way % WAYS;
    return (w >= REDUCE && w <= EXSCAN) || w >= REDUCE_SCATTER_BLOCK;
}

static void all_ways(ctran_count_t count, ctran_datatype_t type, ctran_op_t op, size_t elem)
{
    const size_t len = (size_t)count * elem * (size_t)check_size;
    for (int way = 0; way < 2 * WAYS; way++) {
        if (reduces(way) ? op != CTRAN_OP_NULL : true) {
            run_mixes(&(struct operation){.name = "a collective",
                                          .run = run_coll,
                                          .len = {len, len},
                                          .numbers = type == CTRAN_DOUBLE,
                                          .comm = CTRAN_COMM_WORLD,
                                          .count = count,
                                          .type = type,
                                          .op = op,
                                          .root = (int)(count % check_size),
                                          .way = way});
        }
    }
}

/* The sum of two 32-bit numbers each. */
static void add_pairs(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    const uint32_t *a = in;
    uint32_t       *b = inout;
    (void)type;
    for (ctran_count_t i = 0; i < 2 * *len; i++) {
        b[i] += a[i];
    }
}

void device_coll(void)
{
    static const ctran_count_t counts[] = {1, 100, 20000};
    ctran_datatype_t           spread, pair;
    ctran_op_t                 add;
    OK(ctran_type_vector(3, 1, 2, CTRAN_INT, &spread));
    OK(ctran_type_commit(&spread));
    OK(ctran_type_contiguous(2, CTRAN_UINT32_T, &pair));
    OK(ctran_type_commit(&pair));
    OK(ctran_op_create(add_pairs, 1, &add));
    for (size_t i = 0; i < LEN(counts); i++) {
        all_ways(counts[i], CTRAN_INT64_T, CTRAN_SUM, 8);
        all_ways(counts[i], spread, CTRAN_OP_NULL, 20);
        if (check_quick() && counts[i] > 10000) {
            continue; /* long blocks take nearly all of the time, in the same way */
        }
        all_ways(counts[i], CTRAN_DOUBLE, CTRAN_SUM, 8);
        all_ways(counts[i], CTRAN_2INT, CTRAN_MAXLOC, 8);
        all_ways(counts[i], pair, add, 8);
    }
    OK(ctran_op_free(&add));
    OK(ctran_type_free(&spread));
    OK(ctran_type_free(&pair));
}

/* ---- blocks with counts ---------------------------------------------------------------------- */

enum { ALLGATHERV, GATHERV, SCATTERV, ALLTOALLV, ALLTOALLW, WAYS_V };

/* What rank a has for rank b. */
static ctran_count_t count_for(const struct operation *o, int a, int b)
{
    return o->way % WAYS_V >= ALLTOALLV ? o->count * ((a + b) % 3) / 2 : o->count * (a % 3) / 2;
}

struct arrays {
    ctran_count_t    out[MOST], in[MOST], same[MOST];
    ctran_aint_t     at[MOST], bytes_at[MOST];
    ctran_datatype_t types[MOST];
};

static void fill_arrays(const struct operation *o, struct arrays *a)
{
    ctran_aint_t lb, extent;
    OK(ctran_type_get_extent(o->type, &lb, &extent));
    for (int r = 0; r < check_size; r++) {
        a->out[r] = count_for(o, check_rank, r);
        a->in[r] = count_for(o, r, check_rank);
        a->same[r] = count_for(o, r, 0);
        a->at[r] = (check_size - 1 - r) * (ctran_aint_t)o->count; /* backwards */
        a->bytes_at[r] = a->at[r] * extent;
        a->types[r] = o->type;
    }
}

static void run_counts(const struct operation *o, void *buf[BUFS])
{
    const bool          in_place = o->way >= WAYS_V, root = o->root == check_rank;
    const void         *send = in_place ? CTRAN_IN_PLACE : buf[0];
    const ctran_count_t own = count_for(o, check_rank, 0);
    struct arrays       a;
    fill_arrays(o, &a);
    switch (o->way % WAYS_V) {
    case ALLGATHERV:
        OK(ctran_allgatherv(send, own, o->type, buf[1], a.same, a.at, o->type, o->comm));
        break;
    case GATHERV:
        OK(ctran_gatherv(in_place && !root ? buf[0] : send, own, o->type, buf[1], a.same, a.at,
                         o->type, o->root, o->comm));
        break;
    case SCATTERV:
        OK(ctran_scatterv(buf[0], a.same, a.at, o->type, in_place && root ? CTRAN_IN_PLACE : buf[1],
                          own, o->type, o->root, o->comm));
        break;
    case ALLTOALLV:
        OK(ctran_alltoallv(send, a.out, a.at, o->type, buf[1], a.in, a.at, o->type, o->comm));
        break;
    default:
        OK(ctran_alltoallw(send, a.out, a.bytes_at, a.types, buf[1], a.in, a.bytes_at, a.types,
                           o->comm));
    }
}

void device_coll_counts(void)
{
    static const ctran_count_t counts[] = {2, 40, 20000};
    ctran_datatype_t           spread;
    OK(ctran_type_vector(2, 1, 3, CTRAN_INT, &spread));
    OK(ctran_type_commit(&spread));
    for (size_t i = 0; i < LEN(counts); i++) {
        const size_t len = (size_t)counts[i] * 16 * (size_t)check_size;
        for (int way = 0; way < 4 * WAYS_V; way++) {
            run_mixes(&(struct operation){.name = "a collective with counts",
                                          .run = run_counts,
                                          .len = {len, len},
                                          .comm = CTRAN_COMM_WORLD,
                                          .count = counts[i],
                                          .type = way < 2 * WAYS_V ? CTRAN_DOUBLE : spread,
                                          .root = check_size / 2,
                                          .way = way % (2 * WAYS_V)});
        }
    }
    OK(ctran_type_free(&spread));
}

/* ---- neighbours ------------------------------------------------------------------------------ */

static void run_neighbors(const struct operation *o, void *buf[BUFS])
{
    const ctran_count_t    counts[] = {o->count, o->count / 2}, back[] = {o->count / 2, o->count};
    const ctran_aint_t     at[] = {0, o->count}, bytes_at[] = {0, o->count * 8};
    const ctran_count_t    same[] = {o->count, o->count};
    const ctran_datatype_t types[] = {o->type, o->type};
    switch (o->way) {
    case 0:
        OK(ctran_neighbor_allgather(buf[0], o->count, o->type, buf[1], o->count, o->type, o->comm));
        break;
    case 1:
        OK(ctran_neighbor_allgatherv(buf[0], o->count, o->type, buf[1], same, at, o->type,
                                     o->comm));
        break;
    case 2:
        OK(ctran_neighbor_alltoall(buf[0], o->count, o->type, buf[1], o->count, o->type, o->comm));
        break;
    case 3: /* what goes down comes from above */
        OK(ctran_neighbor_alltoallv(buf[0], counts, at, o->type, buf[1], back, at, o->type,
                                    o->comm));
        break;
    default:
        OK(ctran_neighbor_alltoallw(buf[0], counts, bytes_at, types, buf[1], back, bytes_at, types,
                                    o->comm));
    }
}

void device_neighbors(void)
{
    static const ctran_count_t counts[] = {2, 300, 50000};
    const int                  dims[] = {check_size}, periods[] = {1};
    ctran_comm_t               ring;
    OK(ctran_cart_create(CTRAN_COMM_WORLD, 1, dims, periods, 0, &ring));
    for (size_t i = 0; i < LEN(counts); i++) {
        for (int way = 0; way < 5; way++) {
            run_mixes(&(struct operation){.name = "neighbours",
                                          .run = run_neighbors,
                                          .len = {(size_t)counts[i] * 16, (size_t)counts[i] * 16},
                                          .comm = ring,
                                          .count = counts[i],
                                          .type = CTRAN_DOUBLE,
                                          .way = way});
        }
    }
    OK(ctran_comm_free(&ring));
}

/* ---- inter-communicators --------------------------------------------------------------------- */

enum {
    I_ALLGATHER,
    I_ALLTOALL,
    I_ALLREDUCE,
    I_REDUCE_SCATTER,
    I_BCAST,
    I_REDUCE,
    I_GATHER,
    I_SCATTER,
    I_WAYS
};

static void run_inter(const struct operation *o, void *buf[BUFS])
{
    /* Rank 0 of the even ranks is the root. */
    const int root = check_rank == 0 ? CTRAN_ROOT : check_rank % 2 == 0 ? CTRAN_PROC_NULL : 0;
    switch (o->way) {
    case I_ALLGATHER:
        OK(ctran_allgather(buf[0], o->count, o->type, buf[1], o->count, o->type, o->comm));
        break;
    case I_ALLTOALL:
        OK(ctran_alltoall(buf[0], o->count, o->type, buf[1], o->count, o->type, o->comm));
        break;
    case I_ALLREDUCE:
        OK(ctran_allreduce(buf[0], buf[1], o->count, o->type, CTRAN_SUM, o->comm));
        break;
    case I_REDUCE_SCATTER:
        OK(ctran_reduce_scatter_block(buf[0], buf[1], o->count, o->type, CTRAN_SUM, o->comm));
        break;
    case I_BCAST:
        OK(ctran_bcast(buf[check_rank == 0 ? 0 : 1], o->count, o->type, root, o->comm));
        break;
    case I_REDUCE:
        OK(ctran_reduce(buf[0], buf[1], o->count, o->type, CTRAN_SUM, root, o->comm));
        break;
    case I_GATHER:
        OK(ctran_gather(buf[0], o->count, o->type, buf[1], o->count, o->type, root, o->comm));
        break;
    default:
        OK(ctran_scatter(buf[0], o->count, o->type, buf[1], o->count, o->type, root, o->comm));
    }
}

void device_inter(void)
{
    static const ctran_count_t counts[] = {1, 100, 20000};
    ctran_comm_t               half, both;
    if (check_size < 2) {
        return;
    }
    OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, 0, &half));
    OK(ctran_intercomm_create(half, 0, CTRAN_COMM_WORLD, 1 - check_rank % 2, 4, &both));
    for (size_t i = 0; i < LEN(counts); i++) {
        const size_t len = (size_t)counts[i] * 8 * (size_t)check_size;
        for (int way = 0; way < I_WAYS; way++) {
            if (way == I_REDUCE_SCATTER && check_size % 2 == 1) {
                continue; /* groups of different sizes have no blocks of the same length */
            }
            run_mixes(&(struct operation){.name = "a collective of two groups",
                                          .run = run_inter,
                                          .len = {len, len},
                                          .comm = both,
                                          .count = counts[i],
                                          .type = CTRAN_INT64_T,
                                          .way = way});
        }
    }
    OK(ctran_comm_free(&both));
    OK(ctran_comm_free(&half));
}
