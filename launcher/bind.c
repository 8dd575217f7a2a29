/* SPDX-License-Identifier: BSD-3-Clause */
/* Cores from the affinity mask and the kernel's topology files; see bind.h. Used by procs.c. */
#include "config.h"
#include "bind.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

/* The first hardware thread of the core that a CPU belongs to. Where the kernel does not say, each
 * CPU is a core of its own. */
static int first_thread(int cpu)
{
    char path[128];
    int  first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "re");
    if (f != NULL) {
        if (fscanf(f, "%d", &first) != 1) {
            first = cpu;
        }
        fclose(f);
    }
    return first;
}

void ct_cores_init(struct ct_cores *c, enum ct_bind bind, uint32_t ranks)
{
    cpu_set_t allowed;
    *c = (struct ct_cores){0};
    if (bind == CT_BIND_NONE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    int key[CPU_SETSIZE];
    c->sets = calloc((size_t)CPU_COUNT(&allowed), sizeof *c->sets);
    for (int cpu = 0; c->sets != NULL && cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) {
            continue;
        }
        int      first = first_thread(cpu);
        uint32_t i = 0;
        while (i < c->n && key[i] != first) {
            i++;
        }
        if (i == c->n) {
            key[c->n++] = first;
        }
        CPU_SET(cpu, &c->sets[i]);
    }
    if (bind == CT_BIND_DEFAULT && ranks > c->n) {
        ct_cores_fini(c);
    }
}

void ct_cores_fini(struct ct_cores *c)
{
    free(c->sets);
    *c = (struct ct_cores){0};
}

const cpu_set_t *ct_cores_of(const struct ct_cores *c, uint32_t local_rank)
{
    return c->n > 0 ? &c->sets[local_rank % c->n] : NULL;
}

void ct_cores_format(const cpu_set_t *set, char *out, size_t cap)
{
    size_t len = 0;
    out[0] = '\0';
    for (int cpu = 0; set != NULL && cpu < CPU_SETSIZE && len < cap; cpu++) {
        if (CPU_ISSET(cpu, set)) {
            len += (size_t)snprintf(out + len, cap - len, "%s%d", len > 0 ? "," : "", cpu);
        }
    }
}
