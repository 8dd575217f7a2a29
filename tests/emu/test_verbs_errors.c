/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes wrong on RC, in virtual time: keys and bounds, refusals and what they do to both sides,
 * local errors in their turn, receivers that are not ready, silence, with times to the nanosecond.
 */
#include "verbs_test.h"

static struct side a, b;

static void start(struct link link)
{
    side_new(&a, (struct options){.device = 0});
    side_new(&b, (struct options){.device = 1});
    connect_sides(&a, &b, link);
}

static void stop(void)
{
    side_free(&a);
    side_free(&b);
    command("link * plain");
}

/* The request fails with `status`; both sides are in error then, and what follows is flushed. */
static void expect_refused(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
    struct ibv_sge     sge;
    struct ibv_send_wr after = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 8);
    post_recv(&b, 0, 8, 40);
    after.wr_id = 8;
    after.send_flags = 0;
    after.wr.rdma.remote_addr = (uintptr_t)b.buffer + 700000;
    after.wr.rdma.rkey = b.mr->rkey;
    wr->next = &after;
    memset(b.buffer + 700000, 1, 8);
    assert_int_equal(0, post(&a, wr));
    EXPECT_WC(&a, status, 7);
    EXPECT_WC(&a, IBV_WC_WR_FLUSH_ERR, 8);
    assert_int_equal(IBV_QPS_ERR, state_of(&a));
    assert_int_equal(1, b.buffer[700000]);
}

static void expect_event(struct side *side, enum ibv_event_type type)
{
    struct ibv_async_event event;
    assert_int_equal(0, ibv_get_async_event(side->ctx, &event));
    assert_int_equal(type, event.event_type);
    assert_ptr_equal(side->qp, event.element.qp);
    ibv_ack_async_event(&event);
}

static void test_remote_access(void **state)
{
    (void)state;
    static const struct {
        enum ibv_wr_opcode opcode;
        uint32_t           bytes;
        int                at, key; /* off by so much */
        unsigned           access;
    } cases[] = {
        {IBV_WR_RDMA_WRITE, 8, 0, 1, 0},
        {IBV_WR_RDMA_WRITE, 8, -1, 0, 0},
        {IBV_WR_RDMA_WRITE, 3000, BUFFER - 2999, 0, 0},
        {IBV_WR_RDMA_READ, 8, 0, 256, 0},
        {IBV_WR_RDMA_READ, 8, BUFFER - 7, 0, 0},
        {IBV_WR_ATOMIC_FETCH_AND_ADD, 8, BUFFER, 0, 0},
        {IBV_WR_RDMA_WRITE, 8, 0, 0, IBV_ACCESS_REMOTE_READ},
        {IBV_WR_RDMA_READ, 8, 0, 0, IBV_ACCESS_REMOTE_WRITE},
        {IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0, 0, IBV_ACCESS_REMOTE_WRITE},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ibv_sge sge;
        start((struct link){.access = cases[i].access});
        struct ibv_send_wr wr = request(&a, &sge, cases[i].opcode, 0, cases[i].bytes);
        if (cases[i].opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
            wr.wr.atomic.remote_addr = (uintptr_t)b.buffer + (uintptr_t)cases[i].at;
            wr.wr.atomic.rkey = b.mr->rkey;
        } else {
            wr.wr.rdma.remote_addr = (uintptr_t)b.buffer + (uintptr_t)cases[i].at;
            wr.wr.rdma.rkey = b.mr->rkey + (uint32_t)cases[i].key;
        }
        expect_refused(&wr, IBV_WC_REM_ACCESS_ERR);
        EXPECT_WC(&b, IBV_WC_WR_FLUSH_ERR, 40);
        assert_int_equal(IBV_QPS_ERR, state_of(&b));
        expect_event(&b, IBV_EVENT_QP_ACCESS_ERR);
        stop();
    }
}

static void test_key_of_a_region_that_is_gone(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start((struct link){0});
    struct ibv_mr *mr =
        ibv_reg_mr(b.pd, b.buffer, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 8);
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
    wr.wr.rdma.rkey = mr->rkey;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    assert_int_equal(0, ibv_dereg_mr(mr));
    expect_refused(&wr, IBV_WC_REM_ACCESS_ERR);
    stop();
}

static void test_local_errors(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start((struct link){0});
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 8);
    sge.lkey++;
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
    wr.wr.rdma.rkey = b.mr->rkey;
    expect_refused(&wr, IBV_WC_LOC_PROT_ERR);
    assert_int_equal(IBV_QPS_RTS, state_of(&b)); /* has seen nothing */
    stop();
    /* Memory that may not be written cannot take a read, nor a receive. */
    start((struct link){0});
    struct ibv_mr *mr = ibv_reg_mr(a.pd, a.buffer, 64, 0);
    wr = request(&a, &sge, IBV_WR_RDMA_READ, 0, 8);
    sge.lkey = mr->lkey;
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
    wr.wr.rdma.rkey = b.mr->rkey;
    expect_refused(&wr, IBV_WC_LOC_PROT_ERR);
    assert_int_equal(0, ibv_dereg_mr(mr));
    stop();
    start((struct link){0});
    wr = request(&a, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 4);
    wr.wr.atomic.remote_addr = (uintptr_t)b.buffer;
    wr.wr.atomic.rkey = b.mr->rkey;
    expect_refused(&wr, IBV_WC_LOC_LEN_ERR);
    stop();
}

/* Completions come in order: what fails later waits for what is under way. */
static void test_local_error_waits_its_turn(void **state)
{
    (void)state;
    struct ibv_sge sge[2];
    start((struct link){0});
    command("link * latency=10us");
    struct ibv_send_wr wr[2] = {request(&a, &sge[0], IBV_WR_RDMA_WRITE, 0, 8),
                                request(&a, &sge[1], IBV_WR_RDMA_WRITE, 0, 8)};
    wr[0].wr_id = 6;
    wr[0].next = &wr[1];
    sge[1].lkey++;
    for (unsigned i = 0; i < 2; i++) {
        wr[i].wr.rdma.remote_addr = (uintptr_t)b.buffer;
        wr[i].wr.rdma.rkey = b.mr->rkey;
    }
    assert_int_equal(0, post(&a, wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 6);
    EXPECT_WC(&a, IBV_WC_LOC_PROT_ERR, 7);
    stop();
}

static void test_message_too_long(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start((struct link){0});
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_SEND, 0, 9);
    expect_refused(&wr, IBV_WC_REM_INV_REQ_ERR);
    EXPECT_WC(&b, IBV_WC_LOC_LEN_ERR, 40);
    assert_int_equal(IBV_QPS_ERR, state_of(&b));
    expect_event(&b, IBV_EVENT_QP_REQ_ERR);
    stop();
}

static void test_receive_without_rights(void **state)
{
    (void)state;
    start((struct link){0});
    struct ibv_sge     sge = {(uintptr_t)b.buffer, 64, b.mr->lkey + 1};
    struct ibv_recv_wr wr = {.wr_id = 3, .sg_list = &sge, .num_sge = 1}, *bad;
    assert_int_equal(0, ibv_post_recv(b.qp, &wr, &bad));
    post_send(&a, 0, 8, 1);
    EXPECT_WC(&a, IBV_WC_REM_OP_ERR, 1);
    EXPECT_WC(&b, IBV_WC_LOC_PROT_ERR, 3);
    expect_event(&b, IBV_EVENT_QP_FATAL);
    stop();
}

static void test_receiver_not_ready(void **state)
{
    (void)state;
    /* Three refusals after 0.48 ms each, then the end. */
    start((struct link){.rnr_retry = 3, .rnr_timer = 11});
    const uint64_t from = emu_verbs_now_ns();
    post_send(&a, 0, 8, 1);
    EXPECT_WC(&a, IBV_WC_RNR_RETRY_EXC_ERR, 1);
    assert_int_equal(3 * 480000, emu_verbs_now_ns() - from);
    assert_int_equal(IBV_QPS_RTS, state_of(&b));
    stop();
    start((struct link){.no_rnr_retry = true});
    post_send(&a, 0, 8, 1);
    EXPECT_WC(&a, IBV_WC_RNR_RETRY_EXC_ERR, 1);
    stop();
    /* Seven is for ever. */
    start((struct link){.rnr_timer = 1});
    fill(&a, 0, 5000, 1);
    post_send(&a, 0, 5000, 1);
    post_send(&a, 0, 8, 2);
    expect_silence(&a);
    post_recv(&b, 0, 5000, 5);
    post_recv(&b, 6000, 8, 6);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 5);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 6);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 2);
    assert_memory_equal(a.buffer, b.buffer, 5000);
    stop();
}

/* retry_cnt + 1 times 4.096 us x 2^timeout, then what follows is flushed. */
static void expect_timeout(unsigned timeout, unsigned retry)
{
    const uint64_t period = (uint64_t)4096 << timeout;
    start((struct link){.timeout = timeout, .retry = retry, .no_retry = retry == 0});
    const uint64_t from = emu_verbs_now_ns();
    command("port emu1/1 down");
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 100000, 1);
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 8, 2);
    EXPECT_WC(&a, IBV_WC_RETRY_EXC_ERR, 1);
    assert_int_equal((retry + 1) * period, emu_verbs_now_ns() - from);
    EXPECT_WC(&a, IBV_WC_WR_FLUSH_ERR, 2);
    assert_int_equal(IBV_QPS_ERR, state_of(&a));
    command("port emu1/1 up");
    stop();
}

static void test_port_down_times_out(void **state)
{
    (void)state;
    expect_timeout(8, 0);
    expect_timeout(8, 1);
    expect_timeout(12, 3);
    expect_timeout(14, 7);
}

static void test_port_comes_back_in_time(void **state)
{
    (void)state;
    start((struct link){.timeout = 14, .retry = 7});
    fill(&a, 0, 300000, 4);
    command("port emu0/1 down");
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 300000, 1);
    struct ibv_wc wc;
    for (int i = 0; i < 4; i++) { /* a timer each */
        assert_int_equal(0, ibv_poll_cq(a.cq, 1, &wc));
    }
    command("port emu0/1 up");
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    assert_memory_equal(a.buffer, b.buffer, 300000);
    assert_int_equal(IBV_QPS_RTS, state_of(&a));
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remote_access),
        cmocka_unit_test(test_key_of_a_region_that_is_gone),
        cmocka_unit_test(test_local_errors),
        cmocka_unit_test(test_local_error_waits_its_turn),
        cmocka_unit_test(test_message_too_long),
        cmocka_unit_test(test_receive_without_rights),
        cmocka_unit_test(test_receiver_not_ready),
        cmocka_unit_test(test_port_down_times_out),
        cmocka_unit_test(test_port_comes_back_in_time),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
