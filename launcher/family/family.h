/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * family - the jobs of a family: the job that the user has started, and the jobs that ranks have
 * spawned. jobs.h connects the heads of these jobs, published.h keeps what ranks publish by name,
 * spawned.h runs the jobs that ranks of this job have spawned, messages.h has the payloads of the
 * messages, for daemons as well.
 */
#ifndef CT_LAUNCHER_FAMILY_FAMILY_H
#define CT_LAUNCHER_FAMILY_FAMILY_H

#include "launcher/family/jobs.h"
#include "launcher/family/messages.h"
#include "launcher/family/published.h"
#include "launcher/family/spawned.h"

#endif
