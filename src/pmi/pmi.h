/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi - how a process joins its job: its rank, the ranks of its host, and the one exchange of
 * addresses. A process joins by PMIx, under any launcher that supports it, or alone, as a job of
 * one rank.
 *
 * Other launchers need to support only put, commit, fence and get (and abort, best effort).
 */
#ifndef CT_PMI_PMI_H
#define CT_PMI_PMI_H

#include "base/base.h"
#include "node/node.h"

struct ct_job;

/* Beyond the standard, between ctran's launcher and library (both have included pmix.h): events
 * whose affected process is the one that they are about, and the directive of a job control
 * request. */
#define CT_PMIX_ENDED      PMIX_EVENT_PROC_TERMINATED     /* it is no more, and did not leave */
#define CT_PMIX_NO_START   PMIX_ERR_PROC_FAILED_TO_START  /* a process died before all had met */
#define CT_PMIX_MAY_LEAVE  (PMIX_EXTERNAL_ERR_BASE - 101) /* all that live want to leave */
#define CT_PMIX_WANT_LEAVE "ctran.leave"                  /* (bool) */

/* Also between these two: a rank's file in the launcher's folder for the job (only.h). Its name has
 * the PMIx namespace and the rank, as text. Once the rank has left it holds CT_ONLY_LEFT; before,
 * nothing. */
#define CT_ONLY_FILE "ctran-rank-%s-%s"
#define CT_ONLY_LEFT "left"
/* The file there that says which rank has ended before it called ctran_init: its number, and a
 * newline. Then the ranks cannot all meet. */
#define CT_ENDED_FILE "ctran-ended"

/* What the launcher tells of the job while it runs, if it lets a job outlive the death of a process
 * (ctranrun --enable-recovery): `on`. Written by one thread, through the functions below; a reader
 * that loads a number or a flag (acquire) may read the data behind it. */
struct ct_job_events {
    _Atomic bool     on;   /* what is below may be used */
    uint32_t        *dead; /* ranks of this job that ended without leaving, in order */
    uint32_t         cap;
    _Atomic uint32_t ndead;
    _Atomic uint32_t told;      /* pieces of events */
    _Atomic bool     no_start;  /* one of them before all had met: the exchange fails */
    _Atomic bool     may_leave; /* all that live want to leave */
    struct ct_lock   lock;
    struct ct_wake  *wake; /* under lock: signalled after each piece of events */
};

int  ct_job_events_init(struct ct_job_events *events, uint32_t job_size);
void ct_job_events_fini(struct ct_job_events *events);
void ct_job_events_dead(struct ct_job_events *events, uint32_t id);
void ct_job_events_no_start(struct ct_job_events *events, uint32_t id);
void ct_job_events_may_leave(struct ct_job_events *events);
/* Where to signal from now on; NULL: nowhere. */
struct ct_wake *ct_job_events_set_wake(struct ct_job_events *events, struct ct_wake *wake);

/* One way to be part of a job. A test supplies its own, to hold many ranks in one process. */
struct ct_job_ops {
    const char *name;
    /* Hands over this process's record, without waiting for others. The bytes are copied.
     * CTRAN_ERR_BOOTSTRAP, logged. */
    int (*publish)(struct ct_job *job, const void *record, size_t len_bytes);
    /* Returns when every process has published its record, or the deadline has passed
     * (CTRAN_ERR_BOOTSTRAP, logged). See ct_job_meet. */
    int (*meet)(struct ct_job *job);
    /* The record of process `id`, valid until close; local or one round trip to the node's server.
     * As long as the processes have not met it waits until that one has published it, or the
     * deadline has passed. CTRAN_ERR_BOOTSTRAP, logged. */
    int (*lookup)(struct ct_job *job, uint32_t id, const void **record, size_t *len_bytes);
    /* What the launcher calls the host of process `id`; false: it does not say. NULL: never. */
    bool (*host_of)(struct ct_job *job, uint32_t id, char *host, size_t cap);
    /* The key that rank 0 has made for the job, where no launcher did. CTRAN_ERR_BOOTSTRAP,
     * logged. */
    int (*key)(struct ct_job *job, struct ct_auth_key *key);
    /* Tells the launcher that this process wants to leave, and returns: events.may_leave follows
     * when all that live have said so; each time anew. Only where events are on; NULL where they
     * never are. */
    int (*leave)(struct ct_job *job);
    /* Tells the launcher that the job shall end. Returns when the word is given. */
    void (*abort)(struct ct_job *job, int status, const char *text);
    void (*close)(struct ct_job *job);
};

/* Facts, fixed from open to close, and events. */
struct ct_job {
    const struct ct_job_ops *ops;
    struct ct_process       *p;
    char                     id[64];    /* for names and messages */
    char                     host[256]; /* as the launcher calls it */
    uint32_t                 rank, size;
    uint32_t                 first;      /* the number of rank 0 among all processes of the family:
                                            0, except in a job that ranks of another have spawned */
    bool                     has_family; /* other jobs may be met: family.c */
    bool                     spawned;    /* by a rank of another job */
    uint32_t                 local_index, nlocal; /* among the job's processes on this host */
    uint64_t                 local_group;         /* equal on these, different elsewhere */
    uint64_t                 tag; /* of the job, its processes know it alone; 0 before publish */
    const uint32_t          *local_ranks; /* their ranks, ascending */
    uint32_t                 ncpus;       /* of this host */
    int                      app;         /* which of the job's programs; -1: not known */
    int                      universe;    /* processes that there is room for; -1: not known */
    _Atomic bool             met;         /* all processes have published their records */
    _Atomic bool             missed;      /* of several hosts, and they did not meet */
    /* of all processes, where they share a host; else without memory */
    struct ct_shm_allgather shm_allgather;
    struct ct_placement     placement; /* of the processes on this host; may be without memory */
    struct ct_job_events    events;
    struct ct_calibration   calibration; /* alike in all processes of this host, from publish on */
    bool                    renews_calibration; /* this process is to measure it when it has left */
    /* for what all of this host would say; NULL: there is no such memory */
    struct ct_log_once *once;
};

/* The number of this process, and whether process `id` is of this job. Numbers are those of the
 * family: one process of all its jobs has a number. */
static inline uint32_t ct_job_me(const struct ct_job *job)
{
    return job->first + job->rank;
}

static inline bool ct_job_is_own(const struct ct_job *job, uint32_t id)
{
    return id - job->first < job->size;
}

/* The place of a process among those of this host, as in `placement`; nlocal: it is on another
 * host. */
uint32_t ct_job_local_index(const struct ct_job *job, uint32_t id);

/* Finds out how the process was started and joins; sets p->job. Errors are logged. */
int ct_job_open(struct ct_process *p);
/* Waits until all processes of the job have joined it, the first time that it is called. A process
 * may omit this call, and then looks up the few peers that it sends to. After a failure on one host
 * another try may succeed; hosts try once. Errors are logged. */
int ct_job_meet(struct ct_process *p);
/* Leaves; p->job becomes NULL. */
void ct_job_close(struct ct_process *p);

/* The job's key (base/auth.h): the launcher's, CTRAN_JOB_KEY, or else rank 0's, known to all after
 * the exchange. Errors are logged. */
int ct_job_key(struct ct_job *job, struct ct_auth_key *key);

/* What the launcher says in a variable "NAMESPACE|TEXT", of which this returns the text; NULL: it
 * says nothing to this job. */
const char *ct_job_told(const char *name);

/* Where a rank that waits says so, if the launcher of this job gives it a place. */
void ct_job_open_status(const struct ct_job *job);

/* Where Slurm says that this host is, SLURM_TOPOLOGY_ADDR, and what the parts of it are,
 * SLURM_TOPOLOGY_ADDR_PATTERN; false where it says nothing. */
bool ct_job_slurm_place(const char **addr, const char **kinds);

/* The GPUs that CUDA shows this process, CUDA_VISIBLE_DEVICES; NULL: it says nothing. */
const char *ct_job_visible_gpus(void);

/* The job's size as the environment tells before the job is joined, 0: it does not say. `host`
 * becomes the name that this host has in the job, or else for itself. */
uint32_t ct_job_foresee(char *host, size_t cap);

/* ---- other jobs; only where job->has_family. family.c ---------------------------------------- */

/* Shows the record of this process to processes of other jobs, which find it by `lookup` from now
 * on, by this process's number. CTRAN_ERR_BOOTSTRAP, logged. */
int ct_family_show(struct ct_job *job, const void *record, size_t len_bytes);

/* What a program publishes by name for all jobs of the family, until its process ends.
 * CTRAN_ERR_SERVICE: the name is taken, or this process has not published it. CTRAN_ERR_NAME: there
 * is no such name, or its text has `cap` bytes or more. CTRAN_ERR_ARG: the name is too long.
 * CTRAN_ERR_SYSTEM: the server says no. */
int ct_family_publish(const char *name, const char *text);
int ct_family_look_up(const char *name, char *text, size_t cap);
int ct_family_unpublish(const char *name);

/* One program of a job that is to be spawned; all borrowed. */
struct ct_family_program {
    const char  *command;
    char *const *argv;    /* without the command, ended by NULL; NULL: no arguments */
    const char  *hosts;   /* with ',' between; NULL: those of this job */
    const char  *wdir;    /* NULL: this process's */
    const char  *setting; /* of CT_ENV_PARENT_PORT */
    int          maxprocs;
};

/* A job that this process has spawned, until its ranks have met this process. Another thread sets
 * `lost` when rank 0 of the job ends before. */
struct ct_family_watch {
    _Atomic bool     lost;
    _Atomic uint32_t refs; /* this process's, and that of the other thread */
};

/* Starts n programs as one job, and returns when all their processes run. *watch is for
 * ct_family_unwatch, once the job's ranks have met this process or are lost. CTRAN_ERR_SPAWN: *why
 * has the reason, and nothing was started. */
int  ct_family_spawn(struct ct_job *job, const struct ct_family_program *programs, uint32_t n,
                     struct ct_family_watch **watch, const char **why);
void ct_family_unwatch(struct ct_family_watch *watch);
/* Rank 0 of the new job has met those who have spawned it. */
void ct_family_met(const struct ct_job *job);

/* The port at which those who have spawned this job wait for it; NULL: it was not spawned so. */
const char *ct_family_told_port(const struct ct_job *job);

/* The two ways; each returns with *job set, or a logged error. */
int  ct_job_open_pmix(struct ct_process *p, struct ct_job **job);
int  ct_job_open_single(struct ct_process *p, struct ct_job **job);
bool ct_job_under_pmix(void);

#endif
