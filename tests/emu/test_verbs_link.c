/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of a link, by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/verbs/link.h"

static const uint32_t never[2] = {UINT32_MAX, UINT32_MAX};

static void test_rate_and_latency(void **state)
{
    (void)state;
    const struct emu_link_conf conf = {.rate_bps = 100000000000u, .latency_ns = 2000};
    struct emu_link_state      link = {0};
    struct emu_link_out        out;
    /* 1250 bytes at 100 Gbit/s are 100 ns. */
    assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 5000, 1250, never, &out));
    assert_int_equal(5000 + 100000, out.sent_ps);
    assert_int_equal(5000 + 100000 + 2000000, out.arrives_ps);
    assert_int_equal(0, out.queued_bytes);
    /* The second waits for the first. */
    assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 5000, 1250, never, &out));
    assert_int_equal(5000 + 200000, out.sent_ps);
    assert_int_equal(1250, out.queued_bytes);
    /* One that comes when the wire is free does not. */
    assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 900000, 1250, never, &out));
    assert_int_equal(1000000, out.sent_ps);
}

static void test_no_rate_takes_no_time(void **state)
{
    (void)state;
    const struct emu_link_conf conf = {.latency_ns = 7};
    struct emu_link_state      link = {0};
    struct emu_link_out        out;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 1, 1 << 30, never, &out));
        assert_int_equal(7001, out.arrives_ps);
    }
    assert_false(emu_link_is_plain(&conf));
    assert_true(emu_link_is_plain(&(struct emu_link_conf){.queue_bytes = 5}));
}

static void test_queue_is_full(void **state)
{
    (void)state;
    const struct emu_link_conf conf = {.rate_bps = 8000000000u, .queue_bytes = 3000};
    struct emu_link_state      link = {0};
    struct emu_link_out        out;
    int                        passed = 0;
    /* The first is on the wire as soon as it comes; then 1000 bytes each, as many as fit. */
    while (emu_link_pass(&conf, &link, 0, 1000, never, &out) == EMU_LINK_PASSES) {
        passed++;
    }
    assert_int_equal(3, passed);
    assert_int_equal(3000, out.queued_bytes);
    const uint64_t busy = link.busy_until_ps;
    assert_int_equal(EMU_LINK_FULL, emu_link_pass(&conf, &link, 0, 1000, never, &out));
    assert_int_equal(busy, link.busy_until_ps);
    /* A microsecond later a packet has left. */
    assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 1000000, 1000, never, &out));
}

static void test_loss_and_reordering_by_chance(void **state)
{
    (void)state;
    const struct emu_link_conf conf = {.rate_bps = 8000000000u,
                                       .loss = 1u << 30, /* a quarter */
                                       .reorder = 1u << 31,
                                       .reorder_ns = 50};
    struct emu_link_state      link = {0};
    struct emu_link_out        out;
    const uint32_t             lost[2] = {(1u << 30) - 1, UINT32_MAX};
    const uint32_t             late[2] = {1u << 30, (1u << 31) - 1};
    const uint32_t             fine[2] = {1u << 30, 1u << 31};
    assert_int_equal(EMU_LINK_LOST, emu_link_pass(&conf, &link, 0, 1000, lost, &out));
    assert_int_equal(1000000, link.busy_until_ps); /* it used the wire */
    assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 0, 1000, late, &out));
    const uint64_t late_ps = out.arrives_ps;
    assert_int_equal(2000000 + 50000, late_ps);
    assert_int_equal(EMU_LINK_PASSES, emu_link_pass(&conf, &link, 0, 10, fine, &out));
    assert_int_equal(2010000, out.arrives_ps);
    assert_true(out.arrives_ps < late_ps);
}

static void test_down_and_dropped(void **state)
{
    (void)state;
    struct emu_link_conf  conf = {.rate_bps = 8000000000u, .down = true};
    struct emu_link_state link = {0};
    struct emu_link_out   out;
    assert_int_equal(EMU_LINK_IS_DOWN, emu_link_pass(&conf, &link, 3, 1000, never, &out));
    assert_int_equal(0, link.busy_until_ps);
    conf = (struct emu_link_conf){.drop_next = 1};
    assert_int_equal(EMU_LINK_LOST, emu_link_pass(&conf, &link, 3, 1000, never, &out));
}

static void test_slow_for_long(void **state)
{
    (void)state;
    const struct emu_link_conf conf = {.rate_bps = 1000};
    assert_int_equal(8000000000000000u, emu_link_sending_ps(&conf, 1000000)); /* 8000 s */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_and_latency),
        cmocka_unit_test(test_no_rate_takes_no_time),
        cmocka_unit_test(test_queue_is_full),
        cmocka_unit_test(test_loss_and_reordering_by_chance),
        cmocka_unit_test(test_down_and_dropped),
        cmocka_unit_test(test_slow_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
