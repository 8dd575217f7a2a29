/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shrink - ranks of which any number die while all work; those that live revoke, agree and shrink,
 * and go on, until nobody is left who will die. Started by shrink.py as "shrink MODE SEED", under
 * ctranrun --enable-recovery. No success may have a wrong result, all survivors agree on who they
 * are, and none waits for good. What shrink.py judges is printed:
 *
 *   dies RANK NS        the rank will die at this moment of the monotonic clock
 *   works RANK SIZE NS  the first collective on a communicator of so many is over
 *   done RANK           all checks held, ctran_finalize has returned
 */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault.h"

enum { COUNT = 300, MOST_RANKS = 64 };

static struct fault_plan plan;
static uint64_t          in[COUNT], out[COUNT];

/* The members of the communicator that is worked on, by their ranks in the world. */
static struct {
    ctran_comm_t comm;
    int          me, n, world[MOST_RANKS];
    int          round;
} w;

static bool is_loss(int rc)
{
    return rc == CTRAN_ERR_PROC_FAILED || rc == CTRAN_ERR_REVOKED;
}

static void take(ctran_comm_t comm)
{
    ctran_group_t all, group;
    int           ranks[MOST_RANKS];
    w.comm = comm;
    OK(ctran_comm_rank(comm, &w.me));
    OK(ctran_comm_size(comm, &w.n));
    OK(ctran_comm_group(CTRAN_COMM_WORLD, &all));
    OK(ctran_comm_group(comm, &group));
    for (int i = 0; i < w.n; i++) {
        ranks[i] = i;
    }
    OK(ctran_group_translate_ranks(group, w.n, ranks, all, w.world));
    EXPECT_EQ(check_rank, w.world[w.me]);
    OK(ctran_group_free(&group));
    OK(ctran_group_free(&all));
}

/* ---- work: each returns an error of a loss, or its result is right --------------------------- */

static uint64_t value_of(int rank, int i)
{
    return mix((uint64_t)w.round << 32 | (uint64_t)rank << 16 | (uint64_t)i) >> 8;
}

static void expect_sums(void)
{
    for (int i = 0; i < COUNT; i += 7) {
        uint64_t sum = 0;
        for (int r = 0; r < w.n; r++) {
            sum += value_of(w.world[r], i);
        }
        EXPECT_EQ(sum, out[i]);
    }
}

static int run_coll(void)
{
    for (int i = 0; i < COUNT; i++) {
        in[i] = value_of(check_rank, i);
    }
    int rc = ctran_allreduce(in, out, COUNT, CTRAN_UINT64_T, CTRAN_SUM, w.comm);
    if (rc == CTRAN_SUCCESS) {
        expect_sums();
    }
    return rc;
}

static int run_icoll(void)
{
    ctran_request_t requests[2];
    for (int i = 0; i < COUNT; i++) {
        in[i] = value_of(check_rank, i);
    }
    int rc = ctran_ibarrier(w.comm, &requests[0]);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ctran_iallreduce(in, out, COUNT, CTRAN_UINT64_T, CTRAN_SUM, w.comm, &requests[1]);
    if (rc == CTRAN_SUCCESS) {
        rc = ctran_wait(&requests[1], CTRAN_STATUS_IGNORE);
    }
    if (rc == CTRAN_SUCCESS) {
        expect_sums();
    }
    int err = ctran_wait(&requests[0], CTRAN_STATUS_IGNORE);
    return rc != CTRAN_SUCCESS ? rc : err;
}

/* To the right, from the left or from anybody: who that is cannot send is known by the revocation
 * alone, if it lives. */
static int run_p2p(void)
{
    const int       right = (w.me + 1) % w.n, left = (w.me + w.n - 1) % w.n;
    const int       from = w.round % 3 == 0 ? CTRAN_ANY_SOURCE : left;
    uint64_t        got[COUNT];
    ctran_request_t requests[2];
    int             rc;
    rc = ctran_irecv(got, COUNT, CTRAN_UINT64_T, from, w.round, w.comm, &requests[0]);
    for (int i = 0; i < COUNT; i++) {
        in[i] = value_of(check_rank, i);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    int err = ctran_isend(in, COUNT, CTRAN_UINT64_T, right, w.round, w.comm, &requests[1]);
    err = err == CTRAN_SUCCESS ? ctran_wait(&requests[1], CTRAN_STATUS_IGNORE) : err;
    rc = ctran_wait(&requests[0], CTRAN_STATUS_IGNORE);
    if (rc == CTRAN_ERR_PROC_FAILED_PENDING) {
        EXPECT(requests[0] != CTRAN_REQUEST_NULL);
        OK(ctran_cancel(&requests[0]));
        OK(ctran_wait(&requests[0], CTRAN_STATUS_IGNORE));
        rc = CTRAN_ERR_PROC_FAILED;
    }
    EXPECT(requests[0] == CTRAN_REQUEST_NULL);
    if (rc == CTRAN_SUCCESS) {
        EXPECT_EQ(value_of(w.world[left], COUNT - 1), got[COUNT - 1]);
    }
    return rc != CTRAN_SUCCESS ? rc : err;
}

/* All that live have the same opinion, whatever each of them saw. */
static bool all_are_well(int rc)
{
    int flag = rc == CTRAN_SUCCESS;
    int err = ctran_comm_agree(w.comm, &flag);
    EXPECT(err == CTRAN_SUCCESS || err == CTRAN_ERR_PROC_FAILED);
    return err == CTRAN_SUCCESS && flag == 1;
}

/* A rank whose split has failed cannot revoke the half that others have: all agree before. */
static int run_split(void)
{
    ctran_comm_t half;
    int          rc = ctran_comm_split(w.comm, w.me % 2, 0, &half);
    if (is_loss(rc)) {
        OK(ctran_comm_revoke(w.comm));
    }
    const bool all = all_are_well(rc);
    if (rc == CTRAN_SUCCESS && !all) {
        OK(ctran_comm_free(&half));
        rc = CTRAN_ERR_PROC_FAILED;
    }
    if (rc == CTRAN_SUCCESS) {
        int n;
        OK(ctran_comm_size(half, &n));
        EXPECT_EQ((w.n + (w.me % 2 == 0)) / 2, n);
        rc = ctran_barrier(half);
        EXPECT(rc == CTRAN_SUCCESS || is_loss(rc));
        if (is_loss(rc)) {
            OK(ctran_comm_revoke(half));
        }
        OK(ctran_comm_free(&half));
    }
    return rc;
}

static int run_agree(void)
{
    int flag = ~(1 << w.me), all = ~((1 << w.n) - 1);
    int rc = ctran_comm_agree(w.comm, &flag);
    EXPECT_EQ(all, flag & (all | (rc == CTRAN_SUCCESS ? -1 : 0)));
    return rc;
}

static int run_window(void)
{
    ctran_win_t win;
    uint64_t   *base;
    int         rc = ctran_win_allocate(sizeof *base, 1, CTRAN_INFO_NULL, w.comm, &base, &win);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const int right = (w.me + 1) % w.n;
    uint64_t  value = value_of(check_rank, 0);
    OK(ctran_win_set_errhandler(win, CTRAN_ERRORS_RETURN));
    rc = ctran_win_fence(0, win);
    if (rc == CTRAN_SUCCESS) {
        rc = ctran_put(&value, 1, CTRAN_UINT64_T, right, 0, 1, CTRAN_UINT64_T, win);
        int err = ctran_win_fence(0, win);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    if (is_loss(rc)) {
        OK(ctran_comm_revoke(w.comm));
    }
    int err = ctran_win_free(&win);
    return rc != CTRAN_SUCCESS ? rc : err;
}

static int work(void)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } kinds[] = {{"shrink-coll", run_coll},   {"shrink-icoll", run_icoll},
                 {"shrink-p2p", run_p2p},     {"shrink-split", run_split},
                 {"shrink-agree", run_agree}, {"shrink-window", run_window}};
    for (size_t i = 0; i < LEN(kinds); i++) {
        if (fault_is_mode(&plan, kinds[i].name)) {
            return kinds[i].run();
        }
    }
    return kinds[(size_t)w.round % LEN(kinds)].run();
}

/* ---- recovery -------------------------------------------------------------------------------- */

static void go_on_with_survivors(void)
{
    ctran_comm_t old = w.comm, fresh = CTRAN_COMM_NULL;
    int          is_revoked = 0;
    OK(ctran_comm_revoke(old));
    OK(ctran_comm_is_revoked(old, &is_revoked));
    EXPECT_EQ(1, is_revoked);
    EXPECT_RC(CTRAN_ERR_REVOKED, ctran_barrier(old));
    if (w.round % 2 == 0) {
        OK(ctran_comm_shrink(old, &fresh));
    } else {
        ctran_request_t request;
        OK(ctran_comm_ishrink(old, &fresh, &request));
        OK(ctran_wait(&request, CTRAN_STATUS_IGNORE));
    }
    if (old != CTRAN_COMM_WORLD) {
        OK(ctran_comm_free(&old));
    }
    take(fresh);
}

/* The members of all are the same: the sets' numbers are, or nobody could tell. */
static void expect_agreement(void)
{
    uint64_t mask = 0, both[2], least[2];
    for (int r = 0; r < w.n; r++) {
        mask |= UINT64_C(1) << w.world[r];
    }
    both[0] = mask;
    both[1] = ~mask;
    if (ctran_allreduce(both, least, 2, CTRAN_UINT64_T, CTRAN_MIN, w.comm) == CTRAN_SUCCESS) {
        EXPECT_EQ(mask, least[0]);
        EXPECT_EQ(~mask, least[1]);
        printf("works %d %d %" PRIu64 "\n", check_rank, w.n, fault_now_ns());
        fflush(stdout);
    }
}

static void live(void)
{
    const int survivors = check_size - plan.nvictims;
    take(CTRAN_COMM_WORLD);
    fault_arm(&plan, check_rank);
    for (w.round = 1; w.n > survivors; w.round++) {
        int rc = work();
        EXPECT_RC(is_loss(rc) ? rc : CTRAN_SUCCESS, rc);
        if (is_loss(rc)) {
            OK(ctran_comm_revoke(w.comm)); /* those that have seen no error wait for nobody */
        }
        if (!all_are_well(rc)) {
            go_on_with_survivors();
            expect_agreement();
        }
    }
    for (int i = 0; i < 10; i++) {
        w.round++;
        OK(work());
    }
}

int main(int argc, char **argv)
{
    struct rlimit none = {0, 0};
    EXPECT(argc == 3 && setrlimit(RLIMIT_CORE, &none) == 0);
    check_seed = strtoull(argv[2], NULL, 10);
    check_errors_return();
    OK(ctran_init(NULL, NULL));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &check_rank));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &check_size));
    fault_draw(&plan, argv[1], check_size);
    live();
    while (fault_is_victim(&plan, check_rank)) {
        pause(); /* it was late: the others have left it behind, and it dies now */
    }
    OK(ctran_comm_free(&w.comm));
    OK(ctran_finalize());
    printf("done %d\n", check_rank);
    return 0;
}
