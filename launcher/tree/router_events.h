/* SPDX-License-Identifier: BSD-3-Clause */
/* Events on their way down; router_events.c explains them. Used by router.c and router_child.c. */
#ifndef CT_LAUNCHER_TREE_ROUTER_EVENTS_H
#define CT_LAUNCHER_TREE_ROUTER_EVENTS_H

#include "launcher/tree/router_state.h"

/* Returns false when out of memory. ct_router_events_fini is due in any case. */
bool ct_router_events_init(struct ct_router *h);
void ct_router_events_fini(struct ct_router *h);

/* Handles an EVENT from above: keeps it, and sends it to the children as they take events. */
void ct_router_events_pass(struct ct_router *h, struct ct_unpack *in);

/* Handles the EVENT_TAKEN of a remote child. Sets in->bad if the child has not got as many. */
void ct_router_events_taken(struct ct_router_child *c, struct ct_unpack *in);

/* A child has come: it gets the events that come from now on. A child is gone. */
void ct_router_events_join(struct ct_router_child *c);
void ct_router_events_leave(struct ct_router_child *c);

#endif
