/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of processes: acknowledgement, revocation, agreement, and communicators of survivors. */
#define CT_FOLDER "api"
#include "api/api.h"
#include "ft/ft.h"

/* ---- who has failed -------------------------------------------------------------------------- */

static int give_group(struct ct_comm *comm, const char *call, int rc, struct ct_group *group,
                      ctran_group_t *out)
{
    if (rc == CTRAN_SUCCESS) {
        *out = ct_group_give(group);
    }
    return ct_api_pass(comm, rc, call);
}

int ctran_comm_get_failed(ctran_comm_t handle, ctran_group_t *failed)
{
    static const char call[] = "ctran_comm_get_failed";
    struct ct_comm   *comm;
    struct ct_group  *group;
    int               rc = ct_check_comm_for(call, handle, &comm, failed, "failedgrp");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_ft_failed(comm, &group);
    return give_group(comm, call, rc, group, failed);
}

int ctran_comm_ack_failed(ctran_comm_t handle, int num_to_ack, int *num_acked)
{
    static const char call[] = "ctran_comm_ack_failed";
    struct ct_comm   *comm;
    int               rc = ct_check_comm_for(call, handle, &comm, num_acked, "num_acked");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (num_to_ack < 0) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "num_to_ack is %d, must be >= 0",
                            num_to_ack);
    }
    *num_acked = (int)ct_ft_ack(comm, (uint32_t)num_to_ack);
    return CTRAN_SUCCESS;
}

int ctran_comm_failure_ack(ctran_comm_t handle)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm("ctran_comm_failure_ack", handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        (void)ct_ft_ack(comm, UINT32_MAX);
    }
    return rc;
}

int ctran_comm_failure_get_acked(ctran_comm_t handle, ctran_group_t *acked)
{
    static const char call[] = "ctran_comm_failure_get_acked";
    struct ct_comm   *comm;
    struct ct_group  *group;
    int               rc = ct_check_comm_for(call, handle, &comm, acked, "failedgrp");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_ft_acked(comm, &group);
    return give_group(comm, call, rc, group, acked);
}

/* ---- revocation ------------------------------------------------------------------------------ */

int ctran_comm_revoke(ctran_comm_t handle)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm("ctran_comm_revoke", handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        ct_ft_revoke(comm);
    }
    return rc;
}

/* It drives transfers once: a program that asks again and again learns of it. */
int ctran_comm_is_revoked(ctran_comm_t handle, int *flag)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm_for("ctran_comm_is_revoked", handle, &comm, flag, "flag");
    if (rc == CTRAN_SUCCESS) {
        (void)ct_domain_poll_once(comm->p);
        *flag = ct_comm_is_revoked(comm);
    }
    return rc;
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Waits for what has no handle, and ends it. */
static int finish(const char *call, struct ct_comm *comm, struct ct_request *request)
{
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    const int rc = ct_p2p_wait(comm->p, request);
    ct_api_met(&m, rc);
    request->release(comm->p, request);
    return rc;
}

int ctran_comm_agree(ctran_comm_t handle, int *flag)
{
    static const char  call[] = "ctran_comm_agree";
    struct ct_comm    *comm;
    struct ct_request *request;
    int                rc = ct_check_comm_for(call, handle, &comm, flag, "flag");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_ft_agree(comm, flag, &request);
    return ct_api_pass(comm, rc == CTRAN_SUCCESS ? finish(call, comm, request) : rc, call);
}

int ctran_comm_iagree(ctran_comm_t handle, int *flag, ctran_request_t *request)
{
    static const char call[] = "ctran_comm_iagree";
    struct ct_comm   *comm;
    int               rc = ct_check_comm_for(call, handle, &comm, flag, "flag");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, request, "request");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    return ct_api_pass(comm, ct_ft_agree(comm, flag, request), call);
}

/* ---- shrink ---------------------------------------------------------------------------------- */

int ctran_comm_shrink(ctran_comm_t handle, ctran_comm_t *newcomm)
{
    static const char  call[] = "ctran_comm_shrink";
    struct ct_comm    *comm, *made;
    struct ct_request *request;
    int                rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_ft_shrink(comm, &made, &request);
    if (rc == CTRAN_SUCCESS) {
        ct_comm_hold(made);
        rc = finish(call, comm, request);
        if (rc == CTRAN_SUCCESS) { /* one that stayed void has no members in one of its groups */
            *newcomm = made->open ? ct_comm_handle(made) : CTRAN_COMM_NULL;
        }
        ct_comm_drop(made);
    }
    return ct_api_pass(comm, rc, call);
}

int ctran_comm_ishrink(ctran_comm_t handle, ctran_comm_t *newcomm, ctran_request_t *request)
{
    static const char call[] = "ctran_comm_ishrink";
    struct ct_comm   *comm, *made;
    int               rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(comm, call, request, "request");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_ft_shrink(comm, &made, request);
    if (rc == CTRAN_SUCCESS) {
        *newcomm = made;
    }
    return ct_api_pass(comm, rc, call);
}
