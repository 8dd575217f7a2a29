/* SPDX-License-Identifier: BSD-3-Clause */
/* How much a connection reads at a time. */
#ifndef CT_PMI_WIRE_SCRATCH_H
#define CT_PMI_WIRE_SCRATCH_H

enum { CT_WIRE_SCRATCH = 64 * 1024 };

#endif
