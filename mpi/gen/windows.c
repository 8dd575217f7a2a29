/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication (chapter 12). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return ctran_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, op, win);
}
NAME(Accumulate)

int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return ctran_accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, op, win);
}
NAME(Accumulate_c)

int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    return ctran_compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
        target_disp, win);
}
NAME(Compare_and_swap)

int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    return ctran_fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op,
        win);
}
NAME(Fetch_and_op)

int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return ctran_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win);
}
NAME(Get)

int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    return ctran_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win);
}
NAME(Get_c)

int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return ctran_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op,
        win);
}
NAME(Get_accumulate)

int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win)
{
    return ctran_get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op,
        win);
}
NAME(Get_accumulate_c)

int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win)
{
    return ctran_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win);
}
NAME(Put)

int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    return ctran_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win);
}
NAME(Put_c)

int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return ctran_raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, op, win, request);
}
NAME(Raccumulate)

int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    return ctran_raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, op, win, request);
}
NAME(Raccumulate_c)

int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return ctran_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win, request);
}
NAME(Rget)

int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return ctran_rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win, request);
}
NAME(Rget_c)

int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return ctran_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op,
        win, request);
}
NAME(Rget_accumulate)

int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                           MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                           MPI_Win win, MPI_Request *request)
{
    return ctran_rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
        result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op,
        win, request);
}
NAME(Rget_accumulate_c)

int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request *request)
{
    return ctran_rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win, request);
}
NAME(Rput)

int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return ctran_rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
        target_count, target_datatype, win, request);
}
NAME(Rput_c)

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                      MPI_Win *win)
{
    return ctran_win_allocate(size, disp_unit, info, comm, baseptr, win);
}
NAME(Win_allocate)

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win)
{
    return ctran_win_allocate(size, disp_unit, info, comm, baseptr, win);
}
NAME(Win_allocate_c)

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void *baseptr, MPI_Win *win)
{
    return ctran_win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
}
NAME(Win_allocate_shared)

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win)
{
    return ctran_win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
}
NAME(Win_allocate_shared_c)

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    return ctran_win_attach(win, base, size);
}
NAME(Win_attach)

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    return ctran_win_call_errhandler(win, errorcode);
}
NAME(Win_call_errhandler)

int PMPI_Win_complete(MPI_Win win)
{
    return ctran_win_complete(win);
}
NAME(Win_complete)

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win *win)
{
    return ctran_win_create(base, size, disp_unit, info, comm, win);
}
NAME(Win_create)

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win)
{
    return ctran_win_create(base, size, disp_unit, info, comm, win);
}
NAME(Win_create_c)

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    return ctran_win_create_dynamic(info, comm, win);
}
NAME(Win_create_dynamic)

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    return ctran_win_create_errhandler(win_errhandler_fn, errhandler);
}
NAME(Win_create_errhandler)

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    return ctran_win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state);
}
NAME(Win_create_keyval)

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    return ctran_win_delete_attr(win, win_keyval);
}
NAME(Win_delete_attr)

int PMPI_Win_detach(MPI_Win win, const void *base)
{
    return ctran_win_detach(win, base);
}
NAME(Win_detach)

int PMPI_Win_fence(int assert, MPI_Win win)
{
    return ctran_win_fence(assert, win);
}
NAME(Win_fence)

int PMPI_Win_flush(int rank, MPI_Win win)
{
    return ctran_win_flush(rank, win);
}
NAME(Win_flush)

int PMPI_Win_flush_all(MPI_Win win)
{
    return ctran_win_flush_all(win);
}
NAME(Win_flush_all)

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    return ctran_win_flush_local(rank, win);
}
NAME(Win_flush_local)

int PMPI_Win_flush_local_all(MPI_Win win)
{
    return ctran_win_flush_local_all(win);
}
NAME(Win_flush_local_all)

int PMPI_Win_free(MPI_Win *win)
{
    return ctran_win_free(win);
}
NAME(Win_free)

int PMPI_Win_free_keyval(int *win_keyval)
{
    return ctran_win_free_keyval(win_keyval);
}
NAME(Win_free_keyval)

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    return ctran_win_get_attr(win, win_keyval, attribute_val, flag);
}
NAME(Win_get_attr)

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    return ctran_win_get_errhandler(win, errhandler);
}
NAME(Win_get_errhandler)

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    return ctran_win_get_group(win, group);
}
NAME(Win_get_group)

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    return ctran_win_get_info(win, info_used);
}
NAME(Win_get_info)

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    return ctran_win_lock(lock_type, rank, assert, win);
}
NAME(Win_lock)

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    return ctran_win_lock_all(assert, win);
}
NAME(Win_lock_all)

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    return ctran_win_post(group, assert, win);
}
NAME(Win_post)

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    return ctran_win_set_attr(win, win_keyval, attribute_val);
}
NAME(Win_set_attr)

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    return ctran_win_set_errhandler(win, errhandler);
}
NAME(Win_set_errhandler)

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    return ctran_win_set_info(win, info);
}
NAME(Win_set_info)

int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
    return ctran_win_set_name(win, win_name);
}
NAME(Win_set_name)

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    ctran_aint_t w_disp_unit = disp_unit != NULL ? *disp_unit : 0;
    const int rc = ctran_win_shared_query(win, rank, size, disp_unit != NULL ? &w_disp_unit : NULL,
        baseptr);
    if (rc == MPI_SUCCESS) {
        *disp_unit = ct_narrow(w_disp_unit);
    }
    return rc;
}
NAME(Win_shared_query)

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    return ctran_win_shared_query(win, rank, size, disp_unit, baseptr);
}
NAME(Win_shared_query_c)

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    return ctran_win_start(group, assert, win);
}
NAME(Win_start)

int PMPI_Win_sync(MPI_Win win)
{
    return ctran_win_sync(win);
}
NAME(Win_sync)

int PMPI_Win_test(MPI_Win win, int *flag)
{
    return ctran_win_test(win, flag);
}
NAME(Win_test)

int PMPI_Win_unlock(int rank, MPI_Win win)
{
    return ctran_win_unlock(rank, win);
}
NAME(Win_unlock)

int PMPI_Win_unlock_all(MPI_Win win)
{
    return ctran_win_unlock_all(win);
}
NAME(Win_unlock_all)

int PMPI_Win_wait(MPI_Win win)
{
    return ctran_win_wait(win);
}
NAME(Win_wait)
