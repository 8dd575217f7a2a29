/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives until a death ends one: from then on all of them fail on the communicator with the
 * dead, on every member, and none does on the one of those that live. A result that was returned
 * as a success is right. In the mode icoll several are under way at a time, as requests.
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

static int run_blocking(int round, ctran_comm_t comm)
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

/* ---- nonblocking ----------------------------------------------------------------------------- */

enum { UNDER_WAY = 6, SHORT = 2000 };

static uint64_t parts[UNDER_WAY][SHORT], sums[UNDER_WAY][SHORT];

static int short_of(int round)
{
    return 1 + (int)(mix(check_seed + (uint64_t)round) % SHORT);
}

/* Begins the k-th of a round; an error is told at once or at its end. */
static int begin_one(int round, int k, ctran_comm_t comm, int me, int n, ctran_request_t *r)
{
    const int count = short_of(round + k), root = (round + k) % n;
    for (int i = 0; i < count; i++) {
        parts[k][i] = value_of(round + k, me, i);
    }
    switch (k % 3) {
    case 0:
        return ctran_iallreduce(parts[k], sums[k], count, CTRAN_UINT64_T, CTRAN_SUM, comm, r);
    case 1:
        return ctran_ibcast(parts[k], count, CTRAN_UINT64_T, root, comm, r);
    default:
        return ctran_ibarrier(comm, r);
    }
}

static void check_one(int round, int k, int n)
{
    const int count = short_of(round + k), root = (round + k) % n;
    for (int i = 0; i < count && k % 3 < 2; i += 1 + count / 50) {
        uint64_t sum = 0;
        for (int r = 0; r < n; r++) {
            sum += value_of(round + k, r, i);
        }
        EXPECT_EQ(k % 3 == 0 ? sum : value_of(round + k, root, i),
                  k % 3 == 0 ? sums[k][i] : parts[k][i]);
    }
}

/* Once they have ended with an error nobody writes the buffers any more. */
static void expect_quiet(void)
{
    static uint64_t before[UNDER_WAY][SHORT];
    int             flag;
    memset(sums, 0x55, sizeof sums);
    memcpy(before, parts, sizeof parts);
    for (int i = 0; i < 100; i++) {
        (void)ctran_iprobe(CTRAN_ANY_SOURCE, 0, CTRAN_COMM_SELF, &flag, CTRAN_STATUS_IGNORE);
    }
    EXPECT(memcmp(before, parts, sizeof parts) == 0);
    for (size_t i = 0; i < sizeof sums; i++) {
        EXPECT_EQ(0x55, ((unsigned char *)sums)[i]);
    }
}

/* Several at once: each ends well, or by the death. */
static int run_several(int round, ctran_comm_t comm)
{
    ctran_request_t requests[UNDER_WAY];
    int             me, n, worst = CTRAN_SUCCESS;
    OK(ctran_comm_rank(comm, &me));
    OK(ctran_comm_size(comm, &n));
    for (int k = 0; k < UNDER_WAY; k++) {
        OK(begin_one(round, k, comm, me, n, &requests[k]));
    }
    for (int k = 0; k < UNDER_WAY; k++) {
        int rc = ctran_wait(&requests[k], CTRAN_STATUS_IGNORE);
        EXPECT(requests[k] == CTRAN_REQUEST_NULL);
        if (rc == CTRAN_SUCCESS) {
            check_one(round, k, n);
        } else {
            EXPECT_RC(CTRAN_ERR_PROC_FAILED, rc);
            worst = rc;
        }
    }
    if (worst != CTRAN_SUCCESS) {
        expect_quiet();
    }
    return worst;
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
    int (*run)(int, ctran_comm_t) = fault_is_mode(plan, "icoll") ? run_several : run_blocking;
    int rc = CTRAN_SUCCESS, round = 0;
    fault_arm(plan, check_rank);
    for (; rc == CTRAN_SUCCESS; round++) {
        fault_point();
        rc = run(round, CTRAN_COMM_WORLD);
    }
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, rc);
    if (fault_is_victim(plan, check_rank)) {
        wait_for_the_end();
    }
    for (int i = 0; i < ROUNDS_AFTER; i++) {
        EXPECT_RC(CTRAN_ERR_PROC_FAILED, run(round + i, CTRAN_COMM_WORLD));
        OK(run(i, alive));
    }
}
