/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking dup. All but the context number is known at once; that comes from one process, rank 0
 * or that of the first group, in a message to each: so the request of a rank is its one receive,
 * and completes whether or not any other rank is in the library. A tree would need others to hand
 * the number on, and something that makes them do so.
 *
 * The new communicator is void until its request is completed by the program, which is when it
 * learns its number; except its error handler, which programs set at once.
 */
#define CT_FOLDER "comm"
#include <stdlib.h>

#include "comm/inter.h"
#include "pmi/pmi.h"

struct idup {
    struct ct_p2p_req req;  /* first: the user's handle points here */
    struct ct_comm   *made; /* NULL: it could not be made here, though the number is under way */
    uint64_t          id;
};

/* The request has been completed. After an error, or where no number could be sent, there is no new
 * communicator, and the handle is told as one that was freed. */
static void release(struct ct_process *p, struct ct_request *base)
{
    struct idup    *op = CT_CONTAINER_OF(base, struct idup, req.base);
    struct ct_comm *parent = base->owner;
    (void)p;
    if (op->made != NULL && base->error == CTRAN_SUCCESS) {
        if (base->orphan) {
            ct_comms_open_quietly(op->made, op->id);
        } else {
            ct_comms_open(op->made, op->id);
        }
    } else if (op->made != NULL) {
        ct_comm_drop(op->made);
    }
    base->magic = 0;
    free(op);
    ct_comm_drop(parent);
}

/* ---- the sender ------------------------------------------------------------------------------ */

struct notice {
    struct ct_p2p_req req;
    uint64_t          id;
};

static void notice_release(struct ct_process *p, struct ct_request *base)
{
    (void)p;
    free(CT_CONTAINER_OF(base, struct notice, req.base));
}

/* Sends the number and forgets about it. A peer's loss is its own. */
static int send_notice(struct ct_comm *comm, uint32_t peer_id, uint64_t id)
{
    struct ct_ep  *ep = ct_ep_get(comm->p, peer_id);
    struct notice *n = malloc(sizeof *n);
    if (ep == NULL || n == NULL) {
        free(n);
        return CTRAN_ERR_NO_MEM;
    }
    struct ct_area    area = {.base = &n->id, .len_bytes = sizeof n->id};
    struct ct_p2p_key key = {ct_ctx(comm->id, CT_CTX_DUP), (int32_t)ct_job_me(comm->p->job), 0};
    n->id = id;
    n->req.base.release = notice_release;
    ct_p2p_isend(comm->p, &n->req, ep, key, &area);
    ct_request_let_go(comm->p, &n->req.base);
    return CTRAN_SUCCESS;
}

static int send_to_all(struct ct_comm *comm, const struct ct_group *group, uint64_t id)
{
    int rc = CTRAN_SUCCESS;
    for (uint32_t r = 0; r < group->n; r++) {
        const uint32_t peer = ct_group_id_of(group, r);
        int err = peer != ct_job_me(comm->p->job) ? send_notice(comm, peer, id) : CTRAN_SUCCESS;
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void start(struct ct_comm *comm, struct idup *op)
{
    struct ct_process *p = comm->p;
    struct ct_request *base = &op->req.base;
    const bool         own = comm->remote == NULL || ct_groups_in_order(comm->group, comm->remote);
    const uint32_t     first = ct_group_id_of(own ? comm->group : comm->remote, 0);
    struct ct_ep      *ep = first != ct_job_me(p->job) ? ct_ep_get(p, first) : NULL;
    if (ep != NULL) {
        struct ct_area    area = {.base = &op->id, .len_bytes = sizeof op->id};
        struct ct_p2p_key key = {ct_ctx(comm->id, CT_CTX_DUP), (int32_t)first, 0};
        ct_p2p_irecv(p, &op->req, ep, key, &area);
        return;
    }
    base->error = CTRAN_ERR_NO_MEM;
    if (first == ct_job_me(p->job)) {
        op->id = ct_comms_propose(p);
        base->error = send_to_all(comm, comm->group, op->id);
        if (comm->remote != NULL) {
            int err = send_to_all(comm, comm->remote, op->id);
            base->error = base->error != CTRAN_SUCCESS ? base->error : err;
        }
    }
    base->source = CTRAN_ANY_SOURCE;
    base->tag = CTRAN_ANY_TAG;
    ct_request_set_done(base, true);
}

int ct_comm_idup(struct ct_comm *comm, const struct ct_info *info, struct ct_comm **out,
                 struct ct_request **request)
{
    struct idup    *op = calloc(1, sizeof *op);
    struct ct_comm *made = op != NULL ? ct_comms_copy(comm) : NULL;
    if (made == NULL || ct_hints_take(made, info) != CTRAN_SUCCESS) {
        if (made != NULL) {
            ct_comm_drop(made);
        }
        free(op);
        return CTRAN_ERR_NO_MEM;
    }
    ct_comm_hold(comm);
    op->req.base = (struct ct_request){
        .magic = CT_REQUEST_MAGIC,
        .release = release,
        .owner = comm,
    };
    start(comm, op);
    /* A number is sent and taken whatever happens here, or the next dup would get this one's. */
    int rc = ct_attr_copy_all(&comm->attrs, &made->attrs);
    if (rc != CTRAN_SUCCESS) {
        (void)ct_attr_delete_all(&made->attrs); /* the first error is the one to tell */
        ct_comm_drop(made);
        ct_request_let_go(comm->p, &op->req.base);
        return rc;
    }
    made->magic = CT_COMM_MAGIC_DUP;
    op->made = made;
    *out = made;
    *request = &op->req.base;
    return CTRAN_SUCCESS;
}
