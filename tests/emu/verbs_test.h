/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the emulated verbs share: a side of a connection with everything that it
 * needs, connecting two, posting, waiting for a completion. Most tests run in virtual time with
 * both sides in one process, so they are the same each time and wait for nothing.
 */
#ifndef CT_TESTS_EMU_VERBS_TEST_H
#define CT_TESTS_EMU_VERBS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <infiniband/verbs.h>

#include "emu/verbs/fabric.h"

int      emu_verbs_command(const char *text);
void     emu_verbs_fail(const char *list);
int      emu_verbs_counts(const char *link, struct emu_link_counts *counts);
uint64_t emu_verbs_now_ns(void);

enum { BUFFER = 1 << 20, MANY_POLLS = 50000000 };

/* What a side is made with; zero means what side_new says. */
struct options {
    enum ibv_qp_type type;
    unsigned         device, port, cqe, send_wr, recv_wr, sge, inline_bytes;
    bool             with_srq, with_channel, signal_all;
    struct ibv_cq   *cq; /* another's */
};

struct side {
    struct options           with;
    struct ibv_context      *ctx;
    struct ibv_pd           *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq           *cq;
    struct ibv_srq          *srq;
    struct ibv_qp           *qp;
    struct ibv_mr           *mr;
    char                    *buffer;
};

/* How two sides are connected; zero means what connect_sides says. */
struct link {
    unsigned mtu, timeout, retry, rnr_retry, rnr_timer, reads, psn, access;
    bool     no_retry, no_rnr_retry;
};

static inline struct ibv_context *open_device(unsigned i)
{
    int                 n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    assert_non_null(list);
    assert_true((int)i < n);
    struct ibv_context *ctx = ibv_open_device(list[i]);
    assert_non_null(ctx);
    ibv_free_device_list(list);
    return ctx;
}

static inline struct ibv_qp *qp_new(struct side *side)
{
    struct ibv_qp_init_attr init = {.send_cq = side->cq,
                                    .recv_cq = side->cq,
                                    .srq = side->srq,
                                    .qp_type = side->with.type,
                                    .sq_sig_all = side->with.signal_all,
                                    .cap = {.max_send_wr = side->with.send_wr,
                                            .max_recv_wr = side->with.recv_wr,
                                            .max_send_sge = side->with.sge,
                                            .max_recv_sge = side->with.sge,
                                            .max_inline_data = side->with.inline_bytes}};
    return ibv_create_qp(side->pd, &init);
}

static inline void side_new(struct side *side, struct options with)
{
    const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                       IBV_ACCESS_REMOTE_ATOMIC;
    with.type = with.type != 0 ? with.type : IBV_QPT_RC;
    with.port = with.port != 0 ? with.port : 1;
    with.cqe = with.cqe != 0 ? with.cqe : 256;
    with.send_wr = with.send_wr != 0 ? with.send_wr : 64;
    with.recv_wr = with.recv_wr != 0 ? with.recv_wr : 64;
    with.sge = with.sge != 0 ? with.sge : 4;
    memset(side, 0, sizeof *side);
    side->with = with;
    side->ctx = open_device(with.device);
    side->pd = ibv_alloc_pd(side->ctx);
    assert_non_null(side->pd);
    if (with.with_channel) {
        side->channel = ibv_create_comp_channel(side->ctx);
        assert_non_null(side->channel);
    }
    side->cq =
        with.cq != NULL ? with.cq : ibv_create_cq(side->ctx, (int)with.cqe, side, side->channel, 0);
    assert_non_null(side->cq);
    if (with.with_srq) {
        struct ibv_srq_init_attr srq = {.attr = {.max_wr = with.recv_wr, .max_sge = with.sge}};
        side->srq = ibv_create_srq(side->pd, &srq);
        assert_non_null(side->srq);
    }
    side->qp = qp_new(side);
    assert_non_null(side->qp);
    side->buffer = aligned_alloc(4096, BUFFER);
    assert_non_null(side->buffer);
    memset(side->buffer, 0, BUFFER);
    side->mr = ibv_reg_mr(side->pd, side->buffer, BUFFER, rights);
    assert_non_null(side->mr);
}

static inline void side_free(struct side *side)
{
    if (side->qp != NULL) {
        assert_int_equal(0, ibv_destroy_qp(side->qp));
    }
    if (side->srq != NULL) {
        assert_int_equal(0, ibv_destroy_srq(side->srq));
    }
    if (side->with.cq == NULL) {
        assert_int_equal(0, ibv_destroy_cq(side->cq));
    }
    if (side->channel != NULL) {
        assert_int_equal(0, ibv_destroy_comp_channel(side->channel));
    }
    assert_int_equal(0, ibv_dereg_mr(side->mr));
    assert_int_equal(0, ibv_dealloc_pd(side->pd));
    assert_int_equal(0, ibv_close_device(side->ctx));
    free(side->buffer);
}

static inline int to_init(struct side *side, unsigned access)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = (uint8_t)side->with.port,
                               .qkey = 0x1234,
                               .qp_access_flags = access};
    return ibv_modify_qp(side->qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                             (side->with.type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

/* To a place given by number and GID, as it comes from another process. */
static inline int to_rtr(struct side *side, const struct link *link, uint32_t qpn,
                         const union ibv_gid *gid)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = link->mtu != 0 ? (enum ibv_mtu)link->mtu : IBV_MTU_1024,
                               .dest_qp_num = qpn,
                               .rq_psn = link->psn,
                               .max_dest_rd_atomic = (uint8_t)(link->reads != 0 ? link->reads : 4),
                               .min_rnr_timer =
                                   (uint8_t)(link->rnr_timer != 0 ? link->rnr_timer : 12),
                               .ah_attr = {.is_global = 1,
                                           .grh = {.dgid = *gid, .sgid_index = 1, .hop_limit = 9},
                                           .port_num = (uint8_t)side->with.port}};
    int                mask = IBV_QP_STATE;
    if (side->with.type != IBV_QPT_UD) {
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    }
    if (side->with.type == IBV_QPT_RC) {
        mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
    return ibv_modify_qp(side->qp, &attr, mask);
}

static inline int to_rts(struct side *side, const struct link *link)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .sq_psn = link->psn,
                               .timeout = (uint8_t)(link->timeout != 0 ? link->timeout : 14),
                               .retry_cnt = (uint8_t)(link->no_retry     ? 0
                                                      : link->retry != 0 ? link->retry
                                                                         : 7),
                               .rnr_retry = (uint8_t)(link->no_rnr_retry     ? 0
                                                      : link->rnr_retry != 0 ? link->rnr_retry
                                                                             : 7),
                               .max_rd_atomic = (uint8_t)(link->reads != 0 ? link->reads : 4)};
    int                mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (side->with.type == IBV_QPT_RC) {
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    return ibv_modify_qp(side->qp, &attr, mask);
}

static inline union ibv_gid gid_of(struct side *side)
{
    union ibv_gid gid;
    assert_int_equal(0, ibv_query_gid(side->ctx, (uint8_t)side->with.port, 1, &gid));
    return gid;
}

static inline unsigned all_rights(void)
{
    return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

static inline void connect_sides(struct side *a, struct side *b, struct link link)
{
    const union ibv_gid gid_a = gid_of(a), gid_b = gid_of(b);
    const unsigned      access = link.access != 0 ? link.access : all_rights();
    assert_int_equal(0, to_init(a, access));
    assert_int_equal(0, to_init(b, access));
    assert_int_equal(0, to_rtr(a, &link, b->qp->qp_num, &gid_b));
    assert_int_equal(0, to_rtr(b, &link, a->qp->qp_num, &gid_a));
    assert_int_equal(0, to_rts(a, &link));
    assert_int_equal(0, to_rts(b, &link));
}

/* A queue pair that is its own peer. */
static inline void connect_self(struct side *side, struct link link)
{
    const union ibv_gid gid = gid_of(side);
    assert_int_equal(0, to_init(side, all_rights()));
    assert_int_equal(0, to_rtr(side, &link, side->qp->qp_num, &gid));
    assert_int_equal(0, to_rts(side, &link));
}

/* A request of one piece of the buffer, signalled. */
static inline struct ibv_send_wr request(struct side *side, struct ibv_sge *sge,
                                         enum ibv_wr_opcode opcode, size_t from, size_t bytes)
{
    *sge = (struct ibv_sge){(uintptr_t)side->buffer + from, (uint32_t)bytes, side->mr->lkey};
    return (struct ibv_send_wr){.wr_id = 7,
                                .sg_list = sge,
                                .num_sge = bytes > 0,
                                .opcode = opcode,
                                .send_flags = IBV_SEND_SIGNALED};
}

static inline int post(struct side *side, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad = NULL;
    return ibv_post_send(side->qp, wr, &bad);
}

static inline void post_remote(struct side *side, struct side *to, enum ibv_wr_opcode opcode,
                               size_t from, size_t at, size_t bytes, uint64_t id)
{
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(side, &sge, opcode, from, bytes);
    wr.wr_id = id;
    wr.imm_data = (uint32_t)id;
    wr.wr.rdma.remote_addr = (uintptr_t)to->buffer + at;
    wr.wr.rdma.rkey = to->mr->rkey;
    assert_int_equal(0, post(side, &wr));
}

static inline void post_send(struct side *side, size_t from, size_t bytes, uint64_t id)
{
    struct ibv_sge     sge;
    struct ibv_send_wr wr = request(side, &sge, IBV_WR_SEND, from, bytes);
    wr.wr_id = id;
    assert_int_equal(0, post(side, &wr));
}

static inline int try_recv(struct side *side, size_t at, size_t bytes, uint64_t id)
{
    struct ibv_sge     sge = {(uintptr_t)side->buffer + at, (uint32_t)bytes, side->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = bytes > 0}, *bad = NULL;
    return side->srq != NULL ? ibv_post_srq_recv(side->srq, &wr, &bad)
                             : ibv_post_recv(side->qp, &wr, &bad);
}

static inline void post_recv(struct side *side, size_t at, size_t bytes, uint64_t id)
{
    assert_int_equal(0, try_recv(side, at, bytes, id));
}

/* The next completion of a queue; the test fails if none comes. */
static inline struct ibv_wc wait_cq(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    for (int i = 0; i < MANY_POLLS; i++) {
        const int n = ibv_poll_cq(cq, 1, &wc);
        assert_true(n >= 0);
        if (n == 1) {
            return wc;
        }
    }
    fail_msg("no completion came");
    return wc;
}

static inline void expect_wc_at(struct side *side, enum ibv_wc_status status, uint64_t id, int line)
{
    const struct ibv_wc wc = wait_cq(side->cq);
    if (wc.status != status || wc.wr_id != id) {
        fail_msg("line %d: wanted %s of request %llu, found %s of %llu", line,
                 ibv_wc_status_str(status), (unsigned long long)id, ibv_wc_status_str(wc.status),
                 (unsigned long long)wc.wr_id);
    }
}
#define EXPECT_WC(side, status, id) expect_wc_at(side, status, id, __LINE__)

/* Nothing comes, however much time passes. */
static inline void expect_silence(struct side *side)
{
    struct ibv_wc wc;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(0, ibv_poll_cq(side->cq, 1, &wc));
    }
}

static inline enum ibv_qp_state state_of(struct side *side)
{
    struct ibv_qp_attr      attr;
    struct ibv_qp_init_attr init;
    assert_int_equal(0, ibv_query_qp(side->qp, &attr, IBV_QP_STATE, &init));
    return attr.qp_state;
}

static inline void set_state(struct side *side, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    assert_int_equal(0, ibv_modify_qp(side->qp, &attr, IBV_QP_STATE));
}

static inline void fill(struct side *side, size_t from, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++) {
        side->buffer[from + i] = (char)((i * 131 + seed * 17 + (i >> 8)) & 0xff);
    }
}

/* A process of its own, in which a check that fails aborts. */
static inline pid_t fork_child(void)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
    }
    return child;
}

static inline void command(const char *text)
{
    assert_int_equal(0, emu_verbs_command(text));
}

static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x2545f4914f6cdd1du;
}

#endif
