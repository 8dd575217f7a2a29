/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmixnotify - events of ranks (PMIx_Notify_event) against the launcher. Rank 0 tells some, each
 * with a number among its words: 1 to its node, 2 to the last rank, 3 to all of the job, 4 to
 * everybody, 6 with more words than other nodes are told, and 5 to all of the session. Every other
 * rank prints the numbers that it has got, in that order, when it has the last.
 *
 * flood COUNT: every rank says who its parent is; after a line of input rank 0 tells so many long
 * events, a burst when the last rank has told that it has the one before, and waits for another.
 * slow COUNT: the same, and rank 1 says when it has them all.
 */
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

enum {
    CODE = PMIX_EXTERNAL_ERR_BASE - 7,
    LAST = 5,
    FLOOD = 7,
    LONG = 60000,
    BURST = 50,
    MOST = 64
};

static const char NUMBER[] = "test.number";

static pmix_proc_t me;
static sem_t       over;
static uint32_t    got[MOST], ngot; /* on libpmix's thread, until over */
static uint32_t    enough;          /* of a flood; 0: there is none */
static bool        is_slow;

static void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        printf("rank %u: %s gave %s\n", me.rank, what, PMIx_Error_string(rc));
        fflush(stdout);
        _exit(99);
    }
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)results, (void)nresults;
    uint32_t number = 0;
    for (size_t i = 0; i < ninfo; i++) {
        number = PMIX_CHECK_KEY(&info[i], NUMBER) ? info[i].value.data.uint32 : number;
    }
    bool right = code == CODE && source->rank == 0 && strcmp(source->nspace, me.nspace) == 0;
    bool counts = enough > 0 && me.rank > 0 ? source->rank == 0 : source->rank != me.rank;
    if (counts) {
        got[ngot++ % MOST] = right ? number : 999;
    }
    if (enough > 0 ? counts && (me.rank == 0 || ngot % BURST == 0) : number == LAST) {
        sem_post(&over);
    }
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    }
}

static void fence(void)
{
    must(PMIx_Fence(NULL, 0, NULL, 0), "PMIx_Fence");
}

/* `len` bytes beside the number; `target`: of PMIX_RANGE_CUSTOM. */
static pmix_status_t tell(uint32_t number, pmix_data_range_t range, pmix_rank_t target, size_t len)
{
    pmix_info_t        info[3];
    pmix_proc_t        who;
    pmix_data_array_t  array = {.type = PMIX_PROC, .size = 1, .array = &who};
    pmix_byte_object_t more = {.bytes = calloc(1, len + 1), .size = len};
    size_t             n = 2;
    PMIX_LOAD_PROCID(&who, me.nspace, target);
    PMIX_INFO_LOAD(&info[0], NUMBER, &number, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], "test.more", &more, PMIX_BYTE_OBJECT);
    if (range == PMIX_RANGE_CUSTOM) {
        PMIX_INFO_LOAD(&info[2], PMIX_EVENT_CUSTOM_RANGE, &array, PMIX_DATA_ARRAY);
        n = 3;
    }
    pmix_status_t rc = PMIx_Notify_event(CODE, &me, range, info, n, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    free(more.bytes);
    return rc;
}

static void await_line(void)
{
    int c;
    do {
        c = getchar();
    } while (c != '\n' && c != EOF);
}

static void await_event(void)
{
    while (sem_wait(&over) != 0) {
    }
}

static void flood(bool is_last)
{
    printf("%u %d\n", me.rank, (int)getppid());
    fflush(stdout);
    if (me.rank == 0) {
        await_line();
    }
    for (uint32_t i = 0; i < enough / BURST && (me.rank == 0 || is_last || is_slow); i++) {
        for (int k = 0; me.rank == 0 && k < BURST; k++) {
            must(tell(FLOOD, PMIX_RANGE_NAMESPACE, 0, LONG), "an event of many");
        }
        await_event();
        if (is_last) {
            must(tell(FLOOD, PMIX_RANGE_NAMESPACE, 0, 0), "that a burst has come");
        }
    }
    if (is_slow && me.rank == 1) {
        printf("all\n");
        fflush(stdout);
    }
    if (me.rank == 0) {
        printf("enough\n");
        fflush(stdout);
        await_line();
    }
}

int main(int argc, char **argv)
{
    pmix_status_t code = CODE;
    pmix_value_t *size;
    pmix_proc_t   all;
    enough = argc == 3 ? (uint32_t)atoi(argv[2]) : 0;
    is_slow = enough > 0 && strcmp(argv[1], "slow") == 0;
    sem_init(&over, 0, 0);
    must(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must(PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size), PMIX_JOB_SIZE);
    if (me.rank > 0 || enough > 0) {
        pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
        must(rc >= 0 ? PMIX_SUCCESS : rc, "PMIx_Register_event_handler");
    }
    fence();
    if (enough > 0) {
        flood(me.rank + 1 == size->data.uint32);
    } else if (me.rank == 0) {
        must(tell(1, PMIX_RANGE_LOCAL, 0, 0), "an event of the node");
        must(tell(2, PMIX_RANGE_CUSTOM, size->data.uint32 - 1, 0), "an event of one rank");
        must(tell(3, PMIX_RANGE_NAMESPACE, 0, 1000), "an event of the job");
        must(tell(4, PMIX_RANGE_GLOBAL, 0, 0), "an event of all");
        must(tell(6, PMIX_RANGE_NAMESPACE, 0, 1 << 17), "too much of an event");
        must(tell(LAST, PMIX_RANGE_SESSION, 0, 0), "the last event");
    } else {
        await_event();
        printf("rank %u:", me.rank);
        for (uint32_t i = 0; i < ngot; i++) {
            printf(" %u", got[i]);
        }
        printf("\n");
    }
    fflush(stdout);
    fence();
    must(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}
