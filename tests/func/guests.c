/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that tell their pids and exchange messages, each with the next, until the first one's input
 * says that it is enough; then everybody talks to everybody, for which connections have to be made
 * that there were not. Every message is compared. It is what hostile.py disturbs.
 *
 * With CT_RECORD, the name of a file, what this process says to open connections of its own is
 * written there: a line for each piece, with the socket's number and whom it has gone to.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

enum { INTS = 40000, MOST_RANKS = 64, RECORDS = 64 };

/* ---- recording ------------------------------------------------------------------------------- */

static void record(int fd, const unsigned char *bytes, size_t len)
{
    static int         records;
    struct sockaddr_in to;
    socklen_t          size = sizeof to;
    const char        *name = getenv("CT_RECORD");
    FILE              *f;
    if (name == NULL || records == RECORDS || getpeername(fd, (struct sockaddr *)&to, &size) != 0 ||
        to.sin_family != AF_INET || (f = fopen(name, "a")) == NULL) {
        return;
    }
    char line[4096];
    int  at = snprintf(line, sizeof line, "%d/%d %s %u ", (int)getpid(), fd, inet_ntoa(to.sin_addr),
                       ntohs(to.sin_port));
    for (size_t i = 0; i < len && at < (int)sizeof line - 4; i++) {
        at += snprintf(line + at, sizeof line - (size_t)at, "%02x", bytes[i]);
    }
    fprintf(f, "%s\n", line);
    fclose(f);
    records++;
}

/* In place of the C library's, for the transport linked into this program. */
ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    record(fd, bytes, len);
    return sendto(fd, bytes, len, flags, NULL, 0);
}

/* ---- messages -------------------------------------------------------------------------------- */

static int me, n;

static bool is_enough(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    return poll(&in, 1, 0) != 0;
}

static void exchange(int round)
{
    static int32_t out[INTS], in[INTS];
    const int      to = (me + 1) % n, from = (me + n - 1) % n;
    for (int i = 0; i < INTS; i++) {
        out[i] = me + round + i;
    }
    OK(ctran_sendrecv(out, INTS, CTRAN_INT32_T, to, 1, in, INTS, CTRAN_INT32_T, from, 1,
                      CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
    for (int i = 0; i < INTS; i++) {
        EXPECT_EQ(from + round + i, in[i]);
    }
}

static void meet_all(void)
{
    int32_t out[MOST_RANKS], in[MOST_RANKS];
    for (int i = 0; i < n; i++) {
        out[i] = me * MOST_RANKS + i;
    }
    OK(ctran_alltoall(out, 1, CTRAN_INT32_T, in, 1, CTRAN_INT32_T, CTRAN_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(i * MOST_RANKS + me, in[i]);
    }
}

int main(int argc, char **argv)
{
    int more = 1;
    OK(ctran_init(&argc, &argv));
    OK(ctran_comm_rank(CTRAN_COMM_WORLD, &me));
    OK(ctran_comm_size(CTRAN_COMM_WORLD, &n));
    EXPECT(n <= MOST_RANKS);
    exchange(0);
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    for (int round = 1; more; round++) {
        exchange(round);
        more = me == 0 ? !is_enough() : more;
        OK(ctran_bcast(&more, 1, CTRAN_INT32_T, 0, CTRAN_COMM_WORLD));
    }
    meet_all();
    printf("well\n");
    fflush(stdout);
    OK(ctran_finalize());
    return 0;
}
