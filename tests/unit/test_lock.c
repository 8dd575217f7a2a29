/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks: that one which is on keeps threads apart, and that one which is off does nothing. */
#include <pthread.h>

#include "unit.h"

enum { THREADS = 4, TIMES = 20000 };

extern struct ct_guard counted_guard;

struct counted {
    struct ct_lock lock;
    long n         CT_GUARDED_BY(counted_guard);
};

static void lock(struct counted *c) CT_ACQUIRE(counted_guard) CT_UNCHECKED
{
    ct_lock_acquire(&c->lock);
}

static bool try_lock(struct counted *c) CT_TRY_ACQUIRE(counted_guard) CT_UNCHECKED
{
    return ct_lock_try(&c->lock);
}

static void unlock(struct counted *c) CT_RELEASE(counted_guard) CT_UNCHECKED
{
    ct_lock_release(&c->lock);
}

static void *count(void *arg)
{
    struct counted *c = arg;
    for (int i = 0; i < TIMES; i++) {
        if (i % 3 != 0 || !try_lock(c)) {
            lock(c);
        }
        c->n++;
        unlock(c);
    }
    return NULL;
}

static void on_keeps_apart(void **state)
{
    struct counted c = {0};
    pthread_t      threads[THREADS];
    (void)state;
    ct_lock_init(&c.lock, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count, &c), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    lock(&c);
    assert_int_equal(c.n, THREADS * TIMES);
    unlock(&c);
    ct_lock_fini(&c.lock);
}

/* Whether the lock is free, seen from another thread. */
static void *try_it(void *arg)
{
    struct counted *c = arg;
    if (!try_lock(c)) {
        return NULL;
    }
    unlock(c);
    return c;
}

static bool is_free(struct counted *c)
{
    pthread_t thread;
    void     *got;
    assert_int_equal(pthread_create(&thread, NULL, try_it, c), 0);
    assert_int_equal(pthread_join(thread, &got), 0);
    return got != NULL;
}

static void try_tells(void **state)
{
    struct counted c = {0};
    (void)state;
    ct_lock_init(&c.lock, true);
    assert_true(is_free(&c));
    lock(&c);
    assert_false(is_free(&c));
    unlock(&c);
    assert_true(is_free(&c));
    ct_lock_fini(&c.lock);
}

static void off_is_always_free(void **state)
{
    struct counted c = {0};
    (void)state;
    lock(&c); /* a zeroed one */
    assert_true(is_free(&c));
    unlock(&c);
    ct_lock_init(&c.lock, false);
    lock(&c);
    assert_true(is_free(&c));
    unlock(&c);
    ct_lock_fini(&c.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_keeps_apart),
        cmocka_unit_test(try_tells),
        cmocka_unit_test(off_is_always_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
