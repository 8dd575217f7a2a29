/* SPDX-License-Identifier: BSD-3-Clause */
/* The copies of a long allreduce; handout.h says why. */
#define CT_FOLDER "stream"
#include "stream/handout.h"

#include "gpu/kernels.h"

static size_t bytes_of(const struct ct_stream_reduction *r)
{
    return r->count * r->type->size_bytes;
}

enum { FROM = 2 }; /* times CTRAN_STREAM_ENGINES that a part has */

bool ct_handout_wants(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    return r != NULL && r->kind == CT_ALLREDUCE && c->reaches_all &&
           ct_kernel_direct_part(c->tokens.n, bytes_of(r)) / FROM >=
               (size_t)c->p->cfg.stream_engines;
}

static void add(struct ct_handout *h, const struct ct_stream_reduction *r, size_t part,
                uint32_t owner, bool send, uint32_t peer)
{
    const size_t at = owner * part, bytes = bytes_of(r);
    if (at < bytes) {
        h->msgs[h->call.nmsgs++] = (struct ct_stream_msg){.peer = peer,
                                                          .send = send,
                                                          .buf = (char *)r->recv + at,
                                                          .bytes = ct_min_size(part, bytes - at)};
    }
}

const struct ct_stream_call *ct_handout_of(struct ct_handout *h, const struct ct_stream_context *c,
                                           const struct ct_stream_call *call)
{
    const struct ct_stream_reduction *r = call->reduction;
    const uint32_t                    n = c->tokens.n, me = c->tokens.me;
    const size_t                      part = ct_kernel_direct_part(n, bytes_of(r));
    h->call = (struct ct_stream_call){
        .name = call->name, .kind = CT_STREAM_HANDOUT, .msgs = h->msgs, .even = true};
    for (uint32_t i = 1; i < n; i++) { /* each rank begins with another peer */
        const uint32_t p = (me + i) % n;
        add(h, r, part, me, true, p);
        add(h, r, part, p, false, p);
    }
    return &h->call;
}
