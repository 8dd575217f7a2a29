/* SPDX-License-Identifier: BSD-3-Clause */
/* All kernels, as one module. */
#include "gpu/kernels/bcast.cu"
#include "gpu/kernels/direct.cu"
#include "gpu/kernels/dynamic.cu"
#include "gpu/kernels/message.cu"
#include "gpu/kernels/move.cu"
#include "gpu/kernels/reduce_float.cu"
#include "gpu/kernels/reduce_half.cu"
#include "gpu/kernels/reduce_int.cu"
#include "gpu/kernels/reduce_pair.cu"
#include "gpu/kernels/reduce_word.cu"
