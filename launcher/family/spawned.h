/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that ranks of this job spawn (PMIx_Spawn). Such a job is a job like any other, on hosts of
 * this job, with a name for PMIx of its own. A process that the head forks runs the job, with
 * daemons of its own. Both jobs have one key, because they talk to each other. A daemon asks by
 *
 *     CT_MSG_SPAWN: u32 asking node, u32 its number for the request, u32 rank, text hosts with ','
 *     between ("": all), u32 ranks a host (0: any), u32 programs, each: u32 ranks, text file, text
 *     directory, u32 n and n arguments, u32 n and n settings of the environment
 *
 * and gets the answer when all ranks of the new job are started, or cannot be started. Without a
 * number of ranks a host the ranks are spread evenly.
 *
 * The output of the spawned job goes into the output of this job, line by line. The spawned job
 * ends with this one: this job asks it to end, or kills it. This job does not end before it. If the
 * spawned job fails to start, the asking rank is told, and nothing else happens. If the spawned job
 * fails later, this job fails with its status, or goes on if this job outlives deaths.
 */
#ifndef CT_LAUNCHER_FAMILY_SPAWNED_H
#define CT_LAUNCHER_FAMILY_SPAWNED_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

enum ct_spawn_status {
    CT_SPAWN_OK,
    CT_SPAWN_NOT_FOUND,   /* no such program exists */
    CT_SPAWN_CANNOT_EXEC, /* the file is no program */
    CT_SPAWN_NO_PLACE,    /* the hosts are not the job's, or have no room */
    CT_SPAWN_TOO_MANY,    /* CT_SPAWN_MAX jobs run, or CT_SPAWN_DEPTH_MAX jobs are one in another */
    CT_SPAWN_FAILED,
};

struct ct_family;
struct ct_output;
struct ct_router;
struct ct_spawned;

/* How the process of a spawned job runs the job. */
struct ct_spawned_run {
    uint32_t number;     /* which of this job's spawned jobs, from 1 */
    uint32_t local;      /* the node that is this machine, CT_NO_NODE for none */
    int      control_fd; /* a byte written here tells the parent that all ranks are started */
    int      family_fd;  /* the stream to the parent (jobs.h) */
};

/* What spawned jobs report to the head of this job, and what they need of it. */
struct ct_spawned_ops {
    /* Whether ranks may spawn jobs: this job has not failed. */
    bool (*may_spawn)(void *arg);
    /* Whether all ranks of a node of this job have ended. */
    bool (*node_has_ended)(void *arg, uint32_t node);
    /* A job could not be started for the rank, for the reason that errno value `err` gives. */
    void (*cannot)(void *arg, uint32_t rank, int err);
    /* The job `id`, which the rank has spawned, has failed with the exit status. */
    void (*failed)(void *arg, const char *id, uint32_t rank, int status);
    /* A job is over. */
    void (*over)(void *arg);
    /* In the process of a new job: gives up the timers and handlers of the parent. */
    void (*forked)(void *arg);
    /* In the process of a new job: runs the job, whose description is `desc` of ct_spawned_args by
     * now. Returns its exit status. */
    int (*run)(void *arg, const struct ct_spawned_run *run);
};

/* What spawned jobs work with; all borrowed. */
struct ct_spawned_args {
    struct event_base *base;
    struct ct_jobdesc *desc; /* this job; in the process of a spawned job changed into that job */
    struct ct_family  *family;
    struct ct_router  *router; /* to the daemons of this job; used from the first message on */
    struct ct_output  *output;
    uint32_t           local; /* the node that is this machine, CT_NO_NODE for none */
    uint32_t           depth; /* how many jobs are around this one */
};

/* Returns NULL when out of memory. Before the head ends, processes that ct_spawned_has_lost reports
 * must be killed. */
struct ct_spawned *ct_spawned_create(const struct ct_spawned_args *args,
                                     const struct ct_spawned_ops *ops, void *arg);
void               ct_spawned_destroy(struct ct_spawned *s);

/* Handles CT_MSG_SPAWN. Sets in->bad if the message makes no sense. */
void ct_spawned_take(struct ct_spawned *s, struct ct_unpack *in);

/* The output of this job has room again. */
void ct_spawned_resume(struct ct_spawned *s);

/* Handles CT_MSG_FAMILY_KNOWN: a node of this job knows another job. Sets in->bad if the message
 * makes no sense. */
void ct_spawned_known(struct ct_spawned *s, struct ct_unpack *in);

/* A rank of this job has ended: a wait for nodes without ranks to learn of a job is over. */
void ct_spawned_rank_ended(struct ct_spawned *s);

/* Sends a signal to all spawned jobs. SIGKILL ends them at once. A second signal that ends a job
 * makes the job hurry. */
void ct_spawned_signal(struct ct_spawned *s, int signo);

/* Ends the spawned jobs that were not asked to end before, by a signal. */
void ct_spawned_end(struct ct_spawned *s, int signo);

/* A process has been reaped, perhaps the head of a spawned job. */
void ct_spawned_reaped(struct ct_spawned *s, pid_t pid, int wait_status);

/* Whether processes of a spawned job may be left: the job runs, or its head was killed. */
bool ct_spawned_has_lost(const struct ct_spawned *s);

/* Removes the files that spawned jobs have left behind. Call when all their processes are
 * killed. */
void ct_spawned_remove_files(struct ct_spawned *s);

/* Whether no spawned job is left, and all their output has been taken. */
bool ct_spawned_is_over(const struct ct_spawned *s);

#endif
