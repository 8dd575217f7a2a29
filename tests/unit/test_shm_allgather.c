/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared allgather: entries of all come to all, allgather after allgather, however the
 * processes take turns. Threads stand for processes: each has a view of its own. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "base/util.h"
#include "unit.h"

static struct ct_shm_allgather_memory *memory_new(uint32_t n)
{
    size_t bytes = ct_round_up(ct_shm_allgather_bytes(n), CT_CACHE_LINE);
    void  *memory = aligned_alloc(CT_CACHE_LINE, bytes);
    assert_non_null(memory);
    return memset(memory, 0, bytes);
}

/* One after the other: nobody sees a shared allgather open before the last has come. */
static void test_in_turn(void **state)
{
    (void)state;
    enum { N = 7, ROLLS = 20 };
    struct ct_shm_allgather_memory *memory = memory_new(N);
    struct ct_shm_allgather         views[N];
    for (uint32_t i = 0; i < N; i++) {
        views[i] = (struct ct_shm_allgather){.memory = memory, .n = N, .me = i};
    }
    for (uint32_t k = 1; k <= ROLLS; k++) {
        for (uint32_t i = 0; i < N; i++) {
            uint32_t at = (i * 3 + k) % N; /* another order each time */
            uint32_t entry[2] = {k, at};
            ct_shm_allgather_put(&views[at], entry, sizeof entry);
            struct ct_watch watch = ct_shm_allgather_watch(&views[at]);
            assert_int_equal(ct_watch_reached(&watch), i == N - 1);
            assert_int_equal(ct_shm_allgather_missing(&views[at]) == N, i == N - 1);
        }
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t(*all)[2] = ct_shm_allgather_entries(&views[i]);
            for (uint32_t j = 0; j < N; j++) {
                assert_int_equal(all[j][0], k);
                assert_int_equal(all[j][1], j);
            }
        }
    }
    free(memory);
}

/* The first that has not come is told, whoever else has. */
static void test_missing(void **state)
{
    (void)state;
    enum { N = 5 };
    struct ct_shm_allgather_memory *memory = memory_new(N);
    struct ct_shm_allgather         views[N];
    const uint32_t                  order[] = {0, 2, 4, 1, 3}, missing[] = {1, 1, 1, 3, N};
    for (uint32_t i = 0; i < N; i++) {
        views[i] = (struct ct_shm_allgather){.memory = memory, .n = N, .me = i};
    }
    for (uint32_t i = 0; i < N; i++) {
        ct_shm_allgather_put(&views[order[i]], NULL, 0);
        assert_int_equal(ct_shm_allgather_missing(&views[order[i]]), missing[i]);
    }
    free(memory);
}

/* ---- at the same time ------------------------------------------------------------------------ */

enum { THREADS = 9, MANY = 3000 };

static size_t len_of(uint32_t k)
{
    return k % (CT_SHM_ALLGATHER_ENTRY + 1);
}

static unsigned char byte_of(uint32_t k, uint32_t who, size_t i)
{
    return (unsigned char)(k * 31 + who * 7 + i);
}

static void await(const struct ct_shm_allgather *view)
{
    enum { LONG_NS = 1000000000 };
    const struct ct_watch watch = ct_shm_allgather_watch(view);
    while (!ct_watch_reached(&watch)) {
        ct_watch_park(&watch);
        if (!ct_watch_reached(&watch)) {
            ct_watch_sleep(&watch, NULL, LONG_NS);
        }
        ct_watch_leave(&watch);
    }
}

/* Returns how many bytes are not what they should be. */
static void *take_part(void *view_)
{
    struct ct_shm_allgather *view = view_;
    size_t                   wrong = 0;
    for (uint32_t k = 1; k <= MANY; k++) {
        unsigned char entry[CT_SHM_ALLGATHER_ENTRY];
        const size_t  len = len_of(k);
        for (size_t i = 0; i < len; i++) {
            entry[i] = byte_of(k, view->me, i);
        }
        ct_shm_allgather_put(view, entry, len);
        await(view);
        const unsigned char *all = ct_shm_allgather_entries(view);
        for (uint32_t who = 0; who < view->n; who++) {
            for (size_t i = 0; i < len; i++) {
                wrong += all[who * len + i] != byte_of(k, who, i);
            }
        }
    }
    return (void *)wrong;
}

static void test_at_once(void **state)
{
    (void)state;
    struct ct_shm_allgather_memory *memory = memory_new(THREADS);
    struct ct_shm_allgather         views[THREADS];
    pthread_t                       threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        views[i] = (struct ct_shm_allgather){.memory = memory, .n = THREADS, .me = i};
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, &views[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    free(memory);
}

/* One that sleeps is woken by either of the two words. */
static void *open_later(void *view)
{
    ct_shm_allgather_put(view, NULL, 0);
    return NULL;
}

static void test_two_words(void **state)
{
    (void)state;
    enum { LONG_NS = 1000000000 };
    struct ct_shm_allgather_memory *memory = memory_new(2);
    struct ct_shm_allgather         views[2] = {{.memory = memory, .n = 2, .me = 0},
                                                {.memory = memory, .n = 2, .me = 1}};
    struct ct_wake                  wake = {0};
    pthread_t                       thread;
    ct_shm_allgather_put(&views[0], NULL, 0);
    const struct ct_watch watch = ct_shm_allgather_watch(&views[0]);
    assert_int_equal(pthread_create(&thread, NULL, open_later, &views[1]), 0);
    while (!ct_watch_reached(&watch)) {
        ct_watch_park(&watch);
        ct_wake_announce(&wake);
        if (!ct_watch_reached(&watch)) {
            ct_watch_sleep(&watch, &wake, LONG_NS);
        }
        ct_watch_leave(&watch);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    ct_wake_cancel(&wake); /* somebody has roused it: then it does not sleep at all */
    ct_watch_park(&watch);
    ct_watch_sleep(&watch, &wake, LONG_NS);
    ct_watch_leave(&watch);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_two_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
