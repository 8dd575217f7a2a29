/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hwloc does not know of NICs, from sysfs; see load.h. A file that is missing, or says what
 * cannot be, leaves the field as it was.
 */
#define CT_FOLDER "topo"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/load.h"
#include "topo/sysfs.h"

/* While a tree is read. `device` is the verbs device whose ports are being read. */
struct reading {
    struct ct_machine   *m;
    const char          *root;
    const struct ct_log *log;
    const char          *device;
    struct ct_pci        pci;
    unsigned             port;
    char                 netdev[16];
    bool                 told; /* of a NUMA node that is not there */
};

enum { MOST_MBPS = 100 * 1000 * 1000 }; /* what is faster is not believed */

static void visit_in(struct reading *r, const char *folder,
                     void (*visit)(void *arg, const char *name))
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", r->root, folder) < (int)sizeof path) {
        ct_sysfs_each(path, visit, r);
    }
}

static struct ct_nic *load_sysfs_find(struct ct_machine *m, enum ct_nic_kind kind, const char *name,
                                      unsigned port)
{
    for (uint32_t i = 0; i < m->nnics; i++) {
        struct ct_nic *nic = &m->nics[i];
        if (nic->kind == kind && nic->port == port &&
            strncmp(nic->name, name, sizeof nic->name - 1) == 0) {
            return nic;
        }
    }
    return NULL;
}

static struct ct_nic *load_sysfs_find_or_add(struct reading *r, enum ct_nic_kind kind,
                                             const char *name, unsigned port,
                                             const struct ct_pci *pci)
{
    struct ct_nic *nic = load_sysfs_find(r->m, kind, name, port);
    if (nic == NULL && (nic = ct_machine_add_nic(r->m, kind, name, port)) != NULL) {
        nic->pci = *pci;
    }
    return nic;
}

/* ---- verbs devices --------------------------------------------------------------------------- */

/* The interface of the port, or one that does not say whose it is. */
static void take_netdev(void *arg, const char *name)
{
    struct reading *r = arg;
    const long      port = ct_sysfs_number(-1, "%s/class/net/%s/dev_port", r->root, name);
    if (r->netdev[0] == '\0' && (port < 0 ? r->port == 1 : port + 1 == (long)r->port)) {
        ct_machine_text(r->netdev, sizeof r->netdev, name);
    }
}

/* RDMA's own word first: beside the port's there may be interfaces of virtual functions. */
static void find_netdev(struct reading *r, struct ct_nic *nic)
{
    char folder[PATH_MAX];
    if (!ct_sysfs_read(r->netdev, sizeof r->netdev,
                       "%s/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0", r->root, r->device,
                       r->port) &&
        snprintf(folder, sizeof folder, "class/infiniband/%s/device/net", r->device) <
            (int)sizeof folder) {
        visit_in(r, folder, take_netdev);
    }
    if (r->netdev[0] != '\0') {
        ct_machine_text(nic->netdev, sizeof nic->netdev, r->netdev);
    }
}

static uint64_t load_sysfs_guid(const char *text)
{
    unsigned a, b, c, d;
    return sscanf(text, "%4x:%4x:%4x:%4x", &a, &b, &c, &d) == 4
               ? (uint64_t)a << 48 | (uint64_t)b << 32 | (uint64_t)c << 16 | d
               : 0;
}

/* "400 Gb/sec (4X NDR)" */
static uint32_t load_sysfs_rate(const char *text)
{
    char        *end;
    const double gbps = strtod(text, &end);
    return end != text && strncmp(end, " Gb/sec", 7) == 0 && gbps > 0 && gbps * 1000 <= MOST_MBPS
               ? (uint32_t)(gbps * 1000 + 0.5)
               : 0;
}

static void read_adapter(struct reading *r, struct ct_nic *nic)
{
    char version[32], id[32], text[64];
    ct_sysfs_read(version, sizeof version, "%s/class/infiniband/%s/fw_ver", r->root, r->device);
    ct_sysfs_read(id, sizeof id, "%s/class/infiniband/%s/board_id", r->root, r->device);
    snprintf(text, sizeof text, "%s%s%s", version, version[0] != '\0' && id[0] != '\0' ? " " : "",
             id);
    ct_machine_text(nic->firmware, sizeof nic->firmware, text);
    if (ct_sysfs_read(text, sizeof text, "%s/class/infiniband/%s/node_guid", r->root, r->device) &&
        load_sysfs_guid(text) != 0) {
        nic->guid = load_sysfs_guid(text);
    }
}

static void read_port(void *arg, const char *name)
{
    enum { ACTIVE = 4 };
    struct reading     *r = arg;
    char                text[64], *end;
    const unsigned long port = strtoul(name, &end, 10);
    if (*end != '\0' || port == 0 || port > UINT8_MAX) {
        return;
    }
    r->port = (unsigned)port;
    struct ct_nic *nic = load_sysfs_find_or_add(r, CT_NIC_VERBS, r->device, r->port, &r->pci);
    if (nic == NULL) {
        return;
    }
    char at[NAME_MAX + 32];
    snprintf(at, sizeof at, "infiniband/%.200s/ports/%u", r->device, r->port);
    if (ct_sysfs_read(text, sizeof text, "%s/class/%s/state", r->root, at)) {
        nic->up = strtol(text, NULL, 10) == ACTIVE;
    }
    if (ct_sysfs_read(text, sizeof text, "%s/class/%s/rate", r->root, at) &&
        load_sysfs_rate(text) > 0) {
        nic->speed_mbps = load_sysfs_rate(text);
    }
    if (ct_sysfs_read(text, sizeof text, "%s/class/%s/link_layer", r->root, at)) {
        nic->ib = strcmp(text, "InfiniBand") == 0;
    }
    read_adapter(r, nic);
    find_netdev(r, nic);
}

static void read_verbs(void *arg, const char *name)
{
    struct reading *r = arg;
    char            folder[PATH_MAX];
    r->device = name;
    r->pci = ct_sysfs_pci("%s/class/infiniband/%s/device", r->root, name);
    if (snprintf(folder, sizeof folder, "class/infiniband/%s/ports", name) < (int)sizeof folder) {
        visit_in(r, folder, read_port);
    }
}

/* ---- network interfaces ---------------------------------------------------------------------- */

/* The bond that an interface is a member of. */
static void read_bond(const struct reading *r, const char *name, char *bond, size_t cap)
{
    char master[NAME_MAX + 1];
    if (ct_sysfs_link(master, sizeof master, "%s/class/net/%s/master", r->root, name) &&
        ct_sysfs_is_dir("%s/class/net/%s/bonding", r->root, master)) {
        ct_machine_text(bond, cap, master);
    }
}

static bool is_up(const struct reading *r, const char *name)
{
    char state[32];
    return !ct_sysfs_read(state, sizeof state, "%s/class/net/%s/operstate", r->root, name) ||
           strcmp(state, "up") == 0 || strcmp(state, "unknown") == 0;
}

static void read_speed(const struct reading *r, const char *name, uint32_t *mbps)
{
    const long speed = ct_sysfs_number(0, "%s/class/net/%s/speed", r->root, name);
    *mbps = speed > 0 && speed <= MOST_MBPS ? (uint32_t)speed : *mbps;
}

/* Whether it is a verbs port's, which is then told its bond, or another interface of its
 * adapter. */
static bool is_of_verbs(struct reading *r, const char *name, const struct ct_pci *pci)
{
    bool found = false;
    for (uint32_t i = 0; i < r->m->nnics; i++) {
        struct ct_nic *nic = &r->m->nics[i];
        if (nic->kind == CT_NIC_VERBS && strncmp(nic->netdev, name, sizeof nic->netdev - 1) == 0) {
            read_bond(r, name, nic->bond, sizeof nic->bond);
            if (nic->speed_mbps == 0) {
                read_speed(r, name, &nic->speed_mbps);
            }
            found = true;
        }
        found = found || (nic->kind == CT_NIC_VERBS && ct_pci_equal(&nic->pci, pci));
    }
    return found;
}

/* No loopback (which is of another type), bridge or bond. */
static bool is_ethernet(const struct reading *r, const char *name)
{
    enum { ARPHRD_ETHERNET = 1 };
    return ct_sysfs_number(-1, "%s/class/net/%s/type", r->root, name) == ARPHRD_ETHERNET &&
           !ct_sysfs_is_dir("%s/class/net/%s/bridge", r->root, name) &&
           !ct_sysfs_is_dir("%s/class/net/%s/bonding", r->root, name);
}

static void add_interface(struct reading *r, const char *name, const struct ct_pci *pci)
{
    struct ct_nic *nic = load_sysfs_find_or_add(r, CT_NIC_ETHERNET, name, 1, pci);
    if (nic != NULL) {
        nic->up = is_up(r, name);
        read_speed(r, name, &nic->speed_mbps);
        read_bond(r, name, nic->bond, sizeof nic->bond);
    }
}

static void read_interface(void *arg, const char *name)
{
    struct reading     *r = arg;
    const bool          real = ct_sysfs_is_dir("%s/class/net/%s/device", r->root, name);
    const struct ct_pci pci = ct_sysfs_pci("%s/class/net/%s/device", r->root, name);
    if (!is_of_verbs(r, name, &pci) && real && is_ethernet(r, name)) {
        add_interface(r, name, &pci);
    }
}

/* Such as a container's only one. */
static void read_virtual(void *arg, const char *name)
{
    struct reading *r = arg;
    if (!ct_sysfs_is_dir("%s/class/net/%s/device", r->root, name) && is_ethernet(r, name) &&
        is_up(r, name)) {
        add_interface(r, name, &(struct ct_pci){0});
    }
}

/* ---- PCI ------------------------------------------------------------------------------------- */

/* The NUMA node that the kernel names, where hwloc could not tell. */
static void read_numa(struct reading *r, const char *at, int16_t *numa)
{
    const long     node = ct_sysfs_number(-1, "%s/bus/pci/devices/%s/numa_node", r->root, at);
    const uint32_t n = r->m->nnumas;
    for (uint32_t i = 0; *numa < 0 && i < n; i++) {
        *numa = (int16_t)(node >= 0 && r->m->numas[i].os_index == (uint64_t)node ? (int)i : -1);
    }
    if (*numa < 0 && node >= 0 && !r->told) {
        ct_warn(r->log,
                "the kernel says that PCI device %s is at NUMA node %ld, which hwloc does "
                "not find on this machine: this is not used",
                at, node);
        r->told = true;
    }
}

static void read_label(const struct reading *r, const char *at, struct ct_nic *nic)
{
    char       text[64];
    const long index = ct_sysfs_number(-1, "%s/bus/pci/devices/%s/acpi_index", r->root, at);
    if (ct_sysfs_read(text, sizeof text, "%s/bus/pci/devices/%s/label", r->root, at)) {
        ct_machine_text(nic->label, sizeof nic->label, text);
    } else if (nic->label[0] == '\0' && index >= 0) {
        snprintf(text, sizeof text, "index %ld", index);
        ct_machine_text(nic->label, sizeof nic->label, text);
    }
}

static void read_pci(struct reading *r)
{
    char at[24];
    for (uint32_t i = 0; i < r->m->ngpus; i++) {
        ct_pci_format(&r->m->gpus[i].pci, at, sizeof at);
        read_numa(r, at, &r->m->gpus[i].numa);
    }
    for (uint32_t i = 0; i < r->m->nnics; i++) {
        ct_pci_format(&r->m->nics[i].pci, at, sizeof at);
        read_numa(r, at, &r->m->nics[i].numa);
        read_label(r, at, &r->m->nics[i]);
    }
}

void ct_machine_add_sysfs(struct ct_machine *m, const char *root, const struct ct_log *log)
{
    struct reading r = {.m = m, .root = root, .log = log};
    visit_in(&r, "class/infiniband", read_verbs);
    visit_in(&r, "class/net", read_interface);
    if (m->nnics == 0) {
        visit_in(&r, "class/net", read_virtual);
    }
    read_pci(&r);
    ct_machine_settle(m);
}
