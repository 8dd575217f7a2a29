/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication (chapter 12). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    (void)group;
    (void)assert;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_start");
}
NAME(Win_start)

int PMPI_Win_sync(MPI_Win win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_sync");
}
NAME(Win_sync)

int PMPI_Win_test(MPI_Win win, int *flag)
{
    (void)win;
    (void)flag;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_test");
}
NAME(Win_test)

int PMPI_Win_unlock(int rank, MPI_Win win)
{
    (void)rank;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_unlock");
}
NAME(Win_unlock)

int PMPI_Win_unlock_all(MPI_Win win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_unlock_all");
}
NAME(Win_unlock_all)

int PMPI_Win_wait(MPI_Win win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_wait");
}
NAME(Win_wait)
