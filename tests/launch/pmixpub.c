/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmixpub - PMIx_Publish, PMIx_Lookup and PMIx_Unpublish against the launcher: runs the scenarios
 * that its arguments name, one after the other, on all ranks. Exits with 99 and a line when a call
 * does not do what it should.
 */
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>

static pmix_proc_t me;
static uint32_t    nranks;

static void fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("rank %u: ", me.rank);
    vprintf(fmt, ap);
    printf("\n");
    fflush(stdout);
    _exit(99);
}

static void must(pmix_status_t got, pmix_status_t want, const char *what)
{
    if (got != want) {
        char *wanted = strdup(PMIx_Error_string(want));
        fail("%s gave %s, expected %s", what, PMIx_Error_string(got), wanted);
    }
}

static void fence(void)
{
    must(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS, "PMIx_Fence");
}

static uint32_t job_fact(pmix_rank_t rank, const char *key)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    PMIX_LOAD_PROCID(&who, me.nspace, rank);
    must(PMIx_Get(&who, key, NULL, 0, &v), PMIX_SUCCESS, key);
    uint32_t n = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return n;
}

/* ---- the three calls ------------------------------------------------------------------------- */

static pmix_status_t publish(const char *key, uint32_t value, pmix_data_range_t range,
                             pmix_persistence_t persist)
{
    pmix_info_t info[3];
    PMIX_INFO_LOAD(&info[0], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[1], key, &value, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &persist, PMIX_PERSIST);
    return PMIx_Publish(info, 3);
}

static pmix_status_t publish_plain(const char *key, uint32_t value)
{
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, key, &value, PMIX_UINT32);
    return PMIx_Publish(&info, 1);
}

static pmix_status_t unpublish(const char *key)
{
    char *keys[] = {(char *)(uintptr_t)key, NULL};
    return PMIx_Unpublish(keys, NULL, 0);
}

/* Waits for all if `wait`, so many seconds if not 0. What is found is checked. */
static pmix_status_t lookup(const char *key, uint32_t value, uint32_t publisher, bool wait,
                            int seconds)
{
    pmix_pdata_t data;
    pmix_info_t  info[2];
    size_t       n = 0;
    int          all = 0;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    if (wait) {
        PMIX_INFO_LOAD(&info[n], PMIX_WAIT, &all, PMIX_INT);
        n++;
    }
    if (seconds > 0) {
        PMIX_INFO_LOAD(&info[n], PMIX_TIMEOUT, &seconds, PMIX_INT);
        n++;
    }
    pmix_status_t rc = PMIx_Lookup(&data, 1, info, n);
    if (rc == PMIX_SUCCESS &&
        (data.value.type != PMIX_UINT32 || data.value.data.uint32 != value ||
         data.proc.rank != publisher || strcmp(data.proc.nspace, me.nspace) != 0)) {
        fail("%s is %u of rank %u, expected %u of rank %u", key, data.value.data.uint32,
             data.proc.rank, value, publisher);
    }
    PMIX_PDATA_DESTRUCT(&data);
    return rc;
}

/* ---- scenarios ------------------------------------------------------------------------------- */

/* Everybody finds what everybody has published, no matter who was first. */
static void all_to_all(void)
{
    char          key[32];
    int           all = 0;
    pmix_pdata_t *data;
    pmix_info_t   wait;
    snprintf(key, sizeof key, "all.%u", me.rank);
    must(publish_plain(key, me.rank * 7 + 3), PMIX_SUCCESS, "PMIx_Publish");
    PMIX_PDATA_CREATE(data, nranks);
    for (uint32_t i = 0; i < nranks; i++) {
        snprintf(key, sizeof key, "all.%u", i);
        PMIX_LOAD_KEY(data[i].key, key);
    }
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_INT);
    must(PMIx_Lookup(data, nranks, &wait, 1), PMIX_SUCCESS, "PMIx_Lookup of all");
    for (uint32_t i = 0; i < nranks; i++) {
        if (data[i].value.data.uint32 != i * 7 + 3 || data[i].proc.rank != i) {
            fail("all.%u is %u of rank %u", i, data[i].value.data.uint32, data[i].proc.rank);
        }
    }
    PMIX_PDATA_FREE(data, nranks);
}

static sem_t         late_done;
static pmix_status_t late_status;
static uint32_t      late_value;

static void got_late(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    (void)arg;
    late_status = status;
    late_value = n == 1 ? data[0].value.data.uint32 : 0;
    sem_post(&late_done);
}

/* A lookup is there first: the head has it, since it has answered the next one. */
static void late(void)
{
    if (me.rank == 0) {
        char       *keys[] = {(char *)(uintptr_t) "late", NULL};
        int         all = 0;
        pmix_info_t wait;
        PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_INT);
        sem_init(&late_done, 0, 0);
        must(PMIx_Lookup_nb(keys, &wait, 1, got_late, NULL), PMIX_SUCCESS, "PMIx_Lookup_nb");
        must(lookup("late", 0, 0, false, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup too early");
    }
    fence();
    if (me.rank == nranks - 1) {
        must(publish_plain("late", 77), PMIX_SUCCESS, "PMIx_Publish");
    }
    if (me.rank == 0) {
        while (sem_wait(&late_done) != 0) {
        }
        must(late_status, PMIX_SUCCESS, "PMIx_Lookup_nb that waited");
        if (late_value != 77) {
            fail("late is %u, expected 77", late_value);
        }
    }
}

static void missing(void)
{
    pmix_pdata_t data[2];
    char         key[32];
    must(lookup("missing", 0, 0, false, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup of nothing");
    if (nranks > 1) {
        must(lookup("missing", 0, 0, true, 1), PMIX_ERR_TIMEOUT, "PMIx_Lookup with PMIX_TIMEOUT");
    } else {
        must(lookup("missing", 0, 0, true, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup by the only rank");
    }
    must(unpublish("missing"), PMIX_ERR_NOT_FOUND, "PMIx_Unpublish of nothing");
    snprintf(key, sizeof key, "there.%u", me.rank);
    must(publish_plain(key, 1), PMIX_SUCCESS, "PMIx_Publish");
    for (int i = 0; i < 2; i++) {
        PMIX_PDATA_CONSTRUCT(&data[i]);
        PMIX_LOAD_KEY(data[i].key, i == 0 ? key : "missing");
    }
    must(PMIx_Lookup(data, 2, NULL, 0), PMIX_ERR_PARTIAL_SUCCESS, "PMIx_Lookup of one of two");
    /* One value is enough for who wants no more. */
    int         one = 1;
    pmix_info_t wait;
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &one, PMIX_INT);
    must(PMIx_Lookup(data, 2, &wait, 1), PMIX_ERR_PARTIAL_SUCCESS, "PMIx_Lookup for one of two");
    must(publish_plain("", 1), PMIX_ERR_BAD_PARAM, "PMIx_Publish without a key");
}

static void duplicate(void)
{
    if (me.rank == 0) {
        must(publish_plain("twice", 5), PMIX_SUCCESS, "PMIx_Publish");
    }
    fence();
    must(publish_plain("twice", 6), PMIX_ERR_DUPLICATE_KEY, "a second PMIx_Publish");
    must(lookup("twice", 5, 0, false, 0), PMIX_SUCCESS, "PMIx_Lookup");
    /* What comes with a duplicate is not published either. */
    pmix_info_t info[2];
    char        key[32];
    uint32_t    value = 1;
    snprintf(key, sizeof key, "with.%u", me.rank);
    PMIX_INFO_LOAD(&info[0], key, &value, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], "twice", &value, PMIX_UINT32);
    must(PMIx_Publish(info, 2), PMIX_ERR_DUPLICATE_KEY, "PMIx_Publish of a new and an old key");
    must(lookup(key, 0, 0, false, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup of the new one");
    if (me.rank != 0) { /* it is another's */
        must(unpublish("twice"), PMIX_ERR_NOT_FOUND, "PMIx_Unpublish of another's");
    }
    fence();
    if (me.rank == 0) {
        must(unpublish("twice"), PMIX_SUCCESS, "PMIx_Unpublish");
    }
    fence();
    if (me.rank == nranks - 1) {
        must(publish_plain("twice", 8), PMIX_SUCCESS, "PMIx_Publish after PMIx_Unpublish");
    }
    fence();
    must(lookup("twice", 8, nranks - 1, false, 0), PMIX_SUCCESS, "PMIx_Lookup of the new value");
}

static void ranges(void)
{
    uint32_t leader = job_fact(PMIX_RANK_WILDCARD, PMIX_LOCALLDR);
    must(publish("mine", me.rank, PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP), PMIX_SUCCESS,
         "PMIx_Publish for this process");
    must(publish("mine", me.rank, PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_APP), PMIX_ERR_DUPLICATE_KEY,
         "PMIx_Publish for this process, again");
    if (me.rank == leader) {
        must(publish("node", leader, PMIX_RANGE_LOCAL, PMIX_PERSIST_APP), PMIX_SUCCESS,
             "PMIx_Publish for this node");
    }
    if (me.rank == 0) {
        must(publish("node", 1000, PMIX_RANGE_GLOBAL, PMIX_PERSIST_APP), PMIX_SUCCESS,
             "PMIx_Publish for all");
    }
    must(publish("other", 1, PMIX_RANGE_CUSTOM, PMIX_PERSIST_APP), PMIX_ERR_NOT_SUPPORTED,
         "PMIx_Publish for some");
    fence();
    must(lookup("mine", me.rank, me.rank, false, 0), PMIX_SUCCESS, "PMIx_Lookup of its own");
    must(lookup("node", leader, leader, false, 0), PMIX_SUCCESS, "PMIx_Lookup of its node's");
}

static void first_read(void)
{
    pmix_status_t rc;
    if (me.rank == 0) {
        must(publish("once", 1, PMIX_RANGE_SESSION, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS,
             "PMIx_Publish for one reader");
    }
    fence();
    rc = lookup("once", 1, 0, false, 0);
    printf("%s\n", rc == PMIX_SUCCESS ? "read" : rc == PMIX_ERR_NOT_FOUND ? "gone" : "wrong");
    fflush(stdout);
    fence();
}

static pmix_status_t lookup_two(const char *one, const char *two, uint32_t value)
{
    pmix_pdata_t data[2];
    for (int i = 0; i < 2; i++) {
        PMIX_PDATA_CONSTRUCT(&data[i]);
        PMIX_LOAD_KEY(data[i].key, i == 0 ? one : two);
    }
    pmix_status_t rc = PMIx_Lookup(data, 2, NULL, 0);
    if (rc == PMIX_SUCCESS && data[0].value.data.uint32 != value) {
        fail("%s is %u, expected %u", one, data[0].value.data.uint32, value);
    }
    for (int i = 0; i < 2; i++) {
        PMIX_PDATA_DESTRUCT(&data[i]);
    }
    return rc;
}

/* A lookup that is given nothing takes nothing away; one that names a key twice takes one value. */
static void reads(void)
{
    char key[32];
    snprintf(key, sizeof key, "reads.%u", me.rank);
    must(publish(key, 1, PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS,
         "PMIx_Publish for one reader");
    must(publish(key, 2, PMIX_RANGE_SESSION, PMIX_PERSIST_FIRST_READ), PMIX_SUCCESS,
         "PMIx_Publish in a wider range");
    must(lookup_two(key, "nothing", 0), PMIX_ERR_PARTIAL_SUCCESS, "PMIx_Lookup of one of two");
    must(lookup_two(key, key, 1), PMIX_SUCCESS, "PMIx_Lookup of a key, twice");
    must(lookup(key, 2, me.rank, false, 0), PMIX_SUCCESS, "PMIx_Lookup in the wider range");
    must(lookup(key, 0, 0, false, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup of what has been read");
}

static _Atomic uint32_t answers;

static void count(pmix_status_t status, void *arg)
{
    (void)arg;
    if (status != PMIX_SUCCESS && status != PMIX_ERR_OUT_OF_RESOURCE) {
        fail("one of many PMIx_Publish_nb gave %s", PMIx_Error_string(status));
    }
    answers++;
}

static pmix_status_t publish_bytes(const char *key, size_t len)
{
    pmix_info_t        info;
    pmix_byte_object_t bytes = {calloc(1, len), len};
    PMIX_INFO_LOAD(&info, key, &bytes, PMIX_BYTE_OBJECT);
    pmix_status_t rc = PMIx_Publish(&info, 1);
    PMIX_INFO_DESTRUCT(&info);
    free(bytes.bytes);
    return rc;
}

/* Too much at once, too much in all, too many requests: the one who asks is refused, not others. */
static void too_much(void)
{
    enum { MANY = 2000 };
    const size_t  mega = 1 << 20;
    char          key[32];
    pmix_status_t rc = PMIX_SUCCESS;
    uint32_t      n = 0;
    if (me.rank == 0) {
        must(publish_bytes("huge", 5 * mega), PMIX_ERR_OUT_OF_RESOURCE, "PMIx_Publish of 5 MiB");
        for (; rc == PMIX_SUCCESS && n < 100; n++) {
            snprintf(key, sizeof key, "big.%u", n);
            rc = publish_bytes(key, 2 * mega);
        }
        must(rc, PMIX_ERR_OUT_OF_RESOURCE, "the last PMIx_Publish of 2 MiB");
        if (n != 8) {
            fail("%u values of 2 MiB were taken, expected 7", n - 1);
        }
    }
    fence();
    snprintf(key, sizeof key, "small.%u", me.rank);
    must(publish_plain(key, me.rank), PMIX_SUCCESS, "PMIx_Publish beside them");
    if (me.rank == 0) {
        must(PMIx_Unpublish(NULL, NULL, 0), PMIX_SUCCESS, "PMIx_Unpublish of all");
        must(lookup("small.0", 0, 0, false, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup afterwards");
        must(publish_bytes("big", 2 * mega), PMIX_SUCCESS, "PMIx_Publish where there is room");
    }
    for (n = 0; n < MANY; n++) {
        uint32_t    one = 1;
        pmix_info_t info;
        snprintf(key, sizeof key, "many.%u.%u", me.rank, n);
        PMIX_INFO_LOAD(&info, key, &one, PMIX_UINT32);
        must(PMIx_Publish_nb(&info, 1, count, NULL), PMIX_SUCCESS, "PMIx_Publish_nb");
    }
    while (answers < MANY) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    snprintf(key, sizeof key, "after.%u", me.rank);
    must(publish_plain(key, me.rank), PMIX_SUCCESS, "PMIx_Publish after many");
}

static void got_big(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    (void)arg;
    if (status != PMIX_SUCCESS || n != 1 || data[0].value.type != PMIX_BYTE_OBJECT ||
        data[0].value.data.bo.size != 3u << 20) {
        fail("one of many PMIx_Lookup_nb gave %s and %zu values", PMIx_Error_string(status), n);
    }
    answers++;
}

/* More answers than may be under way: all come, and others are not kept from theirs. */
static void answers_held(void)
{
    enum { MANY = 24 };
    char *keys[] = {(char *)(uintptr_t) "held", NULL};
    answers = 0;
    if (me.rank == 0) {
        must(publish_bytes("held", 3u << 20), PMIX_SUCCESS, "PMIx_Publish of 3 MiB");
        must(publish_plain("held.not", 5), PMIX_SUCCESS, "PMIx_Publish beside it");
    }
    fence();
    for (int i = 0; i < MANY; i++) {
        must(PMIx_Lookup_nb(keys, NULL, 0, got_big, NULL), PMIX_SUCCESS, "PMIx_Lookup_nb");
    }
    must(lookup("held.not", 5, 0, false, 0), PMIX_SUCCESS, "PMIx_Lookup of little meanwhile");
    while (answers < MANY) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    fence();
}

/* A rank that waits for what never comes does not keep the job. */
static void stuck(void)
{
    fence();
    if (me.rank == 0) {
        _exit(7);
    }
    must(lookup("never", 0, 0, true, 0), PMIX_SUCCESS, "PMIx_Lookup of what never comes");
}

/* Rank 1 dies. What it published for its own life goes, the rest stays; and who waits for what
 * nobody will publish is told. Only in a job that outlives deaths. */
static void dead(void)
{
    if (me.rank == 1) {
        must(publish("life", 1, PMIX_RANGE_SESSION, PMIX_PERSIST_PROC), PMIX_SUCCESS, "life");
        must(publish("app", 2, PMIX_RANGE_SESSION, PMIX_PERSIST_APP), PMIX_SUCCESS, "app");
        must(publish("job", 3, PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION), PMIX_SUCCESS, "job");
    }
    fence();
    if (me.rank == 1) {
        raise(SIGKILL);
    }
    while (lookup("life", 1, 1, false, 0) == PMIX_SUCCESS) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    must(lookup("life", 1, 1, false, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup of a dead rank's");
    must(lookup("app", 2, 1, false, 0), PMIX_SUCCESS, "PMIx_Lookup of what outlives it");
    must(lookup("job", 3, 1, true, 0), PMIX_SUCCESS, "PMIx_Lookup of what outlives it, too");
    if (me.rank == 0) {
        must(lookup("never", 0, 0, true, 0), PMIX_ERR_NOT_FOUND, "PMIx_Lookup by the last rank");
    } else {
        _exit(0); /* not in PMIx_Finalize, which waits for all */
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"all", all_to_all},      {"late", late},        {"missing", missing},
                     {"duplicate", duplicate}, {"ranges", ranges},    {"firstread", first_read},
                     {"toomuch", too_much},    {"dead", dead},        {"stuck", stuck},
                     {"reads", reads},         {"held", answers_held}};
    must(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "PMIx_Init");
    nranks = job_fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        while (k < sizeof scenarios / sizeof *scenarios &&
               strcmp(argv[i], scenarios[k].name) != 0) {
            k++;
        }
        if (k == sizeof scenarios / sizeof *scenarios) {
            fail("there is no scenario %s", argv[i]);
        }
        scenarios[k].run();
    }
    must(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "PMIx_Finalize");
    return 0;
}
