/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What else the library exports: small public functions, those of features that are not there, and
 * the private functions that libraries of real devices (libmlx5, libefa) and librdmacm are linked
 * with. perftest loads these libraries whatever the device is. None finds a device of theirs here,
 * so none of their commands to a kernel is ever called; each would say EOPNOTSUPP.
 */
#include "emu.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS(X)                                                                                \
    X(__ioctl_final_num_attrs)                                                                     \
    X(_verbs_init_and_alloc_context)                                                               \
    X(execute_ioctl)                                                                               \
    X(ibv_cmd_advise_mr)                                                                           \
    X(ibv_cmd_alloc_dm)                                                                            \
    X(ibv_cmd_alloc_mw) X(ibv_cmd_alloc_pd) X(ibv_cmd_attach_mcast) X(ibv_cmd_close_xrcd) X(       \
        ibv_cmd_create_ah) X(ibv_cmd_create_counters) X(ibv_cmd_create_cq) X(ibv_cmd_create_cq_ex) \
        X(ibv_cmd_create_flow) X(ibv_cmd_create_flow_action_esp) X(ibv_cmd_create_qp) X(           \
            ibv_cmd_create_qp_ex) X(ibv_cmd_create_qp_ex2) X(ibv_cmd_create_rwq_ind_table)         \
            X(ibv_cmd_create_srq) X(ibv_cmd_create_srq_ex) X(ibv_cmd_create_wq) X(                 \
                ibv_cmd_dealloc_mw) X(ibv_cmd_dealloc_pd) X(ibv_cmd_dereg_mr)                      \
                X(ibv_cmd_destroy_ah) X(ibv_cmd_destroy_counters) X(ibv_cmd_destroy_cq) X(         \
                    ibv_cmd_destroy_flow) X(ibv_cmd_destroy_flow_action) X(ibv_cmd_destroy_qp)     \
                    X(ibv_cmd_destroy_rwq_ind_table) X(ibv_cmd_destroy_srq) X(ibv_cmd_destroy_wq)  \
                        X(ibv_cmd_detach_mcast) X(ibv_cmd_free_dm) X(ibv_cmd_get_context)          \
                            X(ibv_cmd_modify_cq) X(ibv_cmd_modify_flow_action_esp) X(              \
                                ibv_cmd_modify_qp) X(ibv_cmd_modify_qp_ex) X(ibv_cmd_modify_srq)   \
                                X(ibv_cmd_modify_wq) X(ibv_cmd_open_qp) X(ibv_cmd_open_xrcd)       \
                                    X(ibv_cmd_poll_cq) X(ibv_cmd_post_recv) X(ibv_cmd_post_send)   \
                                        X(ibv_cmd_post_srq_recv) X(ibv_cmd_query_context)          \
                                            X(ibv_cmd_query_device_any) X(ibv_cmd_query_mr) X(     \
                                                ibv_cmd_query_port) X(ibv_cmd_query_qp)            \
                                                X(ibv_cmd_query_srq) X(ibv_cmd_read_counters) X(   \
                                                    ibv_cmd_reg_dm_mr) X(ibv_cmd_reg_dmabuf_mr)    \
                                                    X(ibv_cmd_reg_mr) X(ibv_cmd_req_notify_cq)     \
                                                        X(ibv_cmd_rereg_mr) X(ibv_cmd_resize_cq)   \
                                                            X(verbs_init_cq) X(verbs_open_device)  \
                                                                X(verbs_register_driver_34)        \
                                                                    X(verbs_set_ops)               \
                                                                        X(verbs_uninit_context)

#define REFUSE(name)                                                                               \
    EMU_EXPORT int name(void);                                                                     \
    int            name(void)                                                                      \
    {                                                                                              \
        errno = EOPNOTSUPP;                                                                        \
        return EOPNOTSUPP;                                                                         \
    }
COMMANDS(REFUSE)

/* A flag of the real library that others read. */
EMU_EXPORT extern bool verbs_allow_disassociate_destroy;
bool                   verbs_allow_disassociate_destroy;

EMU_EXPORT void __verbs_log(void *context, uint32_t level, const char *format, ...);
void            __verbs_log(void *context, uint32_t level, const char *format, ...)
{
    (void)context, (void)level, (void)format;
}

/* A file of a folder, without the newline at its end; its length, or -1. */
EMU_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *text, size_t bytes);
int            ibv_read_sysfs_file(const char *dir, const char *file, char *text, size_t bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    const ssize_t got = read(fd, text, bytes);
    close(fd);
    if (got > 0 && text[got - 1] == '\n') {
        text[got - 1] = '\0';
        return (int)got - 1;
    }
    if (got >= 0 && (size_t)got < bytes) {
        text[got] = '\0';
    }
    return (int)got;
}

EMU_EXPORT int ibv_read_ibdev_sysfs_file(char *text, size_t bytes, void *device, const char *format,
                                         ...);
int ibv_read_ibdev_sysfs_file(char *text, size_t bytes, void *device, const char *format, ...)
{
    (void)text, (void)bytes, (void)device, (void)format;
    return -1;
}

EMU_EXPORT const char *ibv_get_sysfs_path(void);
const char            *ibv_get_sysfs_path(void)
{
    return "/sys";
}

/* Memory is shared with nobody here, so fork is as safe as it gets. */
EMU_EXPORT int ibv_fork_init(void)
{
    return 0;
}

EMU_EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

EMU_EXPORT int ibv_dontfork_range(void *base, size_t size);
int            ibv_dontfork_range(void *base, size_t size)
{
    (void)base, (void)size;
    return 0;
}

EMU_EXPORT int ibv_dofork_range(void *base, size_t size);
int            ibv_dofork_range(void *base, size_t size)
{
    (void)base, (void)size;
    return 0;
}

EMU_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp, (void)gid, (void)lid;
    return EOPNOTSUPP;
}

EMU_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp, (void)gid, (void)lid;
    return EOPNOTSUPP;
}

EMU_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    return ece->vendor_id == 0 && ece->options == 0 ? 0 : EOPNOTSUPP;
}

EMU_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    memset(ece, 0, sizeof *ece);
    return 0;
}

EMU_EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                           uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
    (void)context;
    const int port = emu_gid_port(attr->grh.dgid.raw);
    if (port < 0) {
        return EHOSTUNREACH;
    }
    uint8_t gid[16];
    emu_gid_make((unsigned)port, 0, gid);
    const uint8_t made[ETHERNET_LL_SIZE] = {2, gid[9], gid[10], gid[13], gid[14], gid[15]};
    memcpy(mac, made, sizeof made);
    *vid = 0xffff;
    return 0;
}

EMU_EXPORT struct ibv_context *ibv_import_device(int fd)
{
    (void)fd;
    errno = EOPNOTSUPP;
    return NULL;
}

EMU_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
    (void)context, (void)handle;
    errno = EOPNOTSUPP;
    return NULL;
}

EMU_EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
    (void)pd;
}

EMU_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
    (void)pd, (void)handle;
    errno = EOPNOTSUPP;
    return NULL;
}

EMU_EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
    (void)mr;
}

EMU_EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
    (void)context, (void)handle;
    errno = EOPNOTSUPP;
    return NULL;
}

EMU_EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
    (void)dm;
}

/* Conversions of librdmacm between a kernel's structs and the library's: no kernel is there. */
#define CONVERT(name)                                                                              \
    EMU_EXPORT void name(void *to, const void *from);                                              \
    void            name(void *to, const void *from)                                               \
    {                                                                                              \
        (void)to, (void)from;                                                                      \
    }
CONVERT(ibv_copy_ah_attr_from_kern)
CONVERT(ibv_copy_qp_attr_from_kern)
CONVERT(ibv_copy_path_rec_from_kern)
CONVERT(ibv_copy_path_rec_to_kern)
