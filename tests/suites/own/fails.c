/* SPDX-License-Identifier: BSD-3-Clause */
/* Fails: by its exit status, or with -quietly by what it does not say. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    if (argc > 1) {
        return 0;
    }
    printf("Found 1 errors\n");
    return 1;
}
