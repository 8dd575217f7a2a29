/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of ctran_comm_revoke(3) where nobody dies: agreement, shrink, and what a revocation
 * releases. What deaths do to them is tests/fault/shrink.c. Run by failures.test, with and without
 * --enable-recovery.
 */
#include "check.h"

static ctran_comm_t comm; /* a subject's own */

static void begin(void)
{
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
}

/* Rank 0 revokes once the others are, or are about to be, in their call. */
static void revoke_at_0(void)
{
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        OK(ctran_comm_revoke(comm));
    }
}

static void end(void)
{
    int flag;
    do {
        OK(ctran_comm_is_revoked(comm, &flag));
    } while (flag == 0);
    EXPECT_RC(CTRAN_ERR_REVOKED, ctran_barrier(comm));
    EXPECT_RC(CTRAN_ERR_REVOKED, ctran_send(&flag, 1, CTRAN_INT, check_rank, 0, comm));
    OK(ctran_comm_free(&comm));
}

/* ---- agreement ------------------------------------------------------------------------------- */

static void agree(void)
{
    begin();
    for (int i = 0; i < 50; i++) {
        int flag = ~(1 << check_rank) ^ (i % 2 << 20);
        OK(ctran_comm_agree(comm, &flag));
        EXPECT_EQ(~((1 << check_size) - 1) ^ (i % 2 << 20), flag);
    }
    OK(ctran_comm_free(&comm));
}

/* Several under way, completed in another order. */
static void agree_at_once(void)
{
    enum { N = 20 };
    ctran_request_t requests[N];
    int             flags[N];
    begin();
    for (int i = 0; i < N; i++) {
        flags[i] = check_rank == i % check_size ? i : -1;
        OK(ctran_comm_iagree(comm, &flags[i], &requests[i]));
    }
    for (int i = N - 1; i >= 0; i--) {
        OK(ctran_wait(&requests[i], CTRAN_STATUS_IGNORE));
        EXPECT_EQ(i, flags[i]);
    }
    OK(ctran_comm_free(&comm));
}

static void agree_on_a_revoked(void)
{
    int flag = 6;
    begin();
    revoke_at_0();
    OK(ctran_comm_agree(comm, &flag));
    EXPECT_EQ(6, flag);
    end();
}

/* Each group gets the other's. */
static void agree_between_groups(void)
{
    ctran_comm_t half, inter, fewer;
    const int    high = check_rank >= check_size / 2;
    int          flag = high ? 5 : 12, n;
    if (check_size == 1) {
        return;
    }
    OK(ctran_comm_split(CTRAN_COMM_WORLD, high, 0, &half));
    OK(ctran_intercomm_create(half, 0, CTRAN_COMM_WORLD, high ? 0 : check_size / 2, 7, &inter));
    OK(ctran_comm_agree(inter, &flag));
    EXPECT_EQ(high ? 12 : 5, flag);
    OK(ctran_comm_shrink(inter, &fewer));
    OK(ctran_comm_remote_size(fewer, &n));
    EXPECT_EQ(high ? check_size / 2 : check_size - check_size / 2, n);
    OK(ctran_barrier(fewer));
    OK(ctran_comm_set_errhandler(inter, CTRAN_ERRORS_RETURN));
    if (check_rank == 0) {
        OK(ctran_comm_revoke(inter));
    } else {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_recv(&n, 1, CTRAN_INT, 0, 0, inter,
                                                CTRAN_STATUS_IGNORE));
    }
    OK(ctran_comm_free(&fewer));
    OK(ctran_comm_free(&inter));
    OK(ctran_comm_free(&half));
}

/* ---- shrink ---------------------------------------------------------------------------------- */

static void shrink(void)
{
    ctran_comm_t    fewer, later;
    ctran_request_t request;
    int             n, rank, result;
    begin();
    revoke_at_0();
    OK(ctran_comm_shrink(comm, &fewer));
    OK(ctran_comm_ishrink(comm, &later, &request));
    OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_size(fewer, &n));
    OK(ctran_comm_rank(fewer, &rank));
    EXPECT_EQ(check_size, n);
    EXPECT_EQ(check_rank, rank);
    OK(ctran_comm_compare(fewer, later, &result));
    EXPECT_EQ(CTRAN_CONGRUENT, result);
    OK(ctran_barrier(later));
    OK(ctran_barrier(fewer));
    OK(ctran_comm_free(&later));
    OK(ctran_comm_free(&fewer));
    end();
}

/* Communicators that are made and revoked at once: some hear of it before they have made theirs. */
static void revoke_early(void)
{
    for (int i = 0; i < 100; i++) {
        begin();
        if (check_rank == i % check_size) {
            OK(ctran_comm_revoke(comm));
        }
        end();
    }
}

/* ---- what a revocation releases -------------------------------------------------------------- */

static void release_receive(void)
{
    int value, source = check_size > 1 ? (check_rank + 1) % check_size : 0;
    begin();
    revoke_at_0();
    EXPECT_RC(CTRAN_ERR_REVOKED,
              ctran_recv(&value, 1, CTRAN_INT, source, 1, comm, CTRAN_STATUS_IGNORE));
    end();
    begin();
    revoke_at_0();
    EXPECT_RC(CTRAN_ERR_REVOKED,
              ctran_probe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, comm, CTRAN_STATUS_IGNORE));
    end();
}

static void release_requests(void)
{
    enum { LONG = 1 << 20 };
    ctran_request_t r[3];
    char           *big = calloc(2, LONG);
    int             value, right = (check_rank + 1) % check_size;
    begin();
    OK(ctran_irecv(&value, 1, CTRAN_INT, CTRAN_ANY_SOURCE, 1, comm, &r[0]));
    OK(ctran_issend(&right, 1, CTRAN_INT, right, 2, comm, &r[1]));
    OK(ctran_isend(big, LONG, CTRAN_BYTE, right, 3, comm, &r[2]));
    revoke_at_0();
    for (int i = 0; i < 3; i++) {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_wait(&r[i], CTRAN_STATUS_IGNORE));
    }
    end();
    free(big);
}

static void release_collectives(void)
{
    long            in = 1, out;
    ctran_request_t r;
    begin();
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) { /* it alone does not come */
        OK(ctran_comm_revoke(comm));
    } else {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_allreduce(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, comm));
    }
    end();
    begin();
    if (check_rank > 0) {
        OK(ctran_iallreduce(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, comm, &r));
    }
    revoke_at_0();
    if (check_rank > 0) {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_wait(&r, CTRAN_STATUS_IGNORE));
    }
    end();
}

/* After many, so that they go through shared memory. */
static void release_shared_memory(void)
{
    long in = 1, out;
    begin();
    for (int i = 0; i < 200; i++) {
        OK(ctran_allreduce(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, comm));
        EXPECT_EQ(check_size, out);
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        OK(ctran_comm_revoke(comm));
    } else {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_allreduce(&in, &out, 1, CTRAN_LONG, CTRAN_SUM, comm));
    }
    end();
}

static void release_windows(void)
{
    ctran_win_t   win;
    ctran_group_t all;
    long         *base;
    begin();
    OK(ctran_comm_group(comm, &all));
    OK(ctran_win_allocate(sizeof *base, 1, CTRAN_INFO_NULL, comm, &base, &win));
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    if (check_rank == 0) {
        OK(ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, 0, 0, win));
    }
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    if (check_rank == 0) {
        OK(ctran_comm_revoke(comm));
    } else if (check_rank == 1) {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_win_lock(CTRAN_LOCK_EXCLUSIVE, 0, 0, win));
    } else if (check_rank == 2) {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_win_start(all, 0, win));
    } else {
        EXPECT_RC(CTRAN_ERR_REVOKED, ctran_win_fence(0, win));
    }
    OK(ctran_group_free(&all));
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* rank 0 has held its lock meanwhile */
    if (check_rank == 0) {
        (void)ctran_win_unlock(0, win);
    } else if (check_rank == 2) {
        (void)ctran_win_complete(win); /* the epoch is open all the same */
    }
    OK(ctran_win_free(&win));
    end();
}

/* ---- arguments, and nobody that has failed --------------------------------------------------- */

static void arguments(void)
{
    ctran_group_t group;
    int           n = -1;
    begin();
    OK(ctran_comm_get_failed(comm, &group));
    OK(ctran_group_size(group, &n));
    EXPECT_EQ(0, n);
    OK(ctran_group_free(&group));
    OK(ctran_comm_failure_ack(comm));
    OK(ctran_comm_failure_get_acked(comm, &group));
    OK(ctran_group_size(group, &n));
    EXPECT_EQ(0, n);
    OK(ctran_group_free(&group));
    OK(ctran_comm_ack_failed(comm, 5, &n));
    EXPECT_EQ(0, n);
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_ack_failed(comm, -1, &n));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_agree(comm, NULL));
    EXPECT_RC(CTRAN_ERR_ARG, ctran_comm_get_failed(comm, NULL));
    EXPECT_RC(CTRAN_ERR_COMM, ctran_comm_revoke(CTRAN_COMM_NULL));
    OK(ctran_comm_free(&comm));
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {
        {"arguments", arguments},
        {"agree", agree},
        {"agree_at_once", agree_at_once},
        {"agree_on_a_revoked", agree_on_a_revoked},
        {"agree_between_groups", agree_between_groups},
        {"shrink", shrink},
        {"revoke_early", revoke_early},
        {"release_receive", release_receive},
        {"release_requests", release_requests},
        {"release_collectives", release_collectives},
        {"release_shared_memory", release_shared_memory},
        {"release_windows", release_windows},
    };
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_SELF, CTRAN_ERRORS_RETURN));
    check_run(subjects, LEN(subjects));
    return check_end();
}
