/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hello - the first ctran program: every rank says who it is.
 *
 *     ctrancc -o hello hello.c
 *     ctranrun -n 4 ./hello
 */
#include <stdio.h>

#include <ctran.h>

int main(int argc, char **argv)
{
    int  rank, size, len;
    char host[CTRAN_MAX_PROCESSOR_NAME];

    /* Joining the job is the one call whose result a program must look at: later errors
     * end the job with a message, unless the program asks to handle them itself. */
    if (ctran_init(&argc, &argv) != CTRAN_SUCCESS) {
        return 1;
    }
    ctran_comm_rank(CTRAN_COMM_WORLD, &rank);
    ctran_comm_size(CTRAN_COMM_WORLD, &size);
    ctran_get_processor_name(host, &len);

    printf("Hello from rank %d of %d on %s\n", rank, size, host);

    ctran_finalize();
    return 0;
}
