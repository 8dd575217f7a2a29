/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cases of cases.h share. */
#define CT_FOLDER "test"
#include "cases.h"

struct target target_make(struct world *w, size_t len_bytes, uint32_t access, uint32_t peer,
                          unsigned char fill, uint32_t slot)
{
    unsigned char  packed[CT_EP_MAX_RKEY];
    unsigned char *all = world_alloc(w, len_bytes + 2 * (size_t)GUARD);
    struct target  t = {.bytes = all + GUARD, .len_bytes = len_bytes};
    memset(all, 0xa5, len_bytes + 2 * (size_t)GUARD);
    memset(t.bytes, fill, len_bytes);
    const struct ct_ep_exposure what = {
        .base = t.bytes, .len_bytes = len_bytes, .access = access, .peer = peer};
    ct_domain_enter(&w->p);
    EQUAL(w, ct_ep_expose(&w->p, &what, &t.region), CTRAN_SUCCESS);
    world_give(w, slot, packed, ct_ep_region_pack(t.region, packed));
    ct_domain_leave(&w->p);
    return t;
}

void target_drop(struct world *w, struct target *t)
{
    CHECK(w, target_is_guarded(t));
    ct_domain_enter(&w->p);
    ct_ep_withdraw(t->region);
    ct_domain_leave(&w->p);
    t->region = NULL;
}

bool target_is_guarded(const struct target *t)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (t->bytes[-(ptrdiff_t)i - 1] != 0xa5 || t->bytes[t->len_bytes + i] != 0xa5) {
            return false;
        }
    }
    return true;
}

int key_try(struct world *w, uint32_t from, const void *bytes, size_t len_bytes,
            struct ct_ep_rkey **rkey)
{
    ct_domain_enter(&w->p);
    const int rc = ct_ep_rkey_open(world_ep(w, from), bytes, len_bytes, rkey);
    ct_domain_leave(&w->p);
    return rc;
}

struct ct_ep_rkey *key_open(struct world *w, uint32_t from, uint32_t slot)
{
    struct ct_ep_rkey         *rkey = NULL;
    const struct world_record *key = world_take(w, from, slot);
    EQUAL(w, key_try(w, from, key->bytes, key->len_bytes, &rkey), CTRAN_SUCCESS);
    return rkey;
}

void key_close(struct world *w, struct ct_ep_rkey *rkey)
{
    ct_domain_enter(&w->p);
    ct_ep_rkey_close(rkey);
    ct_domain_leave(&w->p);
}

void do_start(struct world *w, struct ct_ep_rma *op)
{
    ct_domain_enter(&w->p);
    op->net.comp->pending++;
    ct_ep_rma(op);
    ct_domain_leave(&w->p);
}

static int do_copy(struct world *w, enum ct_net_op kind, struct ct_ep_rkey *rkey, uint64_t offset,
                   void *at, size_t len)
{
    struct ct_net_comp   comp = {.pending = 0};
    const struct ct_area area = {.base = at, .len_bytes = len};
    struct ct_ep_rma     op = {
            .net = {.op = kind, .offset = offset, .comp = &comp, .area = &area, .len_bytes = len},
            .rkey = rkey};
    do_start(w, &op);
    return world_wait(w, &comp);
}

int do_put(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, void *from, size_t len)
{
    return do_copy(w, CT_NET_OP_PUT, rkey, offset, from, len);
}

int do_get(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, void *to, size_t len)
{
    return do_copy(w, CT_NET_OP_GET, rkey, offset, to, len);
}

int do_atomic(struct world *w, struct ct_ep_rkey *rkey, uint64_t offset, enum ct_net_atomic op,
              unsigned size, uint64_t operand, uint64_t compare, void *result)
{
    struct ct_net_comp comp = {.pending = 0};
    struct ct_ep_rma   rma = {.net = {.op = CT_NET_OP_ATOMIC,
                                      .offset = offset,
                                      .comp = &comp,
                                      .atomic = op,
                                      .size_bytes = (uint8_t)size,
                                      .operand = operand,
                                      .compare = compare,
                                      .result = result},
                              .rkey = rkey};
    do_start(w, &rma);
    return world_wait(w, &comp);
}

int do_flush(struct world *w, uint32_t peer)
{
    struct ct_net_comp comp = {.pending = 1};
    ct_domain_enter(&w->p);
    ct_ep_flush(world_ep(w, peer), &comp);
    ct_domain_leave(&w->p);
    return world_wait(w, &comp);
}

void do_fence(struct world *w, uint32_t peer)
{
    ct_domain_enter(&w->p);
    EQUAL(w, ct_ep_fence(world_ep(w, peer)), CTRAN_SUCCESS);
    ct_domain_leave(&w->p);
}
