/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard streams that never block the event loop. Other processes may share the streams, so they
 * must not be made nonblocking. A terminal or a pipe is opened anew instead; calls on a socket take
 * a flag. A stream that is neither, or cannot be opened anew, is used as it is. Used by output.c
 * and input.c.
 */
#ifndef CT_LAUNCHER_IO_OWNFD_H
#define CT_LAUNCHER_IO_OWNFD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ct_ownfd {
    int  fd;
    bool own;    /* this file opened it */
    bool socket; /* calls take MSG_DONTWAIT */
};

/* `access` is O_RDONLY or O_WRONLY. Does not fail. */
struct ct_ownfd ct_ownfd_open(int fd, int access);
void            ct_ownfd_close(struct ct_ownfd *o);

/* As read and write; EAGAIN if they would block. */
ssize_t ct_ownfd_read(const struct ct_ownfd *o, void *out, size_t cap);
ssize_t ct_ownfd_write(const struct ct_ownfd *o, const void *data, size_t len_bytes);

#endif
