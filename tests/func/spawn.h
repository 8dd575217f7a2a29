/* SPDX-License-Identifier: BSD-3-Clause */
/* What parents and children of spawn.c share. */
#ifndef CT_TESTS_FUNC_SPAWN_H
#define CT_TESTS_FUNC_SPAWN_H

#include "check.h"

/* Messages and collectives over an intercommunicator, and over both groups merged, first those that
 * are `first`. All ranks of both groups call. */
void talk(ctran_comm_t inter, bool first);

/* Has all `n` ranks of an intercommunicator's local group and its `m` remote ones add up. */
void sum_of_all(ctran_comm_t inter, int n, int m);

/* A spawned process: argv has its role. The result is main's. */
int be_child(int argc, char **argv);

#endif
