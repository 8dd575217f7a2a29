/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of region.h: keys of transient buffers, by their top byte, and exposed regions. */
#define CT_FOLDER "ep"
#include <assert.h>
#include <stdlib.h>

#include "ep/rma_own.h"

/* ---- keys of transient buffers --------------------------------------------------------------- */

enum { USER_SHIFT = 56 };

uint64_t ct_ep_register_keys(struct ct_process *p, const struct ct_ep_keys *keys)
{
    struct ct_ep_set *set = p->ep;
    assert(set->nkeys < CT_EP_MAX_KEY_USERS);
    set->keys[set->nkeys] = keys;
    return (uint64_t)set->nkeys++ << USER_SHIFT;
}

/* Whose key that is; NULL: no user's. */
static const struct ct_ep_keys *user_of(const struct ct_ep_set *set, uint64_t key)
{
    const uint64_t i = key >> USER_SHIFT;
    return i < set->nkeys ? set->keys[i] : NULL;
}

const struct ct_area *ct_ep_keys_place(void *peer, uint64_t key, uint64_t offset, size_t len_bytes)
{
    struct ct_ep            *ep = peer;
    const struct ct_ep_keys *keys = user_of(ep->p->ep, key);
    return ep->state != CT_EP_FAILED && keys != NULL ? keys->place(ep, key, offset, len_bytes)
                                                     : NULL;
}

void ct_ep_keys_placed(void *peer, uint64_t key, size_t len_bytes)
{
    struct ct_ep *ep = peer;
    if (ep->state != CT_EP_FAILED) {
        user_of(ep->p->ep, key)->placed(ep, key, len_bytes); /* it has placed them */
    }
}

/* Of one that has failed, too: until that is told its reads go on. */
int ct_ep_keys_announced(void *peer, const struct ct_net_remote *what)
{
    struct ct_ep            *ep = peer;
    const struct ct_ep_keys *keys = user_of(ep->p->ep, what->token);
    return keys != NULL ? keys->announced(ep, what) : CT_AGAIN;
}

/* ---- exposed regions ------------------------------------------------------------------------- */

/* The top byte of a region's key: no user's. */
static const uint64_t REGION = UINT64_C(0xff) << USER_SHIFT;

int ct_ep_expose(struct ct_process *p, const struct ct_ep_exposure *what,
                 struct ct_ep_region **region)
{
    if (what->base == NULL || what->len_bytes == 0 ||
        what->len_bytes > UINTPTR_MAX - (uintptr_t)what->base) {
        return CTRAN_ERR_ARG;
    }
    struct ct_ep_region *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    r->p = p;
    r->what = *what;
    r->key = REGION | ++p->ep->last_region;
    r->area = (struct ct_area){.base = what->base, .len_bytes = what->len_bytes};
    ct_area_set_memory(&r->area, ct_memory_of(p, what->base));
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
    free(region);
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
    if (r == NULL || !is_allowed(r, peer, access) || offset > r->area.len_bytes ||
        len_bytes > r->area.len_bytes - offset) {
        return CT_REFUSED;
    }
    *region = r;
    return CTRAN_SUCCESS;
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

void ct_ep_regions_fini(struct ct_ep_set *set)
{
    struct ct_ep_region *r, *next;
    HASH_ITER (hh, set->regions, r, next) {
        ct_ep_withdraw(r);
    }
}
