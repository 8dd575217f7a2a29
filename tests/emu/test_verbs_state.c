/* SPDX-License-Identifier: BSD-3-Clause */
/* What a queue pair's states allow: each transition with the attributes it needs, and refusals of
 * everything else; posts in each state; limits of what is created; keys of objects in use. */
#include "verbs_test.h"

static struct side side;

static void start(enum ibv_qp_type type)
{
    side_new(&side, (struct options){.type = type, .inline_bytes = 64});
}

static int modify(int mask)
{
    struct ibv_qp_attr attr = {.port_num = 1,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = 5,
                               .timeout = 10,
                               .retry_cnt = 3,
                               .rnr_retry = 3,
                               .max_rd_atomic = 1,
                               .max_dest_rd_atomic = 1,
                               .min_rnr_timer = 1,
                               .ah_attr = {.is_global = 1, .port_num = 1}};
    attr.qp_state = (enum ibv_qp_state)(mask >> 26);
    return ibv_modify_qp(side.qp, &attr, mask & ((1 << 26) - 1));
}
#define TO(state, mask) modify((state) << 26 | IBV_QP_STATE | (mask))

static const int init_mask = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
static const int rtr_mask = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
static const int rts_mask =
    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

/* Each attribute that a transition needs is missed, and each that it does not know refused. */
static void expect_exactly(int to, int needed, int also)
{
    const enum ibv_qp_state was = state_of(&side);
    for (int bit = 0; bit < 21; bit++) {
        const int one = 1 << bit;
        if (one == IBV_QP_STATE || one == IBV_QP_CUR_STATE || (also & one) != 0) {
            continue;
        }
        assert_int_equal(EINVAL, TO(to, needed ^ one));
        assert_int_equal(was, state_of(&side));
    }
    assert_int_equal(0, TO(to, needed));
    assert_int_equal(to, state_of(&side));
}

static void test_rc_transitions(void **state)
{
    (void)state;
    start(IBV_QPT_RC);
    assert_int_equal(EINVAL, TO(IBV_QPS_RTR, rtr_mask));
    assert_int_equal(EINVAL, TO(IBV_QPS_ERR, 0));
    expect_exactly(IBV_QPS_INIT, init_mask, 0);
    assert_int_equal(EINVAL, TO(IBV_QPS_RTS, rts_mask));
    assert_int_equal(0, TO(IBV_QPS_INIT, IBV_QP_ACCESS_FLAGS));
    expect_exactly(IBV_QPS_RTR, rtr_mask, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX);
    assert_int_equal(EINVAL, TO(IBV_QPS_INIT, init_mask));
    expect_exactly(IBV_QPS_RTS, rts_mask, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER);
    assert_int_equal(0, TO(IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER));
    assert_int_equal(EINVAL, TO(IBV_QPS_RTS, IBV_QP_TIMEOUT));
    assert_int_equal(0, TO(IBV_QPS_SQD, 0));
    assert_int_equal(0, TO(IBV_QPS_SQD, IBV_QP_TIMEOUT));
    assert_int_equal(0, TO(IBV_QPS_RTS, 0));
    assert_int_equal(EINVAL, TO(IBV_QPS_SQE, 0));
    assert_int_equal(0, TO(IBV_QPS_ERR, 0));
    assert_int_equal(EINVAL, TO(IBV_QPS_RTS, 0));
    assert_int_equal(0, TO(IBV_QPS_RESET, 0));
    side_free(&side);
}

static void test_uc_and_ud_transitions(void **state)
{
    (void)state;
    start(IBV_QPT_UC);
    expect_exactly(IBV_QPS_INIT, init_mask, 0);
    expect_exactly(IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
                   IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX);
    expect_exactly(IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_ACCESS_FLAGS);
    side_free(&side);
    start(IBV_QPT_UD);
    expect_exactly(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0);
    expect_exactly(IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY);
    expect_exactly(IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_QKEY);
    side_free(&side);
}

static void test_values(void **state)
{
    (void)state;
    struct {
        int                mask;
        struct ibv_qp_attr attr;
    } wrong[] = {
        {IBV_QP_PORT, {.port_num = 0}},
        {IBV_QP_PORT, {.port_num = 3}},
        {IBV_QP_PKEY_INDEX, {.port_num = 1, .pkey_index = 1}},
        {IBV_QP_ACCESS_FLAGS, {.port_num = 1, .qp_access_flags = 1 << 12}},
    };
    start(IBV_QPT_RC);
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        wrong[i].attr.qp_state = IBV_QPS_INIT;
        assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &wrong[i].attr, IBV_QP_STATE | init_mask));
    }
    assert_int_equal(0, TO(IBV_QPS_INIT, init_mask));
    struct ibv_qp_attr good = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = IBV_MTU_4096,
                               .dest_qp_num = 5,
                               .ah_attr = {.is_global = 1, .port_num = 1}};
    struct ibv_qp_attr attr = good;
    attr.path_mtu = (enum ibv_mtu)6;
    assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | rtr_mask));
    attr = good;
    attr.ah_attr.is_global = 0; /* RoCE has nothing but GIDs */
    assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | rtr_mask));
    attr = good;
    attr.ah_attr.grh.sgid_index = 2;
    assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | rtr_mask));
    attr = good;
    attr.min_rnr_timer = 32;
    assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | rtr_mask));
    attr = good;
    attr.max_dest_rd_atomic = 17;
    assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | rtr_mask));
    assert_int_equal(0, ibv_modify_qp(side.qp, &good, IBV_QP_STATE | rtr_mask));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .retry_cnt = 8};
    assert_int_equal(EINVAL, ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | rts_mask));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_INIT};
    assert_int_equal(EINVAL,
                     ibv_modify_qp(side.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE | rts_mask));
    side_free(&side);
}

static void test_posts_by_state(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start(IBV_QPT_RC);
    struct ibv_send_wr wr = request(&side, &sge, IBV_WR_SEND, 0, 8);
    assert_int_equal(EINVAL, try_recv(&side, 0, 8, 1));
    assert_int_equal(EINVAL, post(&side, &wr));
    assert_int_equal(0, TO(IBV_QPS_INIT, init_mask));
    assert_int_equal(0, try_recv(&side, 0, 8, 1));
    assert_int_equal(EINVAL, post(&side, &wr));
    assert_int_equal(0, TO(IBV_QPS_RTR, rtr_mask));
    assert_int_equal(EINVAL, post(&side, &wr));
    assert_int_equal(0, TO(IBV_QPS_RTS, rts_mask));
    /* In the state of error everything is accepted and flushed, also what was there. */
    assert_int_equal(0, TO(IBV_QPS_ERR, 0));
    EXPECT_WC(&side, IBV_WC_WR_FLUSH_ERR, 1);
    wr.wr_id = 2;
    wr.send_flags = 0;
    assert_int_equal(0, post(&side, &wr));
    assert_int_equal(0, try_recv(&side, 0, 8, 3));
    EXPECT_WC(&side, IBV_WC_WR_FLUSH_ERR, 2);
    EXPECT_WC(&side, IBV_WC_WR_FLUSH_ERR, 3);
    side_free(&side);
}

static void test_reset_forgets(void **state)
{
    (void)state;
    start(IBV_QPT_RC);
    assert_int_equal(0, TO(IBV_QPS_INIT, init_mask));
    for (unsigned i = 0; i < side.with.recv_wr; i++) {
        post_recv(&side, 0, 8, i);
    }
    assert_int_equal(ENOMEM, try_recv(&side, 0, 8, 0));
    assert_int_equal(0, TO(IBV_QPS_ERR, 0));
    assert_int_equal(0, TO(IBV_QPS_RESET, 0)); /* its completions go, too */
    expect_silence(&side);
    assert_int_equal(0, TO(IBV_QPS_INIT, init_mask));
    assert_int_equal(0, try_recv(&side, 0, 8, 0));
    side_free(&side);
}

static void test_requests_that_make_no_sense(void **state)
{
    (void)state;
    struct ibv_sge      sge, five[5];
    struct ibv_send_wr *bad = NULL;
    struct side         uc, ud;
    start(IBV_QPT_RC);
    side_new(&uc, (struct options){.type = IBV_QPT_UC});
    side_new(&ud, (struct options){.type = IBV_QPT_UD});
    connect_self(&side, (struct link){0});
    connect_self(&uc, (struct link){0});
    connect_self(&ud, (struct link){0});
    struct ibv_send_wr wr = request(&side, &sge, IBV_WR_RDMA_READ, 0, 8);
    assert_int_equal(EINVAL, post(&uc, &wr));
    wr.opcode = IBV_WR_RDMA_WRITE;
    assert_int_equal(EINVAL, post(&ud, &wr));
    wr.opcode = IBV_WR_BIND_MW;
    assert_int_equal(EINVAL, post(&side, &wr));
    wr.opcode = IBV_WR_SEND;
    assert_int_equal(EINVAL, post(&ud, &wr)); /* no address handle */
    for (int i = 0; i < 5; i++) {
        five[i] = sge;
    }
    wr.sg_list = five;
    wr.num_sge = 5;
    assert_int_equal(EINVAL, post(&side, &wr));
    wr.num_sge = 1;
    five[0].length = 65;
    wr.send_flags |= IBV_SEND_INLINE;
    assert_int_equal(EINVAL, post(&side, &wr));
    /* A chain stops at the request that is wrong; those before it are posted. */
    post_recv(&side, 4096, 8, 50);
    struct ibv_sge     ok;
    struct ibv_send_wr first = request(&side, &ok, IBV_WR_SEND, 0, 8);
    first.next = &wr;
    assert_int_equal(EINVAL, ibv_post_send(side.qp, &first, &bad));
    assert_ptr_equal(&wr, bad);
    EXPECT_WC(&side, IBV_WC_SUCCESS, 50);
    EXPECT_WC(&side, IBV_WC_SUCCESS, 7);
    side_free(&side);
    side_free(&uc);
    side_free(&ud);
}

static void test_limits_and_uses(void **state)
{
    (void)state;
    struct ibv_device_attr attr;
    start(IBV_QPT_RC);
    assert_int_equal(0, ibv_query_device(side.ctx, &attr));
    struct ibv_qp_init_attr init = {.send_cq = side.cq,
                                    .recv_cq = side.cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = (uint32_t)attr.max_qp_wr + 1}};
    assert_null(ibv_create_qp(side.pd, &init));
    assert_int_equal(EINVAL, errno);
    init.cap = (struct ibv_qp_cap){.max_send_sge = (uint32_t)attr.max_sge + 1};
    assert_null(ibv_create_qp(side.pd, &init));
    assert_null(ibv_create_cq(side.ctx, attr.max_cqe + 1, NULL, NULL, 0));
    assert_null(ibv_create_cq(side.ctx, 1, NULL, NULL, side.ctx->num_comp_vectors));
    assert_null(ibv_create_cq(side.ctx, 0, NULL, NULL, 0));
    assert_int_equal(EBUSY, ibv_dealloc_pd(side.pd));
    assert_int_equal(EBUSY, ibv_destroy_cq(side.cq));
    /* Rights that need others, and memory that is not there. */
    assert_null(ibv_reg_mr(side.pd, side.buffer, 8, IBV_ACCESS_REMOTE_WRITE));
    assert_int_equal(EINVAL, errno);
    assert_null(ibv_reg_mr(side.pd, (void *)16, 8, IBV_ACCESS_LOCAL_WRITE));
    assert_int_equal(EFAULT, errno);
    side_free(&side);
}

static void test_errors_on_demand(void **state)
{
    (void)state;
    start(IBV_QPT_RC);
    emu_verbs_fail("ibv_create_qp:2=12,ibv_reg_mr=28");
    struct ibv_qp *qp = qp_new(&side);
    assert_non_null(qp);
    assert_null(qp_new(&side));
    assert_int_equal(ENOMEM, errno);
    assert_null(ibv_reg_mr(side.pd, side.buffer, 8, 0));
    assert_int_equal(ENOSPC, errno);
    emu_verbs_fail(NULL);
    assert_int_equal(0, ibv_destroy_qp(qp));
    side_free(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rc_transitions),  cmocka_unit_test(test_uc_and_ud_transitions),
        cmocka_unit_test(test_values),          cmocka_unit_test(test_posts_by_state),
        cmocka_unit_test(test_reset_forgets),   cmocka_unit_test(test_requests_that_make_no_sense),
        cmocka_unit_test(test_limits_and_uses), cmocka_unit_test(test_errors_on_demand),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
