/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernels ask of the machine: vectors of 16 bytes, words that other devices write or read
 * meanwhile, and the 16-bit formats. PTX for nvcc; for a compiler of the host, functions with the
 * same effect in the emulation. Nothing else in the kernels differs between the two.
 *
 * Scope is the system throughout, since peers are other devices. A flagged line is two words of 8
 * bytes, each of which arrives whole (PTX ISA, memory consistency model: vector accesses are a set
 * of scalar ones). Bulk data are plain stores; a barrier of the block, a fence and the store of a
 * flag by one thread publish them, the load of the flag with acquire and a barrier obtain them.
 */
#ifndef CT_GPU_KERNELS_PORT_H
#define CT_GPU_KERNELS_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "dtype/fp8.h"
#include "gpu/kernels/args.h"

/* 16 bytes, as they are loaded and stored. */
struct alignas(16) vec {
    uint32_t w[4];
};
struct line {
    uint64_t a, b;
};

/* Of rows (ll32.cuh): lines of a warp side by side are a group of them, and a thread has one of
 * each of four groups. */
enum { LINE_BYTES = 16, LL32_LINES = 2, LL32_GROUPS = 4, LL32_GROUP = 32 * LINE_BYTES };

#if defined(__CUDACC__)

#define CT_DEV     static __device__ __forceinline__
#define CT_MEMBER  static __device__ __forceinline__
#define CT_OUTLINE static __device__ __noinline__
#define CT_UNROLL  _Pragma("unroll")
/* Before all else in a kernel, which may have been started while the one before it on its stream
 * ends (launch.c): behind this that is over, with all that it wrote. */
CT_DEV void begin_kernel()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* By all blocks that do not end first: from here on the next kernel may be started, to wait
 * likewise. Behind all waits for peers: that may be a kernel of the program, which then has
 * multiprocessors for which others wait. */
CT_DEV void let_next_start()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* One that calls begin_kernel itself, before it touches memory. */
#define CT_KERNEL_EARLY(name, type)                                                                \
    extern "C" __global__ void __launch_bounds__(CT_KERNEL_THREADS)                                \
        name(const __grid_constant__ type a)

#define CT_KERNEL(name, type)                                                                      \
    static __device__ __forceinline__ void name##_body(const type &a);                             \
    CT_KERNEL_EARLY(name, type)                                                                    \
    {                                                                                              \
        begin_kernel();                                                                            \
        name##_body(a);                                                                            \
    }                                                                                              \
    static __device__ __forceinline__ void name##_body(const type &a)

CT_DEV uint64_t global(const void *p)
{
    return (uint64_t)__cvta_generic_to_global(p);
}

CT_DEV vec load_vec(const void *p)
{
    vec v;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                 : "l"(global(p))
                 : "memory");
    return v;
}

CT_DEV void store_vec(void *p, vec v)
{
    asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(global(p)), "r"(v.w[0]), "r"(v.w[1]),
                 "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
}

CT_DEV line load_line(const void *p)
{
    line l;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0,%1}, [%2];"
                 : "=l"(l.a), "=l"(l.b)
                 : "l"(global(p))
                 : "memory");
    return l;
}

CT_DEV void store_line(void *p, line l)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1,%2};" ::"l"(global(p)), "l"(l.a), "l"(l.b)
                 : "memory");
}

/* A word that another device writes: with what was published before it. */
CT_DEV uint32_t load_flag(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(global(p)) : "memory");
    return v;
}

/* The same without: of words that let write, and nothing else. */
CT_DEV uint32_t load_word(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(global(p)) : "memory");
    return v;
}

/* Four of them at once. */
CT_DEV vec load_words(const void *p)
{
    vec v;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                 : "l"(global(p))
                 : "memory");
    return v;
}

/* What all threads of the block wrote before the last barrier is there before what follows. */
CT_DEV void fence()
{
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* The same before what follows on this device; what is on its way to others need not have come. */
CT_DEV void fence_here()
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

CT_DEV void store_flag(uint32_t *p, uint32_t v)
{
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(global(p)), "r"(v) : "memory");
}

/* A word in the host's memory. */
CT_DEV uint32_t load_host(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

CT_DEV void store_host(uint32_t *p, uint32_t v)
{
    asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/* Of blocks of one device: what was there, which is 0 again behind `most`. What the threads of a
 * block wrote before their last barrier, who counts later sees. */
CT_DEV uint32_t count_one(uint32_t *p, uint32_t most)
{
    uint32_t was;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(was)
                 : "l"(global(p)), "r"(most)
                 : "memory");
    return was;
}

CT_DEV bool any_of_warp(bool b)
{
    return __any_sync(~0u, b) != 0;
}

CT_DEV void idle()
{
}

CT_DEV float f16_to_float(uint16_t h)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
    return f;
}

CT_DEV uint16_t f16_from_float(float f)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

CT_DEV uint16_t bf16_from_float(float f)
{
    uint16_t h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(f));
    return h;
}

CT_DEV float float_of_bits(uint32_t u)
{
    return __uint_as_float(u);
}

CT_DEV uint32_t float_bits(float f)
{
    return __float_as_uint(f);
}

/* ---- barriers of some warps, in shared memory (mbarrier) --------------------------------------
 * So many arrivals complete a phase, the first of which is 0. A wait is for the end of a phase: it
 * is over when that phase is, and no other has ended since. */

CT_DEV uint32_t shared(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

CT_DEV void barrier_init(uint64_t *b, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared(b)), "r"(arrivals) : "memory");
}

/* By one thread for all of its warp, which has met. */
CT_DEV void barrier_arrive(uint64_t *b)
{
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(shared(b))
                 : "memory");
}

CT_DEV bool barrier_passed(uint64_t *b, uint32_t phase)
{
    uint32_t passed;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"(shared(b)), "r"(phase & 1)
                 : "memory");
#else
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                 "  selp.u32 %0, 1, 0, p; }"
                 : "=r"(passed)
                 : "r"(shared(b)), "r"(phase & 1)
                 : "memory");
#endif
    return passed != 0;
}

CT_DEV void warp_meets()
{
    __syncwarp();
}

/* The barrier of so many threads; 0 is that of the whole block. */
CT_DEV void takers_meet(uint32_t threads)
{
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
}

/* ---- rows ------------------------------------------------------------------------------------ */

CT_DEV void ask_ll32(const char *first, line (&l)[LL32_GROUPS])
{
    CT_UNROLL
    for (unsigned u = 0; u < LL32_GROUPS; u++) {
        l[u] = load_line(first + u * LL32_GROUP);
    }
}

/* By a whole warp, of what has been asked for: the threads at the ends of rows see the numbers. */
CT_DEV bool have_come(const char *, uint32_t lane, uint32_t item, line (&l)[LL32_GROUPS])
{
    bool missing = false;
    CT_UNROLL
    for (unsigned u = 0; u < LL32_GROUPS; u++) {
        missing = missing || (uint32_t)(l[u].b >> 32) != item;
    }
    return !any_of_warp(missing && lane % LL32_LINES == LL32_LINES - 1);
}

CT_DEV void store_ll32_line(void *p, line l)
{
    store_line(p, l);
}

enum { LANES = 32 }; /* of a warp */

enum {
    SPINS = 256,  /* before the first look at the abort word: some 0.1 ms; */
    LOOKS = 8192, /* between two of a warp */
};

#else

#include "emu/cuda/device.cuh"

#define CT_DEV     static inline
#define CT_MEMBER  static inline
#define CT_OUTLINE static inline
#define CT_UNROLL
#define CT_KERNEL(name, type)       EMU_KERNEL(name, type)
#define CT_KERNEL_EARLY(name, type) EMU_KERNEL(name, type)

CT_DEV void begin_kernel()
{
}

CT_DEV void let_next_start()
{
}

CT_DEV vec load_vec(const void *p)
{
    return *static_cast<const vec *>(p);
}

CT_DEV void store_vec(void *p, vec v)
{
    *static_cast<vec *>(p) = v;
}

CT_DEV line load_line(const void *p)
{
    const uint64_t *words = static_cast<const uint64_t *>(p);
    return {__atomic_load_n(words, __ATOMIC_RELAXED), __atomic_load_n(words + 1, __ATOMIC_RELAXED)};
}

CT_DEV void store_line(void *p, line l)
{
    uint64_t *words = static_cast<uint64_t *>(p);
    __atomic_store_n(words, l.a, __ATOMIC_RELAXED);
    __atomic_store_n(words + 1, l.b, __ATOMIC_RELAXED);
}

CT_DEV uint32_t load_flag(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

CT_DEV uint32_t load_word(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE); /* the host's compiler may move what follows */
}

CT_DEV vec load_words(const void *p)
{
    const uint32_t *words = static_cast<const uint32_t *>(p);
    return {{load_word(words), load_word(words + 1), load_word(words + 2), load_word(words + 3)}};
}

CT_DEV void fence()
{
}

CT_DEV void fence_here()
{
}

CT_DEV void store_flag(uint32_t *p, uint32_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}

CT_DEV uint32_t load_host(const uint32_t *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

CT_DEV void store_host(uint32_t *p, uint32_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELEASE);
}

CT_DEV uint32_t count_one(uint32_t *p, uint32_t most)
{
    const uint32_t was = __atomic_fetch_add(p, 1, __ATOMIC_ACQ_REL);
    if (was == most) {
        __atomic_store_n(p, 0, __ATOMIC_RELEASE);
    }
    return was;
}

CT_DEV void idle()
{
    sched_yield();
}

CT_DEV float f16_to_float(uint16_t h)
{
    return ct_f16_to_float(h);
}

CT_DEV uint16_t f16_from_float(float f)
{
    return ct_f16_from_float(f);
}

CT_DEV uint16_t bf16_from_float(float f)
{
    return ct_bf16_from_float(f);
}

CT_DEV float float_of_bits(uint32_t u)
{
    return ct_float_of_bits(u);
}

CT_DEV uint32_t float_bits(float f)
{
    return ct_float_bits(f);
}

CT_DEV bool any_of_warp(bool b)
{
    return b;
}

CT_DEV void warp_meets()
{
}

CT_DEV void takers_meet(uint32_t)
{
}

/* ---- rows: there are no warps, so who wants a line looks for the number himself -------------- */

CT_DEV void ask_ll32(const char *, line (&)[LL32_GROUPS])
{
}

CT_DEV bool have_come(const char *first, uint32_t lane, uint32_t item, line (&l)[LL32_GROUPS])
{
    for (unsigned u = 0; u < LL32_GROUPS; u++) {
        const char *const row = first + u * LL32_GROUP - lane % LL32_LINES * LINE_BYTES;
        const uint64_t   *words = reinterpret_cast<const uint64_t *>(row);
        if (__atomic_load_n(words + 2 * LL32_LINES - 1, __ATOMIC_ACQUIRE) >> 32 != item) {
            return false;
        }
        l[u] = load_line(first + u * LL32_GROUP);
    }
    return true;
}

/* The last of a row has the number. */
CT_DEV void store_ll32_line(void *p, line l)
{
    uint64_t *words = static_cast<uint64_t *>(p);
    __atomic_store_n(words, l.a, __ATOMIC_RELAXED);
    __atomic_store_n(words + 1, l.b, __ATOMIC_RELEASE);
}

enum { LANES = 1 };

enum { SPINS = 16, LOOKS = 16 };

#endif

/* ---- the 8-bit floating-point formats: two numbers in 16 bits, and as floats ------------------
 * What dtype/fp8.h makes of them, but for NaNs. GPUs from 8.9 on convert them by instructions. */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
CT_DEV void halves_to_floats(uint32_t halves, float *low, float *high)
{
    *low = f16_to_float((uint16_t)halves);
    *high = f16_to_float((uint16_t)(halves >> 16));
}

CT_DEV void e4m3_to_floats(uint16_t x, float *low, float *high)
{
    uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(x));
    halves_to_floats(halves, low, high);
}

CT_DEV void e5m2_to_floats(uint16_t x, float *low, float *high)
{
    uint32_t halves;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(x));
    halves_to_floats(halves, low, high);
}

CT_DEV uint16_t e4m3_from_floats(float low, float high)
{
    uint16_t x;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(x) : "f"(high), "f"(low));
    return x;
}

CT_DEV uint16_t e5m2_from_floats(float low, float high)
{
    uint16_t x;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(x) : "f"(high), "f"(low));
    return x;
}
#else
/* As a 16-bit number, which has one bit of exponent more, it is 256 times too small. */
CT_DEV float e4m3_to_float(uint32_t x)
{
    const float number = f16_to_float((uint16_t)((x & 0x80) << 8 | (x & 0x7f) << 7)) * 256;
    return (x & 0x7f) == 0x7f ? float_of_bits(0x7fc00000) : number;
}

CT_DEV void e4m3_to_floats(uint16_t x, float *low, float *high)
{
    *low = e4m3_to_float(x & 0xff);
    *high = e4m3_to_float(x >> 8);
}

/* It is the upper byte of a 16-bit number. */
CT_DEV void e5m2_to_floats(uint16_t x, float *low, float *high)
{
    *low = f16_to_float((uint16_t)(x << 8));
    *high = f16_to_float((uint16_t)(x & 0xff00));
}

CT_DEV uint16_t e4m3_from_floats(float low, float high)
{
    return (uint16_t)(ct_e4m3_from_float(low) | ct_e4m3_from_float(high) << 8);
}

CT_DEV uint16_t e5m2_from_floats(float low, float high)
{
    return (uint16_t)(ct_e5m2_from_float(low) | ct_e5m2_from_float(high) << 8);
}
#endif

CT_DEV uint32_t thread()
{
    return threadIdx.x;
}

CT_DEV uint32_t threads()
{
    return blockDim.x;
}

/* ---- user memory, which is aligned to elements only ------------------------------------------ */

CT_DEV bool aligned(const void *p, size_t to)
{
    return ((uintptr_t)p & (to - 1)) == 0;
}

/* The first n bytes at p, at most 16; what is beyond them is 0. */
CT_DEV vec load_some(const void *p, size_t n)
{
    if (n >= 16 && aligned(p, 16)) {
        return load_vec(p);
    }
    vec            v = {{0, 0, 0, 0}};
    const bool     words = aligned(p, 4);
    const uint8_t *bytes = static_cast<const uint8_t *>(p);
    CT_UNROLL
    for (unsigned k = 0; k < 4; k++) {
        if (words && 4 * k + 4 <= n) {
            v.w[k] = *reinterpret_cast<const uint32_t *>(bytes + 4 * k);
            continue;
        }
        for (unsigned i = 4 * k; i < 4 * k + 4 && i < n; i++) {
            v.w[k] |= (uint32_t)bytes[i] << 8 * (i % 4);
        }
    }
    return v;
}

CT_DEV void store_some(void *p, vec v, size_t n)
{
    if (n >= 16 && aligned(p, 16)) {
        store_vec(p, v);
        return;
    }
    const bool words = aligned(p, 4);
    uint8_t   *bytes = static_cast<uint8_t *>(p);
    CT_UNROLL
    for (unsigned k = 0; k < 4; k++) {
        if (words && 4 * k + 4 <= n) {
            *reinterpret_cast<uint32_t *>(bytes + 4 * k) = v.w[k];
            continue;
        }
        for (unsigned i = 4 * k; i < 4 * k + 4 && i < n; i++) {
            bytes[i] = (uint8_t)(v.w[k] >> 8 * (i % 4));
        }
    }
}

#endif
