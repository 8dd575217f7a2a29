/* SPDX-License-Identifier: BSD-3-Clause */
/* The job as the parts of the head share it: run.c, end.c, report.c. */
#ifndef CT_LAUNCHER_HEAD_STATE_H
#define CT_LAUNCHER_HEAD_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "launcher/head/run.h"
#include "launcher/tree/tree.h"
#include "launcher/io/io.h"
#include "launcher/family/family.h"
#include "launcher/msg/msg.h"
#include "launcher/status/status.h"
#include "launcher/job/job.h"

enum { CT_HEAD_SIGNALS = 8 };

/* A node, by what its daemon has told. */
struct ct_head_node {
    bool     joined, ready;
    uint32_t started, connected; /* ranks, as last told */
    uint32_t ended;
    char    *store; /* where its server of the store is; NULL: it has none */
};

struct ct_head {
    const struct ct_head_args *args;
    const char                *job;
    struct event_base         *base;
    struct ct_router           router;
    struct ct_head_node       *nodes;
    struct ct_rank_state      *ended;    /* by rank: how it did */
    struct ct_recovery         recovery; /* used where there are more nodes than one */
    struct evbuffer           *untold; /* events that their nodes have not heard to be passed on */
    struct evbuffer           *ahead;  /* sizes of those that they have, and not all children */
    size_t                     ahead_bytes;
    struct ct_family          *family;
    struct ct_spawned         *spawned;
    char                     **started; /* by rank: words of its start that wait for their turn */
    uint32_t                   ntold;   /* ranks whose start has been told */
    uint32_t                   nready, nrunning;
    uint64_t                   server_us, ranks_us; /* the slowest node's */
    char                       prefix[300];
    struct ct_output          *out;
    struct ct_input           *in;
    struct event              *signals[CT_HEAD_SIGNALS], *timeout, *escalate, *launch, *slow;
    struct ct_terminal         terminal;
    struct event              *resized;
    pid_t                     *spared; /* children from before we became ctranrun */
    size_t                     nspared;
    uint64_t                   t0;
    int                        status; /* the first failure's; 0 while there is none */
    bool                       failed; /* `status` is decided */
    uint32_t                   nlost;  /* ranks whose death the job outlives */
    int                        lost_status, left_status; /* the first of these; of the others */
    bool                       signalled;
    bool                       running;    /* ranks have been started, or are just now */
    bool                       hurry;      /* the end does not wait for readers of our output */
    int                        force;      /* 0 asked to end, 1 killed, 2 given up */
    bool                       done, gone; /* the daemon has finished; its stream has ended */
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

/* A child of ours has come, another one somewhere; a node is ready, or lost. */
void ct_head_joined(struct ct_head *h, uint32_t node);
void ct_head_take_joined(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_ready(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_lost(struct ct_head *h, uint32_t node, const char *why);

/* In a job that outlives deaths. */
void ct_head_take_fence(struct ct_head *h, struct ct_unpack *in);
void ct_head_note_end(struct ct_head *h, uint32_t rank, const struct ct_rank_state *end);

/* A node wants to know what all ranks do. */
void ct_head_take_ranks_ask(struct ct_head *h, struct ct_unpack *in);

/* A rank tells all others something; they have taken that, so far as they are waited for. */
void ct_head_take_event(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_events_taken(struct ct_head *h, struct ct_unpack *in);

/* ---- report.c: words and facts --------------------------------------------------------------- */

/* The daemon's messages, one each. */
void ct_head_take_started(struct ct_head *h, struct ct_unpack *in);
void ct_head_take_running(struct ct_head *h, struct ct_unpack *in);

/* Tells of the starts that wait for ranks before them, which will not come. */
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

/* Decides the status once. Returns false when it is decided already. */
bool ct_head_fail(struct ct_head *h, int status);

/* Has the daemon end the job: SIGTERM, and SIGKILL after the grace. A daemon without a job is just
 * stopped: its stream ends, and with it everything. */
void ct_head_ask_to_end(struct ct_head *h, uint32_t grace_ms);

/* After the failure of a rank a slow reader gets its time, but a daemon that is stuck does not:
 * the time until it is given up starts anew. */
void ct_head_watch_daemon(struct ct_head *h);

/* The daemon of this machine is gone or does not answer. Its descendants have come to us: kills
 * them all, and removes the job's files; agents are spared whose hosts are to be ended in order. */
void ct_head_clear_up(struct ct_head *h, bool spare_agents);

/* Makes the timers, starts that of --timeout, and catches signals. One that was ignored when we
 * were started (nohup, a background job) stays ignored. Returns false when out of memory. */
bool ct_head_end_init(struct ct_head *h);
void ct_head_end_fini(struct ct_head *h);

#endif
