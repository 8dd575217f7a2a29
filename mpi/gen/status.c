/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests and statuses (chapters 3 and 13). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Grequest_complete(MPI_Request request)
{
    return ctran_grequest_complete(request);
}
NAME(Grequest_complete)

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        MPI_Request *request)
{
    return ctran_grequest_start((ctran_grequest_query_function *)query_fn, free_fn, cancel_fn,
        extra_state, request);
}
NAME(Grequest_start)

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    return ctran_status_set_cancelled((ctran_status_t *)status, flag);
}
NAME(Status_set_cancelled)

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return ctran_status_set_elements((ctran_status_t *)status, datatype, count);
}
NAME(Status_set_elements)

int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return ctran_status_set_elements((ctran_status_t *)status, datatype, count);
}
NAME(Status_set_elements_c)

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return ctran_status_set_elements((ctran_status_t *)status, datatype, count);
}
NAME(Status_set_elements_x)
