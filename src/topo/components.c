/* SPDX-License-Identifier: BSD-3-Clause */
/* Which components of hwloc read a machine for us; see components.h. Called before a load. */
#define CT_FOLDER "topo"
#include "topo/components.h"

#include <hwloc.h>

#include "base/base.h"

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
