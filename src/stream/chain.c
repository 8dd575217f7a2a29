/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's place in a chain, and what its stream does there; chain.h says why. Neither two copy
 * streams down the chain, each with half, nor a part for each peer that the others pass on is
 * faster: copy engines that several use at once share less than a link.
 */
#define CT_FOLDER "stream"
#include "stream/chain.h"

enum {
    FROM = 4 << 20, /* bytes of a broadcast for which pieces pay */
    BEGIN = 2,      /* MiB that a link carries while a copy begins and ends: 5 us */
    MOST = 32,      /* pieces */
    ALIGN = 4096,
};

/* ---- the messages ---------------------------------------------------------------------------- */

bool ct_chain_wants(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    return call->kind == CT_BCAST && c->tokens.n > 2 && call->nmsgs > 0 &&
           call->msgs[0].bytes >= FROM;
}

static void add(struct ct_chain *chain, const struct ct_stream_msg *whole, bool send, uint32_t peer)
{
    struct ct_stream_msg *msg = &chain->msgs[chain->call.nmsgs++];
    *msg = *whole;
    msg->send = send;
    msg->peer = peer;
}

const struct ct_stream_call *ct_chain_of(struct ct_chain *chain, const struct ct_stream_context *c,
                                         const struct ct_stream_call *call)
{
    const uint32_t              n = c->tokens.n, me = c->tokens.me, next = (me + 1) % n;
    const struct ct_stream_msg *whole = &call->msgs[0];
    const uint32_t              root = whole->send ? me : whole->peer;
    chain->call = *call;
    chain->call.kind = CT_STREAM_CHAIN;
    chain->call.msgs = chain->msgs;
    chain->call.nmsgs = 0;
    if (me != root) {
        add(chain, whole, false, (me + n - 1) % n);
    }
    if (next != root) {
        add(chain, whole, true, next);
    }
    return &chain->call;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The last rank of n ends n - 2 pieces late, and each piece costs what a copy costs to begin: both
 * together are least where a piece is sqrt(whole * beginning / (n - 2)). The same on all ranks. */
static size_t piece_bytes(size_t bytes, uint32_t n)
{
    const size_t square = (bytes >> 20) * BEGIN / (n - 2);
    size_t       mib = 1;
    while ((mib + 1) * (mib + 1) <= square) {
        mib++;
    }
    const size_t least = (bytes + MOST - 1) / MOST;
    return ct_round_up(mib << 20 > least ? mib << 20 : least, ALIGN);
}

uint32_t ct_chain_submissions(const struct ct_stream_context *c, const struct ct_stream_call *call)
{
    enum { EACH = 3, REST = 4 }; /* waits and a copy from one side, words and a copy to the other */
    const size_t bytes = call->msgs[0].bytes, piece = piece_bytes(bytes, c->tokens.n);
    return (uint32_t)((bytes + piece - 1) / piece) * EACH + REST;
}

/* The end on one side; NULL: the chain's own is there, or it has not come as all is over. */
static const struct ct_exchange_end *end_of(const struct ct_exchange *x, bool send)
{
    for (size_t i = 0; i < x->n; i++) {
        if (x->ends[i].msg->send == send) {
            return &x->ends[i];
        }
    }
    return NULL;
}

/* The word that counts, at either end. */
static CUdeviceptr counter(const struct ct_exchange *x, const struct ct_exchange_end *e)
{
    const bool pushed = e->first != e->msg->send;
    return ct_exchange_address(x, pushed ? &e->token->done : &e->token->ready);
}

static void copy(struct ct_exchange *x, struct ct_memops *m, const struct ct_exchange_end *e,
                 size_t piece, uint32_t k)
{
    ct_exchange_flush(x, m);
    ct_exchange_copy(x, e, (k - 1) * piece, piece, m->stream);
}

/* Until piece k is this rank's. */
static void get(struct ct_exchange *x, struct ct_memops *m, const struct ct_exchange_end *e,
                size_t piece, uint32_t k)
{
    ct_memops_wait(m, counter(x, e), k);
    if (!e->first) {
        copy(x, m, e, piece, k);
    }
}

static void hand_on(struct ct_exchange *x, struct ct_memops *m, const struct ct_exchange_end *e,
                    size_t piece, uint32_t k)
{
    if (!e->first && k == 1) {
        ct_memops_take(m, ct_exchange_address(x, &e->token->ready));
    }
    if (!e->first) {
        copy(x, m, e, piece, k);
    }
    ct_memops_write(m, counter(x, e), k);
}

void ct_chain_submit(struct ct_exchange *x, struct ct_memops *m)
{
    const struct ct_exchange_end *from = end_of(x, false), *to = end_of(x, true);
    const size_t                  bytes = x->call->msgs[0].bytes;
    const size_t                  piece = piece_bytes(bytes, x->c->tokens.n);
    for (uint32_t k = 1; (k - 1) * piece < bytes; k++) {
        if (from != NULL) {
            get(x, m, from, piece, k);
        }
        if (to != NULL) {
            hand_on(x, m, to, piece, k);
        }
    }
    if (from != NULL) {
        ct_memops_write(m, counter(x, from), 0);
    }
    if (from != NULL && !from->first) {
        ct_memops_write(m, ct_exchange_address(x, &from->token->done), 1);
    }
}
