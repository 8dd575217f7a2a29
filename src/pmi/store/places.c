/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the servers of a store are, as the value of one key: a launcher that has several puts it at
 * the first of them, whose place is all that a client is told (CT_STORE_PLACES). */
#include <string.h>

#include "pmi/store/store.h"

bool ct_store_serves(uint32_t node, uint32_t nnodes)
{
    uint32_t servers = (uint32_t)ct_min_size(nnodes, CT_STORE_SERVERS_MAX);
    uint64_t k = ct_div_up((size_t)node * servers, nnodes); /* server k is on k nnodes / servers */
    return k < servers && k * nnodes / servers == node;
}

/* Each: u32 how many addresses, and these. */
uint32_t ct_store_places_pack(const struct ct_store_place *places, uint32_t n, unsigned char *out)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bytes = places[i].naddrs * (uint32_t)sizeof places[i].addrs[0];
        ct_wire_put32(out + len, places[i].naddrs);
        memcpy(out + len + 4, places[i].addrs, bytes);
        len += 4 + bytes;
    }
    return len;
}

uint32_t ct_store_places_unpack(struct ct_store_place places[CT_STORE_SERVERS_MAX],
                                const void *value, uint32_t len)
{
    const unsigned char *at = value;
    uint32_t             n = 0;
    while (len > 0) {
        struct ct_store_place *p = &places[n];
        uint32_t               naddrs = len >= 4 ? ct_wire_get32(at) : 0;
        uint32_t               bytes = naddrs * (uint32_t)sizeof p->addrs[0];
        if (n == CT_STORE_SERVERS_MAX || naddrs == 0 || naddrs > CT_WIRE_REACH_MAX ||
            len - 4 < bytes) {
            return 0;
        }
        p->naddrs = naddrs;
        memcpy(p->addrs, at + 4, bytes);
        at += 4 + bytes;
        len -= 4 + bytes;
        n++;
    }
    return n;
}
