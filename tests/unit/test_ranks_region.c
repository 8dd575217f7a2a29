/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of exposed regions (ep/region.h): who may do what with which bytes, until a region is
 * withdrawn or its peer has failed.
 */
#include "ranks.h"

#include "ep/ep_set.h"
#include "p2p/state.h"

enum { BYTES = 100 };

static char memory[BYTES];

/* CT_REFUSED, too, where there is no such key. */
static int look(struct rank *r, uint32_t peer, uint64_t key, uint64_t offset, uint64_t len,
                uint32_t access)
{
    struct ct_ep_region *found = NULL;
    ct_domain_enter(&r->p);
    const int rc = ct_ep_region_find(ranks_ep(r, peer), key, offset, len, access, &found);
    ct_domain_leave(&r->p);
    RANK_EQUAL(r, rc == CTRAN_SUCCESS, found != NULL);
    return rc == CT_AGAIN ? CT_REFUSED : rc;
}

static struct ct_ep_region *expose(struct rank *r, uint32_t access, uint32_t peer)
{
    struct ct_ep_region        *region = NULL;
    const struct ct_ep_exposure what = {
        .base = memory, .len_bytes = BYTES, .access = access, .peer = peer};
    ct_domain_enter(&r->p);
    RANK_EQUAL(r, ct_ep_expose(&r->p, &what, &region), CTRAN_SUCCESS);
    ct_domain_leave(&r->p);
    return region;
}

static void withdraw(struct rank *r, struct ct_ep_region *region)
{
    ct_domain_enter(&r->p);
    ct_ep_withdraw(region);
    ct_domain_leave(&r->p);
}

/* Bytes: within, to the end, none at the end; never beyond, nor by a sum that wraps. */
static void ranges(struct rank *r, uint64_t key)
{
    static const struct {
        uint64_t offset, len;
        int      rc;
    } cases[] = {
        {0, BYTES, CTRAN_SUCCESS},
        {0, 0, CTRAN_SUCCESS},
        {BYTES - 1, 1, CTRAN_SUCCESS},
        {BYTES, 0, CTRAN_SUCCESS},
        {BYTES, 1, CT_REFUSED},
        {BYTES + 1, 0, CT_REFUSED},
        {1, BYTES, CT_REFUSED},
        {0, BYTES + 1, CT_REFUSED},
        {1, UINT64_MAX, CT_REFUSED},
        {UINT64_MAX, 1, CT_REFUSED},
        {UINT64_MAX, UINT64_MAX, CT_REFUSED},
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(cases); i++) {
        RANK_EQUAL(r, look(r, 1, key, cases[i].offset, cases[i].len, CT_NET_REMOTE_READ),
                   cases[i].rc);
    }
}

static void table(struct rank *r, void *arg)
{
    (void)arg;
    const uint32_t       all = CT_NET_REMOTE_READ | CT_NET_REMOTE_WRITE | CT_NET_REMOTE_ATOMIC;
    struct ct_ep_region *one = expose(r, CT_NET_REMOTE_READ, 1);
    struct ct_ep_region *any = expose(r, all, CT_EP_ANY_PEER);
    const uint64_t       key = ct_ep_region_key(one), key_any = ct_ep_region_key(any);
    RANK_CHECK(r, key != key_any);
    ranges(r, key);
    ranges(r, key_any);
    RANK_EQUAL(r, look(r, 1, key, 0, 1, CT_NET_REMOTE_WRITE), CT_REFUSED);
    RANK_EQUAL(r, look(r, 1, key, 0, 1, all), CT_REFUSED);
    RANK_EQUAL(r, look(r, 1, key_any, 0, 1, all), CTRAN_SUCCESS);
    RANK_EQUAL(r, look(r, 2, key, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
    RANK_EQUAL(r, look(r, 2, key_any, 0, 1, CT_NET_REMOTE_READ), CTRAN_SUCCESS);
    RANK_EQUAL(r, look(r, 1, key ^ 1 << 20, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
    RANK_EQUAL(r, look(r, 1, 0, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
    withdraw(r, one);
    RANK_EQUAL(r, look(r, 1, key, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
    struct ct_ep_region *again = expose(r, CT_NET_REMOTE_READ, 1); /* the same memory */
    RANK_CHECK(r, ct_ep_region_key(again) != key);
    RANK_EQUAL(r, look(r, 1, key, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
    withdraw(r, again);
    withdraw(r, any);
}

static void test_table(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = table});
}

/* Memory that is exposed and withdrawn again and again, as by windows that come and go: no key of
 * before reaches it, however often the address and the places of the table were used. */
static void cycles(struct rank *r, void *arg)
{
    enum { CYCLES = 100000, KEPT = 64 };
    uint64_t keys[KEPT] = {0}, last = 0;
    char     packed[CT_EP_MAX_RKEY];
    (void)arg;
    for (unsigned i = 0; i < CYCLES; i++) {
        struct ct_ep_region *region = expose(r, CT_NET_REMOTE_READ, CT_EP_ANY_PEER);
        const uint64_t       key = ct_ep_region_key(region);
        const unsigned which = i * 37 % KEPT; /* in an order that has nothing of a counter's */
        ct_domain_enter(&r->p);
        RANK_CHECK(r, ct_ep_region_pack(region, packed) > 0); /* transports know it, too */
        ct_domain_leave(&r->p);
        RANK_CHECK(r, key > last);
        RANK_EQUAL(r, look(r, 1, key, 0, 1, CT_NET_REMOTE_READ), CTRAN_SUCCESS);
        RANK_EQUAL(r, look(r, 1, keys[i % KEPT], 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
        RANK_EQUAL(r, look(r, 1, last, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
        withdraw(r, region);
        RANK_EQUAL(r, look(r, 1, key, 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
        keys[which] = last = key;
    }
}

static void test_cycles(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = cycles});
}

/* What cannot be a region is refused. */
static void bad(struct rank *r, void *arg)
{
    (void)arg;
    const struct ct_ep_exposure cases[] = {
        {.base = NULL, .len_bytes = 8},
        {.base = memory, .len_bytes = 0},
        {.base = memory, .len_bytes = SIZE_MAX},
    };
    struct ct_ep_region *region = NULL;
    ct_domain_enter(&r->p);
    for (size_t i = 0; i < CT_ARRAY_LEN(cases); i++) {
        RANK_EQUAL(r, ct_ep_expose(&r->p, &cases[i], &region), CTRAN_ERR_ARG);
    }
    RANK_CHECK(r, region == NULL);
    ct_domain_leave(&r->p);
}

static void test_bad(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 1, .body = bad});
}

/* The failure of a peer takes what was exposed to it alone out of the table; the owner withdraws it
 * all the same. */
static void failure(struct rank *r, void *arg)
{
    (void)arg;
    if (r->me == 0) {
        struct ct_ep_region *one = expose(r, CT_NET_REMOTE_READ, 1);
        struct ct_ep_region *any = expose(r, CT_NET_REMOTE_READ, CT_EP_ANY_PEER);
        ranks_fail(r, 1, CTRAN_ERR_PROC_FAILED);
        (void)ct_domain_poke(&r->p);
        RANK_EQUAL(r, look(r, 1, ct_ep_region_key(one), 0, 1, CT_NET_REMOTE_READ), CT_REFUSED);
        RANK_EQUAL(r, look(r, 2, ct_ep_region_key(any), 0, 1, CT_NET_REMOTE_READ), CTRAN_SUCCESS);
        withdraw(r, one);
        withdraw(r, any);
    }
}

static void test_failure(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 3, .body = failure});
}

/* ---- what transports ask --------------------------------------------------------------------- */

/* A transport that carries an operation of a peer out learns what the key stands for, for this peer
 * and these rights alone, until the region is withdrawn. */
static void asked_for(struct rank *r, void *arg)
{
    static char                 bytes[64];
    const struct ct_ep_exposure what = {
        .base = bytes, .len_bytes = sizeof bytes, .access = CT_NET_REMOTE_WRITE, .peer = 0};
    struct ct_ep_region  *region;
    const struct ct_area *area;
    (void)arg;
    ct_domain_enter(&r->p);
    const struct ct_net_env *env = &r->p.ep->env;
    struct ct_ep            *zero = ranks_ep(r, 0), *one = ranks_ep(r, 1);
    RANK_EQUAL(r, ct_ep_expose(&r->p, &what, &region), CTRAN_SUCCESS);
    const uint64_t key = ct_ep_region_key(region);
    RANK_EQUAL(r, env->region(zero, key, 0, 64, CT_NET_REMOTE_WRITE, &area), CTRAN_SUCCESS);
    RANK_CHECK(r, area->base == bytes && area->len_bytes == sizeof bytes);
    RANK_EQUAL(r, env->region(zero, key, 60, 5, CT_NET_REMOTE_WRITE, &area), CT_REFUSED);
    RANK_CHECK(r, area == NULL);
    RANK_EQUAL(r, env->region(zero, key, UINT64_MAX, 2, CT_NET_REMOTE_WRITE, &area), CT_REFUSED);
    RANK_EQUAL(r, env->region(zero, key, 0, 1, CT_NET_REMOTE_READ, &area), CT_REFUSED);
    RANK_EQUAL(r, env->region(one, key, 0, 1, CT_NET_REMOTE_WRITE, &area), CT_REFUSED);
    RANK_EQUAL(r, env->region(zero, key + 1, 0, 1, CT_NET_REMOTE_WRITE, &area), CT_AGAIN);
    ct_ep_withdraw(region);
    RANK_EQUAL(r, env->region(zero, key, 0, 1, CT_NET_REMOTE_WRITE, &area), CT_AGAIN);
    ct_domain_leave(&r->p);
}

static void test_asked_for(void **state)
{
    (void)state;
    ranks_run(&(struct ranks_args){.n = 2, .body = asked_for});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),     cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_bad),       cmocka_unit_test(test_failure),
        cmocka_unit_test(test_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
