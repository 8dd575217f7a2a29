/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Described machines: NAME.xml, which hwloc reads (processors, memory, PCI, devices), and beside it
 * NAME.machine with what hwloc does not describe (NVLinks and domains, speeds, ports, bonds,
 * firmware); without it these are unknown. `make install` puts those of the project into
 * PKGDATADIR/machines: dgx-h100, p4d, gb200, grace, cpu2s, laptop, broken.
 *
 * A description is a text of entries (text.h), each about devices that the XML file has:
 *
 *     gpu WHICH... KEY=VALUE...     WHICH: as in CTRAN_NIC_MAP, or * for all
 *     nic WHICH... KEY=VALUE...
 *     port NAME:PORT...             further ports of a NIC
 *
 * gpu: name, uuid, memory, domain, nvswitch=yes|no, links=N (NVLinks to each other GPU) or
 * links=GPU:N,... (to those). nic: netdev, bond, firmware, label, kind=verbs|ethernet, up=yes|no,
 * link=infiniband|ethernet, speed (100G, 800M: bits a second), guid. A value with blanks stands
 * between double quotes.
 */
#ifndef CT_TOPO_SYNTHETIC_H
#define CT_TOPO_SYNTHETIC_H

#include "topo/machine.h"

/* `name`: a machine of the project ("dgx-h100"), or the path of an .xml file (it has a slash or
 * that ending). `folder` is the value of CTRAN_MACHINES: where the project's machines are; "" or
 * NULL: where they were installed. m->source and, if the XML names no host, m->host are the
 * machine's name. CTRAN_ERR_ARG: there is none, or a file is wrong; `why` names the file, the line
 * and the reason. CTRAN_ERR_NO_MEM. */
int ct_machine_synthetic(struct ct_machine *m, const char *name, const char *folder,
                         const struct ct_log *log, char *why, size_t cap);

/* The machine that CTRAN_MACHINE names, else this one, as ct_machine_load has it; `why` is the
 * reason in both cases. CTRAN_ERR_ARG and _NO_MEM as above; CTRAN_ERR_OTHER, logged. */
int ct_machine_read(struct ct_machine *m, const struct ct_config *cfg, const struct ct_log *log,
                    char *why, size_t cap);

/* Adds what a description says; `name` is the text's, for messages. CTRAN_ERR_ARG as above, and
 * then *m has what stood before. */
int ct_machine_describe(struct ct_machine *m, const char *name, const char *text, char *why,
                        size_t cap);

#endif
