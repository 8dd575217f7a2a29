/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * growth - communicators with messages of all kinds under way are revoked, shrunk and freed, again
 * and again: the heap does not grow. One rank dies in the middle. Run by growth.test, under
 * ctranrun --enable-recovery; prints what the heap holds after the first cycles and after the last.
 */
#include <malloc.h>
#include <signal.h>

#include "../func/check.h"

enum { FIRST = 200, LONG = 100000, SLACK_BYTES = 16 << 10 };

static char         big[LONG], into[LONG];
static ctran_comm_t base; /* of those that live */

static size_t heap_bytes(void)
{
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* What peers have still to say of earlier cycles comes in meanwhile. */
static bool is_heap_below(size_t most_bytes)
{
    for (int i = 0; i < 1000; i++) {
        OK(ctran_barrier(base));
        if (heap_bytes() <= most_bytes) {
            return true;
        }
    }
    return false;
}

/* Sends that nobody receives, receives to which nobody sends, a collective that not all begin. */
static void leave_under_way(ctran_comm_t comm, int me, int n)
{
    ctran_request_t r[4];
    long            one = 1, sum;
    int             value, right = (me + 1) % n;
    OK(ctran_send(&one, 1, CTRAN_LONG, right, 1, comm));
    OK(ctran_isend(big, LONG, CTRAN_BYTE, right, 2, comm, &r[0]));
    OK(ctran_irecv(into, LONG, CTRAN_BYTE, CTRAN_ANY_SOURCE, 3, comm, &r[1]));
    OK(ctran_irecv(&value, 1, CTRAN_INT, right, 4, comm, &r[2]));
    r[3] = CTRAN_REQUEST_NULL;
    if (me > 0) {
        OK(ctran_iallreduce(&one, &sum, 1, CTRAN_LONG, CTRAN_SUM, comm, &r[3]));
    }
    OK(ctran_barrier(base)); /* all have begun */
    OK(ctran_comm_revoke(comm));
    for (int i = 0; i < 4; i++) {
        if (r[i] != CTRAN_REQUEST_NULL) {
            EXPECT_RC(CTRAN_ERR_REVOKED, ctran_wait(&r[i], CTRAN_STATUS_IGNORE));
        }
    }
}

static void cycle(void)
{
    ctran_comm_t comm, fewer;
    int          me, n, flag = 1;
    OK(ctran_comm_dup(base, &comm));
    OK(ctran_comm_rank(comm, &me));
    OK(ctran_comm_size(comm, &n));
    leave_under_way(comm, me, n);
    OK(ctran_comm_agree(comm, &flag));
    OK(ctran_comm_shrink(comm, &fewer));
    OK(ctran_comm_free(&comm));
    OK(ctran_barrier(fewer));
    OK(ctran_comm_free(&fewer));
}

/* The last rank dies, once the others need it no more; they go on. */
static void lose_one(void)
{
    ctran_comm_t old = base;
    int          n = 0, last = check_size - 1;
    if (check_rank == last) {
        for (int i = 0; i < last; i++) {
            OK(ctran_recv(&n, 1, CTRAN_INT, i, 9, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        }
        (void)raise(SIGKILL);
    }
    OK(ctran_send(&n, 1, CTRAN_INT, last, 9, CTRAN_COMM_WORLD));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_barrier(old));
    OK(ctran_comm_shrink(old, &base));
    OK(ctran_comm_free(&old));
    OK(ctran_comm_size(base, &n));
    EXPECT_EQ(check_size - 1, n);
}

int main(int argc, char **argv)
{
    check_start(argc, argv);
    OK(ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN));
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &base));
    const int cycles = check_quick() ? 300 : 1000;
    for (int i = 0; i < FIRST / 2; i++) {
        cycle();
    }
    lose_one();
    for (int i = 0; i < FIRST / 2; i++) {
        cycle();
    }
    OK(ctran_barrier(base));
    const size_t before = heap_bytes();
    for (int i = FIRST; i < cycles; i++) {
        cycle();
    }
    const bool below = is_heap_below(before + SLACK_BYTES);
    printf("rank %d: heap %zu bytes after %d cycles, %zu after %d\n", check_rank, before, FIRST,
           heap_bytes(), cycles);
    EXPECT(below);
    OK(ctran_comm_free(&base));
    OK(ctran_finalize());
    printf("done %d\n", check_rank);
    return 0;
}
