/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether algorithms cost what the head blocks of their files say: rounds, messages and blocks at
 * the busiest rank, blocks reduced there, scratch. And words: that they tell right from wrong.
 */
#include <stdio.h>
#include <string.h>

#include "coll/algo/step.h"
#include "prove.h"
#include "word.h"

static unsigned failures;

static void expect(const char *what, uint32_t n, uint64_t found, uint64_t wanted)
{
    if (found != wanted) {
        failures++;
        printf("FAIL %s, n %u: found %llu, expected %llu\n", what, n, (unsigned long long)found,
               (unsigned long long)wanted);
    }
}

/* What a case costs; `wanted` in the same members, with SKIP for what is not said. */
#define SKIP UINT32_MAX

struct costs {
    uint32_t rounds, messages, blocks, joins, tmp;
};

static void check(struct prover *p, struct prove_case c, const char *name, uint32_t coll,
                  struct costs want)
{
    struct prove_result res;
    char                text[160];

    c.algo = ct_algo_find(coll, name);
    c.radix = c.radix == 0 ? 2 : c.radix;
    if (c.algo == NULL || !prove_run(p, &c, &res)) {
        failures++;
        printf("FAIL %s %s: %s\n", ct_algo_coll_name(coll), name,
               c.algo == NULL ? "not found" : res.why);
        return;
    }
    const uint64_t found[] = {res.rounds, res.messages_max, res.blocks_max, res.joins_max, res.tmp};
    const uint32_t wanted[] = {want.rounds, want.messages, want.blocks, want.joins, want.tmp};
    const char *const names[] = {"rounds", "messages", "blocks", "blocks reduced", "scratch"};
    for (int i = 0; i < 5; i++) {
        if (wanted[i] != SKIP) {
            (void)snprintf(text, sizeof(text), "%s %s root %u%s: %s", ct_algo_coll_name(coll), name,
                           c.root, c.ordered ? " ordered" : "", names[i]);
            expect(text, c.n, found[i], wanted[i]);
        }
    }
}

static void check_rings(struct prover *p, uint32_t n)
{
    struct prove_case c = {.n = n}, o = {.n = n, .ordered = true};
    uint32_t          m = n - 1, scratch = n == 2 ? 0 : n == 3 ? 1 : 2;

    check(p, c, "ring", CT_ALLREDUCE, (struct costs){2 * m, 2 * m, 2 * m, m, 0});
    check(p, c, "bidirectional_ring", CT_ALLREDUCE, (struct costs){2 * m, 2 * m, 2 * m, m, 0});
    check(p, c, "ring", CT_REDUCE_SCATTER, (struct costs){m, m, m, m, scratch});
    check(p, c, "bidirectional_ring", CT_REDUCE_SCATTER, (struct costs){m, m, m, m, scratch});
    check(p, c, "pairwise", CT_REDUCE_SCATTER, (struct costs){m, m, m, m, 0});
    check(p, o, "ordered_pairwise", CT_REDUCE_SCATTER, (struct costs){n, m, m, m, n > 2 ? 1 : 0});
    check(p, c, "ring", CT_ALLGATHER, (struct costs){m, m, m, 0, 0});
    check(p, c, "bidirectional_ring", CT_ALLGATHER, (struct costs){n / 2, m, m, 0, 0});
}

/* What virtual ranks of an allgather by recursive doubling have before exchange j: runs of `run`
 * virtual ranks, `stride` from one to the next. The first `far` exchanges are with far virtual
 * ranks. */
struct runs {
    uint32_t run, stride;
};

static struct runs runs_before(uint32_t j, uint32_t vranks, uint32_t far)
{
    return j < far ? (struct runs){1, vranks >> j} : (struct runs){1u << (j - far), vranks >> far};
}

/* In how many messages a virtual rank sends that: runs that begin with a pair, and the others. */
static uint32_t parts_of(uint32_t vrank, struct runs h, uint32_t vranks, uint32_t pairs)
{
    uint32_t first = vrank % h.stride / h.run * h.run;
    return (first < pairs) + (first + vranks - h.stride >= pairs);
}

static void check_doubling(struct prover *p, struct prove_case c, const char *name, uint32_t far)
{
    uint32_t k = 31u - (uint32_t)__builtin_clz(c.n), vranks = 1u << k, pairs = c.n - vranks;
    uint32_t most = 0, blocks = pairs > 0 ? c.n - 1 : 0; /* to who sits out, at the end */

    for (uint32_t j = 0; j < k; j++) { /* the first virtual rank has most pairs */
        struct runs h = runs_before(j, vranks, far);
        uint32_t    rest = pairs % h.stride;
        blocks += (1u << j) + pairs / h.stride * h.run + (rest < h.run ? rest : h.run);
    }
    for (uint32_t vrank = 0; vrank < vranks; vrank++) {
        uint32_t sent = vrank < pairs, received = sent;
        for (uint32_t j = 0; j < k; j++) {
            uint32_t bit = j < far ? vranks >> (j + 1) : 1u << (j - far);
            sent += parts_of(vrank, runs_before(j, vranks, far), vranks, pairs);
            received += parts_of(vrank ^ bit, runs_before(j, vranks, far), vranks, pairs);
        }
        sent = sent > received ? sent : received;
        most = sent > most ? sent : most;
    }
    check(p, c, name, CT_ALLGATHER, (struct costs){k + (pairs > 0 ? 2 : 0), most, blocks, 0, 0});
    expect("one message a round, or up to two", c.n,
           most == k + (pairs > 0) || (pairs > 0 && far > 0 && most <= 2 * k), true);
}

static void check_logarithmic(struct prover *p, uint32_t n)
{
    struct prove_case c = {.n = n};
    uint32_t          up = ct_algo_log2_up(n), k = 31u - (uint32_t)__builtin_clz(n);
    bool              power = n == 1u << k;
    uint32_t          low = 1u << k / 2, parts = (n - 1) / low + 1;
    uint32_t          trees = low - 1 + ct_algo_log2_up(parts);
    /* A folding rank has one exchange more than the others; it sends and receives k + 1. */
    uint32_t messages = k + (power ? 0 : 1);

    check(p, c, "bruck", CT_ALLGATHER, (struct costs){up, up, n - 1, 0, 0});
    check(p, c, "pat", CT_ALLGATHER, (struct costs){up, up, n - 1, 0, 0});
    check(p, c, "pat", CT_REDUCE_SCATTER,
          (struct costs){trees, trees, n - 1, n - 1,
                         k > 1   ? k / 2 * parts
                         : n > 2 ? (n + 1) / 2
                                 : 0});
    check(p, c, "binomial", CT_ALLGATHER, (struct costs){2 * up, up, SKIP, 0, 0});
    check(p, c, "dissemination", CT_BARRIER, (struct costs){up, up, 0, 0, 0});
    check(p, c, "recursive_doubling", CT_ALLREDUCE,
          (struct costs){k + (power ? 0 : 2), messages, messages, messages, n > 2 ? 1 : 0});
    check_doubling(p, c, "recursive_doubling", 0);
    check_doubling(p, c, "recursive_doubling_farthest", k);
    check_doubling(p, c, "recursive_doubling_hybrid", k / 2);
}

/* Stages of groups of four as long as n has such a factor, then of two, three and five. */
static void check_multiplying(struct prover *p, uint32_t n)
{
    static const uint32_t sizes[] = {4, 2, 3, 5};
    uint32_t              rest = n, stages = 0, others = 0, most = 1;

    for (unsigned i = 0; i < 4; i++) {
        for (; rest % sizes[i] == 0; rest /= sizes[i]) {
            stages++;
            others += sizes[i] - 1;
            most = sizes[i] > most ? sizes[i] : most;
        }
    }
    if (rest == 1) { /* it has no other factors */
        check(p, (struct prove_case){.n = n}, "recursive_multiplying", CT_ALLREDUCE,
              (struct costs){2 * stages, others, others, others, most - 1});
        check(p, (struct prove_case){.n = n, .ordered = true}, "recursive_multiplying",
              CT_ALLREDUCE, (struct costs){2 * stages, others, others, others, most - 1});
    }
}

/* How many digits other than 0 the numbers below n have together: hops of a rank's blocks. */
static uint32_t digits_of_all(uint32_t n, uint32_t q)
{
    uint32_t digits = 0;
    for (uint32_t i = 1; i < n; i++) {
        for (uint32_t rest = i; rest > 0; rest /= q) {
            digits += rest % q != 0;
        }
    }
    return digits;
}

static void check_radices(struct prover *p, uint32_t n, uint32_t q)
{
    struct prove_case c = {.n = n, .root = n / 2, .radix = q};
    uint32_t          levels = ct_algo_log_up(n, q), top = ct_algo_power(q, levels - 1);
    uint32_t          children = (levels - 1) * (q - 1) + (n - 1) / top;

    check(p, c, "knomial", CT_BCAST, (struct costs){children, children, children, 0, 0});
    check(p, c, "knomial", CT_REDUCE, (struct costs){children, children, children, children, SKIP});
    check(p, c, "knomial", CT_GATHER, (struct costs){children, children, n - 1, 0, SKIP});
    check(p, c, "knomial", CT_SCATTER, (struct costs){children, children, n - 1, 0, SKIP});
    check(p, c, "scatter_allgather", CT_BCAST,
          (struct costs){children + n - 1, children + n - 1, SKIP, 0, 0});
    check(p, c, "dissemination", CT_BARRIER, (struct costs){levels, children, 0, 0, 0});
    if (q <= 4) {
        check(p, c, "scatter_bruck", CT_BCAST, (struct costs){children + levels, SKIP, SKIP, 0, 0});
        check(p, c, "bruck", CT_ALLGATHER, (struct costs){levels, children, n - 1, 0, 0});
        check(p, c, "bruck", CT_ALLTOALL,
              (struct costs){n > q ? levels + 1 : 1, children, digits_of_all(n, q), 0,
                             n > q ? n - 1 : 0});
    }
}

/* Vector halving, and what is made of it; blocks are 2^k of the vector, or n. */
static void check_halving(struct prover *p, uint32_t n)
{
    struct prove_case c = {.n = n, .root = n - 1};
    uint32_t          k = 31u - (uint32_t)__builtin_clz(n), blocks = 1u << k, half = blocks - 1;

    if (n == blocks) {
        uint32_t kept = n / 2, scratch = n > 2 ? kept : 0;
        check(p, c, "recursive_halving", CT_REDUCE_SCATTER,
              (struct costs){k, k, half, half, scratch});
        check(p, c, "recursive_halving_nearest", CT_REDUCE_SCATTER,
              (struct costs){k, k, half, half, n > 2 ? n - 1 : 0});
        check(p, c, "rabenseifner", CT_ALLREDUCE, (struct costs){2 * k, 2 * k, 2 * half, half, 0});
        check(p, c, "rabenseifner", CT_REDUCE, (struct costs){2 * k, 2 * k, 2 * half, half, kept});
        return;
    }
    check(p, c, "recursive_halving", CT_REDUCE_SCATTER,
          (struct costs){k + 2, k + 1, SKIP, SKIP, n});
    check(p, c, "recursive_halving_nearest", CT_REDUCE_SCATTER,
          (struct costs){k + 2, SKIP, SKIP, SKIP, n});
    check(p, c, "rabenseifner", CT_ALLREDUCE,
          (struct costs){2 * k + 2, 2 * k + 1, 2 * half + blocks, half + blocks, 0});
    check(p, c, "rabenseifner", CT_REDUCE,
          (struct costs){2 * k + 1, SKIP, SKIP, half + blocks, blocks});
}

static void check_rooted(struct prover *p, uint32_t n)
{
    uint32_t up = ct_algo_log2_up(n), m = n - 1, linear = m / 8 + (m % 8 != 0);

    for (uint32_t root = 0; root<n; root += n> 8 ? n - 1 : 1) {
        struct prove_case c = {.n = n, .root = root}, o = c;
        uint32_t          hop = root != 0 ? 1 : 0;

        o.ordered = true;
        check(p, c, "knomial", CT_BCAST, (struct costs){up, up, up, 0, 0});
        check(p, c, "chain", CT_BCAST, (struct costs){m, 1, 1, 0, 0});
        check(p, c, "linear", CT_BCAST, (struct costs){linear, m, m, 0, 0});
        check(p, c, "knomial", CT_REDUCE, (struct costs){up, up, up, up, n > 3 ? 1 : 0});
        check(p, o, "knomial", CT_REDUCE, (struct costs){up + hop, up, up, up, SKIP});
        check(p, c, "chain", CT_REDUCE, (struct costs){m, 1, 1, 1, n > 2 ? 1 : 0});
        check(p, o, "chain", CT_REDUCE, (struct costs){m + hop, SKIP, SKIP, 1, SKIP});
        check(p, o, "linear", CT_REDUCE, (struct costs){m, m, m, m, 0});
        check(p, c, "folding", CT_REDUCE,
              n == 1u << up ? (struct costs){up, up, up, up, n > 2 ? 1 : 0}
                            : (struct costs){up, SKIP, SKIP, SKIP, SKIP});
        check(p, c, "linear", CT_GATHER, (struct costs){(n + 7) / 8, m, m, 0, 0});
        check(p, c, "linear", CT_SCATTER, (struct costs){(n + 7) / 8, m, m, 0, 0});
    }
}

static void check_logarithmic_scan(struct prover *p, uint32_t n)
{
    struct prove_case c = {.n = n};
    uint32_t          up = ct_algo_log2_up(n), ex = 1 + ct_algo_log2_up(n - 1);

    check(p, c, "recursive_doubling", CT_SCAN, (struct costs){up, up, up, up, n > 2 ? 1 : 0});
    check(p, c, "recursive_doubling", CT_EXSCAN, (struct costs){ex, ex, ex, ex - 1, n > 2 ? 1 : 0});
}

static void check_linear(struct prover *p, uint32_t n)
{
    struct prove_case c = {.n = n};
    uint32_t          m = n - 1, linear = m / 8 + (m % 8 != 0), pairs = (n + 3) / 4;

    check(p, c, "linear", CT_BARRIER, (struct costs){2 * linear, m, 0, 0, 0});
    check(p, c, "linear", CT_ALLREDUCE, (struct costs){m + linear, m, m, m, 0});
    check(p, c, "linear", CT_ALLGATHER, (struct costs){pairs, m, m, 0, 0});
    check(p, c, "chain", CT_SCAN, (struct costs){2, 1, 1, 1, 0});
    check(p, c, "chain", CT_EXSCAN, (struct costs){2, 1, 1, n > 2 ? 1 : 0, n > 2 ? 1 : 0});
    check(p, c, "linear", CT_ALLTOALL, (struct costs){pairs, m, m, 0, 0});
    check(p, c, "pairwise", CT_ALLTOALL, (struct costs){m, m, m, 0, 0});
    check_logarithmic_scan(p, n);
}

/* Two lanes of at most two messages a round; who is inside one tree is a leaf of the other. */
static void check_double_tree(struct prover *p, uint32_t n)
{
    struct prove_case c = {.n = n, .root = n / 3, .radix = 2};
    struct costs      want = {2, n > 3 ? 2 : 1, n > 3 ? 2 : 1, 0, 0};

    check(p, c, "double_tree", CT_BCAST, want);
    want.rounds = 3;
    want.joins = want.messages;
    want.tmp = n > 2 ? 1 : 0;
    check(p, c, "double_tree", CT_REDUCE, want);
    check(p, c, "double_tree", CT_ALLREDUCE, (struct costs){5, SKIP, SKIP, want.joins, 0});
    c.algo = ct_algo_find(CT_BCAST, "double_tree");
    for (uint32_t me = 0; me < n; me++) {
        struct ct_step steps[CT_MAX_STEPS];
        struct ct_env  env = prove_env(&c, me);
        bool           inner = c.algo->round(&env, 0, 1, steps) > 0;
        expect("inner rank of both trees", n,
               me != c.root && inner && c.algo->round(&env, 1, 1, steps) > 0, false);
    }
}

static struct word joined(struct word_space *ws, const uint32_t *ranks, size_t count)
{
    struct word w = word_leaf(ranks[0], 0);
    for (size_t i = 1; i < count; i++) {
        const char *why = word_join(ws, w, word_leaf(ranks[i], 0), &w);
        if (why != NULL) {
            failures++;
            printf("FAIL joining rank %u: %s\n", ranks[i], why);
        }
    }
    return w;
}

static void check_words(void)
{
    static const uint32_t in_order[] = {0, 1, 2, 3, 4}, turned[] = {3, 4, 0, 1, 2};
    static const uint32_t mixed[] = {0, 2, 1, 3, 4}, some[] = {0, 2, 4};
    struct word_space     ws = {0};
    struct word           w, a, b;

    word_space_reset(&ws, 5);
    w = joined(&ws, in_order, 5);
    expect("in order is full and ordered", 5, word_is_full(&ws, w, 0, true), true);
    expect("another block is not", 5, word_is_full(&ws, w, 1, false), false);
    w = joined(&ws, turned, 5);
    expect("turned is full", 5, word_is_full(&ws, w, 0, false), true);
    expect("turned is not ordered", 5, word_is_full(&ws, w, 0, true), false);
    w = joined(&ws, mixed, 5);
    expect("mixed is full", 5, word_is_full(&ws, w, 0, false), true);
    expect("mixed is not ordered", 5, word_is_full(&ws, w, 0, true), false);
    w = joined(&ws, some, 3);
    expect("some are not full", 5, word_is_full(&ws, w, 0, false), false);
    expect("some are no prefix", 5, word_is_prefix(w, 3, 0), false);
    expect("three are a prefix", 5, word_is_prefix(joined(&ws, in_order, 3), 3, 0), true);
    expect("but not of two", 5, word_is_prefix(joined(&ws, in_order, 3), 2, 0), false);
    expect("a rank twice", 5, word_join(&ws, w, word_leaf(2, 0), &a) != NULL, true);
    expect("the same, of an interval", 5,
           word_join(&ws, joined(&ws, in_order, 3), word_leaf(1, 0), &a) != NULL, true);
    expect("another block", 5, word_join(&ws, w, word_leaf(3, 1), &a) != NULL, true);
    expect("undefined", 5, word_join(&ws, w, (struct word){0}, &a) != NULL, true);
    /* (0 1) 2 and 0 (1 2) are the same word, but not the same bits. */
    a = joined(&ws, in_order, 3);
    expect("tail", 5, word_join(&ws, word_leaf(1, 0), word_leaf(2, 0), &b) == NULL, true);
    expect("whole", 5, word_join(&ws, word_leaf(0, 0), b, &b) == NULL, true);
    expect("same ranks", 5, a.first == b.first && a.len == b.len, true);
    expect("another tree", 5, a.tree == b.tree, false);
    word_space_fini(&ws);
}

int main(void)
{
    struct prover *p = prove_create();

    check_words();
    for (uint32_t n = 2; n <= 70; n++) {
        check_rings(p, n);
        check_logarithmic(p, n);
        check_multiplying(p, n);
        check_rooted(p, n);
        check_linear(p, n);
        check_halving(p, n);
        check_double_tree(p, n);
        for (uint32_t q = 2; q <= 5; q++) {
            check_radices(p, n, q);
        }
    }
    prove_destroy(p);
    printf("%u failures\n", failures);
    return failures == 0 ? 0 : 1;
}
