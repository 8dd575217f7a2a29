/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard input; see input.h. Used by head/run.c. */
#include "config.h"
#include "launcher/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/io/ownfd.h"
#include "launcher/launcher.h"

struct ct_input {
    struct event      *readable, *again;
    ct_input_fn        fn;
    ct_input_broken_fn broken;
    void              *arg;
    size_t             credit;
    bool               stopped;
    struct ct_ownfd    own;
};

/* A shell that brings this process to the foreground does not tell it, so the process looks now and
 * then. */
static const struct timeval look_again = {0, 250000};

/* A terminal that does not control this process (-1), or has no foreground group (0), may be read:
 * it stops nobody. */
static bool in_background(void)
{
    pid_t fg = tcgetpgrp(STDIN_FILENO);
    return fg > 0 && fg != getpgrp();
}

static void wait_for_input(struct ct_input *in)
{
    if (in->stopped || in->credit == 0) {
        return;
    }
    if (in_background()) {
        event_add(in->again, &look_again);
    } else {
        event_add(in->readable, NULL);
    }
}

static void on_again(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    wait_for_input(arg);
}

/* nohup(1) gives a program an input that was opened for writing: it is to have none. */
static bool is_write_only(int fd)
{
    int err = errno, flags = fcntl(fd, F_GETFL);
    errno = err;
    return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY;
}

static void input_on_readable(int fd, short what, void *arg)
{
    struct ct_input *in = arg;
    uint8_t          buf[16 << 10];
    (void)what;
    if (in_background()) {
        wait_for_input(in);
        return;
    }
    ssize_t n = ct_ownfd_read(&in->own, buf, ct_min_size(sizeof buf, in->credit));
    if (n > 0) {
        in->credit -= (size_t)n;
        in->fn(in->arg, buf, (size_t)n);
    } else if (n < 0 && errno == EIO && isatty(fd) && in_background()) {
        /* this process was put into the background just now; SIGTTIN is ignored */
    } else if (n == 0 || is_write_only(fd)) {
        in->stopped = true;
        in->fn(in->arg, NULL, 0);
    } else if (errno != EAGAIN && errno != EINTR) {
        in->stopped = true;
        in->broken(in->arg, errno);
    }
    wait_for_input(in);
}

struct ct_input *ct_input_create(struct event_base *base, ct_input_fn fn, ct_input_broken_fn broken,
                                 void *arg)
{
    struct ct_input *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return NULL;
    }
    *in = (struct ct_input){
        .fn = fn, .broken = broken, .arg = arg, .own = ct_ownfd_open(STDIN_FILENO, O_RDONLY)};
    in->readable = event_new(base, in->own.fd, EV_READ, input_on_readable, in);
    in->again = evtimer_new(base, on_again, in);
    return in;
}

void ct_input_destroy(struct ct_input *in)
{
    event_free(in->readable);
    event_free(in->again);
    ct_ownfd_close(&in->own);
    free(in);
}

void ct_input_credit(struct ct_input *in, size_t len_bytes)
{
    in->credit += len_bytes;
    wait_for_input(in);
}

void ct_input_stop(struct ct_input *in)
{
    in->stopped = true;
    event_del(in->readable);
    event_del(in->again);
}
