/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard of the PMIx server's port: libpmix gets only connections of the job's own processes.
 *
 * The port is open to every user of the machine. libpmix 4 reads the first message of a connection
 * on the thread that serves all clients, and waits for that message without a limit: one silent
 * stranger stops the server. So ctrand defines accept(2) itself, which libpmix calls for its
 * listening socket. This accept() never blocks. It keeps each new connection until the first bytes
 * of the connection hold the job's secret name (the namespace: 128 random bits), and only then
 * hands the connection to libpmix. The bytes are peeked at and stay in the socket. A stranger's
 * connection is closed when it has sent something else, when it ends, or when there are too many.
 *
 * Other code of ctrand that accepts connections uses accept4(2).
 */
#ifndef CT_LAUNCHER_PMIX_GUARD_H
#define CT_LAUNCHER_PMIX_GUARD_H

#include <stdbool.h>

/* Guards the port that libpmix opens next, for clients that know `secret` (copied). Call once,
 * before PMIx_server_init. The guard lives until the process ends. Returns false when out of
 * memory, descriptors or threads. */
bool ct_pmix_guard_start(const char *secret);

#endif
