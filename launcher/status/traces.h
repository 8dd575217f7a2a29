/* SPDX-License-Identifier: BSD-3-Clause */
/* The traces of the ranks of this node, as dumps that say how each process is: for server.c, and
 * for the daemons of other nodes that ask. */
#ifndef CT_LAUNCHER_STATUS_TRACES_H
#define CT_LAUNCHER_STATUS_TRACES_H

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"
#include "launcher/proc/proc.h"

/* Hands the dump of each rank of this node to fn, by rank. */
void ct_traces_each(const struct ct_jobdesc *d, const struct ct_procs                        *procs,
                    void (*fn)(void *arg, uint32_t rank, const void *dump, size_t len), void *arg);

/* Asks all other nodes: TRACES_ASK. */
void ct_traces_ask(const struct ct_jobdesc *d, struct ct_conn *parent, uint32_t request);

/* Handles TRACES_ASK: answers with TRACES. */
void ct_traces_take_ask(const struct ct_jobdesc *d, const struct ct_procs *procs,
                        struct ct_conn *parent, struct ct_unpack *in);

#endif
