/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of algorithms, lists that force some, and what is chosen: rows in their order, who goes
 * before whom, what reductions go by when their bits shall not change. */
#include "unit.h"

#include "coll/coll.h"

/* ---- tables ---------------------------------------------------------------------------------- */

static struct ct_tuning *parse(const char *text)
{
    struct ct_tuning *t = NULL;
    char              why[1024] = "";
    if (ct_tuning_parse(&t, text, "table", why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("\"%s\" is refused: %s", text, why);
    }
    return t;
}

static void expect_refused(const char *text, const char *want)
{
    struct ct_tuning *t = NULL;
    char              why[1024] = "";
    assert_int_equal(ct_tuning_parse(&t, text, "table", why, sizeof why), CTRAN_ERR_CONFIG);
    if (strstr(why, want) == NULL) {
        fail_msg("\"%s\" is refused with \"%s\", not with \"%s\"", text, why, want);
    }
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "allreduce shm total<=16K one_shot",
        "allreduce ranks>=3 ranks<=8 nodes=1 local<=4 bytes>=1 bytes<=64K ring",
        "allreduce bytes<=1025 ring chunk=1M chunks=8",
        "bcast knomial:4",
    };
    char text[1024] = "# a comment\n\n", row[CT_TUNING_LINE];
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "  %s \t # why\r\n", rows[i]);
    }
    struct ct_tuning *t = parse(text);
    assert_int_equal(t->begin[CT_COLL_KINDS], CT_ARRAY_LEN(rows));
    assert_true(t->asks_placement);
    for (size_t i = 0; i < 3; i++) {
        ct_rule_format(&t->rule[t->begin[ct_coll_index(CT_ALLREDUCE)] + i], row, sizeof row);
        assert_string_equal(row, rows[i]);
    }
    const struct ct_rule *last = &t->rule[t->begin[ct_coll_index(CT_BCAST)]];
    ct_rule_format(last, row, sizeof row);
    assert_string_equal(row, rows[3]);
    assert_int_equal(last->line, 6);
    ct_tuning_free(t);
}

/* The digest is that of what a table says, not of how it is written. */
static void test_digest(void **state)
{
    (void)state;
    struct ct_tuning *a = parse("bcast knomial\nallreduce bytes<=64K ring\n");
    struct ct_tuning *b = parse("allreduce\tbytes<=65536 ring # the same\n\nbcast knomial:2");
    struct ct_tuning *c = parse("bcast knomial\nallreduce bytes<=63K ring\n");
    assert_true(a->digest == b->digest);
    assert_true(a->digest != c->digest);
    assert_false(a->asks_placement);
    ct_tuning_free(a);
    ct_tuning_free(b);
    ct_tuning_free(c);
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused("\nallredcue ring", "table:2: no collective \"allredcue\"; there are barrier");
    expect_refused("allreduce rnig",
                   "table:1: no algorithm \"rnig\" of allreduce; there are ring,");
    expect_refused("allreduce", "a row without an algorithm");
    expect_refused("allreduce bytes<=1K # ring", "a row without an algorithm");
    expect_refused("allreduce size<=1K ring", "found \"size<=1K\", expected a condition on ranks");
    expect_refused("allreduce bytes<1K ring", "expected bytes<=N, bytes>=N or bytes=N");
    expect_refused("allreduce bytes<=1Q ring", "\"1Q\" in \"bytes<=1Q\" is no number of bytes");
    expect_refused("allreduce ranks<=1K ring", "\"1K\" in \"ranks<=1K\" is no number");
    expect_refused("allreduce ranks<=-1 ring", "is no number");
    expect_refused("allreduce ranks<= ring", "is no number");
    expect_refused("allreduce ranks>=9 ranks<=8 ring", "ranks that cannot hold together");
    expect_refused("bcast knomial:1", "\"1\" is no radix");
    expect_refused("bcast knomial:x", "\"x\" is no radix");
    expect_refused("allreduce ring bytes<=1", "after the algorithm, expected chunk=SIZE");
    expect_refused("allreduce ring chunk=1", "after the algorithm, expected chunk=SIZE");
    expect_refused("allreduce ring chunks=65", "after the algorithm, expected chunk=SIZE");

    char long_line[2 * CT_TUNING_LINE];
    memset(long_line, ' ', sizeof long_line);
    memcpy(long_line + sizeof long_line - 2, "x", 2);
    expect_refused(long_line, "table:1: a line of more than 511 bytes");
    const char row[] = "scan chain\n";
    char      *many = malloc((CT_TUNING_RULES + 1) * strlen(row) + 1);
    assert_non_null(many);
    for (size_t i = 0; i <= CT_TUNING_RULES; i++) {
        strcpy(many + i * strlen(row), row);
    }
    expect_refused(many, "table:4097: more than 4096 rows");
    free(many);
}

static void test_files(void **state)
{
    (void)state;
    struct ct_tuning *t = NULL;
    char              why[1024] = "", path[] = "/tmp/ct_test_select.XXXXXX";
    assert_int_equal(ct_tuning_read(&t, "/nowhere/table", why, sizeof why), CTRAN_ERR_CONFIG);
    assert_string_equal(why, "\"/nowhere/table\" cannot be read: No such file or directory");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "scan chain", 10), 10);
    assert_int_equal(ct_tuning_read(&t, path, why, sizeof why), CTRAN_SUCCESS);
    assert_string_equal(t->source, path);
    ct_tuning_free(t);
    assert_int_equal(ftruncate(fd, CT_TUNING_BYTES + 1), 0);
    assert_int_equal(ct_tuning_read(&t, path, why, sizeof why), CTRAN_ERR_CONFIG);
    assert_non_null(strstr(why, "cannot be read: it is too long"));
    close(fd);
    unlink(path);
}

/* The library's tables say something for each collective, in every size; the one whose bits shall
 * not change looks at ranks and bytes alone. */
static void test_own_tables(void **state)
{
    (void)state;
    struct ct_tuning *all = parse(ct_tuning_default), *fixed = parse(ct_tuning_reproducible);
    for (uint32_t c = 1; ct_algo_coll_name(c) != NULL; c <<= 1) {
        unsigned k = ct_coll_index(c);
        assert_true(all->begin[k + 1] > all->begin[k]);
        const struct ct_rule *last = &all->rule[all->begin[k + 1] - 1];
        assert_false(last->shm);
        assert_true(last->most[CT_FACT_BYTES] == UINT64_MAX);
        assert_true((fixed->begin[k + 1] > fixed->begin[k]) == ((c & CT_SUMS) != 0));
    }
    for (uint32_t i = 0; i < fixed->begin[CT_COLL_KINDS]; i++) {
        assert_false(fixed->rule[i].shm);
    }
    assert_false(fixed->asks_placement);
    ct_tuning_free(all);
    ct_tuning_free(fixed);
}

/* ---- choices --------------------------------------------------------------------------------- */

static void set(struct ct_process *p, const char *name, const char *value)
{
    assert_int_equal(ct_config_set(&p->cfg, &p->log, name, value, CT_ORIGIN_SET), CTRAN_SUCCESS);
}

static void start(struct ct_process *p)
{
    memset(p, 0, sizeof *p);
    unit_log_init(&p->log, CT_LOG_WARN);
    assert_int_equal(ct_config_load(&p->cfg, &p->log), CTRAN_SUCCESS);
    set(p, "CTRAN_COLL_ALGORITHM", "");
    set(p, "CTRAN_COLL_TUNING", "");
    set(p, "CTRAN_REPRODUCIBLE", "0");
}

static void end(struct ct_process *p)
{
    ct_policy_fini(p);
    ct_config_fini(&p->cfg);
    ct_log_fini(&p->log);
}

/* "name:radix by" of what is chosen. */
static const char *chosen(struct ct_process *p, const struct ct_shape *shape, const char *hint,
                          const struct ct_select *what)
{
    static const char *const by[] = {"hint", "variable", "rule", "fit"};
    static char              text[128];
    struct ct_choice         choice;
    struct ct_chooser       *c = ct_chooser_make(p, shape, hint);
    assert_non_null(c);
    assert_true(ct_chooser_pick(p, c, what, &choice));
    snprintf(text, sizeof text, "%s:%u %s", choice.pick->algo->name, choice.pick->radix,
             by[choice.by]);
    ct_chooser_drop(p, c);
    return text;
}

static const struct ct_shape eight = {.n = 8, .nodes = 1, .local = 8};
static const struct ct_shape two = {.n = 2, .nodes = 1, .local = 2};

static void test_default(void **state)
{
    (void)state;
    struct ct_process p;
    start(&p);
    assert_int_equal(ct_policy_init(&p), CTRAN_SUCCESS);
    struct ct_select what = {.coll = CT_ALLREDUCE, .bytes = 32 << 10};
    assert_string_equal(chosen(&p, &eight, NULL, &what), "recursive_doubling:2 rule");
    what.bytes++;
    assert_string_equal(chosen(&p, &eight, NULL, &what), "ring:2 rule");
    what.shm = true;
    assert_string_equal(chosen(&p, &eight, NULL, &what), "pairwise:2 rule");
    what.bytes = 2 << 10; /* of eight ranks, 16K */
    assert_string_equal(chosen(&p, &eight, NULL, &what), "one_shot:2 rule");
    what.bytes = 512 << 10; /* two ranks read as much in one round as in two */
    assert_string_equal(chosen(&p, &two, NULL, &what), "one_shot:2 rule");
    what.shm = false;
    what.ordered = true;
    what.bytes = 1 << 20; /* the ring does not keep the order of ranks */
    assert_string_equal(strchr(chosen(&p, &eight, NULL, &what), ' '), " fit");
    end(&p);
}

static void test_precedence(void **state)
{
    (void)state;
    struct ct_process p;
    struct ct_select  what = {.coll = CT_ALLREDUCE, .bytes = 8};
    start(&p);
    set(&p, "CTRAN_COLL_ALGORITHM", "bcast:knomial:3,allreduce:ring");
    assert_int_equal(ct_policy_init(&p), CTRAN_SUCCESS);
    assert_string_equal(chosen(&p, &eight, NULL, &what), "ring:2 variable");
    assert_string_equal(chosen(&p, &eight, "allreduce=linear;scan=chain", &what), "linear:2 hint");
    assert_string_equal(chosen(&p, &eight, "scan=chain", &what), "ring:2 variable");
    what.ordered = true; /* what is forced does not fit */
    assert_string_equal(strchr(chosen(&p, &eight, NULL, &what), ' '), " rule");
    end(&p);
}

static void test_bad_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list, *want;
    } bad[] = {
        {"allreduce:rnig",
         "no algorithm \"rnig\" of allreduce; there are ring, bidirectional_ring"},
        {"allredcue:ring", "no collective \"allredcue\"; there are barrier, bcast"},
        {"ring", "\"ring\" is no COLLECTIVE:ALGORITHM"},
        {"bcast:knomial:0", "\"0\" is no radix; it is a number from 2 to"},
        {"allreduce:ring:3", "ring of allreduce has no radix, found \":3\""},
        {"allreduce:ring;allreduce=linear", "allreduce is named twice"},
    };
    struct ct_process p;
    start(&p);
    for (size_t i = 0; i < CT_ARRAY_LEN(bad); i++) {
        set(&p, "CTRAN_COLL_ALGORITHM", bad[i].list);
        assert_int_equal(ct_policy_init(&p), CTRAN_ERR_CONFIG);
        const char *logged = unit_logged(&p.log);
        if (strstr(logged, bad[i].want) == NULL) {
            fail_msg("\"%s\": logged \"%s\", not \"%s\"", bad[i].list, logged, bad[i].want);
        }
    }
    set(&p, "CTRAN_COLL_ALGORITHM", "");
    set(&p, "CTRAN_COLL_TUNING", "/nowhere/table");
    assert_int_equal(ct_policy_init(&p), CTRAN_ERR_CONFIG);
    assert_non_null(strstr(unit_logged(&p.log), "CTRAN_COLL_TUNING: \"/nowhere/table\" cannot"));
    end(&p);
}

/* Rows of a file by placement; what ranks do not all know never falls under a limit. */
static void test_shapes(void **state)
{
    (void)state;
    static const char text[] = "allreduce nodes>=2 local=1 ring\n"
                               "allreduce nodes>=2 linear\n"
                               "allreduce recursive_doubling\n"
                               "alltoall bytes<=1M linear\n";
    struct ct_shape   spread = {.n = 8, .nodes = 8, .local = 1};
    struct ct_shape   pairs = {.n = 8, .nodes = 4, .local = 2};
    struct ct_select  what = {.coll = CT_ALLREDUCE, .bytes = 8};
    char              path[] = "/tmp/ct_test_select.XXXXXX";
    int               fd = mkstemp(path);
    struct ct_process p;
    start(&p);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    set(&p, "CTRAN_COLL_TUNING", path);
    assert_int_equal(ct_policy_init(&p), CTRAN_SUCCESS);
    assert_string_equal(chosen(&p, &spread, NULL, &what), "ring:2 rule");
    assert_string_equal(chosen(&p, &pairs, NULL, &what), "linear:2 rule");
    assert_string_equal(chosen(&p, &eight, NULL, &what), "recursive_doubling:2 rule");
    what = (struct ct_select){.coll = CT_ALLTOALL, .bytes = 1 << 20};
    assert_string_equal(chosen(&p, &eight, NULL, &what), "linear:2 rule");
    what.bytes = CT_BYTES_UNKNOWN;
    what.uneven = true;
    assert_string_equal(chosen(&p, &eight, NULL, &what), "linear:2 fit");
    assert_string_equal(chosen(&p, &eight, "alltoall:bruck", &what), "linear:2 fit");
    end(&p);
    unlink(path);
}

/* Under CTRAN_REPRODUCIBLE neither lists nor tables, placement or shm change a reduction. */
static void test_reproducible(void **state)
{
    (void)state;
    const struct ct_shape spread = {.n = 8, .nodes = 4, .local = 2};
    struct ct_process     p;
    start(&p);
    set(&p, "CTRAN_REPRODUCIBLE", "1");
    set(&p, "CTRAN_COLL_ALGORITHM", "allreduce:linear,bcast:chain");
    assert_int_equal(ct_policy_init(&p), CTRAN_SUCCESS);
    assert_non_null(strstr(unit_logged(&p.log), "allreduce, which does not count"));
    for (size_t bytes = 8; bytes <= 1 << 20; bytes *= 2) {
        struct ct_select what = {.coll = CT_ALLREDUCE, .bytes = bytes};
        char             first[128];
        snprintf(first, sizeof first, "%s", chosen(&p, &eight, NULL, &what));
        assert_string_equal(strchr(first, ' '), " rule");
        assert_string_equal(chosen(&p, &spread, "allreduce:linear", &what), first);
        what.shm = true;
        assert_string_equal(chosen(&p, &eight, NULL, &what), first);
    }
    struct ct_select bcast = {.coll = CT_BCAST, .bytes = 8};
    assert_string_equal(chosen(&p, &eight, NULL, &bcast), "chain:2 variable");
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_digest),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_own_tables), cmocka_unit_test(test_default),
        cmocka_unit_test(test_precedence), cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_shapes),     cmocka_unit_test(test_reproducible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
