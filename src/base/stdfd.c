/* SPDX-License-Identifier: BSD-3-Clause */
/* Closed standard descriptors; see stdfd.h. */
#include "base/stdfd.h"

#include <fcntl.h>
#include <unistd.h>

void ct_stdfd_fill(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) { /* open takes the lowest number that is free: this one */
            (void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
        }
    }
}
