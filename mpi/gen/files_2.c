/* SPDX-License-Identifier: BSD-3-Clause */
/* Files (chapter 14). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    (void)fh;
    (void)offset;
    (void)whence;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_seek_shared)

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    (void)fh;
    (void)flag;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_set_atomicity)

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    (void)fh;
    (void)info;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_set_info)

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    (void)fh;
    (void)size;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_set_size)

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    (void)fh;
    (void)disp;
    (void)etype;
    (void)filetype;
    (void)datarep;
    (void)info;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_set_view)

int PMPI_File_sync(MPI_File fh)
{
    (void)fh;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_sync)

int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write)

int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_c)

int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_all)

int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_all_c)

int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_all_begin)

int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_all_begin_c)

int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_all_end)

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at)

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at_c)

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at_all)

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at_all_c)

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                 MPI_Datatype datatype)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at_all_begin)

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at_all_begin_c)

int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_at_all_end)

int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_ordered)

int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_ordered_c)

int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_ordered_begin)

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                    MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_ordered_begin_c)

int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_ordered_end)

int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_shared)

int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_write_shared_c)

int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                          MPI_Datarep_conversion_function *write_conversion_fn,
                          MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    (void)datarep;
    (void)read_conversion_fn;
    (void)write_conversion_fn;
    (void)dtype_file_extent_fn;
    (void)extra_state;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(Register_datarep)

int PMPI_Register_datarep_c(const char *datarep,
                            MPI_Datarep_conversion_function_c *read_conversion_fn,
                            MPI_Datarep_conversion_function_c *write_conversion_fn,
                            MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    (void)datarep;
    (void)read_conversion_fn;
    (void)write_conversion_fn;
    (void)dtype_file_extent_fn;
    (void)extra_state;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(Register_datarep_c)
