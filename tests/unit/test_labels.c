/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels of hosts: our files, Slurm's, words and variables of the environment; what is wrong with
 * them; patterns. */
#include <sys/stat.h>

#include "unit.h"

#include "topo/label_set.h"
#include "topo/labels.h"

/* "nvlink/rack/zone/dc". */
static void expect_label(const struct ct_labels *l, const char *host, const char *want)
{
    char            got[512];
    struct ct_label label = ct_labels_of(l, host);
    snprintf(got, sizeof got, "%s/%s/%s/%s", label.nvlink, label.rack, label.zone, label.dc);
    if (strcmp(got, want) != 0) {
        fail_msg("%s is \"%s\", not \"%s\"", host, got, want);
    }
}

static struct ct_labels *parse(const char *text)
{
    struct ct_labels *l = NULL;
    char              why[512] = "";
    if (ct_labels_parse(&l, text, "labels", why, sizeof why) != CTRAN_SUCCESS) {
        fail_msg("\"%s\" is refused: %s", text, why);
    }
    return l;
}

static void test_own_file(void **state)
{
    (void)state;
    struct ct_labels *l = parse("# where our hosts stand\n"
                                "n[01-04,7] rack=r1 zone=z1   # the old hall\r\n"
                                "\n"
                                "* dc=paris\n"
                                "gpu?-* nvlink=nv1 rack=r2 \\\n"
                                "    zone=z2\n"
                                "N07 zone=z9 nvlink=other\n"
                                "n7 nvlink=nv7\n"
                                "a.example.org rack=ra\n"
                                "10.0.0.1,b rack=ri");
    expect_label(l, "n01", "/r1/z1/paris");
    expect_label(l, "n04", "/r1/z1/paris");
    expect_label(l, "n1", "///paris");
    expect_label(l, "n05", "///paris");
    expect_label(l, "n7", "nv7/r1/z1/paris"); /* the first line wins, a later one fills in */
    expect_label(l, "n07", "other//z9/paris");
    expect_label(l, "N01.cluster.example", "/r1/z1/paris"); /* one host, capitals or not */
    expect_label(l, "a", "/ra//paris");
    expect_label(l, "a.example.org", "/ra//paris");
    expect_label(l, "a.example.com", "///paris");
    expect_label(l, "10.0.0.1", "/ri//paris");
    expect_label(l, "10", "///paris");
    expect_label(l, "gpu1-17", "nv1/r2/z2/paris");
    expect_label(l, "gpu12-17", "///paris");
    expect_label(l, "", "///paris");
    ct_labels_free(l);
    expect_label(NULL, "n1", "///");
    assert_null(parse(" \n# nothing\n\n"));
    assert_null(parse(""));
}

/* A first part that two full names have means neither, unless it is a name of its own. */
static int append_host(void *arg, const char *host, const struct ct_label *label)
{
    char  *text = arg;
    size_t at = strlen(text);
    snprintf(text + at, 256 - at, "%s:%s:%s ", host, label->rack, label->zone);
    return strcmp(host, "last") == 0 ? CTRAN_ERR_NO_MEM : CTRAN_SUCCESS;
}

static void test_each(void **state)
{
    char              text[256] = "";
    struct ct_labels *l = parse("b.one rack=r1\nm[1-2] rack=r2\nm* zone=z\nb.one zone=y\n");
    (void)state;
    assert_int_equal(ct_labels_each(NULL, append_host, text), CTRAN_SUCCESS);
    assert_string_equal(text, "");
    assert_int_equal(ct_labels_each(l, append_host, text), CTRAN_SUCCESS);
    assert_string_equal(text, "b.one:r1:y m1:r2:z m2:r2:z m*::z ");
    ct_labels_free(l);
    l = parse("first rack=r\nlast rack=r\nnever rack=r\n");
    text[0] = '\0';
    assert_int_equal(ct_labels_each(l, append_host, text), CTRAN_ERR_NO_MEM);
    assert_string_equal(text, "first:r: last:r: ");
    ct_labels_free(l);
}

static void test_short_names(void **state)
{
    (void)state;
    struct ct_labels *l = parse("a.one rack=r1\na.two rack=r2\nb.one rack=r3\nb rack=r4\n"
                                "c.one rack=r5\nc.one zone=z5");
    expect_label(l, "a", "///");
    expect_label(l, "a.one", "/r1//");
    expect_label(l, "a.two", "/r2//");
    expect_label(l, "b", "/r4//");
    expect_label(l, "b.one", "/r3//");
    expect_label(l, "b.two", "/r4//");
    expect_label(l, "c", "/r5/z5/");
    ct_labels_free(l);
}

/* Two files, and words: what came first stays. */
static void test_sources(void **state)
{
    (void)state;
    char              why[256];
    struct ct_labels *l = NULL;
    assert_int_equal(
        ct_labels_parse_words(&l, "n1", " rack=r1  dc=d1", "CTRAN_LABELS", why, sizeof why), 0);
    assert_int_equal(ct_labels_parse(&l, "n[1-2],m* rack=r2 zone=z2", "file", why, sizeof why), 0);
    expect_label(l, "n1", "/r1/z2/d1");
    expect_label(l, "n2", "/r2/z2/");
    assert_int_equal(ct_labels_parse_words(&l, "n1", "rack", "CTRAN_LABELS", why, sizeof why),
                     CTRAN_ERR_ARG);
    assert_string_equal(why, "CTRAN_LABELS=\"rack\": \"rack\" is none of nvlink=NAME, rack=NAME, "
                             "zone=NAME and dc=NAME");
    assert_int_equal(ct_labels_parse_words(&l, "n1", "", "CTRAN_LABELS", why, sizeof why),
                     CTRAN_ERR_ARG);
    expect_label(l, "n1", "/r1/z2/d1");
    ct_labels_free(l);
}

static void test_slurm(void **state)
{
    (void)state;
    struct ct_labels *l = parse("# topology.conf\n"
                                "SwitchName=top Switches=z[1-2]\n"
                                "switchname=s0 nodes=n[0-3] LinkSpeed=900\n"
                                "SwitchName=s1 Nodes=n4,n5\n"
                                "SwitchName=s2 Nodes=m[0-1]\n"
                                "SwitchName=z1 Switches=s[0-1]\n"
                                "SwitchName=z2 Switches=s2\n"
                                "BlockName=b1 Nodes=n[0-4]\n"
                                "BlockSizes=4\n");
    expect_label(l, "n0", "b1/s0/z1/top");
    expect_label(l, "n4", "b1/s1/z1/top");
    expect_label(l, "n5", "/s1/z1/top");
    expect_label(l, "m1", "/s2/z2/top");
    expect_label(l, "other", "///");
    ct_labels_free(l);
    l = parse("SwitchName=s0 Level=0 LinkSpeed=1 Nodes=t[0-3] \n"
              "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=t[4-7] \n"
              "SwitchName=s2 Level=1 LinkSpeed=1 Nodes=t[0-7] Switches=s[0-1] \n");
    expect_label(l, "t3", "/s0/s2/");
    expect_label(l, "t4", "/s1/s2/");
    ct_labels_free(l);
    l = parse("BlockName=b1 BlockIndex=0 Nodes=n[01-02] BlockSize=2\n"
              "BlockName=b2 BlockIndex=1 Nodes=n[03-04] BlockSize=2\n"
              "AggregatedBlock=b[1-2] BlockIndex=2 Nodes=n[01-04] BlockSize=4\n");
    expect_label(l, "n02", "b1///");
    expect_label(l, "n03", "b2///");
    ct_labels_free(l);
    /* Four levels: only the two next to the hosts and the top count. */
    l = parse("SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=d\n"
              "SwitchName=d Nodes=n");
    expect_label(l, "n", "/d/c/a");
    ct_labels_free(l);
}

static void test_slurm_variables(void **state)
{
    static const struct {
        const char *addr, *pattern, *want;
    } rows[] = {
        {"s0.s1.n1", "switch.switch.node", "/s1/s0/"},
        {"n1", "node", "///"},
        {"s1.n1", "switch.node", "/s1//"},
        {"a.b.c.d.n1.example.org", "switch.switch.switch.switch.node", "/d/c/a"},
        {"b7.n1", "block.node", "b7///"},
        {"s1", "switch.node", "///"},
        {"s1.n1", "switch.switch.node", "///"},
        {".n1", "switch.node", "///"},
        {"", "", "///"},
        {"x.y.n1", "rack.switch.node", "/y//"},
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        char              why[256] = "";
        struct ct_labels *l = NULL;
        assert_int_equal(ct_labels_parse_slurm(&l, rows[i].addr, rows[i].pattern, why, sizeof why),
                         0);
        expect_label(l, "n1", rows[i].want);
        ct_labels_free(l);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"n1 rack=r1\nn2 rak=r2", "f:2: \"rak=r2\" is none of nvlink=NAME, rack=NAME, zone=NAME "
                                  "and dc=NAME"},
        {"\n\nn1", "f:3: \"n1\" has no nvlink=, rack=, zone= or dc="},
        {"n1 rack=", "f:1: \"rack=\": a name has 1 to 63 characters"},
        {"n1 rack=0123456789012345678901234567890123456789012345678901234567890123",
         ": a name has 1 to 63 characters"},
        {"n1 rack=a rack=b", "f:1: rack= stands there twice"},
        {"n[1- rack=a", "f:1: \"n[1-\" is no list of hosts as in n[01-04,7],m* or makes it more "
                        "than 262144 hosts"},
        {"n[0-999999999] rack=a", "f:1: \"n[0-999999999]\" is no list"},
        {"SwitchName=s0 Nodes=n1\nn2 rack=a", "f:2: \"n2 rack=a\" begins with no SwitchName="},
        {"SwitchName=s0 Nodes=n1\nSwitchName=s0 Nodes=n2",
         "f:2: switch s0 stands already in line 1"},
        {"SwitchName=s0 Nodes=n1 fast", "f:1: \"fast\" is no KEY=VALUE"},
        {"SwitchName= Nodes=n1", "f:1: \"\": a name has 1 to 63 characters"},
        {"SwitchName=s0 Switches=s0",
         "f:1: Switches=s0 is no list of at most 65535 other switches"},
        {"SwitchName=a Switches=b,s\nSwitchName=b Switches=a\n\nSwitchName=s Nodes=n1",
         "f:4: the switches above s are above each other"},
        {"SwitchName=t Switches=s\nSwitchName=s Nodes=n[", "f:2: \"n[\" is no list of hosts"},
    };
    (void)state;
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        char              why[512] = "";
        struct ct_labels *l = NULL;
        assert_int_equal(ct_labels_parse(&l, rows[i].text, "f", why, sizeof why), CTRAN_ERR_ARG);
        unit_contains(why, rows[i].why);
        ct_labels_free(l);
    }
}

static void test_read(void **state)
{
    (void)state;
    char              path[64], why[256] = "";
    struct ct_labels *l = NULL;
    int               fd = memfd_create("labels", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int i = 0; i < 2000; i++) { /* longer than a first look */
        dprintf(fd, "n%d rack=r%d\n", i, i / 16);
    }
    assert_int_equal(ct_labels_read(&l, path, why, sizeof why), 0);
    expect_label(l, "n0", "/r0//");
    expect_label(l, "n1999", "/r124//");
    ct_labels_free(l);
    l = NULL;
    assert_int_equal(write(fd, "\0", 1), 1);
    assert_int_equal(ct_labels_read(&l, path, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "cannot be read: it is no text");
    close(fd);
    assert_int_equal(ct_labels_read(&l, "/nowhere/labels", why, sizeof why), CTRAN_ERR_ARG);
    assert_string_equal(why, "\"/nowhere/labels\" cannot be read: No such file or directory");
    assert_int_equal(ct_labels_read(&l, "/", why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "\"/\" cannot be read: Is a directory");
    char fifo[] = "/tmp/unit-labels-XXXXXX"; /* nobody writes into it */
    assert_non_null(mkdtemp(fifo));
    snprintf(path, sizeof path, "%s/fifo", fifo);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ct_labels_read(&l, path, why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "fifo\" cannot be read: it is no regular file");
    assert_int_equal(unlink(path) | rmdir(fifo), 0);
    assert_int_equal(ct_labels_read(&l, "/dev/zero", why, sizeof why), CTRAN_ERR_ARG);
    unit_contains(why, "it is no regular file");
    assert_null(l);
}

/* A set for one host answers for it as the whole one does. */
static void test_only(void **state)
{
    static const char text[] = "n[1-9].a rack=r1\nn2.b rack=r2\nN3.a zone=z3\n*.a dc=da\nn? dc=dn\n"
                               "10.0.0.[1-3] rack=r10\nn7 rack=own\nm* zone=zm\n";
    const char *const hosts[] = {"n1", "n1.a", "n2",       "n2.b", "n2.c", "N3.A",
                                 "n7", "n7.a", "10.0.0.2", "m5.x", "q",    "n"};
    (void)state;
    struct ct_labels *whole = NULL;
    char              why[256] = "";
    assert_int_equal(ct_labels_parse(&whole, text, "text", why, sizeof why), 0);
    for (size_t i = 0; i < CT_ARRAY_LEN(hosts); i++) {
        struct ct_labels *l = NULL;
        char              want[256];
        assert_int_equal(ct_labels_only(&l, hosts[i]), 0);
        assert_true(ct_labels_none(l));
        assert_int_equal(ct_labels_parse(&l, text, "text", why, sizeof why), 0);
        const struct ct_label label = ct_labels_of(whole, hosts[i]);
        snprintf(want, sizeof want, "%s/%s/%s/%s", label.nvlink, label.rack, label.zone, label.dc);
        expect_label(l, hosts[i], want);
        expect_label(l, "m1", strcmp(hosts[i], "m5.x") == 0 ? "//zm/" : "///");
        assert_false(ct_labels_none(l));
        ct_labels_free(l);
    }
    ct_labels_free(whole);
}

/* Against a matcher that tries everything. */
static bool matches(const char *p, const char *t)
{
    return *p == '\0'  ? *t == '\0'
           : *p == '*' ? matches(p + 1, t) || (*t != '\0' && matches(p, t + 1))
                       : *t != '\0' && (*p == '?' || *p == *t) && matches(p + 1, t + 1);
}

static void test_patterns(void **state)
{
    uint64_t seed = 5;
    unsigned yes = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char     p[8] = "", t[10] = "";
        uint32_t np = unit_below(&seed, 8), nt = unit_below(&seed, 10);
        for (uint32_t k = 0; k < np; k++) {
            p[k] = "ab*?"[unit_below(&seed, 4)];
        }
        for (uint32_t k = 0; k < nt; k++) {
            t[k] = "ab"[unit_below(&seed, 2)];
        }
        if (ct_label_match(p, t) != matches(p, t)) {
            fail_msg("\"%s\" and \"%s\"", p, t);
        }
        yes += matches(p, t);
    }
    assert_true(yes > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_file),    cmocka_unit_test(test_each),
        cmocka_unit_test(test_short_names), cmocka_unit_test(test_sources),
        cmocka_unit_test(test_slurm),       cmocka_unit_test(test_slurm_variables),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_read),
        cmocka_unit_test(test_patterns),    cmocka_unit_test(test_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
