/* SPDX-License-Identifier: BSD-3-Clause */
/* Inter-communicators: making them, merging them, and what they have besides others. */
#define CT_FOLDER "api"
#include "api/api.h"

int ctran_comm_test_inter(ctran_comm_t handle, int *flag)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm_for("ctran_comm_test_inter", handle, &comm, flag, "flag");
    if (rc == CTRAN_SUCCESS) {
        *flag = comm->remote != NULL;
    }
    return rc;
}

static int check_inter(const char *call, ctran_comm_t handle, struct ct_comm **comm,
                       const void *out, const char *name)
{
    int rc = ct_check_comm_for(call, handle, comm, out, name);
    if (rc == CTRAN_SUCCESS && (*comm)->remote == NULL) {
        rc = ct_api_raise(*comm, CTRAN_ERR_COMM, call,
                          "it is an intra-communicator, and must be an inter-communicator");
    }
    return rc;
}

int ctran_comm_remote_size(ctran_comm_t handle, int *size)
{
    struct ct_comm *comm;
    int             rc = check_inter("ctran_comm_remote_size", handle, &comm, size, "size");
    if (rc == CTRAN_SUCCESS) {
        *size = (int)comm->remote->n;
    }
    return rc;
}

int ctran_comm_remote_group(ctran_comm_t handle, ctran_group_t *group)
{
    struct ct_comm *comm;
    int             rc = check_inter("ctran_comm_remote_group", handle, &comm, group, "group");
    if (rc == CTRAN_SUCCESS) {
        *group = ct_group_give(ct_group_hold(comm->remote));
    }
    return rc;
}

/* The arguments that count at the leader alone. */
static int check_peer(const char *call, ctran_comm_t peer_comm, int remote_leader, int tag,
                      struct ct_comm **peer)
{
    int rc = ct_check_comm(call, peer_comm, peer);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const uint32_t n = ct_comm_peers(*peer)->n;
    if (remote_leader < 0 || (uint32_t)remote_leader >= n) {
        return ct_api_raise(*peer, CTRAN_ERR_RANK, call,
                            "remote_leader is %d, peer_comm has ranks 0 to %u", remote_leader,
                            n - 1);
    }
    if (tag < 0) {
        return ct_api_raise(*peer, CTRAN_ERR_TAG, call, "tag is %d, must be 0 to %d", tag,
                            CTRAN_TAG_MAX);
    }
    return CTRAN_SUCCESS;
}

int ctran_intercomm_create(ctran_comm_t local_comm, int local_leader, ctran_comm_t peer_comm,
                           int remote_leader, int tag, ctran_comm_t *newintercomm)
{
    static const char call[] = "ctran_intercomm_create";
    struct ct_comm   *local, *peer = NULL, *made = NULL;
    int               rc = ct_check_intra(call, local_comm, &local), bad = CTRAN_SUCCESS;
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(local, call, newintercomm, "newintercomm");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (local_leader < 0 || (uint32_t)local_leader >= local->run.n) {
        return ct_api_raise(local, CTRAN_ERR_RANK, call,
                            "local_leader is %d, local_comm has ranks 0 to %u", local_leader,
                            local->run.n - 1);
    }
    if ((uint32_t)local_leader == local->run.me) {
        bad = check_peer(call, peer_comm, remote_leader, tag, &peer);
    }
    struct ct_blocked b;
    ct_api_block(&b, call, local, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = ct_comm_meet(local, (uint32_t)local_leader, peer, remote_leader, tag, bad, &made);
    ct_blocked_end(&b);
    if (bad != CTRAN_SUCCESS) {
        return bad; /* the others have it now, and a handler has seen it */
    }
    if (rc == CTRAN_ERR_GROUP) {
        return ct_api_raise(local, rc, call, "the two groups have a process in common");
    }
    return ct_api_give_comm(local, rc, made, call, newintercomm);
}

int ctran_intercomm_merge(ctran_comm_t intercomm, int high, ctran_comm_t *newintracomm)
{
    static const char call[] = "ctran_intercomm_merge";
    struct ct_comm   *comm, *made = NULL;
    int               rc = check_inter(call, intercomm, &comm, newintracomm, "newintracomm");
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_blocked b;
    ct_api_block(&b, call, comm, CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = ct_comm_merge(comm, high != 0, &made);
    ct_blocked_end(&b);
    return ct_api_give_comm(comm, rc, made, call, newintracomm);
}

/* ---- without a parent ------------------------------------------------------------------------ */

static int check_group(struct ct_comm *self, const char *call, const char *what,
                       ctran_group_t handle, struct ct_group **group)
{
    *group = ct_group_of(self->p, handle);
    return *group != NULL
               ? CTRAN_SUCCESS
               : ct_api_raise(self, CTRAN_ERR_GROUP, call, "%s %s", what,
                              handle == CTRAN_GROUP_NULL ? "is CTRAN_GROUP_NULL"
                                                         : "was freed, or never was one");
}

/* Where the new communicator goes. That there is no such place is told to the handler that it would
 * have, as one without a communicator. */
static int check_place(const char *call, const ctran_comm_t *newcomm, ctran_errhandler_t errhandler)
{
    if (newcomm != NULL || ct_errhandler_wrong(errhandler, CT_ERRHANDLER_COMM) != NULL) {
        return CTRAN_SUCCESS; /* that it is no handler is told first, by who looks at it */
    }
    return ct_api_raise_by(&errhandler, NULL, CTRAN_ERR_ARG, call, "newcomm is NULL");
}

/* What both calls have in common; errors without a communicator are self's. */
static int check_from(struct ct_comm *self, const char *call, const char *stringtag,
                      ctran_info_t info_handle, ctran_errhandler_t errhandler,
                      struct ct_info **info)
{
    if (stringtag == NULL ||
        strnlen(stringtag, CTRAN_MAX_STRINGTAG_LEN) == CTRAN_MAX_STRINGTAG_LEN) {
        return ct_api_raise(self, CTRAN_ERR_ARG, call, "stringtag is %s",
                            stringtag == NULL ? "NULL" : "longer than CTRAN_MAX_STRINGTAG_LEN - 1");
    }
    int rc = ct_check_errhandler(self, call, errhandler, CT_ERRHANDLER_COMM);
    return rc != CTRAN_SUCCESS ? rc : ct_check_hints(self, call, info_handle, info);
}

/* What was made, if it was (rc), gets its error handler and hints; returns rc, or another error. */
static int dress(int rc, struct ct_comm **made, const struct ct_info *info, struct ct_errhandler *h)
{
    if (*made != NULL) {
        ct_errhandler_set_at(&(*made)->p->errhandlers, &(*made)->errhandler, h);
    }
    return rc == CTRAN_SUCCESS ? ct_api_take_hints(made, info) : rc;
}

int ctran_comm_create_from_group(ctran_group_t group_handle, const char *stringtag,
                                 ctran_info_t info_handle, ctran_errhandler_t errhandler,
                                 ctran_comm_t *newcomm)
{
    static const char  call[] = "ctran_comm_create_from_group";
    struct ct_process *p = ct_api_enter(call);
    struct ct_group   *group;
    struct ct_info    *info;
    struct ct_comm    *made = NULL;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    int rc = check_place(call, newcomm, errhandler);
    if (rc == CTRAN_SUCCESS) {
        rc = check_group(ct_comm_self(p), call, "group", group_handle, &group);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = check_from(ct_comm_self(p), call, stringtag, info_handle, errhandler, &info);
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_blocked b;
    ct_api_block(&b, call, ct_comm_self(p), CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = ct_comm_from_group(p, group, stringtag, &made);
    ct_blocked_end(&b);
    rc = dress(rc, &made, info, errhandler);
    return ct_api_give_comm(ct_comm_self(p), rc, made, call, newcomm);
}

static int check_leader(struct ct_comm *self, const char *call, const char *what, int leader,
                        const struct ct_group *group)
{
    if (leader >= 0 && (uint32_t)leader < group->n) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(self, CTRAN_ERR_RANK, call, "%s is %d, its group has %u members", what,
                        leader, group->n);
}

int ctran_intercomm_create_from_groups(ctran_group_t local_group, int local_leader,
                                       ctran_group_t remote_group, int remote_leader,
                                       const char *stringtag, ctran_info_t info_handle,
                                       ctran_errhandler_t errhandler, ctran_comm_t *newintercomm)
{
    static const char  call[] = "ctran_intercomm_create_from_groups";
    struct ct_process *p = ct_api_enter(call);
    struct ct_group   *local, *remote;
    struct ct_info    *info;
    struct ct_comm    *made = NULL, *self;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    self = ct_comm_self(p);
    int rc = check_place(call, newintercomm, errhandler);
    rc = rc == CTRAN_SUCCESS ? check_group(self, call, "local_group", local_group, &local) : rc;
    rc = rc == CTRAN_SUCCESS ? check_group(self, call, "remote_group", remote_group, &remote) : rc;
    rc = rc == CTRAN_SUCCESS ? check_leader(self, call, "local_leader", local_leader, local) : rc;
    rc =
        rc == CTRAN_SUCCESS ? check_leader(self, call, "remote_leader", remote_leader, remote) : rc;
    rc = rc == CTRAN_SUCCESS ? check_from(self, call, stringtag, info_handle, errhandler, &info)
                             : rc;
    if (rc == CTRAN_SUCCESS && ct_group_find(local, ct_job_me(p->job)) == CTRAN_UNDEFINED) {
        rc = ct_api_raise(self, CTRAN_ERR_GROUP, call, "the caller is not in local_group");
    }
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    struct ct_blocked b;
    ct_api_block(&b, call, ct_comm_self(p), CT_BLOCKED_NONE, CT_BLOCKED_NONE);
    rc = ct_comm_from_groups(p, local, remote, stringtag, &made);
    ct_blocked_end(&b);
    if (rc == CTRAN_ERR_GROUP) {
        return ct_api_raise(self, rc, call, "the two groups have a process in common");
    }
    rc = dress(rc, &made, info, errhandler);
    return ct_api_give_comm(self, rc, made, call, newintercomm);
}
