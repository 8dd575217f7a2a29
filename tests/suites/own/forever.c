/* SPDX-License-Identifier: BSD-3-Clause */
/* Never ends. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (;;) {
        pause();
    }
}
