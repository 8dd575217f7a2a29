/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts: chunks and blocks tile a vector, whatever its length; slices become few pieces. */
#include "unit.h"

#include "coll/run/layout.h"

enum { ELEM = 3 };

static struct ct_slice block(uint8_t buf, uint32_t at)
{
    return (struct ct_slice){.buf = buf, .at = at, .run = 1, .reps = 1};
}

static struct ct_layout layout_of(size_t count, uint32_t nblk)
{
    struct ct_layout l = {.elem_bytes = ELEM, .count = count};
    ct_layout_cut(&l, nblk);
    return l;
}

/* Marks what every (chunk, block) names; at the end each element is marked once. */
static void tile(size_t count, uint32_t nblk, size_t chunk_elems)
{
    char            *mem = calloc(count * ELEM + 1, 1);
    struct ct_layout l = layout_of(count, nblk);
    struct ct_view   v = {.layout = &l, .chunk_elems = chunk_elems};
    size_t           nchunks = ct_div_up(ct_layout_longest(&l), chunk_elems), total = 0;
    assert_non_null(mem);
    l.buf[CT_SEND].base = l.buf[CT_RECV].base = mem;
    for (v.chunk = 0; v.chunk < nchunks; v.chunk++) {
        for (uint32_t b = 0; b < nblk; b++) {
            struct ct_slice s = block(CT_RECV, b + 2 * nblk); /* block numbers are cyclic */
            struct ct_part  part = ct_view_part(&v, &s, &s, 0);
            assert_true(part.elems <= chunk_elems);
            for (size_t i = 0; i < part.elems * ELEM; i++) {
                assert_true(part.base + i >= mem && part.base + i < mem + count * ELEM);
                assert_int_equal(part.base[i]++, 0);
            }
            total += part.elems;
        }
    }
    assert_int_equal(total, count);
    free(mem);
}

static void test_tilings(void **state)
{
    (void)state;
    for (size_t count = 0; count <= 33; count++) {
        for (uint32_t nblk = 1; nblk <= 9; nblk++) {
            for (size_t chunk = 1; chunk <= 12; chunk++) {
                tile(count, nblk, chunk);
            }
        }
    }
    tile(100003, 7, 1000);
}

/* All blocks of a one-chunk vector are one piece, from any block on at most two. */
static void test_joined(void **state)
{
    (void)state;
    char            mem[64 * ELEM];
    struct ct_piece pieces[64];
    for (uint32_t nblk = 1; nblk <= 8; nblk++) {
        for (size_t count = 0; count <= 20; count++) {
            struct ct_layout l = layout_of(count, nblk);
            struct ct_view   v = {.layout = &l, .chunk_elems = 64};
            l.buf[CT_SEND].base = mem;
            for (uint32_t at = 0; at < nblk; at++) {
                struct ct_slice s = {.buf = CT_SEND, .at = at, .run = nblk, .reps = 1};
                struct ct_area  area = ct_view_area(&v, &s, &s, pieces);
                assert_int_equal(area.len_bytes, count * ELEM);
                assert_true(area.pieces == NULL || (at > 0 && area.npieces <= 2));
            }
        }
    }
}

/* The area of any slice is its parts one after the other, neighbours joined. */
static void expect_area(const struct ct_view *v, const struct ct_slice *s)
{
    struct ct_piece pieces[64];
    struct iovec    out[64];
    struct ct_area  area = ct_view_area(v, s, s, pieces);
    size_t          pos = 0, off = 0;
    unsigned        n, at = 0;
    assert_int_equal(ct_area_next(&area, &pos, SIZE_MAX, out, 64, &n), area.len_bytes);
    for (uint32_t i = 0; i < ct_slice_blocks(s); i++) {
        struct ct_part part = ct_view_part(v, s, s, i);
        size_t         len = part.elems * v->layout->elem_bytes;
        if (len == 0) {
            continue;
        }
        if (off == out[at].iov_len) {
            at++;
            off = 0;
        }
        assert_true(at < n && off + len <= out[at].iov_len);
        assert_ptr_equal((char *)out[at].iov_base + off, part.base);
        off += len;
    }
    assert_true(n == 0 ? area.len_bytes == 0 : at == n - 1 && off == out[at].iov_len);
    for (uint32_t i = 1; i < n; i++) {
        assert_ptr_not_equal((char *)out[i - 1].iov_base + out[i - 1].iov_len, out[i].iov_base);
    }
}

static void test_slices(void **state)
{
    (void)state;
    char     mem[64 * ELEM];
    uint64_t seed = 9;
    for (unsigned r = 0; r < 20000; r++) {
        uint32_t         nblk = unit_below(&seed, 8) + 1;
        struct ct_layout l = layout_of(unit_below(&seed, 60), nblk);
        struct ct_view   v = {
              .layout = &l, .chunk_elems = unit_below(&seed, 9) + 1, .chunk = unit_below(&seed, 4)};
        struct ct_slice s = {.buf = CT_RECV,
                             .at = unit_below(&seed, 3 * nblk),
                             .run = unit_below(&seed, 4),
                             .stride = unit_below(&seed, 5),
                             .reps = unit_below(&seed, 4) + 1};
        l.buf[CT_RECV].base = mem;
        expect_area(&v, &s);
    }
}

/* Not commutative: 3 a + b, a byte at a time. */
static void combine(void *dst, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count * ELEM; i++) {
        ((unsigned char *)dst)[i] =
            (unsigned char)(3 * ((const unsigned char *)a)[i] + ((const unsigned char *)b)[i]);
    }
}

/* What a message brings is reduced alike in one go and in parts that end inside of blocks. */
static void test_parts(void **state)
{
    (void)state;
    enum { N = 60 };
    const struct ct_reduction op = {.kernel = combine, .elem_bytes = ELEM};
    uint64_t                  seed = 11;
    for (unsigned r = 0; r < 5000; r++) {
        char             in[N * ELEM], src[N * ELEM], whole[N * ELEM], parts[N * ELEM];
        uint32_t         nblk = unit_below(&seed, 8) + 1;
        struct ct_layout l = layout_of(unit_below(&seed, N), nblk);
        struct ct_view   v = {
              .layout = &l, .chunk_elems = unit_below(&seed, 9) + 1, .chunk = unit_below(&seed, 3)};
        struct ct_step step = {.act = CT_RX_OP,
                               .flags = unit_below(&seed, 2) ? CT_SWAP : 0,
                               .dst = {.buf = CT_RECV,
                                       .at = unit_below(&seed, nblk),
                                       .run = unit_below(&seed, nblk) + 1,
                                       .reps = 1}};
        size_t         bytes = 0;
        step.src = step.dst;
        step.src.buf = CT_SEND;
        step.flags |= unit_below(&seed, 2) ? CT_ONTO : 0;
        for (int i = 0; i < N * ELEM; i++) {
            in[i] = (char)unit_below(&seed, 256);
            src[i] = (char)unit_below(&seed, 256);
            whole[i] = parts[i] = (char)unit_below(&seed, 256);
        }
        for (uint32_t i = 0; i < ct_slice_blocks(&step.dst); i++) {
            bytes += ct_view_part(&v, &step.dst, &step.dst, i).elems * ELEM;
        }
        l.buf[CT_SEND].base = src;
        l.buf[CT_RECV].base = whole;
        ct_view_reduce_in(&v, &op, &step, 0, in, bytes);
        l.buf[CT_RECV].base = parts;
        for (size_t at = 0, len; at < bytes; at += len) {
            len = ct_min_size(bytes - at, (unit_below(&seed, 5) + 1) * ELEM);
            ct_view_reduce_in(&v, &op, &step, at, in + at, len);
        }
        assert_memory_equal(whole, parts, sizeof whole);
    }
}

/* A buffer that holds one block only: its base is that block. */
static void test_first(void **state)
{
    (void)state;
    char             mem[64 * ELEM];
    struct ct_layout l = layout_of(11, 4); /* 3 3 3 2 */
    struct ct_view   v = {.layout = &l, .chunk_elems = 2};
    static const struct {
        uint32_t block;
        size_t   chunk, elems, at;
    } rows[] = {{0, 0, 2, 0}, {0, 1, 1, 2}, {2, 0, 2, 0}, {2, 1, 1, 2}, {3, 0, 2, 0}, {3, 1, 0, 0}};
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct ct_slice s = block(CT_SEND, rows[i].block);
        l.buf[CT_SEND].base = mem;
        l.buf[CT_SEND].first = rows[i].block;
        v.chunk = rows[i].chunk;
        struct ct_part part = ct_view_part(&v, &s, &s, 0);
        assert_int_equal(part.elems, rows[i].elems);
        assert_ptr_equal(part.base, rows[i].elems > 0 ? mem + rows[i].at * ELEM : NULL);
    }
}

/* Blocks with counts lie where the displacements say, in units of several elements; a buffer knows
 * of those only that it holds. */
static void test_counts(void **state)
{
    (void)state;
    char                mem[64 * ELEM];
    const ctran_count_t counts[] = {2, 0, 3}, own = 3;
    const ctran_aint_t  displs[] = {4, 9, 0}, here = 0;
    struct ct_layout    l = layout_of(0, 3);
    struct ct_view      v = {.layout = &l, .tmp = mem, .ntmp = 1, .chunk_elems = 4};
    l.buf[CT_SEND] = (struct ct_blocks){mem, 0, 3, counts, displs, 2};
    l.buf[CT_RECV] = (struct ct_blocks){mem + ELEM, 2, 1, &own, &here, 2};
    assert_int_equal(ct_layout_longest(&l), 6);
    static const struct {
        uint32_t block;
        size_t   chunk, elems, at;
    } rows[] = {{0, 0, 4, 8}, {0, 1, 0, 0}, {1, 0, 0, 0}, {2, 0, 4, 0}, {2, 1, 2, 4}, {2, 2, 0, 0}};
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct ct_slice s = block(CT_SEND, rows[i].block), r = block(CT_RECV, rows[i].block);
        struct ct_slice t = block(CT_TMP, 0);
        v.chunk = rows[i].chunk;
        struct ct_part part = ct_view_part(&v, &s, &s, 0);
        assert_int_equal(part.elems, rows[i].elems);
        assert_ptr_equal(part.base, rows[i].elems > 0 ? mem + rows[i].at * ELEM : NULL);
        assert_int_equal(ct_view_part(&v, &t, &s, 0).elems, rows[i].elems);
        if (rows[i].block == 2 && rows[i].elems > 0) {
            part = ct_view_part(&v, &r, &r, 0);
            assert_int_equal(part.elems, rows[i].elems);
            assert_ptr_equal(part.base, mem + ELEM + rows[i].at * ELEM);
        }
    }
}

/* Scratch has a slot of one chunk for each of its blocks; the other slice says how long. */
static void test_scratch(void **state)
{
    (void)state;
    char             mem[64 * ELEM], tmp[64 * ELEM];
    struct ct_layout l = layout_of(11, 4);
    struct ct_view   v = {.layout = &l, .tmp = tmp, .ntmp = 3, .chunk_elems = 2, .chunk = 1};
    l.buf[CT_RECV].base = mem;
    for (uint32_t b = 0; b < 4; b++) {
        for (uint32_t slot = 0; slot < 7; slot++) {
            struct ct_slice s = block(CT_TMP, slot), names = block(CT_RECV, b);
            struct ct_part  part = ct_view_part(&v, &s, &names, 0);
            assert_int_equal(part.elems, b < 3 ? 1 : 0);
            assert_ptr_equal(part.base, tmp + slot % 3 * 2 * ELEM);
        }
    }
    /* Both in scratch: then the vector is one block. */
    ct_layout_cut(&l, 1);
    struct ct_slice s = block(CT_TMP, 1);
    assert_int_equal(ct_view_part(&v, &s, &s, 0).elems, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tilings), cmocka_unit_test(test_joined),
        cmocka_unit_test(test_slices),  cmocka_unit_test(test_parts),
        cmocka_unit_test(test_first),   cmocka_unit_test(test_counts),
        cmocka_unit_test(test_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
