/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmixcli - a PMIx client that does what its arguments say, one after the other; the launcher's
 * tests start it, without ctran's library. Exits with 99 and a line when a PMIx call does not do
 * what it should.
 *
 *   init fence collect finalize   the PMIx calls; collect is a fence with data
 *   put                           puts a value of this rank and commits it
 *   get N | getall | getmissing   gets rank N's value, every rank's; one that nobody puts
 *   info                          checks every fact about the job
 *   facts                         prints "rank size local_rank local_size"
 *   some                          ranks of even number fence with data among themselves
 *   where                         prints the host of every rank, as this rank sees them
 *   only R                        the next action is for rank R alone
 *   latecommit                    the last rank commits only when rank 0 has begun its get
 *   abort S | exit S | kill S     PMIx_Abort, exit, a signal to itself
 *   wait                          for a signal
 *   print TEXT                    a line
 */
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

static pmix_proc_t me;

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        printf("rank %u: %s gave %s\n", me.rank, what, PMIx_Error_string(rc));
        fflush(stdout);
        _exit(99);
    }
}

static void fail(const char *what, unsigned long got, unsigned long want)
{
    printf("rank %u: %s is %lu, expected %lu\n", me.rank, what, got, want);
    fflush(stdout);
    _exit(99);
}

static unsigned long number(const pmix_value_t *v)
{
    switch (v->type) {
    case PMIX_UINT16:
        return v->data.uint16;
    case PMIX_UINT32:
        return v->data.uint32;
    case PMIX_PROC_RANK:
        return v->data.rank;
    case PMIX_INT:
        return (unsigned long)v->data.integer;
    default:
        return (unsigned long)-1;
    }
}

/* A fact about the job (rank PMIX_RANK_WILDCARD) or about a rank. */
static unsigned long fact(pmix_rank_t rank, const char *key)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    PMIX_LOAD_PROCID(&who, me.nspace, rank);
    must(PMIx_Get(&who, key, NULL, 0, &v), key);
    unsigned long n = number(v);
    PMIX_VALUE_RELEASE(v);
    return n;
}

static char *text_fact(pmix_rank_t rank, const char *key)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    PMIX_LOAD_PROCID(&who, me.nspace, rank);
    must(PMIx_Get(&who, key, NULL, 0, &v), key);
    char *s = v->type == PMIX_STRING ? strdup(v->data.string) : strdup("(no text)");
    PMIX_VALUE_RELEASE(v);
    return s;
}

static void expect(pmix_rank_t rank, const char *key, unsigned long want)
{
    unsigned long got = fact(rank, key);
    if (got != want) {
        fail(key, got, want);
    }
}

static void expect_text(pmix_rank_t rank, const char *key, const char *want)
{
    char *got = text_fact(rank, key);
    if (strcmp(got, want) != 0) {
        printf("rank %u: %s is \"%s\", expected \"%s\"\n", me.rank, key, got, want);
        fflush(stdout);
        _exit(99);
    }
    free(got);
}

/* A fact about a program, asked for by its number. */
static void expect_app(unsigned long app, const char *key, unsigned long want)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    pmix_info_t   info[2];
    uint32_t      number32 = (uint32_t)app;
    bool          yes = true;
    PMIX_LOAD_PROCID(&who, me.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info[0], PMIX_APP_INFO, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_APPNUM, &number32, PMIX_UINT32);
    must(PMIx_Get(&who, key, info, 2, &v), key);
    if (number(v) != want) {
        fail(key, number(v), want);
    }
    PMIX_VALUE_RELEASE(v);
}

/* The ranks of each program, from EXPECT_APPS ("2,1") or one program of all. Returns how many. */
static unsigned long read_apps(unsigned long *sizes, unsigned long most, unsigned long n)
{
    const char   *text = getenv("EXPECT_APPS");
    unsigned long napps = 0;
    sizes[0] = n;
    while (text != NULL && *text != '\0' && napps < most) {
        char *end;
        sizes[napps++] = strtoul(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return napps > 0 ? napps : 1;
}

/* What a rank is told about the programs, its own and the others'. */
static void check_apps(unsigned long n)
{
    unsigned long sizes[16], napps = read_apps(sizes, 16, n), first = 0;
    expect(PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS, napps);
    for (unsigned long app = 0; app < napps; app++) {
        for (unsigned long i = 0; i < sizes[app]; i++) {
            pmix_rank_t r = (pmix_rank_t)(first + i);
            expect(r, PMIX_APPNUM, app);
            expect(r, PMIX_APP_RANK, i);
            expect(r, PMIX_APPLDR, first);
            expect(r, PMIX_APP_SIZE, sizes[app]);
        }
        expect_app(app, PMIX_APP_SIZE, sizes[app]);
        expect_app(app, PMIX_APPLDR, first);
        first += sizes[app];
    }
}

/* The tests run on one node, so local and global numbers agree. */
static void check_info(void)
{
    const char   *n_text = getenv("EXPECT_RANKS");
    unsigned long n = n_text != NULL ? strtoul(n_text, NULL, 10) : 0;
    char          host[256] = "", peers[8192] = "";
    gethostname(host, sizeof host - 1);
    expect(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, n);
    expect(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, n);
    expect(PMIX_RANK_WILDCARD, PMIX_MAX_PROCS, n);
    expect(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, n);
    expect(PMIX_RANK_WILDCARD, PMIX_NUM_NODES, 1);
    expect_text(PMIX_RANK_WILDCARD, PMIX_NODE_LIST, host);
    expect_text(PMIX_RANK_WILDCARD, PMIX_JOBID, me.nspace);
    for (unsigned long i = 0; i < n; i++) {
        size_t len = strlen(peers);
        snprintf(peers + len, sizeof peers - len, "%s%lu", i > 0 ? "," : "", i);
    }
    expect_text(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, peers);
    for (pmix_rank_t r = 0; r < n; r++) {
        expect(r, PMIX_GLOBAL_RANK, r);
        expect(r, PMIX_LOCAL_RANK, r);
        expect(r, PMIX_NODE_RANK, r);
        expect(r, PMIX_NODEID, 0);
        expect_text(r, PMIX_HOSTNAME, host);
    }
    check_apps(n);
    char *dir = text_fact(PMIX_RANK_WILDCARD, PMIX_TMPDIR);
    if (access(dir, W_OK) != 0) {
        printf("rank %u: the session directory %s cannot be written\n", me.rank, dir);
        _exit(99);
    }
    free(dir);
}

static void put(void)
{
    pmix_value_t v;
    uint32_t     n = me.rank * 7 + 3;
    PMIX_VALUE_LOAD(&v, &n, PMIX_UINT32);
    must(PMIx_Put(PMIX_GLOBAL, "test.value", &v), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
}

static void get(pmix_rank_t rank)
{
    expect(rank, "test.value", rank * 7 + 3);
}

static void get_missing(void)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    pmix_info_t   limit;
    int           seconds = 1;
    PMIX_LOAD_PROCID(&who, me.nspace, 0);
    PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_status_t rc = PMIx_Get(&who, "test.missing", &limit, 1, &v);
    if (rc == PMIX_SUCCESS) {
        fail("PMIx_Get of a value that nobody put", 0, 1);
    }
}

static void fence(bool collect)
{
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    pmix_status_t rc = PMIx_Fence(NULL, 0, &info, 1);
    if (rc == PMIX_ERR_PARTIAL_SUCCESS) {
        /* A peer is lost. It is the launcher's to say so and to end the job. */
        for (;;) {
            pause();
        }
    }
    must(rc, "PMIx_Fence");
}

/* A fence of some ranks, on however many nodes, that the others do not hear of. */
static void fence_some(void)
{
    unsigned long n = fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), members = (n + 1) / 2;
    pmix_proc_t  *procs = calloc(members, sizeof *procs);
    pmix_info_t   info;
    bool          collect = true;
    if (me.rank % 2 == 0 && procs != NULL) {
        for (unsigned long i = 0; i < members; i++) {
            PMIX_LOAD_PROCID(&procs[i], me.nspace, (pmix_rank_t)(2 * i));
        }
        PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
        must(PMIx_Fence(procs, members, &info, 1), "PMIx_Fence of some");
        for (unsigned long i = 0; i < members; i++) {
            get((pmix_rank_t)(2 * i));
        }
    }
    free(procs);
}

static void where(void)
{
    unsigned long n = fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    char         *peers = text_fact(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    printf("%u has %s:", me.rank, peers);
    free(peers);
    for (pmix_rank_t r = 0; r < n; r++) {
        char *host = text_fact(r, PMIX_HOSTNAME);
        printf(" %s", host);
        free(host);
    }
    printf("\n");
    fflush(stdout);
}

/* What got_it shall find, what it found, and the word that it has. */
static uint32_t late_value;
static bool     late_is_right;
static sem_t    late_done;

static void got_it(pmix_status_t status, pmix_value_t *v, void *arg)
{
    (void)arg;
    late_is_right = status == PMIX_SUCCESS && number(v) == late_value;
    sem_post(&late_done);
}

/* Rank 0 asks for the last rank's value, and only then sends it, through a pipe of the file
 * system, the word to commit. */
static void late_commit(void)
{
    pmix_rank_t last = (pmix_rank_t)fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) - 1;
    const char *name = getenv("LATE_FIFO");
    if (me.rank == 0) {
        pmix_proc_t who;
        sem_init(&late_done, 0, 0);
        late_value = last * 7 + 3;
        PMIX_LOAD_PROCID(&who, me.nspace, last);
        must(PMIx_Get_nb(&who, "test.value", NULL, 0, got_it, NULL), "PMIx_Get_nb");
        FILE *f = fopen(name, "w");
        fputs("go\n", f);
        fclose(f);
        while (sem_wait(&late_done) != 0) {
        }
        if (!late_is_right) {
            fail("the value that was committed late", 0, 1);
        }
    } else if (me.rank == last) {
        char  line[8];
        FILE *f = fopen(name, "r");
        if (fgets(line, sizeof line, f) == NULL) {
            fail("the word to commit", 0, 1);
        }
        fclose(f);
        put();
    }
}

static int take(char **argv)
{
    const char *a = argv[0];
    const char *value = argv[1] != NULL ? argv[1] : "";
    if (strcmp(a, "init") == 0) {
        must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    } else if (strcmp(a, "finalize") == 0) {
        must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    } else if (strcmp(a, "fence") == 0) {
        fence(false);
    } else if (strcmp(a, "collect") == 0) {
        fence(true);
    } else if (strcmp(a, "put") == 0) {
        put();
    } else if (strcmp(a, "getall") == 0) {
        for (pmix_rank_t r = 0; r < fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE); r++) {
            get(r);
        }
    } else if (strcmp(a, "getmissing") == 0) {
        get_missing();
    } else if (strcmp(a, "some") == 0) {
        fence_some();
    } else if (strcmp(a, "where") == 0) {
        where();
    } else if (strcmp(a, "latecommit") == 0) {
        late_commit();
    } else if (strcmp(a, "info") == 0) {
        check_info();
    } else if (strcmp(a, "facts") == 0) {
        printf("%u %lu %lu %lu\n", me.rank, fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE),
               fact(me.rank, PMIX_LOCAL_RANK), fact(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE));
    } else if (strcmp(a, "wait") == 0) {
        for (;;) {
            pause();
        }
    } else if (strcmp(a, "print") == 0) {
        printf("%s\n", value);
        fflush(stdout);
        return 2;
    } else if (strcmp(a, "get") == 0) {
        get((pmix_rank_t)strtoul(value, NULL, 10));
        return 2;
    } else if (strcmp(a, "abort") == 0) {
        PMIx_Abort(atoi(value), "it was time", NULL, 0);
        return 2;
    } else if (strcmp(a, "exit") == 0) {
        fflush(stdout);
        _exit(atoi(value));
    } else if (strcmp(a, "kill") == 0) {
        raise(atoi(value));
        return 2;
    } else {
        fprintf(stderr, "pmixcli: unknown action %s\n", a);
        _exit(98);
    }
    return 1;
}

static int words_of(const char *action)
{
    static const char *const with_value[] = {"print", "get", "abort", "exit", "kill"};
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        if (strcmp(action, with_value[i]) == 0) {
            return 2;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc;) {
        if (strcmp(argv[i], "only") == 0 && i + 2 < argc) {
            bool mine = me.rank == (pmix_rank_t)strtoul(argv[i + 1], NULL, 10);
            i += 2;
            if (!mine) {
                i += words_of(argv[i]);
                continue;
            }
        }
        i += take(argv + i);
    }
    return 0;
}
