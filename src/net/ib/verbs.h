/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libibverbs, loaded at run time: the library neither needs it to start nor pays for it where it is
 * not. Posting and polling are functions of <infiniband/verbs.h> that go through a context; all
 * other calls go through this table. Used by the ib transport alone.
 */
#ifndef CT_NET_IB_VERBS_H
#define CT_NET_IB_VERBS_H

#include <infiniband/verbs.h>

#undef ibv_reg_mr
#undef ibv_query_port

/* Result, name, arguments. */
#define CT_IB_VERBS(X)                                                                             \
    X(struct ibv_device **, get_device_list, (int *n))                                             \
    X(void, free_device_list, (struct ibv_device * *list))                                         \
    X(const char *, get_device_name, (struct ibv_device * device))                                 \
    X(struct ibv_context *, open_device, (struct ibv_device * device))                             \
    X(int, close_device, (struct ibv_context * context))                                           \
    X(int, query_device, (struct ibv_context * context, struct ibv_device_attr * attr))            \
    X(int, query_port, (struct ibv_context * context, uint8_t port, void *attr))                   \
    X(int, query_gid, (struct ibv_context * context, uint8_t port, int index, union ibv_gid *gid)) \
    X(struct ibv_pd *, alloc_pd, (struct ibv_context * context))                                   \
    X(int, dealloc_pd, (struct ibv_pd * pd))                                                       \
    X(struct ibv_mr *, reg_mr, (struct ibv_pd * pd, void *addr, size_t bytes, int access))         \
    X(int, dereg_mr, (struct ibv_mr * mr))                                                         \
    X(struct ibv_comp_channel *, create_comp_channel, (struct ibv_context * context))              \
    X(int, destroy_comp_channel, (struct ibv_comp_channel * channel))                              \
    X(struct ibv_cq *, create_cq,                                                                  \
      (struct ibv_context * context, int cqe, void *user, struct ibv_comp_channel *channel,        \
       int vector))                                                                                \
    X(int, destroy_cq, (struct ibv_cq * cq))                                                       \
    X(int, get_cq_event, (struct ibv_comp_channel * channel, struct ibv_cq * *cq, void **user))    \
    X(void, ack_cq_events, (struct ibv_cq * cq, unsigned n))                                       \
    X(struct ibv_srq *, create_srq, (struct ibv_pd * pd, struct ibv_srq_init_attr * attr))         \
    X(int, destroy_srq, (struct ibv_srq * srq))                                                    \
    X(struct ibv_qp *, create_qp, (struct ibv_pd * pd, struct ibv_qp_init_attr * attr))            \
    X(int, modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr * attr, int mask))                   \
    X(int, destroy_qp, (struct ibv_qp * qp))                                                       \
    X(struct ibv_ah *, create_ah, (struct ibv_pd * pd, struct ibv_ah_attr * attr))                 \
    X(int, destroy_ah, (struct ibv_ah * ah))                                                       \
    X(int, get_async_event, (struct ibv_context * context, struct ibv_async_event * event))        \
    X(void, ack_async_event, (struct ibv_async_event * event))                                     \
    X(const char *, wc_status_str, (enum ibv_wc_status status))

/* Calls of newer libraries, NULL where there are none. */
#define CT_IB_VERBS_OPTIONAL(X)                                                                    \
    X(struct ibv_mr *, reg_dmabuf_mr,                                                              \
      (struct ibv_pd * pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access))      \
    X(int, fork_init, (void))

struct ct_ib_verbs {
#define CT_IB_FIELD(result, name, args) result(*name) args;
    CT_IB_VERBS(CT_IB_FIELD) CT_IB_VERBS_OPTIONAL(CT_IB_FIELD)
#undef CT_IB_FIELD
};

/* The library's functions, valid to the end of the process; NULL: *why says what is missing. */
const struct ct_ib_verbs *ct_ib_verbs_load(const char **why);

#endif
