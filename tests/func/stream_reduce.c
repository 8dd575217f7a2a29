/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stream-ordered reductions of every type without gaps with every operator that is defined for it,
 * beside the blocking calls on host memory. Values are such that no order of the ranks rounds. Long
 * doubles have no kernel, so both ways take turns in one communicator.
 */
#include "check.h"
#include "gpu.h"

#include "dtype/dtype.h"

enum { SMALL = 700, LARGE = 300000, ELEM = 32 /* bytes at most */, ROUNDS = 3 };

static CUstream stream;
static char    *in, *want, *got; /* on the host */
static char    *from, *to;       /* on the device; each for a block of each rank */

static const ctran_datatype_t types[] = {
    CTRAN_INT8_T,      CTRAN_UINT8_T,          CTRAN_INT16_T,   CTRAN_UINT16_T,
    CTRAN_INT32_T,     CTRAN_UINT32_T,         CTRAN_INT64_T,   CTRAN_UINT64_T,
    CTRAN_FLOAT16,     CTRAN_BFLOAT16,         CTRAN_FLOAT,     CTRAN_DOUBLE,
    CTRAN_FLOAT8_E4M3, CTRAN_FLOAT8_E5M2,      CTRAN_C_BOOL,    CTRAN_BYTE,
    CTRAN_C_COMPLEX,   CTRAN_C_DOUBLE_COMPLEX, CTRAN_FLOAT_INT, CTRAN_2INT,
    CTRAN_CHAR,        CTRAN_LONG_DOUBLE,      CTRAN_LONG};
static const ctran_op_t ops[] = {CTRAN_SUM,  CTRAN_PROD, CTRAN_MIN,    CTRAN_MAX,
                                 CTRAN_BAND, CTRAN_BOR,  CTRAN_BXOR,   CTRAN_LAND,
                                 CTRAN_LOR,  CTRAN_LXOR, CTRAN_MINLOC, CTRAN_MAXLOC};

/* ---- values ---------------------------------------------------------------------------------- */

static void put_value(char *at, enum ct_scalar scalar, uint64_t bits, int index)
{
    static const uint16_t half[] = {0, 0x3c00, 0x4000, 0xbc00},
                          brain[] = {0, 0x3f80, 0x4000, 0xbf80};
    static const uint8_t quarter[] = {0, 0x38, 0x40, 0xb8},
                         fifth[] = {0, 0x3c, 0xbc, 0x3c}; /* sums of eight ranks are exact */
    static const float real[] = {0, 1, 2, -1};
    const unsigned     v = bits % 4, w = bits / 4 % 4;
    switch (scalar) {
    case CT_SCALAR_F16:
        memcpy(at, &half[v], 2);
        break;
    case CT_SCALAR_BF16:
        memcpy(at, &brain[v], 2);
        break;
    case CT_SCALAR_E4M3:
        *at = (char)quarter[v];
        break;
    case CT_SCALAR_E5M2:
        *at = (char)fifth[v];
        break;
    case CT_SCALAR_F32:
        memcpy(at, &real[v], 4);
        break;
    case CT_SCALAR_F64:
        memcpy(at, &(double){real[v]}, 8);
        break;
    case CT_SCALAR_LDBL:
        memcpy(at, &(long double){real[v]}, 10);
        break;
    case CT_SCALAR_BOOL:
        *at = v & 1;
        break;
    case CT_SCALAR_CF32:
        memcpy(at, (float[]){real[v], real[w]}, 8);
        break;
    case CT_SCALAR_CF64:
        memcpy(at, (double[]){real[v], real[w]}, 16);
        break;
    case CT_SCALAR_F32_INT:
        memcpy(at, &real[v], 4);
        memcpy(at + 4, &index, 4);
        break;
    case CT_SCALAR_INT_INT:
        memcpy(at, &(int){(int)v - 2}, 4);
        memcpy(at + 4, &index, 4);
        break;
    default:
        break;
    }
}

static bool is_integer(enum ct_scalar scalar)
{
    return scalar <= CT_SCALAR_U64 || scalar == CT_SCALAR_BYTE;
}

/* The bytes of an element that say something: a long double's last ones do not. */
static size_t value_bytes(const struct ct_dtype *type)
{
    return type->scalar == CT_SCALAR_LDBL ? 10 : (size_t)type->extent_bytes;
}

/* Of a complex product the order decides on the signs of zeros. */
static bool same(const struct ct_dtype *type, const char *a, const char *b)
{
    if (type->scalar == CT_SCALAR_CF32) {
        float x[2], y[2];
        memcpy(x, a, sizeof x);
        memcpy(y, b, sizeof y);
        return x[0] == y[0] && x[1] == y[1];
    }
    if (type->scalar == CT_SCALAR_CF64) {
        double x[2], y[2];
        memcpy(x, a, sizeof x);
        memcpy(y, b, sizeof y);
        return x[0] == y[0] && x[1] == y[1];
    }
    return memcmp(a, b, value_bytes(type)) == 0;
}

static void fill(const struct ct_dtype *type, size_t count, uint64_t seed)
{
    const size_t size = (size_t)type->extent_bytes;
    memset(in, 0, count * size);
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = mix(seed * 1000003 + i * 64 + (uint64_t)check_rank);
        if (is_integer(type->scalar)) {
            memcpy(in + i * size, &(uint64_t){bits % 5 == 0 ? 0 : bits >> 7}, size);
        } else {
            put_value(in + i * size, type->scalar, bits, (int)(bits >> 40 & 0xff));
        }
    }
}

static void compare(const struct ct_dtype *type, size_t count, const char *what, int op)
{
    const size_t size = (size_t)type->extent_bytes;
    for (size_t i = 0; i < count; i++) {
        if (!same(type, want + i * size, got + i * size)) {
            check_fail(__FILE__, __LINE__, "%s, type %d, operator %d: element %zu of %zu differs",
                       what, (int)type->scalar, op, i, count);
        }
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum kind { ALLREDUCE, REDUCE, BLOCK, COUNTS, SCAN, EXSCAN, KINDS };
static const char *const names[] = {"allreduce",      "reduce", "reduce_scatter_block",
                                    "reduce_scatter", "scan",   "exscan"};

struct trial {
    enum kind        kind;
    bool             in_place;
    ctran_datatype_t type;
    ctran_op_t       op;
    ctran_count_t    n;
    int              root;
    ctran_count_t    counts[64];
};

static void on_host(const struct trial *t)
{
    ctran_comm_t comm = CTRAN_COMM_WORLD;
    switch (t->kind) {
    case ALLREDUCE:
        OK(ctran_allreduce(in, want, t->n, t->type, t->op, comm));
        break;
    case REDUCE:
        OK(ctran_reduce(in, want, t->n, t->type, t->op, t->root, comm));
        break;
    case BLOCK:
        OK(ctran_reduce_scatter_block(in, want, t->n, t->type, t->op, comm));
        break;
    case COUNTS:
        OK(ctran_reduce_scatter(in, want, t->counts, t->type, t->op, comm));
        break;
    case SCAN:
        OK(ctran_scan(in, want, t->n, t->type, t->op, comm));
        break;
    default:
        OK(ctran_exscan(in, want, t->n, t->type, t->op, comm));
        break;
    }
}

static void on_stream(const struct trial *t)
{
    ctran_comm_t comm = CTRAN_COMM_WORLD;
    const bool   mine = t->in_place && (t->kind != REDUCE || t->root == check_rank);
    const void  *send = mine ? CTRAN_IN_PLACE : from;
    switch (t->kind) {
    case ALLREDUCE:
        OK(ctran_allreduce_enqueue(send, to, t->n, t->type, t->op, comm, stream));
        break;
    case REDUCE:
        OK(ctran_reduce_enqueue(send, to, t->n, t->type, t->op, t->root, comm, stream));
        break;
    case BLOCK:
        OK(ctran_reduce_scatter_block_enqueue(send, to, t->n, t->type, t->op, comm, stream));
        break;
    case COUNTS:
        OK(ctran_reduce_scatter_enqueue(send, to, t->counts, t->type, t->op, comm, stream));
        break;
    case SCAN:
        OK(ctran_scan_enqueue(send, to, t->n, t->type, t->op, comm, stream));
        break;
    default:
        OK(ctran_exscan_enqueue(send, to, t->n, t->type, t->op, comm, stream));
        break;
    }
}

/* How many elements this rank has a result for. */
static size_t results(const struct trial *t)
{
    switch (t->kind) {
    case REDUCE:
        return t->root == check_rank ? (size_t)t->n : 0;
    case COUNTS:
        return (size_t)t->counts[check_rank];
    case EXSCAN:
        return check_rank > 0 ? (size_t)t->n : 0;
    default:
        return (size_t)t->n;
    }
}

static void run(struct trial *t, uint64_t seed)
{
    const struct ct_dtype *type = ct_dtype_get(t->type);
    const size_t           size = (size_t)type->extent_bytes;
    size_t                 all = (size_t)t->n;
    if (t->kind == BLOCK) {
        all *= (size_t)check_size;
    } else if (t->kind == COUNTS) {
        all = 0;
        for (int r = 0; r < check_size; r++) {
            t->counts[r] = t->n * (r + 1) % (t->n / 2 + 3);
            all += (size_t)t->counts[r];
        }
    }
    fill(type, all, seed);
    device_put(t->in_place ? to : from, in, all * size);
    if (t->in_place && t->kind == REDUCE) {
        device_put(from, in, all * size);
    } else if (!t->in_place) {
        device_set(to, 0, all * size);
    }
    memset(want, 0, all * size);
    on_host(t);
    on_stream(t);
    CU(cuStreamSynchronize(stream));
    device_get(got, to, results(t) * size);
    compare(type, results(t), names[t->kind], (int)(intptr_t)t->op);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static void all_types(void)
{
    uint64_t seed = rng_of(1), trials = 0;
    for (size_t i = 0; i < LEN(types); i++) {
        for (size_t k = 0; k < LEN(ops); k++) {
            if (ct_op_kernel(ct_op_get(ops[k]), ct_dtype_get(types[i])) == NULL) {
                continue;
            }
            for (int round = 0; round < ROUNDS; round++) {
                struct trial t = {.type = types[i], .op = ops[k]};
                t.kind = (enum kind)(trials++ % KINDS);
                t.in_place = (rng_below(&seed, 1 << check_size) >> check_rank & 1) != 0;
                t.root = rng_below(&seed, check_size);
                t.n = 1 + rng_below(&seed, SMALL);
                run(&t, trials);
            }
        }
    }
    EXPECT(trials > 100 * ROUNDS);
}

static void large(void)
{
    uint64_t                      seed = rng_of(2);
    static const ctran_datatype_t some[] = {CTRAN_INT, CTRAN_DOUBLE, CTRAN_BFLOAT16};
    for (int kind = 0; kind < KINDS; kind++) {
        for (int who = 0; who < 3; who++) { /* is in place: nobody, all, the first alone */
            struct trial t = {.kind = (enum kind)kind,
                              .in_place = who == 1 || (who == 2 && check_rank == 0),
                              .type = some[(kind + who) % (int)LEN(some)],
                              .op = who == 1 ? CTRAN_SUM : CTRAN_MAX};
            t.root = rng_below(&seed, check_size);
            t.n = LARGE - rng_below(&seed, 1000);
            run(&t, (uint64_t)kind);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"all_types", all_types}, {"large", large}};
    check_start(argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    const size_t bytes = (size_t)LARGE * 8 * (size_t)check_size + (size_t)SMALL * ELEM;
    stream = device_stream();
    in = malloc(bytes);
    want = malloc(bytes);
    got = malloc(bytes);
    from = device_new(bytes);
    to = device_new(bytes);
    EXPECT(in != NULL && want != NULL && got != NULL);
    check_run(subjects, LEN(subjects));
    device_free(from);
    device_free(to);
    free(in);
    free(want);
    free(got);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
