/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks, and the words by which clang checks their use (-Wthread-safety; ./check builds with it).
 *
 * A ct_lock is made on or off, by whether several threads call at once (struct ct_process,
 * `threaded`). If it is off, each call is one predicted branch. A lock of zeros is off.
 *
 * Order, from the first to be taken to the last; a thread that holds a lock may take those behind
 * it:
 *
 *   communicator -> progress domain (p2p) -> endpoint -> leaf
 *
 * A leaf lock guards one struct, for a few lines: under a leaf lock no other lock is taken, nothing
 * is sent, and no function of the program runs. ThreadSanitizer reports a lock that is taken out of
 * order, even if no deadlock happens, since it takes a ct_lock for a mutex.
 *
 * In C, an attribute of a field cannot name the lock beside it. So a struct with a lock has a
 * guard, which is a name and never defined, and two functions that claim to take and release it:
 *
 *   extern struct ct_guard ct_things_guard;
 *   struct ct_things {
 *       struct ct_lock lock;
 *       int            n CT_GUARDED_BY(ct_things_guard);
 *   };
 *   static inline void lock(struct ct_things *t) CT_ACQUIRE(ct_things_guard) CT_UNCHECKED
 *   {
 *       ct_lock_acquire(&t->lock);
 *   }
 */
#ifndef CT_BASE_LOCK_H
#define CT_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "base/util.h"

#ifdef __clang__
#define CT_TSA(...) __attribute__((__VA_ARGS__))
#else
#define CT_TSA(...)
#endif

#define CT_CAPABILITY(kind)  CT_TSA(capability(kind))
#define CT_GUARDED_BY(guard) CT_TSA(guarded_by(guard))                /* a field: under it alone */
#define CT_PT_GUARDED_BY(g)  CT_TSA(pt_guarded_by(g))                 /* what it points to */
#define CT_REQUIRES(...)     CT_TSA(requires_capability(__VA_ARGS__)) /* called under it */
#define CT_EXCLUDES(...)     CT_TSA(locks_excluded(__VA_ARGS__))      /* never called under it */
#define CT_ACQUIRE(...)      CT_TSA(acquire_capability(__VA_ARGS__))
#define CT_TRY_ACQUIRE(...)  CT_TSA(try_acquire_capability(true, __VA_ARGS__))
#define CT_RELEASE(...)      CT_TSA(release_capability(__VA_ARGS__))
#define CT_ASSERT_HELD(...)  CT_TSA(assert_capability(__VA_ARGS__)) /* callers see to it */
#define CT_UNCHECKED         CT_TSA(no_thread_safety_analysis)

/* The name of what a lock guards. */
struct CT_CAPABILITY("guard") ct_guard {
};

struct CT_CAPABILITY("lock") ct_lock {
    pthread_mutex_t mutex;
    bool            on;
};

static inline void ct_lock_init(struct ct_lock *lock, bool on)
{
    *lock = (struct ct_lock){.mutex = PTHREAD_MUTEX_INITIALIZER, .on = on};
}

/* Nobody has it, nor wants it. */
static inline void ct_lock_set(struct ct_lock *lock, bool on)
{
    lock->on = on;
}

static inline void ct_lock_fini(struct ct_lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex); /* fails for one that is held alone: our bug */
}

static inline void ct_lock_acquire(struct ct_lock *lock) CT_ACQUIRE(lock) CT_UNCHECKED
{
    if (CT_UNLIKELY(lock->on)) {
        (void)pthread_mutex_lock(&lock->mutex); /* a mutex of this kind cannot fail */
    }
}

/* Takes the lock if it is free; a lock that is off is always free. */
static inline bool ct_lock_try(struct ct_lock *lock) CT_TRY_ACQUIRE(lock) CT_UNCHECKED
{
    return CT_LIKELY(!lock->on) || pthread_mutex_trylock(&lock->mutex) == 0;
}

static inline void ct_lock_release(struct ct_lock *lock) CT_RELEASE(lock) CT_UNCHECKED
{
    if (CT_UNLIKELY(lock->on)) {
        (void)pthread_mutex_unlock(&lock->mutex);
    }
}

#endif
