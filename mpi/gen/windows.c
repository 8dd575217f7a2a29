/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication (chapter 12). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Accumulate");
}
NAME(Accumulate)

int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Accumulate_c");
}
NAME(Accumulate_c)

int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    (void)origin_addr;
    (void)compare_addr;
    (void)result_addr;
    (void)datatype;
    (void)target_rank;
    (void)target_disp;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Compare_and_swap");
}
NAME(Compare_and_swap)

int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    (void)origin_addr;
    (void)result_addr;
    (void)datatype;
    (void)target_rank;
    (void)target_disp;
    (void)op;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Fetch_and_op");
}
NAME(Fetch_and_op)

int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Get");
}
NAME(Get)

int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Get_c");
}
NAME(Get_c)

int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)result_addr;
    (void)result_count;
    (void)result_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Get_accumulate");
}
NAME(Get_accumulate)

int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)result_addr;
    (void)result_count;
    (void)result_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Get_accumulate_c");
}
NAME(Get_accumulate_c)

int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Put");
}
NAME(Put)

int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Put_c");
}
NAME(Put_c)

int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Raccumulate");
}
NAME(Raccumulate)

int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Raccumulate_c");
}
NAME(Raccumulate_c)

int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Rget");
}
NAME(Rget)

int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Rget_c");
}
NAME(Rget_c)

int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)result_addr;
    (void)result_count;
    (void)result_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Rget_accumulate");
}
NAME(Rget_accumulate)

int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                           MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                           MPI_Win win, MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)result_addr;
    (void)result_count;
    (void)result_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)op;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Rget_accumulate_c");
}
NAME(Rget_accumulate_c)

int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Rput");
}
NAME(Rput)

int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    (void)origin_addr;
    (void)origin_count;
    (void)origin_datatype;
    (void)target_rank;
    (void)target_disp;
    (void)target_count;
    (void)target_datatype;
    (void)win;
    (void)request;
    return ct_refuse(MPI_COMM_NULL, "MPI_Rput_c");
}
NAME(Rput_c)

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                      MPI_Win *win)
{
    (void)size;
    (void)disp_unit;
    (void)info;
    (void)baseptr;
    (void)win;
    return ct_refuse(comm, "MPI_Win_allocate");
}
NAME(Win_allocate)

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win)
{
    (void)size;
    (void)disp_unit;
    (void)info;
    (void)baseptr;
    (void)win;
    return ct_refuse(comm, "MPI_Win_allocate_c");
}
NAME(Win_allocate_c)

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void *baseptr, MPI_Win *win)
{
    (void)size;
    (void)disp_unit;
    (void)info;
    (void)baseptr;
    (void)win;
    return ct_refuse(comm, "MPI_Win_allocate_shared");
}
NAME(Win_allocate_shared)

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win)
{
    (void)size;
    (void)disp_unit;
    (void)info;
    (void)baseptr;
    (void)win;
    return ct_refuse(comm, "MPI_Win_allocate_shared_c");
}
NAME(Win_allocate_shared_c)

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    (void)win;
    (void)base;
    (void)size;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_attach");
}
NAME(Win_attach)

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    (void)win;
    (void)errorcode;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_call_errhandler");
}
NAME(Win_call_errhandler)

int PMPI_Win_complete(MPI_Win win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_complete");
}
NAME(Win_complete)

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win *win)
{
    (void)base;
    (void)size;
    (void)disp_unit;
    (void)info;
    (void)win;
    return ct_refuse(comm, "MPI_Win_create");
}
NAME(Win_create)

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win)
{
    (void)base;
    (void)size;
    (void)disp_unit;
    (void)info;
    (void)win;
    return ct_refuse(comm, "MPI_Win_create_c");
}
NAME(Win_create_c)

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    (void)info;
    (void)win;
    return ct_refuse(comm, "MPI_Win_create_dynamic");
}
NAME(Win_create_dynamic)

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    (void)win_errhandler_fn;
    (void)errhandler;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_create_errhandler");
}
NAME(Win_create_errhandler)

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    (void)win_copy_attr_fn;
    (void)win_delete_attr_fn;
    (void)win_keyval;
    (void)extra_state;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_create_keyval");
}
NAME(Win_create_keyval)

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    (void)win;
    (void)win_keyval;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_delete_attr");
}
NAME(Win_delete_attr)

int PMPI_Win_detach(MPI_Win win, const void *base)
{
    (void)win;
    (void)base;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_detach");
}
NAME(Win_detach)

int PMPI_Win_fence(int assert, MPI_Win win)
{
    (void)assert;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_fence");
}
NAME(Win_fence)

int PMPI_Win_flush(int rank, MPI_Win win)
{
    (void)rank;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_flush");
}
NAME(Win_flush)

int PMPI_Win_flush_all(MPI_Win win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_flush_all");
}
NAME(Win_flush_all)

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    (void)rank;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_flush_local");
}
NAME(Win_flush_local)

int PMPI_Win_flush_local_all(MPI_Win win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_flush_local_all");
}
NAME(Win_flush_local_all)

int PMPI_Win_free(MPI_Win *win)
{
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_free");
}
NAME(Win_free)

int PMPI_Win_free_keyval(int *win_keyval)
{
    (void)win_keyval;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_free_keyval");
}
NAME(Win_free_keyval)

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    (void)win;
    (void)win_keyval;
    (void)attribute_val;
    (void)flag;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_get_attr");
}
NAME(Win_get_attr)

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    (void)win;
    (void)errhandler;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_get_errhandler");
}
NAME(Win_get_errhandler)

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    (void)win;
    (void)group;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_get_group");
}
NAME(Win_get_group)

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    (void)win;
    (void)info_used;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_get_info");
}
NAME(Win_get_info)

int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    (void)win;
    (void)win_name;
    (void)resultlen;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_get_name");
}
NAME(Win_get_name)

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    (void)lock_type;
    (void)rank;
    (void)assert;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_lock");
}
NAME(Win_lock)

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    (void)assert;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_lock_all");
}
NAME(Win_lock_all)

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    (void)group;
    (void)assert;
    (void)win;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_post");
}
NAME(Win_post)

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    (void)win;
    (void)win_keyval;
    (void)attribute_val;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_set_attr");
}
NAME(Win_set_attr)

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    (void)win;
    (void)errhandler;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_set_errhandler");
}
NAME(Win_set_errhandler)

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    (void)win;
    (void)info;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_set_info");
}
NAME(Win_set_info)

int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
    (void)win;
    (void)win_name;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_set_name");
}
NAME(Win_set_name)

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    (void)win;
    (void)rank;
    (void)size;
    (void)disp_unit;
    (void)baseptr;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_shared_query");
}
NAME(Win_shared_query)

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    (void)win;
    (void)rank;
    (void)size;
    (void)disp_unit;
    (void)baseptr;
    return ct_refuse(MPI_COMM_NULL, "MPI_Win_shared_query_c");
}
NAME(Win_shared_query_c)
