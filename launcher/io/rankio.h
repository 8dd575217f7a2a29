/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks print: from their pipes to the head in whole lines, and only against credit. With
 * --output-dir the output also goes into files as it comes; or into files alone, which the ranks
 * then have as their standard output and error.
 *
 * A source (the standard output or error of one rank) keeps the beginning of a line until the rest
 * arrives. A line that outgrows CT_LINE_MAX is passed on as it comes, and its source owns the
 * channel until the line ends or the source closes. The other sources wait: their pipes fill and
 * their ranks block. A source that owns the channel and stays silent for CT_LINE_IDLE_MS while
 * others wait loses the channel, because it may wait for those others; the head then ends the line.
 * In a job of one rank no lines can mix: its output is passed on at once, prompts included.
 */
#ifndef CT_LAUNCHER_IO_RANKIO_H
#define CT_LAUNCHER_IO_RANKIO_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_rankio;

/* For the ranks of this node. Calls on_drained once, from the event loop, when every source is
 * closed. Returns NULL when out of memory. */
struct ct_rankio *ct_rankio_create(struct event_base *base, struct ct_conn *conn,
                                   const struct ct_jobdesc *d, void (*on_drained)(void *arg),
                                   void                    *arg);
void              ct_rankio_destroy(struct ct_rankio *io);

/* Makes what a local rank writes to: fds[0] and fds[1] become its descriptors 1 and 2. They are
 * close-on-exec; the caller closes them. Returns 0, or an errno value with one line in `why`. */
int ct_rankio_open(struct ct_rankio *io, uint32_t local_rank, int fds[2], char *why, size_t cap);

/* Takes `fd`, nonblocking, as all that a rank writes: the rank has a terminal. Output is passed on
 * as it comes, as in a job of one rank. */
void ct_rankio_attach(struct ct_rankio *io, uint32_t local_rank, int fd);

/* Reads what the rank has written so far, so that it is sent before what the caller sends next.
 * Stops if there is no credit. */
void ct_rankio_pull(struct ct_rankio *io, uint32_t local_rank);

/* The input of the ranks has ended, so no rank writes prompts. */
void ct_rankio_input_over(struct ct_rankio *io);

/* No writer is left: nothing more comes into the pipes. */
void ct_rankio_finish(struct ct_rankio *io);

/* Handle messages from the head. */
void ct_rankio_credit(struct ct_rankio *io, uint32_t channel, uint32_t len_bytes);
void ct_rankio_close_channel(struct ct_rankio *io, uint32_t channel);

#endif
