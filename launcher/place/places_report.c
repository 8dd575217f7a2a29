/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a rank in words, with the system's own numbers; see places.h. Used by plan.c. */
#include "config.h"
#include "launcher/place/places.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <stdio.h>

/* Appends as snprintf does, and stays inside the buffer. */
#define ADD(...) (len += len < cap ? (size_t)snprintf(out + len, cap - len, __VA_ARGS__) : 0)

/* "core 3" or "cores 0-1,4" of the objects of a type inside both sets. Returns the length. */
static size_t add_numbers(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_const_cpuset_t a,
                          hwloc_const_cpuset_t b, const char *word, char *out, size_t cap)
{
    hwloc_bitmap_t numbers = hwloc_bitmap_alloc();
    char           list[512];
    size_t         len = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, type, o)) != NULL;) {
        if (hwloc_bitmap_intersects(o->cpuset, a) && hwloc_bitmap_intersects(o->cpuset, b)) {
            bool known = o->os_index != HWLOC_UNKNOWN_INDEX;
            hwloc_bitmap_set(numbers, known ? o->os_index : o->logical_index);
        }
    }
    int n = hwloc_bitmap_weight(numbers);
    if (n > 0) {
        hwloc_bitmap_list_snprintf(list, sizeof list, numbers);
        ADD("%s%s %s", word, n > 1 ? "s" : "", list);
    }
    hwloc_bitmap_free(numbers);
    return len;
}

/* "core 0 of package 0, core 4 of package 1, NUMA nodes 0-1": each package numbers its cores. */
static size_t add_location(hwloc_topology_t t, hwloc_const_cpuset_t set, char *out, size_t cap)
{
    hwloc_const_cpuset_t all = hwloc_topology_get_topology_cpuset(t);
    size_t               len = 0;
    for (hwloc_obj_t o = NULL;
         len < cap && (o = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PACKAGE, o)) != NULL;) {
        if (hwloc_bitmap_intersects(o->cpuset, set)) {
            ADD("%s", len > 0 ? ", " : "");
            len += add_numbers(t, HWLOC_OBJ_CORE, set, o->cpuset, "core", out + len, cap - len);
            ADD("%spackage %u", hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE) > 0 ? " of " : "",
                o->os_index);
        }
    }
    if (len == 0) {
        len += add_numbers(t, HWLOC_OBJ_CORE, set, all, "core", out, cap);
    }
    ADD("%s", len > 0 ? ", " : "");
    if (len < cap) {
        len += add_numbers(t, HWLOC_OBJ_NUMANODE, set, all, "NUMA node", out + len, cap - len);
    }
    return len;
}

void ct_places_describe(const struct ct_places *p, uint32_t local_rank, char *out, size_t cap)
{
    const cpu_set_t *place = ct_places_of(p, local_rank);
    size_t           len = 0;
    if (place == NULL) {
        snprintf(out, cap, "not bound%s%s", p->why[0] ? ", since " : "", p->why);
        return;
    }
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    char           list[2048];
    hwloc_cpuset_from_glibc_sched_affinity(p->topology, set, place, sizeof *place);
    hwloc_bitmap_list_snprintf(list, sizeof list, set);
    ADD("cpu %s (", list);
    len += len < cap ? add_location(p->topology, set, out + len, cap - len) : 0;
    ADD(")");
    hwloc_bitmap_free(set);
}
