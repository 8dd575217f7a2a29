/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory in which ranks of a node keep their traces (src/trace), with a slot for each local
 * rank. The daemon makes the memory and then only reads it: ranks may write anything there. A trace
 * stays when its rank is dead, and goes with the daemon. Used by daemon/start.c and traces.c.
 */
#ifndef CT_LAUNCHER_STATUS_TRACEFILE_H
#define CT_LAUNCHER_STATUS_TRACEFILE_H

#include <stddef.h>
#include <stdint.h>

/* Makes the memory for n ranks; `path` becomes the name by which ranks open it. Returns its
 * descriptor, or -1 with errno set. */
int ct_tracefile_create(uint32_t n, char *path, size_t cap);

/* Writes the dump of a local rank's trace to `out`, which holds ct_tracefile_most() bytes. Returns
 * its length; 0: there is no trace. fd may be -1. */
size_t ct_tracefile_read(int fd, uint32_t local_rank, void *out);
size_t ct_tracefile_most(void);

#endif
