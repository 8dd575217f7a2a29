/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts for jobs: lists, files of two formats, Slurm's lists, ranks on hosts; and the tree that the
 * daemons of many hosts form. */
#include "unit.h"

#include <arpa/inet.h>

#include "launcher/hosts/list.h"
#include "launcher/tree/span.h"
#include "topo/slurmlist.h"

static void expect_hosts(const struct ct_hosts *h, const char *want)
{
    char   got[512] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        len += (size_t)snprintf(got + len, sizeof got - len, "%s%s:%u/%u", i > 0 ? " " : "",
                                h->all[i].name, h->all[i].slots, h->all[i].max_slots);
    }
    assert_string_equal(got, want);
}

static void test_lists(void **state)
{
    static const struct {
        const char *text, *want; /* NULL: refused */
    } rows[] = {
        {"a", "a:1/1"},
        {"a:4,b:4", "a:4/4 b:4/4"},
        {"a,b:2,a:3", "a:4/4 b:2/2"},
        {"n1.example.org:2,10.0.0.1", "n1.example.org:2/2 10.0.0.1:1/1"},
        {"[fe80::1]:2,[::1]", "fe80::1:2/2 ::1:1/1"},
        {"", NULL},
        {"a,", NULL},
        {",a", NULL},
        {"a:0", NULL},
        {"a:x", NULL},
        {"a:", NULL},
        {"a:1:2", NULL},
        {"a:99999", NULL},
        {"-oProxyCommand=x", NULL},
        {"a b", NULL},
        {"a;b", NULL},
        {"[::1", NULL},
        {"[]:1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct ct_hosts h = {0};
        char            why[512] = "";
        bool            ok = ct_hosts_add_list(&h, rows[i].text, why, sizeof why);
        assert_int_equal(ok, rows[i].want != NULL);
        if (ok) {
            expect_hosts(&h, rows[i].want);
        } else {
            unit_contains(why, rows[i].text);
        }
        ct_hosts_fini(&h);
    }
}

/* What comes of a file with this text; "" in `wrong` where it is right. */
static void expect_file(const char *text, const char *want, const char *wrong)
{
    char            path[] = "/tmp/ctran-test-hosts-XXXXXX", why[1024] = "";
    int             fd = mkstemp(path);
    struct ct_hosts h = {0};
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    bool ok = ct_hosts_add_file(&h, path, why, sizeof why);
    unlink(path);
    assert_int_equal(ok, want != NULL);
    if (ok) {
        expect_hosts(&h, want);
    } else {
        unit_contains(why, wrong);
    }
    ct_hosts_fini(&h);
}

static void test_files(void **state)
{
    (void)state;
    expect_file("a\nb:4\n", "a:1/1 b:4/4", "");
    expect_file("# ours\n\n  a:2   # two\r\nb slots=3 max_slots=5\nc\tslots=2\n",
                "a:2/2 b:3/5 c:2/2", "");
    expect_file("a max-slots=4\na slots=2", "a:3/6", "");
    expect_file("", NULL, "names no host");
    expect_file("# nothing\n", NULL, "names no host");
    expect_file("a\nb:4 slots=4\n", NULL, ":2: \"b:4 slots=4\": the slots are given twice");
    expect_file("a\n\n# c\nb slots=0\n", NULL, ":4: \"b slots=0\": after the host only");
    /* Blanks around "=", and the other names that Open MPI has for slots. */
    expect_file("a slots = 2\nb  slots= 3 max-slots =4\n", "a:2/2 b:3/4", "");
    expect_file("a cpu=4\nb count=2 cpu_max=3 # two\n", "a:4/4 b:2/3", "");
    expect_file("a slots\n", NULL, ":1: \"a slots\": after the host only");
    expect_file("a slots =\n", NULL, ":1: \"a slots =\": after the host only");
    expect_file("a slots = 2 3\n", NULL, ":1: \"a slots = 2 3\": after the host only");
    expect_file("a cores=4\n", NULL, ":1: \"a cores=4\": after the host only");
    /* What means something else here. */
    expect_file("a\nb:2 ifname=eth1\n", NULL, ":2: \"b:2 ifname=eth1\": interfaces are chosen for");
    expect_file("a ifname = eth1\n", NULL, "--set TCP_INTERFACES=NAME");
    expect_file("a binding=core\n", NULL, "--bind-to");
    expect_file("a user=me\n", NULL, "USER@HOST");
    expect_file("a slots=4 max_slots=2\n", NULL, "max_slots is below slots");
    expect_file("a:b\n", NULL, ":1: \"a:b\": expected HOST");
    struct ct_hosts h = {0};
    char            why[256];
    assert_false(ct_hosts_add_file(&h, "/nonexistent/hosts", why, sizeof why));
    unit_contains(why, "No such file");
    assert_false(ct_hosts_add_file(&h, "/", why, sizeof why));
    unit_contains(why, "\"/\" cannot be read: Is a directory");
}

static void test_slurm(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"n1", "n1"},
        {"n[1-3]", "n1 n2 n3"},
        {"n[08-11,3],m2", "n08 n09 n10 n11 n3 m2"},
        {"r[1-2]n[1-2]-ib", "r1n1-ib r1n2-ib r2n1-ib r2n2-ib"},
        {"a,b-c,d", "a b-c d"},
        {"", NULL},
        {"n[1-", NULL},
        {"n[1-3", NULL},
        {"n]1[", NULL},
        {"n[3-1]", NULL},
        {"n[]", NULL},
        {"n[1-3],", NULL},
        {"n[a-b]", NULL},
        {"n[1-99999999]", NULL},
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        char **got = ct_slurmlist_hosts(rows[i].text, 64), joined[512] = "";
        for (char **s = got; s != NULL && *s != NULL; s++) {
            snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s",
                     s > got ? " " : "", *s);
        }
        assert_int_equal(got != NULL, rows[i].want != NULL);
        assert_string_equal(joined, rows[i].want != NULL ? rows[i].want : "");
        ct_slurmlist_free(got);
    }
    assert_int_equal(ct_slurmlist_tasks("4", 0), 4);
    assert_int_equal(ct_slurmlist_tasks("4", 1), 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(ct_slurmlist_tasks("4(x2),3,16", i), i < 2 ? 4 : i == 2 ? 3 : 16);
    }
    assert_int_equal(ct_slurmlist_tasks("4(x2", 0), 0);
    assert_int_equal(ct_slurmlist_tasks("x", 0), 0);
}

/* A name that an agent would take for an option, or a shell for more than a name. */
static void test_slurm_names(void **state)
{
    static const struct {
        const char *list;
        bool        good;
    } rows[] = {{"n[1-2]", true}, {"-oProxyCommand=x", false},
                {"a,-b", false},  {"-n[1-2]", false},
                {"a,b;c", false}, {"a$(b)", false}};
    (void)state;
    assert_int_equal(setenv("SLURM_JOB_ID", "1", 1), 0);
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        struct ct_hosts h = {0};
        char            why[512] = "";
        assert_int_equal(setenv("SLURM_JOB_NODELIST", rows[i].list, 1), 0);
        assert_int_equal(ct_hosts_add_slurm(&h, why, sizeof why), rows[i].good);
        assert_int_equal(why[0] != '\0', !rows[i].good);
        ct_hosts_fini(&h);
    }
    (void)unsetenv("SLURM_JOB_ID");
}

static void test_names(void **state)
{
    char own[256] = "";
    (void)state;
    gethostname(own, sizeof own - 1);
    assert_true(ct_hosts_same("node1", "NODE1"));
    assert_true(ct_hosts_same("node1", "node1.example.org"));
    assert_true(ct_hosts_same("node1.example.org", "node1"));
    assert_false(ct_hosts_same("node1.a.org", "node1.b.org"));
    assert_false(ct_hosts_same("node1", "node10"));
    assert_false(ct_hosts_same("10", "10.0.0.1"));
    assert_true(ct_hosts_is_here("localhost"));
    assert_true(ct_hosts_is_here(own));
    assert_false(ct_hosts_is_here("surely-not-here"));
    assert_true(ct_hosts_is_here("127.0.0.1"));
    assert_true(ct_hosts_is_here("127.1.2.3"));
    assert_true(ct_hosts_is_here("::1"));
    assert_false(ct_hosts_is_here("192.0.2.1")); /* of no machine: RFC 5737 */
    assert_false(ct_hosts_is_here("2001:db8::1"));
}

/* Each address of this machine means this machine. */
static void test_own_addresses(void **state)
{
    struct ct_ifaddr list[CT_IFADDR_MAX];
    int              n = ct_ifaddr_list("", false, list);
    (void)state;
    assert_true(n >= 1);
    for (int i = 0; i < n; i++) {
        char text[INET6_ADDRSTRLEN] = "";
        assert_non_null(
            inet_ntop(list[i].family == 4 ? AF_INET : AF_INET6, list[i].ip, text, sizeof text));
        assert_true(ct_hosts_is_here(text));
    }
}

/* One host under several names is one host, with the slots of all. */
static void test_same_host(void **state)
{
    char            own[256] = "", list[600], why[512] = "";
    struct ct_hosts h = {0};
    (void)state;
    gethostname(own, sizeof own - 1);
    snprintf(list, sizeof list, "localhost:1,a,%s:2,127.0.0.1:3,a.example.org:4", own);
    assert_true(ct_hosts_add_list(&h, list, why, sizeof why));
    expect_hosts(&h, "localhost:6/6 a:5/5");
    ct_hosts_fini(&h);
}

/* "counts" of n ranks on the hosts of a list, or what is wrong. */
static void expect_place(const char *list, uint32_t n, uint32_t ppn, bool in_turn, const char *want)
{
    struct ct_hosts h = {0};
    uint32_t        counts[16];
    char            why[512] = "", got[512] = "";
    assert_true(ct_hosts_add_list(&h, list, why, sizeof why));
    if (ct_hosts_place(&h, n, ppn, in_turn, counts, why, sizeof why)) {
        for (uint32_t i = 0; i < h.n; i++) {
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", i > 0 ? " " : "",
                     counts[i]);
        }
        assert_string_equal(got, want);
    } else {
        unit_contains(why, want);
    }
    ct_hosts_fini(&h);
}

static void test_places(void **state)
{
    (void)state;
    expect_place("a:4,b:4", 8, 0, false, "4 4");
    expect_place("a:4,b:4", 5, 0, false, "4 1");
    expect_place("a:4,b:4", 5, 0, true, "3 2");
    expect_place("a:1,b:4", 5, 0, true, "1 4");
    expect_place("a,b,c", 5, 2, false, "2 2 1");
    expect_place("a:4,b:4", 9, 0, false, "9 ranks do not fit into the 8 slots of 2 hosts");
    expect_place("a,b", 5, 2, false, "5 ranks do not fit on 2 hosts with --ppn 2");
}

/* Goes through a tree: each node is there once, and no process has too many children. */
static uint32_t walk(struct ct_span span, uint32_t mine, uint32_t fan_out, uint8_t *seen,
                     uint32_t root_mine, uint32_t n)
{
    struct ct_span parts[65], all = {0, n};
    uint32_t       depth = 0, count = ct_tree_split(span, mine, fan_out, parts);
    assert_true(count <= fan_out || (fan_out == 1 && count == 2));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t child = parts[i].first;
        assert_true(parts[i].n > 0 && ct_span_has(span, child));
        assert_int_equal(seen[child]++, 0);
        uint32_t parent = ct_tree_parent(all, root_mine, fan_out, child);
        assert_int_equal(parent, span.n == n && mine == root_mine ? CT_NO_NODE : mine);
        uint32_t below = walk(parts[i], child, fan_out, seen, root_mine, n);
        depth = below + 1 > depth ? below + 1 : depth;
    }
    return depth;
}

static void test_tree(void **state)
{
    static const uint32_t fan_outs[] = {1, 2, 3, 32, 64};
    (void)state;
    for (size_t k = 0; k < CT_ARRAY_LEN(fan_outs); k++) {
        for (uint32_t n = 1; n <= 70; n++) {
            /* The head on no node, on the first, in the middle, on the last. */
            uint32_t own[] = {CT_NO_NODE, 0, n / 2, n - 1};
            for (size_t i = 0; i < CT_ARRAY_LEN(own); i++) {
                uint8_t seen[70] = {0};
                seen[own[i] < n ? own[i] : 0] += own[i] < n;
                (void)walk((struct ct_span){0, n}, own[i], fan_outs[k], seen, own[i], n);
                for (uint32_t node = 0; node < n; node++) {
                    assert_int_equal(seen[node], 1);
                }
            }
        }
    }
    uint8_t seen[1000] = {0};
    assert_int_equal(walk((struct ct_span){0, 1000}, CT_NO_NODE, 32, seen, CT_NO_NODE, 1000), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_slurm),     cmocka_unit_test(test_slurm_names),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_places),
        cmocka_unit_test(test_tree),      cmocka_unit_test(test_own_addresses),
        cmocka_unit_test(test_same_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
