/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * family - the jobs of a family: the one that the user has started, and those that ranks have
 * spawned. jobs.h connects the heads of these jobs, published.h keeps what ranks publish by name,
 * spawned.h runs the jobs that ranks of this one have spawned.
 */
#ifndef CT_LAUNCHER_FAMILY_FAMILY_H
#define CT_LAUNCHER_FAMILY_FAMILY_H

#include "launcher/family/jobs.h"
#include "launcher/family/published.h"
#include "launcher/family/spawned.h"

#endif
