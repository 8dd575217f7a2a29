/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives until a death ends one: from then on all of them fail on the communicator with the
 * dead, on every member, and none does on the one of those that live. A result that was returned
 * as a success is right.
 */
#include "fault.h"

enum { MOST = 60000, ROUNDS_AFTER = 10 };

static uint64_t in[MOST], out[MOST];

static uint64_t value_of(int round, int rank, int i)
{
    return mix((uint64_t)round << 40 | (uint64_t)rank << 20 | (uint64_t)i) >> 8;
}

static int count_of(int round)
{
    uint64_t x = mix(check_seed ^ (uint64_t)round);
    return 1 + (int)(x % (x % 4 == 0 ? MOST : 300));
}

static int run_allreduce(int round, ctran_comm_t comm, int me, int n)
{
    int count = count_of(round);
    for (int i = 0; i < count; i++) {
        in[i] = value_of(round, me, i);
    }
    int rc = ctran_allreduce(in, out, count, CTRAN_UINT64_T, CTRAN_SUM, comm);
    for (int i = 0; rc == CTRAN_SUCCESS && i < count; i += 1 + count / 50) {
        uint64_t sum = 0;
        for (int r = 0; r < n; r++) {
            sum += value_of(round, r, i);
        }
        EXPECT_EQ(sum, out[i]);
    }
    return rc;
}

static int run_bcast(int round, ctran_comm_t comm, int me, int n)
{
    int count = count_of(round), root = round % n;
    for (int i = 0; i < count; i++) {
        out[i] = me == root ? value_of(round, root, i) : 0;
    }
    int rc = ctran_bcast(out, count, CTRAN_UINT64_T, root, comm);
    for (int i = 0; rc == CTRAN_SUCCESS && i < count; i += 1 + count / 50) {
        EXPECT_EQ(value_of(round, root, i), out[i]);
    }
    return rc;
}

static int run_allgather(int round, ctran_comm_t comm, int me, int n)
{
    int count = count_of(round) / n + 1;
    for (int i = 0; i < count; i++) {
        in[i] = value_of(round, me, i);
    }
    int rc = ctran_allgather(in, count, CTRAN_UINT64_T, out, count, CTRAN_UINT64_T, comm);
    for (int r = 0; rc == CTRAN_SUCCESS && r < n; r++) {
        EXPECT_EQ(value_of(round, r, count - 1),
                  out[(size_t)r * (size_t)count + (size_t)count - 1]);
    }
    return rc;
}

static int run_round(int round, ctran_comm_t comm)
{
    int me, n;
    OK(ctran_comm_rank(comm, &me));
    OK(ctran_comm_size(comm, &n));
    switch (mix((uint64_t)round) % 4) {
    case 0:
        return run_allreduce(round, comm, me, n);
    case 1:
        return run_bcast(round, comm, me, n);
    case 2:
        return run_allgather(round, comm, me, n);
    default:
        return ctran_barrier(comm);
    }
}

/* A victim that has lost another comes here and waits for its own end. */
static void wait_for_the_end(void)
{
    int flag;
    while (true) {
        fault_point();
        (void)ctran_iprobe(CTRAN_ANY_SOURCE, 0, CTRAN_COMM_SELF, &flag, CTRAN_STATUS_IGNORE);
    }
}

void fault_run_collectives(const struct fault_plan *plan, ctran_comm_t alive)
{
    int rc = CTRAN_SUCCESS, round = 0;
    fault_arm(plan, check_rank);
    for (; rc == CTRAN_SUCCESS; round++) {
        fault_point();
        rc = run_round(round, CTRAN_COMM_WORLD);
    }
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, rc);
    if (fault_is_victim(plan, check_rank)) {
        wait_for_the_end();
    }
    for (int i = 0; i < ROUNDS_AFTER; i++) {
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, run_round(round + i, CTRAN_COMM_WORLD));
        OK(run_round(i, alive));
    }
}
