/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: the NICs that a GPU uses, or the processors of a NUMA node for ranks without one.
 *
 * The primary is the closest by PCI path, then the fastest, then the one with the fewest users; of
 * equally near, equally fast NICs none has two users more than another that could take one. A NIC
 * that is as near and as fast as the primary, and no GPU's primary, serves beside it (`more`). The
 * backup is a port of another adapter, next in that order and of the same network, or the other
 * port of the same adapter, which is taken where it is closer.
 *
 * Not every NIC serves. Ports that are down do not serve. Members of a bond serve as the bond, by
 * the first member that is up. NICs for RDMA go before others, those with a PCI address before
 * those without (bridges of containers), and all rails are of one network, InfiniBand or Ethernet,
 * whichever has more speed in all. Of these a NIC with less than half the speed of the fastest, or
 * with half of it and no GPU on its switch, is taken for one of storage or management. NUMA nodes
 * without processors of their own, as the memory of some GPUs is, have no rail.
 *
 * A user's map wins over all this, and is checked against the machine. Same machine and map, same
 * rails: all nodes of one kind number their rails alike, so that traffic which keeps its number
 * stays on one leaf switch. Sources: NCCLX sec. 4.4.1, ICCL sec. 3.3 and 5.
 */
#ifndef CT_TOPO_RAIL_H
#define CT_TOPO_RAIL_H

#include "topo/machine.h"

enum { CT_RAIL_MORE = 7 };

struct ct_rail {
    int16_t primary, backup;           /* NICs of the machine; -1: none */
    uint8_t primary_path, backup_path; /* enum ct_path; CT_PATH_SYS where there is none */
    int16_t index;                     /* number of the primary's rail in the node, from 0; -1 */
    bool    mapped;                    /* the primary is the user's word */
    uint8_t nmore;
    int16_t more[CT_RAIL_MORE]; /* NICs to stripe over beside the primary; the backup may be one */
};

struct ct_rails {
    uint32_t       nrails; /* NICs that are primary for a GPU or a NUMA node, in PCI order */
    struct ct_rail gpus[CT_MACHINE_GPUS];
    struct ct_rail numas[CT_MACHINE_NUMAS];
};

/* `map` is the text of CTRAN_NIC_MAP ("": none): entries separated by ; or newlines, # comments,
 * or "@FILE", a file of such entries. An entry is WHO=NICS[,BACKUP]: WHO a GPU (number, PCI address
 * or UUID) or numa:N (the system's number of a NUMA node); NICS the primary, and after + those to
 * stripe over; each by name, name:port or PCI address; or "none". Without BACKUP one is chosen.
 * CTRAN_ERR_ARG: `why` has text, line, column and reason; a port that is down, one given twice, one
 * that is its own backup and a backup on another network are refused. Then *rails is undefined. */
int ct_rails_find(const struct ct_machine *m, const char *map, struct ct_rails *rails, char *why,
                  size_t cap);

/* Whether a NIC may be chosen without the user's word; fills in serves[m->nnics]. */
void ct_rails_serving(const struct ct_machine *m, bool *serves);

/* The port that stands for a port's bond; the port itself where it is in none. */
int ct_rails_bond(const struct ct_machine *m, int nic);

/* Where ring `channel` enters and leaves node `node` of the job, as GPUs (-1: the node has none
 * with a NIC): odd nodes the other way round, so that it leaves a node on the rail on which it
 * enters the next. With an odd number of nodes the step from the last to the first crosses rails.
 * A tree goes through `in` of node 0 on all nodes. Channels are dealt to rails in turn, then to the
 * GPUs that share one. Source: ICCL sec. 5, figure 16. */
struct ct_rail_gate {
    int16_t in, out;
};
struct ct_rail_gate ct_rails_gate(const struct ct_rails *rails, uint32_t channel, uint32_t node);

/* The GPU of a local rank: by the text of CTRAN_GPU_MAP ("": none), entries LOCALRANK=GPU as
 * above, GPU may be "none", which as the whole text means no GPU for anybody; else those that
 * `visible`, the value of CUDA_VISIBLE_DEVICES (NULL: not set), leaves, to local ranks in turn. -1
 * in *gpu: none. The whole map is checked, whichever rank asks; a GPU that a rank is given must be
 * visible to it. CTRAN_ERR_ARG as above. */
int ct_rails_gpu_of(const struct ct_machine *m, const char *map, const char *visible,
                    uint32_t local_rank, int *gpu, char *why, size_t cap);

#endif
