/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of ctranrun. */
#ifndef CT_LAUNCHER_OPTIONS_H
#define CT_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "jobdesc.h"

struct ct_options {
    uint32_t     ranks;
    char       **env; /* -x: NAME=VALUE, NULL at the end */
    uint32_t     nenv;
    char        *set;        /* --set: one NAME=VALUE a line; NULL for none */
    const char  *wdir;       /* "" for none */
    uint64_t     timeout_ms; /* 0 for none */
    enum ct_bind bind;
    bool         tag_output, verbose;
    char       **argv; /* the program and its arguments */
};

/* Reads the command line; options end at the program. Returns -1 to go on, or the status to exit
 * with: 0 after --help and --version, CT_EXIT_USAGE after one line on stderr. ct_options_fini is
 * due in any case. Strings point into argv where they can. */
int  ct_options_parse(struct ct_options *o, int argc, char **argv);
void ct_options_fini(struct ct_options *o);

/* Adds NAME=VALUE to what the ranks get. Returns false when out of memory. */
bool ct_options_add_env(struct ct_options *o, const char *name, const char *value);

#endif
