/* SPDX-License-Identifier: BSD-3-Clause */
/* Areas against a flat model, which lists every byte of theirs. */
#include "unit.h"

enum { PIECES = 4, LEVELS = 3, ROUNDS = 3000, SPAN = 1 << 15, MOST = 1 << 20 };

/* An area somewhere in mem, and the place in mem of each of its bytes. */
struct model {
    struct ct_piece pieces[PIECES + PIECES * PIECES + PIECES * PIECES * PIECES];
    unsigned        used;
    struct ct_area  area;
    unsigned char  *mem;
    size_t         *at;
    size_t          len;
};

static struct ct_piece block(ptrdiff_t at, size_t len)
{
    return (struct ct_piece){.at_bytes = at, .len_bytes = len, .reps = 1};
}

/* A list of up to PIECES: of memory, in blocks of scalars' lengths and others, or of lists. Their
 * distances have either sign; places repeat and overlap, which only a gather may. */
static struct ct_piece *make_list(struct model *m, uint64_t *seed, unsigned level, uint32_t *n)
{
    struct ct_piece *list = &m->pieces[m->used];
    size_t           from = 0;
    *n = 1 + unit_below(seed, PIECES);
    m->used += *n;
    for (uint32_t i = 0; i < *n; i++) {
        list[i] = block((ptrdiff_t)unit_below(seed, 400), 1u << unit_below(seed, 6));
        list[i].reps = 1 + unit_below(seed, level == 0 ? 5 : 3);
        list[i].stride_bytes = (ptrdiff_t)unit_below(seed, 801) - 400;
        list[i].from_bytes = from;
        if (level + 1 < LEVELS && unit_below(seed, 2) == 0) {
            list[i].inner = make_list(m, seed, level + 1, &list[i].ninner);
            list[i].len_bytes = ct_pieces_len(list[i].inner, list[i].ninner);
        } else if (unit_below(seed, 2) == 0) {
            list[i].len_bytes = 1 + unit_below(seed, 40);
        }
        from += list[i].len_bytes * list[i].reps;
    }
    return list;
}

static void place(struct model *m, const struct ct_piece *list, uint32_t n, ptrdiff_t base)
{
    for (uint32_t i = 0; i < n; i++) {
        for (size_t r = 0; r < list[i].reps; r++) {
            ptrdiff_t at = base + list[i].at_bytes + (ptrdiff_t)r * list[i].stride_bytes;
            if (list[i].inner != NULL) {
                place(m, list[i].inner, list[i].ninner, at);
                continue;
            }
            for (size_t k = 0; k < list[i].len_bytes; k++) {
                assert_true(m->len < MOST);
                m->at[m->len++] = (size_t)(at + (ptrdiff_t)k);
            }
        }
    }
}

static void make(struct model *m, uint64_t *seed)
{
    uint32_t  n;
    size_t    reps = 1 + unit_below(seed, 4);
    ptrdiff_t stride = (ptrdiff_t)unit_below(seed, 801) - 400;
    m->used = 0;
    m->len = 0;
    struct ct_piece *list = make_list(m, seed, 0, &n);
    for (size_t r = 0; r < reps; r++) {
        place(m, list, n, SPAN / 2 + (ptrdiff_t)r * stride);
    }
    m->area = ct_area_make(m->mem + SPAN / 2, list, n, reps, stride);
    assert_int_equal(m->area.len_bytes, m->len);
}

static void setup(struct model *m)
{
    m->mem = malloc(SPAN);
    m->at = malloc(sizeof *m->at * MOST);
    assert_true(m->mem != NULL && m->at != NULL);
    for (size_t i = 0; i < SPAN; i++) {
        m->mem[i] = (unsigned char)(i * 7 + (i >> 8));
    }
}

static void teardown(struct model *m)
{
    free(m->mem);
    free(m->at);
}

/* In portions of random size, and past the end; now and then from another place. */
static void test_gather(void **state)
{
    (void)state;
    struct model m;
    uint64_t     seed = 3;
    setup(&m);
    for (unsigned r = 0; r < ROUNDS; r++) {
        size_t        pos = 0;
        unsigned char got[1024 + 1];
        size_t        at = 0, copied;
        uint32_t      most = unit_below(&seed, 2) ? 40 : 1024;
        make(&m, &seed);
        do {
            size_t want = unit_below(&seed, most) + 1;
            if (unit_below(&seed, 16) == 0) {
                pos = at = unit_below(&seed, (uint32_t)m.len + 1);
            }
            memset(got, 0xee, sizeof got);
            copied = ct_area_gather(&m.area, &pos, got, want);
            assert_int_equal(copied, ct_min_size(want, m.len - at));
            for (size_t i = 0; i < copied; i++) {
                assert_int_equal(got[i], m.mem[m.at[at + i]]);
            }
            assert_int_equal(got[copied], 0xee);
            at += copied;
        } while (copied > 0);
        assert_int_equal(at, m.len);
    }
    teardown(&m);
}

/* Memory that is read by functions alone; here plain memory. */
static unsigned copies_left; /* until one fails; 0: none does */

static int read_list(const struct ct_memory *m, void *flat, size_t len, const struct ct_rows *list,
                     unsigned n)
{
    size_t sum = 0;
    (void)m;
    if (copies_left > 0 && --copies_left == 0) {
        return CTRAN_ERR_BUFFER;
    }
    assert_true(n >= 1 && n <= CT_AREA_BATCH);
    for (unsigned i = 0; i < n; i++) {
        for (size_t k = 0; k < list[i].n; k++) {
            const size_t to = list[i].flat_bytes + k * list[i].flat_stride_bytes;
            assert_true(list[i].len_bytes > 0 && to + list[i].len_bytes <= len);
            memcpy((char *)flat + to, (void *)(list[i].at + k * (uintptr_t)list[i].stride_bytes),
                   list[i].len_bytes);
            sum += list[i].len_bytes;
        }
    }
    assert_int_equal(sum, len);
    return CTRAN_SUCCESS;
}

/* Gathered in portions from anywhere; when a copy fails, what is said to be there is. */
static void test_gather_far(void **state)
{
    static const struct ct_memory memory = {.read = read_list};
    struct model                  m;
    uint64_t                      seed = 13;
    unsigned char                *got = malloc(MOST);
    (void)state;
    setup(&m);
    for (unsigned r = 0; r < ROUNDS; r++) {
        make(&m, &seed);
        ct_area_set_memory(&m.area, &memory);
        for (unsigned k = 0; k < 4; k++) {
            const size_t from = unit_below(&seed, (uint32_t)m.len + 1);
            const size_t want = 1 + unit_below(&seed, (uint32_t)m.len);
            size_t       pos = from;
            copies_left = unit_below(&seed, 4);
            const bool   fails = copies_left > 0;
            const size_t copied = ct_area_gather(&m.area, &pos, got, want);
            assert_true(copied == ct_min_size(want, m.len - from) ||
                        (fails && copies_left == 0 && copied < want));
            assert_int_equal(pos, from + copied);
            for (size_t i = 0; i < copied; i++) {
                assert_int_equal(got[i], m.mem[m.at[from + i]]);
            }
        }
    }
    free(got);
    teardown(&m);
}

static void test_scatter(void **state)
{
    (void)state;
    struct model   m;
    unsigned char *want = malloc(SPAN), *src = malloc(1024);
    uint64_t       seed = 5;
    setup(&m);
    for (unsigned r = 0; r < ROUNDS; r++) {
        size_t   pos = 0;
        size_t   at = 0, copied;
        uint32_t most = unit_below(&seed, 2) ? 40 : 1024;
        make(&m, &seed);
        memcpy(want, m.mem, SPAN);
        do {
            size_t len = unit_below(&seed, most) + 1;
            for (size_t i = 0; i < len; i++) {
                src[i] = (unsigned char)unit_random(&seed);
            }
            for (size_t i = 0; i < len && at + i < m.len; i++) { /* in order: the last one stays */
                want[m.at[at + i]] = src[i];
            }
            copied = ct_area_scatter(&m.area, &pos, src, len);
            assert_int_equal(copied, ct_min_size(len, m.len - at));
            at += copied;
        } while (copied > 0);
        assert_memory_equal(m.mem, want, SPAN);
    }
    free(want);
    free(src);
    teardown(&m);
}

/* The same bytes as plain pieces, within the limits given. */
static void test_next(void **state)
{
    (void)state;
    struct model m;
    uint64_t     seed = 7;
    setup(&m);
    for (unsigned r = 0; r < ROUNDS; r++) {
        size_t       pos = 0;
        struct iovec out[8];
        size_t       at = 0, bytes;
        unsigned     count;
        make(&m, &seed);
        do {
            unsigned n = 1 + unit_below(&seed, 8);
            size_t   most = 1 + unit_below(&seed, 100);
            bytes = ct_area_next(&m.area, &pos, most, out, n, &count);
            assert_true(count <= n && bytes <= most);
            assert_true(count == n || bytes == most || at + bytes == m.len);
            for (unsigned i = 0; i < count; i++) {
                assert_true(out[i].iov_len > 0);
                for (size_t k = 0; k < out[i].iov_len; k++, at++, bytes--) {
                    assert_ptr_equal((unsigned char *)out[i].iov_base + k, m.mem + m.at[at]);
                }
            }
            assert_int_equal(bytes, 0);
        } while (count > 0);
        assert_int_equal(at, m.len);
    }
    teardown(&m);
}

/* A list made block by block is no longer than that, and has the same bytes in the same order. */
static void test_add(void **state)
{
    (void)state;
    enum { BLOCKS = 30 };
    uint64_t seed = 11;
    for (unsigned r = 0; r < ROUNDS; r++) {
        struct ct_piece pieces[BLOCKS];
        ptrdiff_t       want[BLOCKS * 4], at = 0;
        size_t          len = 0, got = 0;
        uint32_t        n = 0, blocks = unit_below(&seed, BLOCKS + 1);
        for (uint32_t i = 0; i < blocks; i++) {
            size_t len_of = unit_below(&seed, 4) == 0 ? 1 + unit_below(&seed, 5) : 2;
            at += (ptrdiff_t)unit_below(&seed, 3) * 2 - (unit_below(&seed, 5) == 0 ? 7 : 0);
            n = ct_piece_add(pieces, n, block(at, len_of));
            for (size_t k = 0; k < len_of; k++) {
                want[len++] = at + (ptrdiff_t)k;
            }
            at += (ptrdiff_t)len_of;
        }
        assert_true(n <= blocks);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(pieces[i].from_bytes, got);
            for (size_t b = 0; b < pieces[i].reps; b++) {
                for (size_t k = 0; k < pieces[i].len_bytes; k++) {
                    assert_int_equal(pieces[i].at_bytes + (ptrdiff_t)b * pieces[i].stride_bytes +
                                         (ptrdiff_t)k,
                                     want[got++]);
                }
            }
        }
        assert_int_equal(got, len);
    }
}

static void test_merged(void **state)
{
    (void)state;
    struct ct_piece pieces[8];
    uint32_t        n = 0;
    for (int i = 0; i < 100; i++) { /* a column */
        n = ct_piece_add(pieces, n, block(i * 64, 8));
    }
    assert_int_equal(n, 1);
    assert_int_equal(pieces[0].reps, 100);
    assert_int_equal(pieces[0].stride_bytes, 64);
    n = ct_piece_add(pieces, n, block(99 * 64 + 8, 8)); /* the last one grows */
    assert_int_equal(n, 2);
    assert_int_equal(pieces[0].reps, 99);
    assert_int_equal(pieces[1].at_bytes, 99 * 64);
    assert_int_equal(pieces[1].len_bytes, 16);
    for (n = 0; n == 0 || pieces[0].len_bytes < 800;) { /* no gaps */
        n = ct_piece_add(pieces, n, block(n == 0 ? 0 : (ptrdiff_t)pieces[0].len_bytes, 8));
        assert_int_equal(n, 1);
    }
    char           mem[800];
    struct ct_area area = ct_area_make(mem, pieces, 1, 2, 800);
    assert_null(area.pieces);
    area = ct_area_make(mem, pieces, 1, 2, 808);
    assert_ptr_equal(area.pieces, pieces);
}

static void test_nothing(void **state)
{
    (void)state;
    size_t         pos = 0;
    char           byte = 7;
    struct iovec   out[1];
    unsigned       count;
    struct ct_area none = {.base = NULL}, made = ct_area_make(&byte, NULL, 0, 5, 8);
    assert_int_equal(ct_area_gather(&none, &pos, &byte, 1), 0);
    assert_int_equal(ct_area_scatter(&none, &pos, &byte, 1), 0);
    assert_int_equal(ct_area_gather(&made, &pos, &byte, 1), 0);
    assert_int_equal(ct_area_next(&none, &pos, 1, out, 1, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(byte, 7);
}

/* A base that is no pointer: pieces say where memory is. */
static void test_bottom(void **state)
{
    (void)state;
    int             a = 5, b = 6, got[2] = {0, 0};
    struct ct_piece pieces[2] = {block((ptrdiff_t)(uintptr_t)&a, sizeof a),
                                 block((ptrdiff_t)(uintptr_t)&b, sizeof b)};
    pieces[1].from_bytes = sizeof a;
    struct ct_area area = ct_area_make(NULL, pieces, 2, 1, 0);
    size_t         pos = 0;
    assert_int_equal(ct_area_gather(&area, &pos, got, sizeof got), sizeof got);
    assert_int_equal(got[0], 5);
    assert_int_equal(got[1], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gather),  cmocka_unit_test(test_gather_far),
        cmocka_unit_test(test_scatter), cmocka_unit_test(test_next),
        cmocka_unit_test(test_add),     cmocka_unit_test(test_merged),
        cmocka_unit_test(test_nothing), cmocka_unit_test(test_bottom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
