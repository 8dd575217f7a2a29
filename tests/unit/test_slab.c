/* SPDX-License-Identifier: BSD-3-Clause */
/* Slabs: objects are aligned, disjoint, keep their contents, and are used again. */
#include "unit.h"

enum { MOST = 200, ROUNDS = 20000 };

static void fill(unsigned char *obj, size_t size, unsigned tag)
{
    for (size_t i = 0; i < size; i++) {
        obj[i] = (unsigned char)(tag * 31 + i);
    }
}

static void expect_filled(const unsigned char *obj, size_t size, unsigned tag)
{
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(obj[i], (unsigned char)(tag * 31 + i));
    }
}

/* Gets and puts at random; every object holds its own bytes all the time it is out. */
static void exercise(size_t size, size_t per_page)
{
    struct ct_slab s;
    unsigned char *out[MOST];
    unsigned       tag[MOST], n = 0;
    uint64_t       seed = size * 7 + per_page;
    ct_slab_init(&s, size, per_page);
    for (unsigned r = 0; r < ROUNDS; r++) {
        if (n < MOST && unit_below(&seed, 2) == 0) {
            out[n] = ct_slab_get(&s);
            assert_non_null(out[n]);
            assert_int_equal((uintptr_t)out[n] % CT_CACHE_LINE, 0);
            fill(out[n], size, tag[n] = r);
            n++;
        } else if (n > 0) {
            unsigned i = unit_below(&seed, n);
            expect_filled(out[i], size, tag[i]);
            ct_slab_put(&s, out[i]);
            n--;
            out[i] = out[n];
            tag[i] = tag[n];
        }
        assert_int_equal(s.in_use, n);
    }
    for (unsigned i = 0; i < n; i++) {
        expect_filled(out[i], size, tag[i]);
    }
    ct_slab_fini(&s);
    assert_int_equal(s.in_use, 0);
}

static void test_random(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 8, 63, 64, 65, 300};
    for (size_t i = 0; i < CT_ARRAY_LEN(sizes); i++) {
        exercise(sizes[i], 1);
        exercise(sizes[i], 64);
    }
}

/* What was put back last comes first: it is still in the cache. */
static void test_reuse(void **state)
{
    (void)state;
    struct ct_slab s;
    ct_slab_init(&s, 40, 4);
    void *a = ct_slab_get(&s), *b = ct_slab_get(&s);
    assert_ptr_not_equal(a, b);
    ct_slab_put(&s, a);
    assert_ptr_equal(ct_slab_get(&s), a);
    ct_slab_put(&s, b);
    ct_slab_put(&s, a);
    assert_ptr_equal(ct_slab_get(&s), a);
    assert_ptr_equal(ct_slab_get(&s), b);
    ct_slab_fini(&s);
}

static void test_empty(void **state)
{
    (void)state;
    struct ct_slab s;
    ct_slab_init(&s, 8, 8);
    assert_null(s.pages); /* no memory before the first object */
    ct_slab_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
