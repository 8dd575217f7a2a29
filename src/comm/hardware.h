/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of hardware that communicators are split by, and where a process is confined to one of a
 * kind. Source: MPI-4.1 sec. 7.4.2, 9.1.2.
 */
#ifndef CT_COMM_HARDWARE_H
#define CT_COMM_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_process;

/* From the largest to the smallest. Between host and PU stand the levels of topo, whose order is
 * this one. */
enum ct_hw { CT_HW_HOST, CT_HW_PACKAGE, CT_HW_CORE = 7, CT_HW_PU, CT_HW_KINDS };

/* "mpi_shared_memory", "hwloc://Package", ... */
const char *ct_hw_name(enum ct_hw kind);
/* The kind of that name, those of Open MPI ("socket") and "hwloc://Machine" included; -1: none is
 * called so. */
int ct_hw_find(const char *name);

/* Where a process is: the number of the only object of each kind, on its host, that its CPUs are
 * part of; -1: there is none. */
struct ct_hw_place {
    uint64_t host; /* different on each */
    int16_t  at[CT_HW_KINDS], unused[3];
};

_Static_assert(sizeof(struct ct_hw_place) == 32,
               "no padding: it is sent; the shared allgather takes it");

/* That of this process, by the CPUs that its first thread may run on now. Where the machine cannot
 * be read (logged) only the host is known. Local. */
void ct_hw_place(struct ct_process *p, struct ct_hw_place *place);
/* The same in the whole job for processes at one object, and different for others. The process is
 * confined to one. */
uint64_t ct_hw_color(const struct ct_hw_place *place, enum ct_hw kind);
/* The largest kind that parts the n processes, with none of its objects having all of them; -1:
 * none. Processes with `joins` false are left out. */
int ct_hw_parts(const struct ct_hw_place *places, const bool *joins, size_t n);
/* Whether this process's host has objects of the kind at all. */
bool ct_hw_exists(struct ct_process *p, enum ct_hw kind);

#endif
