/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon - the node daemon ctrand: it starts the ranks of its node (start.c), watches and ends them
 * (end.c), and runs a server of the job's key-value store (nodestore.h). state.h is what these
 * files share with ctrand.c.
 */
#ifndef CT_LAUNCHER_DAEMON_DAEMON_H
#define CT_LAUNCHER_DAEMON_DAEMON_H

#include "launcher/daemon/state.h"

#endif
