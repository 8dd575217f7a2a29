/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators out of groups and hosts, and their names. */
#define CT_FOLDER "api"
#include "api/api.h"

/* Communicator and group of a call. */
static int check(const char *call, ctran_comm_t handle, ctran_group_t members,
                 const ctran_comm_t *newcomm, struct ct_comm **comm, struct ct_group **group)
{
    int rc = ct_check_comm_for(call, handle, comm, newcomm, "newcomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    *group = ct_group_of((*comm)->p, members);
    return *group != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(*comm, CTRAN_ERR_GROUP, call, "%s",
                              members == CTRAN_GROUP_NULL ? "it is CTRAN_GROUP_NULL"
                                                          : "it was freed, or never was one");
}

int ct_api_give_comm(struct ct_comm *comm, int rc, const struct ct_comm *made, const char *call,
                     ctran_comm_t *newcomm)
{
    if (rc == CTRAN_ERR_GROUP) {
        return ct_api_raise(comm, rc, call, "it has members that the communicator has not");
    }
    if (rc == CTRAN_SUCCESS) {
        *newcomm = made != NULL ? ct_comm_handle(made) : CTRAN_COMM_NULL;
    }
    return ct_api_pass(comm, rc, call);
}

int ctran_comm_create(ctran_comm_t handle, ctran_group_t members, ctran_comm_t *newcomm)
{
    static const char call[] = "ctran_comm_create";
    struct ct_comm   *comm, *made;
    struct ct_group  *group;
    int               rc = check(call, handle, members, newcomm, &comm, &group);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_create(comm, group, &made);
    ct_api_met(&m, rc);
    return ct_api_give_comm(comm, rc, made, call, newcomm);
}

int ctran_comm_create_group(ctran_comm_t handle, ctran_group_t members, int tag,
                            ctran_comm_t *newcomm)
{
    static const char call[] = "ctran_comm_create_group";
    struct ct_comm   *comm, *made;
    struct ct_group  *group;
    int               rc = check(call, handle, members, newcomm, &comm, &group);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_intra(call, handle, &comm);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (tag < 0) {
        return ct_api_raise(comm, CTRAN_ERR_TAG, call, "tag is %d, must be 0 to %d", tag,
                            CTRAN_TAG_MAX);
    }
    struct ct_blocked b;
    ct_api_block(&b, call, comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = ct_comm_create_group(comm, group, tag, &made);
    ct_blocked_end(&b);
    return ct_api_give_comm(comm, rc, made, call, newcomm);
}

static int split_by_resource(struct ct_process *p, int split_type, const struct ct_info *info)
{
    static const int psets[] = {
        [CT_PSET_WORLD] = CT_SPLIT_WORLD, [CT_PSET_SELF] = CT_SPLIT_SELF, [CT_PSETS] = -1};
    char name[64] = ""; /* more than any has that there is */
    if (info == NULL) {
        return -1;
    }
    (void)ct_info_get(&p->infos, info, "mpi_hw_resource_type", name, sizeof name);
    if (name[0] != '\0' || split_type == CTRAN_COMM_TYPE_HW_GUIDED) {
        return ct_hw_find(name);
    }
    (void)ct_info_get(&p->infos, info, "mpi_pset_name", name, sizeof name);
    return psets[ct_api_find_pset(name)];
}

/* By what this rank is to be split: a kind of hardware, CT_SPLIT_, -1 for nothing. */
static int split_by(struct ct_process *p, int split_type, const struct ct_info *info)
{
    switch (split_type) {
    case CTRAN_COMM_TYPE_SHARED:
        return CT_HW_HOST;
    case CTRAN_COMM_TYPE_HW_UNGUIDED:
        return CT_SPLIT_UNGUIDED;
    case CTRAN_COMM_TYPE_HW_GUIDED:
    case CTRAN_COMM_TYPE_RESOURCE_GUIDED:
        return split_by_resource(p, split_type, info);
    default:
        return -1;
    }
}

/* An unguided split reports the kind of hardware in the caller's info object, except in
 * CTRAN_INFO_ENV, which never changes. */
static int tell_kind(struct ct_comm *comm, ctran_info_t handle, struct ct_info *info, int kind)
{
    return info == NULL || handle == CTRAN_INFO_ENV || kind < 0
               ? CTRAN_SUCCESS
               : ct_info_set(&comm->p->infos, info, "mpi_hw_resource_type",
                             ct_hw_name((enum ct_hw)kind));
}

int ctran_comm_split_type(ctran_comm_t handle, int split_type, int key, ctran_info_t info_handle,
                          ctran_comm_t *newcomm)
{
    static const char call[] = "ctran_comm_split_type";
    struct ct_comm   *comm, *made;
    struct ct_info   *info;
    int               rc = ct_check_comm_for(call, handle, &comm, newcomm, "newcomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (split_type != CTRAN_UNDEFINED &&
        (split_type < CTRAN_COMM_TYPE_SHARED || split_type > CTRAN_COMM_TYPE_RESOURCE_GUIDED)) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call,
                            "split_type is %d, must be a CTRAN_COMM_TYPE_ or CTRAN_UNDEFINED",
                            split_type);
    }
    rc = ct_check_hints(comm, call, info_handle, &info);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    int                   kind;
    struct ct_api_meeting m;
    ct_api_meet(&m, call, comm);
    rc = ct_comm_split_hardware(comm, split_by(comm->p, split_type, info), key, &kind, &made);
    ct_api_met(&m, rc);
    rc = rc == CTRAN_SUCCESS ? ct_api_take_hints(&made, info) : rc;
    if (rc == CTRAN_SUCCESS && made != NULL) {
        if (split_type == CTRAN_COMM_TYPE_HW_UNGUIDED) {
            rc = tell_kind(comm, info_handle, info, kind);
        }
        if (rc != CTRAN_SUCCESS) {
            ct_comm_release(made);
        }
    }
    return ct_api_give_comm(comm, rc, made, call, newcomm);
}

int ctran_comm_set_name(ctran_comm_t handle, const char *comm_name)
{
    static const char call[] = "ctran_comm_set_name";
    struct ct_comm   *comm;
    int               rc = ct_check_comm(call, handle, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (comm_name == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "comm_name is NULL");
    }
    ct_comm_set_name(comm, comm_name);
    return CTRAN_SUCCESS;
}

int ctran_comm_get_name(ctran_comm_t handle, char *comm_name, int *resultlen)
{
    static const char call[] = "ctran_comm_get_name";
    struct ct_comm   *comm;
    const bool        null = handle == CTRAN_COMM_NULL;
    int               rc = null ? ct_check_self(call, &comm) : ct_check_comm(call, handle, &comm);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (comm_name == NULL || resultlen == NULL) {
        return ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s is NULL",
                            comm_name == NULL ? "comm_name" : "resultlen");
    }
    if (null) {
        strcpy(comm_name, "CTRAN_COMM_NULL");
    } else {
        ct_comm_get_name(comm, comm_name);
    }
    *resultlen = (int)strlen(comm_name);
    return CTRAN_SUCCESS;
}
