/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of protocols: ranges are without gaps and end at the greatest length, in each the
 * cheapest rendezvous that is possible is taken, limits and CTRAN_P2P_PROTOCOL are kept to, and
 * what a transport cannot do is not asked of it.
 */
#define CT_FOLDER "unit"
#include "unit.h"

#include "net/transports.h"
#include "p2p/protocol.h"

enum { EAGER = 64 << 10 };

static struct ct_p2p_kind *make(const struct ct_net_ops *net, bool has_gpus, int forced)
{
    struct ct_config    cfg = {.p2p_protocol = forced, .gpu_eager_limit = 1000};
    struct ct_p2p_kind *kind = malloc(sizeof *kind);
    struct ct_p2p_costs costs;
    assert_non_null(kind);
    ct_p2p_costs_typical(net, EAGER, has_gpus, &costs);
    ct_p2p_kind_init(kind, &costs, &cfg);
    return kind;
}

static bool is_eager(enum ct_p2p_protocol protocol)
{
    return protocol == CT_P2P_INLINE || protocol == CT_P2P_BUFFERED;
}

/* Whether nothing else would be sooner over. */
static void expect_cheapest(const struct ct_p2p_kind *k, enum ct_p2p_protocol taken,
                            enum ct_p2p_memory s, enum ct_p2p_memory r, size_t len)
{
    assert_null(ct_p2p_protocol_lacks(&k->costs, taken, s, r));
    for (int i = CT_P2P_GET; i < CT_P2P_PROTOCOLS; i++) {
        const enum ct_p2p_protocol other = (enum ct_p2p_protocol)i;
        if (ct_p2p_protocol_lacks(&k->costs, other, s, r) == NULL) {
            assert_true(ct_p2p_estimate_ns(&k->costs, taken, s, r, len) <=
                        ct_p2p_estimate_ns(&k->costs, other, s, r, len) * 1.000001);
        }
    }
}

static void expect_ranges(const struct ct_p2p_kind *k, enum ct_p2p_memory s, enum ct_p2p_memory r)
{
    const struct ct_p2p_ranges *ranges = &k->ranges[s][r];
    size_t                      least = 0;
    assert_true(ranges->n >= 2 && ranges->n <= CT_P2P_MAX_RANGES);
    assert_true(is_eager(ranges->range[0].protocol));
    assert_int_equal(ranges->range[0].most_bytes, k->eager_bytes[s]);
    assert_true(ranges->range[ranges->n - 1].most_bytes == SIZE_MAX);
    for (unsigned i = 0; i < ranges->n; i++) {
        const struct ct_p2p_range *range = &ranges->range[i];
        const size_t most = range->most_bytes == SIZE_MAX ? least * 16 : range->most_bytes;
        assert_true(range->most_bytes >= least);
        if (i > 0) {
            assert_false(is_eager(range->protocol));
            expect_cheapest(k, range->protocol, s, r, least);
            expect_cheapest(k, range->protocol, s, r, most);
        }
        least = range->most_bytes + 1;
    }
}

static void for_all(const struct ct_net_ops *net, bool has_gpus)
{
    struct ct_p2p_kind *k = make(net, has_gpus, 0);
    for (int s = 0; s < CT_P2P_MEMORIES; s++) {
        for (int r = 0; r < CT_P2P_MEMORIES; r++) {
            expect_ranges(k, (enum ct_p2p_memory)s, (enum ct_p2p_memory)r);
        }
    }
    free(k);
}

static void test_ranges(void **state)
{
    (void)state;
    for_all(&ct_net_self, false);
    for_all(&ct_net_shm, false);
    for_all(&ct_net_shm, true);
    for_all(&ct_net_tcp, false);
}

static void test_limits(void **state)
{
    struct ct_p2p_kind *shm = make(&ct_net_shm, true, 0), *tcp = make(&ct_net_tcp, false, 0);
    (void)state;
    assert_int_equal(shm->eager_bytes[CT_P2P_HOST], EAGER);
    assert_int_equal(shm->eager_bytes[CT_P2P_ATTACHED], 8191);
    assert_int_equal(shm->eager_bytes[CT_P2P_DEVICE], 1000);
    assert_int_equal(shm->eager_bytes[CT_P2P_OPAQUE], EAGER);
    assert_int_equal(tcp->eager_bytes[CT_P2P_ATTACHED], EAGER);
    assert_int_equal(tcp->eager_bytes[CT_P2P_DEVICE], EAGER);
    free(shm);
    free(tcp);
}

/* A synchronous send is a rendezvous at any length. */
static void test_choice(void **state)
{
    struct ct_p2p_kind *shm = make(&ct_net_shm, true, 0), *tcp = make(&ct_net_tcp, false, 0);
    (void)state;
    for (size_t len = 1; len < (size_t)1 << 30; len *= 4) {
        assert_int_equal(ct_p2p_choose(shm, CT_P2P_HOST, CT_P2P_HOST, len), CT_P2P_GET);
        assert_int_equal(ct_p2p_choose(shm, CT_P2P_DEVICE, CT_P2P_DEVICE, len), CT_P2P_GET);
        assert_int_equal(ct_p2p_choose(shm, CT_P2P_SCATTERED, CT_P2P_HOST, len), CT_P2P_PIECES);
        assert_int_equal(ct_p2p_choose(shm, CT_P2P_OPAQUE, CT_P2P_HOST, len), CT_P2P_STAGED);
        assert_int_equal(ct_p2p_choose(tcp, CT_P2P_HOST, CT_P2P_SCATTERED, len), CT_P2P_PIECES);
    }
    assert_int_equal(ct_p2p_choose(tcp, CT_P2P_HOST, CT_P2P_HOST, 1 << 20), CT_P2P_PUT);
    free(shm);
    free(tcp);
}

/* What is asked for is taken where it is possible, and nowhere else. */
static void test_forced(void **state)
{
    (void)state;
    for (int i = CT_P2P_GET; i < CT_P2P_PROTOCOLS; i++) {
        const enum ct_p2p_protocol wanted = (enum ct_p2p_protocol)i;
        struct ct_p2p_kind        *k = make(&ct_net_shm, true, i + 1);
        for (int s = 0; s < CT_P2P_MEMORIES; s++) {
            for (int r = 0; r < CT_P2P_MEMORIES; r++) {
                const bool can = ct_p2p_protocol_lacks(&k->costs, wanted, (enum ct_p2p_memory)s,
                                                       (enum ct_p2p_memory)r) == NULL;
                const bool is = ct_p2p_choose(k, (enum ct_p2p_memory)s, (enum ct_p2p_memory)r,
                                              1 << 20) == wanted;
                assert_int_equal(is, can);
            }
        }
        free(k);
    }
    struct ct_p2p_kind *k = make(&ct_net_shm, true, CT_P2P_INLINE + 1);
    assert_int_equal(k->eager_bytes[CT_P2P_ATTACHED], EAGER);
    assert_int_equal(k->eager_bytes[CT_P2P_DEVICE], EAGER);
    free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
