/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machines that one does not have: NAME.xml, which hwloc reads (processors, memory, PCI, devices),
 * and beside it NAME.machine, which says what hwloc has no word for (NVLinks and domains, speeds,
 * ports, bonds, firmware). `make install` puts those of the project into PKGDATADIR/machines.
 */
#ifndef CT_TOPO_SYNTHETIC_H
#define CT_TOPO_SYNTHETIC_H

#include "topo/machine.h"

/* `name`: a machine of the project ("dgx-h100"), or the path of an .xml file. CTRAN_ERR_ARG: there
 * is none, or a file is wrong; `why` names the file, the line and the reason. */
int ct_machine_synthetic(struct ct_machine *m, const char *name, const struct ct_log *log,
                         char *why, size_t cap);

#endif
