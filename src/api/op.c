/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operators: making and freeing them, and applying one here. */
#define CT_FOLDER "api"
#include "api/dense.h"

/* One of both functions. */
static int create(ctran_user_function *user_fn, ct_op_short_fn *short_fn, int commute,
                  ctran_op_t *op)
{
    static const char  call[] = "ctran_op_create";
    struct ct_process *p = ct_api_enter(call);
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    if ((user_fn == NULL && short_fn == NULL) || op == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_ARG, call, "%s is NULL",
                            op != NULL ? "the function" : "op");
    }
    const struct ct_op *made = user_fn != NULL ? ct_op_create(user_fn, commute != 0)
                                               : ct_op_create_short(short_fn, commute != 0);
    if (made == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_NO_MEM, call, "for an operator");
    }
    *op = (ctran_op_t)made;
    return CTRAN_SUCCESS;
}

int ctran_op_create(ctran_user_function *user_fn, int commute, ctran_op_t *op)
{
    return create(user_fn, NULL, commute, op);
}

int ct_api_op_create_short(ct_op_short_fn *fn, int commute, ctran_op_t *op)
{
    return create(NULL, fn, commute, op);
}

int ct_check_op_handle(struct ct_comm *comm, const char *call, ctran_op_t handle,
                       const struct ct_op **out)
{
    *out = ct_op_get(handle);
    if (CT_LIKELY(*out != NULL)) {
        return CTRAN_SUCCESS;
    }
    return ct_api_raise(comm, CTRAN_ERR_OP, call, "%s",
                        handle == CTRAN_OP_NULL
                            ? "it is CTRAN_OP_NULL"
                            : "it is no predefined operator, and none of ctran_op_create's that "
                              "was not freed");
}

int ctran_op_free(ctran_op_t *op)
{
    static const char   call[] = "ctran_op_free";
    struct ct_process  *p = ct_api_enter(call);
    const struct ct_op *old;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    int rc = ct_check_op_handle(ct_comm_self(p), call, op != NULL ? *op : CTRAN_OP_NULL, &old);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (old->user == NULL) {
        return ct_api_raise(ct_comm_self(p), CTRAN_ERR_OP, call, "%s is predefined", old->name);
    }
    ct_op_drop(old);
    *op = CTRAN_OP_NULL;
    return CTRAN_SUCCESS;
}

int ctran_op_commutative(ctran_op_t handle, int *commute)
{
    static const char   call[] = "ctran_op_commutative";
    struct ct_process  *p = ct_api_enter(call);
    const struct ct_op *op;
    if (p == NULL) {
        return CTRAN_ERR_OTHER;
    }
    int rc = ct_check_op_handle(ct_comm_self(p), call, handle, &op);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_out(ct_comm_self(p), call, commute, "commute");
    }
    if (rc == CTRAN_SUCCESS) {
        *commute = op->commutative;
    }
    return rc;
}

/* Both buffers of a reduction without a communicator, as they lie but in plain memory. */
static int open_local(struct ct_comm *self, const char *call, const struct ct_span *in,
                      const struct ct_span *inout, struct ct_dense_ends *e)
{
    int rc = ct_dense_open_copy(self, call, in, true, &e->in);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_dense_open_copy(self, call, inout, true, &e->out);
        if (rc != CTRAN_SUCCESS) {
            (void)ct_dense_close(&e->in, false);
        }
    }
    return rc == CTRAN_SUCCESS ? rc : ct_api_pass(self, rc, call);
}

int ctran_reduce_local(const void *inbuf, void *inoutbuf, ctran_count_t count,
                       ctran_datatype_t datatype, ctran_op_t handle_op)
{
    static const char    call[] = "ctran_reduce_local";
    struct ct_comm      *self;
    struct ct_span       in, inout;
    struct ct_dense_ends e;
    const struct ct_op  *op;
    int                  rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(self, call, inbuf, count, datatype, &in);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_span(self, call, inoutbuf, count, datatype, &inout);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_disjoint(self, call, &in, &inout);
    }
    if (rc == CTRAN_SUCCESS) {
        rc = ct_check_op(self, call, handle_op, in.type, &op);
    }
    if (rc != CTRAN_SUCCESS || count == 0) {
        return rc;
    }
    rc = open_local(self, call, &in, &inout, &e);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    const struct ct_reduction r = ct_reduction_of(op, in.type); /* inout = in op inout */
    const uintptr_t           first = (uintptr_t)in.type->true_lb_bytes;
    void                     *result = (void *)((uintptr_t)e.out.base + first);
    ct_reduction_apply(&r, result, (void *)((uintptr_t)e.in.base + first), result, in.count);
    return ct_api_pass(self, ct_dense_close_reduction(&e, true), call);
}
