/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The asymmetric barrier of membarrier(2). Two that each store something and then look at what the
 * other stores need a full barrier in between, both of them, so that one at least sees the other.
 * Where one of them comes by much more often it can do without, if the other has the kernel put a
 * barrier into all processes that have joined, at whatever place they are.
 */
#ifndef CT_BASE_MEMBARRIER_H
#define CT_BASE_MEMBARRIER_H

#include <stdbool.h>

/* Lets barriers of other processes reach this one, from now on. False: the kernel has none. */
bool ct_membarrier_join(void);

/* When it returns each running thread of each process that has joined has passed a full barrier
 * since the call began; those that do not run pass one anyway. The caller has joined. */
void ct_membarrier(void);

#endif
