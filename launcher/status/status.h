/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status - what a running job tells when it is asked. ranktable.h gathers the state of all ranks
 * from all nodes, blockfile.h tells in which calls the ranks wait, tracefile.h holds their traces,
 * traces.h reads those of a node, server.h answers on the socket of a daemon, and command.h,
 * analyze.h and store_dump.h are ctranrun --status, --analyze and --store-dump, which ask there.
 */
#ifndef CT_LAUNCHER_STATUS_STATUS_H
#define CT_LAUNCHER_STATUS_STATUS_H

#include "launcher/status/blockfile.h"
#include "launcher/status/ranktable.h"
#include "launcher/status/server.h"
#include "launcher/status/command.h"
#include "launcher/status/store_dump.h"
#include "launcher/status/tracefile.h"
#include "launcher/status/traces.h"
#include "launcher/status/analyze.h"

#endif
