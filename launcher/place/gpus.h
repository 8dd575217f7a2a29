/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs for the ranks of a node.
 *
 * A unit is what CUDA_VISIBLE_DEVICES can name: a GPU by its number or UUID, or a slice of a GPU
 * (MIG). The units are those that the variable leaves to the daemon. As in CUDA, a name that names
 * nothing ends the list. Numbers are those of CUDA_DEVICE_ORDER=PCI_BUS_ID among the GPUs that the
 * driver shows. Each rank gets that variable too, unless the user has set it to something else;
 * then UUIDs name the GPUs.
 *
 * Ranks take the units in turn, and again from the first if there are more ranks. Or each rank gets
 * so many units of its own: of one NUMA node if possible, and near each other by NVLink and PCI.
 * CTRAN_GPU_MAP, if set, names the (first) GPU of each rank.
 *
 * The choice is a function of the machine and of the user's settings, so tests try it on described
 * machines. Used by daemon/start.c and places.c; one thread.
 */
#ifndef CT_LAUNCHER_PLACE_GPUS_H
#define CT_LAUNCHER_PLACE_GPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topo/topo.h"

enum { CT_GPU_UNITS = 256, CT_GPU_WORD = 96 };

/* What the user asks for. Texts are borrowed during the call. */
struct ct_gpu_order {
    const char *host;
    uint32_t    ranks;        /* of this node */
    uint32_t    own;          /* GPUs that each rank has for itself; 0: ranks take GPUs in turn */
    const char *visible;      /* CUDA_VISIBLE_DEVICES, NULL: all */
    const char *device_order; /* CUDA_DEVICE_ORDER, NULL: not set */
    const char *map;          /* CTRAN_GPU_MAP, "": none */
    const char *nic_map;      /* CTRAN_NIC_MAP, "": none */
    /* The CPUs of the ranks, which then get GPUs near these. NULL: GPUs are chosen first. */
    const cpu_set_t *sets;
};

struct ct_gpu_unit {
    int16_t  gpu;   /* of the machine; -1: unknown, as for a slice */
    uint32_t users; /* ranks that have it */
    char     word[CT_GPU_WORD];
};

struct ct_gpus {
    struct ct_machine *machine; /* owned; NULL: the job asks for no GPUs */
    struct ct_rails    rails;
    struct ct_gpu_unit units[CT_GPU_UNITS];
    uint32_t           nunits;
    uint32_t           nranks, each; /* units a rank */
    uint16_t          *of;           /* by rank: indices of units */
    bool               set_order;    /* ranks get CUDA_DEVICE_ORDER */
};

/* Chooses the GPUs. Takes over the machine (malloc'd), also on failure. ct_gpus_fini is due in any
 * case. Returns 0; CT_EXIT_USAGE if this machine cannot do what is asked for; or CT_EXIT_INTERNAL;
 * with a line in `why`. */
int  ct_gpus_init(struct ct_gpus *g, struct ct_machine *machine, const struct ct_gpu_order *order,
                  char *why, size_t cap);
void ct_gpus_fini(struct ct_gpus *g);

/* Returns the CPUs of the NUMA node of a rank's first GPU, NULL: unknown. Ranks of one NUMA node
 * get the same pointer. */
const cpu_set_t *ct_gpus_cpus(const struct ct_gpus *g, uint32_t local_rank);

/* Writes the value of CUDA_VISIBLE_DEVICES for a rank. */
void ct_gpus_visible(const struct ct_gpus *g, uint32_t local_rank, char *out, size_t cap);

/* Writes "GPU 0 at 0000:1b:00.0 on NUMA node 0 with NIC mlx5_0 (PIX), shared by 2 ranks" for each
 * GPU, each with "; " before it, then the value of CUDA_VISIBLE_DEVICES. Writes "" if the job asks
 * for no GPUs. */
void ct_gpus_describe(const struct ct_gpus *g, uint32_t local_rank, char *out, size_t cap);

/* Puts the variables into a rank's environment (job/strlist.h). Returns false when out of
 * memory. */
bool ct_gpus_env(const struct ct_gpus *g, uint32_t local_rank, char ***env);

#endif
