/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues in virtual time: arming, channels, solicited events, overruns, other sizes,
 * extended polls with timestamps, extended posts, errors as asynchronous events. */
#include "verbs_test.h"

static struct side a, b;

static void start(struct options of_b)
{
    side_new(&a, (struct options){.device = 0, .inline_bytes = 64});
    of_b.device = 1;
    side_new(&b, of_b);
    connect_sides(&a, &b, (struct link){0});
}

static void stop(void)
{
    side_free(&a);
    side_free(&b);
    command("link * plain");
}

static bool readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 0) == 1;
}

static void get_event(void)
{
    struct ibv_cq *cq;
    void          *user;
    assert_int_equal(0, ibv_get_cq_event(b.channel, &cq, &user));
    assert_ptr_equal(b.cq, cq);
    assert_ptr_equal(&b, user);
}

static void send_solicited(uint64_t id, unsigned flags)
{
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_SEND, 0, 8);
    wr.wr_id = id;
    wr.send_flags |= flags;
    post_recv(&b, 0, 64, id);
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, id);
}

static void test_one_event_for_one_arming(void **state)
{
    (void)state;
    start((struct options){.with_channel = true});
    send_solicited(1, 0);
    assert_false(readable(b.channel->fd)); /* nobody asked */
    assert_int_equal(0, ibv_req_notify_cq(b.cq, 0));
    assert_false(readable(b.channel->fd)); /* for what comes, not for what is there */
    send_solicited(2, 0);
    send_solicited(3, 0);
    assert_true(readable(b.channel->fd));
    get_event();
    assert_false(readable(b.channel->fd)); /* once */
    for (unsigned i = 1; i <= 3; i++) {
        EXPECT_WC(&b, IBV_WC_SUCCESS, i);
    }
    ibv_ack_cq_events(b.cq, 1);
    /* An event that nobody took goes with its queue. */
    assert_int_equal(0, ibv_req_notify_cq(b.cq, 0));
    send_solicited(4, 0);
    assert_int_equal(EBUSY, ibv_destroy_comp_channel(b.channel));
    stop();
}

static void test_solicited_only(void **state)
{
    (void)state;
    start((struct options){.with_channel = true});
    assert_int_equal(0, ibv_req_notify_cq(b.cq, 1));
    send_solicited(1, 0);
    assert_false(readable(b.channel->fd));
    send_solicited(2, IBV_SEND_SOLICITED);
    assert_true(readable(b.channel->fd));
    get_event();
    /* An error counts as solicited. */
    assert_int_equal(0, ibv_req_notify_cq(b.cq, 1));
    post_recv(&b, 0, 64, 3);
    set_state(&b, IBV_QPS_ERR);
    assert_true(readable(b.channel->fd));
    get_event();
    ibv_ack_cq_events(b.cq, 2);
    stop();
}

static void test_blocks_until_there_is_an_event(void **state)
{
    (void)state;
    start((struct options){.with_channel = true});
    const int flags = fcntl(b.channel->fd, F_GETFL);
    assert_int_equal(0, fcntl(b.channel->fd, F_SETFL, flags | O_NONBLOCK));
    struct ibv_cq *cq;
    void          *user;
    assert_int_equal(-1, ibv_get_cq_event(b.channel, &cq, &user));
    assert_int_equal(EAGAIN, errno);
    assert_int_equal(0, fcntl(b.channel->fd, F_SETFL, flags));
    command("link * latency=3us");
    assert_int_equal(0, ibv_req_notify_cq(b.cq, 0));
    post_recv(&b, 0, 64, 1);
    post_send(&a, 0, 8, 1);
    get_event(); /* nothing but this call lets time pass */
    ibv_ack_cq_events(b.cq, 1);
    EXPECT_WC(&b, IBV_WC_SUCCESS, 1);
    stop();
}

static void test_overrun(void **state)
{
    (void)state;
    struct ibv_async_event event;
    struct ibv_wc          wc;
    start((struct options){.cqe = 3});
    assert_int_equal(3, b.cq->cqe);
    for (unsigned i = 0; i < 4; i++) {
        post_recv(&b, 0, 64, i);
        post_send(&a, 0, 8, i);
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
    }
    assert_int_equal(0, ibv_get_async_event(b.ctx, &event));
    assert_int_equal(IBV_EVENT_CQ_ERR, event.event_type);
    assert_ptr_equal(b.cq, event.element.cq);
    ibv_ack_async_event(&event);
    assert_int_equal(0, ibv_get_async_event(b.ctx, &event));
    assert_int_equal(IBV_EVENT_QP_FATAL, event.event_type);
    ibv_ack_async_event(&event);
    assert_int_equal(IBV_QPS_ERR, state_of(&b));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(1, ibv_poll_cq(b.cq, 1, &wc));
    }
    assert_true(ibv_poll_cq(b.cq, 1, &wc) < 0);
    stop();
}

static void test_other_size(void **state)
{
    (void)state;
    start((struct options){.cqe = 4});
    for (unsigned i = 0; i < 3; i++) {
        send_solicited(i, 0);
    }
    assert_int_equal(EINVAL, ibv_resize_cq(b.cq, 2));
    assert_int_equal(0, ibv_resize_cq(b.cq, 9));
    assert_int_equal(9, b.cq->cqe);
    for (unsigned i = 3; i < 9; i++) {
        send_solicited(i, 0);
    }
    for (unsigned i = 0; i < 9; i++) {
        EXPECT_WC(&b, IBV_WC_SUCCESS, i);
    }
    stop();
}

static void test_extended_polls(void **state)
{
    (void)state;
    struct ibv_context        *ctx = open_device(1);
    struct ibv_cq_init_attr_ex init = {.cqe = 16,
                                       .wc_flags = IBV_WC_STANDARD_FLAGS |
                                                   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                                   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
    struct ibv_cq_ex          *cq = ibv_create_cq_ex(ctx, &init);
    struct ibv_poll_cq_attr    attr = {0};
    struct ibv_device_attr_ex  device;
    struct ibv_values_ex       values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
    assert_non_null(cq);
    assert_int_equal(0, ibv_query_device_ex(ctx, NULL, &device));
    assert_int_equal(UINT64_MAX, device.completion_timestamp_mask);
    assert_int_equal(1000000, device.hca_core_clock);
    start((struct options){.cq = ibv_cq_ex_to_cq(cq)});
    assert_int_equal(ENOENT, ibv_start_poll(cq, &attr));
    command("link * latency=10us");
    assert_int_equal(0, ibv_query_rt_values_ex(ctx, &values));
    const uint64_t from = (uint64_t)values.raw_clock.tv_nsec;
    post_recv(&b, 0, 0, 3);
    post_recv(&b, 0, 64, 4);
    post_remote(&a, &b, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 33, 9);
    post_send(&a, 0, 8, 10);
    int result;
    while ((result = ibv_start_poll(cq, &attr)) == ENOENT) {
    }
    assert_int_equal(0, result);
    assert_int_equal(3, cq->wr_id);
    assert_int_equal(IBV_WC_SUCCESS, cq->status);
    assert_int_equal(IBV_WC_RECV_RDMA_WITH_IMM, ibv_wc_read_opcode(cq));
    assert_int_equal(33, ibv_wc_read_byte_len(cq));
    assert_int_equal(9, ibv_wc_read_imm_data(cq));
    assert_int_equal(IBV_WC_WITH_IMM, ibv_wc_read_wc_flags(cq));
    assert_int_equal(b.qp->qp_num, ibv_wc_read_qp_num(cq));
    assert_int_equal(from + 20000, ibv_wc_read_completion_ts(cq));
    assert_true(ibv_wc_read_completion_wallclock_ns(cq) > 1600000000000000000u);
    assert_int_equal(0, ibv_next_poll(cq));
    assert_int_equal(4, cq->wr_id);
    assert_int_equal(ENOENT, ibv_next_poll(cq));
    ibv_end_poll(cq);
    stop();
    assert_int_equal(0, ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
    init.wc_flags = IBV_WC_EX_WITH_CVLAN;
    assert_null(ibv_create_cq_ex(ctx, &init));
    assert_int_equal(EOPNOTSUPP, errno);
    assert_int_equal(0, ibv_close_device(ctx));
}

static void test_extended_posts(void **state)
{
    (void)state;
    side_new(&a, (struct options){.device = 0, .inline_bytes = 64});
    side_new(&b, (struct options){.device = 1});
    assert_null(ibv_qp_to_qp_ex(a.qp)); /* made without them */
    assert_int_equal(0, ibv_destroy_qp(a.qp));
    struct ibv_qp_init_attr_ex init = {
        .send_cq = a.cq,
        .recv_cq = a.cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_inline_data = 64},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .pd = a.pd,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND_WITH_IMM |
                          IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_RDMA_READ};
    a.qp = ibv_create_qp_ex(a.ctx, &init);
    assert_non_null(a.qp);
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(a.qp);
    assert_non_null(ex);
    connect_sides(&a, &b, (struct link){0});
    const uint64_t remote = (uintptr_t)b.buffer;
    fill(&a, 0, 100, 1);
    post_recv(&b, 500, 64, 5);
    ibv_wr_start(ex);
    ex->wr_id = 1;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(ex, b.mr->rkey, remote);
    ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer, 100);
    ex->wr_id = 2;
    ibv_wr_send_imm(ex, 77);
    ibv_wr_set_inline_data(ex, a.buffer, 50);
    ex->wr_id = 3;
    ibv_wr_atomic_fetch_add(ex, b.mr->rkey, remote + 1000, 6);
    ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer + 2000, 8);
    assert_int_equal(0, ibv_wr_complete(ex));
    const struct ibv_wc wc = wait_cq(b.cq);
    assert_int_equal(77, wc.imm_data);
    assert_int_equal(50, wc.byte_len);
    for (unsigned i = 1; i <= 3; i++) {
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
    }
    assert_memory_equal(a.buffer, b.buffer, 100);
    assert_memory_equal(a.buffer, b.buffer + 500, 50);
    assert_int_equal(6, b.buffer[1000]);
    /* Taken back, and too many at once: nothing of the batch is posted. */
    ibv_wr_start(ex);
    ibv_wr_rdma_write(ex, b.mr->rkey, remote);
    ibv_wr_abort(ex);
    ibv_wr_start(ex);
    for (unsigned i = 0; i < 5; i++) {
        ibv_wr_rdma_write(ex, b.mr->rkey, remote);
        ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.buffer, 8);
    }
    assert_int_equal(ENOMEM, ibv_wr_complete(ex));
    expect_silence(&a);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_event_for_one_arming),
        cmocka_unit_test(test_solicited_only),
        cmocka_unit_test(test_blocks_until_there_is_an_event),
        cmocka_unit_test(test_overrun),
        cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_extended_polls),
        cmocka_unit_test(test_extended_posts),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
