/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and info objects. */
#define CT_FOLDER "api"
#include "api/api.h"

int ct_check_hints(struct ct_comm *comm, const char *call, ctran_info_t handle,
                   struct ct_info **info)
{
    struct ct_pick forced[CT_COLL_KINDS];
    char           list[CTRAN_MAX_INFO_VAL], why[1024];
    int            rc = ct_check_info(comm, call, handle, info);
    if (rc == CTRAN_SUCCESS && *info != NULL &&
        ct_info_get(&comm->p->infos, *info, CT_HINT_COLL_ALGORITHM, list, sizeof list) >= 0 &&
        !ct_forced_parse(list, forced, why, sizeof why)) {
        rc = ct_api_raise(comm, CTRAN_ERR_INFO_VALUE, call, "%s is \"%s\": %s",
                          CT_HINT_COLL_ALGORITHM, list, why);
    }
    return rc;
}

int ct_api_take_hints(struct ct_comm **made, const struct ct_info *info)
{
    int rc = *made != NULL ? ct_hints_take(*made, info) : CTRAN_SUCCESS;
    if (rc != CTRAN_SUCCESS) {
        ct_comm_release(*made);
        *made = NULL;
    }
    return rc;
}

int ctran_comm_set_info(ctran_comm_t handle, ctran_info_t info_handle)
{
    static const char call[] = "ctran_comm_set_info";
    struct ct_comm   *comm;
    struct ct_info   *info;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_hints(comm, call, info_handle, &info);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_api_pass(comm, ct_hints_take(comm, info), call);
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
    struct ct_info *made = ct_hints_tell(comm);
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
        rc = ct_check_hints(comm, call, info_handle, &info);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    rc = ct_comm_dup(comm, &made);
    rc = rc == CTRAN_SUCCESS ? ct_api_take_hints(&made, info) : rc;
    if (rc == CTRAN_SUCCESS) {
        *newcomm = ct_comm_handle(made);
    }
    return ct_api_pass(comm, rc, call);
}
