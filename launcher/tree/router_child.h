/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of a router, from its start to its loss. Used by router.c and router_fence.c. */
#ifndef CT_LAUNCHER_TREE_ROUTER_CHILD_H
#define CT_LAUNCHER_TREE_ROUTER_CHILD_H

#include "launcher/tree/router_state.h"

/* Prepares the child number `index`, which stands for the nodes of `span`. Returns false when out
 * of memory. ct_router_child_fini is due in any case. */
bool ct_router_child_init(struct ct_router_child *c, struct ct_router *h, uint32_t index,
                          struct ct_span span, bool remote);
void ct_router_child_fini(struct ct_router_child *c);

/* Starts the child's process. A process that cannot be started is reported as gone, later. */
void ct_router_child_start(struct ct_router_child *c, const char *daemon);

/* Kills the child, which is then reported as gone. */
void ct_router_child_stop(struct ct_router_child *c);

/* Stops a child for which too many messages wait. */
void ct_router_child_give_up(struct ct_router_child *c);

/* Handles the child's DONE: only the end of the stream follows. */
void ct_router_child_done(struct ct_router_child *c);

/* Handles the child's HELLO. Sets in->bad if the child is of another version. */
void ct_router_child_take_hello(struct ct_router_child *c, struct ct_unpack *in);

/* Closes the stream of a remote child, and gives its agent CT_AGENT_LIMIT_MS to end. */
void ct_router_child_close(struct ct_router_child *c);

/* Reaps the child's process; kills it first if its time is over. Returns false while an agent still
 * has time to end. */
bool ct_router_child_reap(struct ct_router_child *c);

/* Returns the child that stands for the node, NULL: none. */
struct ct_router_child *ct_router_child_of(struct ct_router *h, uint32_t node);

#endif
