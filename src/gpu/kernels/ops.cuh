/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operators on vectors of 16 bytes: combine<type, operator>(a, b) is a op b, element by
 * element, with the results that dtype/dtype.h promises of the host's kernels, bit for bit but for
 * NaNs.
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

struct e4m3 {
    typedef uint8_t T;
    typedef float   C;
    CT_MEMBER C     get(T x)
    {
        return ct_e4m3_to_float(x);
    }
    CT_MEMBER T put(C x)
    {
        return ct_e4m3_from_float(x);
    }
};

struct e5m2 {
    typedef uint8_t T;
    typedef float   C;
    CT_MEMBER C     get(T x)
    {
        return ct_e5m2_to_float(x);
    }
    CT_MEMBER T put(C x)
    {
        return ct_e5m2_from_float(x);
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
struct op_band {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return x & y;
    }
};
struct op_bor {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return x | y;
    }
};
struct op_bxor {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return x ^ y;
    }
};
struct op_land {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return (X)(x != 0 && y != 0);
    }
};
struct op_lor {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return (X)(x != 0 || y != 0);
    }
};
struct op_lxor {
    template <class X> CT_MEMBER X of(X x, X y)
    {
        return (X)((x != 0) != (y != 0));
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

/* ---- which operators a type has: Body::run<reducer>() for the one that is asked for ---------- */

#define CT_OP_CASE(number, op)                                                                     \
    case number:                                                                                   \
        body->template run<reducer<Type, op>>();                                                   \
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
            CT_OP_CASE(CT_KERNEL_LAND, op_land)
            CT_OP_CASE(CT_KERNEL_LOR, op_lor)
            CT_OP_CASE(CT_KERNEL_LXOR, op_lxor)
        }
    }
};
/* The bits of any type, as words; the kernel of bytes has these. */
struct bitwise {
    template <class Body> CT_MEMBER void dispatch(uint32_t op, Body *body)
    {
        typedef plain<uint32_t> Type;
        switch (op) {
            CT_OP_CASE(CT_KERNEL_BAND, op_band)
            CT_OP_CASE(CT_KERNEL_BOR, op_bor)
            CT_OP_CASE(CT_KERNEL_BXOR, op_bxor)
        }
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
