/* SPDX-License-Identifier: BSD-3-Clause */
/* membarrier.h by the system call. */
#include "base/membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

bool ct_membarrier_join(void)
{
    const long needed = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    const long there = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return there >= 0 && (there & needed) == needed &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

/* Want of memory in the kernel may make it fail: a sleeper is late then, since sleep is short. */
void ct_membarrier(void)
{
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}
