/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports with one fault each, which the conformance suite has to find: mutants.c. */
#ifndef CT_TESTS_NET_MUTANTS_H
#define CT_TESTS_NET_MUTANTS_H

#include "net/net.h"

struct mutant {
    const char *name;
    bool        one_sided; /* of a transport with CT_NET_RMA */
    bool        conforms;  /* no fault, but another way of doing things */
    void (*spoil)(struct ct_net_ops *ops);
};

const struct mutant *mutant_find(const char *name);
/* Prints the names of those that make sense for a transport, one a line; "+" before those that
 * conform. */
void mutants_list(const char *transport);

#endif
