/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the job, which the files of the head share. */
#ifndef CT_LAUNCHER_HEAD_STATE_H
#define CT_LAUNCHER_HEAD_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "launcher/family/family.h"
#include "launcher/head/run.h"
#include "launcher/io/io.h"
#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/status/status.h"
#include "launcher/tree/tree.h"

enum { CT_HEAD_SIGNALS = 8 };

/* What the daemon of a node has reported. */
struct ct_head_node {
    bool     joined, ready;
    uint32_t started, connected; /* ranks, as last reported */
    uint32_t ended;
    char    *store; /* the address of its server of the store; NULL: it has none */
};

struct ct_head {
    const struct ct_head_args *args;
    const char                *job;
    struct event_base         *base;
    struct ct_router           router;
    struct ct_head_node       *nodes;
    struct ct_rank_state      *ended;    /* by rank: how the rank ended */
    struct ct_recovery         recovery; /* used in a job of several nodes */
    struct evbuffer   *untold; /* events that are not yet reported as passed on to their nodes */
    struct evbuffer   *ahead;  /* sizes of events that are, and that some child has not taken */
    size_t             ahead_bytes;
    struct ct_family  *family;
    struct ct_spawned *spawned;
    char   **started; /* by rank: the line about its start, which waits for the lines before it */
    uint32_t ntold;   /* ranks whose line has been printed */
    uint32_t nready, nrunning;
    uint64_t server_us, ranks_us; /* of the slowest node */
    char     prefix[300];
    struct ct_output  *out;
    struct ct_input   *in;
    struct event      *signals[CT_HEAD_SIGNALS], *timeout, *escalate, *launch, *slow;
    struct ct_terminal terminal;
    struct event      *resized;
    pid_t             *spared; /* children that this process had before it became ctranrun */
    size_t             nspared;
    uint64_t           t0;
    int                status;     /* of the first failure; 0 while there is none */
    bool               failed;     /* `status` is decided */
    uint32_t           nlost;      /* ranks that died while the job went on */
    int  lost_status, left_status; /* of the first such rank; of the first other rank that failed */
    bool signalled;
    bool running;    /* ranks have been started, or are being started */
    bool hurry;      /* the end does not wait for readers of the output */
    int  force;      /* 0: asked to end, 1: killed, 2: given up */
    bool done, gone; /* the daemons have finished; their streams have ended */
};

/* ---- message.c: words ------------------------------------------------------------------------ */

/* Writes one line to standard error, with the job's id before it. */
void ct_head_message(struct ct_head *h, const char *fmt, ...) CT_PRINTF(2, 3);

/* The host of a rank. */
const char *ct_head_host(const struct ct_head *h, uint32_t rank);

/* Reads the number of a node. Sets in->bad if the job has no such node. */
uint32_t ct_head_take_node(struct ct_head *h, struct ct_unpack *in);

/* Reads the number of a node. Returns "host HOST: ", or "" in a job of one node. Valid until the
 * next call. */
const char *ct_head_prefix(struct ct_head *h, struct ct_unpack *in);

/* ---- nodes.c: the nodes ---------------------------------------------------------------------- */

bool ct_head_nodes_init(struct ct_head *h);
void ct_head_nodes_fini(struct ct_head *h);

/* A node has joined: a child, or another node. A node is ready. A node is lost, for the reason
 * `why`. */
void ct_head_joined(struct ct_head *h, uint32_t node);
void ct_head_take_joined(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_ready(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_lost(struct ct_head *h, uint32_t node, const char *why);

/* In a job that outlives deaths: a fence is complete; a rank has ended. */
void ct_head_take_fence(struct ct_head *h, struct ct_unpack *in);
void ct_head_note_end(struct ct_head *h, uint32_t rank, const struct ct_rank_state *end);

/* Handles RANKS_ASK: a node asks for the state of all ranks. */
void ct_head_take_ranks_ask(struct ct_head *h, struct ct_unpack *in);

/* Handle EVENT: a rank tells an event; and EVENT_TAKEN: the children have taken events. */
void ct_head_take_event(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_events_taken(struct ct_head *h, struct ct_unpack *in);

/* ---- report.c: words and facts --------------------------------------------------------------- */

/* Each handles the message of its name. Sets in->bad if the message makes no sense. */
void ct_head_take_started(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_running(struct ct_head *h, struct ct_unpack *in);

/* Prints the lines about starts that wait for ranks which will not start. */
void ct_head_tell_rest(struct ct_head *h);

void ct_head_take_progress(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_refused(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_exit(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_done(struct ct_head *h);
void ct_head_take_abort(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_not_kept(struct ct_head *h, struct ct_unpack *in);

/* A job that a rank has spawned has failed. */
void ct_head_take_job_failed(struct ct_head *h, const char *id, uint32_t rank, int status);

/* ---- end.c: the end -------------------------------------------------------------------------- */

/* Decides the exit status once. Returns false if it is decided already. */
bool ct_head_fail(struct ct_head *h, int status);

/* Tells the daemons to end the job: SIGTERM, and SIGKILL after the grace. A daemon without a job is
 * killed. */
void ct_head_ask_to_end(struct ct_head *h, uint32_t grace_ms);

/* Starts the time anew after which a silent daemon is given up. After the failure of a rank a slow
 * reader gets time; a daemon that hangs does not. */
void ct_head_watch_daemon(struct ct_head *h);

/* The daemon of this machine is gone or does not answer, and its descendants are children of this
 * process now. Kills all of them, and removes the job's files. With spare_agents, agents live on
 * whose hosts are still to end in order. */
void ct_head_clear_up(struct ct_head *h, bool spare_agents);

/* Makes the timers, starts the timer of --timeout, and catches signals. A signal that was ignored
 * at the start (nohup, a background job) stays ignored. Returns false when out of memory. */
bool ct_head_end_init(struct ct_head *h);
void ct_head_end_fini(struct ct_head *h);

#endif
