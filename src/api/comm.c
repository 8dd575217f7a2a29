/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_comm_size(ctran_comm_t handle, int *size)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm_for("ctran_comm_size", handle, &comm, size, "size");
    if (rc == CTRAN_SUCCESS) {
        *size = (int)comm->run.n;
    }
    return rc;
}

int ctran_comm_rank(ctran_comm_t handle, int *rank)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm_for("ctran_comm_rank", handle, &comm, rank, "rank");
    if (rc == CTRAN_SUCCESS) {
        *rank = (int)comm->run.me;
    }
    return rc;
}

/* Of two different communicators; those of different kinds have nothing in common. */
static int compare(const struct ct_comm *a, const struct ct_comm *b, int *result)
{
    int local = CTRAN_UNEQUAL, remote = CTRAN_IDENT;
    if ((a->remote == NULL) != (b->remote == NULL)) {
        *result = CTRAN_UNEQUAL;
        return CTRAN_SUCCESS;
    }
    int rc = ct_group_compare(a->group, b->group, &local);
    if (rc == CTRAN_SUCCESS && a->remote != NULL) {
        rc = ct_group_compare(a->remote, b->remote, &remote);
    }
    if (rc == CTRAN_SUCCESS) {
        *result = local == CTRAN_UNEQUAL || remote == CTRAN_UNEQUAL ? CTRAN_UNEQUAL
                  : local == CTRAN_IDENT && remote == CTRAN_IDENT   ? CTRAN_CONGRUENT
                                                                    : CTRAN_SIMILAR;
    }
    return rc;
}

int ctran_comm_compare(ctran_comm_t comm1, ctran_comm_t comm2, int *result)
{
    static const char call[] = "ctran_comm_compare";
    struct ct_comm   *a, *b;
    int               rc = ct_check_comm_for(call, comm1, &a, result, "result");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_comm(call, comm2, &b);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (a == b) {
        *result = CTRAN_IDENT;
        return CTRAN_SUCCESS;
    }
    rc = compare(a, b, result);
    return ct_api_pass(a, rc, call);
}

int ctran_comm_dup(ctran_comm_t handle, ctran_comm_t *newcomm)
{
    static const char call[] = "ctran_comm_dup";
    struct ct_comm   *comm, *made;
    int               rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_dup(comm, &made);
    ct_api_met(&m, rc);
    if (rc == CTRAN_SUCCESS) {
        *newcomm = ct_comm_handle(made);
    }
    return ct_api_pass(comm, rc, call);
}

static int idup(const char *call, ctran_comm_t handle, ctran_info_t info_handle,
                ctran_comm_t *newcomm, ctran_request_t *request)
{
    struct ct_comm *comm, *made;
    struct ct_info *info;
    int             rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, request, "request");
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_hints(comm, call, info_handle, &info);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_comm_idup(comm, info, &made, request);
    if (rc == CTRAN_SUCCESS) {
        *newcomm = made;
    }
    return ct_api_pass(comm, rc, call);
}

int ctran_comm_idup(ctran_comm_t comm, ctran_comm_t *newcomm, ctran_request_t *request)
{
    return idup("ctran_comm_idup", comm, CTRAN_INFO_NULL, newcomm, request);
}

int ctran_comm_idup_with_info(ctran_comm_t comm, ctran_info_t info, ctran_comm_t *newcomm,
                              ctran_request_t *request)
{
    return idup("ctran_comm_idup_with_info", comm, info, newcomm, request);
}

int ctran_comm_split(ctran_comm_t handle, int color, int key, ctran_comm_t *newcomm)
{
    static const char call[] = "ctran_comm_split";
    struct ct_comm   *comm, *made;
    int               rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (color < 0 && color != CTRAN_UNDEFINED) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                            "color is %d, must be >= 0 or CTRAN_UNDEFINED", color);
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_split(comm, color, key, &made);
    ct_api_met(&m, rc);
    if (rc == CTRAN_SUCCESS) {
        *newcomm = made != NULL ? ct_comm_handle(made) : CTRAN_COMM_NULL;
    }
    return ct_api_pass(comm, rc, call);
}

static int free_comm(const char *call, ctran_comm_t *handle)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm(call, handle != NULL ? *handle : CTRAN_COMM_NULL, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (*handle == CTRAN_COMM_WORLD || *handle == CTRAN_COMM_SELF) {
        return ct_api_raise(comm, CTRAN_ERR_COMM, call,
                            "CTRAN_COMM_WORLD and CTRAN_COMM_SELF cannot be freed");
    }
    rc = ct_attr_delete_all(&comm->attrs);
    if (rc != CTRAN_SUCCESS) {
        return ct_api_pass(comm, rc, call);
    }
    ct_api_end_comm_buffer(comm);
    ct_comm_release(comm);
    *handle = CTRAN_COMM_NULL;
    return CTRAN_SUCCESS;
}

int ctran_comm_free(ctran_comm_t *comm)
{
    return free_comm("ctran_comm_free", comm);
}

/* All communication has been completed by the caller: there is nothing more to wait for. */
int ctran_comm_disconnect(ctran_comm_t *comm)
{
    return free_comm("ctran_comm_disconnect", comm);
}
