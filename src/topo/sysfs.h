/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a sysfs tree, the kernel's or a test's. Internal to topo. */
#ifndef CT_TOPO_SYSFS_H
#define CT_TOPO_SYSFS_H

#include "topo/machine.h"

/* The first line of a file without blanks at its end, cut to `cap`. False, and "": there is no such
 * file, or it is empty, or the kernel does not answer. */
bool ct_sysfs_read(char *out, size_t cap, const char *fmt, ...) CT_PRINTF(3, 4);
/* A whole number there, decimal or with 0x; `missing` where there is none. */
long ct_sysfs_number(long missing, const char *fmt, ...) CT_PRINTF(2, 3);
bool ct_sysfs_is_dir(const char *fmt, ...) CT_PRINTF(1, 2);
/* The last component of what a symbolic link points to. False, and "": it is none. */
bool ct_sysfs_link(char *out, size_t cap, const char *fmt, ...) CT_PRINTF(3, 4);
/* The PCI device that a device (a link or folder) is, or is part of; not known where it is none. */
struct ct_pci ct_sysfs_pci(const char *fmt, ...) CT_PRINTF(1, 2);

/* Calls visit with the names in a folder, in order, without those that begin with a dot. */
void ct_sysfs_each(const char *folder, void (*visit)(void *arg, const char *name), void *arg);

#endif
