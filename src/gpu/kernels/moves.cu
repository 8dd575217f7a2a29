/* SPDX-License-Identifier: BSD-3-Clause */
/* All kernels that combine nothing, as one unit: each is compiled in a second or two. */
#include "gpu/kernels/bcast.cu"
#include "gpu/kernels/direct.cu"
#include "gpu/kernels/dynamic.cu"
#include "gpu/kernels/message.cu"
#include "gpu/kernels/move.cu"
