/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines from the ranks; see rankio.h. Used by ctrand.c and proc/procs.c. */
#include "config.h"
#include "launcher/io/rankio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/io/outdir.h"
#include "launcher/launcher.h"

struct channel;

/* One rank's standard output or error. */
struct source {
    struct ct_rankio *io;
    struct channel   *chan;
    struct event     *readable; /* NULL once closed */
    struct ct_list    waiting;  /* in chan->waiting while it may not send */
    struct evbuffer  *line;     /* the beginning of a line, at most CT_LINE_MAX + one read */
    uint32_t          id;       /* ct_source_of */
    struct event     *silent;   /* passes a prompt on; NULL for a rank that gets no input */
    int               fd;
    bool              at_once; /* what the rank writes is passed on before its lines end */
    int               file;    /* the file that keeps the output; -1: none */
};

struct channel {
    struct ct_rankio *io;
    struct ct_list    waiting; /* sources with output to send, longest first */
    struct source    *owner;   /* in the middle of a long line */
    struct event     *idle;    /* the owner's time to go on */
    struct event     *go;      /* active when waiting sources may perhaps send */
    uint32_t          id;
    int64_t           credit; /* bytes that may be sent; one reading may overdraw it */
};

struct ct_rankio {
    struct event_base       *base;
    struct ct_conn          *conn;
    const struct ct_jobdesc *desc;
    struct source           *sources; /* two a rank */
    struct channel           chans[2];
    uint8_t                 *scratch; /* CT_LINE_MAX bytes */
    const uint32_t          *ranks;   /* their numbers */
    uint32_t                 nranks, open;
    bool                     single, finishing;
    bool                     input_over; /* no rank is given any more input */
    bool                     keeping;    /* no file has failed yet */
    void (*on_drained)(void *arg);
    void *arg;
};

/* ---- sources --------------------------------------------------------------------------------- */

static void send_bytes(struct source *s, struct evbuffer *bytes, size_t len)
{
    struct evbuffer *body = evbuffer_new();
    while (len > 0) {
        size_t part = ct_min_size(len, CT_LINE_MAX);
        ct_pack_u32(body, s->chan->id);
        ct_pack_u32(body, s->id);
        ct_pack_u32(body, s->chan->owner == s || len > part);
        evbuffer_remove_buffer(bytes, body, part);
        ct_conn_send(s->io->conn, CT_MSG_OUT, body);
        s->chan->credit -= (int64_t)part;
        len -= part;
    }
    evbuffer_free(body);
}

static bool may_send(const struct source *s)
{
    return s->chan->credit > 0 && (s->chan->owner == NULL || s->chan->owner == s);
}

static void rankio_disown(struct channel *chan)
{
    chan->owner = NULL;
    event_del(chan->idle);
    event_active(chan->go, 0, 0);
}

/* Cuts the owner's line. The processes that merge this output must know. */
static void rankio_release(struct channel *chan)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, chan->id);
    ct_pack_u32(body, chan->owner->id);
    ct_pack_u32(body, false);
    ct_conn_send(chan->io->conn, CT_MSG_OUT, body);
    evbuffer_free(body);
    rankio_disown(chan);
}

/* The owner's time starts anew; it runs only while others wait. */
static void rankio_watch_owner(struct channel *chan)
{
    static const struct timeval idle = {CT_LINE_IDLE_MS / 1000, CT_LINE_IDLE_MS % 1000 * 1000};
    if (chan->owner != NULL && !ct_list_empty(&chan->waiting)) {
        event_add(chan->idle, &idle);
    }
}

static void on_owner_idle(int fd, short what, void *arg)
{
    struct channel *chan = arg;
    (void)fd;
    (void)what;
    /* without credit the head's reader is slow, not the owner */
    if (chan->credit <= 0) {
        rankio_watch_owner(chan);
        return;
    }
    rankio_release(chan);
}

static void close_source(struct source *s)
{
    struct ct_rankio *io = s->io;
    struct channel   *chan = s->chan;
    event_free(s->readable);
    s->readable = NULL;
    if (s->silent != NULL) {
        event_free(s->silent);
        s->silent = NULL;
    }
    close(s->fd);
    if (s->file >= 0) {
        close(s->file);
    }
    ct_list_remove(&s->waiting);
    send_bytes(s, s->line, evbuffer_get_length(s->line));
    evbuffer_free(s->line);
    s->line = NULL;
    if (chan->owner == s) {
        rankio_release(chan);
    }
    if (--io->open == 0 && io->finishing) {
        io->on_drained(io->arg);
    }
}

/* The beginning of a line of a rank that may be given input may be a prompt. The time until it is
 * passed on starts anew. */
static void watch_prompt(struct source *s)
{
    static const struct timeval idle = {CT_PROMPT_IDLE_MS / 1000, CT_PROMPT_IDLE_MS % 1000 * 1000};
    if (s->silent == NULL) {
        return;
    }
    if (evbuffer_get_length(s->line) > 0 && !s->io->input_over) {
        event_add(s->silent, &idle);
    } else {
        event_del(s->silent);
    }
}

/* Other ranks need not wait for the end of this line: their lines may come between, as they do
 * while a prompt waits for an answer. */
static void on_silent(int fd, short what, void *arg)
{
    struct source *s = arg;
    (void)fd;
    (void)what;
    if (may_send(s) && !s->io->input_over) {
        send_bytes(s, s->line, evbuffer_get_length(s->line));
    }
    watch_prompt(s);
}

/* Output that cannot be kept is lost, so the job must fail. The first report is enough. */
static void rankio_keep(struct source *s, const uint8_t *data, size_t len)
{
    struct ct_rankio *io = s->io;
    int               err = s->file >= 0 && io->keeping ? ct_outdir_write(s->file, data, len) : 0;
    if (err != 0) {
        char why[256];
        io->keeping = false;
        snprintf(why, sizeof why, "cannot write the output of rank %u into --output-dir: %s",
                 s->id / 2, strerror(err));
        ct_conn_send_text(io->conn, CT_MSG_NOT_KEPT, io->desc->me, why);
    }
}

/* Takes in what was read, and sends the lines that are complete. */
static void rankio_take_in(struct source *s, const uint8_t *data, size_t len)
{
    const uint8_t *last = memrchr(data, '\n', len);
    size_t         held = evbuffer_get_length(s->line);
    size_t         whole = last != NULL ? held + (size_t)(last - data) + 1 : 0;
    evbuffer_add(s->line, data, len);
    if (s->at_once) {
        whole = held + len;
    } else if (s->chan->owner == s && last != NULL) {
        rankio_disown(s->chan); /* the rest of the line tells this itself */
    } else if (s->chan->owner == s || held + len - whole > CT_LINE_MAX) {
        whole = held + len;
        s->chan->owner = s;
    }
    send_bytes(s, s->line, whole);
    rankio_watch_owner(s->chan);
    watch_prompt(s);
}

/* Reads once. Returns false when there is nothing more just now, or the source is closed. */
static bool rankio_read_some(struct source *s)
{
    ssize_t n = read(s->fd, s->io->scratch, CT_LINE_MAX);
    if (n > 0) {
        rankio_keep(s, s->io->scratch, (size_t)n);
        rankio_take_in(s, s->io->scratch, (size_t)n);
        return true;
    }
    if (n < 0 && errno == EINTR) {
        return true;
    }
    if (n < 0 && errno == EAGAIN && !s->io->finishing) {
        return false;
    }
    close_source(s);
    return false;
}

static void rankio_wait_for_credit(struct source *s)
{
    event_del(s->readable);
    ct_list_remove(&s->waiting);
    ct_list_append(&s->chan->waiting, &s->waiting);
    if (!event_pending(s->chan->idle, EV_TIMEOUT, NULL)) {
        rankio_watch_owner(s->chan);
    }
}

static void rankio_on_readable(int fd, short what, void *arg)
{
    struct source *s = arg;
    (void)fd;
    (void)what;
    if (may_send(s)) {
        rankio_read_some(s);
    } else {
        rankio_wait_for_credit(s);
    }
}

/* Lets a source that waited go on. Once all ranks are gone nothing announces the rest of a pipe
 * that a stranger still holds open, so it is read here until it is empty. */
static void rankio_resume(struct source *s)
{
    event_add(s->readable, NULL);
    if (!s->io->finishing) {
        rankio_read_some(s);
        return;
    }
    while (s->readable != NULL && may_send(s) && rankio_read_some(s)) {
    }
    if (s->readable != NULL) {
        rankio_wait_for_credit(s);
    }
}

/* Gives each waiting source a turn, in the order in which they came. */
static void on_go(int fd, short what, void *arg)
{
    struct channel *chan = arg;
    struct ct_list  turn;
    (void)fd;
    (void)what;
    ct_list_init(&turn);
    for (struct ct_list *node; (node = ct_list_pop(&chan->waiting)) != NULL;) {
        ct_list_append(&turn, node);
    }
    for (struct ct_list *node; (node = ct_list_pop(&turn)) != NULL;) {
        struct source *s = CT_LIST_ENTRY(node, struct source, waiting);
        if (may_send(s)) {
            rankio_resume(s);
        } else {
            ct_list_append(&chan->waiting, &s->waiting);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void watch_source(struct ct_rankio *io, uint32_t local_rank, bool is_stderr, int file,
                         int fd)
{
    struct source *s = &io->sources[2 * local_rank + is_stderr];
    s->io = io;
    s->fd = fd;
    s->file = file;
    /* A prompt is one line with what follows on the other stream. */
    s->id = ct_source_of(io->ranks[local_rank], is_stderr && !s->at_once);
    s->chan = &io->chans[io->desc->one_sink ? CT_CHAN_OUT : is_stderr];
    s->line = evbuffer_new();
    s->readable = event_new(io->base, fd, EV_READ | EV_PERSIST, rankio_on_readable, s);
    s->silent = !s->at_once && ct_jobdesc_gets_input(io->desc, io->ranks[local_rank])
                    ? evtimer_new(io->base, on_silent, s)
                    : NULL;
    event_add(s->readable, NULL);
    io->open++;
}

/* A pipe, and a file beside it if one is wanted. */
static int open_source(struct ct_rankio *io, uint32_t local_rank, bool is_stderr, int file,
                       int *child)
{
    struct source *s = &io->sources[2 * local_rank + is_stderr];
    int            p[2];
    s->at_once = io->single || ct_jobdesc_is_debugged(io->desc, io->ranks[local_rank]);
    if (pipe2(p, O_CLOEXEC) != 0) {
        return errno;
    }
    *child = p[1];
    fcntl(p[0], F_SETFL, O_NONBLOCK);
    watch_source(io, local_rank, is_stderr, file, p[0]);
    return 0;
}

void ct_rankio_attach(struct ct_rankio *io, uint32_t local_rank, int fd)
{
    io->sources[2 * local_rank].at_once = true;
    watch_source(io, local_rank, false, -1, fd);
}

static int rankio_open_stream(struct ct_rankio *io, uint32_t local_rank, bool is_stderr, int *child,
                              char *why, size_t cap)
{
    const struct ct_jobdesc *d = io->desc;
    uint32_t                 rank = io->ranks[local_rank];
    int                      file = -1;
    if (*d->output_dir != '\0') {
        file = ct_outdir_open(d->output_dir, rank, ct_jobdesc_ranks(d), is_stderr, why, cap);
        if (file < 0) {
            return errno;
        }
    }
    if (d->output_hidden) {
        *child = file;
        return 0;
    }
    int err = open_source(io, local_rank, is_stderr, file, child);
    if (err != 0) {
        snprintf(why, cap, "cannot make pipes for rank %u: %s", rank, strerror(err));
    }
    return err;
}

int ct_rankio_open(struct ct_rankio *io, uint32_t local_rank, int fds[2], char *why, size_t cap)
{
    fds[0] = fds[1] = -1;
    int err = rankio_open_stream(io, local_rank, false, &fds[0], why, cap);
    if (err == 0) {
        err = rankio_open_stream(io, local_rank, true, &fds[1], why, cap);
    }
    if (err != 0 && fds[0] >= 0) {
        close(fds[0]);
    }
    return err;
}

void ct_rankio_pull(struct ct_rankio *io, uint32_t local_rank)
{
    for (uint32_t i = 2 * local_rank; i < 2 * local_rank + 2; i++) {
        struct source *s = &io->sources[i];
        while (s->readable != NULL && may_send(s) && rankio_read_some(s)) {
        }
    }
}

void ct_rankio_finish(struct ct_rankio *io)
{
    io->finishing = true;
    if (io->open == 0) {
        io->on_drained(io->arg);
        return;
    }
    for (uint32_t i = 0; i < 2 * io->nranks; i++) {
        if (io->sources[i].readable != NULL) {
            rankio_wait_for_credit(&io->sources[i]);
        }
    }
    event_active(io->chans[0].go, 0, 0);
    event_active(io->chans[1].go, 0, 0);
}

void ct_rankio_credit(struct ct_rankio *io, uint32_t channel, uint32_t len_bytes)
{
    if (channel < CT_ARRAY_LEN(io->chans)) {
        io->chans[channel].credit += len_bytes;
        event_active(io->chans[channel].go, 0, 0);
    }
}

void ct_rankio_close_channel(struct ct_rankio *io, uint32_t channel)
{
    for (uint32_t i = 0; i < 2 * io->nranks; i++) {
        struct source *s = &io->sources[i];
        if (s->readable != NULL && s->chan->id == channel) {
            evbuffer_drain(s->line, evbuffer_get_length(s->line));
            close_source(s);
        }
    }
}

void ct_rankio_input_over(struct ct_rankio *io)
{
    io->input_over = true;
}

struct ct_rankio *ct_rankio_create(struct event_base *base, struct ct_conn *conn,
                                   const struct ct_jobdesc *d, void (*on_drained)(void *arg),
                                   void                    *arg)
{
    struct ct_rankio *io = calloc(1, sizeof *io);
    uint32_t          nranks = d->nodes[d->me].ranks;
    if (io == NULL) {
        return NULL;
    }
    *io = (struct ct_rankio){.base = base,
                             .conn = conn,
                             .desc = d,
                             .ranks = ct_jobdesc_ranks_of(d, d->me),
                             .nranks = nranks,
                             .single = ct_jobdesc_ranks(d) == 1,
                             .keeping = true,
                             .on_drained = on_drained,
                             .arg = arg};
    io->sources = calloc(2 * (size_t)nranks, sizeof *io->sources);
    io->scratch = malloc(CT_LINE_MAX);
    for (uint32_t i = 0; i < CT_ARRAY_LEN(io->chans); i++) {
        struct channel *chan = &io->chans[i];
        *chan = (struct channel){.io = io, .id = i, .credit = CT_OUT_WINDOW};
        ct_list_init(&chan->waiting);
        chan->idle = evtimer_new(base, on_owner_idle, chan);
        chan->go = event_new(base, -1, 0, on_go, chan);
    }
    for (uint32_t i = 0; io->sources != NULL && i < 2 * nranks; i++) {
        ct_list_init(&io->sources[i].waiting);
    }
    if (io->sources == NULL || io->scratch == NULL) {
        ct_rankio_destroy(io);
        return NULL;
    }
    return io;
}

void ct_rankio_destroy(struct ct_rankio *io)
{
    for (uint32_t i = 0; io->sources != NULL && i < 2 * io->nranks; i++) {
        if (io->sources[i].readable != NULL) {
            event_free(io->sources[i].readable);
            if (io->sources[i].silent != NULL) {
                event_free(io->sources[i].silent);
            }
            evbuffer_free(io->sources[i].line);
            close(io->sources[i].fd);
        }
    }
    for (uint32_t i = 0; i < CT_ARRAY_LEN(io->chans); i++) {
        event_free(io->chans[i].idle);
        event_free(io->chans[i].go);
    }
    free(io->scratch);
    free(io->sources);
    free(io);
}
