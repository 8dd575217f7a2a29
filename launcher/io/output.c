/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sinks for output; see output.h. Used by head/run.c.
 *
 * Other processes may share standard output, so it must not be made nonblocking (ownfd.h). If it
 * blocks all the same, a write of at most PIPE_BUF bytes after poll() has found room mostly does
 * not.
 */
#include "config.h"
#include "launcher/io/output.h"

#include <errno.h>
#include <event2/buffer.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/io/ownfd.h"
#include "launcher/launcher.h"
#include "launcher/msg/msg.h"

enum {
    SPAWNED = 2 * CT_MAX_RANKS,
    NO_SOURCE = INT32_MAX
}; /* later lines, except the last, go here */

struct sink {
    struct ct_output *o;
    struct event     *writable;
    struct evbuffer  *pending;
    size_t            owed; /* bytes of ranks in `pending`, or written without credit given yet */
    uint32_t          channel, last; /* the last byte's source */
    struct ct_ownfd   own;
    bool              mid_line, broken;
    bool              used;    /* something was written that stays */
    bool              showing; /* a line of progress, which disappears: */
    char              shown[160];
};

struct ct_output {
    struct sink                 sinks[2];
    const struct ct_output_ops *ops;
    void                       *arg;
    bool                        tag, one_sink;
    uint32_t                    job_number;
};

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void give_back(struct sink *s)
{
    size_t owed = s->owed;
    s->owed = 0;
    if (owed > 0) {
        s->o->ops->written(s->o->arg, s->channel, owed);
    }
    if (ct_output_is_idle(s->o)) {
        s->o->ops->idle(s->o->arg);
    }
}

static void output_drop(struct sink *s)
{
    event_del(s->writable);
    s->broken = true;
    evbuffer_drain(s->pending, evbuffer_get_length(s->pending));
}

static ssize_t write_some(struct sink *s)
{
    struct evbuffer_iovec first;
    evbuffer_peek(s->pending, PIPE_BUF, NULL, &first, 1);
    ssize_t n = ct_ownfd_write(&s->own, first.iov_base, ct_min_size(first.iov_len, PIPE_BUF));
    if (n > 0) {
        evbuffer_drain(s->pending, (size_t)n);
    }
    return n;
}

/* Writes while there is room, a bounded number of times, since a file always has room. */
static void output_on_writable(int fd, short what, void *arg)
{
    struct sink  *s = arg;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    (void)what;
    for (int turn = 0; turn < 64 && evbuffer_get_length(s->pending) > 0; turn++) {
        if (poll(&p, 1, 0) <= 0) {
            return;
        }
        ssize_t n = write_some(s);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            int err = errno == EPIPE || errno == ECONNRESET ? 0 : errno;
            output_drop(s);
            s->o->ops->broken(s->o->arg, s->channel, err);
        } else if (n < 0) {
            return;
        }
    }
    if (evbuffer_get_length(s->pending) == 0) {
        event_del(s->writable);
        give_back(s);
    }
}

/* Begins a line if one is due. */
static void output_begin(struct sink *s, uint32_t source)
{
    if (s->mid_line && s->last != source) {
        evbuffer_add(s->pending, "\n", 1);
        s->mid_line = false;
    }
    if (!s->mid_line && s->o->tag && source < SPAWNED && s->o->job_number > 0) {
        evbuffer_add_printf(s->pending, "[%u:%u] ", s->o->job_number, source / 2);
    } else if (!s->mid_line && s->o->tag && source < SPAWNED) {
        evbuffer_add_printf(s->pending, "[%u] ", source / 2);
    }
    s->last = source;
}

static const char ERASE[] = "\r\033[K";

static void output_erase(struct sink *s)
{
    if (s->showing) {
        evbuffer_add(s->pending, ERASE, sizeof ERASE - 1);
        event_add(s->writable, NULL);
        s->showing = false;
    }
}

static void add_lines(struct sink *s, uint32_t source, const uint8_t *data, size_t len)
{
    output_erase(s);
    s->used = true;
    while (len > 0) {
        const uint8_t *end = s->o->tag ? memchr(data, '\n', len) : NULL;
        size_t         part = end != NULL ? (size_t)(end - data) + 1 : len;
        output_begin(s, source);
        evbuffer_add(s->pending, data, part);
        s->mid_line = data[part - 1] != '\n';
        data += part;
        len -= part;
    }
    event_add(s->writable, NULL);
}

bool ct_output_add(struct ct_output *o, uint32_t channel, uint32_t source, const uint8_t *data,
                   size_t len_bytes)
{
    if (channel >= CT_ARRAY_LEN(o->sinks)) {
        return false;
    }
    struct sink *s = &o->sinks[channel];
    s->owed += len_bytes;
    if (s->broken) {
        give_back(s);
    } else {
        add_lines(s, source, data, len_bytes);
    }
    return true;
}

void ct_output_pass(struct ct_output *o, uint32_t channel, uint32_t source, const uint8_t *data,
                    size_t len_bytes)
{
    struct sink *s = &o->sinks[channel];
    if (!s->broken) {
        add_lines(s, SPAWNED + source, data, len_bytes);
    }
}

static void add_own(struct sink *s, const char *text)
{
    if (!s->broken) {
        add_lines(s, NO_SOURCE, (const uint8_t *)text, strlen(text));
    }
}

/* Whether standard error leads to this file. */
static struct sink *error_sink(struct ct_output *o)
{
    return &o->sinks[o->one_sink ? CT_CHAN_OUT : CT_CHAN_ERR];
}

void ct_output_message(struct ct_output *o, const char *line)
{
    add_own(error_sink(o), line);
}

void ct_output_progress(struct ct_output *o, const char *line)
{
    struct sink *s = error_sink(o);
    if (s->broken || s->used || (s->showing && strcmp(s->shown, line) == 0)) {
        return;
    }
    output_erase(s);
    if (*line != '\0') {
        snprintf(s->shown, sizeof s->shown, "%s", line);
        evbuffer_add(s->pending, s->shown, strlen(s->shown));
        event_add(s->writable, NULL);
        s->showing = true;
    }
}

void ct_output_print(struct ct_output *o, const char *lines)
{
    add_own(&o->sinks[CT_CHAN_OUT], lines);
}

/* Whether standard input is a terminal that echoes what is typed. */
static bool shows_keys(void)
{
    struct termios t;
    return tcgetattr(STDIN_FILENO, &t) == 0 && (t.c_lflag & ECHO) != 0;
}

void ct_output_typed(struct ct_output *o)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(o->sinks) && shows_keys(); i++) {
        struct sink *s = &o->sinks[i];
        s->mid_line = s->mid_line && !same_file(STDIN_FILENO, s->own.fd);
    }
}

bool ct_output_is_one_sink(const struct ct_output *o)
{
    return o->one_sink;
}

bool ct_output_is_idle(const struct ct_output *o)
{
    return evbuffer_get_length(o->sinks[0].pending) == 0 &&
           evbuffer_get_length(o->sinks[1].pending) == 0;
}

void ct_output_give_up(struct ct_output *o)
{
    for (int i = 0; i < 2; i++) {
        output_drop(&o->sinks[i]);
        give_back(&o->sinks[i]);
    }
}

struct ct_output *ct_output_create(struct event_base *base, bool tag, uint32_t job_number,
                                   const struct ct_output_ops *ops, void *arg)
{
    struct ct_output *o = calloc(1, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    o->tag = tag;
    o->job_number = job_number;
    o->ops = ops;
    o->arg = arg;
    o->one_sink = same_file(STDOUT_FILENO, STDERR_FILENO);
    for (int i = 0; i < 2; i++) {
        struct sink *s = &o->sinks[i];
        *s = (struct sink){.o = o,
                           .channel = (uint32_t)i,
                           .last = NO_SOURCE,
                           .own = ct_ownfd_open(i == 0 ? STDOUT_FILENO : STDERR_FILENO, O_WRONLY)};
        s->pending = evbuffer_new();
        s->writable = event_new(base, s->own.fd, EV_WRITE | EV_PERSIST, output_on_writable, s);
        if (s->pending == NULL || s->writable == NULL) {
            return NULL; /* the program ends */
        }
    }
    return o;
}

void ct_output_destroy(struct ct_output *o)
{
    for (int i = 0; i < 2; i++) {
        event_free(o->sinks[i].writable);
        evbuffer_free(o->sinks[i].pending);
        ct_ownfd_close(&o->sinks[i].own);
    }
    free(o);
}
