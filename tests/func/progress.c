/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress - with CTRAN_PROGRESS_THREAD=1, transfers go on while their rank does not call into the
 * library: it waits for a signal that only their end brings. Ranks work in pairs. Run by
 * progress.test; without the progress thread it would never end.
 */
#include <signal.h>
#include <unistd.h>

#include "check.h"

enum { LONG = 3 << 20, TIMES = 5 };

static char    *buf;
static int      partner;
static sigset_t usr1;

static void await_signal(void)
{
    int got;
    EXPECT_EQ(0, sigwait(&usr1, &got));
    EXPECT_EQ(SIGUSR1, got);
}

/* The other one's process, and leave for it to begin. */
static pid_t swap_pids(void)
{
    int mine = (int)getpid(), theirs;
    OK(ctran_sendrecv(&mine, 1, CTRAN_INT, partner, 0, &theirs, 1, CTRAN_INT, partner, 0,
                      CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    return (pid_t)theirs;
}

/* The sender is away while its message is fetched. */
static void away_sender(bool sends, pid_t other, int i)
{
    ctran_request_t req;
    if (sends) {
        content_fill(buf, LONG, key_of(check_rank, partner, 1, i));
        OK(ctran_isend(buf, LONG, CTRAN_BYTE, partner, 1, CTRAN_COMM_WORLD, &req));
        await_signal();
        OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
    } else {
        OK(ctran_recv(buf, LONG, CTRAN_BYTE, partner, 1, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(buf, LONG, key_of(partner, check_rank, 1, i));
        EXPECT_EQ(0, kill(other, SIGUSR1));
    }
}

/* The receiver is away while its message comes. */
static void away_receiver(bool sends, pid_t other, int i)
{
    ctran_request_t req;
    if (sends) {
        content_fill(buf, LONG, key_of(check_rank, partner, 2, i));
        OK(ctran_ssend(buf, LONG, CTRAN_BYTE, partner, 2, CTRAN_COMM_WORLD));
        EXPECT_EQ(0, kill(other, SIGUSR1));
    } else {
        OK(ctran_irecv(buf, LONG, CTRAN_BYTE, partner, 2, CTRAN_COMM_WORLD, &req));
        await_signal();
        OK(ctran_wait(&req, CTRAN_STATUS_IGNORE));
        EXPECT_CONTENT(buf, LONG, key_of(partner, check_rank, 2, i));
    }
}

static void run_pairs(void)
{
    partner = check_rank ^ 1;
    if (partner >= check_size) {
        return;
    }
    pid_t other = swap_pids();
    for (int i = 0; i < TIMES; i++) {
        bool sends = (check_rank + i) % 2 == 0;
        away_sender(sends, other, i);
        away_receiver(sends, other, i);
    }
}

int main(int argc, char **argv)
{
    static const struct subject subjects[] = {{"away from the library", run_pairs}};
    /* Blocked before there are other threads: it waits for who asks. */
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    EXPECT_EQ(0, pthread_sigmask(SIG_BLOCK, &usr1, NULL));
    buf = malloc(LONG);
    EXPECT(buf != NULL);
    check_start(argc, argv);
    check_run(subjects, LEN(subjects));
    free(buf);
    return check_end();
}
