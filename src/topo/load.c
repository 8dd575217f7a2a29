/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the machine that this process runs on; see machine.h. Called by share.c, once a node. */
#define CT_FOLDER "topo"
#include "topo/load.h"

#include <errno.h>
#include <hwloc.h>
#include <string.h>
#include <unistd.h>

#include "topo/components.h"
#include "topo/trial.h"

/* The whole machine, whatever a batch system has left of it to this process: it is the same for
 * all. */
static int read_hwloc(hwloc_topology_t t)
{
    ct_machine_filter(t);
    ct_topo_leave_out(t);
    if (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0) {
        return -1;
    }
    return hwloc_topology_load(t);
}

static int try_hwloc(void *arg)
{
    hwloc_topology_t t;
    (void)arg;
    int rc = ct_topo_init(&t);
    if (rc == 0) {
        rc = read_hwloc(t);
        hwloc_topology_destroy(t);
    }
    return rc;
}

int ct_machine_load(struct ct_machine *m, const struct ct_log *log)
{
    hwloc_topology_t t;
    if (ct_trial_is_due() && ct_trial(try_hwloc, NULL) == CT_TRIAL_ENDED) {
        ct_error(log, "hwloc crashes when it reads the file that HWLOC_XMLFILE names; write the "
                      "file with lstopo, or unset the variable");
        return CTRAN_ERR_OTHER;
    }
    if (ct_topo_init(&t) != 0) {
        ct_error(log, "hwloc cannot be used: %s", strerror(errno));
        return CTRAN_ERR_OTHER;
    }
    if (read_hwloc(t) != 0) {
        ct_error(log, "hwloc cannot read this machine: %s; does lstopo show it?", strerror(errno));
        hwloc_topology_destroy(t);
        return CTRAN_ERR_OTHER;
    }
    int rc = ct_machine_from_hwloc(m, t, log);
    /* HWLOC_XMLFILE makes it another's. */
    const bool ours = hwloc_topology_is_thissystem(t) != 0;
    hwloc_topology_destroy(t);
    if (rc == CTRAN_SUCCESS && ours) {
        ct_machine_add_sysfs(m, "/sys", log);
        ct_machine_add_nvml(m, log);
        char host[sizeof m->host] = "";
        if (gethostname(host, sizeof host - 1) == 0) {
            ct_machine_text(m->host, sizeof m->host, host);
        }
    }
    if (rc == CTRAN_SUCCESS) {
        ct_machine_complain(m, log);
    }
    return rc;
}
