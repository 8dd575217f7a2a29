/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of libpmix's server; see lib.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/lib.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "launcher/launcher.h"

static const char *const STORE_VARIABLE = "PMIX_MCA_gds";

/* The form of lists of hosts. libpmix 4.2.2's own short form loses what follows the number in
 * "h3.lab", and a rank there then finds no host. */
static const char *const LIST_VARIABLE = "PMIX_MCA_preg";

/* How clients get the job's data: by message (hash), or from shared memory (ds21), which costs
 * 10 ms more and does not grow with the square of the ranks. Whole jobs on 2 cores, hash against
 * ds21: 8 ranks 38 and 44 ms, 32: 88 and 94, 64: 176 and 159, 256: 760 and 565. A user's choice
 * stands. Returns whether there was none. */
static bool choose_store(uint32_t nlocal)
{
    bool mine = getenv(STORE_VARIABLE) == NULL;
    if (mine) {
        setenv(STORE_VARIABLE, nlocal < CT_PMIX_SHARED_FROM ? "hash" : "ds21,hash", 1);
    }
    return mine;
}

/* libpmix prints a line of its own when a client dies while it connects. The head reports what that
 * means for the job, so libpmix prints to a file in the session directory, or with -v to standard
 * error. libpmix reads the variable once, in PMIx_server_init. */
static void divert_words(bool verbose, const char *tmpdir)
{
    char path[PATH_MAX + 16], number[16];
    snprintf(path, sizeof path, "%s/pmix.log", tmpdir);
    int fd = verbose ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        snprintf(number, sizeof number, "%d", fd);
        setenv("PMIX_OUTPUT_STDERR_FD", number, 1);
    }
}

pmix_status_t ct_pmix_lib_start(pmix_server_module_t *module, const struct ct_pmix_lib_start *start)
{
    static pmix_topology_t machine; /* libpmix keeps the address */
    pmix_info_t            info[6];
    size_t                 n = 5;
    pmix_rank_t            rank = start->desc->me;
    bool mine = choose_store(start->nlocal), plain = getenv(LIST_VARIABLE) == NULL;
    if (plain) {
        setenv(LIST_VARIABLE, "raw", 1);
    }
    divert_words(start->desc->verbose, start->tmpdir);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, start->tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, start->tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_NSPACE, start->name, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[4], PMIX_HOSTNAME, start->desc->nodes[rank].host, PMIX_STRING);
    if (start->topology != NULL && hwloc_topology_is_thissystem(start->topology)) {
        /* by hand: PMIX_INFO_LOAD would copy the topology, and libpmix keeps what it is given */
        machine.source = (char *)(uintptr_t) "hwloc";
        machine.topology = start->topology;
        PMIX_INFO_CONSTRUCT(&info[n]);
        PMIX_LOAD_KEY(info[n].key, PMIX_TOPOLOGY2);
        info[n].value.type = PMIX_TOPO;
        info[n].value.data.topo = &machine;
        n++;
    }

    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before); /* its threads must take no signals of the daemon */
    pmix_status_t rc = PMIx_server_init(module, info, n);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (mine) {
        unsetenv(STORE_VARIABLE); /* it is no choice for jobs that the ranks start */
    }
    if (plain) {
        unsetenv(LIST_VARIABLE);
    }
    unsetenv("PMIX_OUTPUT_STDERR_FD"); /* the ranks have another descriptor of that number */
    for (size_t i = 0; i < 5; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    return rc;
}
