/* SPDX-License-Identifier: BSD-3-Clause */
/* The transports that net.c knows. */
#ifndef CT_NET_TRANSPORTS_H
#define CT_NET_TRANSPORTS_H

#include "net/net.h"

extern const struct ct_net_ops ct_net_self;
extern const struct ct_net_ops ct_net_shm;
extern const struct ct_net_ops ct_net_ib; /* where configure has found libibverbs */
extern const struct ct_net_ops ct_net_tcp;
extern const struct ct_net_ops ct_net_template; /* tests/net/template.c */

#endif
