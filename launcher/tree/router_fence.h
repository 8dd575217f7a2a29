/* SPDX-License-Identifier: BSD-3-Clause */
/* Fences in a router; router_fence.c explains them. Used by router.c. */
#ifndef CT_LAUNCHER_TREE_ROUTER_FENCE_H
#define CT_LAUNCHER_TREE_ROUTER_FENCE_H

#include "launcher/tree/router_state.h"

/* Handles a child's FENCE. Sets in->bad if it makes no sense. */
void ct_router_fence(struct ct_router_child *c, struct ct_unpack *in);

/* Handles a FENCE_DONE from above, or of this router. Sets in->bad if no such fence is under
 * way. */
void ct_router_fence_done(struct ct_router *h, struct ct_unpack *in);

void ct_router_fences_fini(struct ct_router *h);

#endif
