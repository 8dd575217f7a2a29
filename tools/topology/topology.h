/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology - what ctran_info shows of machines and clusters. A machine is this one or a synthetic
 * one, a cluster comes from labels or a description; either is shown as text, JSON or a picture.
 * Messages go to stderr.
 */
#ifndef TOPOLOGY_TOPOLOGY_H
#define TOPOLOGY_TOPOLOGY_H

#include "view.h"

struct topology_request {
    bool        json;
    const char *svg;       /* file of the picture, "-" for stdout; NULL: none */
    const char *synthetic; /* machine that is shown instead; NULL: this one */
    const char *cluster;   /* labels file or description; NULL: a machine is shown */
};

/* The machine of that name (NULL: this one) and its rails by CTRAN_NIC_MAP. False after a message;
 * after one about the map alone *v has the machine and no rails. */
bool topology_load(struct view *v, const char *synthetic, const struct ct_config *cfg,
                   const struct ct_log *log);

/* Whether *v has a machine. */
bool topology_is_there(const struct view *v);

/* Does what was asked for; false after a message. */
bool topology_show(const struct topology_request *r, const struct ct_config *cfg,
                   const struct ct_log *log);

/* A line for processors and one for each GPU and NIC, for the summary. */
void topology_summary(const struct view *v, FILE *to);

#endif
