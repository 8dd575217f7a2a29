/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe - what a PMIx server gives to a plain client: the few calls that ctran's start rests on,
 * and nothing else. Every rank puts a key of its own, commits, fences with data, gets every other
 * rank's key and compares it, fences again, finalizes. Then rank 0 prints what the job knows of
 * itself. Independent of ctran, so that a failure here is the server's or the set-up's.
 *
 * Run by mpirun.test and slurm.test; exit status 0 when all was as expected.
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const pmix_proc_t *me, const char *what, pmix_status_t rc)
{
    fprintf(stderr, "probe: rank %u: %s: %s\n", me->rank, what, PMIx_Error_string(rc));
    return EXIT_FAILURE;
}

/* A number about the whole job, 0 where the server has none. */
static uint32_t job_number(const pmix_proc_t *me, const char *key)
{
    pmix_proc_t   job;
    pmix_value_t *value = NULL;
    uint32_t      number = 0;

    PMIX_PROC_LOAD(&job, me->nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&job, key, NULL, 0, &value) == PMIX_SUCCESS && value != NULL) {
        if (value->type == PMIX_UINT32) {
            number = value->data.uint32;
        }
        PMIX_VALUE_RELEASE(value);
    }
    return number;
}

static pmix_status_t put_own(const pmix_proc_t *me)
{
    char          text[64];
    pmix_value_t  value;
    pmix_status_t rc;

    snprintf(text, sizeof text, "card of rank %u", me->rank);
    PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
    rc = PMIx_Put(PMIX_GLOBAL, "ctran.probe", &value);
    PMIX_VALUE_DESTRUCT(&value);
    return rc == PMIX_SUCCESS ? PMIx_Commit() : rc;
}

static pmix_status_t fence(const pmix_proc_t *me, bool data)
{
    pmix_proc_t   all;
    pmix_info_t   info;
    pmix_status_t rc;

    PMIX_PROC_LOAD(&all, me->nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &data, PMIX_BOOL);
    rc = PMIx_Fence(&all, 1, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

/* Gets the key of `rank` and compares it with what that rank must have put. */
static int check_peer(const pmix_proc_t *me, uint32_t rank)
{
    char          wanted[64];
    pmix_proc_t   peer;
    pmix_value_t *value = NULL;
    pmix_status_t rc;
    int           same;

    PMIX_PROC_LOAD(&peer, me->nspace, rank);
    rc = PMIx_Get(&peer, "ctran.probe", NULL, 0, &value);
    if (rc != PMIX_SUCCESS) {
        return fail(me, "get", rc);
    }
    snprintf(wanted, sizeof wanted, "card of rank %u", rank);
    same = value->type == PMIX_STRING && strcmp(value->data.string, wanted) == 0;
    if (!same) {
        fprintf(stderr, "probe: rank %u: wanted '%s', found '%s'\n", me->rank, wanted,
                value->type == PMIX_STRING ? value->data.string : "another type");
    }
    PMIX_VALUE_RELEASE(value);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int exchange(const pmix_proc_t *me, uint32_t size)
{
    pmix_status_t rc = put_own(me);

    if (rc != PMIX_SUCCESS) {
        return fail(me, "put and commit", rc);
    }
    rc = fence(me, true);
    if (rc != PMIX_SUCCESS) {
        return fail(me, "fence with data", rc);
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        if (check_peer(me, rank) != EXIT_SUCCESS) {
            return EXIT_FAILURE;
        }
    }
    rc = fence(me, false);
    return rc == PMIX_SUCCESS ? EXIT_SUCCESS : fail(me, "fence", rc);
}

int main(void)
{
    pmix_proc_t   me;
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    uint32_t      size;
    int           result;

    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "probe: PMIx_Init: %s\n", PMIx_Error_string(rc));
        return EXIT_FAILURE;
    }
    size = job_number(&me, PMIX_JOB_SIZE);
    if (size == 0) {
        return fail(&me, "no size of the job", PMIX_ERR_NOT_FOUND);
    }
    result = exchange(&me, size);
    if (result == EXIT_SUCCESS && me.rank == 0) {
        printf("probe: %u ranks, %u here, %u nodes: all keys found\n", size,
               job_number(&me, PMIX_LOCAL_SIZE), job_number(&me, PMIX_NUM_NODES));
    }
    rc = PMIx_Finalize(NULL, 0);
    return rc == PMIX_SUCCESS ? result : fail(&me, "PMIx_Finalize", rc);
}
