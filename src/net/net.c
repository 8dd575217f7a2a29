/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in transports, best first, and default functions for slots that a transport leaves
 * out. */
#include "net/net.h"

#include <config.h> /* the build's */

#include "net/transports.h"

/* The conformance program builds this file with its template transport. */
#ifndef CT_NET_MORE
#define CT_NET_MORE
#endif

const struct ct_net_ops *const ct_net_table[] = {
    &ct_net_self, &ct_net_shm,
#if CT_HAVE_VERBS
    &ct_net_ib,
#endif
    &ct_net_tcp,  CT_NET_MORE NULL,
};

const struct ct_net_ops *ct_net_find(const char *name)
{
    for (int i = 0; ct_net_table[i] != NULL; i++) {
        if (strcmp(ct_net_table[i]->name, name) == 0) {
            return ct_net_table[i];
        }
    }
    return NULL;
}

bool ct_net_is_left_out(const char *name)
{
    return !CT_HAVE_VERBS && strcmp(name, "ib") == 0;
}

bool ct_net_all_flushed(struct ct_net *net)
{
    (void)net;
    return true;
}

int ct_net_no_fd(struct ct_net *net)
{
    (void)net;
    return -1;
}

void ct_net_no_check(struct ct_net *net)
{
    (void)net;
}

void ct_net_no_watch(struct ct_net *net, void *peer, uint32_t id)
{
    (void)net, (void)peer, (void)id;
}

void ct_net_no_drain(struct ct_net *net, uint32_t id)
{
    (void)net, (void)id;
}

void ct_net_no_forget(struct ct_net *net, uint32_t id)
{
    (void)net, (void)id;
}

struct ct_wake *ct_net_no_wake(struct ct_net *net)
{
    (void)net;
    return NULL;
}
