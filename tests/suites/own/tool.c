/* SPDX-License-Identifier: BSD-3-Clause */
/* Needs a part of MPI that is left out as a whole. */
#include <mpi.h>

int main(void)
{
    int provided;
    return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
}
