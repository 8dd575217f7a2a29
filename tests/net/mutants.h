/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports with one fault each, which the conformance suite has to find: mutants.c. */
#ifndef CT_TESTS_NET_MUTANTS_H
#define CT_TESTS_NET_MUTANTS_H

#include "net/net.h"

struct mutant;

/* By name; NULL: there is none. */
const struct mutant *mutant_find(const char *name);
/* Puts the fault into a transport's functions. One in a process. */
void mutant_spoil(const struct mutant *m, struct ct_net_ops *ops);
/* Prints the names of those that make sense for a transport, one a line; "+" before those that
 * conform. */
void mutants_list(const char *transport);

#endif
