/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's server of the job's key-value service (pmi/store), on a thread of its own: neither does
 * it wait while the daemon starts ranks, nor the daemon while strangers knock at it.
 *
 * Each daemon has one, but of more than CT_STORE_SERVERS_MAX nodes only so many, evenly spread. The
 * daemons tell the head where theirs are; the head tells the first of them where all are, which
 * tells clients (CT_STORE_PLACES), and all nodes where that one is, which ranks find in their
 * environment. The server of a job of one node is reached from this machine alone.
 *
 * It goes with the daemon. Used by start.c.
 */
#ifndef CT_LAUNCHER_DAEMON_NODESTORE_H
#define CT_LAUNCHER_DAEMON_NODESTORE_H

#include "launcher/job/job.h"

struct ct_nodestore;

/* Opens the server of the node d->me, which serves once its thread runs. NULL: this node has none;
 * if it should have, `why` says why not, else it is "". */
struct ct_nodestore *ct_nodestore_create(const struct ct_jobdesc *d, char *why, size_t cap);

/* Where it is, "ADDRESS:PORT,..."; of NULL: "". */
const char *ct_nodestore_where(const struct ct_nodestore *s);

/* CT_MSG_STORES without its first number, before the thread runs: this server is the first. Sets
 * in->bad where it makes no sense. */
void ct_nodestore_take(struct ct_nodestore *s, struct ct_unpack *in);
/* The same where there is no other node. */
void ct_nodestore_alone(struct ct_nodestore *s);

/* From now on it serves. 0 or an errno. NULL: nothing. */
int ct_nodestore_start(struct ct_nodestore *s);

#endif
