/* SPDX-License-Identifier: BSD-3-Clause */
/* Which components of hwloc read a machine for us; see components.h. Called before a load. */
#define CT_FOLDER "topo"
#include "topo/components.h"

#include <dirent.h>
#include <hwloc.h>
#include <stdlib.h>

#include "base/base.h"

static bool has_one_thread(void)
{
    unsigned n = 0;
    DIR     *tasks = opendir("/proc/self/task");
    if (tasks == NULL) {
        return false;
    }
    for (const struct dirent *e; n < 2 && (e = readdir(tasks)) != NULL;) {
        n += e->d_name[0] != '.';
    }
    (void)closedir(tasks); /* only read */
    return n == 1;
}

int ct_topo_init(hwloc_topology_t *t)
{
    static const char name[] = "HWLOC_PLUGINS_BLACKLIST";
    const bool        quiet = ct_config_foreign(name) == NULL &&
                       ct_config_foreign("HWLOC_COMPONENTS") == NULL && has_one_thread() &&
                       setenv(name, CT_TOPO_PLUGINS, 1) == 0;
    const int rc = hwloc_topology_init(t);
    if (quiet) {
        (void)unsetenv(name); /* fails for a bad name alone */
    }
    return rc;
}

void ct_topo_leave_out(hwloc_topology_t t)
{
    static const char *const components[] = {"x86",    "pci",       "cuda", "nvml",
                                             "opencl", "levelzero", "rsmi", "gl"};
    if (ct_config_foreign("HWLOC_COMPONENTS") != NULL) {
        return;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(components); i++) {
        /* It fails for those that this hwloc does not have. */
        (void)hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                            components[i]);
    }
}

struct hwloc_topology *ct_topo_hold(void)
{
    hwloc_topology_t t;
    return ct_topo_init(&t) == 0 ? t : NULL;
}

void ct_topo_release(struct hwloc_topology *held)
{
    if (held != NULL) {
        hwloc_topology_destroy(held);
    }
}
