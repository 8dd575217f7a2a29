/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two calls that stand on an agreement. agree: a word of flags. shrink: who has failed, and the
 * number of the new communicator, one of those that the members propose. Its object is made at once
 * and void until the program completes the request, as that of a nonblocking dup is (comm/idup.c).
 */
#define CT_FOLDER "ft"
#include <stdlib.h>

#include "ft/own.h"

static void release(struct ct_process *p, struct ct_request *base)
{
    struct ct_ft_req *req = CT_CONTAINER_OF(base, struct ct_ft_req, base);
    (void)p;
    if (req->made != NULL && req->id == 0) {
        ct_comm_drop(req->made);
    } else if (req->made != NULL) {
        ct_comm_open_survivors(req->made, req->id, !base->orphan);
    }
    base->magic = 0;
    ct_comm_drop(req->comm);
    free(req);
}

static struct ct_ft_req *req_make(struct ct_comm *comm)
{
    struct ct_ft_req *req = calloc(1, sizeof *req);
    if (req != NULL) {
        ct_comm_hold(comm);
        req->p = comm->p;
        req->comm = comm;
        req->base = (struct ct_request){
            .magic = CT_REQUEST_MAGIC,
            .source = CTRAN_ANY_SOURCE,
            .tag = CTRAN_ANY_TAG,
            .release = release,
            .owner = comm,
        };
    }
    return req;
}

static int begin(struct ct_ft_req *req, uint32_t word, uint64_t proposal,
                 struct ct_request **request)
{
    const int rc = ct_ft_op_begin(req->comm, req, word, proposal);
    if (rc != CTRAN_SUCCESS) {
        release(req->p, &req->base);
        return rc;
    }
    *request = &req->base;
    return CTRAN_SUCCESS;
}

int ct_ft_agree(struct ct_comm *comm, int *flag, struct ct_request **request)
{
    struct ct_ft_req *req = req_make(comm);
    if (req == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    req->flag = flag;
    return begin(req, (uint32_t)*flag, 0, request);
}

/* ---- shrink ---------------------------------------------------------------------------------- */

/* The members of `group` that live. *out is NULL without any. */
static int survivors(const struct ct_comm *comm, const struct ct_group *group,
                     const uint64_t *failed, struct ct_group **out)
{
    uint32_t *ids = malloc((group->n > 0 ? group->n : 1) * sizeof *ids), n = 0;
    if (ids == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    for (uint32_t r = 0; r < group->n; r++) {
        const uint32_t id = ct_group_id_of(group, r);
        if (!ct_ft_has(failed, (uint32_t)ct_ft_member(comm, id))) {
            ids[n++] = id;
        }
    }
    *out = NULL;
    if (n == 0) {
        free(ids);
        return CTRAN_SUCCESS;
    }
    *out = ct_group_make(comm->p, n, ids, 0); /* takes ids */
    return *out != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
}

int ct_ft_shrunk(struct ct_ft_req *req, const struct ct_ft_op *op)
{
    const struct ct_comm *comm = req->comm;
    struct ct_group      *group, *remote = NULL;
    int                   rc = survivors(comm, comm->group, op->value.failed, &group);
    if (rc == CTRAN_SUCCESS && comm->remote != NULL) {
        rc = survivors(comm, comm->remote, op->value.failed, &remote);
    }
    if (rc != CTRAN_SUCCESS || group == NULL || (comm->remote != NULL && remote == NULL)) {
        if (rc == CTRAN_SUCCESS && group != NULL) {
            ct_group_drop(group);
        }
        return rc;
    }
    ct_comm_set_survivors(req->made, group, remote);
    req->id = op->value.v.proposal;
    return CTRAN_SUCCESS;
}

int ct_ft_shrink(struct ct_comm *comm, struct ct_comm **out, struct ct_request **request)
{
    struct ct_ft_req *req = req_make(comm);
    if (req != NULL) {
        req->made = ct_comm_begin_survivors(comm);
    }
    if (req == NULL || req->made == NULL) {
        if (req != NULL) {
            release(comm->p, &req->base);
        }
        return CTRAN_ERR_NO_MEM;
    }
    struct ct_comm *made = req->made;
    const int rc = begin(req, UINT32_MAX, ct_comm_propose(comm->p), request);
    if (rc == CTRAN_SUCCESS) {
        *out = made;
    }
    return rc;
}
