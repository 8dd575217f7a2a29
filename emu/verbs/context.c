/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of functions that the inline functions of <infiniband/verbs.h> call. What is NULL in
 * the extended table the header itself refuses with EOPNOTSUPP; the plain one has no such check. */
#include "emu.h"

#include <errno.h>

static int no_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    (void)qp, (void)mw, (void)bind;
    return EOPNOTSUPP;
}

static int no_dealloc(struct ibv_mw *mw)
{
    (void)mw;
    return EOPNOTSUPP;
}

void emu_context_fill_ops(struct emu_context *context)
{
    struct ibv_context_ops *ops = &context->verbs.context.ops;
    struct verbs_context   *verbs = &context->verbs;
    ops->poll_cq = emu_cq_poll;
    ops->req_notify_cq = emu_cq_arm;
    ops->post_send = emu_post_send;
    ops->post_recv = emu_post_recv;
    ops->post_srq_recv = emu_srq_post;
    ops->bind_mw = no_bind;
    ops->dealloc_mw = no_dealloc;
    verbs->query_port = emu_query_port;
    verbs->query_device_ex = emu_query_device_ex;
    verbs->query_rt_values = emu_query_rt_values;
    verbs->create_cq_ex = emu_cq_ex_create;
    verbs->create_qp_ex = emu_qp_create;
}
