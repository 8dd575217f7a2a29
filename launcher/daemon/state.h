/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the daemon, shared by ctrand.c, start.c and end.c. */
#ifndef CT_LAUNCHER_DAEMON_STATE_H
#define CT_LAUNCHER_DAEMON_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/daemon/nodestore.h"
#include "launcher/io/io.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/place/place.h"
#include "launcher/pmix/pmix.h"
#include "launcher/proc/proc.h"
#include "launcher/status/status.h"

struct ct_daemon {
    const char         *job;
    struct event_base  *base;
    struct ct_conn     *conn;
    struct ct_jobdesc   desc;
    struct ct_session   session;
    struct ct_procs     procs;
    struct ct_ranktable table;
    char *blocked; /* the file of waiting ranks (status/blockfile.h); NULL: there is none */
    struct ct_status_server *status; /* NULL: --status does not find this job */
    char *traces; /* the name of the memory for traces (status/tracefile.h); NULL: there is none */
    struct ct_places  places;
    struct ct_gpus    gpus;
    struct ct_rankio *io;
    struct ct_rankin *in;
    int terminal; /* the daemon's end of the terminal of a debugged rank, -1 for none */
    struct ct_pmix_server *pmix;
    struct ct_nodestore   *store; /* NULL: this node has no server of the store */
    struct event          *child, *deaths, *end[3], *grace, *look_again, *progress;
    uint32_t  connected, progress_ms; /* as last reported; how long until the next report */
    uint64_t  server_ns;              /* how long the preparations took */
    uint32_t *untold; /* local ranks whose end is not reported yet, in order of death */
    uint32_t  nuntold, looks;
    bool      have_job, started, ending, finishing;
    bool      told; /* a failure was reported: the head knows its cause */
    bool      end_signalled;
    bool      undone; /* the daemon leaves without DONE: the end is not what the head asked for */
};

/* ---- start.c --------------------------------------------------------------------------------- */

/* ct_daemon_start_job prepares the job of d->desc, or refuses it: then the head is told why, and
 * the process ends. ct_daemon_start_ranks starts the ranks; in a job of several nodes that happens
 * when all nodes are ready. */
void ct_daemon_start_job(struct ct_daemon *d);
void ct_daemon_start_ranks(struct ct_daemon *d);

/* ---- end.c ----------------------------------------------------------------------------------- */

/* Makes the timers and catches signals. Returns false when out of memory. */
bool ct_daemon_end_init(struct ct_daemon *d);

/* The ranks have been started: from now on every death is noticed. */
void ct_daemon_watch_ranks(struct ct_daemon *d);

/* Reaps the children that have ended, and reports the ranks among them. */
void ct_daemon_look_at_children(struct ct_daemon *d);

/* Sends SIGTERM to all descendants, and SIGKILL after the grace; SIGKILL at once if the grace is
 * 0. */
void ct_daemon_begin_end(struct ct_daemon *d, uint32_t grace_ms);

/* All pipes of the ranks are drained and closed: the last step of the daemon's work. Called by
 * rankio. */
void ct_daemon_on_drained(void *arg);

/* Ends the daemon without a message. No process and no file of it stays. */
_Noreturn void ct_daemon_vanish(struct ct_daemon *d, int status);

#endif
