/* SPDX-License-Identifier: BSD-3-Clause */
/* How libpmix's server is started: its settings, where its own words go, and its threads, which
 * take no signals. */
#ifndef CT_LAUNCHER_PMIX_LIB_H
#define CT_LAUNCHER_PMIX_LIB_H

#include <hwloc.h>
#include <stdint.h>

#include <pmix_server.h>

#include "launcher/job/job.h"

struct ct_pmix_lib_start {
    const struct ct_jobdesc *desc;
    uint32_t                 nlocal;   /* ranks of this node */
    const char              *name;     /* the server's own namespace */
    const char              *tmpdir;   /* where its files go */
    hwloc_topology_t         topology; /* the machine's, kept by libpmix; NULL: libpmix looks */
};

/* Starts the server; the environment is changed meanwhile, and as it was afterwards. Once in a
 * process. `module` and `topology` have to live until the process ends. */
pmix_status_t ct_pmix_lib_start(pmix_server_module_t           *module,
                                const struct ct_pmix_lib_start *start);

#endif
