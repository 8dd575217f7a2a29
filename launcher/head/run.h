/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a job as ctranrun: from the start of the daemons to the exit status. */
#ifndef CT_LAUNCHER_HEAD_RUN_H
#define CT_LAUNCHER_HEAD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"

struct ct_head_args {
    struct ct_jobdesc *desc;   /* one_sink and progress are filled in */
    const char        *daemon; /* the file of ctrand */
    uint32_t           local;  /* the node that is this machine, CT_NO_NODE for none */
    uint64_t           timeout_ms, launch_timeout_ms;
    bool               tag_output;

    /* A job that a rank of another job has spawned (family/spawned.h). */
    uint32_t
        tag_number; /* its number among the jobs that were spawned there; 0: the user's own job */
    uint32_t depth; /* how many jobs are around it */
    int      control_fd; /* a byte written here tells the parent that all ranks are started */
    int      family_fd;  /* the stream to the parent; family/jobs.h */
};

/* Runs the job to its end. No process and no file of the job is left. Returns the exit status of
 * ctranrun. */
int ct_head_run(const struct ct_head_args *args);

#endif
