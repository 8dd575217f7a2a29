/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains and address handles. */
#include "emu.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

EMU_EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    static atomic_uint handles;
    const int          code = emu_inject(__func__);
    struct emu_pd     *pd = code == 0 ? calloc(1, sizeof *pd) : NULL;
    if (pd == NULL) {
        errno = code != 0 ? code : ENOMEM;
        return NULL;
    }
    pd->ib.context = context;
    pd->ib.handle = atomic_fetch_add(&handles, 1);
    return &pd->ib;
}

EMU_EXPORT int ibv_dealloc_pd(struct ibv_pd *ib)
{
    struct emu_pd *pd = (struct emu_pd *)ib;
    const int      code = emu_inject(__func__);
    if (code != 0 || atomic_load(&pd->uses) > 0) {
        return code != 0 ? code : EBUSY;
    }
    free(pd);
    return 0;
}

int emu_address_check(struct emu_context *context, const struct ibv_ah_attr *attr)
{
    (void)context;
    if (attr->port_num < 1 || attr->port_num > emu_set.ports) {
        return EINVAL;
    }
    if (attr->is_global && attr->grh.sgid_index >= (emu_set.ib ? 1 : EMU_GIDS)) {
        return EINVAL;
    }
    return attr->is_global || emu_set.ib ? 0 : EINVAL; /* RoCE has nothing but GIDs */
}

EMU_EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    int            code = emu_inject(__func__);
    struct emu_ah *ah = NULL;
    if (code == 0) {
        code = emu_address_check(emu_context_of(pd->context), attr);
    }
    if (code != 0 || (ah = calloc(1, sizeof *ah)) == NULL) {
        errno = code != 0 ? code : ENOMEM;
        return NULL;
    }
    ah->ib.context = pd->context;
    ah->ib.pd = pd;
    ah->attr = *attr;
    atomic_fetch_add(&((struct emu_pd *)pd)->uses, 1);
    return &ah->ib;
}

EMU_EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
    atomic_fetch_sub(&((struct emu_pd *)ah->pd)->uses, 1);
    free(ah);
    return 0;
}

static int gid_index_of(struct ibv_context *context, uint8_t port, const union ibv_gid *gid)
{
    union ibv_gid own;
    for (int i = 0; ibv_query_gid(context, port, i, &own) == 0; i++) {
        if (memcmp(&own, gid, sizeof own) == 0) {
            return i;
        }
    }
    return -1;
}

EMU_EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
                                   struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->dlid = wc->slid;
    attr->sl = wc->sl;
    attr->src_path_bits = wc->dlid_path_bits;
    attr->port_num = port;
    if ((wc->wc_flags & IBV_WC_GRH) != 0) {
        const int      index = gid_index_of(context, port, &grh->dgid);
        const uint32_t word = be32toh(grh->version_tclass_flow);
        if (index < 0) {
            errno = EINVAL;
            return -1;
        }
        attr->is_global = 1;
        attr->grh.dgid = grh->sgid;
        attr->grh.sgid_index = (uint8_t)index;
        attr->grh.flow_label = word & 0xfffff;
        attr->grh.traffic_class = (uint8_t)(word >> 20);
        attr->grh.hop_limit = 64;
    }
    return 0;
}

EMU_EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
                                                struct ibv_grh *grh, uint8_t port)
{
    struct ibv_ah_attr attr;
    if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) != 0) {
        return NULL;
    }
    return ibv_create_ah(pd, &attr);
}
