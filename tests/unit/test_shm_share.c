/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that both ends work at, between two threads: every byte arrives once, whether the owner
 * helps always, now and then, with the wrong means or not at all; and nobody writes to the reader's
 * memory once it has it. And which reads are such.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "unit.h"

#include "net/shm_share.h"

enum { PLACE = 3, PAGE = 4096, MOST = 3 << 20, READS = 300 };

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

/* All of the stage's is exposed, under one key. */
enum { TOKEN = 77 };

static unsigned char *exposed_at;

static int is_exposed(void *arg, const struct ct_shm_remote *what)
{
    const uint64_t at = what->addr - (uintptr_t)exposed_at;
    (void)arg;
    if (what->key != TOKEN) {
        return CT_AGAIN;
    }
    return at <= MOST && what->len_bytes <= MOST - at ? CTRAN_SUCCESS : CTRAN_ERR_INTERN;
}

static const struct ct_shm_mate fine = {
    .how = CT_SHM_COPY_DIRECT, .gone = lives, .exposed = is_exposed};

static struct stage *make(struct ct_shm_mate reader, unsigned pause)
{
    struct stage *s = aligned_alloc(CT_CACHE_LINE, ct_round_up(sizeof *s, CT_CACHE_LINE));
    memset(s, 0, sizeof *s);
    s->reader = reader;
    s->pause = pause;
    s->theirs = aligned_alloc(PAGE, MOST);
    s->mine = malloc(MOST + 1);
    exposed_at = s->theirs;
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
            const int rc = ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader);
            assert_true(rc == CTRAN_SUCCESS || rc == CT_AGAIN);
            atomic_fetch_add(&s->helped, rc == CTRAN_SUCCESS);
        } else {
            sched_yield();
        }
    }
    return NULL;
}

static int read_part(struct stage *s, size_t at, size_t len)
{
    struct ct_shm_remote from = {(uintptr_t)(s->theirs + at), len, TOKEN};
    return ct_shm_share_read(&s->offer, &s->word, PLACE, &fine, s->mine, &from);
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
    (void)with_owner(fine, 0); /* how often depends on the scheduler */
    (void)with_owner(fine, 1);
    (void)with_owner(fine, 1000);
}

/* An owner that cannot write to the reader says so, and one that fails leaves no gap. */
static void test_helpless(void **state)
{
    (void)state;
    struct ct_shm_mate off = fine, wrong = fine, gone = fine;
    off.how = CT_SHM_COPY_OFF;
    assert_int_equal(with_owner(off, 0), 0);
    wrong.how = CT_SHM_COPY_CMA;
    wrong.pid = -1;
    (void)with_owner(wrong, 0);
    gone.gone = is_gone;
    (void)with_owner(gone, 0);
}

/* Without an owner at work: every length about the borders of blocks. */
static void test_alone(void **state)
{
    (void)state;
    struct stage *s = make(fine, 0);
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
    struct stage *s = make(fine, 0);
    atomic_store(&s->word, 77);
    assert_int_equal(read_part(s, 0, 100000), CTRAN_SUCCESS);
    assert_memory_equal(s->mine, s->theirs, 100000);
    assert_int_equal(atomic_load(&s->word), 77);
    assert_int_equal(ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader), CT_AGAIN);
    assert_int_equal(atomic_load(&s->word), 77);
    atomic_store(&s->word, PLACE + 1);
    assert_int_equal(ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader), CT_AGAIN);
    assert_int_equal(atomic_load(&s->word), 0);
    drop(s);
}

/* Other readers come and go. */
static void *takes_word(void *arg)
{
    struct stage *s = arg;
    while (!atomic_load(&s->over)) {
        uint32_t none = 0, mine = PLACE + 2;
        (void)atomic_compare_exchange_strong(&s->word, &none, mine);
        (void)atomic_compare_exchange_strong(&s->word, &mine, 0);
    }
    return NULL;
}

/* An owner that found the word this reader's a long time ago, and is slow. */
static int is_exposed_late(void *arg, const struct ct_shm_remote *what)
{
    sched_yield();
    return is_exposed(arg, what);
}

static void *late_owner(void *arg)
{
    struct stage *s = arg;
    while (!atomic_load(&s->over)) {
        const int rc = ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader);
        assert_true(rc == CTRAN_SUCCESS || rc == CT_AGAIN);
        atomic_fetch_add(&s->helped, rc == CTRAN_SUCCESS);
    }
    return NULL;
}

/* Nothing of the read is left to anybody, and nobody writes to its memory any more. */
static void expect_over(struct stage *s, unsigned char *same, size_t len)
{
    const uint64_t claim = atomic_load(&s->offer.claim);
    assert_int_equal(claim >> 16 & 0xffff, claim & 0xffff);
    memset(s->mine, 0xdd, len);
    memset(same, 0xdd, len);
    sched_yield();
    assert_memory_equal(s->mine, same, len);
}

/* Another reader takes the word between this one's look and its offer, while the owner still has
 * the word as it was: what it claims is waited for. */
static void test_taken_at_once(void **state)
{
    (void)state;
    enum { ROUNDS = 5000, BYTES = 8000 };
    unsigned char      same[BYTES];
    struct ct_shm_mate reader = fine;
    reader.exposed = is_exposed_late;
    struct stage *s = make(reader, 0);
    pthread_t     threads[2];
    unsigned      offers = 0;
    assert_int_equal(pthread_create(&threads[0], NULL, takes_word, s), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, late_owner, s), 0);
    for (unsigned i = 0; i < ROUNDS || offers == 0; i++) { /* until the others had a turn */
        const unsigned at = i % ROUNDS;
        const uint64_t before = atomic_load(&s->offer.claim) >> 32;
        assert_int_equal(read_part(s, at, BYTES), CTRAN_SUCCESS);
        assert_memory_equal(s->mine, s->theirs + at, BYTES);
        if (atomic_load(&s->offer.claim) >> 32 != before) {
            offers++;
            expect_over(s, same, BYTES);
        }
    }
    atomic_store(&s->over, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
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
    struct ct_shm_mate   mate = {.how = CT_SHM_COPY_DIRECT, .gone = is_gone};
    struct stage        *s = make(mate, 0);
    struct ct_shm_remote from = {(uintptr_t)s->theirs, MOST, TOKEN};
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

/* ---- ends that lie --------------------------------------------------------------------------- */

enum { BLOCK = 4096 };

/* An offer of three blocks as the stage's reader would make it. */
static void offer_three(struct stage *s)
{
    atomic_store(&s->offer.to, (uintptr_t)s->mine);
    atomic_store(&s->offer.from, (uintptr_t)s->theirs);
    atomic_store(&s->offer.len_bytes, 3 * BLOCK);
    atomic_store(&s->offer.block_bytes, BLOCK);
    atomic_store(&s->offer.key, TOKEN);
    atomic_store(&s->offer.claim, UINT64_C(1) << 32 | 3);
    atomic_store(&s->word, PLACE + 1);
}

static void expect_nothing(struct stage *s, int rc)
{
    memset(s->mine, 0xee, 3 * BLOCK);
    assert_int_equal(ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader), rc);
    for (size_t i = 0; i < (size_t)3 * BLOCK; i++) {
        assert_int_equal(s->mine[i], 0xee);
    }
}

static void expect_refused(struct stage *s)
{
    expect_nothing(s, CTRAN_ERR_INTERN);
}

/* The owner touches nothing that it has not exposed, whatever stands in the offer. */
static void test_reader_lies(void **state)
{
    (void)state;
    struct stage *s = make(fine, 0);
    offer_three(s);
    assert_int_equal(ct_shm_share_help(&s->offer, &s->word, PLACE, &s->reader), CTRAN_SUCCESS);
    assert_memory_equal(s->mine + 2 * BLOCK, s->theirs + 2 * BLOCK, BLOCK);
    offer_three(s);
    atomic_store(&s->offer.from, 16);
    expect_refused(s);
    offer_three(s);
    atomic_store(&s->offer.from, (uintptr_t)s->theirs + MOST - 3 * BLOCK + 1);
    expect_refused(s);
    offer_three(s);
    atomic_store(&s->offer.from, UINT64_MAX - 5);
    expect_refused(s);
    offer_three(s);
    atomic_store(&s->offer.block_bytes, UINT64_MAX / 2 + 2 * MOST);
    atomic_store(&s->offer.len_bytes, UINT64_MAX);
    expect_refused(s);
    drop(s);
}

/* A region that is withdrawn, of which the reader cannot know: it reads as without help. */
static void test_forgotten(void **state)
{
    (void)state;
    struct stage *s = make(fine, 0);
    pthread_t     thread;
    offer_three(s);
    atomic_store(&s->offer.key, TOKEN + 1);
    expect_nothing(s, CT_AGAIN);
    assert_int_equal(atomic_load(&s->word), 0);
    assert_int_equal(atomic_load(&s->offer.done), 1);
    assert_int_equal(atomic_load(&s->offer.failed), 1);
    assert_int_equal(pthread_create(&thread, NULL, owner, s), 0);
    for (unsigned i = 0; i < READS; i++) {
        const struct ct_shm_remote from = {(uintptr_t)s->theirs, MOST, TOKEN + 1};
        memset(s->mine, 0xee, MOST);
        assert_int_equal(ct_shm_share_read(&s->offer, &s->word, PLACE, &fine, s->mine, &from),
                         CTRAN_SUCCESS);
        assert_memory_equal(s->mine, s->theirs, MOST);
    }
    atomic_store(&s->over, true);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&s->helped), 0);
    drop(s);
}

/* An owner that lies. Its first page cannot be read, so that the reader's first block faults; the
 * handler of the fault writes another claim over the reader's and lets the page be read. The lie
 * thus always falls between the reader's first claim and its second. */
static struct liar {
    struct stage *s;
    uint32_t      claim; /* without the offer's number */
    uint32_t      done;
} liar;

static void lie(int signal, siginfo_t *info, void *context)
{
    struct stage   *s = liar.s;
    const uintptr_t at = (uintptr_t)info->si_addr;
    (void)context;
    if (at - (uintptr_t)s->theirs >= PAGE) { /* another fault: it comes again, and ends the test */
        (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        return;
    }
    const uint64_t now = atomic_load(&s->offer.claim);
    atomic_store(&s->offer.done, liar.done);
    atomic_store(&s->offer.claim, now >> 32 << 32 | liar.claim);
    (void)mprotect(s->theirs, PAGE, PROT_READ | PROT_WRITE);
}

/* The reader refuses the read, writes to nothing but its memory, and ends. */
static void test_owner_lies(void **state)
{
    (void)state;
    static const struct liar liars[] = {
        {.claim = 0xffff},                  /* more blocks than there are */
        {.claim = 0xff00ffff},              /* and the front is far from the first block */
        {.claim = 0x3, .done = 100},        /* fewer blocks than the reader has read */
        {.claim = 0x0, .done = UINT32_MAX}, /* none */
        {.claim = 0x00050003},              /* the front is behind the end */
        {.claim = 0x00010001, .done = 100}, /* more blocks done than there are */
    };
    struct sigaction before, act = {.sa_sigaction = lie, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGSEGV, &act, &before), 0);
    for (size_t i = 0; i < CT_ARRAY_LEN(liars); i++) {
        struct stage *s = make(fine, 0);
        liar = liars[i];
        liar.s = s;
        s->mine[MOST] = 0xee;
        for (unsigned n = 0; n < 3; n++) {
            assert_int_equal(mprotect(s->theirs, PAGE, PROT_NONE), 0);
            assert_int_equal(read_part(s, 0, MOST), CTRAN_ERR_INTERN);
        }
        assert_int_equal(s->mine[MOST], 0xee);
        drop(s);
    }
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
}

/* Whether a read of `bytes` from the owner at seat 0 is one. */
static bool shares(const struct ct_net_env *env, uint64_t bytes)
{
    return ct_shm_shares(env, 0, bytes);
}

/* Long ones, where the owner has a core to do it on. */
static void test_shares(void **state)
{
    enum { LEAST = 1 << 16 };
    struct ct_config         cfg = {.shm_share = LEAST};
    struct ct_placement_core all[2] = {{.core = 0}};
    struct ct_placement      placement = {.all = all, .n = 2, .me = 1};
    struct ct_net_env        env = {.cfg = &cfg};
    cpu_set_t                before, one;
    (void)state;
    assert_true(shares(&env, LEAST));
    assert_false(shares(&env, LEAST - 1));
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    const int here = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET((unsigned)here, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    env.placement = &placement;
    assert_true(shares(&env, LEAST)); /* nobody knows where it is */
    atomic_store(&all[0].core, here + 2);
    assert_true(shares(&env, LEAST));
    atomic_store(&all[0].core, -(here + 1));
    assert_false(shares(&env, LEAST));
    atomic_store(&all[0].core, here + 1);
    assert_false(shares(&env, LEAST));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_helped),     cmocka_unit_test(test_helpless),
        cmocka_unit_test(test_alone),      cmocka_unit_test(test_taken),
        cmocka_unit_test(test_owner_dies), cmocka_unit_test(test_reader_lies),
        cmocka_unit_test(test_owner_lies), cmocka_unit_test(test_taken_at_once),
        cmocka_unit_test(test_forgotten),  cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
