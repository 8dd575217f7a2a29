/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread does in ct_reduce_short_<type> (short.cuh): it combines a unit of all in the order
 * of ranks. Where peers are spread over warps, those that have what is the rank's own do that; the
 * others show them in shared memory what has come.
 */
#ifndef CT_GPU_KERNELS_REDUCE_SHORT_H
#define CT_GPU_KERNELS_REDUCE_SHORT_H

#include "gpu/kernels/short.cuh"

/* Combines in the order of ranks: the own contribution is put between those of the peers. */
template <unsigned N> struct fold_short {
    vec      x[N + 1];
    uint32_t there; /* a mask of those that count */
    vec      acc;

    /* from: a mask of the peers that have sent. */
    __device__ __forceinline__ void line_up(const struct ct_kernel_short &a, const vec (&got)[N],
                                            uint32_t from, vec own)
    {
        there = (uint32_t)a.own << a.below;
        CT_UNROLL
        for (uint32_t k = 0; k <= N; k++) {
            x[k] = own;
            if (k < N && k < a.below) {
                x[k] = got[k];
                there |= (from >> k & 1) << k;
            }
            if (k > 0 && k > a.below) {
                x[k] = got[k - 1];
                there |= (from >> (k - 1) & 1) << k;
            }
        }
    }

    template <class R> __device__ __forceinline__ void run(const R &r)
    {
        acc = x[0];
        CT_UNROLL
        for (uint32_t k = 1; k <= N; k++) {
            const vec  both = r.combine(acc, x[k]);
            const bool has = in(there, k), any = (there & ((1u << k) - 1)) != 0;
            CT_UNROLL
            for (unsigned w = 0; w < 4; w++) {
                acc.w[w] = !has ? acc.w[w] : any ? both.w[w] : x[k].w[w];
            }
        }
    }
};

template <class Dispatch> struct reducing_short {
    struct own_unit_place own;
    vec                   unit;
    vec                  *units; /* of each thread, in shared memory, where peers are spread */

    __device__ __forceinline__ void find(const struct ct_kernel_short &a, const struct slot *s,
                                         uint32_t at)
    {
        own = own_of(a, s, at);
    }

    __device__ __forceinline__ void load(const struct ct_kernel_short &a)
    {
        unit = load_unit(own.src, a.own ? own.bytes : 0, a.vectors);
    }

    __device__ __forceinline__ void keep(const struct ct_kernel_short &)
    {
    }

    /* Before a barrier. */
    template <unsigned N>
    __device__ __forceinline__ void show(const struct slot *s, const struct party (&p)[N])
    {
        if (!has_all(s)) {
            units[thread()] = p[0].unit;
        }
    }

    template <unsigned N>
    __device__ __forceinline__ void take(const struct ct_kernel_short &a, const struct slot *s,
                                         const struct party (&p)[N])
    {
        if (has_all(s)) {
            vec      got[N];
            uint32_t from = 0;
            CT_UNROLL
            for (uint32_t k = 0; k < N; k++) {
                got[k] = p[k].unit;
                from |= (uint32_t)p[k].from << k;
            }
            fold<N>(a, got, from);
        } else if (s->first == a.peers) {
            take_shown(a, s);
        }
    }

    __device__ __forceinline__ void take_shown(const struct ct_kernel_short &a,
                                               const struct slot            *s)
    {
        vec got[CT_KERNEL_SPREAD];
        CT_UNROLL
        for (uint32_t k = 0; k < CT_KERNEL_SPREAD; k++) {
            got[k] = {{0, 0, 0, 0}};
            if (k < a.peers) {
                got[k] = units[(k << a.spread) + s->t];
            }
        }
        fold<CT_KERNEL_SPREAD>(a, got, a.from);
    }

    template <unsigned N>
    __device__ __forceinline__ void fold(const struct ct_kernel_short &a, const vec (&got)[N],
                                         uint32_t                      from)
    {
        struct fold_short<N> f;
        f.line_up(a, got, from, unit);
        Dispatch::dispatch(a.op, &f);
        put_unit(own.dst, own.bytes, a.vectors, f.acc);
    }
};

template <class Dispatch> CT_DEV void reduce_short(const struct ct_kernel_short &a)
{
    __shared__ vec                  units[CT_KERNEL_THREADS];
    struct reducing_short<Dispatch> work;
    work.units = units;
    run_short(a, &work);
}

#endif
