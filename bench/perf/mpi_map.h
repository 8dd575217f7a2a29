/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_map.h - the calls of ctran that the measuring program makes, by their names in MPI. With
 * CT_PERF_MPI the same sources are compiled by an MPI library's mpicc and measure that library.
 * Included by perf.h, which every file of the program includes, instead of ctran.h.
 */
#ifndef PERF_MPI_MAP_H
#define PERF_MPI_MAP_H

#include <mpi.h>

#define ctran_comm_t    MPI_Comm
#define ctran_request_t MPI_Request
#define ctran_win_t     MPI_Win
#define ctran_group_t   MPI_Group
typedef int ctran_count_t; /* arrays of counts and displacements are MPI's first, narrow forms */
typedef int ctran_aint_t;

#define CTRAN_SUCCESS                    MPI_SUCCESS
#define CTRAN_COMM_WORLD                 MPI_COMM_WORLD
#define CTRAN_COMM_TYPE_SHARED           MPI_COMM_TYPE_SHARED
#define CTRAN_INFO_NULL                  MPI_INFO_NULL
#define CTRAN_BYTE                       MPI_BYTE
#define CTRAN_INT                        MPI_INT
#define CTRAN_FLOAT                      MPI_FLOAT
#define CTRAN_DOUBLE                     MPI_DOUBLE
#define CTRAN_SUM                        MPI_SUM
#define CTRAN_MAX                        MPI_MAX
#define CTRAN_MIN                        MPI_MIN
#define CTRAN_STATUS_IGNORE              MPI_STATUS_IGNORE
#define CTRAN_STATUSES_IGNORE            MPI_STATUSES_IGNORE
#define CTRAN_MAX_LIBRARY_VERSION_STRING MPI_MAX_LIBRARY_VERSION_STRING

#define CTRAN_LONG           MPI_LONG
#define CTRAN_LOCK_EXCLUSIVE MPI_LOCK_EXCLUSIVE

#define ctran_win_allocate     MPI_Win_allocate
#define ctran_win_free         MPI_Win_free
#define ctran_win_lock_all     MPI_Win_lock_all
#define ctran_win_unlock_all   MPI_Win_unlock_all
#define ctran_win_lock         MPI_Win_lock
#define ctran_win_unlock       MPI_Win_unlock
#define ctran_win_flush        MPI_Win_flush
#define ctran_win_fence        MPI_Win_fence
#define ctran_win_post         MPI_Win_post
#define ctran_win_start        MPI_Win_start
#define ctran_win_complete     MPI_Win_complete
#define ctran_win_wait         MPI_Win_wait
#define ctran_put              MPI_Put
#define ctran_get              MPI_Get
#define ctran_fetch_and_op     MPI_Fetch_and_op
#define ctran_compare_and_swap MPI_Compare_and_swap
#define ctran_comm_group       MPI_Comm_group
#define ctran_group_incl       MPI_Group_incl
#define ctran_group_free       MPI_Group_free

#define ctran_init                 MPI_Init
#define ctran_finalize             MPI_Finalize
#define ctran_abort                MPI_Abort
#define ctran_alloc_mem            MPI_Alloc_mem
#define ctran_free_mem             MPI_Free_mem
#define ctran_get_library_version  MPI_Get_library_version
#define ctran_comm_rank            MPI_Comm_rank
#define ctran_comm_size            MPI_Comm_size
#define ctran_send                 MPI_Send
#define ctran_recv                 MPI_Recv
#define ctran_isend                MPI_Isend
#define ctran_irecv                MPI_Irecv
#define ctran_waitall              MPI_Waitall
#define ctran_barrier              MPI_Barrier
#define ctran_bcast                MPI_Bcast
#define ctran_reduce               MPI_Reduce
#define ctran_allreduce            MPI_Allreduce
#define ctran_reduce_local         MPI_Reduce_local
#define ctran_scan                 MPI_Scan
#define ctran_exscan               MPI_Exscan
#define ctran_gather               MPI_Gather
#define ctran_gatherv              MPI_Gatherv
#define ctran_scatter              MPI_Scatter
#define ctran_scatterv             MPI_Scatterv
#define ctran_allgather            MPI_Allgather
#define ctran_allgatherv           MPI_Allgatherv
#define ctran_alltoall             MPI_Alltoall
#define ctran_alltoallv            MPI_Alltoallv
#define ctran_reduce_scatter_block MPI_Reduce_scatter_block
#define ctran_reduce_scatter       MPI_Reduce_scatter
#define ctran_dims_create          MPI_Dims_create
#define ctran_cart_create          MPI_Cart_create
#define ctran_cart_shift           MPI_Cart_shift
#define ctran_comm_split_type      MPI_Comm_split_type
#define ctran_comm_free            MPI_Comm_free
#define ctran_neighbor_alltoall    MPI_Neighbor_alltoall

#endif
