/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choices - what ctran_info shows of the choice of algorithms: which would run for a collective on
 * so many ranks, and why, by the variables in force here; and the table that says so.
 */
#ifndef TOOLS_CHOICES_H
#define TOOLS_CHOICES_H

#include <stdbool.h>

#include "base/base.h"

struct choices_request {
    bool        json;
    const char *coll;  /* a collective, or "all" */
    const char *ranks; /* a number, as it was given; of the next three NULL: none was */
    const char *nodes;
    const char *size;
    const char *root;
    bool        ordered; /* with an operator that does not commute */
    bool        nonblocking;
};

/* Shows it; false after a message. */
bool choices_show(const struct choices_request *r, const struct ct_config *cfg,
                  const struct ct_log *log);

/* The table in force, in its own format; false after a message. */
bool choices_table(const struct ct_config *cfg, const struct ct_log *log);

#endif
