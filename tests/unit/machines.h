/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of topo share: hwloc XML written by hand, and machines read from it. */
#ifndef CT_TESTS_UNIT_MACHINES_H
#define CT_TESTS_UNIT_MACHINES_H

#include <hwloc.h>

#include "unit.h"

#include "topo/load.h"

/* An object of an I/O tree and what hangs below it. */
#define BRIDGE_HOST(buses, below)                                                                  \
    "<object type=\"Bridge\" gp_index=\"%u\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"" buses  \
    "\">" below "</object>"
#define BRIDGE(at, buses, below)                                                                   \
    "<object type=\"Bridge\" gp_index=\"%u\" bridge_type=\"1-1\" depth=\"1\" bridge_pci=\"" buses  \
    "\" pci_busid=\"" at "\" pci_type=\"0604 [8086:0001] [0000:0000] 01\" "                        \
    "pci_link_speed=\"0.0\">" below "</object>"
#define PCI_DEV(at, type, below)                                                                   \
    "<object type=\"PCIDev\" gp_index=\"%u\" pci_busid=\"" at "\" pci_type=\"" type                \
    " [0000:0000] a1\" pci_link_speed=\"0.0\">" below "</object>"
#define OSDEV(name, type, infos)                                                                   \
    "<object type=\"OSDev\" gp_index=\"%u\" name=\"" name "\" osdev_type=\"" type "\">" infos      \
    "</object>"
#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"
#define GPU(at)           PCI_DEV(at, "0302 [10de:2335]", INFO("PCIDevice", "H200"))
#define NET(at, name)     PCI_DEV(at, "0200 [15b3:1021]", OSDEV(name, "2", ""))
#define HCA(at, name, infos)                                                                       \
    PCI_DEV(at, "0207 [15b3:1021]", OSDEV(name, "3", infos) OSDEV("ib" name, "2", ""))

/* One CPU of a package with a NUMA node, both of number i (a digit), bit i of the sets, and I/O. */
#define SETS(bit)                                                                                  \
    " cpuset=\"" bit "\" complete_cpuset=\"" bit "\" nodeset=\"" bit "\" complete_nodeset=\"" bit  \
    "\" gp_index=\"%u\""
#define PACKAGE(i, bit, io)                                                                        \
    "<object type=\"Package\" os_index=\"" i                                                       \
    "\"" SETS(bit) ">"                                                                             \
                   "<object type=\"NUMANode\" os_index=\"" i                                       \
                   "\" local_memory=\"1073741824\"" SETS(                                          \
                       bit) "/>"                                                                   \
                            "<object type=\"Core\" os_index=\"" i                                  \
                            "\"" SETS(bit) ">"                                                     \
                                           "<object type=\"PU\" os_index=\"" i                     \
                                           "\"" SETS(bit) "/></object>" io "</object>"
#define MACHINE(bits, below)                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><topology version=\"2.0\">"                         \
    "<object type=\"Machine\" os_index=\"0\" allowed_cpuset=\"" bits "\" allowed_nodeset=\"" bits  \
    "\"" SETS(bits) ">" INFO("HostName", "paper") below "</object></topology>"

/* Loads a text whose %u become numbers of objects; NULL: hwloc does not take it. */
static inline hwloc_topology_t unit_topology(const char *pattern)
{
    static _Thread_local char text[65536];
    size_t                    len = 0;
    unsigned                  next = 1;
    for (const char *at = pattern; *at != '\0' && len < sizeof text - 16; at++) {
        if (at[0] == '%' && at[1] == 'u') {
            len += (size_t)sprintf(text + len, "%u", next++);
            at++;
        } else {
            text[len++] = *at;
        }
    }
    text[len] = '\0';
    hwloc_topology_t t;
    assert_int_equal(hwloc_topology_init(&t), 0);
    ct_machine_filter(t);
    if (hwloc_topology_set_xmlbuffer(t, text, (int)len + 1) != 0 || hwloc_topology_load(t) != 0) {
        hwloc_topology_destroy(t);
        return NULL;
    }
    return t;
}

static inline void unit_machine(struct ct_machine *m, const char *pattern, const struct ct_log *log)
{
    hwloc_topology_t t = unit_topology(pattern);
    assert_non_null(t);
    assert_int_equal(ct_machine_from_hwloc(m, t, log), CTRAN_SUCCESS);
    hwloc_topology_destroy(t);
}

#endif
