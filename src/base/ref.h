/* SPDX-License-Identifier: BSD-3-Clause */
/* A count of references that threads change at once; atomic only where there may be several. */
#ifndef CT_BASE_REF_H
#define CT_BASE_REF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/util.h"

struct ct_ref {
    _Atomic uint32_t n;
};

/* The caller has a reference already. */
static inline void ct_ref_hold(struct ct_ref *ref, bool threaded)
{
    if (CT_UNLIKELY(threaded)) {
        atomic_fetch_add_explicit(&ref->n, 1, memory_order_relaxed);
    } else {
        uint32_t n = atomic_load_explicit(&ref->n, memory_order_relaxed);
        atomic_store_explicit(&ref->n, n + 1, memory_order_relaxed);
    }
}

/* The caller has none, and found the object in a list from which its last holder takes it: false,
 * that is about to happen. */
static inline bool ct_ref_try_hold(struct ct_ref *ref, bool threaded)
{
    uint32_t n = atomic_load_explicit(&ref->n, memory_order_relaxed);
    if (!threaded) {
        atomic_store_explicit(&ref->n, n + (n > 0), memory_order_relaxed);
        return n > 0;
    }
    while (n > 0 && !atomic_compare_exchange_weak_explicit(
                        &ref->n, &n, n + 1, memory_order_relaxed, memory_order_relaxed)) {
    }
    return n > 0;
}

/* Gives one back; true: it was the last one, and what other holders did is seen. */
static inline bool ct_ref_drop(struct ct_ref *ref, bool threaded)
{
    if (CT_UNLIKELY(threaded)) {
        return atomic_fetch_sub_explicit(&ref->n, 1, memory_order_acq_rel) == 1;
    }
    uint32_t n = atomic_load_explicit(&ref->n, memory_order_relaxed) - 1;
    atomic_store_explicit(&ref->n, n, memory_order_relaxed);
    return n == 0;
}

#endif
