/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proves every algorithm of the table: every n up to 128, and samples up to 1024; every root for n
 * up to 32, some above; radices 2 to 5; ordered and not, in place and not, uneven and not; over
 * several orders of delivery. Then: whether every collective has an algorithm for each n, root and
 * kind of operator. Chunks in flight are independent copies of what is proved here, as lanes are:
 * nothing that they touch is shared.
 *
 *   CT_PROVE_MAX_N   largest n (512, or 1024 where n messages a rank are not needed; soak 1024,
 *                    32 in a build with sanitizers)
 *   CT_PROVE_SEEDS   orders of delivery for each case with n <= 32 (4; with sanitizers 2)
 *   CT_PROVE_SOAK    1: every root for n up to 128, as many orders for every n, and random n
 *   CT_PROVE_ONLY    a name: only algorithms of that name
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prove.h"

enum { SMALL = 32, MEDIUM = 128, MAX_RADIX = 5 };

static const uint32_t large[] = {129, 200, 255, 256, 257, 384, 511, 512, 625, 729, 1023, 1024};

static struct {
    uint32_t max_n, seeds;
    bool     soak;
    uint64_t max_messages; /* of a case with n > MEDIUM */
} limits = {1024, 4, false, 64 << 10};

static uint64_t cases, messages, failures;

static uint32_t number(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static bool prove_one(struct prover *p, const struct prove_case *c)
{
    struct prove_result res;
    char                name[160];

    cases++;
    if (prove_run(p, c, &res)) {
        messages += res.messages;
        return true;
    }
    failures++;
    printf("FAIL %s: %s\n", prove_case_name(c, name, sizeof(name)), res.why);
    return false;
}

static bool prove_seeds(struct prover *p, struct prove_case c)
{
    uint32_t seeds = c.n <= SMALL || limits.soak ? limits.seeds : 1;
    for (uint32_t i = 0; i < seeds; i++) {
        /* Keeps the seed modulo 3, which is the kind of order. */
        bool fixed = i == 0 && (seeds > 1 || c.n % 2 == 0);
        c.seed = fixed ? 0 : i + (uint64_t)3 * (c.n + c.root) + (seeds == 1 ? c.n / 2 % 3 : 0);
        c.steps_known = i > 0;
        if (i == 1 && seeds == 2) {
            c.seed += c.n % 3;
        }
        if (!prove_one(p, &c)) {
            return false;
        }
    }
    return true;
}

static bool prove_kinds(struct prover *p, struct prove_case c)
{
    for (int kind = 0; kind < 8; kind++) {
        c.ordered = (kind & 1) != 0;
        c.inplace = (kind & 2) != 0;
        c.uneven = (kind & 4) != 0;
        if ((c.ordered && !prove_reduces(c.algo->colls)) ||
            (c.inplace && !prove_has_inplace(c.algo->colls)) ||
            (c.uneven && !prove_has_uneven(c.algo->colls))) {
            continue;
        }
        if (prove_fits(&c) && !prove_seeds(p, c)) {
            return false;
        }
    }
    return true;
}

/* Every radix for small n; above them one that goes with n. */
static bool prove_radices(struct prover *p, struct prove_case c)
{
    bool has = (c.algo->traits & CT_RADIX) != 0;
    for (c.radix = 2; c.radix <= (has ? MAX_RADIX : 2); c.radix++) {
        bool one = has && c.n > SMALL && !limits.soak;
        if ((!one || c.radix == 2 + c.n % (MAX_RADIX - 1)) && !prove_kinds(p, c)) {
            return false;
        }
    }
    return true;
}

static bool is_sample(uint32_t root, uint32_t n)
{
    return root <= 1 || root == n / 2 || root == n - 1;
}

static bool prove_n(struct prover *p, const struct ct_algo *algo, uint32_t n)
{
    struct prove_case c = {.algo = algo, .n = n};
    uint32_t          roots = prove_has_root(algo->colls) ? n : 1;

    for (c.root = 0; c.root < roots; c.root++) {
        bool all = n <= (limits.soak ? MEDIUM : SMALL);
        if ((all || is_sample(c.root, n)) && !prove_radices(p, c)) {
            return false;
        }
    }
    return true;
}

/* Whether a case of this size can be had in a short time. */
static bool is_affordable(struct prover *p, const struct ct_algo *algo, uint32_t n)
{
    struct prove_case   c = {.algo = algo, .n = n, .radix = 2};
    struct prove_result res;
    if (n <= MEDIUM || limits.soak) {
        return true;
    }
    c.n = MEDIUM; /* an algorithm needs n log n messages or n * n of them */
    return prove_fits(&c) && prove_run(p, &c, &res) &&
           res.messages / MEDIUM * n * (res.messages_max >= MEDIUM / 2 ? n / MEDIUM : 1) <=
               limits.max_messages;
}

static void prove_algo(struct prover *p, const struct ct_algo *algo)
{
    uint64_t cases_before = cases, messages_before = messages, failures_before = failures;

    if (!prove_fits(&(struct prove_case){.algo = algo, .n = 4, .radix = 2})) {
        return; /* a composition: test_compose.c */
    }
    for (uint32_t n = 1; n <= MEDIUM && n <= limits.max_n; n++) {
        if (!prove_n(p, algo, n)) {
            break;
        }
    }
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        if (large[i] > limits.max_n || failures > failures_before ||
            !is_affordable(p, algo, large[i]) || !prove_n(p, algo, large[i])) {
            break;
        }
    }
    for (uint32_t n = MEDIUM + algo->name[0]; limits.soak && n <= limits.max_n; n += 97) {
        if (failures > failures_before || !prove_n(p, algo, n)) {
            break;
        }
    }
    printf("%-14s %-20s %8llu cases %11llu messages\n", ct_algo_coll_name(algo->colls), algo->name,
           (unsigned long long)(cases - cases_before),
           (unsigned long long)(messages - messages_before));
}

/* Whether some algorithm serves this. */
static bool is_served(uint32_t coll, uint32_t n, uint32_t root, bool ordered)
{
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        struct prove_case c = {.algo = *a, .n = n, .root = root, .radix = 2, .ordered = ordered};
        if ((*a)->colls == coll && prove_fits(&c)) {
            return true;
        }
    }
    return false;
}

static void check_coverage(void)
{
    for (uint32_t coll = CT_BARRIER; coll <= CT_EXSCAN; coll <<= 1) {
        for (uint32_t n = 1; n <= limits.max_n; n++) {
            for (uint32_t root = 0; root < (prove_has_root(coll) ? n : 1); root++) {
                if (!is_served(coll, n, root, false) || !is_served(coll, n, root, true)) {
                    printf("FAIL no %s for n %u root %u\n", ct_algo_coll_name(coll), n, root);
                    failures++;
                    return;
                }
            }
        }
    }
}

/* Each row found by its own name, and only by that; traits and fits() agree. */
static void check_table(void)
{
    static const uint32_t in_twos[] = {0, 0, 1, 1};
    struct ct_levels     *levels = ct_levels_make(4, 1, in_twos);
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        struct prove_case c = {.algo = *a, .n = 4, .radix = 2, .ordered = true, .levels = levels};
        const char       *coll = ct_algo_coll_name((*a)->colls);
        bool              ordered = ((*a)->traits & CT_ORDERED) != 0 || !prove_reduces((*a)->colls);
        if (coll == NULL || ct_algo_coll_by_name(coll) != (*a)->colls ||
            ct_algo_find((*a)->colls, (*a)->name) != *a || (*a)->lanes == 0 ||
            prove_fits(&c) != ordered) {
            printf("FAIL row %s of %s\n", (*a)->name, coll != NULL ? coll : "no collective");
            failures++;
        }
    }
    if (ct_algo_find(CT_BCAST, "ring") != NULL || ct_algo_coll_name(0) != NULL ||
        ct_algo_coll_by_name("gossip") != 0) {
        printf("FAIL found what is not there\n");
        failures++;
    }
    ct_levels_free(levels);
}

int main(void)
{
    struct prover *p = prove_create();
    const char    *sanitizer = getenv("CT_SANITIZER"), *only = getenv("CT_PROVE_ONLY");
    bool           slow = sanitizer != NULL && strcmp(sanitizer, "none") != 0;

    limits.max_n = number("CT_PROVE_MAX_N", slow ? SMALL : limits.max_n);
    limits.seeds = number("CT_PROVE_SEEDS", slow ? 2 : limits.seeds);
    limits.soak = number("CT_PROVE_SOAK", 0) != 0;
    check_table();
    check_coverage();
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        if (only == NULL || strcmp(only, (*a)->name) == 0) {
            prove_algo(p, *a);
        }
    }
    prove_destroy(p);
    printf("n <= %u: %llu cases, %llu messages, %llu failures\n", limits.max_n,
           (unsigned long long)cases, (unsigned long long)messages, (unsigned long long)failures);
    return failures == 0 ? 0 : 1;
}
