/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_info --protocols: by which protocol messages of which length travel, and why. */
#ifndef CTRAN_TOOLS_PROTOCOLS_H
#define CTRAN_TOOLS_PROTOCOLS_H

#include "base/base.h"

/* Prints the ranges for usual peers: on the same host, over tcp, and between GPUs of a host. */
void protocols_show(const struct ct_config *cfg);

#endif
