/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pingpong - how long a message takes, and how many bytes a second go through.
 *
 *     ctrancc -O2 -o pingpong pingpong.c
 *     ctranrun -n 2 ./pingpong
 *
 * Rank 0 sends a message to rank 1, which sends it back: half of that round trip is the time of one
 * message. It is the smallest program that measures something; ctran_perf(1) does so with care.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ctran.h>

enum { MAX_BYTES = 4 << 20, TAG = 7 };

/* `rounds` times there and back. Both ranks call this, and take turns. */
static void play(char *buffer, int bytes, int rounds, int rank)
{
    int other = 1 - rank;
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            ctran_send(buffer, bytes, CTRAN_BYTE, other, TAG, CTRAN_COMM_WORLD);
            ctran_recv(buffer, bytes, CTRAN_BYTE, other, TAG, CTRAN_COMM_WORLD,
                       CTRAN_STATUS_IGNORE);
        } else {
            ctran_recv(buffer, bytes, CTRAN_BYTE, other, TAG, CTRAN_COMM_WORLD,
                       CTRAN_STATUS_IGNORE);
            ctran_send(buffer, bytes, CTRAN_BYTE, other, TAG, CTRAN_COMM_WORLD);
        }
    }
}

/* Seconds that one message of this size takes. */
static double measure(char *buffer, int bytes, int rank)
{
    int rounds = bytes < 64 << 10 ? 2000 : 100;

    /* What happens for the first time is not measured: the first message connects the two, and the
     * first touch of a page brings it in. */
    play(buffer, bytes, 10, rank);

    double begin = ctran_wtime();
    play(buffer, bytes, rounds, rank);
    return (ctran_wtime() - begin) / rounds / 2;
}

int main(int argc, char **argv)
{
    int rank, size;

    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    char *buffer = calloc(1, MAX_BYTES);
    if (size != 2 || buffer == NULL) {
        if (rank == 0) {
            fprintf(stderr, "pingpong: two ranks and %d bytes of memory are needed\n", MAX_BYTES);
        }
        ctran_finalize();
        return 1;
    }

    if (rank == 0) {
        printf("%10s %12s %12s\n", "bytes", "us", "MB/s");
    }
    for (int bytes = 0; bytes <= MAX_BYTES; bytes = bytes == 0 ? 1 : bytes * 4) {
        double seconds = measure(buffer, bytes, rank);
        if (rank == 0) {
            printf("%10d %12.2f %12.1f\n", bytes, seconds * 1e6, bytes / seconds * 1e-6);
        }
    }
    free(buffer);
    return ctran_finalize() == CTRAN_SUCCESS ? 0 : 1;
}
