/* SPDX-License-Identifier: BSD-3-Clause */
/* Up to MPI-3.1 errors of calls without a communicator went to MPI_COMM_WORLD's handler, since then
 * to MPI_COMM_SELF's. Suites are older than that: what they give the one, the other gets, too. */
#include <mpi.h>

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    if (comm == MPI_COMM_WORLD) {
        PMPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    }
    return PMPI_Comm_set_errhandler(comm, errhandler);
}
