/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and info objects. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_comm_set_info(ctran_comm_t handle, ctran_info_t info_handle)
{
    static const char call[] = "ctran_comm_set_info";
    struct ct_comm   *comm;
    struct ct_info   *info;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_info(comm, call, info_handle, &info);
    }
    if (rc == CTRAN_SUCCESS) {
        comm->hints = ct_hints_update(comm->p, comm->hints, info);
    }
    return rc;
}

int ctran_comm_get_info(ctran_comm_t handle, ctran_info_t *info_used)
{
    static const char call[] = "ctran_comm_get_info";
    struct ct_comm   *comm;
    int               rc = ct_check_comm_for(call, handle, &comm, info_used, "info_used");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_info *made = ct_hints_tell(comm->p, comm->hints);
    if (made == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_NO_MEM, call, "for an info object");
    }
    *info_used = made;
    return CTRAN_SUCCESS;
}

int ctran_comm_dup_with_info(ctran_comm_t handle, ctran_info_t info_handle, ctran_comm_t *newcomm)
{
    static const char call[] = "ctran_comm_dup_with_info";
    struct ct_comm   *comm, *made;
    struct ct_info   *info;
    int               rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_info(comm, call, info_handle, &info);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_comm_dup(comm, &made);
    if (rc == CTRAN_SUCCESS) {
        made->hints = ct_hints_update(comm->p, made->hints, info);
        *newcomm = ct_comm_handle(made);
    }
    return ct_api_pass(comm, rc, call);
}
