/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_info --gpus: the GPUs as the CUDA driver shows them to this process. */
#ifndef CTRAN_TOOLS_GPUS_H
#define CTRAN_TOOLS_GPUS_H

#include "base/base.h"

/* Prints them; where there is no driver it says so. False: the driver is there and does not start,
 * which has been logged. */
bool gpus_show(const struct ct_config *cfg, const struct ct_log *log);

#endif
