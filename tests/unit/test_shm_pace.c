/* SPDX-License-Identifier: BSD-3-Clause */
/* How near a peer is, as copies tell: the judgement, and that what is copied is right, timed or
 * not. */
#include "net/shm_pace.h"
#include "unit.h"

static void judge(struct ct_shm_pace *pace, uint64_t ns, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        ct_shm_pace_learn(pace, ns);
    }
}

/* Near until shown to be far, by the best of each CT_FAR_SAMPLES. */
static void test_judgement(void **state)
{
    (void)state;
    struct ct_shm_pace pace = {0};
    judge(&pace, 10 * CT_FAR_NS, CT_FAR_SAMPLES - 1);
    assert_false(pace.far);
    judge(&pace, 2 * CT_FAR_NS, 1);
    assert_true(pace.far);
    judge(&pace, 2 * CT_FAR_NS, CT_FAR_SAMPLES - 1);
    judge(&pace, CT_FAR_NS, 1); /* one that was not disturbed */
    assert_false(pace.far);
    judge(&pace, 100, CT_FAR_SAMPLES);
    assert_false(pace.far);
    judge(&pace, CT_FAR_NS + 1, CT_FAR_SAMPLES);
    assert_true(pace.far);
}

/* Where ranks share cores half of what is timed may have been in this core's cache; two that were
 * disturbed say nothing. */
static void test_crowded(void **state)
{
    (void)state;
    enum { HALF = CT_FAR_SAMPLES / 2 };
    struct ct_shm_pace pace = {.crowded = true};
    for (unsigned i = 0; i < HALF; i++) {
        assert_false(pace.far);
        judge(&pace, CT_SHM_PACE_CROWDED_NS + 1, 1);
        judge(&pace, 1, 1);
    }
    assert_true(pace.far);
    judge(&pace, 10 * CT_FAR_NS, 2);
    judge(&pace, CT_SHM_PACE_CROWDED_NS, CT_FAR_SAMPLES - 2);
    assert_false(pace.far);
}

static void test_copies(void **state)
{
    (void)state;
    enum { MOST = 40000, COPIES = 100 };
    static char        from[MOST], to[MOST + 1];
    struct ct_shm_pace pace = {0};
    uint64_t           seed = 7;
    for (unsigned i = 0; i < MOST; i++) {
        from[i] = (char)unit_random(&seed);
    }
    for (unsigned i = 0; i < COPIES; i++) {
        const size_t        start = unit_random(&seed) % 1000;
        const size_t        len = 2 * CT_FAR_BYTES + unit_random(&seed) % 20000;
        size_t              pos = start;
        struct ct_area      area = {.base = from, .len_bytes = MOST};
        struct ct_net_slice slice = {.area = &area, .pos = &pos, .len_bytes = len};
        memset(to, 0x5a, sizeof to);
        assert_true(ct_shm_pace_takes(&slice));
        ct_shm_pace_copy(&pace, &slice, to, i % 3 == 0);
        assert_int_equal(pos, start + len);
        assert_memory_equal(to, from + start, len);
        assert_int_equal(to[len], 0x5a);
        pace.far = i % 20 == 0; /* then all are timed */
    }
    assert_int_equal(pace.copies, COPIES);
}

static void test_takes(void **state)
{
    (void)state;
    struct ct_area      area = {.base = (char *)1, .len_bytes = 1 << 20};
    struct ct_net_slice slice = {.area = &area, .len_bytes = 2 * CT_FAR_BYTES - 1};
    assert_false(ct_shm_pace_takes(&slice));
    slice.len_bytes++;
    assert_true(ct_shm_pace_takes(&slice));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judgement),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
