/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operators on vectors of 16 bytes: combine<type, operator>(a, b) is a op b, element by
 * element, with the results that dtype/dtype.h promises of the host's kernels, bit for bit except
 * for NaNs.
 */
#ifndef CT_GPU_KERNELS_OPS_H
#define CT_GPU_KERNELS_OPS_H

#include <string.h>

#include "gpu/kernels/port.cuh"

/* ---- how the elements of a type are stored and computed: T, and C ---------------------------- */

template <class Stored> struct plain {
    typedef Stored T;
    typedef Stored C;
    CT_MEMBER C    get(T x)
    {
        return x;
    }
    CT_MEMBER T put(C x)
    {
        return x;
    }
};

struct f16 {
    typedef uint16_t T;
    typedef float    C;
    CT_MEMBER C      get(T x)
    {
        return f16_to_float(x);
    }
    CT_MEMBER T put(C x)
    {
        return f16_from_float(x);
    }
};

struct bf16 {
    typedef uint16_t T;
    typedef float    C;
    CT_MEMBER C      get(T x)
    {
        return float_of_bits((uint32_t)x << 16);
    }
    CT_MEMBER T put(C x)
    {
        return bf16_from_float(x);
    }
};

/* Two at a time, since that is how GPUs convert them. */
struct e4m3 {
    typedef uint8_t T;
    typedef float   C;
    CT_MEMBER void  get_two(uint16_t x, C *low, C *high)
    {
        e4m3_to_floats(x, low, high);
    }
    CT_MEMBER uint16_t put_two(C low, C high)
    {
        return e4m3_from_floats(low, high);
    }
};

struct e5m2 {
    typedef uint8_t T;
    typedef float   C;
    CT_MEMBER void  get_two(uint16_t x, C *low, C *high)
    {
        e5m2_to_floats(x, low, high);
    }
    CT_MEMBER uint16_t put_two(C low, C high)
    {
        return e5m2_from_floats(low, high);
    }
};

template <class Part> struct complex_of {
    struct T {
        Part re, im;
    };
    typedef T   C;
    CT_MEMBER C get(T x)
    {
        return x;
    }
    CT_MEMBER T put(C x)
    {
        return x;
    }
};

/* As ct_pair_*: the compiler lays it out as the host's does. */
template <class Value> struct pair_of {
    struct T {
        Value   value;
        int32_t index;
    };
    typedef T   C;
    CT_MEMBER C get(T x)
    {
        return x;
    }
    CT_MEMBER T put(C x)
    {
        return x;
    }
};

/* ---- the operators --------------------------------------------------------------------------- */

template <class X> CT_DEV bool unordered(X)
{
    return false;
}
CT_DEV bool unordered(float x)
{
    return x != x;
}
CT_DEV bool unordered(double x)
{
    return x != x;
}

/* Small unsigned integers become int, whose product could overflow. */
template <class X> struct wide {
    typedef X type;
};
template <> struct wide<uint8_t> {
    typedef uint32_t type;
};
template <> struct wide<uint16_t> {
    typedef uint32_t type;
};

struct op_sum {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return (X)(x + y);
    }
    template <class P> CT_MEMBER typename complex_of<P>::T pair(P xr, P xi, P yr, P yi)
    {
        return {xr + yr, xi + yi};
    }
};
struct op_prod {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return (X)((typename wide<X>::type)x * (typename wide<X>::type)y);
    }
    template <class P> CT_MEMBER typename complex_of<P>::T pair(P xr, P xi, P yr, P yi)
    {
        const P minus = -xi;
        return {xr * yr + minus * yi, xr * yi + xi * yr};
    }
};
struct op_min {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return x < y || unordered(x) ? x : y;
    }
    /* Whether x goes before y, whatever their indices; a NaN before a number. */
    template <class X> CT_MEMBER bool wins(X x, X y)
    {
        return !unordered(y) && (x < y || unordered(x));
    }
};
struct op_max {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return x > y || unordered(x) ? x : y;
    }
    template <class X> CT_MEMBER bool wins(X x, X y)
    {
        return !unordered(y) && (x > y || unordered(x));
    }
};
/* ---- an operator on the elements of a type --------------------------------------------------- */

template <class Type, class Op> struct on_elements {
    CT_MEMBER typename Type::T one(typename Type::T x, typename Type::T y)
    {
        return Type::put(Op::template of<typename Type::C>(Type::get(x), Type::get(y)));
    }
};
template <class P, class Op> struct on_elements<complex_of<P>, Op> {
    typedef typename complex_of<P>::T T;
    CT_MEMBER T                       one(T x, T y)
    {
        return Op::template pair<P>(x.re, x.im, y.re, y.im);
    }
};
template <class V, class Op> struct on_elements<pair_of<V>, Op> {
    typedef typename pair_of<V>::T T;
    CT_MEMBER T                    one(T x, T y)
    {
        const bool first =
            Op::wins(x.value, y.value) || (!Op::wins(y.value, x.value) && x.index <= y.index);
        return first ? x : y;
    }
};

template <class Type, class Op> struct reducer {
    CT_MEMBER vec combine(vec a, vec b)
    {
        typename Type::T x[16 / sizeof(typename Type::T)], y[16 / sizeof(typename Type::T)];
        memcpy(x, &a, sizeof x);
        memcpy(y, &b, sizeof y);
        CT_UNROLL
        for (unsigned i = 0; i < 16 / sizeof x[0]; i++) {
            x[i] = on_elements<Type, Op>::one(x[i], y[i]);
        }
        memcpy(&a, x, sizeof a);
        return a;
    }
};

/* The bitwise operators, all three by the same instructions. */
struct bitwise_reducer {
    uint32_t differ, both; /* masks: where one bit of the two is set, where both are */

    __device__ __forceinline__ vec combine(vec a, vec b) const
    {
        CT_UNROLL
        for (unsigned i = 0; i < 4; i++) {
            a.w[i] = ((a.w[i] ^ b.w[i]) & differ) | (a.w[i] & b.w[i] & both);
        }
        return a;
    }
};

CT_DEV struct bitwise_reducer bitwise_of(bool differ, bool both)
{
    return {differ ? ~0u : 0, both ? ~0u : 0};
}

/* The logical ones: the same with elements that are 0 or 1. */
template <class T> struct logical_reducer {
    struct bitwise_reducer bits;

    CT_MEMBER vec truth(vec a)
    {
        T x[16 / sizeof(T)];
        memcpy(x, &a, sizeof x);
        CT_UNROLL
        for (unsigned i = 0; i < 16 / sizeof x[0]; i++) {
            x[i] = x[i] != 0;
        }
        memcpy(&a, x, sizeof a);
        return a;
    }

    __device__ __forceinline__ vec combine(vec a, vec b) const
    {
        return bits.combine(truth(a), truth(b));
    }
};

/* The 8-bit floating-point formats, whose conversions are most of the work: all operators share
 * them. A kernel's code has a fourth of the length that it has with a copy for each. */
template <class Type> struct narrow_reducer {
    uint32_t op;

    enum { N = 16 };

    CT_MEMBER void unpack(vec a, float (&x)[N])
    {
        CT_UNROLL
        for (unsigned i = 0; i < N; i += 2) {
            Type::get_two((uint16_t)(a.w[i / 4] >> 8 * (i % 4)), &x[i], &x[i + 1]);
        }
    }

    CT_MEMBER vec pack(const float (&x)[N])
    {
        vec a = {{0, 0, 0, 0}};
        CT_UNROLL
        for (unsigned i = 0; i < N; i += 2) {
            a.w[i / 4] |= (uint32_t)Type::put_two(x[i], x[i + 1]) << 8 * (i % 4);
        }
        return a;
    }

    template <class Op> CT_MEMBER void each(float (&x)[N], const float (&y)[N])
    {
        CT_UNROLL
        for (unsigned i = 0; i < N; i++) {
            x[i] = Op::template of<float>(x[i], y[i]);
        }
    }

    __device__ __forceinline__ vec combine(vec a, vec b) const
    {
        float x[N], y[N];
        unpack(a, x);
        unpack(b, y);
        switch (op) {
        case CT_KERNEL_SUM:
            each<op_sum>(x, y);
            break;
        case CT_KERNEL_PROD:
            each<op_prod>(x, y);
            break;
        case CT_KERNEL_MIN:
            each<op_min>(x, y);
            break;
        default:
            each<op_max>(x, y);
            break;
        }
        return pack(x);
    }
};

/* ---- which operators a type has: Body::run(reducer) for the one that is asked for ------------ */

#define CT_OP_CASE(number, op)                                                                     \
    case number:                                                                                   \
        body->run(reducer<Type, op>());                                                            \
        break;

template <class Type> struct comparing { /* signed integers: the rest is the unsigned type's */
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        switch (op) {
            CT_OP_CASE(CT_KERNEL_MIN, op_min)
            CT_OP_CASE(CT_KERNEL_MAX, op_max)
        }
    }
};
template <class Type> struct arithmetic {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        switch (op) {
            CT_OP_CASE(CT_KERNEL_SUM, op_sum)
            CT_OP_CASE(CT_KERNEL_PROD, op_prod)
            CT_OP_CASE(CT_KERNEL_MIN, op_min)
            CT_OP_CASE(CT_KERNEL_MAX, op_max)
        }
    }
};
template <class Type> struct integral {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        switch (op) {
            CT_OP_CASE(CT_KERNEL_SUM, op_sum)
            CT_OP_CASE(CT_KERNEL_PROD, op_prod)
            CT_OP_CASE(CT_KERNEL_MIN, op_min)
            CT_OP_CASE(CT_KERNEL_MAX, op_max)
        case CT_KERNEL_LAND:
        case CT_KERNEL_LOR:
        case CT_KERNEL_LXOR:
            body->run(logical_reducer<typename Type::T>{
                bitwise_of(op != CT_KERNEL_LAND, op != CT_KERNEL_LXOR)});
            break;
        }
    }
};
/* The bits of any type; the kernel of bytes has these. */
struct bitwise {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        switch (op) {
        case CT_KERNEL_BAND:
        case CT_KERNEL_BOR:
        case CT_KERNEL_BXOR:
            body->run(bitwise_of(op != CT_KERNEL_BAND, op != CT_KERNEL_BXOR));
            break;
        }
    }
};
template <class Type> struct narrow {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        body->run(narrow_reducer<Type>{op});
    }
};
template <class Type> struct ring { /* complex numbers */
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        switch (op) {
            CT_OP_CASE(CT_KERNEL_SUM, op_sum)
            CT_OP_CASE(CT_KERNEL_PROD, op_prod)
        }
    }
};
template <class Type> struct locating {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        switch (op) {
            CT_OP_CASE(CT_KERNEL_MINLOC, op_min)
            CT_OP_CASE(CT_KERNEL_MAXLOC, op_max)
        }
    }
};

#undef CT_OP_CASE

#endif
