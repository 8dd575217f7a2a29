/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices: their list, contexts, and what is asked of them and their ports. A device's attributes
 * are those of a NIC of the field, with limits that the emulation keeps.
 */
#include "emu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Devices live as long as the process: programs may open one after they freed the list. */
static struct emu_device devices[EMU_HOST_DEVICES];

static void fill_device(unsigned i)
{
    struct emu_device *device = &devices[i];
    device->number = i;
    device->ib.node_type = IBV_NODE_CA;
    device->ib.transport_type = IBV_TRANSPORT_IB;
    snprintf(device->ib.name, sizeof device->ib.name, "emu%u", i);
    snprintf(device->ib.dev_name, sizeof device->ib.dev_name, "uverbs%u", i);
    snprintf(device->ib.dev_path, sizeof device->ib.dev_path, "%s/uverbs%u", emu_set.dir, i);
    snprintf(device->ib.ibdev_path, sizeof device->ib.ibdev_path, "%s/emu%u", emu_set.dir, i);
}

EMU_EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    const int code = emu_inject(__func__);
    if (count != NULL) {
        *count = 0;
    }
    if (code != 0 || !emu_nic_start()) {
        errno = code != 0 ? code : ENOSYS;
        return NULL;
    }
    struct ibv_device **list = calloc(emu_set.devices + 1, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    emu_lock();
    for (unsigned i = 0; i < emu_set.devices; i++) {
        if (devices[i].ib.name[0] == '\0') {
            fill_device(i);
        }
        list[i] = &devices[i].ib;
    }
    emu_unlock();
    if (count != NULL) {
        *count = (int)emu_set.devices;
    }
    return list;
}

EMU_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

EMU_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

EMU_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
    return (int)((struct emu_device *)device)->number;
}

static uint64_t guid_of(const struct emu_device *device, unsigned port)
{
    uint8_t guid[16];
    emu_gid_make(emu_port_number(device, port), 0, guid);
    guid[10] = 0; /* the generation: a node keeps its GUID */
    uint64_t value;
    memcpy(&value, guid + 8, sizeof value);
    return value;
}

EMU_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
    return guid_of((struct emu_device *)device, 1);
}

unsigned emu_port_number(const struct emu_device *device, unsigned port)
{
    return emu_nic.place.host * EMU_HOST_PORTS + device->number * EMU_DEVICE_PORTS + port - 1;
}

struct emu_context *emu_context_of(struct ibv_context *context)
{
    return (struct emu_context *)((char *)context - offsetof(struct emu_context, verbs.context));
}

static bool port_ok(struct emu_context *context, unsigned port)
{
    (void)context;
    return port >= 1 && port <= emu_set.ports;
}

EMU_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *ib)
{
    struct emu_device  *device = (struct emu_device *)ib;
    struct emu_context *context = NULL;
    int                 code = emu_inject(__func__);
    if (code == 0 && (context = calloc(1, sizeof *context)) == NULL) {
        code = ENOMEM;
    }
    if (code == 0) {
        code = emu_events_init(&context->async, sizeof(struct ibv_async_event));
    }
    if (code != 0) {
        free(context);
        errno = code;
        return NULL;
    }
    context->device = device;
    context->verbs.sz = sizeof context->verbs;
    context->verbs.context.device = ib;
    context->verbs.context.cmd_fd = -1;
    context->verbs.context.async_fd = context->async.fd;
    context->verbs.context.num_comp_vectors = 1;
    context->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&context->verbs.context.mutex, NULL);
    for (unsigned i = 0; i < EMU_DEVICE_PORTS; i++) {
        struct emu_fabric_port *port = &emu_nic.fabric->ports[emu_port_number(device, i + 1)];
        context->port_down[i] = atomic_load(&port->down);
        context->generation[i] = atomic_load(&port->generation);
    }
    emu_context_fill_ops(context);
    if ((code = emu_nic_open(context)) != 0) {
        emu_events_fini(&context->async);
        free(context);
        errno = code;
        return NULL;
    }
    return &context->verbs.context;
}

EMU_EXPORT int ibv_close_device(struct ibv_context *ib)
{
    struct emu_context *context = emu_context_of(ib);
    const int           code = emu_inject(__func__);
    if (code != 0) {
        return code;
    }
    emu_nic_close(context);
    emu_events_fini(&context->async);
    pthread_mutex_destroy(&ib->mutex);
    free(context);
    return 0;
}

EMU_EXPORT int ibv_query_device(struct ibv_context *ib, struct ibv_device_attr *attr)
{
    struct emu_context *context = emu_context_of(ib);
    memset(attr, 0, sizeof *attr);
    snprintf(attr->fw_ver, sizeof attr->fw_ver, "emulated");
    attr->node_guid = attr->sys_image_guid = guid_of(context->device, 1);
    attr->max_mr_size = UINT64_MAX;
    attr->page_size_cap = 0xfffffffffffff000;
    attr->max_qp = EMU_MAX_QP - 1;
    attr->max_qp_wr = EMU_MAX_WR;
    attr->device_cap_flags = IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
                             IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE;
    attr->max_sge = attr->max_sge_rd = EMU_MAX_SGE;
    attr->max_cq = 1 << 20;
    attr->max_cqe = EMU_MAX_CQE;
    attr->max_mr = EMU_MAX_MR - 1;
    attr->max_pd = 1 << 20;
    attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = EMU_MAX_RD_ATOMIC;
    attr->max_res_rd_atom = EMU_MAX_RD_ATOMIC * EMU_MAX_QP;
    attr->atomic_cap = IBV_ATOMIC_HCA;
    attr->max_ah = 1 << 20;
    attr->max_srq = 1 << 20;
    attr->max_srq_wr = EMU_MAX_WR;
    attr->max_srq_sge = EMU_MAX_SGE;
    attr->max_pkeys = 1;
    attr->local_ca_ack_delay = 15;
    attr->phys_port_cnt = (uint8_t)emu_set.ports;
    return 0;
}

/* What is past the end of the program's struct it does not know. */
int emu_query_device_ex(struct ibv_context *ib, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t bytes)
{
    struct ibv_device_attr_ex all;
    (void)input;
    if (bytes < sizeof all.orig_attr) {
        return EINVAL;
    }
    memset(&all, 0, sizeof all);
    (void)ibv_query_device(ib, &all.orig_attr);
    all.completion_timestamp_mask = UINT64_MAX;
    all.hca_core_clock = 1000000; /* kHz */
    all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
    all.phys_port_cnt_ex = emu_set.ports;
    memset(attr, 0, bytes);
    memcpy(attr, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

int emu_query_rt_values(struct ibv_context *ib, struct ibv_values_ex *values)
{
    const uint32_t wanted = values->comp_mask;
    (void)ib;
    values->comp_mask = wanted & IBV_VALUES_MASK_RAW_CLOCK;
    if (values->comp_mask != 0) {
        values->raw_clock.tv_sec = 0; /* the raw clock, one tick a nanosecond */
        values->raw_clock.tv_nsec = (long)(emu_now_ps() / EMU_PS_PER_NS);
    }
    return wanted == IBV_VALUES_MASK_RAW_CLOCK ? 0 : EOPNOTSUPP;
}

static enum ibv_mtu mtu_of(unsigned bytes)
{
    enum ibv_mtu mtu = IBV_MTU_256;
    while ((128u << mtu) < bytes) {
        mtu++;
    }
    return mtu;
}

int emu_query_port(struct ibv_context *ib, uint8_t number, struct ibv_port_attr *attr, size_t bytes)
{
    struct emu_context  *context = emu_context_of(ib);
    struct ibv_port_attr all;
    if (!port_ok(context, number)) {
        return EINVAL;
    }
    const unsigned port = emu_port_number(context->device, number);
    const bool     down = atomic_load(&emu_nic.fabric->ports[port].down);
    memset(&all, 0, sizeof all);
    all.state = down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
    all.phys_state = down ? 3 : 5; /* disabled, link up */
    all.max_mtu = all.active_mtu = mtu_of(emu_set.mtu);
    all.gid_tbl_len = emu_set.ib ? 1 : EMU_GIDS;
    all.max_msg_sz = 1u << 31;
    all.pkey_tbl_len = 1;
    all.lid = emu_set.ib ? (uint16_t)(port + 1) : 0;
    all.sm_lid = emu_set.ib ? 1 : 0;
    all.max_vl_num = 1;
    all.active_width = 2;  /* 4x */
    all.active_speed = 32; /* EDR: 25 Gbit/s a lane */
    all.link_layer = emu_set.ib ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
    memset(attr, 0, bytes);
    memcpy(attr, &all, bytes < sizeof all ? bytes : sizeof all);
    return 0;
}

/* For programs that were built before the struct grew. */
#undef ibv_query_port
EMU_EXPORT int ibv_query_port(struct ibv_context *ib, uint8_t port,
                              struct _compat_ibv_port_attr *attr)
{
    return emu_query_port(ib, port, (struct ibv_port_attr *)attr,
                          offsetof(struct ibv_port_attr, port_cap_flags2));
}

EMU_EXPORT int ibv_query_gid(struct ibv_context *ib, uint8_t port, int index, union ibv_gid *gid)
{
    struct emu_context *context = emu_context_of(ib);
    if (!port_ok(context, port) || index < 0 || index >= (emu_set.ib ? 1 : EMU_GIDS)) {
        errno = EINVAL;
        return -1;
    }
    emu_gid_make(emu_port_number(context->device, port), (unsigned)index, gid->raw);
    return 0;
}

static void fill_entry(struct emu_context *context, unsigned port, unsigned index,
                       struct ibv_gid_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    emu_gid_make(emu_port_number(context->device, port), index, entry->gid.raw);
    entry->gid_index = index;
    entry->port_num = port;
    entry->gid_type = emu_set.ib ? IBV_GID_TYPE_IB : IBV_GID_TYPE_ROCE_V2;
}

EMU_EXPORT int _ibv_query_gid_ex(struct ibv_context *ib, uint32_t port, uint32_t index,
                                 struct ibv_gid_entry *entry, uint32_t flags, size_t entry_bytes)
{
    struct emu_context *context = emu_context_of(ib);
    if (flags != 0 || entry_bytes < sizeof *entry || !port_ok(context, port)) {
        return EINVAL;
    }
    if (index >= (emu_set.ib ? 1 : EMU_GIDS)) {
        return ENODATA;
    }
    fill_entry(context, port, index, entry);
    return 0;
}

EMU_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *ib, struct ibv_gid_entry *entries,
                                        size_t most, uint32_t flags, size_t entry_bytes)
{
    struct emu_context *context = emu_context_of(ib);
    size_t              n = 0;
    if (flags != 0 || entry_bytes < sizeof *entries) {
        return -EINVAL;
    }
    for (unsigned port = 1; port <= emu_set.ports; port++) {
        for (unsigned i = 0; i < (emu_set.ib ? 1 : EMU_GIDS) && n < most; i++) {
            fill_entry(context, port, i, (void *)((char *)entries + n++ * entry_bytes));
        }
    }
    return (ssize_t)n;
}

/* Private to the tools of rdma-core: 0 is InfiniBand and RoCE v1, 1 is RoCE v2. */
EMU_EXPORT int ibv_query_gid_type(struct ibv_context *ib, uint8_t port, unsigned index,
                                  unsigned *type);
int ibv_query_gid_type(struct ibv_context *ib, uint8_t port, unsigned index, unsigned *type)
{
    if (!port_ok(emu_context_of(ib), port) || index >= (emu_set.ib ? 1 : EMU_GIDS)) {
        errno = EINVAL;
        return -1;
    }
    *type = emu_set.ib ? 0 : 1;
    return 0;
}

EMU_EXPORT int ibv_query_pkey(struct ibv_context *ib, uint8_t port, int index, __be16 *pkey)
{
    if (!port_ok(emu_context_of(ib), port) || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = 0xffff;
    return 0;
}

EMU_EXPORT int ibv_get_pkey_index(struct ibv_context *ib, uint8_t port, __be16 pkey)
{
    if (!port_ok(emu_context_of(ib), port) || pkey != 0xffff) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}
