/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_trace - counts the calls and bytes of an MPI program that was not made for it: each call
 * defined here stands before the library's, which it reaches by its other name, PMPI_.
 *
 *     mpicc -shared -fPIC -o mpi_trace.so mpi_trace.c
 *     LD_PRELOAD=./mpi_trace.so mpiexec -n 4 ./program
 *
 * Rank 0 prints the sums of all ranks when the program finalizes.
 */
#include <mpi.h>
#include <stdio.h>

enum { SENDS, RECEIVES, REDUCTIONS, KINDS };

static long long calls[KINDS], bytes[KINDS];

static void note(int kind, int count, MPI_Datatype datatype)
{
    int size = 0;
    PMPI_Type_size(datatype, &size);
    calls[kind]++;
    bytes[kind] += (long long)count * size;
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    note(SENDS, count, datatype);
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    note(RECEIVES, count, datatype);
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    note(REDUCTIONS, count, datatype);
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void)
{
    static const char *const names[KINDS] = {"MPI_Send", "MPI_Recv", "MPI_Allreduce"};
    long long                all_calls[KINDS], all_bytes[KINDS];
    int                      rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(calls, all_calls, KINDS, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(bytes, all_bytes, KINDS, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int kind = 0; rank == 0 && kind < KINDS; kind++) {
        printf("%s: %lld calls, %lld bytes\n", names[kind], all_calls[kind], all_bytes[kind]);
    }
    return PMPI_Finalize();
}
