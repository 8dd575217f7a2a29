/* SPDX-License-Identifier: BSD-3-Clause */
/* Needs a call that belongs to no such part. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return MPI_Nosuchcall(MPI_COMM_WORLD);
}
