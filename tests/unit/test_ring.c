/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory ring against a queue; and against a producer that writes nonsense: whatever a
 * header word says, the consumer stays inside the ring (the memory here is exactly as large as the
 * ring, so that AddressSanitizer sees each byte too many).
 */
#include <pthread.h>
#include <sched.h>

#include "unit.h"

#include "node/node.h"

enum { QUEUE = 4096, MAX_HDR = 64 };

struct pair {
    void          *mem;
    size_t         size;
    struct ct_ring tx, rx;
};

static void pair_make(struct pair *p, size_t size)
{
    p->size = size;
    p->mem = aligned_alloc(CT_CACHE_LINE, ct_ring_memory(size));
    assert_non_null(p->mem);
    memset(p->mem, 0, ct_ring_memory(size));
    ct_ring_view(&p->tx, p->mem, size);
    ct_ring_view(&p->rx, p->mem, size);
}

static unsigned char byte_of(uint64_t number, size_t i)
{
    return (unsigned char)(number * 131 + i * 7 + (i >> 8));
}

/* A record as both sides derive it from its number. */
struct shape {
    uint8_t type, hdr_len;
    size_t  len_bytes;
};

static struct shape shape_of(uint64_t number, size_t most)
{
    uint64_t     seed = number * 2 + 1;
    struct shape s;
    unit_random(&seed);
    s.type = (uint8_t)(1 + unit_below(&seed, 255));
    s.hdr_len = (uint8_t)unit_below(&seed, MAX_HDR + 1);
    switch (unit_below(&seed, 4)) {
    case 0:
        s.len_bytes = 0;
        break;
    case 1:
        s.len_bytes = most - unit_below(&seed, 3); /* as long as can be */
        break;
    case 2:
        s.len_bytes = unit_below(&seed, 60);
        break;
    default:
        s.len_bytes = unit_below(&seed, (uint32_t)most + 1);
    }
    return s;
}

static bool produce(struct ct_ring *tx, uint64_t number, size_t most)
{
    struct shape s = shape_of(number, most);
    char        *to = ct_ring_reserve(tx, s.hdr_len, s.len_bytes);
    if (to == NULL) {
        return false;
    }
    for (size_t i = 0; i < s.hdr_len + s.len_bytes; i++) {
        to[i] = (char)byte_of(number, i);
    }
    ct_ring_publish(tx, s.type, s.hdr_len, s.len_bytes);
    return true;
}

/* Why the record is not the one with this number; NULL when it is. */
static const char *differs(const struct ct_record *rec, uint64_t number, size_t most)
{
    struct shape s = shape_of(number, most);
    if (rec->type != s.type || rec->hdr_len != s.hdr_len || rec->len_bytes != s.len_bytes) {
        return "its shape";
    }
    if (rec->data != rec->hdr + rec->hdr_len) {
        return "where its payload is";
    }
    for (size_t i = 0; i < s.hdr_len + s.len_bytes; i++) {
        if ((unsigned char)rec->hdr[i] != byte_of(number, i)) {
            return "its bytes";
        }
    }
    return NULL;
}

/* ---- one thread ------------------------------------------------------------------------------ */

struct tally {
    uint64_t in, out;
    unsigned full, skips, told;
};

/* Takes one record, passing over a skip; false when there is none. */
static bool consume(struct pair *p, struct tally *t, size_t most)
{
    struct ct_record rec = {0};
    int              got = ct_ring_peek(&p->rx, &rec);
    assert_true(got >= 0);
    if (got == 0) {
        return false;
    }
    if (rec.type == CT_RING_SKIP) {
        t->skips++;
    } else {
        const char *why = differs(&rec, t->out, most);
        if (why != NULL) {
            fail_msg("record %llu: %s", (unsigned long long)t->out, why);
        }
        t->out++;
    }
    t->told += ct_ring_release(&p->rx, &rec);
    return true;
}

/* No room although all records are out: then there is a skip to consume, and room behind it. */
static void expect_skip(struct pair *p, struct tally *t, size_t most)
{
    unsigned skips = t->skips;
    assert_true(consume(p, t, most));
    assert_int_equal(t->skips, skips + 1);
    assert_true(produce(&p->tx, t->in++, most));
}

/* Random interleavings: nothing lost, nothing reordered; an empty queue is an empty ring but for a
 * skip, and an empty ring has room for anything. */
static void interleave(size_t size, uint64_t seed)
{
    struct pair  p;
    struct tally t = {0};
    size_t       most = ct_ring_max_payload(size, MAX_HDR);
    pair_make(&p, size);
    for (unsigned r = 0; r < 20000; r++) {
        unsigned chance = r / 200 % 2 == 0 ? 5 : 3;
        if (unit_below(&seed, 8) < chance) {
            bool ok = produce(&p.tx, t.in, most);
            t.in += ok;
            t.full += !ok;
            if (!ok && t.in == t.out) {
                expect_skip(&p, &t, most);
            }
        } else if (!consume(&p, &t, most)) {
            assert_int_equal(t.in, t.out);
        }
    }
    while (consume(&p, &t, most)) {
    }
    assert_int_equal(t.in, t.out);
    assert_true(t.full > 0 && t.skips > 0 && t.told > 0 && t.told <= t.full);
    free(p.mem);
}

static void test_interleave(void **state)
{
    (void)state;
    for (size_t size = 512; size <= 65536; size *= 2) {
        interleave(size, size + 1);
    }
}

/* Two records of the longest kind always fit an empty ring, wherever its position is. */
static void test_two_fit(void **state)
{
    (void)state;
    struct pair p;
    size_t      size = 1024, most = ct_ring_max_payload(size, MAX_HDR);
    pair_make(&p, size);
    for (unsigned start = 0; start < 3 * size / CT_RING_CELL; start++) {
        struct ct_record rec = {0};
        for (int i = 0; i < 2; i++) {
            assert_non_null(ct_ring_reserve(&p.tx, MAX_HDR, most));
            ct_ring_publish(&p.tx, 1, MAX_HDR, most);
            do {
                assert_int_equal(ct_ring_peek(&p.rx, &rec), 1);
                ct_ring_release(&p.rx, &rec);
            } while (rec.type == CT_RING_SKIP);
        }
        /* Another place next time. */
        assert_non_null(ct_ring_reserve(&p.tx, 0, 0));
        ct_ring_publish(&p.tx, 1, 0, 0);
        do {
            assert_int_equal(ct_ring_peek(&p.rx, &rec), 1);
            ct_ring_release(&p.rx, &rec);
        } while (rec.type == CT_RING_SKIP);
    }
    free(p.mem);
}

/* A producer without room says so; the consumer hears of it exactly once, when there is. */
static void test_starved(void **state)
{
    (void)state;
    enum { LEN = CT_RING_CELL - CT_RING_WORD - 8 }; /* a cell each */
    struct pair      p;
    struct ct_record rec = {0};
    unsigned         told = 0, in = 0, out = 0;
    pair_make(&p, 1024);
    while (ct_ring_reserve(&p.tx, 8, LEN) != NULL) {
        ct_ring_publish(&p.tx, 3, 8, LEN);
        in++;
    }
    assert_int_equal(in, 1024 / CT_RING_CELL - 1); /* the cleared word behind takes a cell */
    assert_int_equal(atomic_load(&p.tx.ctl->starved), 1);
    while (ct_ring_peek(&p.rx, &rec) == 1) {
        bool room_before = ct_ring_reserve(&p.tx, 8, LEN) != NULL;
        bool now = ct_ring_release(&p.rx, &rec);
        out++;
        told += now;
        /* Told, and there is room; not told, and it was as before. */
        assert_int_equal(ct_ring_reserve(&p.tx, 8, LEN) != NULL, room_before || now);
    }
    assert_int_equal(out, in);
    assert_int_equal(told, 1);
    assert_int_equal(atomic_load(&p.tx.ctl->starved), 0);
    ct_ring_publish(&p.tx, 3, 8, LEN);
    free(p.mem);
}

/* ---- nonsense -------------------------------------------------------------------------------- */

static _Atomic uint64_t *word_at(struct pair *p, uint64_t cell)
{
    return (_Atomic uint64_t *)(p->rx.cells + cell % p->rx.ncells * CT_RING_CELL);
}

/* A word that a producer wrote, to be spoilt. */
static uint64_t good_word(size_t size)
{
    struct pair p;
    pair_make(&p, size);
    assert_non_null(ct_ring_reserve(&p.tx, 8, 100));
    ct_ring_publish(&p.tx, 5, 8, 100);
    uint64_t word = atomic_load(word_at(&p, 0));
    free(p.mem);
    return word;
}

/* Reads all that the consumer is offered. */
static uint64_t touch(const struct ct_record *rec, const struct pair *p)
{
    uint64_t sum = 0;
    if (rec->type != CT_RING_SKIP) {
        assert_true(rec->hdr >= p->rx.cells);
        assert_true(rec->data + rec->len_bytes <= p->rx.cells + p->size);
        for (size_t i = 0; i < rec->hdr_len + rec->len_bytes; i++) {
            sum += (unsigned char)rec->hdr[i];
        }
    }
    return sum;
}

static void test_fuzz(void **state)
{
    (void)state;
    struct pair p;
    enum { SIZE = 4096, CELLS = SIZE / CT_RING_CELL };
    size_t   size = SIZE;
    uint64_t seed = 77, good = good_word(size), sum = 0;
    unsigned refused = 0, taken = 0, none = 0;
    pair_make(&p, size);
    for (unsigned r = 0; r < 200000; r++) {
        struct ct_record rec = {0};
        uint64_t         at = unit_below(&seed, CELLS), word = good;
        switch (unit_below(&seed, 4)) {
        case 0:
            word = unit_random(&seed);
            break;
        case 1: /* any length, type and header length behind a good mark */
            word = (good & UINT64_C(0xffff) << 48) | unit_random(&seed) >> 16;
            break;
        case 2: /* lengths about the ring's own */
            word = (good & ~UINT64_C(0xffffffff)) | unit_below(&seed, 2 * (uint32_t)size);
            break;
        default:
            word ^= UINT64_C(1) << unit_below(&seed, 64);
        }
        p.rx.pos = p.rx.seen = at;
        atomic_store(word_at(&p, at), word);
        int got = ct_ring_peek(&p.rx, &rec);
        refused += got < 0;
        none += got == 0;
        if (got > 0) {
            taken++;
            sum += touch(&rec, &p);
            ct_ring_release(&p.rx, &rec);
            assert_true(p.rx.pos > at && p.rx.pos <= CELLS); /* on, and not past the end */
        }
        atomic_store(word_at(&p, at), 0);
    }
    assert_true(refused > 10000 && taken > 10000);
    assert_int_equal(refused + taken + none, 200000);
    assert_int_equal(sum, 0); /* nobody wrote payload */
    free(p.mem);
}

/* Words that are wrong in one way each. */
static void test_refused(void **state)
{
    (void)state;
    struct pair      p;
    struct ct_record rec = {0};
    size_t           size = 4096;
    uint64_t         good = good_word(size);
    pair_make(&p, size);
    const uint64_t words[] = {
        1,                                        /* no mark */
        good ^ UINT64_C(1) << 50,                 /* another mark */
        good | UINT64_C(0xffffffff),              /* 4 GiB */
        good - 100 + size,                        /* longer than the ring */
        good - 100 + size / 2 + 2 * CT_RING_CELL, /* longer than a record may be */
        good & ~(UINT64_C(0xff) << 40),           /* a skip of the whole ring: without an end */
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(words); i++) {
        atomic_store(word_at(&p, 0), words[i]);
        assert_int_equal(ct_ring_peek(&p.rx, &rec), -1);
        assert_int_equal(ct_ring_peek(&p.rx, &rec), -1);
    }
    atomic_store(word_at(&p, 0), good);
    assert_int_equal(ct_ring_peek(&p.rx, &rec), 1);
    uint64_t last = p.rx.ncells - 1;
    atomic_store(word_at(&p, last), good); /* several cells, and one before the end */
    p.rx.pos = p.rx.seen = last;
    assert_int_equal(ct_ring_peek(&p.rx, &rec), -1);
    free(p.mem);
}

/* ---- two threads ----------------------------------------------------------------------------- */

enum { RECORDS = 100000 };

static void *producer(void *arg)
{
    struct pair *p = arg;
    size_t       most = ct_ring_max_payload(p->size, MAX_HDR);
    for (uint64_t n = 0; n < RECORDS; n++) {
        while (!produce(&p->tx, n, most)) {
            sched_yield();
        }
    }
    return NULL;
}

static void run_threads(size_t size)
{
    struct pair  p;
    struct tally t = {0};
    pthread_t    thread;
    size_t       most = ct_ring_max_payload(size, MAX_HDR);
    pair_make(&p, size);
    assert_int_equal(pthread_create(&thread, NULL, producer, &p), 0);
    while (t.out < RECORDS) {
        if (!consume(&p, &t, most)) {
            sched_yield();
        }
    }
    pthread_join(thread, NULL);
    assert_false(consume(&p, &t, most));
    free(p.mem);
}

static void test_threads(void **state)
{
    (void)state;
    run_threads(512);
    run_threads(4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interleave), cmocka_unit_test(test_two_fit),
        cmocka_unit_test(test_starved),    cmocka_unit_test(test_fuzz),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
