/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange with neighbours: its description. */
#define CT_FOLDER "coll"
#include "coll/coll.h"

/* Messages without bytes go, too: where two ranks do not agree on a length the receiver learns of
 * it, and waits for nothing that does not come. */
void ct_coll_neighbor(struct ct_coll *c, const struct ct_area *send, const struct ct_area *recv)
{
    c->kind = CT_NEAR;
    c->bytes = 0;
    c->args = (struct ct_run_args){
        .algo = &ct_algo_neighbour,
        .env = {.radix = 2, .near = &c->comm->topo->near},
        .layout = {.elem_bytes = 1, .areas = {send, recv}},
        .signal = true,
        .chunks = 1,
    };
}
