/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * base - the ground floor: what every other folder stands on, and nothing that knows of ranks,
 * networks or MPI. Errors, variables, log, clock, containers, slab, waking and waiting, and the
 * process structure that ties one rank's floors together.
 *
 * This header is the folder's face: include it, not its parts.
 */
#ifndef CT_BASE_BASE_H
#define CT_BASE_BASE_H

#include "base/area.h"
#include "base/attr.h"
#include "base/auth.h"
#include "base/block.h"
#include "base/blocked.h"
#include "base/clock.h"
#include "base/codes.h"
#include "base/config.h"
#include "base/error.h"
#include "base/ifaddr.h"
#include "base/info.h"
#include "base/line.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/process.h"
#include "base/ref.h"
#include "base/request.h"
#include "base/log_once.h"
#include "base/slab.h"
#include "base/stdfd.h"
#include "base/textfile.h"
#include "base/trace.h"
#include "base/util.h"
#include "base/version.h"
#include "base/wait.h"

#endif
