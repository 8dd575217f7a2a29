/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job - what a job is. jobdesc.h is the description that travels to each daemon: programs, ranks,
 * nodes, environment, and how to reach the other nodes. identity.h makes the names and the secrets
 * of a job. ranklist.h and strlist.h are the lists of ranks and of strings that descriptions hold.
 * recovery.h decides what the ranks of a job are told when some of them die.
 */
#ifndef CT_LAUNCHER_JOB_JOB_H
#define CT_LAUNCHER_JOB_JOB_H

#include "launcher/job/jobdesc.h"
#include "launcher/job/identity.h"
#include "launcher/job/ranklist.h"
#include "launcher/job/strlist.h"
#include "launcher/job/recovery.h"

#endif
