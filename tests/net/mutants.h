/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports with one fault each, which the conformance suite has to find: mutants.c. */
#ifndef CT_TESTS_NET_MUTANTS_H
#define CT_TESTS_NET_MUTANTS_H

#include "net/net.h"

/* For which transports a mutant makes sense. */
enum mutant_needs {
    MUTANT_MESSAGES, /* all */
    MUTANT_RMA,      /* those with CT_NET_RMA */
    MUTANT_ORIGIN,   /* those whose operations the origin carries out, before post returns */
    MUTANT_DEVICE,   /* of these, where there is an emulated GPU */
};

struct mutant {
    const char       *name;
    enum mutant_needs needs;
    bool              conforms; /* no fault, but another way of doing things */
    void (*spoil)(struct ct_net_ops *ops);
};

const struct mutant *mutant_find(const char *name);
/* Prints the names of those that make sense for a transport, one a line; "+" before those that
 * conform. */
void mutants_list(const char *transport);

#endif
