/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that reduce, as templates; reduce_*.cu instantiate them, one pair a type. What they
 * do is told by masks (args.h): each rank collects the contributions to its part, combines them in
 * the order of ranks and hands out the result.
 *   - ct_reduce_flagged_<type>, for latency: the result is not handed out; where all want all, each
 *     rank's part is the whole (one shot).
 *   - ct_reduce_bulk_<type>: reduce-scatter, then, where results are handed out, an allgather
 *     behind it, step by step (Patarasuk and Yuan 2009 for the volume, here without a ring): while
 *     step c is reduced, step c + 1 is on its way, and the results of c - 1 arrive.
 */
#ifndef CT_GPU_KERNELS_REDUCE_H
#define CT_GPU_KERNELS_REDUCE_H

#include "gpu/kernels/flagged.cuh"
#include "gpu/kernels/ops.cuh"
#include "gpu/kernels/pipeline.cuh"

/* This block's piece of a part of `bytes` in a step. */
CT_DEV struct slice part_piece(const struct ct_kernel_args &a, uint64_t bytes, uint32_t step)
{
    return piece_of(slice_of(bytes, a.each_bytes), step, a.item_bytes);
}

/* ---- flagged --------------------------------------------------------------------------------- */

/* One step's own part, combined as its contributions arrive. */
struct fold_flagged {
    struct channel              *ch;
    const struct ct_kernel_args *a;
    struct slice                 piece;

    /* The contributions of up to four ranks from p on are asked for at once; returns the rank
     * after. */
    template <class R>
    __device__ __forceinline__ uint32_t batch(uint32_t p, uint64_t at, uint64_t n, vec *acc,
                                              bool *any)
    {
        const struct ct_kernel_comm *comm = ch->comm;
        const uint32_t               me = comm->rank;
        uint32_t                     rank[4], items[4];
        const char                  *where[4];
        line                         first[4], second[4];
        vec                          own = {{0, 0, 0, 0}};
        CT_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            while (p < comm->size && !in(a->from, p)) {
                p++;
            }
            rank[k] = p;
            if (p == me) {
                own = load_some(static_cast<const char *>(a->move[me].src) + piece.at + at, n);
            } else if (p < comm->size) {
                items[k] = ch->got[p] + 1;
                where[k] = flagged_slot(comm, me, p, items[k]) + 2 * at;
                first[k] = load_line(where[k]);
                second[k] = n > 8 ? load_line(where[k] + 16) : line{0, 0};
            }
            p = p < comm->size ? p + 1 : p;
        }
        CT_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            if (rank[k] >= comm->size) {
                continue;
            }
            vec x;
            if (rank[k] == me) {
                x = own;
            } else {
                const line f = wait_line(ch, where[k], first[k], items[k]);
                const line s =
                    n > 8 ? wait_line(ch, where[k] + 16, second[k], items[k]) : line{0, 0};
                x = {{(uint32_t)f.a, (uint32_t)f.b, (uint32_t)s.a, (uint32_t)s.b}};
            }
            *acc = *any ? R::combine(*acc, x) : x;
            *any = true;
        }
        return p;
    }

    template <class R> __device__ __forceinline__ void run()
    {
        const uint32_t me = ch->comm->rank;
        char *const    dst = static_cast<char *>(a->move[me].dst) + piece.at;
        for (uint64_t at = (uint64_t)thread() * 16; at < piece.bytes || at == 0;
             at += (uint64_t)threads() * 16) {
            const uint64_t n = piece.bytes - at < 16 ? piece.bytes - at : 16;
            vec            acc = {{0, 0, 0, 0}};
            bool           any = false;
            for (uint32_t p = 0; p < ch->comm->size;) {
                p = batch<R>(p, at, n, &acc, &any);
            }
            store_some(dst + at, acc, n);
        }
    }
};

template <class Dispatch> CT_DEV void reduce_flagged(const struct ct_kernel_args &a)
{
    CT_CHANNEL(ch, a.comm, 0);
    const uint32_t  me = a.comm.rank;
    const uint32_t  peers = a.from & ~(1u << me);
    const uint32_t  steps = items_of(slice_of(a.part_bytes, a.each_bytes), a.item_bytes);
    struct outgoing o = outgoing_of(a, steps > 0 ? a.to : 0, 0);
    channel_open(&ch, steps > 0 ? a.to : 0, peers);
    for (uint32_t step = 0; step < steps; step++) {
        if (step > 0) {
            o = outgoing_of(a, a.to, step);
        }
        send_outgoing(&ch, &o);
        if (a.from != 0) {
            struct fold_flagged fold = {&ch, &a, part_piece(a, a.own_bytes, step)};
            Dispatch::dispatch(a.op, &fold);
        }
        end_step(&ch, a.to, peers, a.to, step + 1 < steps);
    }
    channel_close(&ch, 0);
}

/* ---- bulk ------------------------------------------------------------------------------------ */

/* Where contributions lie, in the order of ranks, and where the result goes; in shared memory. */
struct ends {
    const char *source[CT_KERNEL_RANKS];
    char       *target[CT_KERNEL_RANKS + 1];
};

struct fold_bulk {
    const char *const *source;
    char *const       *target;
    uint32_t           sources, targets;
    uint64_t           bytes;
    bool               fast;   /* all are aligned to vectors */
    uint32_t           t, all; /* this thread, of how many */

    enum { DEEP = 4, PAIR_DEEP = 8 };

    /* Of two contributions. */
    template <class R> __device__ __forceinline__ void pair(uint64_t at, uint64_t stride)
    {
        vec x[PAIR_DEEP], y[PAIR_DEEP];
        CT_UNROLL
        for (unsigned u = 0; u < PAIR_DEEP; u++) {
            x[u] = load_vec(source[0] + at + u * stride);
        }
        CT_UNROLL
        for (unsigned u = 0; u < PAIR_DEEP; u++) {
            y[u] = load_vec(source[1] + at + u * stride);
        }
        CT_UNROLL
        for (unsigned u = 0; u < PAIR_DEEP; u++) {
            x[u] = R::combine(x[u], y[u]);
        }
        for (uint32_t k = 0; k < targets; k++) {
            CT_UNROLL
            for (unsigned u = 0; u < PAIR_DEEP; u++) {
                store_vec(target[k] + at + u * stride, x[u]);
            }
        }
    }

    /* DEEP vectors, `stride` bytes apart; the next rank's are under way while one's are
     * combined. */
    template <class R> __device__ __forceinline__ void deep(uint64_t at, uint64_t stride)
    {
        vec acc[DEEP], x[DEEP], y[DEEP];
        CT_UNROLL
        for (unsigned u = 0; u < DEEP; u++) {
            acc[u] = load_vec(source[0] + at + u * stride);
        }
        if (sources > 1) {
            CT_UNROLL
            for (unsigned u = 0; u < DEEP; u++) {
                x[u] = load_vec(source[1] + at + u * stride);
            }
        }
        for (uint32_t k = 1; k < sources; k++) {
            if (k + 1 < sources) {
                CT_UNROLL
                for (unsigned u = 0; u < DEEP; u++) {
                    y[u] = load_vec(source[k + 1] + at + u * stride);
                }
            }
            CT_UNROLL
            for (unsigned u = 0; u < DEEP; u++) {
                acc[u] = R::combine(acc[u], x[u]);
                x[u] = y[u];
            }
        }
        for (uint32_t k = 0; k < targets; k++) {
            CT_UNROLL
            for (unsigned u = 0; u < DEEP; u++) {
                store_vec(target[k] + at + u * stride, acc[u]);
            }
        }
    }

    template <class R> __device__ __forceinline__ void run()
    {
        const uint64_t stride = (uint64_t)all * 16;
        uint64_t       at = (uint64_t)t * 16;
        if (fast && sources == 2) {
            for (; at + (PAIR_DEEP - 1) * stride + 16 <= bytes; at += PAIR_DEEP * stride) {
                pair<R>(at, stride);
            }
        }
        if (fast) {
            for (; at + (DEEP - 1) * stride + 16 <= bytes; at += DEEP * stride) {
                deep<R>(at, stride);
            }
        }
        for (; at < bytes; at += stride) {
            const uint64_t n = bytes - at < 16 ? bytes - at : 16;
            vec            acc = load_some(source[0] + at, n);
            for (uint32_t k = 1; k < sources; k++) {
                acc = R::combine(acc, load_some(source[k] + at, n));
            }
            for (uint32_t k = 0; k < targets; k++) {
                store_some(target[k] + at, acc, n);
            }
        }
    }
};

/* This rank's contributions to the parts of others. */
CT_DEV void send_parts(struct channel *ch, const struct ct_kernel_args &a, uint32_t step)
{
    wait_all(ch, a.to, 0);
    for (struct share s = share_of(a.to, a.comm.rank); share_next(&s);) {
        const struct slice piece = part_piece(a, a.move[s.peer].send_bytes, step);
        copy_bytes(bulk_slot(ch, s.peer, a.comm.rank, ch->sent[s.peer] + 1),
                   static_cast<const char *>(a.move[s.peer].src) + piece.at, piece.bytes, s.lane,
                   s.lanes);
    }
    __syncthreads();
    publish(ch, a.to);
}

/* Where the contributions to the own part lie, and where it goes, for the items that are given. */
CT_DEV void set_ends(struct channel *ch, const struct ct_kernel_args &a, struct ends *e,
                     struct slice piece, uint32_t ahead, uint32_t t, uint32_t all)
{
    const uint32_t me = a.comm.rank;
    for (uint32_t p = t; p < a.comm.size; p += all) {
        const uint32_t below = (1u << p) - 1;
        if (in(a.from, p)) {
            e->source[members(a.from & below)] =
                p == me ? static_cast<const char *>(a.move[me].src) + piece.at
                        : bulk_slot(ch, me, p, ch->got[p] + ahead + 1);
        }
        if (in(a.result_to, p)) {
            e->target[members(a.result_to & below) + 1] =
                bulk_slot(ch, p, me, ch->sent[p] + ahead + 1);
        }
        if (p == me) {
            e->target[0] = static_cast<char *>(a.move[me].dst) + piece.at;
        }
    }
}

/* By thread t of `all`, after a barrier. */
template <class Dispatch>
CT_DEV void fold(const struct ct_kernel_args &a, const struct ends *e, struct slice piece,
                 uint32_t t, uint32_t all)
{
    const struct ct_kernel_move *own = &a.move[a.comm.rank];
    const uint32_t               unwanted = own->dst == nullptr; /* only others have use for it */
    struct fold_bulk             f = {e->source,
                                      e->target + unwanted,
                                      members(a.from),
                                      members(a.result_to) + 1 - unwanted,
                                      piece.bytes,
                                      aligned(static_cast<const char *>(own->src) + piece.at, 16) &&
                                          aligned(static_cast<char *>(own->dst) + piece.at, 16),
                                      t,
                                      all};
    Dispatch::dispatch(a.op, &f);
}

/* The own part: collected, combined, handed out. */
template <class Dispatch>
CT_DEV void fold_part(struct channel *ch, const struct ct_kernel_args &a, struct ends *e,
                      uint32_t step)
{
    const uint32_t     peers = a.from & ~(1u << a.comm.rank);
    const struct slice piece = part_piece(a, a.own_bytes, step);
    set_ends(ch, a, e, piece, 0, thread(), threads());
    wait_all(ch, a.result_to, peers);
    fold<Dispatch>(a, e, piece, thread(), threads());
    __syncthreads();
    publish(ch, a.result_to);
    count_got(ch, peers, true);
}

/* The parts that others have finished. */
CT_DEV void take_results(struct channel *ch, const struct ct_kernel_args &a, uint32_t step)
{
    wait_all(ch, 0, a.result_from);
    for (struct share s = share_of(a.result_from, a.comm.rank); share_next(&s);) {
        const struct slice piece = part_piece(a, a.move[s.peer].recv_bytes, step);
        copy_bytes(static_cast<char *>(a.move[s.peer].dst) + piece.at,
                   bulk_slot(ch, a.comm.rank, s.peer, ch->got[s.peer] + 1), piece.bytes, s.lane,
                   s.lanes);
    }
    __syncthreads();
    count_got(ch, a.result_from, true);
}

/* Results that are not handed out: a pipeline. */
template <class Dispatch> struct folding {
    const struct ct_kernel_args *a;
    struct ends                 *e;
    uint32_t                     to, from, steps;

    __device__ __forceinline__ uint32_t out_steps(uint32_t) const
    {
        return steps;
    }
    __device__ __forceinline__ uint32_t in_steps(uint32_t) const
    {
        return steps;
    }
    __device__ __forceinline__ const void *out(uint32_t p, uint32_t step, uint64_t *bytes) const
    {
        const struct slice piece = part_piece(*a, a->move[p].send_bytes, step);
        *bytes = piece.bytes;
        return static_cast<const char *>(a->move[p].src) + piece.at;
    }
    __device__ __forceinline__ void prepare(struct channel *ch, uint32_t step, uint32_t t,
                                            uint32_t all) const
    {
        if (a->from != 0) {
            set_ends(ch, *a, e, part_piece(*a, a->own_bytes, step), step, t, all);
        }
    }
    __device__ __forceinline__ void consume(struct channel *, uint32_t step, uint32_t, uint32_t t,
                                            uint32_t all) const
    {
        if (a->from != 0) {
            fold<Dispatch>(*a, e, part_piece(*a, a->own_bytes, step), t, all);
        }
    }
};

template <class Dispatch> CT_DEV void reduce_bulk(const struct ct_kernel_args &a)
{
    CT_CHANNEL(ch, a.comm, a.item_bytes);
    __shared__ struct ends e;
    const uint32_t         steps = items_of(slice_of(a.part_bytes, a.each_bytes), a.item_bytes);
    const uint32_t         peers = a.from & ~(1u << a.comm.rank);
    channel_open(&ch, 0, peers | a.result_from);
    if ((a.result_to | a.result_from) == 0) {
        struct folding<Dispatch> f = {
            &a, &e, a.to, peers, steps
        };
        pipeline(&ch, &f);
    } else {
        for (uint32_t step = 0; step < steps + 2; step++) {
            if (step < steps) {
                send_parts(&ch, a, step);
            }
            if (step > 0 && step <= steps && a.from != 0) {
                fold_part<Dispatch>(&ch, a, &e, step - 1);
            }
            if (step > 1) {
                take_results(&ch, a, step - 2);
            }
        }
    }
    channel_close(&ch, steps > 0 ? a.to | a.result_to : 0);
}

/* The two kernels of a type. */
#define CT_REDUCE_KERNELS(name, dispatches)                                                        \
    CT_KERNEL(ct_reduce_flagged_##name, struct ct_kernel_args)                                     \
    {                                                                                              \
        reduce_flagged<dispatches>(a);                                                             \
    }                                                                                              \
    CT_KERNEL(ct_reduce_bulk_##name, struct ct_kernel_args)                                        \
    {                                                                                              \
        reduce_bulk<dispatches>(a);                                                                \
    }

#endif
