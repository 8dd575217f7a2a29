/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest way of flagged items, for calls whose items are one step: each thread has one unit
 * of 16 bytes of what goes to each peer and of what comes from it. On the link it is what
 * flagged.cuh does, so of two ranks one may use this and the other that.
 *
 * A kernel of so few bytes takes as long as its instructions. Between two H200 an exchange of a
 * word takes 1.4 us with all that a launch costs in a graph; the general kernel, which divides its
 * threads among peers and its bytes among steps, took 3.1. So the host has worked out all addresses
 * (struct ct_kernel_short); they lie together, since a line of arguments takes 0.1 us when it is
 * first read; each thread reads the control words itself, so nothing meets before the data is on
 * its way; and what other threads are to know of is done while the peers' data is.
 *
 * A thread does what there is to do with N peers, one after the other; or, where a block has
 * threads enough, each peer has warps of its own (`spread`), and so has what is the rank's own.
 * Then all peers take as many instructions as one: among four H200 a word to all and from all took
 * 2.9 us, and so 2.2.
 */
#ifndef CT_GPU_KERNELS_SHORT_H
#define CT_GPU_KERNELS_SHORT_H

#include "gpu/kernels/channel.cuh"

/* How many of a unit's bytes count. */
CT_DEV uint32_t unit_of(uint32_t at, uint32_t bytes)
{
    return at >= bytes ? 0 : bytes - at < 16 ? bytes - at : 16;
}

/* Whole words; `vectors`: p is a multiple of 16. */
CT_DEV vec load_unit(const char *p, uint32_t bytes, bool vectors)
{
    vec v = {{0, 0, 0, 0}};
    if (vectors && bytes == 16) {
        return load_vec(p);
    }
    CT_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        if (4 * k < bytes) {
            v.w[k] = *reinterpret_cast<const uint32_t *>(p + 4 * k);
        }
    }
    return v;
}

CT_DEV void put_unit(char *p, uint32_t bytes, bool vectors, vec v)
{
    if (vectors && bytes == 16) {
        store_vec(p, v);
        return;
    }
    CT_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
        if (4 * k < bytes) {
            *reinterpret_cast<uint32_t *>(p + 4 * k) = v.w[k];
        }
    }
}

/* What is `bytes` further on for each block. */
template <class T> CT_DEV T *of_block(T *first, uint32_t bytes)
{
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(first) + (uint64_t)blockIdx.x * bytes);
}

/* What a block has of a buffer of so many bytes. */
CT_DEV uint32_t slice_bytes(const struct ct_kernel_short &a, uint32_t bytes)
{
    const uint32_t before = blockIdx.x * a.each_bytes;
    const uint32_t left = before < bytes ? bytes - before : 0;
    return left < a.each_bytes ? left : a.each_bytes;
}

/* Whether it has an item of so many: the first block has one of nothing, too. */
CT_DEV bool has_slice(const struct ct_kernel_short &a, uint32_t bytes)
{
    return blockIdx.x == 0 || blockIdx.x * a.each_bytes < bytes;
}

/* A thread's place: the number t of `all` that have the same peers, of which `first` is the first;
 * where that is a.peers, they have what is the rank's own. */
struct slot {
    uint32_t first, t, all;
};

CT_DEV bool is_spread(const struct ct_kernel_short &a)
{
    return a.spread != 0 && LANES > 1;
}

template <unsigned N> CT_DEV struct slot slot_of_rank(const struct ct_kernel_short &a)
{
    const uint32_t all = 1u << a.spread;
    if (N > 1 || !is_spread(a)) {
        return {0, thread(), threads()};
    }
    return {thread() >> a.spread, thread() & (all - 1), all};
}

/* Whether its threads are the whole block. */
CT_DEV bool has_all(const struct slot *s)
{
    return s->all == threads();
}

/* What a thread has to do with a peer: a unit of what its block has. */
struct party {
    bool                    to, from;    /* the block has an item for it, and one from it */
    bool                    out1, in1;   /* of which the unit has a first line, */
    uint32_t                sends, gets; /* and so many bytes */
    struct ct_kernel_words *words;       /* of the peer, here, */
    struct ct_kernel_words *theirs;      /* and of this rank, there */
    const char             *src, *in;    /* what goes to it; where in a slot that comes which is */
    char                   *dst, *out;   /* for here; where in a slot there that is which goes */
    vec                     told, unit;  /* the words; what goes, and then what has come */
};

/* The unit at `at`, of arguments alone. */
template <unsigned N>
CT_DEV void parties_of(const struct ct_kernel_short &a, const struct slot *s, struct party (&p)[N],
                       uint32_t at)
{
    const uint32_t line = (uint32_t)line_of(at), from = blockIdx.x * a.each_bytes + at;
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t                     i = s->first + k;
        const struct ct_kernel_short_peer &q = a.peer[i];
        p[k].to = p[k].from = false;
        if (i < a.peers) {
            p[k].to = in(a.to, i) && has_slice(a, q.send_extent);
            p[k].from = in(a.from, i) && has_slice(a, q.recv_extent);
            p[k].theirs = of_block(q.theirs, a.words_bytes);
            p[k].sends = unit_of(at, slice_bytes(a, q.send_bytes));
            p[k].gets = unit_of(at, slice_bytes(a, q.recv_bytes));
            p[k].out1 = p[k].to && (p[k].sends > 0 || at == 0);
            p[k].in1 = p[k].from && (p[k].gets > 0 || at == 0);
            p[k].words = of_block(q.words, a.words_bytes);
            p[k].src = static_cast<const char *>(q.src) + from;
            p[k].dst = static_cast<char *>(q.dst) + from;
            p[k].in = of_block(q.in, a.slots_bytes) + line;
            p[k].out = of_block(q.out, a.slots_bytes) + line;
        }
    }
}

/* On a GPU a thread has one unit; in the emulation one thread has all. */
template <unsigned N>
CT_DEV bool next_unit(const struct ct_kernel_short &a, const struct slot *s, struct party (&p)[N],
                      uint32_t *at)
{
    *at += s->all * 16;
    if (LANES > 1 || *at >= a.each_bytes) {
        return false;
    }
    parties_of<N>(a, s, p, *at);
    return true;
}

template <unsigned N>
CT_DEV void first_unit(const struct ct_kernel_short &a, const struct slot *s, struct party (&p)[N],
                       uint32_t *at)
{
    *at = s->t * 16;
    if (LANES == 1) {
        parties_of<N>(a, s, p, *at);
    }
}

CT_DEV uint32_t turn_of(const struct ct_kernel_short &a, uint32_t item)
{
    return item % CT_KERNEL_WINDOW * a.turn_bytes;
}

/* The words of all. */
template <unsigned N> CT_DEV void ask_all(struct party (&p)[N])
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (p[k].to || p[k].from) {
            p[k].told = load_words(p[k].words);
        }
    }
}

template <unsigned N> CT_DEV void load_all(const struct ct_kernel_short &a, struct party (&p)[N])
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (p[k].to) {
            p[k].unit = load_unit(p[k].src, p[k].sends, a.vectors);
        }
    }
}

/* An item that refreshes its slot (channel.cuh): all lines are written. */
CT_DEV void refresh_slot(const struct ct_kernel_short &a, const struct slot *s,
                         const struct ct_kernel_short_peer &q, uint32_t item)
{
    char *const       slot = of_block(q.out, a.slots_bytes) + turn_of(a, item);
    const char *const src = of_block(static_cast<const char *>(q.src), a.each_bytes);
    const uint32_t    all = slice_bytes(a, q.send_bytes);
    for (uint32_t at = s->t * 16; at < a.units_bytes; at += s->all * 16) {
        const uint32_t bytes = unit_of(at, all);
        store_unit(slot, at, load_unit(src + at, bytes, a.vectors), 16, item);
    }
    if (s->t == 0) {
        store_flag(&of_block(q.theirs, a.words_bytes)->ready, item);
    }
}

template <unsigned N>
CT_DEV void send_all(struct channel *ch, const struct ct_kernel_short &a, const struct slot *s,
                     struct party (&p)[N])
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (!p[k].to) {
            continue;
        }
        const uint32_t item = p[k].told.w[0] + 1;
        const uint64_t flag = (uint64_t)item << 32;
        char *const    to = p[k].out + turn_of(a, item);
        const vec      v = p[k].unit;
        if (item - p[k].told.w[2] > CT_KERNEL_WINDOW) {
            wait_acked(ch, &p[k].words->acked, item);
        }
        if (p[k].out1) {
            store_line(to, {v.w[0] | flag, v.w[1] | flag});
        }
        if (p[k].sends > 8) {
            store_line(to + SECOND, {v.w[2] | flag, v.w[3] | flag});
        }
        if (refreshes(item)) {
            refresh_slot(a, s, a.peer[s->first + k], item);
        }
    }
}

/* Says that what had come in earlier kernels is done with. */
template <unsigned N> CT_DEV void acknowledge(const struct slot *s, const struct party (&p)[N])
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (p[k].from && s->t == 0) {
            store_flag(&p[k].theirs->acked, p[k].told.w[1]);
        }
    }
}

/* What will have gone and come when the kernel is over; behind a barrier, as all have read it. */
template <unsigned N> CT_DEV void count_all(const struct slot *s, const struct party (&p)[N])
{
    __syncthreads();
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        if (p[k].to && s->t == 0) {
            p[k].words->sent = p[k].told.w[0] + 1;
        }
        if (p[k].from && s->t == 0) {
            p[k].words->got = p[k].told.w[1] + 1;
        }
    }
}

/* The lines of what comes: the first ones, the second ones; nullptr: none. */
template <unsigned N> struct lines {
    const char *at[2 * N];
    line        l[2 * N];
    uint32_t    item[2 * N];
};

template <unsigned N>
CT_DEV void ask_lines(const struct ct_kernel_short &a, const struct party (&p)[N],
                      struct lines<N>              *x)
{
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        x->item[k] = x->item[N + k] = 0;
        x->at[k] = x->at[N + k] = nullptr;
        x->l[k] = x->l[N + k] = {0, 0};
        if (p[k].from) {
            const uint32_t    item = p[k].told.w[1] + 1;
            const char *const at = p[k].in + turn_of(a, item);
            x->item[k] = x->item[N + k] = item;
            x->at[k] = p[k].in1 ? at : nullptr;
            x->at[N + k] = p[k].gets > 8 ? at + SECOND : nullptr;
        }
        if (x->at[k] != nullptr) {
            x->l[k] = load_line(x->at[k]);
        }
        if (x->at[N + k] != nullptr) {
            x->l[N + k] = load_line(x->at[N + k]);
        }
    }
}

template <unsigned N>
CT_DEV void await_lines(struct channel *ch, struct lines<N> *x, struct party (&p)[N])
{
    wait_lines(ch, x->at, x->l, x->item);
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        const line f = x->l[k], s = x->l[N + k];
        p[k].unit = {{(uint32_t)f.a, (uint32_t)f.b, (uint32_t)s.a, (uint32_t)s.b}};
    }
}

/* Of a thread behind the waits: whether its block waits for nobody who is not running. The others'
 * lines come from where its own have come from; so of a peer that it had none from it knows
 * nothing. */
template <unsigned N> CT_DEV bool may_let_go(const struct lines<N> &x, const struct party (&p)[N])
{
    bool knows = true;
    CT_UNROLL
    for (uint32_t k = 0; k < N; k++) {
        knows = knows && (!p[k].from || x.at[k] != nullptr);
    }
    return knows;
}

/* By all of a block, each behind the waits for its own peers: behind those for all. */
CT_DEV void all_meet(const struct slot *s)
{
    if (!has_all(s)) {
        __syncthreads();
    }
}

/* A thread's unit of what is the rank's own. */
struct own_unit_place {
    const char *src;
    char       *dst;
    uint32_t    bytes;
};

CT_DEV struct own_unit_place own_of(const struct ct_kernel_short &a, const struct slot *s,
                                    uint32_t at)
{
    const uint32_t from = blockIdx.x * a.each_bytes + at;
    const bool     is_mine = has_all(s) || s->first == a.peers;
    return {static_cast<const char *>(a.own_src) + from, static_cast<char *>(a.own_dst) + from,
            is_mine ? unit_of(at, slice_bytes(a, a.own_bytes)) : 0};
}

/* The whole of a kernel. Work has what is the rank's own: it finds it, loads it, keeps of it what
 * needs nothing of others, and takes what comes. */
template <unsigned N, class Work> CT_DEV void run_short(const struct ct_kernel_short &a, Work *work)
{
    struct channel    ch = {nullptr, a.abort, nullptr, nullptr, 0, true};
    const struct slot s = slot_of_rank<N>(a);
    struct party      p[N];
    struct lines<N>   x;
    uint32_t          at = s.t * 16;
    parties_of<N>(a, &s, p, at);
    work->find(a, &s, at);
    begin_kernel();
    ask_all<N>(p);
    load_all<N>(a, p);
    work->load(a);
    send_all<N>(&ch, a, &s, p);
    while (next_unit<N>(a, &s, p, &at)) {
        load_all<N>(a, p);
        send_all<N>(&ch, a, &s, p);
    }
    first_unit<N>(a, &s, p, &at);
    acknowledge<N>(&s, p);
    ask_lines<N>(a, p, &x);
    count_all<N>(&s, p);
    work->keep(a);
    await_lines<N>(&ch, &x, p);
    work->template show<N>(&s, p);
    all_meet(&s);
    if (may_let_go<N>(x, p)) {
        let_next_start();
    }
    work->template take<N>(a, &s, p);
    while (next_unit<N>(a, &s, p, &at)) {
        work->find(a, &s, at);
        work->load(a);
        work->keep(a);
        ask_lines<N>(a, p, &x);
        await_lines<N>(&ch, &x, p);
        work->template take<N>(a, &s, p);
    }
    if (a.finished != nullptr) {
        __syncthreads();
        tell_over(a.finished, a.finishes, a.through);
    }
}

/* By the number of peers, as registers allow. */
template <class Work> CT_DEV void run_short(const struct ct_kernel_short &a, Work *work)
{
    if (a.peers <= 1 || is_spread(a)) {
        run_short<1>(a, work);
    } else if (a.peers <= 3) {
        run_short<3>(a, work);
    } else {
        run_short<CT_KERNEL_SHORT>(a, work);
    }
}

#endif
