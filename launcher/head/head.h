/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * head - the job as ctranrun sees it, from the start of the daemons to the exit status. run.h is
 * the only header for the rest of the launcher. run.c receives messages, nodes.c follows the nodes,
 * report.c turns facts into words and a status, end.c ends the job; state.h is what they share.
 */
#ifndef CT_LAUNCHER_HEAD_HEAD_H
#define CT_LAUNCHER_HEAD_HEAD_H

#include "launcher/head/run.h"

#endif
