/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options that users of other launchers type (Open MPI, MPICH's Hydra, Slurm, torchrun). One that
 * means what an option of ours means is taken as that; one that is the default here is accepted;
 * for any other the message says our word. Used by options.c.
 */
#ifndef CT_LAUNCHER_CLI_FOREIGN_H
#define CT_LAUNCHER_CLI_FOREIGN_H

#include "launcher/cli/options.h"

struct ct_foreign {
    const char *names;  /* without dashes, with a blank between two */
    const char *ours;   /* our option of the same meaning; NULL: none */
    unsigned    values; /* the words that follow it: 0 to 2; two are NAME and VALUE */
    const char *advice; /* what to say instead; NULL: it is taken as ours, or accepted */
};

/* The option of this name, of which name_len leaves out "=value"; one dash or two. NULL: none. */
const struct ct_foreign *ct_foreign_find(const char *arg, size_t name_len);

#endif
