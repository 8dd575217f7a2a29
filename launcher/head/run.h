/* SPDX-License-Identifier: BSD-3-Clause */
/* The job as ctranrun sees it: from the daemon's start to the exit status. */
#ifndef CT_LAUNCHER_HEAD_RUN_H
#define CT_LAUNCHER_HEAD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"

struct ct_head_args {
    struct ct_jobdesc *desc;   /* one_sink is filled in */
    const char        *daemon; /* the file of ctrand */
    uint32_t           local;  /* the node that is this machine, CT_NO_NODE for none */
    uint64_t           timeout_ms, launch_timeout_ms;
    bool               tag_output;

    /* Of a job that another one's rank has spawned (family/spawned.h). */
    uint32_t tag_number; /* which of them; 0: it is none */
    uint32_t depth;      /* how many are around it */
    int      control_fd; /* its parent hears here that all ranks are started */
    int      family_fd;  /* the stream to its parent; family/jobs.h */
};

/* Runs the job to its end; no process and no file of it is left. Returns ctranrun's status. */
int ct_head_run(const struct ct_head_args *args);

#endif
