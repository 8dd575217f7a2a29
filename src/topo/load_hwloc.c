/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine from a loaded hwloc topology; see load.h. Only the topology is looked at, so an XML
 * text gives the same machine wherever it is read.
 */
#define CT_FOLDER "topo"
#include <hwloc.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/load.h"

/* While a machine is read. */
struct reading {
    struct ct_machine *m;
    hwloc_topology_t   t;
    hwloc_obj_t        bridges[CT_MACHINE_BRIDGES]; /* those of m->bridges */
};

void ct_machine_filter(hwloc_topology_t t)
{
    hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_L1ICACHE, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
}

/* ---- processors ------------------------------------------------------------------------------ */

static uint32_t how_many(hwloc_topology_t t, hwloc_obj_type_t type)
{
    const int n = hwloc_get_nbobjs_by_type(t, type);
    return n > 0 ? (uint32_t)n : 0;
}

/* A set may be infinite in a broken text. */
static void copy_cpus(cpu_set_t *out, hwloc_const_bitmap_t set)
{
    CPU_ZERO(out);
    for (unsigned i = 0; set != NULL && i < CT_MACHINE_CPUS; i++) {
        if (hwloc_bitmap_isset(set, i)) {
            CPU_SET(i, out);
        }
    }
}

static void read_numas(struct reading *r)
{
    struct ct_machine *m = r->m;
    for (hwloc_obj_t o = NULL;
         (o = hwloc_get_next_obj_by_type(r->t, HWLOC_OBJ_NUMANODE, o)) != NULL;) {
        if (m->nnumas == CT_MACHINE_NUMAS) {
            m->left_out++;
            continue;
        }
        hwloc_obj_t     package = hwloc_get_ancestor_obj_by_type(r->t, HWLOC_OBJ_PACKAGE, o);
        struct ct_numa *numa = &m->numas[m->nnumas++];
        numa->os_index = o->os_index;
        numa->package = package != NULL ? (int32_t)package->logical_index : -1;
        numa->memory_bytes = o->attr != NULL ? o->attr->numanode.local_memory : 0;
        copy_cpus(&numa->cpus, o->cpuset);
    }
}

static void read_cpus(struct reading *r)
{
    static const struct {
        hwloc_obj_type_t type;
        enum ct_level    level;
    } map[] = {{HWLOC_OBJ_PACKAGE, CT_LEVEL_PACKAGE}, {HWLOC_OBJ_DIE, CT_LEVEL_DIE},
               {HWLOC_OBJ_NUMANODE, CT_LEVEL_NUMA},   {HWLOC_OBJ_L3CACHE, CT_LEVEL_L3},
               {HWLOC_OBJ_L2CACHE, CT_LEVEL_L2},      {HWLOC_OBJ_L1CACHE, CT_LEVEL_L1},
               {HWLOC_OBJ_CORE, CT_LEVEL_CORE}};
    for (int c = 0; c < CT_MACHINE_CPUS; c++) {
        memset(r->m->cpus[c].at, 0xff, sizeof r->m->cpus[c].at);
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(map); i++) {
        for (hwloc_obj_t o = NULL;
             (o = hwloc_get_next_obj_by_type(r->t, map[i].type, o)) != NULL;) {
            for (unsigned c = 0; o->cpuset != NULL && c < CT_MACHINE_CPUS; c++) {
                int16_t *at = &r->m->cpus[c].at[map[i].level];
                if (*at < 0 && hwloc_bitmap_isset(o->cpuset, c)) {
                    *at = (int16_t)o->logical_index; /* the first: DRAM before other memory */
                }
            }
        }
    }
}

/* The NUMA node of an I/O object: the only one with processors among those that it is close to, or
 * one of several with the same processors. */
static int16_t numa_of(struct reading *r, hwloc_obj_t o)
{
    const hwloc_obj_t where = hwloc_get_non_io_ancestor_obj(r->t, o);
    int16_t           found = -1;
    for (uint32_t i = 0; where != NULL && where->nodeset != NULL && i < r->m->nnumas; i++) {
        const struct ct_numa *numa = &r->m->numas[i];
        if (!hwloc_bitmap_isset(where->nodeset, numa->os_index) || CPU_COUNT(&numa->cpus) == 0) {
            continue;
        }
        if (found >= 0 && !CPU_EQUAL(&numa->cpus, &r->m->numas[found].cpus)) {
            return -1;
        }
        found = found >= 0 ? found : (int16_t)i;
    }
    return found;
}

/* ---- bridges --------------------------------------------------------------------------------- */

static struct ct_pci load_hwloc_address(const struct hwloc_pcidev_attr_s *a)
{
    return (struct ct_pci){a->domain, a->bus, a->dev, a->func, true};
}

static struct ct_pci bridge_address(hwloc_obj_t o)
{
    const struct hwloc_bridge_attr_s *a = &o->attr->bridge;
    if (a->upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
        return load_hwloc_address(&a->upstream.pci);
    }
    return (struct ct_pci){.domain = a->downstream.pci.domain,
                           .bus = a->downstream.pci.secondary_bus};
}

/* The bridge next above an object, which is entered, with those above it, if it is new. -1: there
 * is none, or no room. Host bridges first, so that depth is bounded by the tree's. */
static int16_t bridge_above(struct reading *r, hwloc_obj_t o)
{
    hwloc_obj_t chain[32];
    int         n = 0;
    int16_t     above = -1;
    for (o = o->parent; o != NULL && n < (int)CT_ARRAY_LEN(chain); o = o->parent) {
        if (o->type == HWLOC_OBJ_BRIDGE && o->attr != NULL) {
            chain[n++] = o;
        }
    }
    while (n-- > 0) {
        uint32_t i = 0;
        while (i < r->m->nbridges && r->bridges[i] != chain[n]) {
            i++;
        }
        if (i == CT_MACHINE_BRIDGES) {
            r->m->left_out++;
            return -1;
        }
        if (i == r->m->nbridges) {
            r->bridges[i] = chain[n];
            r->m->bridges[i] = (struct ct_bridge){
                .pci = bridge_address(chain[n]), .parent = above, .numa = numa_of(r, chain[n])};
            r->m->nbridges++;
        }
        above = (int16_t)i;
    }
    return above;
}

/* ---- devices --------------------------------------------------------------------------------- */

static const char *load_hwloc_info(hwloc_obj_t o, const char *name)
{
    const char *value = o != NULL ? hwloc_obj_get_info_by_name(o, name) : NULL;
    return value != NULL ? value : "";
}

/* The PCI device that an OS device belongs to, or NULL. */
static hwloc_obj_t load_hwloc_pci_of(hwloc_obj_t os)
{
    for (os = os->parent; os != NULL && os->type == HWLOC_OBJ_OS_DEVICE;) {
        os = os->parent;
    }
    return os != NULL && os->type == HWLOC_OBJ_PCI_DEVICE ? os : NULL;
}

/* In hwloc 2 a device has one type, in hwloc 3 some have several, as bits; that half has been
 * compiled, with a header changed so, and never run. */
static bool is_type(hwloc_obj_t os, unsigned long type)
{
#if HWLOC_API_VERSION >= 0x00030000
    const bool is = os->attr != NULL && (os->attr->osdev.types & type) != 0;
#else
    const bool is = os->attr != NULL && (unsigned long)os->attr->osdev.type == type;
#endif
    return is && os->name != NULL;
}

/* The next OS device of the type after `os` that belongs to `pci` (NULL: to no PCI device). */
static hwloc_obj_t next_os(struct reading *r, hwloc_obj_t pci, unsigned long type, hwloc_obj_t os)
{
    while ((os = hwloc_get_next_osdev(r->t, os)) != NULL) {
        if (is_type(os, type) && load_hwloc_pci_of(os) == pci) {
            return os;
        }
    }
    return NULL;
}

static bool is_cuda(hwloc_obj_t os)
{
    return strncmp(os->name, "cuda", 4) == 0 ||
           (os->subtype != NULL && strcmp(os->subtype, "CUDA") == 0);
}

static hwloc_obj_t next_cuda(struct reading *r, hwloc_obj_t pci, hwloc_obj_t os)
{
    while ((os = next_os(r, pci, HWLOC_OBJ_OSDEV_COPROC, os)) != NULL && !is_cuda(os)) {
    }
    return os;
}

/* `os` says more of it, where hwloc has asked CUDA or NVML; `pci` or `os` may be NULL. */
static void add_gpu(struct reading *r, hwloc_obj_t pci, hwloc_obj_t cuda)
{
    const hwloc_obj_t   from = pci != NULL ? pci : cuda;
    const struct ct_pci at =
        pci != NULL ? load_hwloc_address(&pci->attr->pcidev) : (struct ct_pci){0};
    struct ct_machine_gpu *gpu = ct_machine_add_gpu(r->m, &at);
    if (gpu == NULL) {
        return;
    }
    hwloc_obj_t nvml = NULL;
    while (pci != NULL && (nvml = next_os(r, pci, HWLOC_OBJ_OSDEV_GPU, nvml)) != NULL &&
           is_cuda(nvml)) { /* which is both to hwloc 3 */
    }
    const char *names[] = {load_hwloc_info(cuda, "GPUModel"), load_hwloc_info(nvml, "GPUModel"),
                           load_hwloc_info(pci, "PCIDevice"),
                           pci != NULL && pci->name != NULL ? pci->name : ""};
    for (size_t i = 0; i < CT_ARRAY_LEN(names) && gpu->name[0] == '\0'; i++) {
        ct_machine_text(gpu->name, sizeof gpu->name, names[i]);
    }
    ct_machine_text(gpu->uuid, sizeof gpu->uuid, load_hwloc_info(nvml, "NVIDIAUUID"));
    gpu->memory_bytes = strtoull(load_hwloc_info(cuda, "CUDAGlobalMemorySize"), NULL, 10) << 10;
    gpu->numa = numa_of(r, from);
    gpu->bridge = bridge_above(r, from);
}

static uint64_t load_hwloc_guid(const char *text)
{
    uint64_t value = 0;
    for (; *text != '\0'; text++) {
        if (*text != ':') {
            const char digit[2] = {*text, '\0'};
            value = value << 4 | (strtoull(digit, NULL, 16) & 0xf);
        }
    }
    return value;
}

static const char *port_info(hwloc_obj_t os, unsigned port, const char *what)
{
    char name[32];
    snprintf(name, sizeof name, "Port%u%s", port, what);
    return load_hwloc_info(os, name);
}

static const char *slot_of(hwloc_obj_t o)
{
    const char *slot = "";
    for (; o != NULL && slot[0] == '\0'; o = o->parent) {
        slot = load_hwloc_info(o, "PCISlot");
    }
    return slot;
}

static struct ct_nic *load_hwloc_add_nic(struct reading *r, hwloc_obj_t os, enum ct_nic_kind kind,
                                         unsigned port)
{
    const hwloc_obj_t pci = load_hwloc_pci_of(os);
    struct ct_nic    *nic = ct_machine_add_nic(r->m, kind, os->name, port);
    if (nic != NULL) {
        nic->pci = pci != NULL ? load_hwloc_address(&pci->attr->pcidev) : (struct ct_pci){0};
        nic->numa = numa_of(r, os);
        nic->bridge = bridge_above(r, os);
        ct_machine_text(nic->label, sizeof nic->label, slot_of(pci));
    }
    return nic;
}

/* The network interface of a verbs device's port: the first that says so, or says nothing. */
static const char *netdev_of(struct reading *r, hwloc_obj_t pci, unsigned port)
{
    for (hwloc_obj_t net = NULL;
         pci != NULL && (net = next_os(r, pci, HWLOC_OBJ_OSDEV_NETWORK, net)) != NULL;) {
        const unsigned long given_port = strtoul(load_hwloc_info(net, "Port"), NULL, 10);
        if (given_port == port || (given_port == 0 && port == 1)) {
            return net->name;
        }
    }
    return "";
}

static void add_verbs(struct reading *r, hwloc_obj_t os)
{
    enum { INFINIBAND = 0x0207 }; /* PCI class */
    enum { ACTIVE = 4, MOST_PORTS = 255 };
    const hwloc_obj_t pci = load_hwloc_pci_of(os);
    for (unsigned port = 1; port <= MOST_PORTS; port++) {
        const char *state = port_info(os, port, "State");
        if (port > 1 && state[0] == '\0') {
            return;
        }
        struct ct_nic *nic = load_hwloc_add_nic(r, os, CT_NIC_VERBS, port);
        if (nic != NULL) {
            nic->up = state[0] == '\0' || strtol(state, NULL, 10) == ACTIVE;
            nic->ib = (pci != NULL && pci->attr->pcidev.class_id == INFINIBAND) ||
                      strtoul(port_info(os, port, "LID"), NULL, 0) != 0;
            nic->guid = load_hwloc_guid(load_hwloc_info(os, "NodeGUID"));
            ct_machine_text(nic->netdev, sizeof nic->netdev, netdev_of(r, pci, port));
        }
    }
}

static void read_gpus(struct reading *r)
{
    enum { DISPLAY = 0x03, NVIDIA = 0x10de };
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(r->t, pci)) != NULL;) {
        const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev;
        const hwloc_obj_t                 cuda = next_cuda(r, pci, NULL);
        if ((a->class_id >> 8 == DISPLAY && a->vendor_id == NVIDIA) || cuda != NULL) {
            add_gpu(r, pci, cuda);
        }
    }
    for (hwloc_obj_t cuda = NULL; (cuda = next_cuda(r, NULL, cuda)) != NULL;) {
        add_gpu(r, NULL, cuda);
    }
}

static void load_hwloc_read_nics(struct reading *r)
{
    for (hwloc_obj_t os = NULL; (os = hwloc_get_next_osdev(r->t, os)) != NULL;) {
        const hwloc_obj_t pci = load_hwloc_pci_of(os);
        if (is_type(os, HWLOC_OBJ_OSDEV_OPENFABRICS)) {
            add_verbs(r, os);
        } else if (is_type(os, HWLOC_OBJ_OSDEV_NETWORK) && strcmp(os->name, "lo") != 0 &&
                   (pci == NULL || next_os(r, pci, HWLOC_OBJ_OSDEV_OPENFABRICS, NULL) == NULL)) {
            (void)load_hwloc_add_nic(r, os, CT_NIC_ETHERNET, 1); /* no room: that is counted */
        }
    }
}

int ct_machine_from_hwloc(struct ct_machine *m, hwloc_topology_t t, const struct ct_log *log)
{
    struct reading r = {.m = m, .t = t};
    memset(m, 0, sizeof *m);
    ct_machine_text(m->source, sizeof m->source, "hwloc");
    ct_machine_text(m->host, sizeof m->host, load_hwloc_info(hwloc_get_root_obj(t), "HostName"));
    m->npackages = how_many(t, HWLOC_OBJ_PACKAGE);
    m->ncores = how_many(t, HWLOC_OBJ_CORE);
    m->npus = how_many(t, HWLOC_OBJ_PU);
    if (m->npus == 0) {
        ct_error(log, "hwloc finds no CPU on this machine: does lstopo show one?");
        return CTRAN_ERR_OTHER;
    }
    read_numas(&r);
    read_cpus(&r);
    read_gpus(&r);
    load_hwloc_read_nics(&r);
    ct_machine_settle(m);
    return CTRAN_SUCCESS;
}
