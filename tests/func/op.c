/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op - operators beyond single numbers, in every call that reduces: the user's own, in order of
 * ranks where they do not commute; values with their places, ties included; complex numbers. What
 * is right comes from folding the ranks' contributions here, one after the other; by forced.h once
 * more for each algorithm. Usage: op [SEED]
 */
#include <complex.h>
#include <stddef.h>

#include "check.h"
#include "forced.h"

enum { ELEM = 32, MOST = 70001 };

static struct {
    ctran_comm_t comm;
    int          me, n;
} group;

/* One operator on one type. */
struct sort {
    const char          *name;
    ctran_datatype_t     type;
    size_t               size;
    ctran_op_t           op; /* predefined; or the user's, made at first: */
    ctran_user_function *fn;
    int                  commutes;
    void (*give)(void *to, int rank, size_t i); /* what a rank contributes as element i */
    void (*join)(void *left, const void *right);
    bool (*same)(const void *a, const void *b);
};

static uint64_t drawn(int rank, size_t i)
{
    return mix((uint64_t)rank << 40 ^ i << 3 ^ check_seed << 20);
}

/* Makes the user's function of a join. */
#define USER_FUNCTION(fn, join, size)                                                              \
    static void fn(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)              \
    {                                                                                              \
        (void)type;                                                                                \
        for (ctran_count_t i = 0; i < *len; i++) {                                                 \
            char left[size];                                                                       \
            memcpy(left, (char *)in + i * (ctran_count_t)(size), size);                            \
            join(left, (char *)inout + i * (ctran_count_t)(size));                                 \
            memcpy((char *)inout + i * (ctran_count_t)(size), left, size);                         \
        }                                                                                          \
    }

#define SAME_BYTES(name, size)                                                                     \
    static bool name(const void *a, const void *b)                                                 \
    {                                                                                              \
        return memcmp(a, b, size) == 0;                                                            \
    }

/* ---- matrices of 2 by 2 bytes, in a 32-bit type ---------------------------------------------- */

static void matrix_give(void *to, int rank, size_t i)
{
    const uint32_t bits = (uint32_t)drawn(rank, i) | 1;
    memcpy(to, &bits, sizeof bits);
}

static void matrix_join(void *left, const void *right)
{
    uint8_t a[4], b[4];
    memcpy(a, left, 4);
    memcpy(b, right, 4);
    const uint8_t c[4] = {
        (uint8_t)(a[0] * b[0] + a[1] * b[2]), (uint8_t)(a[0] * b[1] + a[1] * b[3]),
        (uint8_t)(a[2] * b[0] + a[3] * b[2]), (uint8_t)(a[2] * b[1] + a[3] * b[3])};
    memcpy(left, c, 4);
}
USER_FUNCTION(matrix_function, matrix_join, 4)
SAME_BYTES(matrix_same, 4)

/* ---- strings of up to 31 letters, in the longest type ---------------------------------------- */

static void string_give(void *to, int rank, size_t i)
{
    char *s = to;
    memset(s, 0, ELEM);
    /* Some are empty. With more ranks than letters, most are. */
    if ((rank + (int)(i % 5)) % 4 != 0 && rank % (1 + group.n / 24) == 0) {
        s[0] = 1;
        s[1] = (char)('A' + rank % 26);
    }
}

static void string_join(void *left, const void *right)
{
    char       *l = left;
    const char *r = right;
    memcpy(l + 1 + l[0], r + 1, (size_t)r[0]);
    l[0] = (char)(l[0] + r[0]);
}
USER_FUNCTION(string_function, string_join, ELEM)
SAME_BYTES(string_same, ELEM)

/* ---- one that commutes: the greatest common divisor ------------------------------------------ */

static void divisor_give(void *to, int rank, size_t i)
{
    const uint64_t v = 2 * 3 * 5 * 7 * (1 + drawn(rank, i) % 1000000);
    memcpy(to, &v, sizeof v);
}

static void divisor_join(void *left, const void *right)
{
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    memcpy(left, &a, sizeof a);
}
USER_FUNCTION(divisor_function, divisor_join, 8)
SAME_BYTES(divisor_same, 8)

/* ---- values and their places ----------------------------------------------------------------- */

/* Few values, so that ties are the rule; the index is the rank, at times negated. */
#define PLACE(name, T)                                                                             \
    struct name##_place {                                                                          \
        T   value;                                                                                 \
        int index;                                                                                 \
    };                                                                                             \
    static void name##_give(void *to, int rank, size_t i)                                          \
    {                                                                                              \
        struct name##_place p;                                                                     \
        memset(&p, 0, sizeof p);                                                                   \
        p.value = (T)((int)(drawn(rank, i) % 3) - 1);                                              \
        p.index = i % 7 == 0 ? -rank : rank;                                                       \
        memcpy(to, &p, sizeof p);                                                                  \
    }                                                                                              \
    static void name##_min(void *left, const void *right)                                          \
    {                                                                                              \
        struct name##_place l, r;                                                                  \
        memcpy(&l, left, sizeof l);                                                                \
        memcpy(&r, right, sizeof r);                                                               \
        if (r.value < l.value || (r.value == l.value && r.index < l.index)) {                      \
            memcpy(left, right, sizeof r);                                                         \
        }                                                                                          \
    }                                                                                              \
    static void name##_max(void *left, const void *right)                                          \
    {                                                                                              \
        struct name##_place l, r;                                                                  \
        memcpy(&l, left, sizeof l);                                                                \
        memcpy(&r, right, sizeof r);                                                               \
        if (r.value > l.value || (r.value == l.value && r.index < l.index)) {                      \
            memcpy(left, right, sizeof r);                                                         \
        }                                                                                          \
    }                                                                                              \
    static bool name##_same(const void *a, const void *b)                                          \
    {                                                                                              \
        struct name##_place x, y;                                                                  \
        memcpy(&x, a, sizeof x);                                                                   \
        memcpy(&y, b, sizeof y);                                                                   \
        return x.value == y.value && x.index == y.index;                                           \
    }
PLACE(float, float)
PLACE(double, double)
PLACE(long, long)
PLACE(int, int)
PLACE(short, short)
PLACE(ldbl, long double)

/* ---- complex numbers: whole and small, so that every order is exact -------------------------- */

#define COMPLEX(name, T)                                                                           \
    static void name##_give(void *to, int rank, size_t i)                                          \
    {                                                                                              \
        static const T parts[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};                           \
        T              v[2];                                                                       \
        memset(v, 0, sizeof v);                                                                    \
        v[0] = parts[drawn(rank, i) % 4][0] + (rank % 8 == 1 ? 1 : 0);                             \
        v[1] = parts[drawn(rank, i) % 4][1];                                                       \
        memcpy(to, v, sizeof v);                                                                   \
    }                                                                                              \
    static void name##_sum(void *left, const void *right)                                          \
    {                                                                                              \
        T l[2], r[2];                                                                              \
        memcpy(l, left, sizeof l);                                                                 \
        memcpy(r, right, sizeof r);                                                                \
        l[0] += r[0];                                                                              \
        l[1] += r[1];                                                                              \
        memcpy(left, l, sizeof l);                                                                 \
    }                                                                                              \
    static void name##_prod(void *left, const void *right)                                         \
    {                                                                                              \
        T complex l, r;                                                                            \
        memcpy(&l, left, sizeof l);                                                                \
        memcpy(&r, right, sizeof r);                                                               \
        l *= r;                                                                                    \
        memcpy(left, &l, sizeof l);                                                                \
    }                                                                                              \
    static bool name##_same(const void *a, const void *b)                                          \
    {                                                                                              \
        T complex x, y;                                                                            \
        memcpy(&x, a, sizeof x);                                                                   \
        memcpy(&y, b, sizeof y);                                                                   \
        return x == y;                                                                             \
    }
COMPLEX(cfloat, float)
COMPLEX(cdouble, double)
COMPLEX(cldbl, long double)

#define PLACES(TYPE, name, T)                                                                      \
    {                                                                                              \
        #TYPE " least", CTRAN_##TYPE, sizeof(struct name##_place),                                 \
        CTRAN_MINLOC,   NULL,         1,                                                           \
        name##_give,    name##_min,   name##_same},                                                \
    {                                                                                              \
#TYPE " greatest", CTRAN_##TYPE, sizeof(struct name##_place), CTRAN_MAXLOC, NULL, 1,       \
            name##_give, name##_max, name##_same                                                   \
    }
#define COMPLEXES(TYPE, name, T)                                                                   \
    {#TYPE " sum", CTRAN_##TYPE, 2 * sizeof(T), CTRAN_SUM, NULL, 1,                                \
     name##_give,  name##_sum,   name##_same},                                                     \
    {                                                                                              \
#TYPE " product", CTRAN_##TYPE, 2 * sizeof(T), CTRAN_PROD, NULL, 1, name##_give,           \
            name##_prod, name##_same                                                               \
    }

static struct sort sorts[] = {
    {"matrices", CTRAN_INT32_T, 4, CTRAN_OP_NULL, matrix_function, 0, matrix_give, matrix_join,
     matrix_same},
    {"strings", CTRAN_C_LONG_DOUBLE_COMPLEX, ELEM, CTRAN_OP_NULL, string_function, 0, string_give,
     string_join, string_same},
    {"divisors", CTRAN_UINT64_T, 8, CTRAN_OP_NULL, divisor_function, 1, divisor_give, divisor_join,
     divisor_same},
    PLACES(FLOAT_INT, float, float),
    PLACES(DOUBLE_INT, double, double),
    PLACES(LONG_INT, long, long),
    PLACES(2INT, int, int),
    PLACES(SHORT_INT, short, short),
    PLACES(LONG_DOUBLE_INT, ldbl, long double),
    COMPLEXES(C_FLOAT_COMPLEX, cfloat, float),
    COMPLEXES(C_DOUBLE_COMPLEX, cdouble, double),
    COMPLEXES(C_LONG_DOUBLE_COMPLEX, cldbl, long double),
};

/* ---- one call -------------------------------------------------------------------------------- */

/* Elements begin .. begin + count - 1 as ranks first .. last - 1 together make them. */
static void expect(const struct sort *s, const char *what, const char *buf, size_t begin,
                   size_t count, int last)
{
    for (size_t i = 0; i < count; i++) {
        _Alignas(16) char want[ELEM], more[ELEM];
        s->give(want, 0, begin + i);
        for (int r = 1; r < last; r++) {
            s->give(more, r, begin + i);
            s->join(want, more);
        }
        if (!s->same(want, buf + i * s->size)) {
            uint64_t w, f;
            memcpy(&w, want, sizeof w);
            memcpy(&f, buf + i * s->size, s->size < 8 ? s->size : 8);
            check_fail(__FILE__, __LINE__,
                       "%s, %s, %d of %d ranks, element %zu of %zu: wanted %016" PRIx64
                       ", found %016" PRIx64,
                       s->name, what, last, group.n, begin + i, count, w, f);
        }
    }
}

static char *given(const struct sort *s, size_t count)
{
    char *buf = guarded_new(count * s->size);
    for (size_t i = 0; i < count; i++) {
        s->give(buf + i * s->size, group.me, i);
    }
    return buf;
}

/* The two buffers of a call: in place, the input is in the one for the result. */
struct pair {
    char       *out, *in;
    const void *send;
};

static struct pair buffers(const struct sort *s, size_t send_count, size_t recv_count,
                           bool in_place)
{
    struct pair p = {NULL, NULL, CTRAN_IN_PLACE};
    if (in_place) {
        p.in = given(s, send_count > recv_count ? send_count : recv_count);
    } else {
        p.send = p.out = given(s, send_count);
        p.in = guarded_new(recv_count * s->size);
    }
    return p;
}

static void release(struct pair *p, size_t recv_len, bool in_place)
{
    if (!in_place) {
        EXPECT_GUARDED(p->in, recv_len, recv_len);
        guarded_free(p->out);
    }
    guarded_free(p->in);
}

static void one_allreduce(const struct sort *s, size_t count, bool in_place)
{
    if (!forced_wants("allreduce")) {
        return;
    }
    struct pair p = buffers(s, count, count, in_place);
    OK(ctran_allreduce(p.send, p.in, (ctran_count_t)count, s->type, s->op, group.comm));
    expect(s, "allreduce", p.in, 0, count, group.n);
    release(&p, count * s->size, in_place);
}

static void one_reduce(const struct sort *s, size_t count, bool in_place, int root)
{
    if (!forced_wants("reduce")) {
        return;
    }
    const bool  at_root = group.me == root, here = in_place && at_root;
    struct pair p = buffers(s, count, count, here);
    OK(ctran_reduce(p.send, at_root ? p.in : NULL, (ctran_count_t)count, s->type, s->op, root,
                    group.comm));
    if (at_root) {
        expect(s, "reduce", p.in, 0, count, group.n);
    }
    release(&p, at_root ? count * s->size : 0, here);
}

static void reductions(const struct sort *s, size_t count, bool in_place, int root)
{
    one_allreduce(s, count, in_place);
    one_reduce(s, count, in_place, root);
}

static void one_scan(const struct sort *s, size_t count, bool in_place)
{
    if (!forced_wants("scan")) {
        return;
    }
    struct pair p = buffers(s, count, count, in_place);
    OK(ctran_scan(p.send, p.in, (ctran_count_t)count, s->type, s->op, group.comm));
    expect(s, "scan", p.in, 0, count, group.me + 1);
    release(&p, count * s->size, in_place);
}

static void one_exscan(const struct sort *s, size_t count, bool in_place)
{
    if (!forced_wants("exscan")) {
        return;
    }
    struct pair p = buffers(s, count, count, in_place);
    OK(ctran_exscan(p.send, p.in, (ctran_count_t)count, s->type, s->op, group.comm));
    if (group.me > 0) {
        expect(s, "exscan", p.in, 0, count, group.me);
    }
    release(&p, group.me > 0 ? count * s->size : 0, in_place);
}

static void scans(const struct sort *s, size_t count, bool in_place)
{
    one_scan(s, count, in_place);
    one_exscan(s, count, in_place);
}

static void scatters(const struct sort *s, size_t count, bool in_place)
{
    if (!forced_wants("reduce_scatter")) {
        return;
    }
    const size_t  me = (size_t)group.me, n = (size_t)group.n;
    ctran_count_t counts[64];
    size_t        total = 0, begin = 0;
    struct pair   p = buffers(s, count * n, count, in_place);
    OK(ctran_reduce_scatter_block(p.send, p.in, (ctran_count_t)count, s->type, s->op, group.comm));
    expect(s, "reduce_scatter_block", p.in, me * count, count, group.n);
    release(&p, count * s->size, in_place);

    EXPECT(n <= LEN(counts));
    for (size_t r = 0; r < n; r++) {
        counts[r] = r % 3 == 1 ? 0 : (ctran_count_t)(count + r);
        begin += r < me ? (size_t)counts[r] : 0;
        total += (size_t)counts[r];
    }
    p = buffers(s, total, (size_t)counts[me], in_place);
    OK(ctran_reduce_scatter(p.send, p.in, counts, s->type, s->op, group.comm));
    expect(s, "reduce_scatter", p.in, begin, (size_t)counts[me], group.n);
    release(&p, (size_t)counts[me] * s->size, in_place);
}

/* What ranks 0 and 1 give, here. */
static void locally(const struct sort *s, size_t count)
{
    char *in = guarded_new(count * s->size), *inout = guarded_new(count * s->size);
    for (size_t i = 0; i < count; i++) {
        s->give(in + i * s->size, 0, i);
        s->give(inout + i * s->size, 1, i);
    }
    OK(ctran_reduce_local(in, inout, (ctran_count_t)count, s->type, s->op));
    expect(s, "reduce_local", inout, 0, count, 2);
    guarded_free(in);
    guarded_free(inout);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static void every_call(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 31, 257, 1025, 4099};
    int                 turn = 0;
    for (size_t k = 0; k < LEN(sorts); k++) {
        const bool user = sorts[k].fn != NULL;
        for (size_t c = 0; c < (user ? LEN(counts) : 5); c++, turn++) {
            reductions(&sorts[k], counts[c], turn % 2 == 0, turn % group.n);
            scans(&sorts[k], counts[c], turn % 2 == 1);
            scatters(&sorts[k], counts[c], turn % 2 == 0);
            locally(&sorts[k], counts[c]);
        }
    }
}

/* Every root, in place and not; vectors that are cut into chunks. */
static void every_root(void)
{
    for (size_t k = 0; k < LEN(sorts) && sorts[k].fn != NULL; k++) {
        for (int root = 0; root < group.n; root++) {
            reductions(&sorts[k], 11, false, root);
            reductions(&sorts[k], 11, true, root);
        }
        reductions(&sorts[k], MOST, k % 2 == 0, group.n - 1);
        scatters(&sorts[k], MOST / (size_t)group.n, k % 2 == 1);
    }
}

/* a / 2 + b / 3: not associative, so the brackets show. */
static void bracket(void *in, void *inout, ctran_count_t *len, ctran_datatype_t *type)
{
    const double *a = in;
    double       *b = inout;
    EXPECT(*type == CTRAN_DOUBLE);
    for (ctran_count_t i = 0; i < *len; i++) {
        b[i] = a[i] / 2 + b[i] / 3;
    }
}

/* The brackets are the same at all ranks, each time, in place or not. */
static void same_brackets(void)
{
    if (!forced_wants("allreduce")) {
        return;
    }
    enum { COUNT = 9001 };
    static double give[COUNT], first[COUNT], again[COUNT], at_root[COUNT];
    for (int commute = 0; commute < 2; commute++) {
        ctran_op_t op;
        OK(ctran_op_create(bracket, commute, &op));
        for (size_t count = 1; count <= COUNT;
             count = count == 1 ? 100 : COUNT + (count == COUNT)) {
            for (size_t i = 0; i < count; i++) {
                give[i] = (double)(int64_t)drawn(group.me, i);
            }
            const ctran_count_t c = (ctran_count_t)count;
            OK(ctran_allreduce(give, first, c, CTRAN_DOUBLE, op, group.comm));
            memcpy(again, give, sizeof give);
            OK(ctran_allreduce(CTRAN_IN_PLACE, again, c, CTRAN_DOUBLE, op, group.comm));
            EXPECT(memcmp(first, again, count * sizeof first[0]) == 0);
            memcpy(at_root, first, sizeof first);
            OK(ctran_bcast(at_root, c, CTRAN_DOUBLE, 0, group.comm));
            EXPECT(memcmp(first, at_root, count * sizeof first[0]) == 0);
        }
        OK(ctran_op_free(&op));
        EXPECT_PTR(CTRAN_OP_NULL, op);
    }
}

static void inquiries(void)
{
    ctran_op_t op;
    int        commute = -1;
    for (int want = 0; want < 2; want++) {
        OK(ctran_op_create(bracket, want * 77, &op));
        OK(ctran_op_commutative(op, &commute));
        EXPECT_EQ(want, commute);
        OK(ctran_op_free(&op));
    }
    OK(ctran_op_commutative(CTRAN_MINLOC, &commute));
    EXPECT_EQ(1, commute);
    OK(ctran_op_commutative(CTRAN_REPLACE, &commute));
    EXPECT_EQ(0, commute);
}

/* Of pairs and complex numbers as messages nothing is lost. */
static void as_messages(void)
{
    static const ctran_datatype_t handles[] = {CTRAN_FLOAT_INT, CTRAN_LONG_DOUBLE_INT,
                                               CTRAN_C_DOUBLE_COMPLEX};
    for (size_t t = 0; t < LEN(handles); t++) {
        const struct sort *s = sorts;
        while (s->type != handles[t]) {
            s++;
        }
        char          *out = given(s, 100), *in = guarded_new(100 * s->size);
        const int      to = (group.me + 1) % group.n, from = (group.me + group.n - 1) % group.n;
        ctran_status_t status;
        ctran_count_t  count;
        OK(ctran_sendrecv(out, 100, s->type, to, 5, in, 100, s->type, from, 5, group.comm,
                          &status));
        OK(ctran_get_count(&status, s->type, &count));
        EXPECT_EQ(100, count);
        for (size_t i = 0; i < 100; i++) {
            _Alignas(16) char want[ELEM];
            s->give(want, from, i);
            EXPECT(s->same(want, in + i * s->size));
        }
        guarded_free(out);
        guarded_free(in);
    }
}

static const struct subject subjects[] = {
    {"every call", every_call}, {"every root", every_root},   {"the same brackets", same_brackets},
    {"inquiries", inquiries},   {"as messages", as_messages},
};

static void run_on(ctran_comm_t comm)
{
    group.comm = comm;
    OK(ctran_comm_rank(comm, &group.me));
    OK(ctran_comm_size(comm, &group.n));
    forced_on(comm);
    check_run(subjects, LEN(subjects));
}

static void run_on_both(void)
{
    ctran_comm_t backwards;
    run_on(CTRAN_COMM_WORLD);
    OK(ctran_comm_split(CTRAN_COMM_WORLD, check_rank % 2, -check_rank, &backwards));
    run_on(backwards);
    OK(ctran_comm_free(&backwards));
}

int main(int argc, char **argv)
{
    check_start(argc, argv);
    for (size_t k = 0; k < LEN(sorts) && sorts[k].fn != NULL; k++) {
        OK(ctran_op_create(sorts[k].fn, sorts[k].commutes, &sorts[k].op));
    }
    forced_each(run_on_both);
    for (size_t k = 0; k < LEN(sorts) && sorts[k].fn != NULL; k++) {
        OK(ctran_op_free(&sorts[k].op));
    }
    return check_end();
}
