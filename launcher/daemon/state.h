/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon as its parts share it: ctrand.c, start.c, end.c. */
#ifndef CT_LAUNCHER_DAEMON_STATE_H
#define CT_LAUNCHER_DAEMON_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/place/place.h"
#include "launcher/job/job.h"
#include "launcher/daemon/nodestore.h"
#include "launcher/pmix/pmix.h"
#include "launcher/proc/proc.h"
#include "launcher/msg/msg.h"
#include "launcher/io/io.h"
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
    struct ct_places       places;
    struct ct_gpus         gpus;
    struct ct_rankio      *io;
    struct ct_rankin      *in;
    int                    terminal; /* our end of a debugged rank's, -1 for none */
    struct ct_pmix_server *pmix;
    struct ct_nodestore   *store; /* NULL: this node has no server of it */
    struct event          *child, *deaths, *end[3], *grace, *look_again, *progress;
    uint32_t               connected, progress_ms; /* as last told; how long until the next time */
    uint64_t               server_ns;              /* what the preparations took */
    uint32_t *untold; /* local ranks whose end is not reported yet, in order of death */
    uint32_t  nuntold, looks;
    bool      have_job, started, ending, finishing;
    bool      told; /* a failure was reported: the head knows whom to blame */
    bool      end_signalled;
    bool      undone; /* the end is not what the head asked for: leave without DONE */
};

/* ---- start.c --------------------------------------------------------------------------------- */

/* Prepares what d->desc describes, or refuses: then the head is told why, and the process ends. The
 * ranks of a job with more nodes are started when all are ready. */
void ct_daemon_start_job(struct ct_daemon *d);
void ct_daemon_start_ranks(struct ct_daemon *d);

/* ---- end.c ----------------------------------------------------------------------------------- */

/* Makes the timers and catches signals. Returns false when out of memory. */
bool ct_daemon_end_init(struct ct_daemon *d);

/* From now on every death is noticed; the ranks have been started. */
void ct_daemon_watch_ranks(struct ct_daemon *d);

/* Children may have ended: reaps them, reports the ranks among them. */
void ct_daemon_look_at_children(struct ct_daemon *d);

/* SIGTERM to all that descends from us, SIGKILL after the grace; at once when that is 0. */
void ct_daemon_begin_end(struct ct_daemon *d, uint32_t grace_ms);

/* Every pipe is drained and closed: the last step, in ct_rankio_create's terms. */
void ct_daemon_on_drained(void *arg);

/* Leaves without a word: no process and no file stays. */
_Noreturn void ct_daemon_vanish(struct ct_daemon *d, int status);

#endif
