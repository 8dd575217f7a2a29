/* SPDX-License-Identifier: BSD-3-Clause */
/* Inquiries of the front end about communicators, requests and errors. Nothing is kept here. */
#define CT_FOLDER "front"
#include "front/front.h"

#include <stdlib.h>

#include "api/api.h"

/* Not raising: the call that follows does. */
static struct ct_comm *comm_of(ctran_comm_t handle)
{
    return ct_front_is_running() ? ct_comm_of(ct_api_process(), handle) : NULL;
}

bool ct_front_is_running(void)
{
    return ct_api_now() == CT_API_RUNNING;
}

static int blocks_of(const struct ct_comm *comm, enum ct_front_length which)
{
    switch (which) {
    case CT_FRONT_ALL:
        return (int)ct_comm_peers(comm)->n;
    case CT_FRONT_LOCAL:
        return (int)comm->run.n;
    case CT_FRONT_IN:
        return comm->topo != NULL ? (int)comm->topo->near.nsources : 0;
    case CT_FRONT_OUT:
        return comm->topo != NULL ? (int)comm->topo->near.ndestinations : 0;
    }
    return 0;
}

int ct_front_blocks(ctran_comm_t handle, enum ct_front_length which)
{
    const struct ct_comm *comm = comm_of(handle);
    return comm != NULL ? blocks_of(comm, which) : 0;
}

int ct_front_root_blocks(ctran_comm_t handle, int root)
{
    const struct ct_comm *comm = comm_of(handle);
    if (comm == NULL) {
        return 0;
    }
    const bool is_root = comm->remote != NULL ? root == CTRAN_ROOT : root == (int)comm->run.me;
    return is_root ? blocks_of(comm, CT_FRONT_ALL) : 0;
}

int ct_front_raise(ctran_comm_t handle, int error, const char *call, const char *text)
{
    struct ct_comm *comm = comm_of(handle);
    return comm != NULL ? ct_api_raise(comm, error, call, "%s", text)
                        : ct_api_raise_anytime(error, call, "%s", text);
}

void ct_front_keep(ctran_request_t request, void *memory)
{
    if (!ct_api_keep(request, memory)) {
        free(memory);
    }
}

int ct_front_type_like(ctran_datatype_t predefined, ctran_datatype_t *newtype)
{
    static const char      call[] = "MPI_Type_create_f90";
    const struct ct_dtype *old, *made = NULL;
    struct ct_comm        *self;
    int                    rc = ct_check_old_type(call, predefined, newtype, &self, &old);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_api_give_type(self, ct_dtype_dup_like(old, &made), &made, call, newtype);
    }
    return rc;
}

int ct_front_op_create(ct_front_user_function *user_fn, int commute, ctran_op_t *op)
{
    return ct_api_op_create_short(user_fn, commute, op);
}
