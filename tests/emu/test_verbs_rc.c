/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RC in virtual time: every operation, sizes around the MTU, loss and reordering, overflow of
 * queues, limits of reads, shared receive queues.
 */
#include "verbs_test.h"

static struct side a, b;

static void start(struct link link)
{
    side_new(&a, (struct options){.device = 0, .inline_bytes = 256});
    side_new(&b, (struct options){.device = 1});
    connect_sides(&a, &b, link);
}

static void stop(void)
{
    side_free(&a);
    side_free(&b);
    command("link * plain");
}

static const size_t sizes[] = {0, 1, 255, 1023, 1024, 1025, 2048, 5000, 100000};

static void test_writes_and_reads(void **state)
{
    (void)state;
    start((struct link){.psn = 0xfffffe}); /* sequence numbers wrap */
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fill(&a, 0, sizes[i], i);
        b.buffer[sizes[i]] = 77;
        post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, sizes[i], i);
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
        assert_memory_equal(a.buffer, b.buffer, sizes[i]);
        assert_int_equal(77, b.buffer[sizes[i]]);
        post_remote(&a, &b, IBV_WR_RDMA_READ, 500000, 0, sizes[i], 100 + i);
        EXPECT_WC(&a, IBV_WC_SUCCESS, 100 + i);
        assert_memory_equal(a.buffer, a.buffer + 500000, sizes[i]);
    }
    expect_silence(&b); /* the other side notices nothing */
    stop();
}

static void test_sends(void **state)
{
    (void)state;
    start((struct link){0});
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fill(&a, 0, sizes[i], i);
        post_recv(&b, 0, sizes[i] + 10, 100 + i);
        post_send(&a, 0, sizes[i], i);
        const struct ibv_wc wc = wait_cq(b.cq);
        assert_int_equal(IBV_WC_SUCCESS, wc.status);
        assert_int_equal(IBV_WC_RECV, wc.opcode);
        assert_int_equal(100 + i, wc.wr_id);
        assert_int_equal(sizes[i], wc.byte_len);
        assert_int_equal(b.qp->qp_num, wc.qp_num);
        assert_int_equal(0, wc.wc_flags);
        assert_memory_equal(a.buffer, b.buffer, sizes[i]);
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
    }
    stop();
}

static void test_immediate(void **state)
{
    (void)state;
    start((struct link){0});
    fill(&a, 0, 3000, 1);
    post_recv(&b, 0, 4096, 1);
    post_recv(&b, 0, 0, 2);
    post_remote(&a, &b, IBV_WR_SEND_WITH_IMM, 0, 0, 3000, 0x01020304);
    post_remote(&a, &b, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 10000, 3000, 0x05060708);
    struct ibv_wc wc = wait_cq(b.cq);
    assert_int_equal(IBV_WC_RECV, wc.opcode);
    assert_int_equal(IBV_WC_WITH_IMM, wc.wc_flags);
    assert_int_equal(0x01020304, wc.imm_data);
    wc = wait_cq(b.cq);
    assert_int_equal(2, wc.wr_id);
    assert_int_equal(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
    assert_int_equal(0x05060708, wc.imm_data);
    assert_int_equal(3000, wc.byte_len);
    assert_memory_equal(a.buffer, b.buffer + 10000, 3000);
    stop();
}

static void test_lists_and_inline(void **state)
{
    (void)state;
    start((struct link){0});
    fill(&a, 0, 6000, 3);
    struct ibv_sge from[4], to[4];
    size_t         at = 0;
    for (unsigned i = 0; i < 4; i++) { /* 1500 in pieces of 1, 700, 799 and 0 bytes, out of order */
        static const uint32_t pieces[] = {1, 700, 0, 799};
        from[i] = (struct ibv_sge){(uintptr_t)a.buffer + 4000 - i * 1000, pieces[i], a.mr->lkey};
        to[i] = (struct ibv_sge){(uintptr_t)b.buffer + i * 2000, pieces[3 - i], b.mr->lkey};
        at += pieces[i];
    }
    struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = to, .num_sge = 4}, *bad_recv;
    assert_int_equal(0, ibv_post_recv(b.qp, &recv, &bad_recv));
    struct ibv_send_wr send = {.wr_id = 2,
                               .sg_list = from,
                               .num_sge = 4,
                               .opcode = IBV_WR_SEND,
                               .send_flags = IBV_SEND_SIGNALED};
    assert_int_equal(0, post(&a, &send));
    EXPECT_WC(&b, IBV_WC_SUCCESS, 1);
    char sent[1500], got[1500];
    memcpy(sent, a.buffer + 4000, 1);
    memcpy(sent + 1, a.buffer + 3000, 700);
    memcpy(sent + 701, a.buffer + 1000, 799);
    memcpy(got, b.buffer, 799);
    memcpy(got + 799, b.buffer + 4000, 700);
    memcpy(got + 1499, b.buffer + 6000, 1);
    assert_int_equal(1500, at);
    assert_memory_equal(sent, got, 1500);
    /* Inline: no key, and the buffer is the program's again at once. */
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 200);
    char               kept[200];
    memcpy(kept, a.buffer, 200);
    sge.lkey = 0;
    wr.send_flags |= IBV_SEND_INLINE;
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer + 20000;
    wr.wr.rdma.rkey = b.mr->rkey;
    assert_int_equal(0, post(&a, &wr));
    memset(a.buffer, 0, 200);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 2);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    assert_memory_equal(kept, b.buffer + 20000, 200);
    stop();
}

static uint64_t atomic_on(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(&a, &sge, opcode, 64, 8);
    wr.wr.atomic.remote_addr = (uintptr_t)b.buffer + 8;
    wr.wr.atomic.rkey = b.mr->rkey;
    wr.wr.atomic.compare_add = compare_add;
    wr.wr.atomic.swap = swap;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    uint64_t old;
    memcpy(&old, a.buffer + 64, sizeof old);
    return old;
}

static uint64_t target(void)
{
    uint64_t value;
    memcpy(&value, b.buffer + 8, sizeof value);
    return value;
}

static void test_atomics(void **state)
{
    (void)state;
    start((struct link){0});
    assert_int_equal(0, atomic_on(IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0));
    assert_int_equal(5, atomic_on(IBV_WR_ATOMIC_FETCH_AND_ADD, (uint64_t)-2, 0));
    assert_int_equal(3, target());
    assert_int_equal(3, atomic_on(IBV_WR_ATOMIC_CMP_AND_SWP, 4, 9));
    assert_int_equal(3, target());
    assert_int_equal(3, atomic_on(IBV_WR_ATOMIC_CMP_AND_SWP, 3, 9));
    assert_int_equal(9, target());
    /* Each is carried out once, whatever is lost. */
    command("link * loss=0.05");
    for (uint64_t i = 0; i < 200; i++) {
        assert_int_equal(9 + i, atomic_on(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0));
    }
    assert_int_equal(209, target());
    stop();
}

static void test_chains_and_selective_signalling(void **state)
{
    (void)state;
    start((struct link){0});
    struct ibv_sge     sge[8];
    struct ibv_send_wr wr[8];
    fill(&a, 0, 8 * 512, 9);
    for (unsigned i = 0; i < 8; i++) {
        wr[i] = request(&a, &sge[i], IBV_WR_RDMA_WRITE, i * 512, 512);
        wr[i].wr_id = i;
        wr[i].send_flags = i == 3 || i == 7 ? IBV_SEND_SIGNALED : 0;
        wr[i].next = i < 7 ? &wr[i + 1] : NULL;
        wr[i].wr.rdma.remote_addr = (uintptr_t)b.buffer + i * 512;
        wr[i].wr.rdma.rkey = b.mr->rkey;
    }
    assert_int_equal(0, post(&a, wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 3);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    expect_silence(&a);
    assert_memory_equal(a.buffer, b.buffer, 8 * 512);
    stop();
}

/* A slot is free when a completion behind it was polled, and not before. */
static void test_queues_overflow(void **state)
{
    (void)state;
    start((struct link){0});
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 8);
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
    wr.wr.rdma.rkey = b.mr->rkey;
    wr.send_flags = 0;
    for (unsigned i = 0; i < a.with.send_wr - 1; i++) {
        assert_int_equal(0, post(&a, &wr));
    }
    expect_silence(&a); /* all are done, nobody knows */
    wr.send_flags = IBV_SEND_SIGNALED;
    assert_int_equal(0, post(&a, &wr));
    assert_int_equal(ENOMEM, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    for (unsigned i = 0; i < a.with.send_wr; i++) {
        assert_int_equal(0, post(&a, &wr));
    }
    assert_int_equal(ENOMEM, post(&a, &wr));
    for (unsigned i = 0; i < b.with.recv_wr; i++) {
        post_recv(&b, 0, 8, i);
    }
    assert_int_equal(ENOMEM, try_recv(&b, 0, 8, 0));
    stop();
}

static void test_zero_based_and_other_addresses(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start((struct link){0});
    const int      rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    struct ibv_mr *zero = ibv_reg_mr(b.pd, b.buffer + 100, 64, rights | IBV_ACCESS_ZERO_BASED);
    struct ibv_mr *other = ibv_reg_mr_iova(b.pd, b.buffer + 200, 64, 0x7000, rights);
    assert_non_null(zero);
    assert_non_null(other);
    fill(&a, 0, 64, 5);
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 64);
    wr.wr.rdma.remote_addr = 0;
    wr.wr.rdma.rkey = zero->rkey;
    assert_int_equal(0, post(&a, &wr));
    wr.wr.rdma.remote_addr = 0x7000;
    wr.wr.rdma.rkey = other->rkey;
    assert_int_equal(0, post(&a, &wr));
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    assert_memory_equal(a.buffer, b.buffer + 100, 64);
    assert_memory_equal(a.buffer, b.buffer + 200, 64);
    assert_int_equal(0, ibv_dereg_mr(zero));
    assert_int_equal(0, ibv_dereg_mr(other));
    stop();
}

static void expect_event(struct side *side, enum ibv_event_type type)
{
    struct ibv_async_event event;
    assert_int_equal(0, ibv_get_async_event(side->ctx, &event));
    assert_int_equal(type, event.event_type);
    assert_ptr_equal(side->qp, event.element.qp);
    ibv_ack_async_event(&event);
}

/* Sends, writes with immediate and reads of random sizes over a bad link: each arrives once and in
 * order. Returns when it was over. */
static uint64_t bad_weather(const char *weather, unsigned messages)
{
    uint64_t random = 12345;
    unsigned sent = 0, got = 0, done = 0, posted = 0;
    start((struct link){.timeout = 8, .psn = 0xffff00, .reads = 2});
    const uint64_t from = emu_verbs_now_ns();
    command(weather);
    while (done < messages) {
        struct ibv_wc wc;
        while (posted < messages && posted < got + 32) {
            post_recv(&b, 600000, 8000, posted++);
        }
        while (sent < messages && sent < done + 32) {
            const size_t bytes = draw(&random) % 8000;
            const size_t at = (sent % 64) * 8192;
            memcpy(a.buffer + at, &sent, sizeof sent);
            switch (draw(&random) % 3) {
            case 0:
                post_remote(&a, &b, IBV_WR_SEND_WITH_IMM, at, 0, bytes, sent);
                break;
            case 1:
                post_remote(&a, &b, IBV_WR_RDMA_WRITE_WITH_IMM, at, at, bytes, sent);
                break;
            default:
                post_remote(&a, &b, IBV_WR_RDMA_READ, 700000, at, bytes, 1u << 31);
                post_remote(&a, &b, IBV_WR_SEND_WITH_IMM, at, 0, bytes, sent);
            }
            sent++;
        }
        while (ibv_poll_cq(b.cq, 1, &wc) == 1) {
            assert_int_equal(IBV_WC_SUCCESS, wc.status);
            assert_int_equal(got, wc.imm_data);
            assert_int_equal(got, wc.wr_id);
            got++;
        }
        while (ibv_poll_cq(a.cq, 1, &wc) == 1) {
            assert_int_equal(IBV_WC_SUCCESS, wc.status);
            if (wc.opcode != IBV_WC_RDMA_READ) {
                assert_int_equal(done, wc.wr_id);
                done++;
            }
        }
    }
    const uint64_t took = emu_verbs_now_ns() - from;
    stop();
    assert_int_equal(messages, done);
    return took;
}

static void test_loss_and_reordering(void **state)
{
    (void)state;
    assert_int_not_equal(0, bad_weather("link * rate=100g latency=1us loss=0.02", 3000));
    assert_int_not_equal(0, bad_weather("link * rate=100g reorder=0.05 late=10us", 3000));
    assert_int_not_equal(0, bad_weather("link * loss=0.02 reorder=0.1 late=3us latency=1us", 3000));
}

static void test_one_packet_lost(void **state)
{
    (void)state;
    struct emu_link_counts before, after;
    start((struct link){.timeout = 14});
    assert_int_equal(0, emu_verbs_counts("up:emu0/1", &before));
    command("link up:emu0/1 drop=1");
    const uint64_t from = emu_verbs_now_ns();
    fill(&a, 0, 10000, 2);
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 10000, 1);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    assert_int_equal(0, emu_verbs_counts("up:emu0/1", &after));
    assert_int_equal(1, after.lost - before.lost);
    /* The gap was reported at once, without a timer. */
    assert_int_equal(0, emu_verbs_now_ns() - from);
    /* The acknowledgement of the only packet is lost: only the timer can tell. */
    command("link up:emu1/1 drop=1");
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 8, 2);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 2);
    assert_int_equal((uint64_t)4096 << 14, emu_verbs_now_ns() - from);
    stop();
}

static void test_reads_are_limited_and_fenced(void **state)
{
    (void)state;
    struct ibv_sge sge;
    start((struct link){.reads = 1});
    command("link * latency=5us");
    const uint64_t from = emu_verbs_now_ns();
    for (unsigned i = 0; i < 3; i++) {
        post_remote(&a, &b, IBV_WR_RDMA_READ, 0, 0, 8, i);
    }
    struct ibv_send_wr wr = request(&a, &sge, IBV_WR_RDMA_WRITE, 0, 8);
    wr.send_flags |= IBV_SEND_FENCE;
    wr.wr.rdma.remote_addr = (uintptr_t)b.buffer;
    wr.wr.rdma.rkey = b.mr->rkey;
    assert_int_equal(0, post(&a, &wr));
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_WC(&a, IBV_WC_SUCCESS, i);
        assert_int_equal((i + 1) * 20000, emu_verbs_now_ns() - from); /* up, down, and back */
    }
    EXPECT_WC(&a, IBV_WC_SUCCESS, 7);
    assert_int_equal(4 * 20000, emu_verbs_now_ns() - from);
    stop();
}

static void test_shared_receive_queue(void **state)
{
    (void)state;
    struct side c, d;
    side_new(&a, (struct options){.device = 0});
    side_new(&b, (struct options){.device = 1, .with_srq = true});
    side_new(&c, (struct options){.device = 0});
    connect_sides(&a, &b, (struct link){0});
    d = b;
    d.qp = qp_new(&b); /* another on the same queue */
    connect_sides(&c, &d, (struct link){0});
    struct ibv_recv_wr wr = {0}, *bad;
    assert_int_equal(EINVAL, ibv_post_recv(b.qp, &wr, &bad));
    struct ibv_srq_attr attr = {.srq_limit = 2};
    assert_int_equal(0, ibv_modify_srq(b.srq, &attr, IBV_SRQ_LIMIT));
    for (unsigned i = 0; i < 3; i++) {
        post_recv(&b, 64 * i, 64, i);
    }
    post_send(&a, 0, 8, 1);
    struct ibv_wc wc = wait_cq(b.cq);
    assert_int_equal(b.qp->qp_num, wc.qp_num);
    assert_int_equal(0, wc.wr_id);
    post_send(&c, 0, 8, 1);
    wc = wait_cq(b.cq);
    assert_int_equal(d.qp->qp_num, wc.qp_num);
    assert_int_equal(1, wc.wr_id);
    struct ibv_async_event event;
    assert_int_equal(0, ibv_get_async_event(b.ctx, &event));
    assert_int_equal(IBV_EVENT_SRQ_LIMIT_REACHED, event.event_type);
    assert_ptr_equal(b.srq, event.element.srq);
    ibv_ack_async_event(&event);
    assert_int_equal(0, ibv_query_srq(b.srq, &attr));
    assert_int_equal(0, attr.srq_limit);
    /* A QP in error leaves the queue alone, and says that it takes no more from it. */
    set_state(&b, IBV_QPS_ERR);
    expect_event(&b, IBV_EVENT_QP_LAST_WQE_REACHED);
    post_send(&c, 0, 8, 2);
    wc = wait_cq(b.cq);
    assert_int_equal(IBV_WC_SUCCESS, wc.status);
    assert_int_equal(2, wc.wr_id);
    assert_int_equal(EBUSY, ibv_destroy_srq(b.srq));
    assert_int_equal(0, ibv_destroy_qp(d.qp));
    side_free(&c);
    stop();
}

static void test_send_queue_drains(void **state)
{
    (void)state;
    start((struct link){0});
    command("link * latency=5us");
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 8, 1);
    struct ibv_wc wc;
    assert_int_equal(0, ibv_poll_cq(a.cq, 1, &wc)); /* it is under way */
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1};
    assert_int_equal(0, ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
    post_remote(&a, &b, IBV_WR_RDMA_WRITE, 0, 0, 8, 2);
    expect_event(&a, IBV_EVENT_SQ_DRAINED);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 1);
    expect_silence(&a);
    set_state(&a, IBV_QPS_RTS);
    EXPECT_WC(&a, IBV_WC_SUCCESS, 2);
    stop();
}

static void test_same_seed_same_run(void **state)
{
    (void)state;
    uint64_t took[2];
    for (int i = 0; i < 2; i++) {
        int pipes[2];
        assert_int_equal(0, pipe(pipes));
        const pid_t child = fork_child();
        if (child == 0) {
            const uint64_t ns = bad_weather("link * rate=10g loss=0.05 latency=2us", 500);
            _exit(write(pipes[1], &ns, sizeof ns) != sizeof ns);
        }
        int status;
        assert_int_equal(sizeof took[i], read(pipes[0], &took[i], sizeof took[i]));
        assert_int_equal(child, waitpid(child, &status, 0));
        assert_int_equal(0, status);
        close(pipes[0]);
        close(pipes[1]);
    }
    assert_int_equal(took[0], took[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_seed_same_run), /* before this process uses the library */
        cmocka_unit_test(test_writes_and_reads),
        cmocka_unit_test(test_sends),
        cmocka_unit_test(test_immediate),
        cmocka_unit_test(test_lists_and_inline),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_chains_and_selective_signalling),
        cmocka_unit_test(test_queues_overflow),
        cmocka_unit_test(test_zero_based_and_other_addresses),
        cmocka_unit_test(test_loss_and_reordering),
        cmocka_unit_test(test_one_packet_lost),
        cmocka_unit_test(test_reads_are_limited_and_fenced),
        cmocka_unit_test(test_shared_receive_queue),
        cmocka_unit_test(test_send_queue_drains),
    };
    setenv("EMU_VERBS_TIME", "virtual", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
