/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank wants to spawn (spawned.h), and on which hosts of the job. */
#ifndef CT_LAUNCHER_FAMILY_SPAWNED_PLACE_H
#define CT_LAUNCHER_FAMILY_SPAWNED_PLACE_H

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

struct ct_spawned_place {
    struct ct_app  *apps; /* programs whose files have not been located yet */
    uint32_t        napps;
    struct ct_node *nodes;
    uint32_t        nnodes;
    uint32_t        first_process; /* ct_jobdesc.first_process */
    uint32_t        local; /* the index of the node that is this machine, CT_NO_NODE for none */
};

/* Reads the rest of CT_MSG_SPAWN, from the hosts on, and finds places on the nodes of `desc`, of
 * which `local` is this machine. Sets in->bad if the message makes no sense. Returns false if the
 * hosts are not the job's, have no room, or there is no memory. ct_spawned_place_fini is due in any
 * case. */
bool ct_spawned_place_read(struct ct_spawned_place *p, const struct ct_jobdesc *desc,
                           uint32_t local, struct ct_unpack *in);
void ct_spawned_place_fini(struct ct_spawned_place *p);

/* The number of ranks of all programs. */
uint32_t ct_spawned_place_ranks(const struct ct_spawned_place *p);

#endif
