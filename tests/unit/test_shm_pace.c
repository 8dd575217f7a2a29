/* SPDX-License-Identifier: BSD-3-Clause */
/* How near a peer is, as copies tell: the judgement, and that what is copied is right, timed or
 * not; and whether what is read of it was changed, as the time of reads tells. */
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
        const size_t        len = CT_FAR_BYTES + unit_random(&seed) % 28000;
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
    struct ct_net_slice slice = {.area = &area, .len_bytes = CT_FAR_BYTES - 1};
    assert_false(ct_shm_pace_takes(&slice));
    slice.len_bytes++;
    assert_true(ct_shm_pace_takes(&slice));
}

/* ---- reads ----------------------------------------------------------------------------------- */

enum { SLOW_8K = CT_SHM_READS_NS + (8 << 10) / CT_SHM_READS_BYTES + 1 };

/* Several slow ones in a row are changes, one that is not ends them; whoever is told later, too. */
static void test_reads(void **state)
{
    (void)state;
    struct ct_shm_reads reads = {0};
    _Atomic uint32_t    told = 9, later = 9;
    ct_shm_reads_learn(&reads, 8 << 10, SLOW_8K - 1); /* nobody is to be told */
    ct_shm_reads_tell(&reads, &told);
    assert_int_equal(told, 0);
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 1; i < CT_SHM_READS_IN_A_ROW; i++) {
            ct_shm_reads_learn(&reads, 8 << 10, SLOW_8K);
            assert_int_equal(told, 0);
        }
        ct_shm_reads_learn(&reads, 64 << 10, SLOW_8K); /* not slow for so much */
        assert_int_equal(told, 0);
    }
    for (unsigned i = 1; i <= 2 * CT_SHM_READS_IN_A_ROW; i++) {
        ct_shm_reads_learn(&reads, 8 << 10, SLOW_8K);
        assert_int_equal(told, i >= CT_SHM_READS_IN_A_ROW);
    }
    ct_shm_reads_tell(&reads, &later);
    assert_int_equal(later, 1);
    ct_shm_reads_learn(&reads, 8 << 10, SLOW_8K - 1);
    assert_int_equal(later, 0);
}

static unsigned timed_of(struct ct_shm_reads *reads, unsigned n, size_t len_bytes)
{
    unsigned timed = 0;
    for (unsigned i = 0; i < n; i++) {
        timed += ct_shm_reads_begin(reads, len_bytes) != 0;
    }
    return timed;
}

/* Few are timed, but all from a slow one on until one is not. */
static void test_reads_timed(void **state)
{
    (void)state;
    struct ct_shm_reads reads = {0};
    assert_int_equal(timed_of(&reads, 80, CT_SHM_READS_LEAST - 1), 0);
    assert_int_equal(timed_of(&reads, 80, CT_SHM_READS_LEAST), 10);
    ct_shm_reads_learn(&reads, 8 << 10, SLOW_8K);
    assert_int_equal(timed_of(&reads, 80, CT_SHM_READS_LEAST), 80);
    ct_shm_reads_learn(&reads, 8 << 10, 0);
    assert_int_equal(timed_of(&reads, 80, CT_SHM_READS_LEAST), 10);
}

/* A record is as long as it says, in whichever half of a line it begins, and from any place of its
 * area on. */
static void check_fill(const char *bytes, size_t len, size_t begin, size_t pos, bool answers)
{
    enum { AROUND = CT_CACHE_LINE, MOST = 1200, BLANK = 0x5a };
    static _Alignas(CT_CACHE_LINE) char line[2 * AROUND + MOST];
    static const char                   hdr[] = "0123456789abcdef";
    const size_t                        hdr_len = sizeof hdr - 1;
    const struct ct_area                area = {.base = (void *)bytes, .len_bytes = pos + len};
    size_t                              now = pos;
    char                               *to = line + begin;
    memset(line, BLANK, sizeof line);
    assert_true(ct_shm_fill(
        &(struct ct_net_slice){
            .hdr = hdr, .hdr_len = (uint8_t)hdr_len, .area = &area, .pos = &now, .len_bytes = len},
        to, answers));
    assert_int_equal(now, pos + len);
    assert_memory_equal(to, hdr, hdr_len);
    assert_memory_equal(to + hdr_len, bytes + pos, len);
    assert_int_equal(to[-1], BLANK);
    assert_int_equal(to[hdr_len + len], BLANK);
}

static void test_fill(void **state)
{
    enum { MOST = 1000 };
    static const size_t begins[] = {8, 40};
    static char         bytes[MOST + 8];
    uint64_t            seed = 3;
    (void)state;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)unit_random(&seed);
    }
    for (size_t len = 0; len <= MOST; len++) {
        check_fill(bytes, len, begins[len % 2], len % 3, true);
        check_fill(bytes, len, begins[(len + 1) % 2], 0, true);
        check_fill(bytes, len, begins[len % 2], 1, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_judgement), cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_copies),    cmocka_unit_test(test_takes),
        cmocka_unit_test(test_reads),     cmocka_unit_test(test_reads_timed),
        cmocka_unit_test(test_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
