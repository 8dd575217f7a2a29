/* SPDX-License-Identifier: BSD-3-Clause */
/* The traces of a node's ranks; see tracefile.h. */
#include "config.h"
#include "launcher/status/tracefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/trace.h"

int ct_tracefile_create(uint32_t n, char *path, size_t cap)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    int       fd = memfd_create("ctran-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return -1;
    }
    if (ftruncate(fd, (off_t)n * (off_t)CT_TRACE_SLOT_BYTES) != 0 ||
        fcntl(fd, F_ADD_SEALS, seals) != 0) {
        int err = errno;
        close(fd);
        errno = err;
        return -1;
    }
    snprintf(path, cap, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return fd;
}

size_t ct_tracefile_most(void)
{
    return sizeof(struct ct_trace_segment);
}

size_t ct_tracefile_read(int fd, uint32_t local_rank, void *out)
{
    struct ct_trace_segment *seg = fd >= 0 ? malloc(sizeof *seg) : NULL;
    size_t                   len = 0;
    if (seg != NULL && pread(fd, seg, sizeof *seg, (off_t)local_rank * CT_TRACE_SLOT_BYTES) ==
                           (ssize_t)sizeof *seg) {
        len = ct_trace_pack(seg, sizeof *seg, out);
        ((struct ct_trace_header *)out)->taken = ct_trace_pack_moment();
    }
    free(seg);
    return len;
}
