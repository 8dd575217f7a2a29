/* SPDX-License-Identifier: BSD-3-Clause */
/* A call on libpmix's thread; see shift.h. Used by publish.c, query.c, spawn.c. */
#include "config.h"
#include "launcher/pmix/shift.h"

/* libpmix has no function for just this. A call that takes back no resources goes over to libpmix's
 * thread and calls back from there. */
void ct_pmix_shift(pmix_op_cbfunc_t fn, void *arg)
{
    pmix_status_t rc = PMIx_server_deregister_resources(NULL, 0, fn, arg);
    if (rc != PMIX_SUCCESS) {
        fn(rc, arg);
    }
}
