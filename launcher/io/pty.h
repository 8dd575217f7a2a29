/* SPDX-License-Identifier: BSD-3-Clause */
/* A pseudo-terminal for a rank under a debugger: the daemon has one end, the rank the other. */
#ifndef CT_LAUNCHER_IO_PTY_H
#define CT_LAUNCHER_IO_PTY_H

#include <stdint.h>

/* Makes a terminal: *ours, nonblocking, and *theirs; both are close-on-exec. Returns 0 or an errno
 * value. */
int ct_pty_open(int *ours, int *theirs);

void ct_pty_set_size(int ours, uint32_t rows, uint32_t columns);

#endif
