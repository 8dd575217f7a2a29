/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts libpmix's server: its settings, where its own messages go, and its threads, which take no
 * signals. */
#ifndef CT_LAUNCHER_PMIX_LIB_H
#define CT_LAUNCHER_PMIX_LIB_H

#include <hwloc.h>
#include <stdint.h>

#include <pmix_server.h>

#include "launcher/job/job.h"

struct ct_pmix_lib_start {
    const struct ct_jobdesc *desc;
    uint32_t                 nlocal; /* the number of this node's ranks */
    const char              *name;   /* the name of the server for PMIx */
    const char              *tmpdir; /* where its files go */
    hwloc_topology_t
        topology; /* of the machine, kept by libpmix; NULL: libpmix reads the machine itself */
};

/* Starts the server. Changes the environment during the call, and restores it. Call once in a
 * process. `module` and `topology` must live until the process ends. */
pmix_status_t ct_pmix_lib_start(pmix_server_module_t           *module,
                                const struct ct_pmix_lib_start *start);

#endif
