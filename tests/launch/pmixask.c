/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmixask - PMIx_Query_info against the launcher: each argument is a question, asked by rank 0 when
 * all have met (unless ALONE is set); what comes back is printed.
 *
 *   names            "name" if the only namespace is this job's
 *   status           the job's state as PMIx spells it
 *   table, local     a line for each process: rank, host, state, "lives" or "gone", its program
 *   ended            nothing, once the last rank is no more
 *   sets             how many process sets, and their names
 *   keys             what may be asked
 *   none, other, some, twice   the status of a query that is not offered, of one about a namespace
 *                    that is not there, of a known key with an unknown one, and of one key twice
 */
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

/* Asks anew each time: libpmix would give what it has got before. */
static pmix_status_t ask(const char *key, const char *also, const char *nspace, pmix_info_t **info,
                         size_t *n)
{
    pmix_query_t  q;
    pmix_status_t rc;
    bool          yes = true;
    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    must(rc, "PMIX_ARGV_APPEND");
    if (also != NULL) {
        PMIX_ARGV_APPEND(rc, q.keys, also);
        must(rc, "PMIX_ARGV_APPEND");
    }
    PMIX_QUERY_QUALIFIERS_CREATE(&q, nspace != NULL ? 2 : 1);
    PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
    if (nspace != NULL) {
        PMIX_INFO_LOAD(&q.qualifiers[1], PMIX_NSPACE, nspace, PMIX_STRING);
    }
    *info = NULL;
    *n = 0;
    rc = PMIx_Query_info(&q, 1, info, n);
    PMIX_QUERY_DESTRUCT(&q);
    return rc;
}

static const pmix_value_t *want(const char *key, const char *nspace, pmix_data_type_t type)
{
    pmix_info_t *info;
    size_t       n;
    must(ask(key, NULL, nspace, &info, &n), key);
    if (n != 1 || !PMIX_CHECK_KEY(&info[0], key) || info[0].value.type != type) {
        printf("%s: %zu values, the first of type %s\n", key, n,
               n > 0 ? PMIx_Data_type_string(info[0].value.type) : "-");
        exit(99);
    }
    return &info[0].value; /* it is kept */
}

static const char *state_word(pmix_proc_state_t state)
{
    return state == PMIX_PROC_STATE_CONNECTED        ? "connected"
           : state == PMIX_PROC_STATE_RUNNING        ? "running"
           : state == PMIX_PROC_STATE_TERMINATED     ? "ended"
           : state == PMIX_PROC_STATE_ABORTED_BY_SIG ? "killed"
           : state == PMIX_PROC_STATE_UNDEF          ? "unknown"
                                                     : "otherwise";
}

static void await_end(void)
{
    pmix_proc_state_t state;
    do {
        const pmix_data_array_t *a =
            want(PMIX_QUERY_PROC_TABLE, me.nspace, PMIX_DATA_ARRAY)->data.darray;
        state = ((const pmix_proc_info_t *)a->array)[a->size - 1].state;
    } while (state != PMIX_PROC_STATE_TERMINATED);
}

static void print_table(const char *key)
{
    const pmix_data_array_t *a = want(key, me.nspace, PMIX_DATA_ARRAY)->data.darray;
    const pmix_proc_info_t  *p = a->array;
    if (a->type != PMIX_PROC_INFO) {
        printf("a table of %s\n", PMIx_Data_type_string(a->type));
        exit(99);
    }
    for (size_t i = 0; i < a->size; i++) {
        printf("%u %s %s %s %s\n", p[i].proc.rank, p[i].hostname, state_word(p[i].state),
               p[i].pid > 0 && kill(p[i].pid, 0) == 0 ? "lives" : "gone", p[i].executable_name);
    }
}

static void print_status(const char *key, const char *also, const char *nspace)
{
    pmix_info_t *info;
    size_t       n;
    printf("%s\n", PMIx_Error_string(ask(key, also, nspace, &info, &n)));
}

static void answer(const char *question)
{
    if (strcmp(question, "names") == 0) {
        const char *names = want(PMIX_QUERY_NAMESPACES, NULL, PMIX_STRING)->data.string;
        printf("%s\n", strcmp(names, me.nspace) == 0 ? "name" : names);
    } else if (strcmp(question, "status") == 0) {
        pmix_status_t rc = want(PMIX_QUERY_JOB_STATUS, me.nspace, PMIX_STATUS)->data.status;
        printf("%s\n", PMIx_Error_string(rc));
    } else if (strcmp(question, "table") == 0) {
        print_table(PMIX_QUERY_PROC_TABLE);
    } else if (strcmp(question, "local") == 0) {
        print_table(PMIX_QUERY_LOCAL_PROC_TABLE);
    } else if (strcmp(question, "ended") == 0) {
        await_end();
    } else if (strcmp(question, "sets") == 0) {
        printf("%zu:", want(PMIX_QUERY_NUM_PSETS, NULL, PMIX_SIZE)->data.size);
        printf("%s\n", want(PMIX_QUERY_PSET_NAMES, NULL, PMIX_STRING)->data.string);
    } else if (strcmp(question, "keys") == 0) {
        printf("%s\n", want(PMIX_QUERY_SUPPORTED_KEYS, NULL, PMIX_STRING)->data.string);
    } else if (strcmp(question, "none") == 0) {
        print_status("no.such.key", NULL, NULL);
    } else if (strcmp(question, "other") == 0) {
        print_status(PMIX_QUERY_PROC_TABLE, NULL, "nobody");
    } else if (strcmp(question, "some") == 0) {
        print_status(PMIX_QUERY_NAMESPACES, "no.such.key", NULL);
    } else if (strcmp(question, "twice") == 0) {
        print_status(PMIX_QUERY_PROC_TABLE, PMIX_QUERY_PROC_TABLE, NULL);
    } else {
        printf("there is no question %s\n", question);
        exit(99);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    bool alone = getenv("ALONE") != NULL;
    must(alone ? PMIX_SUCCESS : PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    for (int i = 1; i < argc && me.rank == 0; i++) {
        answer(argv[i]);
    }
    must(alone ? PMIX_SUCCESS : PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
