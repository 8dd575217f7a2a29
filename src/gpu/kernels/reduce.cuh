/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels that reduce, as templates; reduce_*.cu instantiate them, one pair a type. What they
 * do is told by masks (args.h): each rank collects the contributions to its part, combines them in
 * the order of ranks and hands out the result.
 *   - ct_reduce_flagged_<type>, for latency: the result is not handed out; where all want all, each
 *     rank's part is the whole (one shot). ct_reduce_short_<type>: the same in fewer instructions.
 *   - ct_reduce_ll32_<type>, for what is some hundred KiB: both, with results handed out.
 *   - ct_reduce_bulk_<type>: reduce-scatter, then, where results are handed out, an allgather
 *     behind it, step by step (Patarasuk and Yuan 2009 for the volume, here without a ring), all of
 *     them at once (pipeline.cuh).
 *   - ct_reduce_direct_<type>: the same volume, but contributions are read where the peers have
 *     them, and results written where they want them (direct.cuh).
 */
#ifndef CT_GPU_KERNELS_REDUCE_H
#define CT_GPU_KERNELS_REDUCE_H

#include "gpu/kernels/direct.cuh"
#include "gpu/kernels/flagged.cuh"
#include "gpu/kernels/ops.cuh"
#include "gpu/kernels/pipeline.cuh"
#include "gpu/kernels/reduce_short.cuh"
#include "gpu/kernels/ll32_calls.cuh"

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
    __device__ __forceinline__ uint32_t batch(const R &r, uint32_t p, uint64_t at, uint64_t n,
                                              vec own, vec *acc, bool *any)
    {
        const struct ct_kernel_comm *comm = ch->comm;
        const uint32_t               me = comm->rank;
        uint32_t                     rank[4], items[8];
        const char                  *where[8];
        line                         l[8]; /* the first lines, the second ones */
        CT_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            while (p < comm->size && !in(a->from, p)) {
                p++;
            }
            rank[k] = p;
            where[k] = where[4 + k] = nullptr;
            l[k] = l[4 + k] = {0, 0};
            items[k] = items[4 + k] = 0;
            if (p < comm->size && p != me) {
                items[k] = items[4 + k] = ch->got[p] + 1;
                where[k] = flagged_slot(comm, me, p, items[k]) + line_of(at);
                l[k] = load_line(where[k]);
            }
            if (where[k] != nullptr && n > 8) {
                where[4 + k] = where[k] + SECOND;
                l[4 + k] = load_line(where[4 + k]);
            }
            p = p < comm->size ? p + 1 : p;
        }
        wait_lines(ch, where, l, items);
        CT_UNROLL
        for (unsigned k = 0; k < 4; k++) {
            if (rank[k] >= comm->size) {
                continue;
            }
            const line f = l[k], s = l[4 + k];
            const vec  x = rank[k] == me
                               ? own
                               : vec{{(uint32_t)f.a, (uint32_t)f.b, (uint32_t)s.a, (uint32_t)s.b}};
            *acc = *any ? r.combine(*acc, x) : x;
            *any = true;
        }
        return p;
    }

    template <class R> __device__ __forceinline__ void run(const R &r)
    {
        const uint32_t me = ch->comm->rank;
        char *const    dst = static_cast<char *>(a->move[me].dst) + piece.at;
        for (uint64_t at = (uint64_t)thread() * 16; at < piece.bytes || at == 0;
             at += (uint64_t)threads() * 16) {
            const uint64_t n = piece.bytes - at < 16 ? piece.bytes - at : 16;
            const char    *src = static_cast<const char *>(a->move[me].src) + piece.at;
            const vec      own = load_some(src + at, in(a->from, me) ? n : 0);
            vec            acc = {{0, 0, 0, 0}};
            bool           any = false;
            for (uint32_t p = 0; p < ch->comm->size;) {
                p = batch(r, p, at, n, own, &acc, &any);
            }
            store_some(dst + at, acc, n);
        }
    }
};

template <class Dispatch> CT_DEV void reduce_flagged(const struct ct_kernel_args &a)
{
    CT_CHANNEL(ch, a.comm, 0);
    const vec          asked = ask_words(&a.comm);
    const struct slice whole = slice_of(a.part_bytes, a.each_bytes);
    const bool         any = has_item(whole, 0, a.item_bytes);
    const uint32_t     to = any ? a.to : 0, peers = any ? a.from & ~(1u << a.comm.rank) : 0;
    struct outgoing    o = outgoing_of(a, to, 0);
    channel_open(&ch, to, peers, asked);
    for (uint32_t step = 0; any; step++) {
        const bool last = !has_item(whole, step + 1, a.item_bytes);
        send_outgoing(&ch, &o);
        if (last) {
            channel_close_ahead(&ch, to, peers);
        }
        if (a.from != 0) {
            struct fold_flagged fold = {&ch, &a, part_piece(a, a.own_bytes, step)};
            Dispatch::dispatch(a.op, &fold);
        }
        if (last) {
            break;
        }
        next_step(&ch, to, peers, to);
        o = outgoing_of(a, to, step + 1);
    }
    signal_over(&a.comm);
}

/* ---- bulk ------------------------------------------------------------------------------------ */

/* Where contributions lie, in the order of ranks, and where the result goes; in shared memory.
 * Of peers the first of four slots, of the rank itself where its part begins. */
struct ends {
    char    *source[CT_KERNEL_RANKS], *target[CT_KERNEL_RANKS + 1];
    uint32_t turn[CT_KERNEL_RANKS]; /* which slot a source's first item is in; of the own, NONE */
};

enum { NONE = ~0u };

/* One warp's share of a step: tiles, each of which a warp loads as a whole before it stores. The
 * next step's first tile is of the warp that is next. */
struct fold_bulk {
    const struct ends *e;
    uint32_t           sources, targets, step, item_bytes;
    uint64_t           bytes;
    bool               fast;    /* the rank's own are aligned to vectors */
    bool               shifted; /* a thread writes where another of its warp reads its own */
    uint32_t           warp, warps;

    enum { DEEP = 4, PAIR_DEEP = 8, STRIDE = LANES * 16, TILE = PAIR_DEEP * STRIDE };

    __device__ __forceinline__ const char *source(uint32_t k) const
    {
        const uint32_t turn = e->turn[k];
        const uint32_t item = turn == NONE ? step : (turn + step) % CT_KERNEL_WINDOW;
        return e->source[k] + (size_t)item * item_bytes;
    }
    __device__ __forceinline__ char *target(uint32_t k) const
    {
        const uint32_t item = k == 0 ? step : (step + 1) % CT_KERNEL_WINDOW;
        return e->target[k] + (size_t)item * item_bytes;
    }

    template <unsigned N> __device__ __forceinline__ void load(vec *x, const char *at) const
    {
        CT_UNROLL
        for (unsigned u = 0; u < N; u++) {
            x[u] = load_vec(at + u * STRIDE);
        }
    }

    template <unsigned N> __device__ __forceinline__ void store(const vec *x, uint64_t at) const
    {
        if (shifted) {
            warp_meets(); /* all have loaded */
        }
        for (uint32_t k = e->target[0] == nullptr; k < targets; k++) {
            char *const to = target(k) + at;
            CT_UNROLL
            for (unsigned u = 0; u < N; u++) {
                store_vec(to + u * STRIDE, x[u]);
            }
        }
    }

    /* Of two contributions. */
    template <class R> __device__ __forceinline__ void pair(const R &r, uint64_t at) const
    {
        vec x[PAIR_DEEP], y[PAIR_DEEP];
        load<PAIR_DEEP>(x, source(0) + at);
        load<PAIR_DEEP>(y, source(1) + at);
        CT_UNROLL
        for (unsigned u = 0; u < PAIR_DEEP; u++) {
            x[u] = r.combine(x[u], y[u]);
        }
        store<PAIR_DEEP>(x, at);
    }

    /* The next rank's are under way while one's are combined. */
    template <class R> __device__ __forceinline__ void deep(const R &r, uint64_t at) const
    {
        vec acc[DEEP], x[DEEP], y[DEEP];
        load<DEEP>(acc, source(0) + at);
        if (sources > 1) {
            load<DEEP>(x, source(1) + at);
        }
        for (uint32_t k = 1; k < sources; k++) {
            if (k + 1 < sources) {
                load<DEEP>(y, source(k + 1) + at);
            }
            CT_UNROLL
            for (unsigned u = 0; u < DEEP; u++) {
                acc[u] = r.combine(acc[u], x[u]);
                x[u] = y[u];
            }
        }
        store<DEEP>(acc, at);
    }

    /* A vector or less, by each thread of the warp together. */
    template <class R>
    __device__ __forceinline__ void some(const R &r, uint64_t at, uint64_t n) const
    {
        vec acc = load_some(source(0) + at, n);
        for (uint32_t k = 1; k < sources; k++) {
            acc = r.combine(acc, load_some(source(k) + at, n));
        }
        warp_meets();
        for (uint32_t k = e->target[0] == nullptr; k < targets; k++) {
            store_some(target(k) + at, acc, n);
        }
    }

    template <class R> __device__ __forceinline__ void run(const R &r) const
    {
        const uint32_t before = step * (item_bytes / TILE) % warps;
        const uint64_t tile = (warp + warps - before) % warps, mine = thread() % LANES * 16;
        for (uint64_t at = tile * TILE; at < bytes; at += (uint64_t)warps * TILE) {
            const uint64_t end = bytes - at < TILE ? bytes : at + TILE;
            if (fast && end - at == TILE && sources == 2) {
                pair(r, at + mine);
            } else if (fast && end - at == TILE) {
                for (uint64_t half = at; half < end; half += DEEP * STRIDE) {
                    deep(r, half + mine);
                }
            } else {
                for (uint64_t i = at; i < end; i += STRIDE) {
                    const uint64_t left = end - i > mine ? end - i - mine : 0;
                    some(r, i + mine, left < 16 ? left : 16);
                }
            }
        }
    }
};

template <class Dispatch> struct folding {
    const struct ct_kernel_args *a;
    struct ends                 *e;
    uint32_t                     to, from, result_to, takes, steps;
    uint32_t                     senders, takers;

    enum { results = 1 };

    __device__ __forceinline__ uint32_t out_steps(uint32_t) const
    {
        return steps;
    }
    __device__ __forceinline__ uint32_t in_steps(uint32_t) const
    {
        return steps;
    }
    __device__ __forceinline__ const char *out(uint32_t p, uint32_t step, uint64_t *bytes) const
    {
        const struct slice piece = part_piece(*a, a->move[p].send_bytes, step);
        *bytes = piece.bytes;
        return static_cast<const char *>(a->move[p].src) + piece.at;
    }
    __device__ __forceinline__ char *in(uint32_t p, uint32_t step, uint64_t *bytes) const
    {
        const struct slice piece = part_piece(*a, a->move[p].recv_bytes, step);
        *bytes = piece.bytes;
        return static_cast<char *>(a->move[p].dst) + piece.at;
    }
    __device__ __forceinline__ void fold(struct channel *, uint32_t step, uint32_t warp,
                                         uint32_t warps) const
    {
        const struct ct_kernel_move *own = &a->move[a->comm.rank];
        /* In place, parts of different lengths: the result may go to where the own contribution to
         * what follows is read. One warp does so in order. */
        const char *const src = static_cast<const char *>(own->src);
        const char *const dst = static_cast<const char *>(own->dst);
        const bool shifted = src != dst && src < dst + a->own_bytes && dst < src + a->own_bytes;
        struct fold_bulk f = {e,
                              members(a->from),
                              members(result_to) + 1,
                              step,
                              a->item_bytes,
                              part_piece(*a, a->own_bytes, step).bytes,
                              aligned(own->src, 16) && aligned(own->dst, 16),
                              shifted,
                              warp,
                              shifted ? 1 : warps};
        if (f.sources > 0 && f.warp < f.warps) {
            Dispatch::dispatch(a->op, &f);
        }
    }
};

/* Before a barrier. */
CT_DEV void set_ends(const struct channel *ch, const struct ct_kernel_args &a, struct ends *e)
{
    const uint32_t     me = a.comm.rank;
    const struct slice own = slice_of(a.own_bytes, a.each_bytes);
    for (uint32_t p = thread(); p < a.comm.size; p += threads()) {
        const uint32_t below = (1u << p) - 1, source = members(a.from & below);
        if (in(a.from, p)) {
            e->source[source] =
                p == me ? const_cast<char *>(static_cast<const char *>(a.move[p].src)) + own.at
                        : bulk_slots(ch, me, p);
            e->turn[source] = p == me ? NONE : (ch->got[p] + 1) % CT_KERNEL_WINDOW;
        }
        if (in(a.result_to, p)) {
            e->target[members(a.result_to & below) + 1] = result_slots(ch, p, me);
        }
        if (p == me) {
            char *const dst = static_cast<char *>(a.move[me].dst);
            e->target[0] =
                dst != nullptr ? dst + own.at : nullptr; /* only others have use for it */
        }
    }
}

enum { COPIERS = 4 }; /* warps that send, and that take; all others fold, which moves more */

template <class Dispatch> CT_DEV void reduce_bulk(const struct ct_kernel_args &a)
{
    CT_CHANNEL(ch, a.comm, a.item_bytes);
    __shared__ struct ends   e;
    const uint32_t           steps = items_of(slice_of(a.part_bytes, a.each_bytes), a.item_bytes);
    const uint32_t           peers = a.from & ~(1u << a.comm.rank);
    struct folding<Dispatch> f = {
        &a, &e, a.to, peers, a.result_to, a.result_from, steps, 0, 0
    };
    channel_open(&ch, 0, peers | a.result_from, ask_words(&a.comm));
    set_ends(&ch, a, &e);
    f.senders = f.to != 0 ? COPIERS : 0;
    f.takers = f.takes != 0 ? COPIERS : 0;
    pipeline(&ch, &f);
}

/* ---- direct ---------------------------------------------------------------------------------- */

/* The block's slice, by threads side by side: each loads all that it holds at a time before it
 * combines and stores, to the ranks in turn, so that the link and the own memory are both at it.
 * Two blocks make 82 to 92 GB/s of an allreduce between two H100 so, 65 where one rank's part is
 * stored after the other's, and 50 where each warp has tiles of its own. */
struct fold_direct {
    const struct ct_kernel_direct *a;
    struct slice                   own;
    bool                           fast; /* all begin at multiples of a vector */
    uint32_t                       to;   /* ranks that it stores to */

    enum { DEEP = 4, SHALLOW = 2, PAIR_DEEP = 10, BATCH = 4 };

    __device__ __forceinline__ const char *source(uint32_t p) const
    {
        return static_cast<const char *>(a->move[p].src) + own.at;
    }

    template <unsigned N>
    __device__ __forceinline__ void load(vec *x, uint32_t p, uint64_t at) const
    {
        CT_UNROLL
        for (unsigned u = 0; u < N; u++) {
            x[u] = load_vec(source(p) + at + (uint64_t)u * threads() * 16);
        }
    }

    __device__ __forceinline__ char *target(uint32_t p) const
    {
        return static_cast<char *>(a->move[p].dst);
    }

    template <unsigned N> __device__ __forceinline__ void store_two(const vec *x, uint64_t at) const
    {
        char *const first = target(0), *const second = target(1);
        CT_UNROLL
        for (unsigned u = 0; u < N; u++) {
            const uint64_t to = own.at + at + (uint64_t)u * threads() * 16;
            if (first != nullptr) {
                store_vec(first + to, x[u]);
            }
            if (second != nullptr) {
                store_vec(second + to, x[u]);
            }
        }
    }

    __device__ __forceinline__ void store(vec x, uint64_t at) const
    {
        for (uint32_t p = 0; p < a->comm.size; p++) {
            if (in(to, p)) {
                store_vec(target(p) + at, x);
            }
        }
    }

    /* Of two ranks; what takes longest is asked for first. */
    template <class R> __device__ __forceinline__ void pair(const R &r, uint64_t at) const
    {
        const uint32_t me = a->comm.rank;
        vec            other[PAIR_DEEP], mine[PAIR_DEEP];
        load<PAIR_DEEP>(other, 1 - me, at);
        load<PAIR_DEEP>(mine, me, at);
        CT_UNROLL
        for (unsigned u = 0; u < PAIR_DEEP; u++) {
            mine[u] = me == 0 ? r.combine(mine[u], other[u]) : r.combine(other[u], mine[u]);
        }
        store_two<PAIR_DEEP>(mine, at);
    }

    /* Whether the u-th vector from `at` on is in the slice. */
    __device__ __forceinline__ bool has(uint64_t at, unsigned u) const
    {
        return at + (uint64_t)u * threads() * 16 + 16 <= own.bytes;
    }

    /* A batch of ranks is asked for at once; WHOLE: all of it is in the slice. */
    template <unsigned N, bool WHOLE, class R>
    __device__ __forceinline__ void deep(const R &r, uint64_t at) const
    {
        const uint32_t n = a->comm.size;
        vec            acc[N], x[BATCH][N];
        for (uint32_t p = 0; p < n; p += BATCH) {
            CT_UNROLL
            for (unsigned k = 0; k < BATCH; k++) {
                CT_UNROLL
                for (unsigned u = 0; u < N; u++) {
                    if (p + k < n && (WHOLE || has(at, u))) {
                        x[k][u] = load_vec(source(p + k) + at + (uint64_t)u * threads() * 16);
                    }
                }
            }
            CT_UNROLL
            for (unsigned k = 0; k < BATCH; k++) {
                CT_UNROLL
                for (unsigned u = 0; u < N && p + k < n; u++) {
                    acc[u] = p + k > 0 ? r.combine(acc[u], x[k][u]) : x[k][u];
                }
            }
        }
        CT_UNROLL
        for (unsigned u = 0; u < N; u++) {
            if (WHOLE || has(at, u)) {
                store(acc[u], own.at + at + (uint64_t)u * threads() * 16);
            }
        }
    }

    /* A vector or less. */
    template <class R> __device__ __forceinline__ void some(const R &r, uint64_t at) const
    {
        const uint64_t n = own.bytes - at < 16 ? own.bytes - at : 16;
        vec            acc = load_some(source(0) + at, n);
        for (uint32_t p = 1; p < a->comm.size; p++) {
            acc = r.combine(acc, load_some(source(p) + at, n));
        }
        for (uint32_t p = 0; p < a->comm.size; p++) {
            if (in(to, p)) {
                store_some(target(p) + own.at + at, acc, n);
            }
        }
    }

    template <class R> __device__ __forceinline__ void run(const R &r) const
    {
        const uint64_t stride = (uint64_t)threads() * 16;
        uint64_t       at = (uint64_t)thread() * 16;
        if (!fast) {
            for (; at < own.bytes; at += stride) {
                some(r, at);
            }
            return;
        }
        if (a->comm.size == 2) {
            for (; at + (PAIR_DEEP - 1) * stride + 16 <= own.bytes; at += PAIR_DEEP * stride) {
                pair(r, at);
            }
        } else {
            for (; has(at, DEEP - 1); at += DEEP * stride) {
                deep<DEEP, true>(r, at);
            }
        }
        for (; has(at, 0); at += SHALLOW * stride) {
            deep<SHALLOW, false>(r, at);
        }
        if (thread() == 0 && own.bytes % 16 != 0) {
            some(r, own.bytes / 16 * 16);
        }
    }
};

/* By one thread, before a barrier. */
CT_DEV bool is_fast(const struct ct_kernel_direct &a)
{
    bool fast = true;
    for (uint32_t p = 0; p < a.comm.size; p++) {
        fast = fast && aligned(a.move[p].src, 16) && aligned(a.move[p].dst, 16);
    }
    return fast;
}

/* The ranks that want the result. */
CT_DEV uint32_t wanted(const struct ct_kernel_direct &a)
{
    uint32_t mask = 0;
    for (uint32_t p = 0; p < a.comm.size; p++) {
        mask |= (uint32_t)(a.move[p].dst != nullptr) << p;
    }
    return mask;
}

/* A long slice among more than two ranks is combined as a whole before it is handed out: links that
 * carry what is asked for and what is stored at the same time carry less of both (four H200: 316
 * GB/s, 330 and 345 each by itself). Ranks have parts of the same length, so they come to hand
 * theirs out at about the same time. */
enum { LONG = 128 << 10 };

CT_DEV void hand_out(const struct ct_kernel_direct &a, struct slice own, uint32_t to)
{
    enum { DEEP = 4 };
    const char *const src = static_cast<const char *>(a.move[a.comm.rank].dst) + own.at;
    const uint64_t    stride = (uint64_t)threads() * 16;
    uint64_t          at = (uint64_t)thread() * 16;
    for (; at + (DEEP - 1) * stride + 16 <= own.bytes; at += DEEP * stride) {
        vec x[DEEP];
        CT_UNROLL
        for (unsigned u = 0; u < DEEP; u++) {
            x[u] = load_vec(src + at + u * stride);
        }
        CT_UNROLL
        for (unsigned u = 0; u < DEEP; u++) {
            for (uint32_t p = 0; p < a.comm.size; p++) {
                if (in(to, p)) {
                    store_vec(static_cast<char *>(a.move[p].dst) + own.at + at + u * stride, x[u]);
                }
            }
        }
    }
    for (; at < own.bytes; at += stride) {
        const vec x = load_some(src + at, own.bytes - at);
        for (uint32_t p = 0; p < a.comm.size; p++) {
            if (in(to, p)) {
                store_some(static_cast<char *>(a.move[p].dst) + own.at + at, x, own.bytes - at);
            }
        }
    }
}

template <class Dispatch> CT_DEV void reduce_direct(const struct ct_kernel_direct &a)
{
    CT_CHANNEL(ch, a.comm, 0);
    __shared__ bool fast;
    if (thread() == 0) {
        fast = is_fast(a);
    }
    open_memory(a);
    const bool         alive = wait_all_open(&ch, a);
    const uint32_t     all = wanted(a), me = 1u << a.comm.rank;
    struct fold_direct f = {&a, slice_of(a.own_bytes, a.each_bytes), fast, all};
    const bool         later = fast && a.comm.size > 2 && f.own.bytes >= LONG && (all & ~me) != 0;
    if (later) {
        f.to = me;
    }
    if (alive) {
        Dispatch::dispatch(a.op, &f);
    }
    if (later) {
        __syncthreads();
    }
    if (later && alive) {
        hand_out(a, f.own, all & ~me);
    }
    signal_all_through(a);
    close_memory(&ch, a.open);
    signal_over(&a.comm);
}

/* The kernels of a type. */
#define CT_REDUCE_KERNELS(name, dispatches)                                                        \
    CT_KERNEL(ct_reduce_flagged_##name, struct ct_kernel_args)                                     \
    {                                                                                              \
        reduce_flagged<dispatches>(a);                                                             \
    }                                                                                              \
    CT_KERNEL_EARLY(ct_reduce_short_##name, struct ct_kernel_short)                                \
    {                                                                                              \
        reduce_short<dispatches>(a);                                                               \
    }                                                                                              \
    CT_KERNEL_LL32(ct_reduce_ll32_##name)                                                          \
    {                                                                                              \
        run_ll32<dispatches>(a);                                                                   \
    }                                                                                              \
    CT_KERNEL(ct_reduce_bulk_##name, struct ct_kernel_args)                                        \
    {                                                                                              \
        reduce_bulk<dispatches>(a);                                                                \
    }                                                                                              \
    CT_KERNEL(ct_reduce_direct_##name, struct ct_kernel_direct)                                    \
    {                                                                                              \
        reduce_direct<dispatches>(a);                                                              \
    }

#endif
