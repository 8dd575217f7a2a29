/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * proc - processes of one machine. program.h finds the files to execute, procs.h starts the ranks
 * and reaps them, reaper.h kills every descendant of a process, session.h keeps the directory of a
 * daemon's files. Ranks, daemons and agents are such processes; this folder knows nothing of
 * messages.
 */
#ifndef CT_LAUNCHER_PROC_PROC_H
#define CT_LAUNCHER_PROC_PROC_H

#include "launcher/proc/program.h"
#include "launcher/proc/procs.h"
#include "launcher/proc/reaper.h"
#include "launcher/proc/session.h"

#endif
