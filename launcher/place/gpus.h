/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs for the ranks of a node.
 *
 * A unit is what CUDA_VISIBLE_DEVICES can name: a GPU by its number or UUID, or a slice of one
 * (MIG). The units are those that the variable leaves to the daemon, as CUDA reads it: what follows
 * a name that is none counts no more. Numbers are those of CUDA_DEVICE_ORDER=PCI_BUS_ID among the
 * GPUs that the driver shows, and each rank gets that variable too, unless the user has set it to
 * something else: then its GPUs are named by their UUIDs.
 *
 * Ranks take the units in turn, again from the first where there are more ranks; or each gets so
 * many of its own, of one NUMA node where that can be, and near each other by NVLink and PCI.
 * CTRAN_GPU_MAP, where it is set, says the (first) GPU of each rank.
 *
 * The choice is a function of the machine and the words of the user, so that it is tried on
 * machines that nobody has. Used by daemon/start.c and places.c; one thread.
 */
#ifndef CT_LAUNCHER_PLACE_GPUS_H
#define CT_LAUNCHER_PLACE_GPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/topo.h"

enum { CT_GPU_UNITS = 256, CT_GPU_WORD = 96 };

/* What is asked for. Texts are borrowed during the call. */
struct ct_gpu_order {
    const char *host;
    uint32_t    ranks;        /* of this node */
    uint32_t    own;          /* GPUs that each has for itself; 0: they take them in turn */
    const char *visible;      /* CUDA_VISIBLE_DEVICES, NULL: all */
    const char *device_order; /* CUDA_DEVICE_ORDER, NULL: not set */
    const char *map;          /* CTRAN_GPU_MAP, "": none */
    const char *nic_map;      /* CTRAN_NIC_MAP, "": none */
    /* Where ranks already have their CPUs: near them. NULL: ranks take the GPUs first. */
    const cpu_set_t *sets;
};

struct ct_gpu_unit {
    int16_t  gpu;   /* of the machine; -1: nobody knows, as of a slice */
    uint32_t users; /* ranks that have it */
    char     word[CT_GPU_WORD];
};

struct ct_gpus {
    struct ct_machine *machine; /* owned; NULL: no GPUs were asked for */
    struct ct_rails    rails;
    struct ct_gpu_unit units[CT_GPU_UNITS];
    uint32_t           nunits;
    uint32_t           nranks, each; /* units a rank */
    uint16_t          *of;           /* each a rank: indices of units */
    bool               set_order;    /* CUDA_DEVICE_ORDER is to be set */
};

/* Chooses. Takes over the machine (malloc'd), also on failure; ct_gpus_fini is due in any case.
 * Returns 0, CT_EXIT_USAGE for an order that this machine cannot follow, or CT_EXIT_INTERNAL, with
 * a line in `why`. */
int  ct_gpus_init(struct ct_gpus *g, struct ct_machine *machine, const struct ct_gpu_order *order,
                  char *why, size_t cap);
void ct_gpus_fini(struct ct_gpus *g);

/* The CPUs of the NUMA node of a rank's first GPU; NULL where nobody knows. The same pointer for
 * ranks of one node. */
const cpu_set_t *ct_gpus_cpus(const struct ct_gpus *g, uint32_t local_rank);

/* The value of CUDA_VISIBLE_DEVICES for a rank. */
void ct_gpus_visible(const struct ct_gpus *g, uint32_t local_rank, char *out, size_t cap);

/* "GPU 0 at 0000:1b:00.0 on NUMA node 0 with NIC mlx5_0 (PIX), shared by 2 ranks", each with "; "
 * before it, and the value of CUDA_VISIBLE_DEVICES. "" where no GPUs were asked for. */
void ct_gpus_describe(const struct ct_gpus *g, uint32_t local_rank, char *out, size_t cap);

/* Puts the variables into a rank's environment (job/strlist.h). False when out of memory. */
bool ct_gpus_env(const struct ct_gpus *g, uint32_t local_rank, char ***env);

#endif
