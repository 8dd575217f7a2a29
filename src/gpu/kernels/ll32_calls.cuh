/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls by rows (ll32.cuh). What a thread sends, the same thread of the peer's block receives: so
 * nothing meets in a block but to let slots go.
 *
 * A kernel goes through rounds, each of which sends one step, combines what came of the step before
 * it and passes that on, and takes what was passed on of the one before that: no round waits for
 * what was sent in the same. Of a pair the items of what is contributed and of results alternate,
 * if there are both. A rank whose round is the lowest can always go on: peers say what they are
 * through with as the first thing in a round, and what it waits for they sent in an earlier one.
 *
 * As of short.cuh, time is instructions: addresses are worked out before the kernel before is over,
 * whole units of aligned buffers have a path of their own, and peers, CT_KERNEL_SPREAD at most, are
 * spread over the block: each has warps of its own, and so has what is the rank's own. What came of
 * them is combined from shared memory, by each for its own peer. Among four H200 an allreduce of
 * 256 KiB took 7.3 us where a thread served all three, and so 5.9.
 *
 * Rows are numbered in a part of the workspaces of their own, with slots where nothing else is ever
 * written: a payload that looks like a number would be taken for one.
 */
#ifndef CT_GPU_KERNELS_LL32_CALLS_H
#define CT_GPU_KERNELS_LL32_CALLS_H

#include "gpu/kernels/ll32.cuh"

enum { MATES = 2 /* peers that a thread serves at a time in the emulation, which has but one */ };

/* ---- waits ----------------------------------------------------------------------------------- */

/* The thread's first lines in some slots, and which items they are to be of; nullptr: none. */
template <unsigned M> struct awaited {
    const char *at[M];
    uint32_t    item[M];
};

template <unsigned M>
CT_DEV void wait_ll32(struct channel *ch, const struct position &s, const struct awaited<M> &w,
                      vec (&x)[M][UNITS])
{
    line     l[M][UNITS];
    uint32_t missing = 0, spins = 0;
    CT_UNROLL
    for (uint32_t k = 0; k < M; k++) {
        missing |= (uint32_t)(w.at[k] != nullptr) << k;
    }
    while (missing != 0) {
        warp_meets(); /* its loads are rows */
        CT_UNROLL
        for (uint32_t k = 0; k < M; k++) {
            if (in(missing, k)) {
                ask_ll32(w.at[k], l[k]);
            }
        }
        CT_UNROLL
        for (uint32_t k = 0; k < M; k++) {
            if (in(missing, k) && have_come(w.at[k], s.lane, w.item[k], l[k])) {
                units_of(s, l[k], x[k]);
                missing &= ~(1u << k);
            }
        }
        if (missing != 0 && any_of_warp(!go_on(ch, &spins))) {
            ch->alive = false;
            break;
        }
    }
}

/* ---- a block's run --------------------------------------------------------------------------- */

/* The numbers of items, by peer; in shared memory. */
struct ll32_numbers {
    uint32_t sent[CT_KERNEL_SHORT], got[CT_KERNEL_SHORT], acked[CT_KERNEL_SHORT];
};

/* A peer, as a thread sees it: where its block's slices and its own lines in slots begin. */
struct mate {
    const char *src, *in;
    char       *dst, *out;
    uint32_t    sends, gets; /* bytes of the slices */
};

/* Of a thread that serves M peers at a time. One: peers are spread over the block's threads. */
template <unsigned M> struct ll32_run {
    const struct ct_kernel_short *a;
    struct channel                ch;
    struct ll32_numbers          *n;
    vec            *shown; /* of peers that are spread, UNITS of each thread; shared */
    struct position s;
    uint32_t        group; /* of a.lanes threads; 0 where peers are not spread */
    uint32_t        first; /* the first mate's number as a peer */
    struct mate     mate[M];
    const char     *own_src;
    char           *own_dst;
    uint32_t        own_bytes, step_bytes;
    bool            last; /* the last round */
};

template <unsigned M> CT_DEV void set_mates(struct ll32_run<M> *r, uint32_t first)
{
    const struct ct_kernel_short &a = *r->a;
    const uint32_t                before = blockIdx.x * a.each_bytes;
    r->first = first;
    CT_UNROLL
    for (uint32_t k = 0; k < M; k++) {
        if (first + k < a.peers) {
            const struct ct_kernel_short_peer &q = a.peer[first + k];
            r->mate[k] = {static_cast<const char *>(q.src) + before,
                          of_block(q.in, a.slots_bytes) + r->s.line,
                          static_cast<char *>(q.dst) + before,
                          of_block(q.out, a.slots_bytes) + r->s.line,
                          slice_bytes(a, q.send_bytes),
                          slice_bytes(a, q.recv_bytes)};
        }
    }
}

template <unsigned M> CT_DEV void set_thread(struct ll32_run<M> *r, uint32_t t)
{
    r->group = M == 1 ? t / r->a->lanes : 0;
    r->s = position_of(t - r->group * r->a->lanes);
    set_mates(r, r->group);
}

/* The peers that a thread serves: for (uint32_t first = r->group; has_turn(*r, first); first += M).
 * Where they are spread the last group serves none: its number is in no mask. */
template <unsigned M> CT_DEV bool has_turn(const struct ll32_run<M> &r, uint32_t first)
{
    return M == 1 ? first == r.group : first < r.a->peers;
}

/* Of up to M peers this costs nothing: they stay. */
template <unsigned M> CT_DEV void turn_to(struct ll32_run<M> *r, uint32_t first)
{
    if (M > 1 && r->first != first) {
        set_mates(r, first);
    }
}

/* Whether the thread has what is the rank's own. */
template <unsigned M> CT_DEV bool has_own(const struct ll32_run<M> &r)
{
    return M > 1 || r.group == r.a->peers;
}

template <unsigned M>
CT_DEV uint32_t left_of(const struct ll32_run<M> &r, uint32_t bytes, uint32_t step)
{
    const uint32_t before = step * r.step_bytes;
    return bytes > before ? bytes - before : 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Items of a step to a peer, and from it. */
CT_DEV uint32_t kinds_to(const struct ct_kernel_short &a, uint32_t p)
{
    return (uint32_t)in(a.to, p) + in(a.result_to, p);
}

CT_DEV uint32_t kinds_from(const struct ct_kernel_short &a, uint32_t p)
{
    return (uint32_t)in(a.from, p) + in(a.result_from, p);
}

template <unsigned M>
CT_DEV uint32_t item_to(const struct ll32_run<M> &r, uint32_t p, uint32_t step, bool result)
{
    return r.n->sent[p] + step * kinds_to(*r.a, p) + 1 + (result && in(r.a->to, p));
}

template <unsigned M>
CT_DEV uint32_t item_from(const struct ll32_run<M> &r, uint32_t p, uint32_t step, bool result)
{
    return r.n->got[p] + step * kinds_from(*r.a, p) + 1 + (result && in(r.a->from, p));
}

/* Whether all items of a call fit into the window: then there is room for them before the first
 * one, and peers are told only once how far the block is. */
CT_DEV bool fits_window(const struct ct_kernel_short &a)
{
    return a.steps * 2u <= CT_KERNEL_WINDOW;
}

/* Whether those of two calls do: then peers hear it when the next kernel begins, as a kernel that
 * ends with a word to a peer waits until it is there. */
CT_DEV bool fits_twice(const struct ct_kernel_short &a)
{
    return a.steps * 4u <= CT_KERNEL_WINDOW;
}

/* A peer may be through with an item that has not been sent, if there is nothing in it. */
CT_DEV bool has_room(uint32_t acked, uint32_t item)
{
    return (int32_t)(item - acked) <= CT_KERNEL_WINDOW;
}

template <unsigned M> CT_DEV void wait_room_at(struct ll32_run<M> *r, uint32_t p, uint32_t item)
{
    const uint32_t *acked = &of_block(r->a->peer[p].words, r->a->words_bytes)->acked;
    uint32_t        spins = 0;
    while (!has_room(r->n->acked[p], item) && go_on(&r->ch, &spins)) {
        r->n->acked[p] = load_word(acked);
    }
}

/* The words of the peer whose number is this thread's, the first thing that is asked for. */
CT_DEV vec ask_numbers(const struct ct_kernel_short &a)
{
    return thread() < a.peers ? load_words(of_block(a.peer[thread()].words, a.words_bytes))
                              : vec{{0, 0, 0, 0}};
}

template <unsigned M> CT_DEV void open_numbers(struct ll32_run<M> *r, vec asked)
{
    const struct ct_kernel_short &a = *r->a;
    for (uint32_t p = thread(); p < a.peers; p += threads()) {
        const vec told =
            p == thread() ? asked : load_words(of_block(a.peer[p].words, a.words_bytes));
        r->n->sent[p] = told.w[0];
        r->n->got[p] = told.w[1];
        r->n->acked[p] = told.w[2];
        if (kinds_from(a, p) > 0) {
            store_flag(&of_block(a.peer[p].theirs, a.words_bytes)->acked, told.w[1]);
        }
        if (fits_window(a)) {
            wait_room_at(r, p, told.w[0] + a.steps * kinds_to(a, p));
        }
    }
    __syncthreads();
}

/* How many of `steps` are over when so many rounds are that begin `late`. */
CT_DEV uint32_t over(uint32_t rounds, uint32_t late, uint32_t steps)
{
    const uint32_t n = rounds > late ? rounds - late : 0;
    return n < steps ? n : steps;
}

/* Rounds from when something is sent until it is taken. */
CT_DEV uint32_t lag_of(const struct ct_kernel_short &a)
{
    return a.from != 0 ? 2 : 1;
}

/* The items of a peer that this block is through with before a round. */
CT_DEV uint32_t through_with(const struct ct_kernel_short &a, uint32_t p, uint32_t round)
{
    const uint32_t summed = in(a.from, p) ? over(round, 1, a.steps) : 0;
    const uint32_t taken = in(a.result_from, p) ? over(round, lag_of(a), a.steps) : 0;
    return kinds_from(a, p) == 2 ? 2 * taken + (summed > taken) : summed + taken;
}

/* As many of those to a peer as have been sent when a round is over. */
CT_DEV uint32_t sent_with(const struct ct_kernel_short &a, uint32_t p, uint32_t round)
{
    const uint32_t kinds = kinds_to(a, p);
    const uint32_t first = in(a.to, p) && round < a.steps ? round * kinds + 1 : 0;
    const uint32_t second = in(a.result_to, p) && round > 0 && round <= a.steps ? round * kinds : 0;
    return first > second ? first : second;
}

/* Peers hear what this block is through with, all of them; then there is room for what it sends. */
template <unsigned M> CT_DEV void begin_round(struct ll32_run<M> *r, uint32_t round)
{
    const struct ct_kernel_short &a = *r->a;
    __syncthreads();
    for (uint32_t p = thread(); p < a.peers; p += threads()) {
        const uint32_t done = through_with(a, p, round);
        if (done > 0) {
            store_flag(&of_block(a.peer[p].theirs, a.words_bytes)->acked, r->n->got[p] + done);
        }
    }
    for (uint32_t p = thread(); p < a.peers; p += threads()) {
        const uint32_t goes = sent_with(a, p, round);
        if (goes > 0) {
            wait_room_at(r, p, r->n->sent[p] + goes);
        }
    }
    __syncthreads();
}

template <unsigned M> CT_DEV void close_numbers(const struct ll32_run<M> &r)
{
    const struct ct_kernel_short &a = *r.a;
    __syncthreads();
    for (uint32_t p = thread(); p < a.peers; p += threads()) {
        struct ct_kernel_words *words = of_block(a.peer[p].words, a.words_bytes);
        const uint32_t          got = r.n->got[p] + a.steps * kinds_from(a, p);
        words->sent = r.n->sent[p] + a.steps * kinds_to(a, p);
        words->got = got;
        if (kinds_from(a, p) > 0 && !fits_twice(a)) {
            store_flag(&of_block(a.peer[p].theirs, a.words_bytes)->acked, got);
        }
    }
    let_next_start();
    if (a.finished != nullptr) {
        __syncthreads();
        tell_over(a.finished, a.finishes, a.through);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* An item that refreshes its slot (channel.cuh) has its number in all rows: here in those of other
 * warps than the thread's, and where there is no payload. */
CT_OUTLINE void refresh_ll32(const struct ct_kernel_short &a, char *slot, uint32_t item, uint32_t t,
                             uint32_t left)
{
    const vec none[UNITS] = {};
    for (uint32_t u = t; u / CT_KERNEL_WARP * CT_KERNEL_WARP_LINES < a.turn_bytes; u += a.lanes) {
        const struct position s = position_of(u);
        if (u != t || s.data >= left) {
            store_ll32(s, slot + s.line, item, none);
        }
    }
}

template <unsigned M>
CT_DEV void send_to(const struct ll32_run<M> &r, uint32_t k, uint32_t item, uint32_t left,
                    const vec (&x)[UNITS])
{
    char *const lines = r.mate[k].out + turn_of(*r.a, item);
    if (r.s.data < left) {
        store_ll32(r.s, lines, item, x);
    }
    if (refreshes(item)) {
        refresh_ll32(*r.a, lines - r.s.line, item, r.s.t, left);
    }
}

/* What goes to the mates. */
template <unsigned M>
CT_DEV void load_step(const struct ll32_run<M> &r, uint32_t step, vec (&x)[M][UNITS])
{
    CT_UNROLL
    for (uint32_t k = 0; k < M; k++) {
        if (in(r.a->to, r.first + k)) {
            load_units(r.s, r.mate[k].src + (size_t)step * r.step_bytes,
                       left_of(r, r.mate[k].sends, step), r.a->vectors, x[k]);
        }
    }
}

/* `ahead`: of the first mates, which may have been loaded. */
template <unsigned M>
CT_DEV void send_step(struct ll32_run<M> *r, uint32_t step, vec (&ahead)[M][UNITS], bool loaded)
{
    for (uint32_t first = r->group; has_turn(*r, first); first += M) {
        turn_to(r, first);
        if (first > r->group || !loaded) {
            load_step(*r, step, ahead);
        }
        CT_UNROLL
        for (uint32_t k = 0; k < M; k++) {
            if (in(r->a->to, first + k)) {
                send_to(*r, k, item_to(*r, first + k, step, false),
                        left_of(*r, r->mate[k].sends, step), ahead[k]);
            }
        }
    }
}

/* After the last wait of a thread, where all peers are its mates. Whose lines have come is running;
 * so nobody is waited for by its block who is not, if it has had some of all in the mask. */
template <unsigned M>
CT_DEV void let_go(const struct ll32_run<M> &r, const struct awaited<M> &w, uint32_t mask)
{
    bool knows = r.last && r.a->peers <= M && mask != 0;
    CT_UNROLL
    for (uint32_t k = 0; k < M; k++) {
        knows = knows && (w.at[k] != nullptr || !in(mask, r.first + k));
    }
    if (knows) {
        let_next_start();
    }
}

/* What is the rank's own of a call that combines nothing. */
template <unsigned M> CT_DEV void copy_step(const struct ll32_run<M> &r, uint32_t step)
{
    const size_t   at = (size_t)step * r.step_bytes;
    const uint32_t left = left_of(r, r.own_bytes, step);
    vec            x[UNITS];
    load_units(r.s, r.own_src + at, left, r.a->vectors, x);
    store_units(r.s, r.own_dst + at, left, r.a->vectors, x);
}

CT_DEV void copy_units(vec (&to)[UNITS], const vec (&from)[UNITS])
{
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        to[u] = from[u];
    }
}

/* Some ranks in order, combined with what came of those before. */
struct fold_ll32 {
    vec      x[MATES + 1][UNITS], acc[UNITS];
    uint32_t there; /* a mask of them, as they are lined up */
    bool     any;   /* acc has something */

    /* What came of mates, and the rank's own behind `before` of them. */
    __device__ __forceinline__ void line_up(const vec (&of)[MATES][UNITS], const vec (&own)[UNITS],
                                            uint32_t before)
    {
        CT_UNROLL
        for (uint32_t k = 0; k <= MATES; k++) {
            CT_UNROLL
            for (uint32_t u = 0; u < UNITS; u++) {
                x[k][u] = own[u];
                if (k < MATES && k < before) {
                    x[k][u] = of[k][u];
                }
                if (k > 0 && k > before) {
                    x[k][u] = of[k - 1][u];
                }
            }
        }
    }

    template <class R> __device__ __forceinline__ void run(const R &r)
    {
        CT_UNROLL
        for (uint32_t k = 0; k <= MATES; k++) {
            if (!in(there, k)) {
                continue;
            }
            CT_UNROLL
            for (uint32_t u = 0; u < UNITS; u++) {
                acc[u] = any ? r.combine(acc[u], x[k][u]) : x[k][u];
            }
            any = true;
        }
    }
};

/* Waits for what the mates in `from` sent in a step, of which there is something here. */
template <unsigned M>
CT_DEV void await_mates(struct ll32_run<M> *r, uint32_t step, vec (&x)[M][UNITS])
{
    const struct ct_kernel_short &a = *r->a;
    struct awaited<M>             w;
    CT_UNROLL
    for (uint32_t k = 0; k < M; k++) {
        w.at[k] = nullptr;
        w.item[k] = 0;
        if (in(a.from, r->first + k)) {
            w.item[k] = item_from(*r, r->first + k, step, false);
            w.at[k] = r->mate[k].in + turn_of(a, w.item[k]);
        }
    }
    wait_ll32(&r->ch, r->s, w, x);
    let_go(*r, w, a.from);
}

/* Lines up what came of the mates with the rank's own. */
CT_DEV void take_mates(struct ll32_run<MATES> *r, uint32_t step, const vec (&own)[UNITS],
                       struct fold_ll32 *f)
{
    const struct ct_kernel_short &a = *r->a;
    const uint32_t                before = a.below - r->first; /* wraps: it came earlier */
    const bool                    own_here =
        a.own && before <= MATES && (before < MATES || r->first + MATES >= a.peers);
    vec x[MATES][UNITS] = {};
    f->there = own_here ? 1u << before : 0;
    CT_UNROLL
    for (uint32_t k = 0; k < MATES; k++) {
        if (in(a.from, r->first + k)) {
            f->there |= 1u << (k + (own_here && k >= before));
        }
    }
    await_mates(r, step, x);
    f->line_up(x, own, own_here ? before : (uint32_t)MATES);
}

/* The same where peers are spread: each group shows what has come of its own, */
CT_DEV void show_mates(struct ll32_run<1> *r, uint32_t step, const vec (&own)[UNITS], bool some)
{
    vec x[1][UNITS];
    copy_units(x[0], own);
    if (some) {
        await_mates(r, step, x);
    }
    CT_UNROLL
    for (uint32_t u = 0; u < UNITS; u++) {
        r->shown[u * threads() + thread()] = x[0][u];
    }
    __syncthreads();
}

/* and combines what all have shown, in the order of ranks. */
struct fold_shown {
    const vec *at[CT_KERNEL_SPREAD + 1]; /* this thread's like in each group; */
    uint32_t   there;                    /* a mask of those that count */
    vec        acc[UNITS];

    __device__ __forceinline__ void line_up(const struct ll32_run<1> &r)
    {
        const struct ct_kernel_short &a = *r.a;
        there = 0;
        CT_UNROLL
        for (uint32_t k = 0; k <= CT_KERNEL_SPREAD; k++) {
            const uint32_t group = k == a.below ? a.peers : k - (k > a.below);
            const bool     counts = k == a.below ? a.own != 0 : in(a.from, group);
            there |= (uint32_t)(k <= a.peers && counts) << k;
            at[k] = r.shown + r.s.t + (k <= a.peers ? group : 0) * a.lanes;
        }
    }

    template <class R> __device__ __forceinline__ void run(const R &r)
    {
        if (there == (2u << CT_KERNEL_SPREAD) - 1) {
            combine_all(r);
            return;
        }
        CT_UNROLL
        for (uint32_t k = 0; k <= CT_KERNEL_SPREAD; k++) {
            const bool any = (there & ((1u << k) - 1)) != 0;
            CT_UNROLL
            for (uint32_t u = 0; u < UNITS && in(there, k); u++) {
                const vec x = at[k][u * threads()];
                acc[u] = any ? r.combine(acc[u], x) : x;
            }
        }
    }

    template <class R> __device__ __forceinline__ void combine_all(const R &r)
    {
        CT_UNROLL
        for (uint32_t u = 0; u < UNITS; u++) {
            acc[u] = at[0][u * threads()];
            CT_UNROLL
            for (uint32_t k = 1; k <= CT_KERNEL_SPREAD; k++) {
                acc[u] = r.combine(acc[u], at[k][u * threads()]);
            }
        }
    }
};

/* Of a step: what each in `from` sent and the rank's own, in the order of ranks, to own_dst and to
 * all who want it. Where a warp has none of it, it may still have to refresh a slot. */
template <unsigned M, class Dispatch> CT_DEV void fold_step(struct ll32_run<M> *r, uint32_t step)
{
    const struct ct_kernel_short &a = *r->a;
    const size_t                  at = (size_t)step * r->step_bytes;
    const uint32_t                left = left_of(*r, r->own_bytes, step);
    const bool                    some = r->s.data < left;
    vec                           own[UNITS] = {}, acc[UNITS] = {};
    if (a.own && has_own(*r)) {
        load_units(r->s, r->own_src + at, left, a.vectors, own);
    }
    if constexpr (M == 1) {
        struct fold_shown f = {};
        f.line_up(*r);
        show_mates(r, step, own, some);
        Dispatch::dispatch(a.op, &f);
        copy_units(acc, f.acc);
        if (a.steps > 1) {
            __syncthreads(); /* before they show what comes next */
        }
    } else {
        struct fold_ll32 f = {};
        for (uint32_t first = 0; some && has_turn(*r, first); first += M) {
            turn_to(r, first);
            take_mates(r, step, own, &f);
            Dispatch::dispatch(a.op, &f);
        }
        copy_units(acc, f.acc);
    }
    for (uint32_t first = r->group; has_turn(*r, first) && a.result_to != 0; first += M) {
        turn_to(r, first);
        CT_UNROLL
        for (uint32_t k = 0; k < M; k++) {
            if (in(a.result_to, first + k)) {
                send_to(*r, k, item_to(*r, first + k, step, true), left, acc);
            }
        }
    }
    if (has_own(*r)) {
        store_units(r->s, r->own_dst + at, left, a.vectors, acc);
    }
}

/* Of a step what is not combined: results, and moves. */
template <unsigned M> CT_DEV void take_step(struct ll32_run<M> *r, uint32_t step)
{
    const struct ct_kernel_short &a = *r->a;
    for (uint32_t first = r->group; has_turn(*r, first); first += M) {
        struct awaited<M> w;
        vec               x[M][UNITS] = {};
        turn_to(r, first);
        CT_UNROLL
        for (uint32_t k = 0; k < M; k++) {
            w.at[k] = nullptr;
            w.item[k] = 0;
            if (in(a.result_from, first + k) && r->s.data < left_of(*r, r->mate[k].gets, step)) {
                w.item[k] = item_from(*r, first + k, step, true);
                w.at[k] = r->mate[k].in + turn_of(a, w.item[k]);
            }
        }
        wait_ll32(&r->ch, r->s, w, x);
        let_go(*r, w, a.result_from);
        CT_UNROLL
        for (uint32_t k = 0; k < M; k++) {
            if (w.at[k] != nullptr) {
                store_units(r->s, r->mate[k].dst + (size_t)step * r->step_bytes,
                            left_of(*r, r->mate[k].gets, step), a.vectors, x[k]);
            }
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

template <unsigned M, class Dispatch>
CT_DEV void do_round(struct ll32_run<M> *r, uint32_t round, vec (&ahead)[M][UNITS], bool loaded)
{
    const struct ct_kernel_short &a = *r->a;
    const bool                    folds = a.from != 0;
    const uint32_t                lag = lag_of(a);
    if (round < a.steps) {
        send_step(r, round, ahead, loaded);
    }
    if (round < a.steps && !folds && a.own && has_own(*r)) {
        copy_step(*r, round);
    }
    if (folds && round >= 1 && round - 1 < a.steps) {
        fold_step<M, Dispatch>(r, round - 1);
    }
    if (a.result_from != 0 && round >= lag && round - lag < a.steps) {
        take_step(r, round - lag);
    }
}

/* On a GPU a thread is one, and what it sends first is asked for before all else; in the emulation
 * it does what all of them do, for each peer, one after the other. */
template <unsigned M, class Dispatch>
CT_DEV void run_ll32(const struct ct_kernel_short &a, struct ll32_numbers *numbers, vec *shown)
{
    struct ll32_run<M> r;
    vec                ahead[M][UNITS] = {};
    const uint32_t     rounds = a.steps + (a.from != 0) + (a.result_from != 0);
    r.a = &a;
    r.ch = {nullptr, a.abort, nullptr, nullptr, 0, true};
    r.n = numbers;
    r.shown = shown;
    r.own_src = static_cast<const char *>(a.own_src) + blockIdx.x * a.each_bytes;
    r.own_dst = static_cast<char *>(a.own_dst) + blockIdx.x * a.each_bytes;
    r.own_bytes = slice_bytes(a, a.own_bytes);
    r.step_bytes = a.lanes / CT_KERNEL_WARP * CT_KERNEL_WARP_DATA;
    set_thread(&r, thread());
    begin_kernel();
    const vec asked = ask_numbers(a);
    if (LANES > 1) {
        load_step(r, 0, ahead);
    }
    open_numbers(&r, asked);
    for (uint32_t round = 0; round < rounds; round++) {
        r.last = round + 1 == rounds;
        if (!fits_window(a)) {
            begin_round(&r, round);
        }
        if constexpr (LANES > 1) {
            turn_to(&r, r.group);
            do_round<M, Dispatch>(&r, round, ahead, round == 0);
        } else {
            for (uint32_t t = 0; t < a.lanes; t++) {
                set_thread(&r, t);
                do_round<M, Dispatch>(&r, round, ahead, false);
            }
        }
    }
    close_numbers(r);
}

template <class Dispatch> CT_DEV void run_ll32(const struct ct_kernel_short &a)
{
    __shared__ struct ll32_numbers numbers;
    __shared__ vec                 shown[UNITS * CT_KERNEL_LL32_THREADS];
    if constexpr (LANES > 1) {
        run_ll32<1, Dispatch>(a, &numbers, shown);
    } else {
        run_ll32<MATES, Dispatch>(a, &numbers, shown);
    }
}

#if defined(__CUDACC__)
#define CT_KERNEL_LL32(name)                                                                       \
    extern "C" __global__ void __launch_bounds__(CT_KERNEL_LL32_THREADS)                           \
        name(const __grid_constant__ struct ct_kernel_short a)
#else
#define CT_KERNEL_LL32(name) CT_KERNEL(name, struct ct_kernel_short)
#endif

#endif
