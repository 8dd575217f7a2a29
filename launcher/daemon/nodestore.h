/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node's server of the job's key-value service (pmi/store), on a thread of its own: the server
 * does not wait while the daemon starts ranks, and the daemon does not wait while strangers connect
 * to the server.
 *
 * Each daemon has a server; of more than CT_STORE_SERVERS_MAX nodes only so many daemons, evenly
 * spread. The daemons tell the head the addresses of their servers. The head tells the first server
 * the addresses of all, which it tells its clients (CT_STORE_PLACES); and it tells all nodes the
 * address of the first, which ranks find in their environment. The server of a job of one node can
 * be reached from this machine only.
 *
 * The server ends with the daemon. Used by start.c.
 */
#ifndef CT_LAUNCHER_DAEMON_NODESTORE_H
#define CT_LAUNCHER_DAEMON_NODESTORE_H

#include "launcher/job/job.h"

struct ct_nodestore;

/* Opens the server of the node d->me. It serves once its thread runs. NULL: this node has none. If
 * it should have one, `why` tells the reason, else `why` is "". */
struct ct_nodestore *ct_nodestore_create(const struct ct_jobdesc *d, char *why, size_t cap);

/* Returns the address of the server, "ADDRESS:PORT,..."; of NULL: "". */
const char *ct_nodestore_where(const struct ct_nodestore *s);

/* Handles CT_MSG_STORES from behind its first number, before the thread runs: this server is the
 * first. Sets in->bad if the message makes no sense. */
void ct_nodestore_take(struct ct_nodestore *s, struct ct_unpack *in);
/* Makes this server the only one: the job has no other node. */
void ct_nodestore_alone(struct ct_nodestore *s);

/* Starts the thread, which serves from then on. Returns 0 or an errno value. NULL: nothing. */
int ct_nodestore_start(struct ct_nodestore *s);

#endif
