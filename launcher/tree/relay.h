/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relay: the first process of the launcher on a machine that an agent has reached, the parent
 * of the node's daemon there and, by agents of its own, of the nodes behind it (hub.h). Its stream
 * to its parent is its standard input and output; it opens no socket. As the head on its machine it
 * is a subreaper above the daemon, and when its stream ends it kills all below and goes.
 */
#ifndef CT_LAUNCHER_TREE_RELAY_H
#define CT_LAUNCHER_TREE_RELAY_H

/* Runs to the end of the job. Returns the status of the process. */
int ct_relay_run(const char *job);

#endif
