/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leave - processes that end at different times. Usage: leave world|session|flush|owing FIFO
 *
 * world: all but the last rank end at once, and need not wait for that one, which waits in turn for
 * them to be gone, without a look at its messages. session: rank 0 ends while others go on; they
 * receive all that it has sent, also what it let go of, and it is no death to them. owing: rank 0
 * ends with an exchange that it has not completed, and says so to rank 1, which only then does its
 * part. flush: the last rank ends without the buffered messages for it; no wait for them is longer.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

enum {
    MOST = 64,
    SHORTS = 20,
    SHORT = 250,
    LONG = 300000,
    TAG_SHORT = 1,
    TAG_LONG,
    TAG_LATER,
    TAG_READY
};

static int32_t pids[MOST];

static void tell_pids(ctran_comm_t comm)
{
    int32_t mine = (int32_t)getpid();
    OK(ctran_comm_rank(comm, &check_rank));
    OK(ctran_comm_size(comm, &check_size));
    EXPECT(check_size <= MOST);
    OK(ctran_allgather(&mine, 1, CTRAN_INT32_T, pids, 1, CTRAN_INT32_T, comm));
}

/* Sleeps until the process is gone; looks at nothing else. */
static void wait_gone(int rank)
{
    struct pollfd fd = {.fd = (int)syscall(SYS_pidfd_open, pids[rank], 0), .events = POLLIN};
    if (fd.fd < 0) {
        return; /* it is */
    }
    EXPECT_EQ(1, poll(&fd, 1, -1));
    close(fd.fd);
}

static int world(void)
{
    OK(ctran_init(NULL, NULL));
    tell_pids(CTRAN_COMM_WORLD);
    OK(ctran_finalize());
    for (int rank = 0; check_rank == check_size - 1 && rank < check_rank; rank++) {
        wait_gone(rank);
    }
    return 0;
}

/* ---- session --------------------------------------------------------------------------------- */

static int32_t word(int to, int tag, int index)
{
    return to * 1000003 + tag * 10007 + index;
}

static void fill(int32_t *buffer, int n, int to, int tag)
{
    for (int i = 0; i < n; i++) {
        buffer[i] = word(to, tag, i);
    }
}

static void compare(const int32_t *buffer, int n, int tag)
{
    for (int i = 0; i < n; i++) {
        EXPECT_EQ(word(check_rank, tag, i), buffer[i]);
    }
}

/* The long ones are still to be asked for when the program lets go of them. */
static void send_all(ctran_comm_t comm)
{
    static int32_t shorts[SHORT], longs[MOST][LONG];
    for (int from = 1; from < check_size; from++) { /* then all know whom to wait for */
        OK(ctran_recv(NULL, 0, CTRAN_INT32_T, from, TAG_READY, comm, CTRAN_STATUS_IGNORE));
    }
    for (int to = 1; to < check_size; to++) {
        ctran_request_t request;
        for (int i = 0; i < SHORTS; i++) {
            fill(shorts, SHORT, to, TAG_SHORT + i * 3);
            OK(ctran_send(shorts, SHORT, CTRAN_INT32_T, to, TAG_SHORT, comm));
        }
        fill(longs[to], LONG, to, TAG_LONG);
        OK(ctran_isend(longs[to], LONG, CTRAN_INT32_T, to, TAG_LONG, comm, &request));
        OK(ctran_request_free(&request));
    }
}

static void receive_all(ctran_comm_t comm)
{
    static int32_t buffer[LONG];
    OK(ctran_send(NULL, 0, CTRAN_INT32_T, 0, TAG_READY, comm));
    OK(ctran_recv(buffer, LONG, CTRAN_INT32_T, 0, TAG_LONG, comm, CTRAN_STATUS_IGNORE));
    compare(buffer, LONG, TAG_LONG);
    wait_gone(0);
    for (int i = 0; i < SHORTS; i++) {
        OK(ctran_recv(buffer, SHORT, CTRAN_INT32_T, 0, TAG_SHORT, comm, CTRAN_STATUS_IGNORE));
        compare(buffer, SHORT, TAG_SHORT + i * 3);
    }
}

/* Nothing more can come from it, but what others send, comes. */
static void go_on(ctran_comm_t comm)
{
    int32_t none = 0, seen = 0;
    EXPECT_RC(CTRAN_ERR_PROC_FAILED,
              ctran_recv(&none, 1, CTRAN_INT32_T, 0, TAG_LATER, comm, CTRAN_STATUS_IGNORE));
    EXPECT_RC(CTRAN_ERR_PROC_FAILED, ctran_send(&none, 1, CTRAN_INT32_T, 0, TAG_LATER, comm));
    for (int i = 1; i < check_size; i++) {
        if (i != check_rank) {
            OK(ctran_send(&check_rank, 1, CTRAN_INT32_T, i, TAG_LATER, comm));
        }
    }
    for (int i = 1; i < check_size - 1; i++) {
        int32_t from = -1;
        OK(ctran_recv(&from, 1, CTRAN_INT32_T, CTRAN_ANY_SOURCE, TAG_LATER, comm,
                      CTRAN_STATUS_IGNORE));
        seen += from;
    }
    EXPECT_EQ(check_size * (check_size - 1) / 2 - check_rank, seen);
}

static ctran_session_t open_session(ctran_comm_t *comm)
{
    ctran_session_t all;
    ctran_group_t   group;
    OK(ctran_session_init(CTRAN_INFO_NULL, CTRAN_ERRORS_RETURN, &all));
    OK(ctran_group_from_session_pset(all, "mpi://WORLD", &group));
    OK(ctran_comm_create_from_group(group, "ctran.tests.leave", CTRAN_INFO_NULL,
                                    CTRAN_ERRORS_RETURN, comm));
    OK(ctran_group_free(&group));
    tell_pids(*comm);
    return all;
}

static int session(void)
{
    ctran_comm_t    comm;
    ctran_session_t all = open_session(&comm);
    if (check_rank == 0) {
        send_all(comm);
    } else {
        receive_all(comm);
        go_on(comm);
    }
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&all));
    return 0;
}

/* ---- flush ----------------------------------------------------------------------------------- */

static void buffer(ctran_comm_t comm, int last)
{
    static int32_t  words[LONG];
    ctran_request_t all;
    void           *back = NULL;
    ctran_count_t   size = -1;
    OK(ctran_comm_attach_buffer(comm, CTRAN_BUFFER_AUTOMATIC, 0));
    OK(ctran_bsend(words, LONG, CTRAN_INT32_T, last, TAG_LONG, comm));
    OK(ctran_comm_iflush_buffer(comm, &all));
    OK(ctran_send(NULL, 0, CTRAN_INT32_T, last, TAG_READY, comm));
    OK(ctran_comm_flush_buffer(comm));
    OK(ctran_wait(&all, CTRAN_STATUS_IGNORE));
    OK(ctran_comm_detach_buffer(comm, &back, &size));
    EXPECT_PTR(CTRAN_BUFFER_AUTOMATIC, back);
}

static int flush(void)
{
    ctran_comm_t    comm;
    ctran_session_t all = open_session(&comm);
    const int       last = check_size - 1;
    if (check_rank < last) {
        buffer(comm, last);
    }
    for (int from = 0; check_rank == last && from < last; from++) {
        OK(ctran_recv(NULL, 0, CTRAN_INT32_T, from, TAG_READY, comm, CTRAN_STATUS_IGNORE));
    }
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&all));
    return 0;
}

/* ---- owing ----------------------------------------------------------------------------------- */

static ctran_request_t exchange; /* never completed */

static void owe(ctran_comm_t comm, const char *fifo)
{
    static int32_t out[LONG], in[LONG];
    fill(out, LONG, 1, TAG_LONG);
    OK(ctran_isendrecv(out, LONG, CTRAN_INT32_T, 1, TAG_LONG, in, LONG, CTRAN_INT32_T, 1, TAG_LATER,
                       comm, &exchange));
    EXPECT(freopen(fifo, "w", stderr) != NULL);
}

static void be_asked(ctran_comm_t comm, const char *fifo)
{
    static int32_t in[LONG];
    char           line[1024];
    FILE          *lines = fopen(fifo, "r");
    EXPECT(lines != NULL);
    do {
        EXPECT(fgets(line, sizeof line, lines) != NULL);
    } while (strstr(line, "waits for 1 operation") == NULL);
    EXPECT(strstr(line, "a send of 1200000 bytes to rank 1 of the job with tag 2;") != NULL);
    OK(ctran_send(in, LONG, CTRAN_INT32_T, 0, TAG_LATER, comm));
    OK(ctran_recv(in, LONG, CTRAN_INT32_T, 0, TAG_LONG, comm, CTRAN_STATUS_IGNORE));
    compare(in, LONG, TAG_LONG);
    fclose(lines);
}

static int owing(const char *fifo)
{
    ctran_comm_t    comm;
    ctran_session_t all = open_session(&comm);
    EXPECT_EQ(2, check_size);
    if (check_rank == 0) {
        owe(comm, fifo);
    } else {
        be_asked(comm, fifo);
    }
    OK(ctran_comm_free(&comm));
    OK(ctran_session_finalize(&all));
    return 0;
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2 || argc == 3);
    if (argc == 3) {
        return owing(argv[2]);
    }
    return strcmp(argv[1], "world") == 0     ? world()
           : strcmp(argv[1], "session") == 0 ? session()
                                             : flush();
}
