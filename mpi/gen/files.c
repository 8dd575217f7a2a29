/* SPDX-License-Identifier: BSD-3-Clause */
/* Files (chapter 14). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    (void)fh;
    (void)errorcode;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_call_errhandler)

int PMPI_File_close(MPI_File *fh)
{
    (void)fh;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_close)

int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    (void)file_errhandler_fn;
    (void)errhandler;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_create_errhandler)

int PMPI_File_delete(const char *filename, MPI_Info info)
{
    (void)filename;
    (void)info;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_delete)

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    (void)fh;
    (void)amode;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_amode)

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    (void)fh;
    (void)flag;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_atomicity)

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    (void)fh;
    (void)offset;
    (void)disp;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_byte_offset)

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    (void)fh;
    (void)group;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_group)

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    (void)fh;
    (void)info_used;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_info)

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    (void)fh;
    (void)offset;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_position)

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    (void)fh;
    (void)offset;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_position_shared)

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    (void)fh;
    (void)size;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_size)

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    (void)fh;
    (void)datatype;
    (void)extent;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_type_extent)

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    (void)fh;
    (void)datatype;
    (void)extent;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_type_extent_c)

int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep)
{
    (void)fh;
    (void)disp;
    (void)etype;
    (void)filetype;
    (void)datarep;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_get_view)

int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread)

int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_c)

int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_all)

int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_all_c)

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_at)

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_at_c)

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_at_all)

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_at_all_c)

int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_shared)

int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iread_shared_c)

int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                     MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite)

int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_c)

int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_all)

int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_all_c)

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_at)

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_at_c)

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_at_all)

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request *request)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_at_all_c)

int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_shared)

int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)request;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_iwrite_shared_c)

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    (void)comm;
    (void)filename;
    (void)amode;
    (void)info;
    (void)fh;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_open)

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    (void)fh;
    (void)size;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_preallocate)

int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read)

int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_c)

int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_all)

int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_all_c)

int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_all_begin)

int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_all_begin_c)

int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_all_end)

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_at)

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
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
NAME(File_read_at_c)

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
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
NAME(File_read_at_all)

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
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
NAME(File_read_at_all_c)

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                                MPI_Datatype datatype)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_at_all_begin)

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    (void)fh;
    (void)offset;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_at_all_begin_c)

int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_at_all_end)

int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_ordered)

int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_ordered_c)

int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_ordered_begin)

int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_ordered_begin_c)

int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_ordered_end)

int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_shared)

int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    (void)fh;
    (void)buf;
    (void)count;
    (void)datatype;
    (void)status;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_read_shared_c)

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    (void)fh;
    (void)offset;
    (void)whence;
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
NAME(File_seek)
