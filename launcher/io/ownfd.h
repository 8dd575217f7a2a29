/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard streams that never block the loop. Other processes may share them, so they must not be
 * made nonblocking; terminals and pipes can be opened anew instead, sockets take a flag with each
 * call. What is neither, or cannot be opened, is used as it is. Used by output.c and input.c.
 */
#ifndef CT_LAUNCHER_IO_OWNFD_H
#define CT_LAUNCHER_IO_OWNFD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ct_ownfd {
    int  fd;
    bool own;    /* opened here */
    bool socket; /* calls need their flag */
};

/* `access` is O_RDONLY or O_WRONLY. Does not fail. */
struct ct_ownfd ct_ownfd_open(int fd, int access);
void            ct_ownfd_close(struct ct_ownfd *o);

/* As read and write; EAGAIN where they would block. */
ssize_t ct_ownfd_read(const struct ct_ownfd *o, void *out, size_t cap);
ssize_t ct_ownfd_write(const struct ct_ownfd *o, const void *data, size_t len_bytes);

#endif
