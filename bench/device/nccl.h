/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NCCL as a peer: the part of it that is measured, found at run time (libnccl.so.2), so that
 * nothing needs it to build. Functions return 0, or print what NCCL says and return -1.
 */
#ifndef BENCH_DEVICE_NCCL_H
#define BENCH_DEVICE_NCCL_H

#include <stdbool.h>
#include <stddef.h>

struct CUstream_st;

/* Collective over CTRAN_COMM_WORLD: loads it and makes its communicator of all ranks, each with its
 * current device. False on all ranks where it is missing on one; rank 0 says why. */
bool nccl_open(void);
void nccl_close(void);

/* "2.28.9" */
const char *nccl_version(void);

/* Bytes are those of one rank's block, as in device.c; floats are summed. */
int nccl_sendrecv(const void *from, void *to, size_t bytes, struct CUstream_st *s);
int nccl_allgather(const void *from, void *to, size_t bytes, struct CUstream_st *s);
int nccl_alltoall(const void *from, void *to, size_t bytes, struct CUstream_st *s);
int nccl_bcast(const void *from, void *to, size_t bytes, struct CUstream_st *s);
int nccl_allreduce(const void *from, void *to, size_t bytes, struct CUstream_st *s);
int nccl_reduce_scatter(const void *from, void *to, size_t bytes, struct CUstream_st *s);

#endif
