/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of processes; see hardware.h. What ranks tell each other of them are numbers of one
 * machine, which all of a host have from one memory or have read alike.
 */
#define CT_FOLDER "comm"
#include "comm/hardware.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "pmi/pmi.h"
#include "topo/topo.h"

_Static_assert(CT_HW_PACKAGE + CT_LEVEL_PACKAGE == CT_HW_PACKAGE &&
                   CT_HW_PACKAGE + CT_LEVEL_CORE == CT_HW_CORE && CT_LEVELS == CT_LEVEL_CORE + 1,
               "the levels are those between host and PU");

static const struct {
    const char *name, *also; /* Open MPI's */
} kinds[CT_HW_KINDS] = {
    {"mpi_shared_memory", "hwloc://Machine"},
    {"hwloc://Package", "socket"},
    {"hwloc://Die", NULL},
    {"hwloc://NUMANode", "numanode"},
    {"hwloc://L3Cache", "l3cache"},
    {"hwloc://L2Cache", "l2cache"},
    {"hwloc://L1Cache", "l1cache"},
    {"hwloc://Core", "core"},
    {"hwloc://PU", "hwthread"},
};

const char *ct_hw_name(enum ct_hw kind)
{
    return kinds[kind].name;
}

int ct_hw_find(const char *name)
{
    for (int i = 0; i < CT_HW_KINDS; i++) {
        if (strcmp(name, kinds[i].name) == 0 ||
            (kinds[i].also != NULL && strcmp(name, kinds[i].also) == 0)) {
            return i;
        }
    }
    return -1;
}

static bool is_level(enum ct_hw kind)
{
    return kind >= CT_HW_PACKAGE && kind <= CT_HW_CORE;
}

void ct_hw_place(struct ct_process *p, struct ct_hw_place *place)
{
    const struct ct_machine *m;
    cpu_set_t                cpus;
    *place = (struct ct_hw_place){.host = p->job->local_group};
    memset(place->at, 0xff, sizeof place->at);
    place->at[CT_HW_HOST] = 0;
    if (ct_machine_here(p, &m) != CTRAN_SUCCESS) {
        return;
    }
    if (sched_getaffinity(getpid(), sizeof cpus, &cpus) != 0) {
        ct_warn(&p->log, "cannot tell on which CPUs this process may run: %s", strerror(errno));
        return;
    }
    for (int i = CT_HW_PACKAGE; i <= CT_HW_CORE; i++) {
        place->at[i] = (int16_t)ct_machine_confines(m, (enum ct_level)(i - CT_HW_PACKAGE), &cpus);
    }
    for (int i = 0; CPU_COUNT(&cpus) == 1 && i < CT_MACHINE_CPUS; i++) {
        if (CPU_ISSET(i, &cpus)) {
            place->at[CT_HW_PU] = (int16_t)i;
        }
    }
}

uint64_t ct_hw_color(const struct ct_hw_place *place, enum ct_hw kind)
{
    const uint64_t object = (uint64_t)kind << 16 | (uint16_t)place->at[kind];
    return kind == CT_HW_HOST ? place->host : (place->host ^ object) * 1099511628211u;
}

static bool is_at_one(const struct ct_hw_place *a, const struct ct_hw_place *b, enum ct_hw kind)
{
    return a->host == b->host && a->at[kind] == b->at[kind];
}

static bool parts(const struct ct_hw_place *places, const bool *joins, size_t n, enum ct_hw kind)
{
    const struct ct_hw_place *first = NULL;
    bool                      confined = false, apart = false;
    for (size_t i = 0; i < n; i++) {
        if (joins[i]) {
            first = first != NULL ? first : &places[i];
            confined = confined || places[i].at[kind] >= 0;
            apart = apart || !is_at_one(first, &places[i], kind);
        }
    }
    return confined && apart;
}

int ct_hw_parts(const struct ct_hw_place *places, const bool *joins, size_t n)
{
    for (int i = 0; i < CT_HW_KINDS; i++) {
        if (parts(places, joins, n, (enum ct_hw)i)) {
            return i;
        }
    }
    return -1;
}

bool ct_hw_exists(struct ct_process *p, enum ct_hw kind)
{
    const struct ct_machine *m;
    if (!is_level(kind) || ct_machine_here(p, &m) != CTRAN_SUCCESS) {
        return !is_level(kind);
    }
    bool found = false;
    for (int i = 0; i < CT_MACHINE_CPUS && !found; i++) {
        found = m->cpus[i].at[kind - CT_HW_PACKAGE] >= 0;
    }
    return found;
}
