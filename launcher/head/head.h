/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * head - the job as ctranrun sees it, from the start of the daemons to the exit status. run.h is
 * the only header for the rest of the launcher. run.c receives messages, report.c turns facts into
 * words and a status, nodes.c follows the nodes, end.c ends the job, message.c prints lines.
 * state.h is what they share; a file calls only files that stand behind it in this list.
 */
#ifndef CT_LAUNCHER_HEAD_HEAD_H
#define CT_LAUNCHER_HEAD_HEAD_H

#include "launcher/head/run.h"

#endif
