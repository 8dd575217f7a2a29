/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The emulated verbs in real time: two processes, threads of one, a peer that is killed, events
 * that one process causes and another sees. Nothing here depends on how long anything takes but
 * that it ends.
 */
#include "verbs_test.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* What the two sides of a connection tell each other by pipe. */
struct address {
    uint32_t      qpn, rkey;
    union ibv_gid gid;
    uint64_t      buffer;
};

static struct side me;
static int         to_peer, from_peer;
static char        dir[64];

static void tell(const void *what, size_t bytes)
{
    if (write(to_peer, what, bytes) != (ssize_t)bytes) {
        abort();
    }
}

static void hear(void *what, size_t bytes)
{
    if (read(from_peer, what, bytes) != (ssize_t)bytes) {
        fprintf(stderr, "the other process ended early\n");
        exit(1);
    }
}

static void meet(void)
{
    char byte = 0;
    tell(&byte, 1);
    hear(&byte, 1);
}

static struct address connect_peer(struct link link)
{
    struct address own = {me.qp->qp_num, me.mr->rkey, gid_of(&me), (uintptr_t)me.buffer}, peer;
    tell(&own, sizeof own);
    hear(&peer, sizeof peer);
    assert_int_equal(0, to_init(&me, all_rights()));
    assert_int_equal(0, to_rtr(&me, &link, peer.qpn, &peer.gid));
    assert_int_equal(0, to_rts(&me, &link));
    meet();
    return peer;
}

/* Runs `what` in two processes: 0 is this one, 1 a child, 2 a child that is to be killed. */
static void in_two(void (*what)(int), int child_number)
{
    int ab[2], ba[2], status = 0;
    assert_int_equal(0, pipe(ab));
    assert_int_equal(0, pipe(ba));
    const pid_t child = fork_child();
    if (child == 0) {
        close(ab[1]);
        close(ba[0]);
        from_peer = ab[0];
        to_peer = ba[1];
        what(child_number);
        exit(0);
    }
    close(ab[0]);
    close(ba[1]);
    from_peer = ba[0];
    to_peer = ab[1];
    what(0);
    assert_int_equal(child, waitpid(child, &status, 0));
    if (child_number == 2) {
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    } else {
        assert_int_equal(0, status);
    }
    close(from_peer);
    close(to_peer);
}

static void post_to(const struct address *peer, enum ibv_wr_opcode opcode, size_t from, size_t at,
                    size_t bytes, uint64_t id)
{
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(&me, &sge, opcode, from, bytes);
    wr.wr_id = id;
    wr.imm_data = (uint32_t)id;
    wr.wr.rdma.remote_addr = peer->buffer + at;
    wr.wr.rdma.rkey = peer->rkey;
    assert_int_equal(0, post(&me, &wr));
}

enum { MESSAGES = 3000, DEPTH = 16, LARGEST = 32000, ROOM = 32768, TO = DEPTH / 2 * ROOM };

static size_t size_of(unsigned i)
{
    uint64_t random = i * 77 + 1;
    return draw(&random) % LARGEST + 8;
}

static void check_message(const char *at, unsigned i)
{
    const size_t bytes = size_of(i);
    for (size_t k = 0; k < bytes; k++) {
        if (at[k] != (char)(i * 7 + k)) {
            fail_msg("message %u has %d at %zu", i, at[k], k);
        }
    }
}

/* Both send to each other at once, writes and sends in turn, and read back what they wrote. */
static void both_ways(int number)
{
    (void)number;
    unsigned sent = 0, done = 0, got = 0, posted = 0;
    side_new(&me, (struct options){.device = 0});
    const struct address peer = connect_peer((struct link){.mtu = IBV_MTU_4096, .psn = 0xffff00});
    while (done < MESSAGES || got < MESSAGES) {
        struct ibv_wc wc;
        while (posted < MESSAGES && posted < got + DEPTH) {
            post_recv(&me, TO + posted % DEPTH * (size_t)ROOM, ROOM, posted);
            posted++;
        }
        if (sent == 0) {
            meet(); /* the other has its first receives, so that nothing has to wait for them */
        }
        while (sent < MESSAGES && sent < done + DEPTH / 2) {
            const size_t at = sent % (DEPTH / 2) * (size_t)ROOM;
            for (size_t k = 0; k < size_of(sent); k++) {
                me.buffer[at + k] = (char)(sent * 7 + k);
            }
            post_to(&peer, IBV_WR_SEND, at, 0, size_of(sent), sent);
            sent++;
        }
        while (ibv_poll_cq(me.cq, 1, &wc) == 1) {
            assert_int_equal(IBV_WC_SUCCESS, wc.status);
            if (wc.opcode == IBV_WC_RECV) {
                assert_int_equal(got, wc.wr_id);
                assert_int_equal(size_of(got), wc.byte_len);
                check_message(me.buffer + TO + got % DEPTH * (size_t)ROOM, got);
                got++;
            } else {
                assert_int_equal(done, wc.wr_id);
                done++;
            }
        }
    }
    meet();
    side_free(&me);
}

static void test_both_ways(void **state)
{
    (void)state;
    in_two(both_ways, 1);
}

static void test_both_ways_over_a_bad_link(void **state)
{
    (void)state;
    setenv("EMU_VERBS_FABRIC", "link * rate=100g latency=2us loss=0.001 reorder=0.002 late=20us",
           1);
    in_two(both_ways, 1);
    unsetenv("EMU_VERBS_FABRIC");
}

/* A word that the peer's NIC writes is seen by who looks at memory and calls nothing. */
static void by_memory_only(int number)
{
    side_new(&me, (struct options){.device = 1});
    const struct address       peer = connect_peer((struct link){0});
    volatile _Atomic uint64_t *word = (void *)me.buffer;
    for (uint64_t i = 1; i <= 100; i++) {
        if (number == 0) {
            const uint64_t value = i;
            memcpy(me.buffer + 4096, &value, sizeof value);
            post_to(&peer, IBV_WR_RDMA_WRITE, 4096, 0, 8, i);
            EXPECT_WC(&me, IBV_WC_SUCCESS, i);
        }
        while (atomic_load(word) != i) {
            sched_yield();
        }
        if (number == 1) {
            const uint64_t value = i;
            memcpy(me.buffer + 4096, &value, sizeof value);
            post_to(&peer, IBV_WR_RDMA_WRITE, 4096, 0, 8, i);
            EXPECT_WC(&me, IBV_WC_SUCCESS, i);
        }
    }
    meet();
    side_free(&me);
}

static void test_by_memory_only(void **state)
{
    (void)state;
    in_two(by_memory_only, 1);
}

static void blocking(int number)
{
    struct ibv_cq *cq;
    void          *user;
    side_new(&me, (struct options){.device = 0, .with_channel = true});
    (void)connect_peer((struct link){0});
    for (unsigned i = 0; i < 30; i++) { /* they take turns */
        const bool sends = (i + (unsigned)number) % 2 == 0;
        if (!sends) {
            post_recv(&me, 0, 64, i);
            assert_int_equal(0, ibv_req_notify_cq(me.cq, 1));
        }
        meet();
        if (sends) {
            struct ibv_sge     sge;
            struct ibv_send_wr wr = request(&me, &sge, IBV_WR_SEND, 64, 8);
            wr.send_flags = IBV_SEND_SOLICITED;
            assert_int_equal(0, post(&me, &wr));
        } else {
            assert_int_equal(0, ibv_get_cq_event(me.channel, &cq, &user));
            ibv_ack_cq_events(cq, 1);
            EXPECT_WC(&me, IBV_WC_SUCCESS, i);
        }
    }
    meet();
    side_free(&me);
}

static void test_blocking(void **state)
{
    (void)state;
    in_two(blocking, 1);
}

static void killed(int number)
{
    side_new(&me, (struct options){.device = 0});
    const struct address peer = connect_peer((struct link){.timeout = 8, .retry = 1});
    if (number == 2) {
        post_recv(&me, 0, 64, 1);
        meet();
        (void)wait_cq(me.cq);
        kill(getpid(), SIGKILL);
    }
    meet();
    post_to(&peer, IBV_WR_SEND, 0, 0, 8, 1);
    (void)wait_cq(me.cq);
    char byte;
    assert_int_equal(0, read(from_peer, &byte, 1)); /* it is dead */
    post_to(&peer, IBV_WR_RDMA_WRITE, 0, 0, 8, 2);
    struct ibv_wc wc = wait_cq(me.cq);
    while (wc.wr_id != 2) {
        wc = wait_cq(me.cq);
    }
    assert_true(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
    side_free(&me);
}

static void test_killed_peer(void **state)
{
    (void)state;
    in_two(killed, 2);
    in_two(both_ways, 1); /* its place is taken by another */
}

static void events(int number)
{
    struct ibv_async_event event;
    side_new(&me, (struct options){.device = 0});
    (void)connect_peer((struct link){.timeout = 10, .retry = 1});
    if (number == 1) {
        command("port emu0/1 down");
    }
    assert_int_equal(0, ibv_get_async_event(me.ctx, &event));
    assert_int_equal(IBV_EVENT_PORT_ERR, event.event_type);
    ibv_ack_async_event(&event);
    post_send(&me, 0, 8, 1);
    EXPECT_WC(&me, IBV_WC_RETRY_EXC_ERR, 1);
    meet();
    if (number == 1) {
        command("port emu0/1 up newgid");
    }
    assert_int_equal(0, ibv_get_async_event(me.ctx, &event));
    assert_int_equal(IBV_EVENT_GID_CHANGE, event.event_type);
    ibv_ack_async_event(&event);
    assert_int_equal(0, ibv_get_async_event(me.ctx, &event));
    assert_int_equal(IBV_EVENT_PORT_ACTIVE, event.event_type);
    ibv_ack_async_event(&event);
    set_state(&me, IBV_QPS_RESET);
    meet();
    (void)connect_peer((struct link){0});
    post_recv(&me, 0, 64, 2);
    meet();
    post_send(&me, 0, 8, 3);
    for (int i = 0; i < 2; i++) {
        const struct ibv_wc wc = wait_cq(me.cq);
        assert_int_equal(IBV_WC_SUCCESS, wc.status);
    }
    meet();
    side_free(&me);
}

static void test_port_events(void **state)
{
    (void)state;
    in_two(events, 1);
}

/* Threads that share nothing but the device, each with a connection through the fabric. */
static void *one_thread(void *arg)
{
    struct side *pair = arg;
    for (unsigned i = 0; i < 500; i++) {
        post_recv(&pair[1], 4096, 4096, i);
        post_send(&pair[0], 0, 1 + i * 8 % 4000, i);
        EXPECT_WC(&pair[1], IBV_WC_SUCCESS, i);
        EXPECT_WC(&pair[0], IBV_WC_SUCCESS, i);
        struct ibv_mr *mr = ibv_reg_mr(pair[0].pd, pair[0].buffer, 4096, 0);
        assert_non_null(mr);
        assert_int_equal(0, ibv_dereg_mr(mr));
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct side pairs[THREADS][2];
    pthread_t   threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        side_new(&pairs[i][0], (struct options){.device = 0});
        side_new(&pairs[i][1], (struct options){.device = 1});
        connect_sides(&pairs[i][0], &pairs[i][1], (struct link){0});
        assert_int_equal(0, pthread_create(&threads[i], NULL, one_thread, pairs[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        side_free(&pairs[i][0]);
        side_free(&pairs[i][1]);
    }
}

/* Devices of a host are the same ones for all of its processes; another host has others. */
static void hosts(int number)
{
    if (number == 1) {
        setenv("EMU_VERBS_HOST", "another", 1);
    }
    side_new(&me, (struct options){.device = 0});
    const struct address peer = connect_peer((struct link){0});
    const union ibv_gid  own = gid_of(&me);
    assert_memory_not_equal(&own, &peer.gid, sizeof own);
    post_recv(&me, 0, 64, 1);
    meet();
    post_send(&me, 0, 8, 2);
    for (int i = 0; i < 2; i++) {
        const struct ibv_wc wc = wait_cq(me.cq);
        assert_int_equal(IBV_WC_SUCCESS, wc.status);
    }
    meet();
    side_free(&me);
}

static void test_hosts(void **state)
{
    (void)state;
    in_two(hosts, 1);
}

static int clean(void **state)
{
    (void)state;
    DIR *folder = opendir(dir);
    if (folder != NULL) {
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
        }
        closedir(folder);
    }
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_over_a_bad_link), /* it makes the fabric */
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_by_memory_only),
        cmocka_unit_test(test_blocking),
        cmocka_unit_test(test_killed_peer),
        cmocka_unit_test(test_port_events),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_threads),
    };
    strcpy(dir, "/tmp/emu-verbs-XXXXXX");
    if (mkdtemp(dir) == NULL) {
        return 1;
    }
    setenv("EMU_VERBS_DIR", dir, 1);
    return cmocka_run_group_tests(tests, NULL, clean);
}
