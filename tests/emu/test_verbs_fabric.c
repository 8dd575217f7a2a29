/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric in virtual time, devices of one process standing for hosts: rates to the packet, turns
 * of QPs at a port, spines by hash and what collides there, queues that lose, GIDs that change and
 * the events of ports, the language of commands and scripts.
 */
#include "verbs_test.h"

enum { HOSTS = 8, MTU = 4096, HEADER = 58 };

static struct side sides[HOSTS];

static void start(unsigned n, struct link link)
{
    link.mtu = IBV_MTU_4096;
    for (unsigned i = 0; i < n; i++) {
        side_new(&sides[i], (struct options){.device = i});
    }
    for (unsigned i = 0; i + 1 < n; i += 2) {
        connect_sides(&sides[i], &sides[i + 1], link);
    }
}

static void stop(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        side_free(&sides[i]);
    }
    command("link * plain; racks none; spines 1");
}

static struct emu_link_counts counts_of(const char *link)
{
    struct emu_link_counts counts;
    assert_int_equal(0, emu_verbs_counts(link, &counts));
    return counts;
}

/* Bytes on a wire for a message. */
static uint64_t wire_bytes(uint64_t bytes)
{
    return bytes + (bytes + MTU - 1) / MTU * HEADER;
}

static void test_a_message_takes_its_time(void **state)
{
    (void)state;
    start(2, (struct link){0});
    command("link up:* rate=8g; link down:* latency=3us");
    const uint64_t from = emu_verbs_now_ns();
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 100 * MTU, 1);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    /* A nanosecond a byte, the acknowledgement's too, and 3 us each way. */
    assert_int_equal(wire_bytes(100 * MTU) + HEADER + 6000, emu_verbs_now_ns() - from);
    stop(2);
}

static void test_qps_take_turns(void **state)
{
    (void)state;
    struct side c, d;
    start(2, (struct link){0});
    side_new(&c, (struct options){.device = 0});
    side_new(&d, (struct options){.device = 1});
    connect_sides(&c, &d, (struct link){.mtu = IBV_MTU_4096});
    command("link up:emu0/1 rate=8g");
    const uint64_t from = emu_verbs_now_ns();
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 50 * MTU, 1);
    post_remote(&c, &d, IBV_WR_RDMA_WRITE, 0, 0, 50 * MTU, 2);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    const uint64_t first = emu_verbs_now_ns() - from;
    EXPECT_WC(&c, IBV_WC_SUCCESS, 2);
    const uint64_t second = emu_verbs_now_ns() - from;
    assert_int_equal(wire_bytes(100 * MTU), second);
    assert_true(first >= second - 2 * (MTU + HEADER)); /* both end together */
    side_free(&c);
    side_free(&d);
    stop(2);
}

/* Two hosts send to a third, faster than its link: the queue loses, RC recovers. */
static void test_incast(void **state)
{
    (void)state;
    struct side to[2];
    side_new(&sides[0], (struct options){.device = 0});
    side_new(&sides[1], (struct options){.device = 1});
    for (unsigned i = 0; i < 2; i++) {
        side_new(&to[i], (struct options){.device = 2});
        connect_sides(&sides[i], &to[i], (struct link){.mtu = IBV_MTU_4096, .timeout = 10});
    }
    command("link * rate=8g latency=1us; link down:* queue=60000");
    const struct emu_link_counts before = counts_of("down:emu2/1");
    for (unsigned i = 0; i < 2; i++) {
        fill(&sides[i], 0, 200 * MTU, i);
        post_remote(&sides[i], &to[i], IBV_WR_RDMA_WRITE, 0, 0, 200 * MTU, i);
    }
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 0);
    EXPECT_WC(&sides[1], IBV_WC_SUCCESS, 1);
    const struct emu_link_counts after = counts_of("down:emu2/1");
    assert_true(after.full > before.full);
    assert_true(after.peak_bytes > 50000 && after.peak_bytes <= 60000);
    for (unsigned i = 0; i < 2; i++) {
        assert_memory_equal(sides[i].buffer, to[i].buffer, 200 * MTU);
        side_free(&to[i]);
    }
    stop(2);
}

/* Four flows between racks over four spines: counts say which took which, and those that share
 * one take as long as all of their packets. */
static void test_spines_by_hash(void **state)
{
    (void)state;
    uint64_t took[4], bytes[4] = {0}, longest = 0;
    command("racks device; spines 4; link leaf:*/* rate=8g");
    start(HOSTS, (struct link){0});
    const uint64_t from = emu_verbs_now_ns();
    for (unsigned i = 0; i < HOSTS; i += 2) {
        post_remote(&sides[i], &sides[i + 1], IBV_WR_RDMA_WRITE, 0, 0, 64 * MTU, i);
    }
    for (unsigned i = 0; i < HOSTS; i += 2) {
        EXPECT_WC(&sides[i], IBV_WC_SUCCESS, i);
        took[i / 2] = emu_verbs_now_ns() - from;
    }
    for (unsigned rack = 0; rack < HOSTS; rack += 2) {
        unsigned used = 0;
        for (unsigned spine = 0; spine < 4; spine++) {
            char name[32];
            snprintf(name, sizeof name, "leaf:%u/%u", rack, spine);
            const struct emu_link_counts counts = counts_of(name);
            used += counts.packets > 0;
            bytes[spine] += counts.bytes;
        }
        assert_int_equal(1, used); /* a flow stays on its path */
    }
    for (unsigned spine = 0; spine < 4; spine++) {
        longest = bytes[spine] > longest ? bytes[spine] : longest;
    }
    assert_true(longest >= wire_bytes(64 * MTU));
    /* Each rack has links of its own, so nobody waits for another here. */
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(wire_bytes(64 * MTU) + HEADER, took[i]);
    }
    stop(HOSTS);
}

static void test_flow_label_moves_a_flow(void **state)
{
    (void)state;
    unsigned used[8] = {0}, spines = 0;
    side_new(&sides[0], (struct options){.device = 10, .type = IBV_QPT_UD});
    side_new(&sides[1], (struct options){.device = 11, .type = IBV_QPT_UD});
    connect_sides(&sides[0], &sides[1], (struct link){0});
    command("racks device; spines 8; link spine:*/* latency=1us");
    for (unsigned label = 0; label < 32; label++) {
        struct ibv_ah_attr attr = {
            .is_global = 1,
            .port_num = 1,
            .grh = {.dgid = gid_of(&sides[1]), .sgid_index = 1, .flow_label = label}};
        struct ibv_ah     *ah = ibv_create_ah(sides[0].pd, &attr);
        struct ibv_sge     sge;
        struct ibv_send_wr wr = request(&sides[0], &sge, IBV_WR_SEND, 0, 8);
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = sides[1].qp->qp_num;
        wr.wr.ud.remote_qkey = 0x1234;
        post_recv(&sides[1], 0, 100, label);
        assert_int_equal(0, post(&sides[0], &wr));
        EXPECT_WC(&sides[1], IBV_WC_SUCCESS, label);
        EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 7);
        assert_int_equal(0, ibv_destroy_ah(ah));
    }
    for (unsigned spine = 0; spine < 8; spine++) {
        char name[32];
        snprintf(name, sizeof name, "spine:11/%u", spine);
        used[spine] = (unsigned)counts_of(name).packets;
        spines += used[spine] > 0;
    }
    assert_true(spines >= 6); /* 32 labels leave hardly one of 8 out */
    stop(2);
}

static void expect_port_event(struct side *side, enum ibv_event_type type)
{
    struct ibv_async_event event;
    assert_int_equal(0, ibv_get_async_event(side->ctx, &event));
    assert_int_equal(type, event.event_type);
    assert_int_equal(1, event.element.port_num);
    ibv_ack_async_event(&event);
}

static void test_flap_with_new_gids(void **state)
{
    (void)state;
    struct ibv_port_attr port;
    start(2, (struct link){.timeout = 8, .retry = 1});
    const union ibv_gid old = gid_of(&sides[1]);
    assert_int_equal(0, ibv_query_port(sides[1].ctx, 1, &port));
    assert_int_equal(IBV_PORT_ACTIVE, port.state);
    command("port emu1/1 down");
    expect_port_event(&sides[1], IBV_EVENT_PORT_ERR);
    assert_int_equal(0, ibv_query_port(sides[1].ctx, 1, &port));
    assert_int_equal(IBV_PORT_DOWN, port.state);
    command("port emu1/1 up newgid");
    expect_port_event(&sides[1], IBV_EVENT_GID_CHANGE);
    expect_port_event(&sides[1], IBV_EVENT_PORT_ACTIVE);
    const union ibv_gid new = gid_of(&sides[1]);
    assert_memory_not_equal(&old, &new, sizeof old);
    /* Nothing is at the old address; from the new one all works again. */
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 8, 1);
    EXPECT_WC(&sides[0], IBV_WC_RETRY_EXC_ERR, 1);
    set_state(&sides[0], IBV_QPS_RESET);
    set_state(&sides[1], IBV_QPS_RESET);
    connect_sides(&sides[0], &sides[1], (struct link){0});
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 8, 2);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 2);
    stop(2);
}

static void test_second_port(void **state)
{
    (void)state;
    struct ibv_device_attr attr;
    side_new(&sides[0], (struct options){.device = 0, .port = 2});
    side_new(&sides[1], (struct options){.device = 1, .port = 2});
    assert_int_equal(0, ibv_query_device(sides[0].ctx, &attr));
    assert_int_equal(2, attr.phys_port_cnt);
    connect_sides(&sides[0], &sides[1], (struct link){0});
    command("port emu0/1 down; port emu1/1 down"); /* not those */
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 8, 1);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    command("port * up");
    stop(2);
}

static void test_link_of_a_spine_down(void **state)
{
    (void)state;
    command("racks device; spines 2; link * latency=1us");
    start(2, (struct link){.timeout = 10, .retry = 2});
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 8, 1);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    command("link leaf:*/0 down; link leaf:*/1 down");
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 8, 2);
    EXPECT_WC(&sides[0], IBV_WC_RETRY_EXC_ERR, 2);
    struct ibv_port_attr port; /* the port itself has not noticed */
    assert_int_equal(0, ibv_query_port(sides[0].ctx, 1, &port));
    assert_int_equal(IBV_PORT_ACTIVE, port.state);
    stop(2);
}

static void test_registration_takes_time(void **state)
{
    (void)state;
    start(1, (struct link){0});
    static const uint64_t wanted[] = {20000 + 11 * 50, 20000 + 11 * 50, 5000000, 20000 + 11 * 50};
    command("registration base=20us page=50ns spike=5ms every=3");
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t from = emu_verbs_now_ns();
        struct ibv_mr *mr = ibv_reg_mr(sides[0].pd, sides[0].buffer, 10 * 4096, 0);
        assert_non_null(mr);
        assert_int_equal(wanted[i], emu_verbs_now_ns() - from);
        assert_int_equal(0, ibv_dereg_mr(mr));
    }
    command("registration base=0ns page=0ns every=0");
    stop(1);
}

static void test_commands_that_make_no_sense(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "lnk * rate=1g",
        "link",
        "link *",
        "link * rate=",
        "link * rate=-1",
        "link * rate=1x",
        "link * latency=1",
        "link * loss=2",
        "link up:emu0 rate=1g",
        "link up:emu0/3 rate=1g",
        "link up:emu16/1 rate=1g",
        "link up:nowhere:emu0/1 rate=1g",
        "link leaf:1 rate=1g",
        "link leaf:1/32 rate=1g",
        "port emu0/1",
        "port emu0/1 sideways",
        "racks many",
        "spines 0",
        "spines 33",
        "registration base=1",
        "registration every=*",
    };
    const int kept = dup(2), null = open("/dev/null", O_WRONLY);
    dup2(null, 2); /* each says what is wrong */
    for (unsigned i = 1; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(EINVAL, emu_verbs_command(wrong[i]));
    }
    dup2(kept, 2);
    close(kept);
    close(null);
    command("link * plain; racks none; spines 1");
}

/* Each in a process of its own, as the script is read when a process starts. */
static void in_child(void (*what)(void), const char *name, const char *value)
{
    const pid_t child = fork_child();
    if (child == 0) {
        setenv(name, value, 1);
        what();
        _exit(0);
    }
    int status;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
}

static void scripted_down(void)
{
    start(2, (struct link){.timeout = 14, .retry = 7});
    command("link * rate=8g");
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 240 * MTU, 1);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    /* Down from 100 us to 5 ms, longer than the message takes: the timer resumes. */
    assert_true(emu_verbs_now_ns() > (uint64_t)4096 << 14);
    assert_true(emu_verbs_now_ns() < 2 * ((uint64_t)4096 << 14));
    expect_port_event(&sides[1], IBV_EVENT_PORT_ERR);
    expect_port_event(&sides[1], IBV_EVENT_PORT_ACTIVE);
    stop(2);
}

static void scripted_loss(void)
{
    start(2, (struct link){.timeout = 10});
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 20 * MTU, 1);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    if (counts_of("up:emu0/1").lost != 3) {
        _exit(2);
    }
    stop(2);
}

static void configured(void)
{
    start(2, (struct link){0});
    const uint64_t from = emu_verbs_now_ns();
    post_remote(&sides[0], &sides[1], IBV_WR_RDMA_WRITE, 0, 0, 8, 1);
    EXPECT_WC(&sides[0], IBV_WC_SUCCESS, 1);
    if (emu_verbs_now_ns() - from != 4 * 7000) {
        _exit(2);
    }
    stop(2);
}

static void test_scripts(void **state)
{
    (void)state;
    in_child(scripted_down, "EMU_VERBS_FAULTS", "at 100us port emu1/1 down; at 5ms port emu1/1 up");
    in_child(scripted_loss, "EMU_VERBS_FAULTS", "after 5 link up:emu0/1 drop=3");
    in_child(configured, "EMU_VERBS_FABRIC", " link * latency=7us \n # a comment\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts), /* before this process uses the library */
        cmocka_unit_test(test_a_message_takes_its_time),
        cmocka_unit_test(test_qps_take_turns),
        cmocka_unit_test(test_incast),
        cmocka_unit_test(test_spines_by_hash),
        cmocka_unit_test(test_flow_label_moves_a_flow),
        cmocka_unit_test(test_flap_with_new_gids),
        cmocka_unit_test(test_second_port),
        cmocka_unit_test(test_link_of_a_spine_down),
        cmocka_unit_test(test_registration_takes_time),
        cmocka_unit_test(test_commands_that_make_no_sense),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    setenv("EMU_VERBS_DEVICES", "16", 1);
    setenv("EMU_VERBS_PORTS", "2", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
