/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudoterminals; see pty.h. Used by ctrand.c and daemon/start.c. */
#include "config.h"
#include "launcher/io/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int ct_pty_open(int *ours, int *theirs)
{
    char path[128];
    *theirs = -1;
    *ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (*ours >= 0 && grantpt(*ours) == 0 && unlockpt(*ours) == 0 &&
        ptsname_r(*ours, path, sizeof path) == 0) {
        *theirs = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (*theirs < 0) {
        int err = errno;
        if (*ours >= 0) {
            close(*ours);
        }
        return err;
    }
    return 0;
}

void ct_pty_set_size(int ours, uint32_t rows, uint32_t columns)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    (void)ioctl(ours, TIOCSWINSZ, &size); /* a matter of looks */
}
