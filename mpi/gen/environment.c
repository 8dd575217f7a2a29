/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment, errors and their handlers (chapter 9). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Add_error_class(int *errorclass)
{
    return ctran_add_error_class(errorclass);
}
NAME(Add_error_class)

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    return ctran_add_error_code(errorclass, errorcode);
}
NAME(Add_error_code)

int PMPI_Add_error_string(int errorcode, const char *string)
{
    return ctran_add_error_string(errorcode, string);
}
NAME(Add_error_string)

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    return ctran_alloc_mem(size, info, baseptr);
}
NAME(Alloc_mem)

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    return ctran_comm_call_errhandler(comm, errorcode);
}
NAME(Comm_call_errhandler)

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    return ctran_comm_create_errhandler(comm_errhandler_fn, errhandler);
}
NAME(Comm_create_errhandler)

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return ctran_comm_get_errhandler(comm, errhandler);
}
NAME(Comm_get_errhandler)

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return ctran_comm_set_errhandler(comm, errhandler);
}
NAME(Comm_set_errhandler)

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    return ctran_errhandler_free(errhandler);
}
NAME(Errhandler_free)

int PMPI_Free_mem(void *base)
{
    return ctran_free_mem(base);
}
NAME(Free_mem)

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
    return ctran_get_hw_resource_info(hw_info);
}
NAME(Get_hw_resource_info)

int PMPI_Get_library_version(char *version, int *resultlen)
{
    return ctran_get_library_version(version, resultlen);
}
NAME(Get_library_version)

int PMPI_Get_processor_name(char *name, int *resultlen)
{
    return ctran_get_processor_name(name, resultlen);
}
NAME(Get_processor_name)

int PMPI_Remove_error_string(int errorcode)
{
    return ctran_remove_error_string(errorcode);
}
NAME(Remove_error_string)

double PMPI_Wtick(void)
{
    return ctran_wtick();
}
NAME(Wtick)

double PMPI_Wtime(void)
{
    return ctran_wtime();
}
NAME(Wtime)
