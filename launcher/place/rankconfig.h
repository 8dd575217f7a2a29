/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of the library as the ranks of the job's first program have them: those of the
 * daemon, then those that the job description puts into the ranks' environment (-x, --set). For
 * work that the daemon does in place of the ranks. Used by daemon/nodestore.c and limits.c.
 */
#ifndef CT_LAUNCHER_PLACE_RANKCONFIG_H
#define CT_LAUNCHER_PLACE_RANKCONFIG_H

#include "base/base.h"
#include "launcher/job/job.h"

/* Bad values are left out without a message: the ranks write the message. ct_config_fini is due. */
void ct_rankconfig_load(struct ct_config *cfg, const struct ct_jobdesc *d);

#endif
