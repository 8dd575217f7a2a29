/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What several processes would say alike, and one says: the first that comes. The others do not go
 * on before it is said, since one that went on and ended could end the first in the middle.
 *
 * Used by topo, for settings that a node's ranks share; the memory is in pmi's table of cards.
 */
#ifndef CT_BASE_SAY_H
#define CT_BASE_SAY_H

#include "base/log.h"
#include "base/wait.h"

enum { CT_SAY_MS = 1000 }; /* that the first may take; it needs to write a line */

/* In memory that the processes share; it begins as zeros. */
struct ct_say {
    _Atomic uint32_t state; /* see say.c */
    struct ct_wake   wake;
};

/* Logs the text as an error of `folder`, or returns when another process has logged its own. If
 * that takes longer than CT_SAY_MS, as when it has died, each says it. NULL: nobody else would say
 * it. Any thread. */
void ct_say(struct ct_say *say, const struct ct_log *log, const char *folder, const char *text);

#endif
