/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: the NICs that a GPU uses, or the processors of a NUMA node for ranks without one. The
 * primary is the closest by PCI path, then the fastest, then the one with the fewest users; the
 * backup is another card's port next in that order, or the other port of the same card, which is
 * taken where it is closer. Ports that are down serve nobody; members of a bond serve as the bond.
 * Source: NCCLX sec. 4.4.1, ICCL sec. 3.3 and 5.
 *
 * A user's map wins, and is checked against the machine. Same machine and map, same rails: all
 * nodes of one kind number their rails alike, so that rings that keep their number stay on one leaf
 * switch.
 */
#ifndef CT_TOPO_RAIL_H
#define CT_TOPO_RAIL_H

#include "topo/machine.h"

struct ct_rail {
    int16_t primary, backup;           /* NICs of the machine; -1: none */
    uint8_t primary_path, backup_path; /* enum ct_path */
    int16_t index;                     /* number of the primary's rail in the node, from 0; -1 */
    bool    mapped;                    /* the user's word */
};

struct ct_rails {
    uint32_t       nrails; /* NICs that are somebody's primary, in PCI order */
    struct ct_rail gpus[CT_MACHINE_GPUS];
    struct ct_rail numas[CT_MACHINE_NUMAS];
};

/* `map` is the text of CTRAN_NIC_MAP ("" : none): entries separated by ; or newlines, # comments,
 * or "@FILE", a file of such lines. An entry is WHO=PRIMARY[,BACKUP] with WHO a GPU (number, PCI
 * address or UUID) or numa:N, and NICs by name, name:port or PCI address. CTRAN_ERR_ARG: `why` has
 * the line and the reason. */
int ct_rails_find(const struct ct_machine *m, const char *map, struct ct_rails *rails, char *why,
                  size_t cap);

/* The GPU of a local rank: CTRAN_GPU_MAP ("0=3;1=2" by local rank, or @FILE, or "none"), else those
 * that CUDA_VISIBLE_DEVICES (NULL: all) leaves, local ranks in turn. -1 in *gpu: none.
 * CTRAN_ERR_ARG as above. */
int ct_rails_gpu_of(const struct ct_machine *m, const char *map, const char *visible,
                    uint32_t local_rank, uint32_t nlocal, int *gpu, char *why, size_t cap);

#endif
