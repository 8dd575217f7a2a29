/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files behind rail.h share: GPUs or NUMA nodes, and how far the NICs are from each. */
#ifndef CT_TOPO_RAIL_SIDE_H
#define CT_TOPO_RAIL_SIDE_H

#include "topo/rail.h"

enum { CT_RAIL_OWNERS = CT_MACHINE_NUMAS };

struct ct_rail_side {
    uint32_t        n; /* owners */
    struct ct_rail *rails;
    uint8_t         path[CT_RAIL_OWNERS][CT_MACHINE_NICS];
    bool            settled[CT_RAIL_OWNERS];        /* there is no primary to choose */
    bool            settled_backup[CT_RAIL_OWNERS]; /* and no backup */
    uint8_t         users[CT_MACHINE_NICS];         /* as primary, or beside one by a map */
    uint8_t         backups[CT_MACHINE_NICS];
};

/* Reads the map into both sides. CTRAN_ERR_ARG as in rail.h. */
int ct_rail_map(const struct ct_machine *m, const char *map, struct ct_rail_side *gpus,
                struct ct_rail_side *numas, char *why, size_t cap);

#endif
