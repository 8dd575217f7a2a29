/* SPDX-License-Identifier: BSD-3-Clause */
/* UC and UD in virtual time: what is lost is lost and nobody is told; messages come whole. */
#include "verbs_test.h"

static struct side a, b;

static void start(enum ibv_qp_type type)
{
    side_new(&a, (struct options){.type = type, .device = 0});
    side_new(&b, (struct options){.type = type, .device = 1});
    connect_sides(&a, &b, (struct link){0});
}

static void stop(void)
{
    side_free(&a);
    side_free(&b);
    command("link * plain");
}

static void test_uc_sends_and_writes(void **state)
{
    (void)state;
    start(IBV_QPT_UC);
    fill(&a, 0, 10000, 1);
    post_recv(&b, 0, 10000, 5);
    post_recv(&b, 0, 0, 6);
    post_send(&a, 0, 10000, 1);
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 20000, 10000, 2);
    post_remote(&a, &b, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 40000, 10000, 3);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 5);
    const struct ibv_wc wc = wait_cq(b.cq);
    assert_int_equal(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
    assert_int_equal(10000, wc.byte_len);
    for (unsigned i = 1; i <= 3; i++) {
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
    }
    assert_memory_equal(a.buffer, b.buffer, 10000);
    assert_memory_equal(a.buffer, b.buffer + 20000, 10000);
    assert_memory_equal(a.buffer, b.buffer + 40000, 10000);
    stop();
}

/* The sender is told that it sent; the receive request waits for a message that comes whole. */
static void test_uc_drops_whole_messages(void **state)
{
    (void)state;
    for (unsigned lost = 0; lost < 3; lost++) { /* the first, a middle and the last packet */
        start(IBV_QPT_UC);
        fill(&a, 0, 10000, lost);
        post_recv(&b, 0, 10000, 5);
        static const unsigned  before[] = {0, 4, 9};
        struct emu_link_counts at, now;
        struct ibv_wc          wc;
        command("link * rate=1g");
        assert_int_equal(0, emu_verbs_counts("up:emu0/1", &at));
        post_send(&a, 0, 10000, 1);
        for (now = at; now.packets < at.packets + before[lost];) {
            assert_int_equal(0, ibv_poll_cq(b.cq, 1, &wc));
            assert_int_equal(0, emu_verbs_counts("up:emu0/1", &now));
        }
        command("link up:emu0/1 drop=1");
        EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
        expect_silence(&b);
        fill(&a, 20000, 10000, 7);
        post_send(&a, 20000, 10000, 2);
        EXPECT_WC(&a, IBV_WC_SUCCESS, 2);
        EXPECT_WC(&b, IBV_WC_SUCCESS, 5);
        assert_memory_equal(a.buffer + 20000, b.buffer, 10000);
        stop();
    }
}

static void test_uc_without_receiver(void **state)
{
    (void)state;
    start(IBV_QPT_UC);
    post_send(&a, 0, 5000, 1);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    /* A write to where none may go is dropped as silently. */
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 8);
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
    wr.wr.rdma.rkey = b.mr->rkey + 1;
    memset(a.buffer, 1, 8);
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    assert_int_equal(IBV_QPS_RTS, state_of(&b));
    assert_int_equal(0, b.buffer[0]);
    post_recv(&b, 0, 64, 5);
    post_send(&a, 0, 8, 2);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 5);
    stop();
}

/* A local error stops the send queue only, and the program can go on. */
static void test_send_queue_error(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start(IBV_QPT_UC);
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_SEND, 0, 8);
    sge.lkey++;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_LOC_PROT_ERR, 7);
    assert_int_equal(IBV_QPS_SQE, state_of(&a));
    sge.lkey--;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_WR_FLUSH_ERR, 7);
    post_recv(&a, 0, 64, 9);
    post_send(&b, 0, 8, 1);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 1);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 9);
    set_state(&a, IBV_QPS_RTS);
    post_recv(&b, 0, 64, 5);
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 5);
    stop();
}

static struct ibv_ah *address_of(struct side *from, struct side *to)
{
    struct ibv_ah_attr attr = {.is_global = 1,
                               .port_num = 1,
                               .grh = {.dgid = gid_of(to),
                                       .sgid_index = 1,
                                       .hop_limit = 5,
                                       .traffic_class = 0x68,
                                       .flow_label = 0x12345}};
    struct ibv_ah     *ah = ibv_create_ah(from->pd, &attr);
    assert_non_null(ah);
    return ah;
}

static void send_datagram(struct side *from, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey,
                          size_t bytes, uint64_t id)
{
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(from, &sge, IBV_WR_SEND_WITH_IMM, 0, bytes);
    wr.wr_id = id;
    wr.imm_data = 42;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = qpn;
    wr.wr.ud.remote_qkey = qkey;
    assert_int_equal(0, post(from, &wr));
}

static void test_datagrams(void **state)
{
    (void)state;
    start(IBV_QPT_UD);
    struct ibv_ah *ah = address_of(&a, &b);
    fill(&a, 0, 4096, 3);
    post_recv(&b, 0, 5000, 5);
    send_datagram(&a, ah, b.qp->qp_num, 0x1234, 4096, 1);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    struct ibv_wc wc = wait_cq(b.cq);
    assert_int_equal(IBV_WC_GRH | IBV_WC_WITH_IMM, wc.wc_flags);
    assert_int_equal(4096 + 40, wc.byte_len);
    assert_int_equal(a.qp->qp_num, wc.src_qp);
    assert_int_equal(42, wc.imm_data);
    assert_memory_equal(a.buffer, b.buffer + 40, 4096);
    const struct ibv_grh *grh = (const struct ibv_grh *)(const void *)b.buffer;
    const union ibv_gid   gid = gid_of(&a);
    assert_memory_equal(&gid, &grh->sgid, sizeof gid);
    assert_int_equal(5, grh->hop_limit);
    assert_int_equal(htobe32(6u << 28 | 0x68 << 20 | 0x12345), grh->version_tclass_flow);
    /* Back to where it came from. */
    struct ibv_ah *back = ibv_create_ah_from_wc(b.pd, &wc, (struct ibv_grh *)(void *)b.buffer, 1);
    assert_non_null(back);
    post_recv(&a, 10000, 200, 6);
    send_datagram(&b, back, wc.src_qp, 0x1234, 100, 2);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 2);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 6);
    assert_int_equal(EBUSY, ibv_dealloc_pd(a.pd));
    assert_int_equal(0, ibv_destroy_ah(ah));
    assert_int_equal(0, ibv_destroy_ah(back));
    stop();
}

static void test_datagrams_that_nobody_gets(void **state)
{
    (void)state;
    start(IBV_QPT_UD);
    struct ibv_ah *ah = address_of(&a, &b);
    send_datagram(&a, ah, b.qp->qp_num, 0x1234, 8, 1); /* no receive request */
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    expect_silence(&b);
    post_recv(&b, 0, 100, 5);
    send_datagram(&a, ah, b.qp->qp_num, 0x1235, 8, 2); /* another key */
    send_datagram(&a, ah, b.qp->qp_num + 1, 0x1234, 8, 3);
    command("port emu1/1 down");
    send_datagram(&a, ah, b.qp->qp_num, 0x1234, 8, 4);
    for (unsigned i = 2; i <= 4; i++) {
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
    }
    command("port emu1/1 up");
    expect_silence(&b);
    /* A key with its highest bit set stands for the QP's own. */
    send_datagram(&a, ah, b.qp->qp_num, 0x80000000u, 8, 5);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 5);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 5);
    /* More than a packet is no datagram. */
    send_datagram(&a, ah, b.qp->qp_num, 0x1234, 4097, 6);
    EXPECT_WC(&a, IBV_WC_LOC_LEN_ERR, 6);
    assert_int_equal(0, ibv_destroy_ah(ah));
    stop();
}

static void test_datagram_too_long_for_its_buffer(void **state)
{
    (void)state;
    start(IBV_QPT_UD);
    struct ibv_ah *ah = address_of(&a, &b);
    post_recv(&b, 0, 47, 5); /* 40 of the header and 7 */
    send_datagram(&a, ah, b.qp->qp_num, 0x1234, 8, 1);
    EXPECT_WC(&b, IBV_WC_LOC_LEN_ERR, 5);
    assert_int_equal(IBV_QPS_ERR, state_of(&b));
    assert_int_equal(0, ibv_destroy_ah(ah));
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uc_sends_and_writes),
        cmocka_unit_test(test_uc_drops_whole_messages),
        cmocka_unit_test(test_uc_without_receiver),
        cmocka_unit_test(test_send_queue_error),
        cmocka_unit_test(test_datagrams),
        cmocka_unit_test(test_datagrams_that_nobody_gets),
        cmocka_unit_test(test_datagram_too_long_for_its_buffer),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
