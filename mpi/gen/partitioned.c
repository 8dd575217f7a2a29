/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned messages (chapter 4). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
    return ctran_parrived(request, partition, flag);
}
NAME(Parrived)

int PMPI_Pready(int partition, MPI_Request request)
{
    return ctran_pready(partition, request);
}
NAME(Pready)

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request)
{
    return ctran_pready_list(length, array_of_partitions, request);
}
NAME(Pready_list)

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request)
{
    return ctran_pready_range(partition_low, partition_high, request);
}
NAME(Pready_range)

int PMPI_Precv_init(void *buf, int partitions, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_precv_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}
NAME(Precv_init)

int PMPI_Precv_init_c(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
                      int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_precv_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}
NAME(Precv_init_c)

int PMPI_Psend_init(const void *buf, int partitions, int count, MPI_Datatype datatype, int dest,
                    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}
NAME(Psend_init)

int PMPI_Psend_init_c(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype,
                      int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return ctran_psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
}
NAME(Psend_init_c)
