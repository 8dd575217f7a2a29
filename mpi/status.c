/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a status by calls, for other languages; and requests that are the program's. */
#include "mpi/front.h"

static int check(const char *call, const void *status, const void *out)
{
    return status != NULL && out != NULL
               ? MPI_SUCCESS
               : ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, call,
                                status == NULL ? "status is MPI_STATUS_IGNORE"
                                               : "the result's address is NULL");
}

/* Both calls for a field. */
#define FIELD(name, FIELD_)                                                                        \
    int PMPI_Status_get_##name(const MPI_Status *status, int *name)                                \
    {                                                                                              \
        const int rc = check("MPI_Status_get_" #name, status, name);                               \
        if (rc == MPI_SUCCESS) {                                                                   \
            *name = status->FIELD_;                                                                \
        }                                                                                          \
        return rc;                                                                                 \
    }                                                                                              \
    int PMPI_Status_set_##name(MPI_Status *status, int name)                                       \
    {                                                                                              \
        const int rc = check("MPI_Status_set_" #name, status, status);                             \
        if (rc == MPI_SUCCESS) {                                                                   \
            status->FIELD_ = name;                                                                 \
        }                                                                                          \
        return rc;                                                                                 \
    }

FIELD(source, MPI_SOURCE)
FIELD(tag, MPI_TAG)
FIELD(error, MPI_ERROR)
NAME(Status_get_source)
NAME(Status_set_source)
NAME(Status_get_tag)
NAME(Status_set_tag)
NAME(Status_get_error)
NAME(Status_set_error)
