/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard streams that do not block; see ownfd.h. Used by output.c and input.c. */
#include "config.h"
#include "launcher/io/ownfd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opening the master side of a pseudoterminal makes a new one. */
static bool is_terminal(int fd)
{
    unsigned number;
    return isatty(fd) && ioctl(fd, TIOCGPTN, &number) != 0;
}

static int open_anew(int fd, int access)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

struct ct_ownfd ct_ownfd_open(int fd, int access)
{
    struct ct_ownfd o = {.fd = fd};
    struct stat     st;
    if (fstat(fd, &st) != 0) {
        return o;
    }
    o.socket = S_ISSOCK(st.st_mode);
    if (S_ISFIFO(st.st_mode) || is_terminal(fd)) {
        int anew = open_anew(fd, access);
        o.own = anew >= 0;
        o.fd = o.own ? anew : fd;
    }
    return o;
}

void ct_ownfd_close(struct ct_ownfd *o)
{
    if (o->own) {
        close(o->fd);
    }
    *o = (struct ct_ownfd){.fd = -1};
}

ssize_t ct_ownfd_read(const struct ct_ownfd *o, void *out, size_t cap)
{
    return o->socket ? recv(o->fd, out, cap, MSG_DONTWAIT) : read(o->fd, out, cap);
}

ssize_t ct_ownfd_write(const struct ct_ownfd *o, const void *data, size_t len_bytes)
{
    return o->socket ? send(o->fd, data, len_bytes, MSG_DONTWAIT | MSG_NOSIGNAL)
                     : write(o->fd, data, len_bytes);
}
