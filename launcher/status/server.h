/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to ctranrun --status. The daemon listens on a socket in its session directory, which only
 * its user can enter, and answers that user and the superuser alone (SO_PEERCRED). A client sends
 * one ASK, gets what it asked for (all ranks of the job, or that it is here) and the end of the
 * stream; it has CT_STATUS_LIMIT_MS for that, and there is room for few at a time.
 */
#ifndef CT_LAUNCHER_STATUS_SERVER_H
#define CT_LAUNCHER_STATUS_SERVER_H

#include <event2/event.h>

#include "launcher/job/job.h"
#include "launcher/proc/proc.h"
#include "launcher/status/ranktable.h"

struct ct_status_server;

/* NULL, with errno set, where there can be no such socket: the job does not need it. `d`,
 * `procs` and `table` must live as long as this. */
struct ct_status_server *ct_status_server_create(struct event_base       *base,
                                                 const struct ct_session *session,
                                                 const struct ct_jobdesc *d,
                                                 const struct ct_procs   *procs,
                                                 struct ct_ranktable     *table);

#endif
