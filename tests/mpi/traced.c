/* SPDX-License-Identifier: BSD-3-Clause */
/* What examples/mpi_trace.c is tried on: each rank sends 10 messages of 3 ints to the next, and all
 * reduce one double. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int    rank, size, data[3] = {0};
    double mine = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++) {
        MPI_Send(data, 3, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        MPI_Recv(data, 3, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == size ? 0 : 1;
}
