/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that ranks of this one start (PMIx_Spawn). Each is a job like any other, on hosts of this
 * one, in a namespace of its own: a process that the head forks runs it, with daemons of its own.
 * The key is the same, since both are to talk to each other. Asked for by
 *
 *     CT_MSG_SPAWN: u32 node that asks, u32 its number for the request, u32 rank, text hosts with
 *     ',' between ("" for all), u32 ranks a host (0: any), u32 programs, each: u32 ranks, text
 *     file, text directory, u32 n and n arguments, u32 n and n settings of the environment
 *
 * and answered when all its ranks are started, or cannot be. Without a number of ranks a host they
 * are spread evenly.
 *
 * What it prints goes the way of this job's output, line by line. It ends with this job: is asked
 * to when this one is, and killed when this one is. This job does not end before it. If it fails to
 * start, the rank that asked is told, and nothing else happens; if it fails later this job fails
 * with its status, or goes on if it outlives deaths.
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
    CT_SPAWN_NOT_FOUND,   /* there is no such program */
    CT_SPAWN_CANNOT_EXEC, /* it is no program */
    CT_SPAWN_NO_PLACE,    /* the hosts are not the job's, or have no room */
    CT_SPAWN_TOO_MANY,    /* CT_SPAWN_MAX jobs run, or CT_SPAWN_DEPTH_MAX one in another */
    CT_SPAWN_FAILED,
};

struct ct_family;
struct ct_output;
struct ct_router;
struct ct_spawned;

/* What the process of a spawned job runs with. */
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

/* CT_MSG_SPAWN. */
void ct_spawned_take(struct ct_spawned *s, struct ct_unpack *in);

/* There is room for more output. */
void ct_spawned_resume(struct ct_spawned *s);

/* CT_MSG_FAMILY_KNOWN: a node of this job knows another one. */
void ct_spawned_known(struct ct_spawned *s, struct ct_unpack *in);

/* A rank of this job has ended: a node without ranks is waited for no longer. */
void ct_spawned_rank_ended(struct ct_spawned *s);

/* A signal to all of them; SIGKILL ends them at once. A second one of those that end a job makes
 * them hurry. */
void ct_spawned_signal(struct ct_spawned *s, int signo);

/* Has them end by a signal, those that have not been asked to already. */
void ct_spawned_end(struct ct_spawned *s, int signo);

/* Somebody has reaped a process, perhaps the head of one. */
void ct_spawned_reaped(struct ct_spawned *s, pid_t pid, int wait_status);

/* Whether processes may be left of one: it runs, or its head was killed. */
bool ct_spawned_has_lost(const struct ct_spawned *s);

/* Removes what such jobs have left behind; for when all their processes are killed. */
void ct_spawned_remove_files(struct ct_spawned *s);

/* Whether none is left, and all they printed has been taken. */
bool ct_spawned_is_over(const struct ct_spawned *s);

#endif
