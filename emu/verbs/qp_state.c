/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of a queue pair: which transitions there are, which attributes each needs and which
 * it allows, for each type of QP, and the ranges of values. Source: IBA 1.4 volume 1, table 91
 * and ibv_modify_qp(3); anything else is EINVAL.
 */
#include "emu.h"

#include <errno.h>

enum { RC, UC, UD, TYPES };
enum {
    OPT_CONNECTED =
        IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE,
    REQ_INIT = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
    REQ_INIT_UD = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
    REQ_RTR_UC = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
    OPT_RTR = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
    SQD_UC = IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX |
             IBV_QP_PATH_MIG_STATE,
    SQD_RC = SQD_UC | IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
             IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
};

struct transition {
    int from, to;
    int required[TYPES], optional[TYPES];
};

static const struct transition transitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, {REQ_INIT, REQ_INIT, REQ_INIT_UD}, {0}},
    {IBV_QPS_INIT, IBV_QPS_INIT, {0}, {REQ_INIT, REQ_INIT, REQ_INIT_UD}},
    {IBV_QPS_INIT,
     IBV_QPS_RTR,
     {REQ_RTR_UC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, REQ_RTR_UC, 0},
     {OPT_RTR, OPT_RTR, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    {IBV_QPS_RTR,
     IBV_QPS_RTS,
     {IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
          IBV_QP_MAX_QP_RD_ATOMIC,
      IBV_QP_SQ_PSN, IBV_QP_SQ_PSN},
     {OPT_CONNECTED | IBV_QP_MIN_RNR_TIMER, OPT_CONNECTED, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {IBV_QPS_RTS,
     IBV_QPS_RTS,
     {0},
     {OPT_CONNECTED | IBV_QP_MIN_RNR_TIMER, OPT_CONNECTED, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {IBV_QPS_RTS,
     IBV_QPS_SQD,
     {0},
     {IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY}},
    {IBV_QPS_SQD,
     IBV_QPS_RTS,
     {0},
     {OPT_CONNECTED | IBV_QP_MIN_RNR_TIMER, OPT_CONNECTED, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
    {IBV_QPS_SQD, IBV_QPS_SQD, {0}, {SQD_RC, SQD_UC, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    {IBV_QPS_SQE,
     IBV_QPS_RTS,
     {0},
     {-1, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, IBV_QP_CUR_STATE | IBV_QP_QKEY}},
};

static int column(enum ibv_qp_type type)
{
    return type == IBV_QPT_RC ? RC : type == IBV_QPT_UC ? UC : UD;
}

static bool transition_ok(int from, int to, enum ibv_qp_type type, int mask)
{
    const int of = column(type);
    mask &= ~IBV_QP_STATE;
    if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET)) {
        return mask == 0;
    }
    for (size_t i = 0; i < sizeof transitions / sizeof transitions[0]; i++) {
        const struct transition *row = &transitions[i];
        if (row->from == from && row->to == to && row->optional[of] != -1) {
            return (mask & row->required[of]) == row->required[of] &&
                   (mask & ~(row->required[of] | row->optional[of])) == 0;
        }
    }
    return false;
}

static bool below(int mask, int bit, unsigned value, unsigned limit)
{
    return (mask & bit) == 0 || value < limit;
}

static bool values_ok(struct emu_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    const unsigned known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
    if ((mask & IBV_QP_PATH_MTU) != 0 &&
        (attr->path_mtu < IBV_MTU_256 || (128u << attr->path_mtu) > emu_set.mtu)) {
        return false;
    }
    if ((mask & IBV_QP_AV) != 0 && emu_address_check(qp->ctx, &attr->ah_attr) != 0) {
        return false;
    }
    if ((mask & IBV_QP_PORT) != 0 && (attr->port_num < 1 || attr->port_num > emu_set.ports)) {
        return false;
    }
    return ((mask & IBV_QP_ACCESS_FLAGS) == 0 || (attr->qp_access_flags & ~known) == 0) &&
           below(mask, IBV_QP_PKEY_INDEX, attr->pkey_index, 1) &&
           below(mask, IBV_QP_DEST_QPN, attr->dest_qp_num, 1 << 24) &&
           below(mask, IBV_QP_TIMEOUT, attr->timeout, 32) &&
           below(mask, IBV_QP_RETRY_CNT, attr->retry_cnt, 8) &&
           below(mask, IBV_QP_RNR_RETRY, attr->rnr_retry, 8) &&
           below(mask, IBV_QP_MIN_RNR_TIMER, attr->min_rnr_timer, 32) &&
           below(mask, IBV_QP_MAX_QP_RD_ATOMIC, attr->max_rd_atomic, EMU_MAX_RD_ATOMIC + 1) &&
           below(mask, IBV_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic,
                 EMU_MAX_RD_ATOMIC + 1) &&
           /* automatic path migration is not there */
           (mask & (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)) == 0;
}

int emu_qp_state_check(struct emu_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    const int now = atomic_load(&qp->state);
    const int to = (mask & IBV_QP_STATE) != 0 ? (int)attr->qp_state : now;
    if ((mask & IBV_QP_CUR_STATE) != 0 && (int)attr->cur_qp_state != now) {
        return EINVAL;
    }
    return transition_ok(now, to, qp->init.qp_type, mask) && values_ok(qp, attr, mask) ? 0 : EINVAL;
}
