/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ep share of exposed regions (region.h). */
#ifndef CT_EP_REGION_OWN_H
#define CT_EP_REGION_OWN_H

#include <uthash.h>

#include "ep/ep_set.h"

struct ct_ep_region {
    struct ct_process    *p;
    struct ct_ep_exposure what;
    struct ct_area        area; /* the whole of it */
    uint64_t              key;
    bool                  listed;             /* in the table */
    struct ct_net_mr     *mr[CT_EP_MAX_NETS]; /* by transport; NULL: not registered */
    UT_hash_handle        hh;
};

/* The question of struct ct_net_env about a key. */
int ct_ep_region_area(void *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                      uint32_t access, const struct ct_area **area) CT_IN_DOMAIN;

/* Has transports refuse the key: rkey.c. */
void ct_ep_region_dereg(struct ct_ep_region *region) CT_IN_DOMAIN;
/* The peer has failed: regions that were exposed to it alone are taken out of the table. */
void ct_ep_regions_fail(struct ct_ep *ep) CT_IN_DOMAIN;
void ct_ep_regions_init(struct ct_ep_set *set) CT_IN_DOMAIN;
/* Withdraws what is left, at the end of all. */
void ct_ep_regions_fini(struct ct_ep_set *set) CT_IN_DOMAIN;

#endif
