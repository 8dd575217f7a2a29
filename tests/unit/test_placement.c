/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats: what a process sees of the others, and when it takes another core. The others are words in
 * the memory that this test writes itself. Where it may use one core alone there is no other one,
 * and that is what is tested. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "node/node.h"
#include "unit.h"

/* Waits are long beside what the loss of a core adds to their average. */
enum { N = 4, ME = 1, MANY = 10000, HERE_NS = 200000, SHORTER_NS = 100000, LONGER_NS = 900000 };

static cpu_set_t ours;

static struct ct_placement view_new(void)
{
    struct ct_placement_core *all = aligned_alloc(CT_CACHE_LINE, N * sizeof *all);
    assert_non_null(all);
    memset(all, 0, N * sizeof *all);
    return (struct ct_placement){.all = all, .n = N, .me = ME, .moves = true};
}

static void put(struct ct_placement *s, uint32_t who, int32_t core)
{
    atomic_store_explicit(&s->all[who].core, core, memory_order_relaxed);
}

static int first_core(int after)
{
    for (int c = after + 1; c < CPU_SETSIZE; c++) {
        if (CPU_ISSET((unsigned)c, &ours)) {
            return c;
        }
    }
    return -1;
}

static void pin(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static int unpin(void **state)
{
    (void)state;
    return sched_setaffinity(0, sizeof ours, &ours);
}

static void test_sight(void **state)
{
    (void)state;
    struct ct_placement s = view_new();
    pin(first_core(-1));
    const int32_t here = sched_getcpu() + 1;
    assert_int_equal(ct_placement_look(&s, 0), CT_PLACEMENT_UNKNOWN);
    assert_int_equal(ct_placement_look(&s, N), CT_PLACEMENT_UNKNOWN); /* of another host */
    put(&s, 0, here);
    assert_int_equal(ct_placement_look(&s, 0), CT_PLACEMENT_BESIDE);
    put(&s, 0, -here);
    assert_int_equal(ct_placement_look(&s, 0), CT_PLACEMENT_BESIDE);
    put(&s, 0, here + 1);
    assert_int_equal(ct_placement_look(&s, 0), CT_PLACEMENT_RUNS);
    put(&s, 0, -(here + 1));
    assert_int_equal(ct_placement_look(&s, 0), CT_PLACEMENT_AWAY);
    ct_placement_take(&s);
    assert_int_equal(atomic_load(&s.all[ME].core), here);
    ct_placement_yield(&s);
    assert_int_equal(atomic_load(&s.all[ME].core), here);
    free(s.all);
}

/* All calls do nothing for one who has no such memory. */
static void test_none(void **state)
{
    (void)state;
    struct ct_placement s = {.n = 0};
    ct_placement_take(&s);
    ct_placement_yield(&s);
    ct_placement_choose(&s);
    ct_placement_spread(&s);
    ct_placement_learn(&s, 0, 0);
    ct_placement_join(&s, 0);
    assert_int_equal(ct_placement_look(&s, 0), CT_PLACEMENT_UNKNOWN);
}

/* The first core is that of its turn, and binds nobody. */
static void test_choose(void **state)
{
    (void)state;
    for (uint32_t me = 0; me < N; me++) {
        struct ct_placement s = view_new();
        int                 turn = (int)me % CPU_COUNT(&ours), core = first_core(-1);
        cpu_set_t           now;
        s.me = me;
        while (turn-- > 0) {
            core = first_core(core);
        }
        ct_placement_choose(&s);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_true(CPU_EQUAL(&now, &ours));
        if (CPU_COUNT(&ours) > 1) {
            assert_int_equal(s.mine, core + 1);
        } else {
            assert_int_equal(s.mine, 0);
        }
        free(s.all);
    }
}

/* A wait of `ns` that `who` has ended, with the word of where that one is written anew. */
static void wait_once(struct ct_placement *s, uint32_t who, uint64_t ns, bool beside)
{
    const int32_t here = sched_getcpu() + 1;
    if (who < s->n) {
        put(s, who, beside ? -here : -(here + CPU_SETSIZE / 2));
    }
    ct_placement_count(s);
    ct_placement_learn(s, who, ct_clock_ns() - ns);
}

/* Whether many waits put it on trial. */
static bool is_tried(struct ct_placement *s, uint32_t who, bool beside)
{
    for (unsigned i = 0; !s->on_trial && i < MANY; i++) {
        wait_once(s, who, HERE_NS, beside);
    }
    return s->on_trial;
}

/* Waits until the trial is over. */
static void end_trial(struct ct_placement *s, uint32_t who, uint64_t ns)
{
    while (s->on_trial) {
        wait_once(s, who, ns, false);
    }
}

/* Where one beside it ends all its waits it moves, once; where that makes waits longer it comes
 * back, where not it stays. */
static void trial(uint64_t there_ns, bool returns)
{
    struct ct_placement s = view_new();
    if (CPU_COUNT(&ours) < 2) {
        assert_false(is_tried(&s, ME + 1, true));
        free(s.all);
        return;
    }
    assert_false(is_tried(&s, ME + 1, false)); /* that one is elsewhere already */
    assert_false(is_tried(&s, ME - 1, true));  /* the lower of the two moves */
    assert_false(is_tried(&s, N, true));       /* of another host */
    assert_true(is_tried(&s, ME + 1, true));
    const int before = s.before;
    assert_int_not_equal(s.mine, before + 1);
    end_trial(&s, ME + 1, there_ns);
    assert_int_equal(s.mine == before + 1, returns);
    free(s.all);
}

/* Those whose turn brings too many together go where there are fewest. */
static void test_clump(void **state)
{
    (void)state;
    struct ct_placement s = view_new();
    s.me = 0;
    s.fair = 1;
    put(&s, 1, first_core(-1) + 1);
    ct_placement_choose(&s);
    assert_int_equal(s.mine, CPU_COUNT(&ours) > 1 ? first_core(first_core(-1)) + 1 : 0);
    free(s.all);
}

/* Where it may look once more. */
static void spread_now(struct ct_placement *s)
{
    s->spread.last_ns = s->spread.stay_ns = 0;
    ct_placement_spread(s);
}

/* The same on the core that it last was seen on. */
static void spread_from(struct ct_placement *s)
{
    pin(s->mine - 1);
    (void)unpin(NULL);
    spread_now(s);
}

/* Of those that are too many on a core the one with the higher number goes, where there is room. */
static void test_spread(void **state)
{
    (void)state;
    cpu_set_t           now;
    struct ct_placement s = view_new();
    int                 from = -1;
    s.fair = 1;
    for (unsigned i = 0; s.mine == 0 && i < MANY; i++) { /* the kernel may move it meanwhile */
        from = sched_getcpu();
        put(&s, 0, from + 1);
        spread_now(&s);
    }
    assert_int_equal(s.mine != 0 && s.mine != from + 1, CPU_COUNT(&ours) > 1);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&now, &ours));
    free(s.all);
}

/* It stays where it is alone, has the lowest number, is on trial, or all cores have their share. */
static void test_no_spread(void **state)
{
    (void)state;
    struct ct_placement s = view_new();
    s.fair = 1;
    spread_now(&s);
    s.on_trial = true;
    put(&s, 0, sched_getcpu() + 1);
    spread_now(&s);
    s.on_trial = false;
    if (CPU_COUNT(&ours) < N) {
        put(&s, 0, first_core(-1) + 1);
        for (int core = first_core(-1), who = 2; (core = first_core(core)) >= 0; who++) {
            put(&s, (uint32_t)who, core + 1);
        }
        spread_now(&s);
    }
    s.me = 0;
    put(&s, 1, sched_getcpu() + 1);
    spread_now(&s);
    assert_int_equal(s.mine, 0);
    free(s.all);
}

/* What a trial has found counts for more than numbers where a core has too many: who stays after
 * one does not go back for the sake of a lower number, which goes instead. */
static void test_tried(void **state)
{
    (void)state;
    struct ct_placement s = view_new();
    s.fair = 1;
    if (CPU_COUNT(&ours) > 1) {
        assert_true(is_tried(&s, ME + 1, true));
        const int before = s.before;
        put(&s, 0, s.mine);
        put(&s, ME + 1, 0);
        end_trial(&s, N, SHORTER_NS);
        const int32_t there = s.mine;
        assert_int_not_equal(there, before + 1);
        spread_from(&s);
        assert_int_equal(s.mine, there);
        s.me = 0;                                                /* as the other one sees it */
        for (unsigned i = 0; s.mine == there && i < MANY; i++) { /* the kernel may move it */
            spread_from(&s);
        }
        assert_int_not_equal(s.mine, there);
    }
    free(s.all);
}

static int32_t settled_of(const struct ct_placement *s)
{
    return atomic_load_explicit(&s->all[ME].settled, memory_order_relaxed);
}

/* A core counts as tried where waits there were no longer: not one that the kernel has put the
 * process on during the trial, and not one that it could not come back from. */
static void test_tried_in_vain(void **state)
{
    (void)state;
    for (int moved = 0; moved < 2 && CPU_COUNT(&ours) > 1; moved++) {
        struct ct_placement s = view_new();
        assert_true(is_tried(&s, ME + 1, true));
        const int before = s.before, there = s.there;
        pin(moved ? before : there);
        ct_placement_take(&s);
        end_trial(&s, ME + 1, moved ? SHORTER_NS : LONGER_NS);
        assert_int_equal(s.mine, (moved ? before : there) + 1);
        assert_int_equal(settled_of(&s), 0);
        (void)unpin(NULL);
        free(s.all);
    }
}

/* Looks for a place beside `who`, with everybody where `cores` says; whether it has moved. Once
 * more while that is not as expected: the kernel may have moved it meanwhile. */
static bool looks(struct ct_placement *s, uint32_t who, const int cores[N], bool expected)
{
    const int here = cores[ME];
    bool      joined = !expected;
    for (unsigned i = 0; joined != expected && i < MANY; i++) {
        for (uint32_t j = 0; j < N; j++) {
            put(s, j, j % 2 == 0 ? cores[j] + 1 : -(cores[j] + 1));
        }
        pin(here);
        (void)unpin(NULL);
        s->mine = here + 1;
        s->join.last_ns = 0;
        ct_placement_join(s, who);
        joined = expected ? s->mine == cores[who] + 1 : s->mine != here + 1;
    }
    return joined;
}

static bool joins(struct ct_placement *s, uint32_t who, const int cores[N])
{
    return looks(s, who, cores, true);
}

static bool stays(struct ct_placement *s, uint32_t who, const int cores[N])
{
    return !looks(s, who, cores, false);
}

/* Of two that are as many the one with the lower number sits down beside the other, and says so;
 * one that is left behind follows from the fuller core. One is nowhere. */
static void test_join(void **state)
{
    (void)state;
    struct ct_placement s = view_new();
    const int           a = first_core(-1), b = first_core(a);
    cpu_set_t           now;
    if (b >= 0) {
        s.on_trial = true; /* for a long time */
        assert_true(joins(&s, ME + 1, (int[N]){a, a, b, b}));
        assert_int_equal(settled_of(&s), s.mine);
        assert_false(s.on_trial);
        assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
        assert_true(CPU_EQUAL(&now, &ours));
        assert_true(stays(&s, ME - 1, (int[N]){b, a, a, b})); /* that one comes */
        assert_true(joins(&s, ME - 1, (int[N]){b, a, a, a})); /* fewer are there */
        assert_true(stays(&s, ME + 1, (int[N]){b, a, b, b})); /* more are, and it is alone */
        assert_true(stays(&s, ME + 1, (int[N]){-1, a, b, -1}));
        assert_true(stays(&s, N, (int[N]){a, a, b, b})); /* of another host */
        assert_true(stays(&s, ME + 1, (int[N]){a, a, -1, b}));
        assert_true(stays(&s, ME + 1, (int[N]){a, a, a, b})); /* it is there */
        assert_int_equal(settled_of(&s), a + 1);
        s.on_trial = true; /* in vain, since it waits for that one alone */
        s.spell.since_ns = 0;
        assert_true(stays(&s, ME + 1, (int[N]){a, a, a, b}));
        assert_false(s.on_trial);
    }
    free(s.all);
}

/* Makes a look due; how long it lets that be then. */
static uint64_t rest_of(struct ct_placement *s)
{
    s->join.last_ns = 0;
    ct_placement_join(s, ME + 1);
    assert_int_not_equal(s->join.last_ns, 0);
    return s->join.stay_ns;
}

/* Nor does one that may use that core alone; it looks ever less often, until that other one is
 * elsewhere. */
static void test_bound(void **state)
{
    enum { LOOKS = 100 };
    (void)state;
    struct ct_placement s = view_new();
    const int           a = first_core(-1);
    pin(a);
    put(&s, 0, a + 1);
    put(&s, ME + 1, a + 2);
    ct_placement_take(&s);
    const uint64_t first = rest_of(&s);
    uint64_t       rest = first;
    for (unsigned i = 0; i < LOOKS; i++) {
        const uint64_t next = rest_of(&s);
        assert_true(next == 2 * rest || next >= 512 * first);
        rest = next;
        const uint64_t looked = s.join.last_ns;
        ct_placement_join(&s, ME + 1); /* too early */
        assert_int_equal(s.join.last_ns, looked);
    }
    put(&s, ME + 1, a + 3);
    assert_int_equal(rest_of(&s), first);
    assert_int_equal(s.mine, a + 1);
    assert_int_equal(settled_of(&s), 0);
    free(s.all);
}

static void test_stays(void **state)
{
    (void)state;
    trial(SHORTER_NS, false);
}

static void test_returns(void **state)
{
    (void)state;
    trial(LONGER_NS, true);
}

/* The core with the fewest, which may not have more than this one. */
static void test_emptiest(void **state)
{
    (void)state;
    struct ct_placement s = view_new();
    cpu_set_t           allowed;
    CPU_ZERO(&allowed);
    CPU_SET(3, &allowed);
    CPU_SET(5, &allowed);
    CPU_SET(6, &allowed);
    put(&s, ME, 3 + 1);
    put(&s, 0, 5 + 1);
    put(&s, 2, 9 + 1); /* not allowed, and empty or not no choice */
    assert_int_equal(ct_placement_emptiest(&s, 3, &allowed), 6);
    put(&s, 2, -(6 + 1));
    assert_int_equal(ct_placement_emptiest(&s, 3, &allowed), 5); /* one each: the first */
    put(&s, 3, 5 + 1);
    assert_int_equal(ct_placement_emptiest(&s, 3, &allowed), 6);
    put(&s, 0, -(6 + 1));
    put(&s, 3, 5 + 1);
    put(&s, 2, 5 + 1);
    assert_int_equal(ct_placement_emptiest(&s, 3, &allowed), 6);
    put(&s, 3, 6 + 1);
    put(&s, 2, -(5 + 1));
    put(&s, ME, 0);
    assert_int_equal(ct_placement_emptiest(&s, 3, &allowed), -1); /* nobody is here */
    put(&s, 2, INT32_MAX);                                        /* nonsense is nowhere */
    put(&s, 3, INT32_MIN);
    assert_int_equal(ct_placement_emptiest(&s, 3, &allowed), 5);
    free(s.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_sight, unpin),
        cmocka_unit_test_teardown(test_none, unpin),
        cmocka_unit_test_teardown(test_choose, unpin),
        cmocka_unit_test_teardown(test_clump, unpin),
        cmocka_unit_test_teardown(test_spread, unpin),
        cmocka_unit_test_teardown(test_no_spread, unpin),
        cmocka_unit_test_teardown(test_tried, unpin),
        cmocka_unit_test_teardown(test_tried_in_vain, unpin),
        cmocka_unit_test_teardown(test_join, unpin),
        cmocka_unit_test_teardown(test_bound, unpin),
        cmocka_unit_test_teardown(test_stays, unpin),
        cmocka_unit_test_teardown(test_returns, unpin),
        cmocka_unit_test_teardown(test_emptiest, unpin),
    };
    if (sched_getaffinity(0, sizeof ours, &ours) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
