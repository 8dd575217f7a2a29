/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers ctranrun --status and --analyze. The daemon listens on a socket in its session directory,
 * which only its user can enter, and answers that user and the superuser alone (SO_PEERCRED). A
 * client sends one question, gets the answer (all ranks of the job, or the job alone, or the traces
 * of all ranks), and the stream ends. A client has CT_STATUS_LIMIT_MS for this, and only a few
 * clients are served at a time.
 */
#ifndef CT_LAUNCHER_STATUS_SERVER_H
#define CT_LAUNCHER_STATUS_SERVER_H

#include <event2/event.h>

#include "launcher/job/job.h"
#include "launcher/proc/proc.h"
#include "launcher/status/ranktable.h"

struct ct_status_server;

/* Returns NULL with errno set if there can be no such socket; the job works without. `d`, `procs`,
 * `table` and `conn`, the stream to the parent, must live as long as the server. */
struct ct_status_server *ct_status_server_create(struct event_base       *base,
                                                 const struct ct_session *session,
                                                 const struct ct_jobdesc *d,
                                                 const struct ct_procs   *procs,
                                                 struct ct_ranktable *table, struct ct_conn *conn);

/* Handles TRACES, a trace from another node. `s` may be NULL. */
void ct_status_server_take_trace(struct ct_status_server *s, struct ct_unpack *in);

#endif
