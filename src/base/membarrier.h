/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The asymmetric barrier of membarrier(2). Two threads that each store one value and then load the
 * other's value need a full barrier between store and load, so that at least one of them sees the
 * other's store. If one thread passes there much more often, it can omit its barrier: the other
 * calls membarrier(2), and the kernel executes a barrier in all processes that have joined,
 * wherever they are.
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
