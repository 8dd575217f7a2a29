/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that build calls of kernels share: kernels.c, kernels_direct.c, kernels_names.c.
 */
#ifndef CT_GPU_KERNELS_OWN_H
#define CT_GPU_KERNELS_OWN_H

#include "gpu/kernels.h"

enum ct_kernel_kind { CT_KERNEL_FLAGGED, CT_KERNEL_BULK, CT_KERNEL_DIRECT, CT_KERNEL_KINDS };

#define CT_KERNEL_BCAST    "ct_bcast_direct"
#define CT_KERNEL_DYNAMIC  "ct_alltoallv_dynamic"
#define CT_KERNEL_MESSAGES "ct_messages"

void ct_kernel_name_move(char name[static CT_KERNEL_NAME], enum ct_kernel_kind kind);
void ct_kernel_name_reduction(char name[static CT_KERNEL_NAME], enum ct_kernel_kind kind,
                              enum ct_kernel_type type);

#endif
