/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of region.h. */
#define CT_FOLDER "ep"
#include "ep/rma_own.h"

/* A key's top byte is not 0, so that no number that is used otherwise passes for one. */
static const uint64_t REGION = UINT64_C(0xff) << 56;

int ct_ep_expose(struct ct_process *p, const struct ct_ep_exposure *what,
                 struct ct_ep_region **region)
{
    const struct ct_area *area = what->area;
    if (area == NULL && (what->base == NULL || what->len_bytes == 0 ||
                         what->len_bytes > UINTPTR_MAX - (uintptr_t)what->base)) {
        return CTRAN_ERR_ARG;
    }
    struct ct_ep_region *r = ct_slab_get(&p->ep->region_slab);
    if (r == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    r->p = p;
    r->what = *what;
    r->key = REGION | ++p->ep->last_region;
    memset(r->mr, 0, sizeof r->mr);
    if (area != NULL) {
        ct_area_copy(&r->area, area);
    } else {
        r->area = (struct ct_area){.base = what->base, .len_bytes = what->len_bytes};
        ct_area_set_memory(&r->area, ct_memory_of(p, what->base));
    }
    HASH_ADD(hh, p->ep->regions, key, sizeof r->key, r);
    r->listed = true;
    *region = r;
    return CTRAN_SUCCESS;
}

/* Peers find it no more. */
static void unlist(struct ct_ep_region *r) CT_IN_DOMAIN
{
    if (r->listed) {
        HASH_DEL(r->p->ep->regions, r);
        ct_ep_region_dereg(r);
        ct_ep_rma_withdrawn(r);
        r->listed = false;
    }
}

void ct_ep_withdraw(struct ct_ep_region *region)
{
    unlist(region);
    ct_slab_put(&region->p->ep->region_slab, region);
}

uint64_t ct_ep_region_key(const struct ct_ep_region *region)
{
    return region->key;
}

void *ct_ep_region_arg(const struct ct_ep_region *region)
{
    return region->what.arg;
}

static bool is_allowed(const struct ct_ep_region *r, const struct ct_ep *peer, uint32_t access)
{
    return (r->what.peer == CT_EP_ANY_PEER || r->what.peer == peer->id) &&
           (r->what.access & access) == access;
}

int ct_ep_region_find(const struct ct_ep *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                      uint32_t access, struct ct_ep_region **region)
{
    struct ct_ep_region *r = NULL;
    HASH_FIND(hh, peer->p->ep->regions, &key, sizeof key, r);
    if (r == NULL) {
        return CT_AGAIN;
    }
    if (!is_allowed(r, peer, access) || offset > r->area.len_bytes ||
        len_bytes > r->area.len_bytes - offset) {
        return CT_REFUSED;
    }
    *region = r;
    return CTRAN_SUCCESS;
}

int ct_ep_region_area(void *peer, uint64_t key, uint64_t offset, uint64_t len_bytes,
                      uint32_t access, const struct ct_area **area)
{
    struct ct_ep_region *region;
    const int            rc = ct_ep_region_find(peer, key, offset, len_bytes, access, &region);
    *area = rc == CTRAN_SUCCESS ? &region->area : NULL;
    return rc;
}

void ct_ep_regions_fail(struct ct_ep *ep)
{
    struct ct_ep_region *r, *next;
    HASH_ITER (hh, ep->p->ep->regions, r, next) {
        if (r->what.peer == ep->id) {
            unlist(r);
        }
    }
}

void ct_ep_regions_init(struct ct_ep_set *set)
{
    ct_slab_init(&set->region_slab, sizeof(struct ct_ep_region), 32);
    ct_slab_init(&set->rkey_slab, sizeof(struct ct_ep_rkey), 32);
}

void ct_ep_regions_fini(struct ct_ep_set *set)
{
    struct ct_ep_region *r, *next;
    HASH_ITER (hh, set->regions, r, next) {
        ct_ep_withdraw(r);
    }
}
