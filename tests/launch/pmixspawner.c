/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmixspawner - PMIx_Spawn against the launcher.
 *
 *   parent N HOSTS PROGRAM ARGUMENT...   rank 0 spawns N ranks of a program on these hosts
 *                  ("-": any; "2@a,b": two on each) and prints the status; all meet before
 *                  and afterwards.
 *                  With STAY it then waits for a signal, with TWICE the job has two programs.
 *   child          prints its rank, job size, host, parent's rank, $CHILD and directory
 *   connect        ranks connect and disconnect
 *   share N        rank 0 spawns N ranks of this program, and both jobs find what ranks of the
 *                  other have published and put, and meet; with DEEP the spawned job does the
 *                  same once more
 *   family         rank 0 spawns "elder" and rank 1 "younger", the elder a "youngest"; all but
 *                  the parents, and each later than the last, get what the younger one has put.
 *                  With HOLD, a directory, the elder's start is to be held by a launch agent
 *                  that can remove the file "hold" there: it writes to "held" and reads from "go"
 *   timeout        rank 0 waits for the last rank and for a "tardy" job for a limited time, and so
 *                  does that job then; they all meet later
 *   forgotten N    rank 0 spawns a "witness" and N ranks that end; nobody finds anything of these
 *                  afterwards, nor does an "heir" that the witness spawns then
 *   bereft         rank 0 spawns a "doomed" job; rank 1 prints "asked" when it waits for what this
 *                  never puts, and whose head is to be killed then; nobody waits any longer
 *   left N         rank 0 spawns N ranks that end while it waits for them
 *   late FILE      rank 0 spawns "cat FILE" when it has read FILE itself; the others just end
 *   many           rank 0 spawns jobs that last until it is refused
 */
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
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

static pmix_value_t *get(pmix_rank_t rank, const char *key)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    PMIX_LOAD_PROCID(&who, me.nspace, rank);
    must(PMIx_Get(&who, key, NULL, 0, &v), key);
    return v;
}

static void fence(void)
{
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
}

static void child(void)
{
    char                dir[PATH_MAX] = "";
    const pmix_value_t *parent = get(me.rank, PMIX_PARENT_ID);
    const char         *value = getenv("CHILD");
    if (parent->type != PMIX_PROC || strcmp(parent->data.proc->nspace, me.nspace) == 0 ||
        getcwd(dir, sizeof dir) == NULL) {
        printf("rank %u: PMIX_PARENT_ID is none\n", me.rank);
        _exit(99);
    }
    fence();
    printf("child %u of %u on %s, parent %u, %s, %s\n", me.rank,
           get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)->data.uint32,
           get(me.rank, PMIX_HOSTNAME)->data.string, parent->data.proc->rank,
           value != NULL ? value : "-", dir);
    fflush(stdout);
}

static pmix_status_t spawn(int n, const char *hosts, char **argv, char *nspace)
{
    static char  key[80], deep[16];
    static char *env[] = {(char *)(uintptr_t) "CHILD=as told", key, deep, NULL};
    const char  *base = getenv("SHARE_KEY");
    snprintf(key, sizeof key, "SHARE_KEY=%s", base != NULL ? base : "share");
    snprintf(deep, sizeof deep, "%s", getenv("DEEP") != NULL ? "DEEP=1" : "DEEPER=0");
    pmix_app_t  apps[2];
    pmix_info_t info[2];
    size_t      ninfo = 0, napps = getenv("TWICE") != NULL ? 2 : 1;
    const char *at = strchr(hosts, '@');
    char        ppr[32];
    if (at != NULL) {
        snprintf(ppr, sizeof ppr, "%.*s:node", (int)(at - hosts), hosts);
        PMIX_INFO_LOAD(&info[ninfo], PMIX_PPR, ppr, PMIX_STRING);
        ninfo++;
        hosts = at + 1;
    }
    if (strcmp(hosts, "-") != 0) {
        PMIX_INFO_LOAD(&info[ninfo], PMIX_HOST, hosts, PMIX_STRING);
        ninfo++;
    }
    for (size_t i = 0; i < napps; i++) {
        PMIX_APP_CONSTRUCT(&apps[i]);
        apps[i].cmd = argv[0];
        apps[i].argv = argv;
        apps[i].env = env;
        apps[i].cwd = getenv("CHILD_DIR");
        apps[i].maxprocs = n;
    }
    return PMIx_Spawn(info, ninfo, apps, napps, nspace);
}

static void parent(int argc, char **argv)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    fence();
    if (me.rank == 0 && argc > 2) {
        pmix_status_t rc = spawn(atoi(argv[0]), argv[1], argv + 2, nspace);
        printf("%s\n", rc == PMIX_SUCCESS && (*nspace == '\0' || strcmp(nspace, me.nspace) == 0)
                           ? "no namespace"
                           : PMIx_Error_string(rc));
        fflush(stdout);
    }
    fence();
    while (getenv("STAY") != NULL) {
        pause();
    }
}

static void connect_all(void)
{
    pmix_proc_t all;
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Connect(&all, 1, NULL, 0), "PMIx_Connect");
    must(PMIx_Disconnect(&all, 1, NULL, 0), "PMIx_Disconnect");
    fence();
}

/* ---- jobs that know each other --------------------------------------------------------------- */

/* It outlives this job: whom it is for may come late. */
static void publish(const char *key, uint32_t value, pmix_data_range_t range)
{
    pmix_info_t        info[3];
    pmix_persistence_t persist = PMIX_PERSIST_SESSION;
    PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &persist, PMIX_PERSIST);
    PMIX_INFO_LOAD(&info[0], key, &value, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    must(PMIx_Publish(info, 3), "PMIx_Publish");
}

/* Waits for it if `wait`. It is this value, of this rank of that job. */
static pmix_status_t lookup(const char *key, uint32_t value, const char *nspace, pmix_rank_t rank,
                            bool wait)
{
    pmix_pdata_t data;
    pmix_info_t  info;
    int          all = 0;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    PMIX_INFO_LOAD(&info, PMIX_WAIT, &all, PMIX_INT);
    pmix_status_t rc = PMIx_Lookup(&data, 1, &info, wait ? 1 : 0);
    if (rc == PMIX_SUCCESS && (data.value.data.uint32 != value || data.proc.rank != rank ||
                               strcmp(data.proc.nspace, nspace) != 0)) {
        printf("%s is %u of rank %u of %s, expected %u of rank %u of %s\n", key,
               data.value.data.uint32, data.proc.rank, data.proc.nspace, value, rank, nspace);
        fflush(stdout);
        _exit(99);
    }
    return rc;
}

static void put(void)
{
    pmix_value_t v;
    uint32_t     mine = 1000 + me.rank;
    PMIX_VALUE_LOAD(&v, &mine, PMIX_UINT32);
    must(PMIx_Put(PMIX_GLOBAL, "mine", &v), "PMIx_Put");
    must(PMIx_Commit(), "PMIx_Commit");
}

/* What all ranks of another job have put, how many they are, and that there are no more. */
static void get_all(const char *nspace, uint32_t n)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    PMIX_LOAD_PROCID(&who, nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Get(&who, PMIX_JOB_SIZE, NULL, 0, &v), "PMIX_JOB_SIZE of another job");
    must(v->data.uint32 == n ? PMIX_SUCCESS : PMIX_ERROR, "the size of another job");
    for (uint32_t i = 0; i <= n; i++) {
        PMIX_LOAD_PROCID(&who, nspace, i);
        pmix_status_t rc = PMIx_Get(&who, "mine", NULL, 0, &v);
        if (rc != (i < n ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND) ||
            (i < n && v->data.uint32 != 1000 + i)) {
            printf("rank %u: PMIx_Get of rank %u of %u of another job gave %s\n", me.rank, i, n,
                   PMIx_Error_string(rc));
            fflush(stdout);
            _exit(99);
        }
    }
}

/* All ranks of both jobs, twice, since it must not matter what is known of the other. */
static void connect_with(const char *nspace, uint32_t n)
{
    pmix_proc_t both[2];
    PMIX_LOAD_PROCID(&both[0], me.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], nspace, PMIX_RANK_WILDCARD);
    for (int i = 0; i < 2; i++) {
        must(PMIx_Connect(both, 2, NULL, 0), "PMIx_Connect with another job");
        get_all(nspace, n);
        must(PMIx_Disconnect(both, 2, NULL, 0), "PMIx_Disconnect from another job");
    }
    PMIX_LOAD_PROCID(&both[0], me.nspace, me.rank);
    PMIX_LOAD_PROCID(&both[1], "no-such-job", 0);
    pmix_status_t rc = PMIx_Connect(both, 2, NULL, 0);
    must(rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERROR, "PMIx_Connect with no job");
}

static char *program;

/* Both jobs begin their keys with $SHARE_KEY. */
static void share(int n)
{
    char        key[64], nspace[PMIX_MAX_NSLEN + 1] = "", count[16];
    const char *base = getenv("SHARE_KEY") != NULL ? getenv("SHARE_KEY") : "share";
    uint32_t    mine = 100 + me.rank;
    snprintf(key, sizeof key, "%s.parent.%u", base, me.rank);
    publish(key, mine, PMIX_RANGE_SESSION);
    snprintf(key, sizeof key, "%s.private.%u", base, me.rank);
    publish(key, mine, PMIX_RANGE_NAMESPACE);
    put();
    fence();
    if (me.rank == 0) {
        snprintf(count, sizeof count, "%u", get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)->data.uint32);
        char *argv[] = {program, (char *)(uintptr_t) "shared", count, NULL};
        must(spawn(n, "-", argv, nspace), "PMIx_Spawn");
        for (int i = 0; i < n; i++) {
            snprintf(key, sizeof key, "%s.child.%d", base, i);
            must(lookup(key, 200u + (uint32_t)i, nspace, (pmix_rank_t)i, true), key);
        }
    }
    pmix_pdata_t data;
    pmix_info_t  wait;
    int          all = 0;
    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof data.key, "%s.child.0", base);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_INT);
    must(PMIx_Lookup(&data, 1, &wait, 1), "PMIx_Lookup of the job that was spawned");
    if (me.rank % 2 == 1) { /* before it is met */
        get_all(data.proc.nspace, (uint32_t)n);
    }
    connect_with(data.proc.nspace, (uint32_t)n);
    if (me.rank == 0) {
        snprintf(key, sizeof key, "%s.done", base);
        publish(key, 1, PMIX_RANGE_SESSION);
        printf("shared\n");
        fflush(stdout);
    }
    fence();
}

static void shared(uint32_t nparents)
{
    const pmix_proc_t *parent = get(me.rank, PMIX_PARENT_ID)->data.proc;
    const char        *base = getenv("SHARE_KEY") != NULL ? getenv("SHARE_KEY") : "share";
    char               key[64];
    snprintf(key, sizeof key, "%s.parent.0", base);
    must(lookup(key, 100, parent->nspace, 0, true), key);
    snprintf(key, sizeof key, "%s.private.0", base);
    if (lookup(key, 100, parent->nspace, 0, false) != PMIX_ERR_NOT_FOUND) {
        must(PMIX_ERROR, "PMIx_Lookup of what another job keeps for itself");
    }
    snprintf(key, sizeof key, "%s.child.%u", base, me.rank);
    publish(key, 200 + me.rank, PMIX_RANGE_SESSION);
    put();
    connect_with(parent->nspace, nparents);
    fence();
    if (getenv("DEEP") != NULL) {
        unsetenv("DEEP");
        setenv("SHARE_KEY", "deep", 1);
        share(2);
    }
    snprintf(key, sizeof key, "%s.done", base);
    must(lookup(key, 1, parent->nspace, 0, true), key);
}

/* The job of whoever has published it, waited for. */
static void find(const char *key, char *nspace)
{
    pmix_pdata_t data;
    pmix_info_t  wait;
    int          all = 0;
    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_INT);
    must(PMIx_Lookup(&data, 1, &wait, 1), key);
    snprintf(nspace, PMIX_MAX_NSLEN + 1, "%s", data.proc.nspace);
}

static void write_file(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", getenv("HOLD"), name);
    FILE *f = fopen(path, "w");
    bool  ok = f != NULL && fputs("go\n", f) >= 0 && fclose(f) == 0;
    must(ok ? PMIX_SUCCESS : PMIX_ERROR, path);
}

static void read_file(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", getenv("HOLD"), name);
    FILE *f = fopen(path, "r");
    must(f != NULL && getc(f) != EOF ? PMIX_SUCCESS : PMIX_ERROR, path);
    fclose(f);
}

static void family_root(void)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    bool hold = getenv("HOLD") != NULL;
    if (me.rank == 0) {
        char *elder[] = {program, (char *)(uintptr_t) "elder", NULL};
        if (hold) {
            write_file("hold");
        }
        must(spawn(1, "-", elder, nspace), "PMIx_Spawn of the elder");
    } else if (me.rank == 1) {
        char *younger[] = {program, (char *)(uintptr_t) "younger", NULL};
        if (hold) {
            read_file("held");
        } else {
            find("elder.up", nspace);
        }
        must(spawn(1, "-", younger, nspace), "PMIx_Spawn of the younger");
        find("younger.up", nspace);
        if (hold) {
            write_file("go");
        }
    }
    find("youngest.up", nspace);
    fence();
    if (me.rank == 0) {
        printf("family\n");
        fflush(stdout);
    }
}

static void family(const char *role)
{
    char nspace[PMIX_MAX_NSLEN + 1], up[32];
    snprintf(up, sizeof up, "%s.up", role);
    put();
    if (strcmp(role, "youngest") != 0) {
        publish(up, 1, PMIX_RANGE_SESSION);
    }
    if (strcmp(role, "younger") != 0) {
        find("younger.up", nspace);
        get_all(nspace, 1);
    }
    if (strcmp(role, "elder") == 0) {
        char *youngest[] = {program, (char *)(uintptr_t) "youngest", NULL};
        must(spawn(1, "-", youngest, nspace), "PMIx_Spawn of the youngest");
    } else if (strcmp(role, "youngest") == 0) {
        publish(up, 1, PMIX_RANGE_SESSION);
    }
    find("youngest.up", nspace);
}

static pmix_status_t connect_two(const char *nspace, pmix_rank_t rank, uint32_t timeout_s)
{
    pmix_proc_t two[2];
    pmix_info_t info;
    PMIX_LOAD_PROCID(&two[0], me.nspace, me.rank);
    PMIX_LOAD_PROCID(&two[1], nspace, rank);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout_s, PMIX_UINT32);
    return PMIx_Connect(two, 2, &info, timeout_s > 0 ? 1 : 0);
}

static void must_time_out(pmix_status_t rc, const char *what)
{
    must(rc == PMIX_ERR_TIMEOUT ? PMIX_SUCCESS : rc == PMIX_SUCCESS ? PMIX_ERROR : rc, what);
}

static void time_out(void)
{
    char        nspace[PMIX_MAX_NSLEN + 1], *argv[] = {program, (char *)(uintptr_t) "tardy", NULL};
    pmix_rank_t last = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)->data.uint32 - 1;
    if (me.rank == 0) {
        must_time_out(connect_two(me.nspace, last, 1), "PMIx_Connect with the last rank");
    }
    fence();
    if (me.rank == 0 || me.rank == last) {
        must(connect_two(me.nspace, me.rank == 0 ? last : 0, 0), "PMIx_Connect with both");
    }
    if (me.rank == 0) {
        must(spawn(1, "-", argv, nspace), "PMIx_Spawn");
        must_time_out(connect_two(nspace, 0, 1), "PMIx_Connect with another job");
        publish("parent.tried", 1, PMIX_RANGE_SESSION);
        find("child.tried", nspace);
        must(connect_two(nspace, 0, 0), "PMIx_Connect with another job at last");
        printf("timeout\n");
        fflush(stdout);
    }
}

static void tardy(void)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    find("parent.tried", nspace);
    must_time_out(connect_two(nspace, 0, 1), "PMIx_Connect with the parent");
    publish("child.tried", 1, PMIX_RANGE_SESSION);
    must(connect_two(nspace, 0, 0), "PMIx_Connect with the parent at last");
}

static sem_t         ended;
static pmix_status_t got_status, met_status;

static void on_got(pmix_status_t status, pmix_value_t *v, void *arg)
{
    (void)v;
    (void)arg;
    got_status = status;
    sem_post(&ended);
}

static void on_met(pmix_status_t status, void *arg)
{
    (void)arg;
    met_status = status;
    sem_post(&ended);
}

/* A job ends while another waits for it: for what it never puts, and where it never comes. */
static void left(int n)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "", *argv[] = {program, (char *)(uintptr_t) "leaver", NULL};
    pmix_proc_t who[2];
    fence();
    if (me.rank != 0) {
        return;
    }
    sem_init(&ended, 0, 0);
    must(spawn(n, "-", argv, nspace), "PMIx_Spawn");
    PMIX_LOAD_PROCID(&who[0], me.nspace, 0);
    PMIX_LOAD_PROCID(&who[1], nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Connect_nb(who, 2, NULL, 0, on_met, NULL), "PMIx_Connect_nb");
    PMIX_LOAD_PROCID(&who[1], nspace, (pmix_rank_t)n - 1);
    must(PMIx_Get_nb(&who[1], "never", NULL, 0, on_got, NULL), "PMIx_Get_nb");
    publish("go", 1, PMIX_RANGE_SESSION);
    for (int i = 0; i < 2; i++) {
        while (sem_wait(&ended) != 0) {
        }
    }
    must(got_status == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERROR, "PMIx_Get of the gone");
    must(met_status == PMIX_ERR_PROC_TERM_WO_SYNC ? PMIX_SUCCESS : met_status,
         "the status of PMIx_Connect with the gone");
    must(met_status != PMIX_SUCCESS ? PMIX_SUCCESS : PMIX_ERROR, "PMIx_Connect with the gone");
    printf("left alone\n");
    fflush(stdout);
}

static pmix_status_t get_of(const char *nspace, pmix_rank_t rank, const char *key)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    PMIX_LOAD_PROCID(&who, nspace, rank);
    return PMIx_Get(&who, key, NULL, 0, &v);
}

/* A job is lost while a rank waits for something of it. Questions that are asked afterwards are
 * answered, too, though libpmix gets the answer to the first after it has lost the job. */
static void bereft(void)
{
    char        nspace[PMIX_MAX_NSLEN + 1], *argv[] = {program, (char *)(uintptr_t) "doomed", NULL};
    pmix_proc_t who;
    if (me.rank == 0) {
        must(spawn(2, "-", argv, nspace), "PMIx_Spawn");
    } else if (me.rank == 1) {
        find("doomed.up", nspace);
        PMIX_LOAD_PROCID(&who, nspace, 0);
        sem_init(&ended, 0, 0);
        must(PMIx_Get_nb(&who, "never", NULL, 0, on_got, NULL), "PMIx_Get_nb");
        must(get_of(nspace, 1, "mine"), "PMIx_Get"); /* so the other question is there, too */
        printf("asked\n");
        fflush(stdout);
        while (sem_wait(&ended) != 0) {
        }
        must(got_status == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERROR, "PMIx_Get of the lost");
        for (pmix_rank_t i = 0; i < 2; i++) {
            pmix_status_t rc = get_of(nspace, i, "later");
            must(rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERROR, "PMIx_Get after the loss");
        }
        printf("bereft\n");
        fflush(stdout);
    }
    fence();
}

static void doomed(void)
{
    if (me.rank == 1) {
        put();
    }
    fence();
    if (me.rank == 1) {
        publish("doomed.up", 1, PMIX_RANGE_SESSION);
    }
    pause();
}

/* Nothing is known of the job once it is over, which the root tells who wants to meet it; but
 * libpmix keeps in whoever has spawned it what it was told then. */
static void must_be_forgotten(const char *nspace, bool spawner)
{
    pmix_proc_t   who;
    pmix_value_t *v;
    pmix_status_t rc;
    do {
        rc = connect_two(nspace, 0, 0); /* has its rank not ended, this waits for that */
    } while (rc == PMIX_ERR_PROC_TERM_WO_SYNC);
    must(rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : PMIX_ERROR, "PMIx_Connect with the forgotten");
    PMIX_LOAD_PROCID(&who, nspace, PMIX_RANK_WILDCARD);
    rc = spawner ? PMIX_ERR_NOT_FOUND : PMIx_Get(&who, PMIX_JOB_SIZE, NULL, 0, &v);
    must(rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS
         : rc == PMIX_SUCCESS     ? PMIX_ERROR
                                  : rc,
         "the size of the forgotten");
}

static void forgotten(int n)
{
    char nspace[PMIX_MAX_NSLEN + 1], *argv[] = {program, (char *)(uintptr_t) "witness", NULL};
    if (me.rank == 0) {
        must(spawn(1, "-", argv, nspace), "PMIx_Spawn of the witness");
        find("witness.up", nspace);
        argv[1] = (char *)(uintptr_t) "mortal";
        must(spawn(n, "-", argv, nspace), "PMIx_Spawn of who is to be forgotten");
    }
    find("mortal.up", nspace);
    must_be_forgotten(nspace, me.rank == 0);
    find("heir.up", nspace);
    fence();
    if (me.rank == 0) {
        printf("forgotten\n");
        fflush(stdout);
    }
}

static void witness(void)
{
    char nspace[PMIX_MAX_NSLEN + 1], *argv[] = {program, (char *)(uintptr_t) "heir", NULL};
    publish("witness.up", 1, PMIX_RANGE_SESSION);
    find("mortal.up", nspace);
    must_be_forgotten(nspace, false);
    must(spawn(1, "-", argv, nspace), "PMIx_Spawn of the heir");
    find("heir.up", nspace);
}

static void heir(void)
{
    char nspace[PMIX_MAX_NSLEN + 1];
    find("mortal.up", nspace);
    must_be_forgotten(nspace, false);
    publish("heir.up", 1, PMIX_RANGE_SESSION);
}

static void late(char *file)
{
    char *argv[] = {(char *)(uintptr_t) "cat", file, NULL}, nspace[PMIX_MAX_NSLEN + 1];
    FILE *f = me.rank == 0 ? fopen(file, "r") : NULL;
    if (f == NULL) {
        return;
    }
    while (getc(f) != EOF) {
    }
    fclose(f);
    must(spawn(1, "-", argv, nspace), "PMIx_Spawn");
    printf("late\n");
    fflush(stdout);
}

static void many(char *file)
{
    char *argv[] = {file, (char *)(uintptr_t) "1000", NULL}, nspace[PMIX_MAX_NSLEN + 1];
    int   n = 0;
    fence();
    pmix_status_t rc = PMIX_SUCCESS;
    while (me.rank == 0 && rc == PMIX_SUCCESS && n < 1000) {
        rc = spawn(1, "-", argv, nspace);
        n += rc == PMIX_SUCCESS;
    }
    if (me.rank == 0) {
        printf("%d %s\n", n, PMIx_Error_string(rc));
        fflush(stdout);
        _exit(3);
    }
    pause(); /* the job ends with rank 0; a fence would fail without it, and perhaps be first */
}

int main(int argc, char **argv)
{
    program = argv[0];
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        child();
    } else if (argc > 1 && strcmp(argv[1], "connect") == 0) {
        connect_all();
    } else if (argc > 2 && strcmp(argv[1], "share") == 0) {
        share(atoi(argv[2]));
    } else if (argc > 1 && strcmp(argv[1], "family") == 0) {
        family_root();
    } else if (argc > 1 && (strcmp(argv[1], "elder") == 0 || strcmp(argv[1], "younger") == 0 ||
                            strcmp(argv[1], "youngest") == 0)) {
        family(argv[1]);
    } else if (argc > 1 && strcmp(argv[1], "timeout") == 0) {
        time_out();
    } else if (argc > 1 && strcmp(argv[1], "tardy") == 0) {
        tardy();
    } else if (argc > 2 && strcmp(argv[1], "forgotten") == 0) {
        forgotten(atoi(argv[2]));
    } else if (argc > 1 && strcmp(argv[1], "witness") == 0) {
        witness();
    } else if (argc > 1 && strcmp(argv[1], "mortal") == 0 && me.rank == 0) {
        publish("mortal.up", 1, PMIX_RANGE_SESSION);
    } else if (argc > 1 && strcmp(argv[1], "mortal") == 0) {
        /* ends */
    } else if (argc > 1 && strcmp(argv[1], "heir") == 0) {
        heir();
    } else if (argc > 1 && strcmp(argv[1], "bereft") == 0) {
        bereft();
    } else if (argc > 1 && strcmp(argv[1], "doomed") == 0) {
        doomed();
    } else if (argc > 2 && strcmp(argv[1], "left") == 0) {
        left(atoi(argv[2]));
    } else if (argc > 1 && strcmp(argv[1], "leaver") == 0) {
        must(lookup("go", 1, get(me.rank, PMIX_PARENT_ID)->data.proc->nspace, 0, true), "go");
    } else if (argc > 2 && strcmp(argv[1], "shared") == 0) {
        shared((uint32_t)atoi(argv[2]));
    } else if (argc > 2 && strcmp(argv[1], "late") == 0) {
        late(argv[2]);
    } else if (argc > 2 && strcmp(argv[1], "many") == 0) {
        many(argv[2]);
    } else if (argc > 1 && strcmp(argv[1], "parent") == 0) {
        parent(argc - 2, argv + 2);
    } else {
        fprintf(stderr, "pmixspawner: unknown role\n");
        _exit(98);
    }
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
