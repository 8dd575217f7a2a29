/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fatal - ends its job in the way that the argument names; for fatal.test. All other ranks wait in
 * a barrier that never completes, so only the end of the job ends them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctran.h"

enum { CODE = 7 };

static void make_error(const char *how, int rank, int size)
{
    ctran_comm_t dup;
    int          value = rank;
    if (strcmp(how, "abort") == 0) {
        ctran_abort(CTRAN_COMM_WORLD, CODE);
    } else if (strcmp(how, "rank") == 0) {
        ctran_send(&value, 1, CTRAN_INT, size + 3, 0, CTRAN_COMM_WORLD);
    } else if (strcmp(how, "type") == 0) {
        ctran_recv(&value, 1, CTRAN_DATATYPE_NULL, 0, 0, CTRAN_COMM_WORLD, CTRAN_STATUS_IGNORE);
    } else if (strcmp(how, "dup") == 0) { /* a handler set on one does not save the other */
        ctran_comm_set_errhandler(CTRAN_COMM_WORLD, CTRAN_ERRORS_RETURN);
        ctran_comm_dup(CTRAN_COMM_SELF, &dup);
        ctran_send(&value, 1, CTRAN_INT, 0, -9, dup);
    } else if (strcmp(how, "truncate") == 0) {
        ctran_sendrecv("long", 5, CTRAN_CHAR, 0, 1, &value, 2, CTRAN_CHAR, 0, 1, CTRAN_COMM_SELF,
                       CTRAN_STATUS_IGNORE);
    } else if (strcmp(how, "exit") == 0) {
        exit(CODE);
    }
    fprintf(stderr, "fatal: \"%s\" did not end the job\n", how);
}

int main(int argc, char **argv)
{
    int rank, size;
    if (argc != 2 || ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 99;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    ctran_barrier(CTRAN_COMM_WORLD);
    if (rank == size - 1) {
        make_error(argv[1], rank, size);
        return 0; /* not reached; were it, the job would succeed, and the test fail */
    }
    ctran_barrier(CTRAN_COMM_WORLD);
    return 99;
}
