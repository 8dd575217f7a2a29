/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the prover can fail: plants faults in every algorithm, one at a time, at every place
 * where a kind of fault applies, and expects each to be rejected.
 *
 * Kinds are chosen, and applies() says where they apply, such that no fault is harmless:
 *   BUFFER   and ONTO not in place, where SEND and RECV are one; BUFFER not the own block alone in
 *            allgather, nor rank 0's (or a group's first) in scan, which SEND and RECV both hold
 *            after the copy; nor what lies in scratch in alltoall, where numbers say nothing; ONTO
 *            not where a copy has made both operands the same
 *   SWAP     only for operators that do not commute
 *   REORDER  and EARLY only where a round sends what the one before received; in barriers, where
 *            all messages look alike, only for n = radix^k, where each pair of ranks is connected
 *            by one path only
 * Lags are different: one lag for all n may be longer than some n needs. There a fault counts as
 * rejected when some case rejects it, which shows that no lag is shorter than it could be, unless
 * by the trait PACED. So it is with the claim to be a shift.
 * The claim to be a shift is taken from the faulty algorithm first, so that it is not rejected for
 * its looks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prove.h"

enum kind {
    DROP,    /* a step is left out */
    TWICE,   /* a transfer is made twice */
    PEER,    /* the wrong peer */
    BLOCK,   /* the next block */
    RUN,     /* a block too many, or too few */
    BUFFER,  /* sends from another buffer */
    SWAP,    /* operands the wrong way round */
    ONTO,    /* reduces with another operand */
    ACT,     /* reduces what it should not, or does not what it should */
    REORDER, /* two rounds change places on one rank */
    EARLY,   /* a send is made a round too early */
    SCRATCH, /* a block of scratch too few */
    LAST,    /* the last round is missing */
    ORDERED, /* claims to keep the order */
    SHIFT,   /* claims to be a shift */
    RXLAG,   /* a longer lag of receives */
    TXLAG,   /* a longer lag of sends */
    KINDS
};

static const char *const kind_names[KINDS] = {
    "drop",    "twice", "peer",    "block", "run",     "buffer", "swap",  "onto", "act",
    "reorder", "early", "scratch", "last",  "ordered", "shift",  "rxlag", "txlag"};

/* The fault in force; the functions of a faulty algorithm have no other way to know. */
static struct {
    const struct ct_algo *algo;
    enum kind             kind;
    uint32_t              me, r;
    unsigned              lane, step;
} fault;

static struct {
    uint32_t killed, planted;
} score[KINDS];

static uint32_t failures;

/* ---------------------------------------------------------------------------------------------
 * The faulty algorithm
 * ------------------------------------------------------------------------------------------ */

static uint32_t size_of(const struct ct_env *env, const struct ct_slice *s)
{
    return s->buf == CT_TMP ? fault.algo->tmp(env) : env->nblk;
}

/* The slice that a transfer moves, or the target of a local step. */
static struct ct_slice *main_slice(struct ct_step *s)
{
    return s->act == CT_TX ? &s->src : &s->dst;
}

static void grow_or_shrink(const struct ct_env *env, struct ct_step *s)
{
    bool grow = main_slice(s)->run < size_of(env, main_slice(s));
    s->src.run += grow ? 1 : UINT32_MAX;
    s->dst.run += grow ? 1 : UINT32_MAX;
}

static void spoil(const struct ct_env *env, struct ct_step *s)
{
    struct ct_slice *slice = main_slice(s);
    switch (fault.kind) {
    case PEER:
        s->peer = (s->peer + 1) % env->n;
        s->peer = s->peer == env->me ? (s->peer + 1) % env->n : s->peer;
        break;
    case BLOCK:
        slice->at = (slice->at + 1) % size_of(env, slice);
        break;
    case RUN:
        grow_or_shrink(env, s);
        break;
    case BUFFER:
        s->dst = s->src.buf == CT_TMP ? s->dst : s->src;
        s->src = s->dst;
        s->src.buf = slice->buf == CT_SEND ? CT_RECV : CT_SEND;
        break;
    case SWAP:
        s->flags ^= CT_SWAP;
        break;
    case ONTO:
        s->flags ^= CT_ONTO;
        break;
    case ACT:
        s->src = s->act == CT_RX ? s->dst : s->src;
        s->act = s->act == CT_RX ? CT_RX_OP : CT_RX;
        s->flags &= (uint8_t) ~(CT_SWAP | CT_ONTO);
        break;
    default:
        break;
    }
}

static unsigned without(struct ct_step *steps, unsigned count, unsigned at)
{
    memmove(&steps[at], &steps[at + 1], (count - at - 1) * sizeof(*steps));
    return count - 1;
}

static unsigned faulty_round(const struct ct_env *env, unsigned lane, uint32_t r,
                             struct ct_step *out)
{
    struct ct_step other[CT_MAX_STEPS];
    unsigned       count;

    if (env->me != fault.me || lane != fault.lane) {
        return fault.algo->round(env, lane, r, out);
    }
    if (fault.kind == REORDER && (r == fault.r || r == fault.r + 1)) {
        return fault.algo->round(env, lane, 2 * fault.r + 1 - r, out);
    }
    count = fault.algo->round(env, lane, r, out);
    if (fault.kind == EARLY && r + 1 == fault.r) {
        (void)fault.algo->round(env, lane, fault.r, other);
        out[count++] = other[fault.step];
    } else if (r != fault.r) {
        return count;
    } else if (fault.kind == DROP || fault.kind == EARLY) {
        return without(out, count, fault.step);
    } else if (fault.kind == TWICE) {
        out[count++] = out[fault.step];
    } else if (fault.kind <= ACT) {
        spoil(env, &out[fault.step]);
    }
    return count;
}

static uint32_t faulty_rounds(const struct ct_env *env, unsigned lane)
{
    return fault.algo->rounds(env, lane) - (fault.kind == LAST ? 1 : 0);
}

static uint32_t faulty_tmp(const struct ct_env *env)
{
    return fault.algo->tmp(env) - (fault.kind == SCRATCH && env->me == fault.me ? 1 : 0);
}

static bool fits_all(const struct ct_env *env)
{
    (void)env;
    return true;
}

static struct ct_algo faulty_algo(void)
{
    struct ct_algo a = *fault.algo;
    a.traits &= ~(uint32_t)CT_SHIFT;
    a.traits |= fault.kind == SHIFT ? CT_SHIFT : 0;
    a.rxlag += fault.kind == RXLAG ? 1 : 0;
    a.txlag += fault.kind == TXLAG ? 1 : 0;
    a.fits = fault.kind == ORDERED ? fits_all : a.fits;
    a.round = faulty_round;
    a.rounds = faulty_rounds;
    a.tmp = faulty_tmp;
    return a;
}

/* ---------------------------------------------------------------------------------------------
 * Where faults apply
 * ------------------------------------------------------------------------------------------ */

static bool is_transfer(const struct ct_step *s)
{
    return s->act == CT_TX || s->act == CT_RX || s->act == CT_RX_OP;
}

static bool is_power(uint32_t n, uint32_t radix)
{
    while (n % radix == 0) {
        n /= radix;
    }
    return n == 1;
}

/* Whether a round, ending with the step before `end`, receives what this step sends. */
static bool depends(const struct ct_env *env, uint32_t r, const struct ct_step *tx)
{
    struct ct_step before[CT_MAX_STEPS];
    unsigned       count = fault.algo->round(env, fault.lane, r, before);

    if ((fault.algo->traits & CT_ONE_SHOT) != 0) {
        return false; /* nothing that is sent was received */
    }
    if (fault.algo->colls == CT_BARRIER) {
        return is_power(env->n, env->radix) && env->n > env->radix;
    }
    for (unsigned i = 0; i < count; i++) {
        const struct ct_slice *dst = &before[i].dst;
        if ((before[i].act == CT_RX || before[i].act == CT_RX_OP) && dst->run > 0 &&
            dst->buf == tx->src.buf && dst->at == tx->src.at) {
            return true;
        }
    }
    return false;
}

/* Whether SEND and RECV both hold what this step sends. */
static bool is_in_both(const struct ct_env *env, const struct ct_step *s)
{
    return (fault.algo->colls == CT_ALLGATHER && s->src.at == env->me && s->src.run == 1) ||
           (fault.algo->colls == CT_SCAN && s->src.buf != CT_TMP &&
            (env->me == 0 || (env->levels != NULL && ct_levels_index(env->levels, env->me) == 0)));
}

/* Whether two slices of as many blocks are the same. */
static bool same_place(const struct ct_slice *a, const struct ct_slice *b)
{
    return a->buf == b->buf && a->at == b->at;
}

/* Whether a step copies one to the other, so that both hold the same. */
static bool is_copied(const struct ct_step *steps, unsigned count, const struct ct_slice *from,
                      const struct ct_slice *to)
{
    bool copied = false;
    for (unsigned i = 0; i < count; i++) {
        copied = copied || (steps[i].act == CT_COPY && same_place(&steps[i].src, from) &&
                            same_place(&steps[i].dst, to));
    }
    return copied;
}

/* Whether the fault's kind applies to this step. */
static bool applies(const struct ct_env *env, uint32_t r, struct ct_step *steps, unsigned count,
                    unsigned step)
{
    struct ct_step        *s = &steps[step];
    const struct ct_slice *slice = main_slice(s);
    bool                   tx = s->act == CT_TX, barrier = fault.algo->colls == CT_BARRIER;
    struct ct_step         early[CT_MAX_STEPS];

    switch (fault.kind) {
    case DROP:
        return true;
    case TWICE:
        return tx && count < CT_MAX_STEPS;
    case PEER:
        return is_transfer(s) && env->n > 2;
    case BLOCK:
        return size_of(env, slice) > 1 && !barrier && slice->run < env->nblk;
    case RUN:
        return is_transfer(s) && size_of(env, slice) > 1 && !barrier;
    case BUFFER:
        return tx && !barrier && !env->inplace && !is_in_both(env, s) &&
               (fault.algo->colls != CT_ALLTOALL || s->src.buf != CT_TMP);
    case SWAP:
        return env->ordered && (s->act == CT_RX_OP || s->act == CT_OP);
    case ONTO:
        return s->act == CT_RX_OP && !env->inplace && !same_place(&s->dst, &s->src) &&
               !is_copied(steps, count, &s->dst, &s->src);
    case ACT:
        return (s->act == CT_RX || s->act == CT_RX_OP) && !barrier;
    case REORDER:
        return tx && r > 0 && depends(env, r - 1, s);
    case EARLY:
        return tx && r > 0 && depends(env, r - 1, s) &&
               fault.algo->round(env, fault.lane, r - 1, early) < CT_MAX_STEPS;
    default:
        return false;
    }
}

/* ---------------------------------------------------------------------------------------------
 * Hunting
 * ------------------------------------------------------------------------------------------ */

static bool is_rejected(struct prover *p, const struct prove_case *base)
{
    struct ct_algo      algo = faulty_algo();
    struct prove_case   c = *base;
    struct prove_result res;

    c.algo = &algo;
    for (c.seed = 0; c.seed < 6; c.seed++) {
        if (!prove_run(p, &c, &res)) {
            return true;
        }
    }
    return false;
}

static void plant(struct prover *p, const struct prove_case *c)
{
    char name[160];
    bool rejected = is_rejected(p, c);

    score[fault.kind].planted++;
    score[fault.kind].killed += rejected;
    if (!rejected && failures++ < 20) {
        printf("FAIL not rejected: %s, rank %u round %u step %u of %s\n", kind_names[fault.kind],
               fault.me, fault.r, fault.step, prove_case_name(c, name, sizeof(name)));
    }
}

/* Faults in a step of one lane, wherever the kind applies. */
static void plant_in_steps(struct prover *p, const struct prove_case *c)
{
    for (uint32_t me = 0; me < c->n; me++) {
        struct ct_env env = prove_env(c, me);
        for (uint32_t r = 0; r < c->algo->rounds(&env, fault.lane); r++) {
            struct ct_step steps[CT_MAX_STEPS];
            unsigned       count = c->algo->round(&env, fault.lane, r, steps);
            for (unsigned s = 0; s < count; s++) {
                if (applies(&env, r, steps, count, s)) {
                    fault.me = me;
                    fault.r = fault.kind == REORDER ? r - 1 : r;
                    fault.step = s;
                    plant(p, c);
                }
            }
        }
    }
}

/* Whether some rank does something in the last round: a composition of one rank may not. */
static bool last_round_counts(const struct prove_case *c)
{
    unsigned steps = 0;
    for (uint32_t me = 0; me < c->n; me++) {
        struct ct_env  env = prove_env(c, me);
        struct ct_step out[CT_MAX_STEPS];
        uint32_t       rounds = c->algo->rounds(&env, 0);
        steps += rounds > 0 ? c->algo->round(&env, 0, rounds - 1, out) : 0;
    }
    return steps > 0;
}

/* Faults in what an algorithm says of itself. */
static void plant_in_claims(struct prover *p, const struct prove_case *c)
{
    struct ct_env env = prove_env(c, 0);

    fault.me = UINT32_MAX;
    if (fault.kind == LAST && last_round_counts(c)) {
        plant(p, c);
    }
    for (uint32_t me = 0; fault.kind == SCRATCH && me < c->n; me++) {
        env = prove_env(c, me);
        fault.me = me;
        if (c->algo->tmp(&env) > 0) {
            plant(p, c);
        }
    }
}

/* Calls fn for every case of this many ranks that the algorithm fits. */
static void each_case_of(struct prover *p, struct prove_case c,
                         void (*fn)(struct prover *p, const struct prove_case *c))
{
    uint32_t roots = prove_has_root(c.algo->colls) ? c.n : 1;
    for (uint32_t at = 0; at < 4 * roots; at++) {
        c.root = at / 4;
        c.uneven = false;
        c.ordered = (at & 1) != 0;
        c.inplace = (at & 2) != 0;
        if ((c.ordered && !prove_reduces(c.algo->colls)) ||
            (c.inplace && !prove_has_inplace(c.algo->colls))) {
            continue;
        }
        fn(p, &c);
    }
}

/* Compositions are tried on groups of two, and on one group; the others look at none. */
static void each_case(struct prover *p, const struct ct_algo *algo,
                      void (*fn)(struct prover *p, const struct prove_case *c))
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9};
    static const uint32_t keys[2][9] = {{0, 0, 1, 1, 2, 2, 3, 3, 4}, {0}};
    const size_t          count = sizeof(sizes) / sizeof(sizes[0]);
    const bool            radices = (algo->traits & CT_RADIX) != 0;
    for (size_t i = 0; i < (radices ? 2 : 1) * count; i++) {
        struct prove_case c = {.algo = algo, .n = sizes[i % count], .radix = i < count ? 2 : 3};
        unsigned          shapes = prove_fits(&c) || c.n == 1 ? 1 : 2;
        for (unsigned shape = 0; shape < shapes; shape++) {
            struct ct_levels *levels = ct_levels_make(c.n, 1, keys[shape]);
            if (levels == NULL) {
                abort();
            }
            c.levels = levels;
            each_case_of(p, c, fn);
            ct_levels_free(levels);
        }
    }
}

/* Each kind but lags, on a case that the algorithm fits; ORDERED on one that it does not. */
static void plant_all(struct prover *p, const struct prove_case *c)
{
    if (c->levels->ngroups == 1 && c->n > 2) {
        return; /* there a composition may be ordered, or a shift, that is none elsewhere */
    }
    if (!prove_fits(c)) {
        fault.kind = ORDERED;
        fault.me = UINT32_MAX;
        if (c->ordered && c->levels->ngroups > 1) { /* in one group it may be true */
            plant(p, c);
        }
        return;
    }
    for (fault.lane = 0; fault.lane < c->algo->lanes; fault.lane++) {
        for (fault.kind = DROP; fault.kind <= EARLY; fault.kind++) {
            plant_in_steps(p, c);
        }
    }
    fault.lane = 0;
    for (fault.kind = SCRATCH; fault.kind < SHIFT; fault.kind++) {
        plant_in_claims(p, c);
    }
}

static bool some_rejected;

/* Scratch that is used again and again is so only from some rank on. */
enum { MANY = 64 };

static void try_some(struct prover *p, const struct prove_case *c)
{
    if (!some_rejected && prove_fits(c)) {
        some_rejected = is_rejected(p, c);
    }
}

/* Compositions are tried on groups that differ in length. */
static void try_many(struct prover *p)
{
    uint32_t keys[MANY];
    for (uint32_t r = 0; r < MANY; r++) {
        keys[r] = r / 10;
    }
    struct prove_case c = {.algo = fault.algo, .n = MANY, .radix = 2};
    struct ct_levels *levels = ct_levels_make(MANY, 1, keys);
    if (levels == NULL) {
        abort();
    }
    c.levels = levels;
    try_some(p, &c);
    ct_levels_free(levels);
}

/* Faults in what an algorithm says for all n at once: some case must reject them. */
static void plant_claim(struct prover *p, enum kind kind)
{
    fault.kind = kind;
    fault.me = UINT32_MAX;
    some_rejected = false;
    each_case(p, fault.algo, try_some);
    try_many(p);
    score[kind].planted++;
    score[kind].killed += some_rejected;
    if (!some_rejected) {
        failures++;
        printf("FAIL no case rejects more %s of %s %s\n", kind_names[kind],
               ct_algo_coll_name(fault.algo->colls), fault.algo->name);
    }
}

/* Without any fault all is well: else every fault would be "rejected". */
static void check_sound(struct prover *p, const struct prove_case *c)
{
    fault.kind = KINDS;
    fault.me = UINT32_MAX;
    if (prove_fits(c) && is_rejected(p, c)) {
        failures++;
        printf("FAIL %s %s is rejected without a fault\n", ct_algo_coll_name(c->algo->colls),
               c->algo->name);
    }
}

static void hunt(struct prover *p, const struct ct_algo *algo, uint32_t totals[KINDS])
{
    unsigned kinds = 0;

    memset(score, 0, sizeof(score));
    fault.algo = algo;
    each_case(p, algo, check_sound);
    each_case(p, algo, plant_all);
    bool paced = (algo->traits & CT_PACED) != 0;
    if (algo->rxlag != CT_LAG_FREE && !paced) {
        plant_claim(p, RXLAG);
    }
    if (algo->txlag != CT_LAG_FREE && !paced) {
        plant_claim(p, TXLAG);
    }
    if ((algo->traits & CT_SHIFT) == 0) {
        plant_claim(p, SHIFT);
    }
    printf("%s %s:", ct_algo_coll_name(algo->colls), algo->name);
    for (int k = 0; k < KINDS; k++) {
        if (score[k].planted > 0) {
            printf(" %s %u/%u", kind_names[k], score[k].killed, score[k].planted);
        }
        totals[k] += score[k].killed;
        kinds += score[k].killed > 0;
    }
    printf("\n");
    if (kinds < (algo->colls == CT_BARRIER ? 4 : 5)) { /* a barrier has no blocks to spoil */
        failures++;
        printf("FAIL only %u kinds of fault were tried on it\n", kinds);
    }
}

int main(void)
{
    struct prover *p = prove_create();
    const char    *only = getenv("CT_PROVE_ONLY"); /* a name, to be quick */
    uint32_t       totals[KINDS] = {0}, all = 0;

    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        if (only == NULL || strcmp(only, (*a)->name) == 0) {
            hunt(p, *a, totals);
        }
    }
    for (int k = 0; k < KINDS; k++) {
        all += totals[k];
        if (totals[k] == 0 && only == NULL) {
            failures++;
            printf("FAIL no fault of kind %s was ever rejected\n", kind_names[k]);
        }
    }
    prove_destroy(p);
    printf("%u faults rejected, %u failures\n", all, failures);
    return failures == 0 ? 0 : 1;
}
