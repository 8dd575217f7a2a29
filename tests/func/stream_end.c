/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How stream-ordered work ends that cannot go on: a peer that never comes, ends that do not fit, a
 * peer that dies. The stream goes on, the communicator says why, other communicators do not mind.
 * With the argument "late", and CTRAN_STREAM_TIMEOUT, peers never come; with "die" rank 1 ends in
 * the middle.
 */
#include <unistd.h>

#include "check.h"
#include "gpu.h"

enum { N = 10000 };

static CUstream stream;
static char    *from, *to;

static ctran_comm_t open_comm(void)
{
    ctran_comm_t comm;
    OK(ctran_comm_dup(CTRAN_COMM_WORLD, &comm));
    OK(ctran_comm_set_errhandler(comm, CTRAN_ERRORS_RETURN));
    OK(ctran_barrier(CTRAN_COMM_WORLD)); /* nobody waits for who is merely not here yet */
    OK(ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
    return comm;
}

static void ended(ctran_comm_t comm, int wanted)
{
    int error = CTRAN_SUCCESS;
    CU(cuStreamSynchronize(stream));
    while (error == CTRAN_SUCCESS) { /* another rank may be the one to find it */
        OK(ctran_comm_get_async_error(comm, &error));
    }
    EXPECT_EQ(wanted, error);
    EXPECT_RC(wanted, ctran_barrier_enqueue(comm, stream));
    CU(cuStreamSynchronize(stream));
}

/* Rank 0 waits for a message of rank 1 that is never sent; twice, and for one that is captured. */
static void never(void)
{
    ctran_comm_t comm = open_comm();
    if (check_rank == 0) {
        OK(ctran_recv_enqueue(to, N, CTRAN_BYTE, 1, 0, comm, stream));
        OK(ctran_recv_enqueue(to, N, CTRAN_BYTE, 1, 0, comm, stream));
    }
    ended(comm, CTRAN_ERR_TIMEOUT);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&comm));
}

/* Rank 0 waits in a reduction to which the others never come. */
static void alone(void)
{
    ctran_comm_t comm = open_comm();
    if (check_rank == 0) {
        OK(ctran_allreduce_enqueue(from, to, N, CTRAN_BYTE, CTRAN_BXOR, comm, stream));
        OK(ctran_barrier_enqueue(comm, stream));
    }
    ended(comm, CTRAN_ERR_TIMEOUT);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&comm));
}

/* The tags of a message differ. */
static void misfit(void)
{
    ctran_comm_t comm = open_comm();
    int          rc = CTRAN_SUCCESS;
    if (check_rank == 0) {
        rc = ctran_recv_enqueue(to, N, CTRAN_BYTE, 1, 5, comm, stream);
    } else if (check_rank == 1) {
        rc = ctran_send_enqueue(from, N, CTRAN_BYTE, 0, 6, comm, stream);
    }
    EXPECT(rc == CTRAN_SUCCESS || rc == CTRAN_ERR_TAG);
    ended(comm, CTRAN_ERR_TAG);
    OK(ctran_barrier(CTRAN_COMM_WORLD));
    OK(ctran_comm_free(&comm));
}

/* Ends of messages to oneself that do not fit; nothing is written. */
static void own(void)
{
    static const struct {
        int nsend, nrecv, tag, wanted;
    } cases[] = {
        {64, 8, 0, CTRAN_ERR_TRUNCATE}, {64, 64, 7, CTRAN_ERR_TAG}, {64, -1, 0, CTRAN_ERR_RANK}};
    for (size_t i = 0; i < LEN(cases); i++) {
        ctran_comm_t  comm = open_comm();
        const int     source = cases[i].nrecv < 0 ? CTRAN_PROC_NULL : check_rank;
        unsigned char found[128];
        OK(ctran_barrier(CTRAN_COMM_WORLD)); /* before anybody ends it */
        device_set(to, 0xee, sizeof found);
        EXPECT_RC(cases[i].wanted,
                  ctran_sendrecv_enqueue(from, cases[i].nsend, CTRAN_BYTE, check_rank, 0, to,
                                         cases[i].nrecv < 0 ? 0 : cases[i].nrecv, CTRAN_BYTE,
                                         source, cases[i].tag, comm, stream));
        ended(comm, cases[i].wanted);
        device_get(found, to, sizeof found);
        for (size_t k = 0; k < sizeof found; k++) {
            EXPECT_EQ(0xee, found[k]);
        }
        OK(ctran_barrier(CTRAN_COMM_WORLD));
        OK(ctran_comm_free(&comm));
    }
}

static void others(void)
{
    ctran_comm_t comm = open_comm();
    OK(ctran_allgather_enqueue(from, N / check_size, CTRAN_BYTE, to, N / check_size, CTRAN_BYTE,
                               comm, stream));
    CU(cuStreamSynchronize(stream));
    OK(ctran_comm_free(&comm));
}

/*
 * Rank 1 dies while the others wait for it, in a receive and in a reduction; not before their calls
 * are in the stream, or these would be refused.
 */
static void dies(void)
{
    ctran_comm_t comm = open_comm();
    if (check_rank == 1) {
        OK(ctran_recv(NULL, 0, CTRAN_BYTE, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        OK(ctran_recv(NULL, 0, CTRAN_BYTE, 2, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE));
        _exit(0);
    }
    if (check_rank == 0) {
        OK(ctran_recv_enqueue(to, N, CTRAN_BYTE, 1, 0, comm, stream));
    } else {
        OK(ctran_allreduce_enqueue(from, to, N, CTRAN_BYTE, CTRAN_BXOR, comm, stream));
    }
    OK(ctran_send(NULL, 0, CTRAN_BYTE, 1, 0, CTRAN_COMM_WORLD));
    ended(comm, CTRAN_ERR_PROC_FAILED);
    printf("ended\n");
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    static const struct subject late[] = {{"never", never}, {"alone", alone}, {"others", others}};
    static const struct subject subjects[] = {{"misfit", misfit}, {"own", own}, {"others", others}};
    const bool                  to_die = argc > 1 && strcmp(argv[1], "die") == 0;
    const bool                  is_late = argc > 1 && strcmp(argv[1], "late") == 0;
    check_start(to_die || is_late ? 1 : argc, argv);
    if (!device_open()) {
        (void)check_end();
        return 77;
    }
    stream = device_stream();
    from = device_new(N);
    to = device_new(N);
    if (to_die) {
        dies();
    }
    if (is_late) {
        check_run(late, LEN(late));
    } else {
        check_run(subjects, LEN(subjects));
    }
    device_free(from);
    device_free(to);
    CU(cuStreamDestroy(stream));
    device_close();
    return check_end();
}
