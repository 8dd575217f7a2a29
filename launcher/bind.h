/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cores for ranks. A core is the set of its hardware threads that this process may use; cores are
 * numbered in the order of their first thread. Rank i of the node gets core i, and round again
 * where there are more ranks than cores.
 */
#ifndef CT_LAUNCHER_BIND_H
#define CT_LAUNCHER_BIND_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "jobdesc.h"

struct ct_cores {
    cpu_set_t *sets; /* one a core; NULL: no binding */
    uint32_t   n;
};

/* Finds the cores, if `bind` and the number of ranks want them: by default ranks are bound when
 * each can have a core of its own. */
void ct_cores_init(struct ct_cores *c, enum ct_bind bind, uint32_t ranks);
void ct_cores_fini(struct ct_cores *c);

/* The CPUs of the local rank, NULL when it is not bound. */
const cpu_set_t *ct_cores_of(const struct ct_cores *c, uint32_t local_rank);

/* "0,4" */
void ct_cores_format(const cpu_set_t *set, char *out, size_t cap);

#endif
