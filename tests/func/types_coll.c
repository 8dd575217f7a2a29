/* SPDX-License-Identifier: BSD-3-Clause */
/* Derived datatypes in collectives: each rank's buffers have layouts of their own. */
#include "types.h"

/* One collective with blocks of `count` elements of one signature. */
struct blocks {
    struct tm_type  *model[2]; /* of what is sent and received */
    ctran_datatype_t type[2];
    size_t           size, count; /* bytes of an element; elements of a block */
    unsigned char   *all;         /* block (from, to) at (from * n + to) */
};

static void blocks_make(struct blocks *b, uint64_t *rng)
{
    uint64_t mine = rng_next(rng) + (uint64_t)check_rank * 77;
    size_t   n = (size_t)check_size, most = n * 3;
    b->model[0] = types_random(rng, most);               /* all ranks know the signature, */
    b->model[1] = types_other(&b->model[0]->map, &mine); /* each has its layout */
    b->size = tm_size(&b->model[0]->map);
    b->count = (size_t)rng_below(rng, 4);
    for (int i = 0; i < 2; i++) {
        b->type[i] = types_real(b->model[i]);
        OK(ctran_type_commit(&b->type[i]));
    }
    b->all = types_flat(b->size * b->count * n * n, rng_next(rng));
}

static void blocks_free(struct blocks *b)
{
    for (int i = 0; i < 2; i++) {
        if (b->model[i]->combiner != CTRAN_COMBINER_NAMED) {
            OK(ctran_type_free(&b->type[i]));
        }
        tm_free(b->model[i]);
    }
    free(b->all);
}

static unsigned char *block_at(const struct blocks *b, int from, int to)
{
    return b->all + (size_t)(from * check_size + to) * b->size * b->count;
}

/* A buffer for `blocks` blocks of this side, filled with flat unless that is NULL. */
static void field(const struct blocks *b, int side, int blocks, const unsigned char *flat,
                  struct types_field *f)
{
    types_field_new(f, &b->model[side]->map, b->count * (size_t)blocks);
    if (flat != NULL) {
        types_field_fill(f, flat);
    }
}

static void bcast(const struct blocks *b, int root)
{
    struct types_field f;
    int                side = check_rank == root ? 0 : 1;
    field(b, side, 1, side == 0 ? b->all : NULL, &f);
    OK(ctran_bcast(f.at, (ctran_count_t)b->count, b->type[side], root, CTRAN_COMM_WORLD));
    EXPECT_FIELD(&f, b->all);
    types_field_free(&f);
}

static void allgather(const struct blocks *b)
{
    struct types_field out, in;
    ctran_count_t      count = (ctran_count_t)b->count;
    field(b, 0, 1, block_at(b, 0, check_rank), &out); /* row 0 as the result */
    field(b, 1, check_size, NULL, &in);
    OK(ctran_allgather(out.at, count, b->type[0], in.at, count, b->type[1], CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, b->all);
    OK(ctran_allgather(CTRAN_IN_PLACE, 0, CTRAN_DATATYPE_NULL, in.at, count, b->type[1],
                       CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, b->all);
    types_field_free(&out);
    types_field_free(&in);
}

static void gather_scatter(const struct blocks *b, int root)
{
    struct types_field part, whole, back;
    ctran_count_t      count = (ctran_count_t)b->count;
    bool               at_root = check_rank == root;
    field(b, 0, 1, block_at(b, 0, check_rank), &part);
    field(b, 1, check_size, NULL, &whole);
    field(b, 1, 1, NULL, &back);
    OK(ctran_gather(part.at, count, b->type[0], at_root ? whole.at : NULL, count, b->type[1], root,
                    CTRAN_COMM_WORLD));
    if (at_root) {
        EXPECT_FIELD(&whole, b->all);
    }
    OK(ctran_scatter(at_root ? whole.at : NULL, count, b->type[1], back.at, count, b->type[1], root,
                     CTRAN_COMM_WORLD));
    EXPECT_FIELD(&back, block_at(b, 0, check_rank));
    types_field_free(&part);
    types_field_free(&whole);
    types_field_free(&back);
}

/* The blocks to this rank, one after the other. */
static unsigned char *column(const struct blocks *b)
{
    size_t         len = b->size * b->count;
    unsigned char *flat = malloc(len * (size_t)check_size + 1);
    EXPECT(flat != NULL);
    for (int r = 0; r < check_size && len > 0; r++) {
        memcpy(flat + (size_t)r * len, block_at(b, r, check_rank), len);
    }
    return flat;
}

static void alltoall(const struct blocks *b)
{
    struct types_field out, in;
    ctran_count_t      count = (ctran_count_t)b->count;
    unsigned char     *want = column(b);
    field(b, 0, check_size, block_at(b, check_rank, 0), &out);
    field(b, 1, check_size, NULL, &in);
    OK(ctran_alltoall(out.at, count, b->type[0], in.at, count, b->type[1], CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, want);
    types_field_fill(&in, block_at(b, check_rank, 0));
    OK(ctran_alltoall(CTRAN_IN_PLACE, 0, CTRAN_DATATYPE_NULL, in.at, count, b->type[1],
                      CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, want);
    types_field_free(&out);
    types_field_free(&in);
    free(want);
}

/* The same blocks through the calls with counts: all as long, at their usual places. */
static void with_counts(const struct blocks *b, int root)
{
    struct types_field part, out, in, back;
    ctran_count_t      count = (ctran_count_t)b->count, counts[64];
    ctran_aint_t       displs[64];
    unsigned char     *want = column(b);
    for (int r = 0; r < check_size; r++) {
        counts[r] = count;
        displs[r] = (ctran_aint_t)(r * count);
    }
    field(b, 0, check_size, block_at(b, check_rank, 0), &out);
    field(b, 1, check_size, NULL, &in);
    OK(ctran_alltoallv(out.at, counts, displs, b->type[0], in.at, counts, displs, b->type[1],
                       CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, want);
    types_field_fill(&in, block_at(b, check_rank, 0));
    OK(ctran_alltoallv(CTRAN_IN_PLACE, NULL, NULL, CTRAN_DATATYPE_NULL, in.at, counts, displs,
                       b->type[1], CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, want);
    field(b, 0, 1, block_at(b, 0, check_rank), &part);
    OK(ctran_allgatherv(part.at, count, b->type[0], in.at, counts, displs, b->type[1],
                        CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, b->all);
    field(b, 1, 1, NULL, &back);
    OK(ctran_scatterv(in.at, counts, displs, b->type[1], back.at, count, b->type[1], root,
                      CTRAN_COMM_WORLD));
    EXPECT_FIELD(&back, block_at(b, 0, check_rank));
    OK(ctran_gatherv(part.at, count, b->type[0], in.at, counts, displs, b->type[1], root,
                     CTRAN_COMM_WORLD));
    EXPECT_FIELD(&in, b->all);
    types_field_free(&part);
    types_field_free(&out);
    types_field_free(&in);
    types_field_free(&back);
    free(want);
}

void types_collectives(void)
{
    uint64_t rng = rng_of(10);
    for (int i = 0; i < 25; i++) {
        struct blocks b;
        int           root = rng_below(&rng, check_size);
        blocks_make(&b, &rng);
        bcast(&b, root);
        allgather(&b);
        gather_scatter(&b, root);
        alltoall(&b);
        with_counts(&b, root);
        blocks_free(&b);
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* 2 by 2 matrices of unsigned numbers, at 8 and 24 of 40 bytes; the gaps belong to nobody. */
static void multiply(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    ctran_count_t lb, extent;
    OK(ctran_type_get_extent(*type, &lb, &extent));
    for (ctran_count_t i = 0; i < *len; i++) {
        uint32_t a[4], b[4], c[4];
        char    *l = (char *)in + i * extent, *r = (char *)inout + i * extent;
        memcpy(a, l + 8, 8);
        memcpy(a + 2, l + 24, 8);
        memcpy(b, r + 8, 8);
        memcpy(b + 2, r + 24, 8);
        c[0] = a[0] * b[0] + a[1] * b[2];
        c[1] = a[0] * b[1] + a[1] * b[3];
        c[2] = a[2] * b[0] + a[3] * b[2];
        c[3] = a[2] * b[1] + a[3] * b[3];
        memcpy(r + 8, c, 8);
        memcpy(r + 24, c + 2, 8);
    }
}

enum { MATRICES = 50 };

static void give(unsigned char *at, int rank)
{
    for (int i = 0; i < MATRICES; i++) {
        uint32_t row[2] = {(uint32_t)(rank + i), 1}, other[2] = {(uint32_t)i * 3, (uint32_t)rank};
        memcpy(at + i * 40 + 8, row, 8);
        memcpy(at + i * 40 + 24, other, 8);
    }
}

static void expect_matrices(const unsigned char *found, const unsigned char *want)
{
    for (int i = 0; i < MATRICES * 40; i++) {
        bool data = (i % 40 >= 8 && i % 40 < 16) || (i % 40 >= 24 && i % 40 < 32);
        EXPECT_EQ(data ? want[i] : CANARY, found[i]);
    }
}

void types_reductions(void)
{
    static unsigned char mine[MATRICES * 40], got[MATRICES * 40], want[MATRICES * 40],
        next[sizeof want];
    ctran_count_t    at[2] = {8, 24}, count = MATRICES;
    ctran_datatype_t rows, matrix;
    ctran_op_t       op;
    OK(ctran_type_create_hindexed_block(2, 2, at, CTRAN_UINT32_T, &rows));
    OK(ctran_type_create_resized(rows, 4, 40, &matrix)); /* a bound that means nothing to data */
    OK(ctran_type_commit(&matrix));
    OK(ctran_op_create(multiply, 0, &op));
    memset(mine, CANARY, sizeof mine);
    memset(got, CANARY, sizeof got);
    give(mine, check_rank);
    give(want, check_size - 1);
    for (int r = check_size - 2; r >= 0; r--) {
        memcpy(next, want, sizeof want);
        give(next, r);
        multiply(next, want, &count, &matrix);
    }
    OK(ctran_allreduce(mine, got, MATRICES, matrix, op, CTRAN_COMM_WORLD));
    expect_matrices(got, want);
    memcpy(got, mine, sizeof got);
    OK(ctran_allreduce(CTRAN_IN_PLACE, got, MATRICES, matrix, op, CTRAN_COMM_WORLD));
    expect_matrices(got, want);
    memset(got, CANARY, sizeof got);
    OK(ctran_reduce(mine, check_rank == 0 ? got : NULL, MATRICES, matrix, op, 0, CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        expect_matrices(got, want);
    }
    memset(got, CANARY, sizeof got);
    OK(ctran_scan(mine, got, MATRICES, matrix, op, CTRAN_COMM_WORLD));
    give(want, check_rank);
    for (int r = check_rank - 1; r >= 0; r--) {
        give(next, r);
        multiply(next, want, &count, &matrix);
    }
    expect_matrices(got, want);
    memcpy(next, mine, sizeof next);
    memcpy(want, mine, sizeof want);
    multiply(next, want, &count, &matrix);
    memcpy(got, mine, sizeof got);
    OK(ctran_reduce_local(mine, got, MATRICES, matrix, op));
    expect_matrices(got, want);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    EXPECT_RC(CTRAN_ERR_OP, ctran_allreduce(mine, got, 1, matrix, CTRAN_SUM, CTRAN_COMM_WORLD));
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_ARE_FATAL));
    OK(ctran_op_free(&op));
    OK(ctran_type_free(&rows));
    OK(ctran_type_free(&matrix));
}
