/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that both ends work at, between two threads: every byte arrives once, whether the owner
 * helps always, now and then, with the wrong means or not at all; and nobody writes to the reader's
 * memory once it has it.
 */
#include <pthread.h>
#include <sched.h>

#include "unit.h"

#include "net/shm_share.h"

enum { PLACE = 3, MOST = 3 << 20, READS = 300 };

struct stage {
    struct ct_shm_offer offer;
    _Atomic uint32_t    word;
    _Atomic bool        over;
    _Atomic uint64_t    helped;
    struct ct_shm_mate  reader; /* as the owner sees it */
    unsigned            pause;  /* turns that the owner lets pass between two blocks */
    unsigned char      *theirs, *mine;
};

static bool lives(void *arg)
{
    (void)arg;
    return false;
}

static bool is_gone(void *arg)
{
    (void)arg;
    return true;
}

static struct stage *make(struct ct_shm_mate reader, unsigned pause)
{
    struct stage *s = aligned_alloc(CT_CACHE_LINE, ct_round_up(sizeof *s, CT_CACHE_LINE));
    memset(s, 0, sizeof *s);
    s->reader = reader;
    s->pause = pause;
    s->theirs = malloc(MOST);
    s->mine = malloc(MOST + 1);
    for (size_t i = 0; i < MOST; i++) {
        s->theirs[i] = (unsigned char)(i * 2654435761u >> 13);
    }
    return s;
}

static void drop(struct stage *s)
{
    free(s->theirs);
    free(s->mine);
    free(s);
}

static void *owner(void *arg)
{
    struct stage *s = arg;
    for (unsigned turn = 0; !atomic_load(&s->over); turn++) {
        uint32_t word = atomic_load_explicit(&s->word, memory_order_acquire);
        if (word != 0 && turn % (s->pause + 1) == 0) {
            assert_int_equal(word, PLACE + 1);
            atomic_fetch_add(&s->helped, ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader));
        } else {
            sched_yield();
        }
    }
    return NULL;
}

static int read_part(struct stage *s, size_t at, size_t len)
{
    struct ct_shm_mate   mate = {CT_SHM_COPY_DIRECT, 0, lives, NULL, NULL};
    struct ct_net_remote from = {(uintptr_t)(s->theirs + at), len};
    return ct_shm_share_read(&s->offer, &s->word, PLACE, &mate, s->mine, &from);
}

/* Reads of any length from anywhere; the byte behind stays, and after the return all do. */
static void read_all(struct stage *s)
{
    uint64_t seed = 5;
    for (unsigned i = 0; i < READS; i++) {
        uint32_t most = i % 3 == 0 ? MOST : 20000; /* many blocks, or one or two */
        size_t   len = 1 + unit_below(&seed, most - 1);
        size_t   at = unit_below(&seed, (uint32_t)(MOST - len + 1));
        memset(s->mine, 0xee, len + 1);
        assert_int_equal(read_part(s, at, len), CTRAN_SUCCESS);
        assert_memory_equal(s->mine, s->theirs + at, len);
        assert_int_equal(s->mine[len], 0xee);
        memset(s->mine, 0xdd, len); /* a late writer is a race, and TSan sees it */
    }
}

static uint64_t with_owner(struct ct_shm_mate reader, unsigned pause)
{
    struct stage *s = make(reader, pause);
    pthread_t     thread;
    assert_int_equal(pthread_create(&thread, NULL, owner, s), 0);
    read_all(s);
    atomic_store(&s->over, true);
    pthread_join(thread, NULL);
    uint64_t helped = atomic_load(&s->helped);
    drop(s);
    return helped;
}

static void test_helped(void **state)
{
    (void)state;
    struct ct_shm_mate reader = {CT_SHM_COPY_DIRECT, 0, lives, NULL, NULL};
    (void)with_owner(reader, 0); /* how often depends on the scheduler */
    (void)with_owner(reader, 1);
    (void)with_owner(reader, 1000);
}

/* An owner that cannot write to the reader says so, and one that fails leaves no gap. */
static void test_helpless(void **state)
{
    (void)state;
    assert_int_equal(with_owner((struct ct_shm_mate){CT_SHM_COPY_OFF, 0, lives, NULL, NULL}, 0), 0);
    (void)with_owner((struct ct_shm_mate){CT_SHM_COPY_CMA, -1, lives, NULL, NULL}, 0);
    (void)with_owner((struct ct_shm_mate){CT_SHM_COPY_DIRECT, 0, is_gone, NULL, NULL}, 0);
}

/* Without an owner at work: every length about the borders of blocks. */
static void test_alone(void **state)
{
    (void)state;
    struct stage *s = make((struct ct_shm_mate){CT_SHM_COPY_DIRECT, 0, lives, NULL, NULL}, 0);
    const size_t  around[] = {2, 4096, 8192, 256 << 10, 512 << 10, 1 << 20, 2 << 20};
    for (size_t i = 0; i < CT_ARRAY_LEN(around); i++) {
        for (size_t len = around[i] - 1; len <= around[i] + 1; len++) {
            memset(s->mine, 0xee, len + 1);
            assert_int_equal(read_part(s, 7, len), CTRAN_SUCCESS);
            assert_memory_equal(s->mine, s->theirs + 7, len);
            assert_int_equal(s->mine[len], 0xee);
            assert_int_equal(atomic_load(&s->word), 0);
        }
    }
    drop(s);
}

/* The word is another reader's: that one's offer stays as it is. A closed offer gives nothing. */
static void test_taken(void **state)
{
    (void)state;
    struct stage *s = make((struct ct_shm_mate){CT_SHM_COPY_DIRECT, 0, lives, NULL, NULL}, 0);
    atomic_store(&s->word, 77);
    assert_int_equal(read_part(s, 0, 100000), CTRAN_SUCCESS);
    assert_memory_equal(s->mine, s->theirs, 100000);
    assert_int_equal(atomic_load(&s->word), 77);
    assert_false(ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader));
    assert_int_equal(atomic_load(&s->word), 77);
    atomic_store(&s->word, PLACE + 1);
    assert_false(ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader));
    assert_int_equal(atomic_load(&s->word), 0);
    drop(s);
}

/* An owner that ends in the middle of a block: the read fails, as the owner did. */
static void *dies(void *arg)
{
    struct stage *s = arg;
    for (;;) {
        uint64_t claim = atomic_load(&s->offer.claim);
        uint32_t front = claim >> 16 & 0xffff, end = claim & 0xffff;
        if (atomic_load(&s->over) ||
            (atomic_load(&s->word) != 0 && front < end &&
             atomic_compare_exchange_strong(&s->offer.claim, &claim, claim - 1))) {
            return NULL;
        }
        sched_yield();
    }
}

static void test_owner_dies(void **state)
{
    (void)state;
    struct ct_shm_mate   mate = {CT_SHM_COPY_DIRECT, 0, is_gone, NULL, NULL};
    struct stage        *s = make(mate, 0);
    struct ct_net_remote from = {(uintptr_t)s->theirs, MOST};
    pthread_t            thread;
    int                  rc = CTRAN_SUCCESS;
    assert_int_equal(pthread_create(&thread, NULL, dies, s), 0);
    for (unsigned i = 0; i < 100000 && rc == CTRAN_SUCCESS; i++) {
        rc = ct_shm_share_read(&s->offer, &s->word, PLACE, &mate, s->mine, &from);
        sched_yield();
    }
    atomic_store(&s->over, true);
    pthread_join(thread, NULL);
    assert_int_equal(rc, CTRAN_ERR_PROC_FAILED);
    drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_helped),     cmocka_unit_test(test_helpless),
        cmocka_unit_test(test_alone),      cmocka_unit_test(test_taken),
        cmocka_unit_test(test_owner_dies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
