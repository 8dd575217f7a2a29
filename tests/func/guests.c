/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that tell their pids and exchange messages until the first one's input says that it is
 * enough: what tcp_strangers.py disturbs. Every message is compared.
 */
#include <poll.h>
#include <unistd.h>

#include "check.h"

enum { INTS = 40000 };

static bool is_enough(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    return poll(&in, 1, 0) != 0;
}

static void exchange(int me, int round)
{
    static int32_t out[INTS], in[INTS];
    for (int i = 0; i < INTS; i++) {
        out[i] = me + round + i;
    }
    OK(ctran_sendrecv(out, INTS, CTRAN_INT32_T, 1 - me, 1, in, INTS, CTRAN_INT32_T, 1 - me, 1,
                      CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++) {
        EXPECT_EQ(1 - me + round + i, in[i]);
    }
}

int main(int argc, char **argv)
{
    int me, more = 1;
    OK(ctran_init(&argc, &argv));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &me));
    exchange(me, 0);
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    for (int round = 1; more; round++) {
        exchange(me, round);
        more = me == 0 ? !is_enough() : more;
        OK(ctran_bcast(&more, 1, CTRAN_INT32_T, 0, CTRAN_COMM_WORLD));
    }
    printf("well\n");
    fflush(stdout);
    OK(ctran_finalize());
    return 0;
}
