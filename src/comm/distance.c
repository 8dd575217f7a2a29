/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the ranks of a communicator are from each other. */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/comms.h"

int ct_comm_distance(const struct ct_comm *comm, uint32_t a, uint32_t b, enum ct_distance *d)
{
    struct ct_location locations[2];
    int                rc = ct_ep_location(comm->p, ct_comm_id_of(comm, a), &locations[0]);
    rc = rc == CTRAN_SUCCESS ? ct_ep_location(comm->p, ct_comm_id_of(comm, b), &locations[1]) : rc;
    if (rc == CTRAN_SUCCESS) {
        *d = a == b ? CT_DIST_SELF : ct_distance_between(locations, 0, 1);
    }
    return rc;
}

int ct_comm_locations(const struct ct_comm *comm, uint32_t n, struct ct_location *locations)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < n && rc == CTRAN_SUCCESS; r++) {
        rc = ct_ep_location(comm->p, ct_comm_id_of(comm, r), &locations[r]);
    }
    return rc == CTRAN_SUCCESS ? ct_locations_renumber(locations, locations, n) : rc;
}

int ct_comms_locations(struct ct_comm *comm, uint32_t n, struct ct_location *locations)
{
    struct ct_location_key        own = {.node = 0}; /* as no host has it */
    const struct ct_location_key *all;
    void                         *memory;
    if (locations != NULL) {
        ct_ep_own_location_key(comm->p, &own);
    }
    int rc = ct_comms_gather(comm, &own, sizeof own, (const void **)&all, &memory);
    for (uint32_t r = 0; rc == CTRAN_SUCCESS && r < comm->run.n; r++) {
        rc = all[r].node != 0 ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    rc = rc == CTRAN_SUCCESS ? ct_locations_make(locations, all, n) : rc;
    free(memory);
    return rc;
}
