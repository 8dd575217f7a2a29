/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks' pipes. What ranks print goes to the head in whole lines, and only against credit;
 * what the head has read from its standard input goes to rank 0.
 *
 * A source (one rank's standard output or error) keeps the beginning of a line until the rest
 * arrives. A line that outgrows CT_LINE_MAX is passed on as it comes, and its source owns the
 * channel until the line ends or the source closes; the other sources wait, their pipes fill and
 * their ranks block. An owner that stays silent for CT_LINE_IDLE_MS while others wait loses the
 * channel (the head then ends the line), since the others may be what it waits for. A job of one
 * rank has nobody to keep apart: what it writes is passed on at once, prompts included.
 */
#ifndef CT_LAUNCHER_RANKIO_H
#define CT_LAUNCHER_RANKIO_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto.h"

struct ct_rankio;

/* For `nranks` ranks from global rank `first` on, of `job_ranks` in all. When every source is
 * closed, on_drained is called, once, from the loop. */
struct ct_rankio *ct_rankio_create(struct event_base *base, struct ct_conn *conn, uint32_t first,
                                   uint32_t nranks, uint32_t job_ranks, bool one_sink,
                                   void (*on_drained)(void *arg), void *arg);
void              ct_rankio_destroy(struct ct_rankio *io);

/* Makes the pipes of one local rank: fds[0..2] are the rank's ends, close-on-exec, for the caller
 * to close. 0 or an errno. */
int ct_rankio_open(struct ct_rankio *io, uint32_t local_rank, int fds[3]);

/* Reads what the rank has written so far, so that it is sent before what the caller sends next;
 * gives up where there is no credit. */
void ct_rankio_pull(struct ct_rankio *io, uint32_t local_rank);

/* No writer is left: what is in the pipes is all there will be. */
void ct_rankio_finish(struct ct_rankio *io);

/* Messages from the head. The last returns false where the head overran its credit. */
void ct_rankio_credit(struct ct_rankio *io, uint32_t channel, uint32_t len_bytes);
void ct_rankio_close_channel(struct ct_rankio *io, uint32_t channel);
bool ct_rankio_stdin(struct ct_rankio *io, const uint8_t *data, size_t len_bytes);

#endif
