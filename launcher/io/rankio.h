/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks print: from their pipes to the head in whole lines, and only against credit; with
 * --output-dir also into files as it comes, or into files alone, which the ranks then have as their
 * standard output and error themselves.
 *
 * A source (one rank's standard output or error) keeps the beginning of a line until the rest
 * arrives. A line that outgrows CT_LINE_MAX is passed on as it comes, and its source owns the
 * channel until the line ends or the source closes; the other sources wait, their pipes fill and
 * their ranks block. An owner that stays silent for CT_LINE_IDLE_MS while others wait loses the
 * channel (the head then ends the line), since the others may be what it waits for. A job of one
 * rank has nobody to keep apart: what it writes is passed on at once, prompts included.
 */
#ifndef CT_LAUNCHER_IO_RANKIO_H
#define CT_LAUNCHER_IO_RANKIO_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_rankio;

/* For the ranks of this node. When every source is closed, on_drained is called, once, from the
 * loop. */
struct ct_rankio *ct_rankio_create(struct event_base *base, struct ct_conn *conn,
                                   const struct ct_jobdesc *d, void (*on_drained)(void *arg),
                                   void                    *arg);
void              ct_rankio_destroy(struct ct_rankio *io);

/* Makes what one local rank writes to: fds[0] and fds[1] are to be its descriptors 1 and 2,
 * close-on-exec, for the caller to close. Returns 0, or an errno with one line in `why`. */
int ct_rankio_open(struct ct_rankio *io, uint32_t local_rank, int fds[2], char *why, size_t cap);

/* Takes `fd`, nonblocking, as all that a rank writes, from a terminal: it is passed on as it comes,
 * as with a job of one rank. */
void ct_rankio_attach(struct ct_rankio *io, uint32_t local_rank, int fd);

/* Reads what the rank has written so far, so that it is sent before what the caller sends next;
 * gives up where there is no credit. */
void ct_rankio_pull(struct ct_rankio *io, uint32_t local_rank);

/* The ranks' input has come to its end, so that none of them writes prompts. */
void ct_rankio_input_over(struct ct_rankio *io);

/* No writer is left: what is in the pipes is all there will be. */
void ct_rankio_finish(struct ct_rankio *io);

/* Messages from the head. */
void ct_rankio_credit(struct ct_rankio *io, uint32_t channel, uint32_t len_bytes);
void ct_rankio_close_channel(struct ct_rankio *io, uint32_t channel);

#endif
