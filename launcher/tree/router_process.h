/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A router process: the first process of the launcher on a machine that an agent has reached. It is
 * the parent of the node's daemon there and, by agents of its own, of the nodes behind it
 * (router.h). Its standard input and output are the stream to its parent; it opens no socket. Like
 * the head it is a subreaper above the daemon. When its stream ends it kills all processes below it
 * and ends.
 */
#ifndef CT_LAUNCHER_TREE_ROUTER_PROCESS_H
#define CT_LAUNCHER_TREE_ROUTER_PROCESS_H

/* Runs to the end of the job. Returns the status of the process. */
int ct_router_run(const char *job);

#endif
