/* SPDX-License-Identifier: BSD-3-Clause */
/* Single calls that are more than another name, and what all of those have in common that are not
 * here. */
#include "mpi/front.h"

int ct_refuse(MPI_Comm comm, const char *call)
{
    return ct_front_raise(comm, MPI_ERR_UNSUPPORTED_OPERATION, call,
                          "ctran does not have this part of MPI; see ctran-mpi(7)");
}

int PMPI_Get_version(int *version, int *subversion)
{
    if (version == NULL || subversion == NULL) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_ARG, "MPI_Get_version",
                              "a result's address is NULL");
    }
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
NAME(Get_version)

int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
NAME(Pcontrol)

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return ct_front_op_create(user_fn, commute, op);
}
NAME(Op_create)

/* ---- the error handler of MPI_FILE_NULL, which programs set though they have no files -------- */

static _Atomic(MPI_Errhandler) of_no_file = MPI_ERRORS_RETURN;

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    if (file != MPI_FILE_NULL) {
        return MPI_ERR_FILE;
    }
    if (errhandler != MPI_ERRORS_RETURN && errhandler != MPI_ERRORS_ARE_FATAL &&
        errhandler != MPI_ERRORS_ABORT) {
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
    of_no_file = errhandler;
    return MPI_SUCCESS;
}
NAME(File_set_errhandler)

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    if (file != MPI_FILE_NULL || errhandler == NULL) {
        return file != MPI_FILE_NULL ? MPI_ERR_FILE : MPI_ERR_ARG;
    }
    *errhandler = of_no_file;
    return MPI_SUCCESS;
}
NAME(File_get_errhandler)
