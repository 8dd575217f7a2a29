/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy - ranks of ctran that exchange messages for ever: short and long, with neighbours and all
 * together. Somebody has to kill one; or "busy RANK TURN STATUS" has that rank exit by itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ctran.h>

enum { LONG = 100000 };

int main(int argc, char **argv)
{
    static char out[LONG], in[LONG];
    int         rank, size, sum;
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return EXIT_FAILURE;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    for (int turn = 0;; turn++) {
        int next = (rank + 1) % size, prev = (rank + size - 1) % size;
        if (argc == 4 && rank == atoi(argv[1]) && turn == atoi(argv[2])) {
            exit(atoi(argv[3]));
        }
        ctran_sendrecv(out, turn % LONG, CTRAN_BYTE, next, 0, in, LONG, CTRAN_BYTE, prev, 0,
                       CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        ctran_sendrecv(out, LONG, CTRAN_BYTE, next, 0, in, LONG, CTRAN_BYTE, prev, 0,
                       CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
        ctran_allreduce(&turn, &sum, 1, CTRAN_INT, CTRAN_SUM, CTRAN_COMM_WORLD);
        if (turn == 0) {
            puts("x");
            fflush(stdout);
        }
    }
}
