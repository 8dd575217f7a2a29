/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that wait for ever, each in another call, for what ctranrun --status says of them. */
#include <ctran.h>
#include <unistd.h>

static void wait_for_requests(int peer)
{
    int             in[2];
    ctran_request_t r[2];
    ctran_irecv(&in[0], 1, CTRAN_INT, peer, 9, CTRAN_COMM_WORLD, &r[0]);
    ctran_irecv(&in[1], 1, CTRAN_INT, CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, CTRAN_COMM_SELF, &r[1]);
    ctran_waitall(2, r, CTRAN_STATUSES_IGNORE);
}

/* A message that nobody receives and that is too long to go without its receiver. */
static void send_long(int peer)
{
    static char     out[8 << 20];
    ctran_request_t r;
    ctran_isend(out, sizeof out, CTRAN_BYTE, peer, 11, CTRAN_COMM_WORLD, &r);
    ctran_wait(&r, CTRAN_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int          rank, value = 0;
    ctran_comm_t half;
    ctran_init(&argc, &argv);
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    switch (rank) {
    case 0:
        ctran_recv(&value, 1, CTRAN_INT, 1, 7, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        break;
    case 1:
        ctran_probe(CTRAN_ANY_SOURCE, CTRAN_ANY_TAG, CTRAN_COMM_SELF, CTRAN_STATUS_IGNORE);
        break;
    case 2:
        wait_for_requests(3);
        break;
    case 3:
        ctran_barrier(CTRAN_COMM_WORLD);
        break;
    case 4:
        send_long(1);
        break;
    case 5:
        ctran_comm_split(CTRAN_COMM_WORLD, 0, 0, &half);
        break;
    case 6: /* waits, gets its message, and is in no call then */
        ctran_recv(&value, 1, CTRAN_INT, 7, 13, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        while (1) {
            pause();
        }
    default: /* reads a byte first, so that rank 6 has to wait */
        while (read(0, &value, 1) != 1) {
        }
        ctran_send(&value, 1, CTRAN_INT, 6, 13, CTRAN_COMM_WORLD);
        ctran_finalize();
    }
    return 1;
}
