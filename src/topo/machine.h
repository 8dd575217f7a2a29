/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node: its NUMA nodes, the PCI bridges above its devices, GPUs, NICs and the NVLinks between
 * GPUs. Objects name each other by index into the arrays (-1: none, or not known), so that the
 * whole is copied, shared and compared as memory. Equal machines are equal byte for byte: names are
 * padded with zeros, objects stand in order of their PCI addresses (NICs without one last, by
 * name).
 */
#ifndef CT_TOPO_MACHINE_H
#define CT_TOPO_MACHINE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
    CT_MACHINE_NUMAS = 64,
    CT_MACHINE_BRIDGES = 192, /* only those above a GPU or a NIC */
    CT_MACHINE_GPUS = 32,
    CT_MACHINE_NICS = 64, /* ports: a adapter with two counts twice */
    CT_MACHINE_CPUS = 8 * sizeof(cpu_set_t),
};

struct ct_pci {
    uint32_t domain;
    uint8_t  bus, dev, func;
    bool     known; /* false: the device is on no PCI bus, or its address is not known */
};

/* What a CPU is part of. */
enum ct_level {
    CT_LEVEL_PACKAGE,
    CT_LEVEL_DIE,
    CT_LEVEL_NUMA,
    CT_LEVEL_L3,
    CT_LEVEL_L2,
    CT_LEVEL_L1, /* the data cache */
    CT_LEVEL_CORE,
    CT_LEVELS
};

/* A CPU of the operating system's number: the numbers of its package, die, ... */
struct ct_cpu {
    int16_t at[CT_LEVELS]; /* -1: there is no such object, or it is not known */
};

struct ct_numa {
    uint32_t  os_index;
    int32_t   package; /* socket */
    uint64_t  memory_bytes;
    cpu_set_t cpus; /* of the operating system's numbers */
};

/* A bridge or switch port between a device and the processor. A switch is two of them on the way
 * down, its upstream port and one of its downstream ports. */
struct ct_bridge {
    struct ct_pci pci;    /* of a host bridge: the bus below it, and not known */
    int16_t       parent; /* bridge above; -1: a host bridge, which hangs on `numa` */
    int16_t       numa;
};

struct ct_machine_gpu {
    char          name[48]; /* "NVIDIA H200" */
    char          uuid[48]; /* NVML's; "" where it is not asked */
    struct ct_pci pci;
    int16_t       bridge, numa; /* bridge: next above it */
    uint64_t      memory_bytes;
    char          domain[64]; /* NVLink domain over nodes: cluster UUID and clique; "": this node */
    bool          nvswitch;   /* its links end at switches: all GPUs on them see each other */
    uint8_t       links[CT_MACHINE_GPUS]; /* NVLinks that lead to each other GPU */
};

enum ct_nic_kind { CT_NIC_VERBS, CT_NIC_ETHERNET };

/* A port. Ports of one adapter have the same `adapter`. The network interfaces of a verbs device
 * are no NICs of their own. An Ethernet interface counts if it has a device below it, be it on PCI
 * or not; loopback, bridges and bonds have none. Other virtual ones (veth of a container) count
 * where nothing else is there, and they are up. Defaults of a port without entries: up, port 1,
 * speed 0. */
struct ct_nic {
    char          name[32];     /* "mlx5_0", "eth0" */
    char          netdev[16];   /* the network interface of a verbs port, "" where there is none */
    char          bond[16];     /* the bond that it is a member of, "" */
    char          firmware[48]; /* what the adapter says of itself: version, board id */
    char          label[32];    /* what the firmware calls the slot, "" */
    uint8_t       kind;         /* enum ct_nic_kind */
    uint8_t       port;         /* from 1 */
    bool          up, ib;       /* ib: link layer InfiniBand, else Ethernet */
    int16_t       adapter;
    struct ct_pci pci;
    int16_t       bridge, numa;
    uint32_t      speed_mbps; /* 0: not known */
    uint64_t      guid;
};

struct ct_machine {
    char                  host[64];
    char                  source[32]; /* "hwloc", or the name of the synthetic machine */
    uint32_t              npackages, ncores, npus;
    uint32_t              nnumas, nbridges, ngpus, nnics;
    uint32_t              left_out; /* devices for which there was no room; a message has told */
    struct ct_cpu         cpus[CT_MACHINE_CPUS];
    struct ct_numa        numas[CT_MACHINE_NUMAS];
    struct ct_bridge      bridges[CT_MACHINE_BRIDGES];
    struct ct_machine_gpu gpus[CT_MACHINE_GPUS];
    struct ct_nic         nics[CT_MACHINE_NICS];
};

/* How two devices reach each other, nearest first; the names are NCCL's and nvidia-smi's. */
enum ct_path {
    CT_PATH_SAME, /* one device */
    CT_PATH_NVL,  /* NVLinks, GPUs only */
    CT_PATH_PIX,  /* at most one PCI switch or bridge */
    CT_PATH_PXB,  /* several, not the processor */
    CT_PATH_PHB,  /* one host bridge */
    CT_PATH_NODE, /* host bridges of one NUMA node */
    CT_PATH_SYS,  /* different NUMA nodes, or not known */
};

const char  *ct_path_name(enum ct_path path); /* "PIX" */
enum ct_path ct_machine_path_gpus(const struct ct_machine *m, uint32_t a, uint32_t b);
enum ct_path ct_machine_path_gpu_nic(const struct ct_machine *m, uint32_t gpu, uint32_t nic);
/* Of a NUMA node's processors, for ranks without a GPU: PHB where the NIC hangs on it, else SYS. */
enum ct_path ct_machine_path_numa_nic(const struct ct_machine *m, uint32_t numa, uint32_t nic);

/* "0000:1b:00.0"; "-" where it is not known. */
void ct_pci_format(const struct ct_pci *pci, char *out, size_t cap);
/* Parses it, the domain may be missing. False: it is no PCI address. */
bool ct_pci_parse(const char *text, struct ct_pci *pci);

/* "Package", "L3Cache": hwloc's names, as in "hwloc://L3Cache". */
const char *ct_level_name(enum ct_level level);
/* The object of the level that all CPUs of the set belong to; -1: none, or not known. */
int ct_machine_confines(const struct ct_machine *m, enum ct_level level, const cpu_set_t *cpus);

/* Reads this machine by hwloc, NVML (loaded at run time, where there is one) and sysfs. Logs what
 * is missing and goes on without it. CTRAN_ERR_OTHER (logged): hwloc cannot read the machine. Costs
 * tens of milliseconds. */
int ct_machine_load(struct ct_machine *m, const struct ct_log *log);

/* Of all that ranks of a job must see alike to choose alike (not names, GUIDs, firmware). */
uint64_t ct_machine_digest(const struct ct_machine *m);

#endif
