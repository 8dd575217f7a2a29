/* SPDX-License-Identifier: BSD-3-Clause */
/* Input for ranks; see rankin.h. Used by ctrand.c and rankio.c. */
#include "config.h"
#include "launcher/io/rankin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/launcher.h"

/* A rank that reads. */
struct reader {
    struct ct_rankin *in;
    struct event     *writable; /* NULL once it reads no more */
    struct evbuffer  *pending;
    uint64_t          taken; /* bytes */
    int               fd;
};

struct ct_rankin {
    struct event_base       *base;
    struct ct_conn          *conn;
    const struct ct_jobdesc *desc;
    struct reader           *readers; /* those that were opened */
    const uint32_t          *ranks;   /* the numbers of this node's */
    uint32_t                 nreaders, open;
    uint64_t                 received, credited; /* bytes */
    int                      null_fd;
    bool                     eof;
};

/* Gives the head credit for what all readers have taken. */
static void give_credit(struct ct_rankin *in)
{
    uint64_t least = in->received;
    for (uint32_t i = 0; i < in->nreaders; i++) {
        const struct reader *r = &in->readers[i];
        least = r->writable != NULL && r->taken < least ? r->taken : least;
    }
    if (least > in->credited) {
        ct_conn_send_credit(in->conn, CT_CHAN_STDIN, (uint32_t)(least - in->credited));
        in->credited = least;
    }
}

static void close_reader(struct reader *r)
{
    struct ct_rankin *in = r->in;
    if (r->writable == NULL) {
        return;
    }
    event_free(r->writable);
    r->writable = NULL;
    close(r->fd);
    evbuffer_free(r->pending);
    if (--in->open == 0 && !in->eof) {
        ct_conn_send(in->conn, CT_MSG_STDIN_CLOSED, NULL);
    }
}

static void write_input(struct reader *r)
{
    while (evbuffer_get_length(r->pending) > 0) {
        int n = evbuffer_write(r->pending, r->fd);
        if (n > 0) {
            r->taken += (uint64_t)n;
        } else if (errno == EAGAIN) {
            event_add(r->writable, NULL);
            return;
        } else if (errno != EINTR) {
            close_reader(r);
            return;
        }
    }
    if (r->in->eof) {
        close_reader(r);
    }
}

static void rankin_on_writable(int fd, short what, void *arg)
{
    struct reader *r = arg;
    (void)fd;
    (void)what;
    write_input(r);
    give_credit(r->in);
}

bool ct_rankin_take(struct ct_rankin *in, const uint8_t *data, size_t len_bytes)
{
    if (in->eof || in->received - in->credited + len_bytes > CT_IN_WINDOW) {
        return false;
    }
    in->eof = len_bytes == 0;
    in->received += len_bytes;
    for (uint32_t i = 0; i < in->nreaders; i++) {
        if (in->readers[i].writable != NULL) {
            evbuffer_add(in->readers[i].pending, data, len_bytes);
            write_input(&in->readers[i]);
        }
    }
    give_credit(in);
    return true;
}

void ct_rankin_attach(struct ct_rankin *in, int fd)
{
    struct reader *r = &in->readers[in->nreaders];
    *r = (struct reader){.in = in, .fd = fd, .pending = evbuffer_new()};
    r->writable = event_new(in->base, fd, EV_WRITE, rankin_on_writable, r);
    in->open++;
    if (in->nreaders++ == 0) {
        ct_conn_send_credit(in->conn, CT_CHAN_STDIN, CT_IN_WINDOW);
    }
}

static int open_reader(struct ct_rankin *in, int *child)
{
    int p[2];
    if (pipe2(p, O_CLOEXEC) != 0) {
        return errno;
    }
    *child = p[0];
    fcntl(p[1], F_SETFL, O_NONBLOCK);
    ct_rankin_attach(in, p[1]);
    return 0;
}

int ct_rankin_open(struct ct_rankin *in, uint32_t local_rank, int *child)
{
    if (ct_jobdesc_gets_input(in->desc, in->ranks[local_rank])) {
        return open_reader(in, child);
    }
    *child = fcntl(in->null_fd, F_DUPFD_CLOEXEC, 0);
    return *child < 0 ? errno : 0;
}

void ct_rankin_close(struct ct_rankin *in)
{
    for (uint32_t i = 0; i < in->nreaders; i++) {
        close_reader(&in->readers[i]);
    }
}

struct ct_rankin *ct_rankin_create(struct event_base *base, struct ct_conn *conn,
                                   const struct ct_jobdesc *d)
{
    struct ct_rankin *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return NULL;
    }
    *in = (struct ct_rankin){.base = base,
                             .conn = conn,
                             .desc = d,
                             .ranks = ct_jobdesc_ranks_of(d, d->me),
                             .null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC)};
    in->readers = calloc(d->nodes[d->me].ranks, sizeof *in->readers);
    if (in->readers == NULL || in->null_fd < 0) {
        ct_rankin_destroy(in);
        return NULL;
    }
    return in;
}

void ct_rankin_destroy(struct ct_rankin *in)
{
    in->eof = true; /* no reader is left to be told */
    if (in->readers != NULL) {
        ct_rankin_close(in);
    }
    if (in->null_fd >= 0) {
        close(in->null_fd);
    }
    free(in->readers);
    free(in);
}
