/* SPDX-License-Identifier: BSD-3-Clause */
/* The copies of long reductions; halves.h says why. */
#define CT_FOLDER "stream"
#include "stream/halves.h"

#include "gpu/kernels.h"

enum { /* times CTRAN_STREAM_ENGINES that what a rank combines has */
       HAND_OUT_FROM = 2,
       GIVE_FROM = 8,
};

static size_t bytes_of(const struct ct_stream_reduction *r)
{
    return r->count * r->type->size_bytes;
}

static bool has(const struct ct_stream_context *c, size_t bytes, size_t times)
{
    return c->reaches_all && bytes / times >= (size_t)c->p->cfg.stream_engines;
}

bool ct_halves_give(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    return r != NULL && r->kind == CT_REDUCE_SCATTER && r->counts == NULL && c->tokens.n > 2 &&
           has(c, bytes_of(r), GIVE_FROM);
}

bool ct_halves_hand_out(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    return r != NULL && r->kind == CT_ALLREDUCE &&
           has(c, ct_kernel_direct_part(c->tokens.n, bytes_of(r)), HAND_OUT_FROM);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void start(struct ct_half *h, const struct ct_stream_call *call)
{
    h->call = (struct ct_stream_call){.name = call->name, .kind = CT_STREAM_HALF, .msgs = h->msgs};
}

static void add(struct ct_half *h, bool send, uint32_t peer, void *buf, size_t bytes)
{
    h->msgs[h->call.nmsgs++] =
        (struct ct_stream_msg){.peer = peer, .send = send, .buf = buf, .bytes = bytes};
}

const struct ct_stream_call *ct_half_giving(struct ct_half *h, const struct ct_stream_context *c,
                                            const struct ct_stream_call *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    const uint32_t                    n = c->tokens.n, me = c->tokens.me, next = (me + 1) % n;
    const size_t                      bytes = bytes_of(r);
    start(h, call);
    add(h, true, next, (char *)(uintptr_t)r->send + next * bytes, bytes); /* it is only read */
    add(h, false, (me + n - 1) % n, r->recv, bytes);
    return &h->call;
}

/* The part of a rank, if the vector does not end before. */
static void add_part(struct ct_half *h, const struct ct_stream_reduction *r, size_t part,
                     uint32_t owner, bool send, uint32_t peer)
{
    const size_t at = owner * part, bytes = bytes_of(r);
    if (at < bytes) {
        add(h, send, peer, (char *)r->recv + at, ct_min_size(part, bytes - at));
    }
}

const struct ct_stream_call *ct_half_handing_out(struct ct_half                 *h,
                                                 const struct ct_stream_context *c,
                                                 const struct ct_stream_call    *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    const uint32_t                    n = c->tokens.n, me = c->tokens.me;
    const size_t                      part = ct_kernel_direct_part(n, bytes_of(r));
    start(h, call);
    for (uint32_t i = 1; i < n; i++) { /* each rank begins with another peer */
        const uint32_t p = (me + i) % n;
        add_part(h, r, part, me, true, p);
        add_part(h, r, part, p, false, p);
    }
    return &h->call;
}
