/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups. */
#define CT_FOLDER "api"
#include <stdlib.h>

#include "api/api.h"

static int check_group(const char *call, ctran_group_t handle, struct ct_group **out)
{
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    *out = ct_group_of(p, handle);
    if (*out != NULL) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(ct_comm_self(p), CTRAN_ERR_GROUP, call, "%s",
                        handle == CTRAN_GROUP_NULL ? "it is CTRAN_GROUP_NULL"
                                                   : "it was freed, or never was one");
}

/* Like check_group, for a call that stores a result at `out`, its argument `name`. */
static int check_group_for(const char *call, ctran_group_t handle, struct ct_group **group,
                           const void *out, const char *name)
{
    int rc = check_group(call, handle, group);
    return rc == CTRAN_SUCCESS ? ct_check_out(ct_comm_self((*group)->p), call, out, name) : rc;
}

static int check_pair(const char *call, ctran_group_t group1, ctran_group_t group2,
                      struct ct_group **a, struct ct_group **b, const void *out, const char *name)
{
    int rc = check_group_for(call, group1, a, out, name);
    return rc == CTRAN_SUCCESS ? check_group(call, group2, b) : rc;
}

/* A group that has been made, or not, becomes the user's. */
static int give(struct ct_process *p, int rc, struct ct_group *made, const char *call,
                ctran_group_t *newgroup)
{
    if (rc == CTRAN_SUCCESS) {
        *newgroup = ct_group_give(made);
    }
    return ct_api_pass(ct_comm_self(p), rc, call);
}

int ctran_comm_group(ctran_comm_t handle, ctran_group_t *group)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm_for("ctran_comm_group", handle, &comm, group, "group");
    if (rc == CTRAN_SUCCESS) {
        *group = ct_group_give(ct_group_hold(comm->group));
    }
    return rc;
}

int ctran_group_size(ctran_group_t handle, int *size)
{
    struct ct_group *group;
    int              rc = check_group_for("ctran_group_size", handle, &group, size, "size");
    if (rc == CTRAN_SUCCESS) {
        *size = (int)group->n;
    }
    return rc;
}

int ctran_group_rank(ctran_group_t handle, int *rank)
{
    struct ct_group *group;
    int              rc = check_group_for("ctran_group_rank", handle, &group, rank, "rank");
    if (rc == CTRAN_SUCCESS) {
        *rank = ct_group_find(group, ct_job_me(group->p->job));
    }
    return rc;
}

int ctran_group_compare(ctran_group_t group1, ctran_group_t group2, int *result)
{
    static const char call[] = "ctran_group_compare";
    struct ct_group  *a, *b;
    int               rc = check_pair(call, group1, group2, &a, &b, result, "result");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return ct_api_pass(ct_comm_self(a->p), ct_group_compare(a, b, result), call);
}

int ctran_group_free(ctran_group_t *handle)
{
    struct ct_group *group;
    int rc = check_group("ctran_group_free", handle != NULL ? *handle : CTRAN_GROUP_NULL, &group);
    if (rc == CTRAN_SUCCESS) {
        ct_group_release(group);
        *handle = CTRAN_GROUP_NULL;
    }
    return rc;
}

/* ---- lists of ranks -------------------------------------------------------------------------- */

static int check_array(const struct ct_group *group, const char *call, int n, const void *array)
{
    if (n < 0) {
        return ct_api_raise(ct_comm_self(group->p), CTRAN_ERR_ARG, call, "n is %d, must be >= 0",
                            n);
    }
    if (n > 0 && array == NULL) {
        return ct_api_raise(ct_comm_self(group->p), CTRAN_ERR_ARG, call,
                            "an array for n = %d is NULL", n);
    }
    return CTRAN_SUCCESS;
}

static int check_rank(const struct ct_group *group, const char *call, int rank)
{
    if (rank >= 0 && (uint32_t)rank < group->n) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(ct_comm_self(group->p), CTRAN_ERR_RANK, call,
                        "rank is %d, the group has %u members", rank, group->n);
}

int ctran_group_translate_ranks(ctran_group_t group1, int n, const int ranks1[],
                                ctran_group_t group2, int ranks2[])
{
    static const char call[] = "ctran_group_translate_ranks";
    struct ct_group  *a, *b;
    int               rc = check_group(call, group1, &a);
    if (rc == CTRAN_SUCCESS) {
        rc = check_group(call, group2, &b);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(a, call, n, ranks1);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(a, call, n, ranks2);
    }
    for (int i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        rc = ranks1[i] == CTRAN_PROC_NULL ? rc : check_rank(a, call, ranks1[i]);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return ct_api_pass(ct_comm_self(a->p), ct_group_translate(a, n, ranks1, b, ranks2), call);
}

/* Ranks of a group as they are listed, each valid and none twice. */
struct picks {
    struct ct_group *group;
    const char      *call;
    uint32_t         n;
    int             *ranks; /* at most as many as the group has */
    bool            *taken; /* by rank */
};

static int picks_open(struct picks *picks, struct ct_group *group, const char *call)
{
    *picks = (struct picks){
        .group = group,
        .call = call,
        .ranks = malloc((group->n + 1) * sizeof *picks->ranks),
        .taken = calloc(group->n + 1, sizeof *picks->taken),
    };
    return picks->ranks != NULL && picks->taken != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(ct_comm_self(group->p), CTRAN_ERR_NO_MEM, call, "for %u ranks",
                              group->n);
}

static int picks_add(struct picks *picks, int rank)
{
    int rc = check_rank(picks->group, picks->call, rank);
    if (rc == CTRAN_SUCCESS && picks->taken[rank]) {
        rc = ct_api_raise(ct_comm_self(picks->group->p), CTRAN_ERR_RANK, picks->call,
                          "rank %d comes twice", rank);
    }
    if (rc == CTRAN_SUCCESS) {
        picks->taken[rank] = true;
        picks->ranks[picks->n++] = rank;
    }
    return rc;
}

static int picks_add_range(struct picks *picks, const int range[3])
{
    const int64_t first = range[0], last = range[1], stride = range[2];
    if (stride == 0 || (stride > 0 && first > last) || (stride < 0 && first < last)) {
        return ct_api_raise(ct_comm_self(picks->group->p), CTRAN_ERR_ARG, picks->call,
                            "range {%d, %d, %d}: its stride does not lead from first to last",
                            range[0], range[1], range[2]);
    }
    int rc = CTRAN_SUCCESS;
    for (int64_t rank = first; rc == CTRAN_SUCCESS && (stride > 0 ? rank <= last : rank >= last);
         rank += stride) {
        rc = picks_add(picks, (int)rank);
    }
    return rc;
}

typedef int (*choice)(struct ct_group *, uint32_t, const int *, struct ct_group **);

/* incl or excl of what has been picked, unless that has failed. */
static int picks_close(struct picks *picks, int rc, choice choose, ctran_group_t *newgroup)
{
    struct ct_group *made = NULL;
    if (rc == CTRAN_SUCCESS) {
        rc = choose(picks->group, picks->n, picks->ranks, &made);
        rc = give(picks->group->p, rc, made, picks->call, newgroup);
    }
    free(picks->ranks);
    free(picks->taken);
    return rc;
}

static int by_ranks(const char *call, ctran_group_t handle, int n, const int ranks[], choice choose,
                    ctran_group_t *newgroup)
{
    struct ct_group *group;
    struct picks     picks;
    int              rc = check_group_for(call, handle, &group, newgroup, "newgroup");
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(group, call, n, ranks);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = picks_open(&picks, group, call);
    for (int i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        rc = picks_add(&picks, ranks[i]);
    }
    return picks_close(&picks, rc, choose, newgroup);
}

static int by_ranges(const char *call, ctran_group_t handle, int n, int ranges[][3], choice choose,
                     ctran_group_t *newgroup)
{
    struct ct_group *group;
    struct picks     picks;
    int              rc = check_group_for(call, handle, &group, newgroup, "newgroup");
    if (rc == CTRAN_SUCCESS) {
        rc = check_array(group, call, n, ranges);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = picks_open(&picks, group, call);
    for (int i = 0; rc == CTRAN_SUCCESS && i < n; i++) {
        rc = picks_add_range(&picks, ranges[i]);
    }
    return picks_close(&picks, rc, choose, newgroup);
}

int ctran_group_incl(ctran_group_t group, int n, const int ranks[], ctran_group_t *newgroup)
{
    return by_ranks("ctran_group_incl", group, n, ranks, ct_group_incl, newgroup);
}

int ctran_group_excl(ctran_group_t group, int n, const int ranks[], ctran_group_t *newgroup)
{
    return by_ranks("ctran_group_excl", group, n, ranks, ct_group_excl, newgroup);
}

int ctran_group_range_incl(ctran_group_t group, int n, int ranges[][3], ctran_group_t *newgroup)
{
    return by_ranges("ctran_group_range_incl", group, n, ranges, ct_group_incl, newgroup);
}

int ctran_group_range_excl(ctran_group_t group, int n, int ranges[][3], ctran_group_t *newgroup)
{
    return by_ranges("ctran_group_range_excl", group, n, ranges, ct_group_excl, newgroup);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static int combine(const char *call, ctran_group_t group1, ctran_group_t group2,
                   enum ct_group_set what, ctran_group_t *newgroup)
{
    struct ct_group *a, *b, *made = NULL;
    int              rc = check_pair(call, group1, group2, &a, &b, newgroup, "newgroup");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_group_combine(a, b, what, &made);
    return give(a->p, rc, made, call, newgroup);
}

int ctran_group_union(ctran_group_t group1, ctran_group_t group2, ctran_group_t *newgroup)
{
    return combine("ctran_group_union", group1, group2, CT_GROUP_UNION, newgroup);
}

int ctran_group_intersection(ctran_group_t group1, ctran_group_t group2, ctran_group_t *newgroup)
{
    return combine("ctran_group_intersection", group1, group2, CT_GROUP_INTERSECTION, newgroup);
}

int ctran_group_difference(ctran_group_t group1, ctran_group_t group2, ctran_group_t *newgroup)
{
    return combine("ctran_group_difference", group1, group2, CT_GROUP_DIFFERENCE, newgroup);
}
