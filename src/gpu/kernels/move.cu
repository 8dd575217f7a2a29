/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that move: what goes to each peer, what comes from each, in one launch. Allgather,
 * alltoall, broadcast, shifts and barriers are all of these. ct_move_short and ct_move_flagged are
 * for latency, ct_move_ll32 for what is some hundred KiB, ct_move_bulk for what is longer; args.h
 * tells of the kinds of items.
 */
#include "gpu/kernels/flagged.cuh"
#include "gpu/kernels/pipeline.cuh"
#include "gpu/kernels/ll32_calls.cuh"
#include "gpu/kernels/short.cuh"

/* How many items this block sends to each peer, and gets; in shared memory. */
struct counts {
    uint32_t out[CT_KERNEL_RANKS], in[CT_KERNEL_RANKS];
};

CT_DEV void count_items(const struct ct_kernel_args &a, struct counts *counts)
{
    for (uint32_t p = thread(); p < a.comm.size; p += threads()) {
        const struct slice out = slice_of(a.move[p].send_bytes, a.each_bytes);
        const struct slice in_ = slice_of(a.move[p].recv_bytes, a.each_bytes);
        counts->out[p] = items_of(out, a.item_bytes);
        counts->in[p] = items_of(in_, a.item_bytes);
    }
}

CT_DEV struct slice move_piece(const struct ct_kernel_args &a, uint64_t bytes, uint32_t step)
{
    return piece_of(slice_of(bytes, a.each_bytes), step, a.item_bytes);
}

/* What stays on this rank. */
CT_DEV void copy_own(const struct ct_kernel_args &a, struct slice piece, uint32_t t, uint32_t all)
{
    const struct ct_kernel_move *own = &a.move[a.comm.rank];
    if (own->dst != own->src && piece.bytes > 0) {
        copy_bytes(static_cast<char *>(own->dst) + piece.at,
                   static_cast<const char *>(own->src) + piece.at, piece.bytes, t, all);
    }
}

/* The same of flagged items: what a thread begins with is asked for before all else. */
struct own_unit {
    struct slice piece;
    vec          first;
};

CT_DEV struct own_unit own_unit_of(const struct ct_kernel_args &a)
{
    const struct ct_kernel_move *own = &a.move[a.comm.rank];
    const uint64_t               at = (uint64_t)thread() * 16;
    struct own_unit u = {slice_of(own->dst != own->src ? own->send_bytes : 0, a.each_bytes),
                         {{0, 0, 0, 0}}};
    if (at < u.piece.bytes) {
        u.first =
            load_some(static_cast<const char *>(own->src) + u.piece.at + at, u.piece.bytes - at);
    }
    return u;
}

CT_DEV void store_own(const struct ct_kernel_args &a, const struct own_unit *u)
{
    const struct ct_kernel_move *own = &a.move[a.comm.rank];
    const uint64_t               at = (uint64_t)thread() * 16, all = (uint64_t)threads() * 16;
    char *const                  dst = static_cast<char *>(own->dst) + u->piece.at;
    if (at < u->piece.bytes) {
        const uint64_t left = u->piece.bytes - at;
        store_some(dst + at, u->first, left < 16 ? left : 16);
    }
    if (u->piece.bytes > all) {
        copy_bytes(dst + all, static_cast<const char *>(own->src) + u->piece.at + all,
                   u->piece.bytes - all, thread(), threads());
    }
}

/* Those of a mask to whom (`out`), or from whom, this block has an item in a step. */
CT_DEV uint32_t having(const struct ct_kernel_args &a, bool out, uint32_t mask, uint32_t step)
{
    uint32_t still = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint32_t p = members((left & (0u - left)) - 1);
        const uint64_t bytes = out ? a.move[p].send_bytes : a.move[p].recv_bytes;
        still |= (uint32_t)has_item(slice_of(bytes, a.each_bytes), step, a.item_bytes) << p;
    }
    return still;
}

CT_KERNEL(ct_move_flagged, struct ct_kernel_args)
{
    CT_CHANNEL(ch, a.comm, 0);
    const vec       asked = ask_words(&a.comm);
    struct own_unit own = own_unit_of(a);
    uint32_t        to = having(a, true, a.to, 0), from = having(a, false, a.from, 0);
    struct outgoing o = outgoing_of(a, to, 0);
    channel_open(&ch, to, from, asked);
    for (uint32_t step = 0;; step++) {
        send_outgoing(&ch, &o);
        const uint32_t to_next = having(a, true, to, step + 1);
        const uint32_t from_next = having(a, false, from, step + 1);
        const bool     last = (to_next | from_next) == 0;
        if (last) {
            channel_close_ahead(&ch, to, from);
        }
        if (step == 0) {
            store_own(a, &own);
        }
        for (struct share s = share_of(from, a.comm.rank); share_next(&s);) {
            const struct slice piece = move_piece(a, a.move[s.peer].recv_bytes, step);
            recv_flagged(&ch, &s, static_cast<char *>(a.move[s.peer].dst) + piece.at, piece.bytes);
        }
        if (last) {
            break;
        }
        next_step(&ch, to, from, to_next);
        to = to_next;
        from = from_next;
        o = outgoing_of(a, to, step + 1);
    }
    signal_over(&a.comm);
}

/* What a thread does in ct_move_short. */
struct moving_short {
    struct own_unit_place own;
    vec                   unit; /* what is copied */

    __device__ __forceinline__ void find(const struct ct_kernel_short &a, const struct slot *s,
                                         uint32_t at)
    {
        own = own_of(a, s, at);
    }

    __device__ __forceinline__ void load(const struct ct_kernel_short &a)
    {
        unit = load_unit(own.src, a.own ? own.bytes : 0, a.vectors);
    }

    __device__ __forceinline__ void keep(const struct ct_kernel_short &a)
    {
        put_unit(own.dst, a.own ? own.bytes : 0, a.vectors, unit);
    }

    template <unsigned N>
    __device__ __forceinline__ void show(const struct slot *, const struct party (&)[N])
    {
    }

    template <unsigned N>
    __device__ __forceinline__ void take(const struct ct_kernel_short &a, const struct slot *,
                                         const struct party (&p)[N])
    {
        CT_UNROLL
        for (uint32_t k = 0; k < N; k++) {
            if (p[k].from) {
                put_unit(p[k].dst, p[k].gets, a.vectors, p[k].unit);
            }
        }
    }
};

CT_KERNEL_EARLY(ct_move_short, struct ct_kernel_short)
{
    struct moving_short work;
    run_short(a, &work);
}

struct moving {
    const struct ct_kernel_args *a;
    const struct counts         *counts;
    uint32_t                     to, takes, steps;
    uint32_t                     senders, takers;

    enum { from = 0, result_to = 0, results = 0 };

    __device__ __forceinline__ uint32_t out_steps(uint32_t p) const
    {
        return counts->out[p];
    }
    __device__ __forceinline__ uint32_t in_steps(uint32_t p) const
    {
        return counts->in[p];
    }
    __device__ __forceinline__ const char *out(uint32_t p, uint32_t step, uint64_t *bytes) const
    {
        const struct slice piece = move_piece(*a, a->move[p].send_bytes, step);
        *bytes = piece.bytes;
        return static_cast<const char *>(a->move[p].src) + piece.at;
    }
    __device__ __forceinline__ char *in(uint32_t p, uint32_t step, uint64_t *bytes) const
    {
        const struct slice piece = move_piece(*a, a->move[p].recv_bytes, step);
        *bytes = piece.bytes;
        return static_cast<char *>(a->move[p].dst) + piece.at;
    }
    __device__ __forceinline__ void fold(struct channel *, uint32_t step, uint32_t warp,
                                         uint32_t warps) const
    {
        copy_own(*a, move_piece(*a, a->move[a->comm.rank].send_bytes, step),
                 warp * LANES + thread() % LANES, warps * LANES);
    }
};

/* What stays here is copied by those that are left, and by one at least. */
CT_DEV void share_warps(struct moving *m)
{
    const struct ct_kernel_move *own = &m->a->move[m->a->comm.rank];
    const uint32_t               copies = own->dst != own->src && own->send_bytes > 0;
    const uint32_t               warps = CT_KERNEL_THREADS / 32 - PUBLISHERS - 1 + copies;
    const uint32_t               shares = (m->to != 0) + (m->takes != 0) + copies;
    const uint32_t               each = warps / (shares > 0 ? shares : 1);
    m->senders = m->to != 0 ? each : 0;
    m->takers = m->takes != 0 ? each : 0;
}

CT_KERNEL(ct_move_bulk, struct ct_kernel_args)
{
    CT_CHANNEL(ch, a.comm, a.item_bytes);
    __shared__ struct counts counts;
    count_items(a, &counts);
    __syncthreads();
    struct moving m = {&a, &counts, having(a, true, a.to, 0), having(a, false, a.from, 0), 0, 0, 0};
    for (uint32_t p = 0; p < a.comm.size; p++) {
        const uint32_t out = in(m.to, p) || p == a.comm.rank ? counts.out[p] : 0;
        const uint32_t in_ = in(m.takes, p) ? counts.in[p] : 0;
        const uint32_t more = out > in_ ? out : in_;
        m.steps = m.steps > more ? m.steps : more;
    }
    share_warps(&m);
    channel_open(&ch, 0, m.takes, ask_words(&a.comm));
    pipeline(&ch, &m);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Of a broadcast: what came of the root is passed on as it is. */
struct passing_on {
    struct as_it_is {
        CT_MEMBER vec combine(vec a, vec)
        {
            return a;
        }
    };
    template <class Body> CT_MEMBER void dispatch(uint32_t, Body *body)
    {
        body->run(as_it_is());
    }
};

CT_KERNEL_LL32(ct_move_ll32)
{
    run_ll32<passing_on>(a);
}
