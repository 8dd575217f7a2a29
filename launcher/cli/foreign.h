/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of other launchers (Open MPI, MPICH's Hydra, Slurm, torchrun). An option that means what
 * an option of ctranrun means is taken as that option. An option that asks for the default is
 * accepted. For any other option the message names the option of ctranrun. Used by options.c.
 */
#ifndef CT_LAUNCHER_CLI_FOREIGN_H
#define CT_LAUNCHER_CLI_FOREIGN_H

#include "launcher/cli/options.h"

struct ct_foreign {
    const char *names;  /* without dashes, with a blank between two names */
    const char *ours;   /* the option of ctranrun with that meaning; NULL: none */
    unsigned    values; /* the words that follow it: 0 to 2; two are NAME and VALUE */
    const char
        *advice; /* what to write instead; NULL: the option is taken as `ours`, or accepted */
};

/* Returns the option of this name, with one dash or two. name_len leaves out "=value". NULL:
 * none. */
const struct ct_foreign *ct_foreign_find(const char *arg, size_t name_len);

#endif
