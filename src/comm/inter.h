/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inter-communicators: two groups without a common process. A rank belongs to the local group and
 * sends to the remote group. An inter-communicator is a struct ct_comm with a remote group: both
 * groups know the same context for point-to-point messages, and the context of collectives is, in
 * each group, that of the group alone; so what runs over a communicator runs over the local group.
 *
 * The groups exchange data between their ranks 0, in a context of its own; then each rank 0
 * broadcasts to its group. So each function here is one exchange and one local broadcast. The first
 * group is the one whose rank 0 has the lower process number.
 */
#ifndef CT_COMM_INTER_H
#define CT_COMM_INTER_H

#include "comm/comms.h"

/* Rank 0's `bytes` of this group go to the other, and those of the other's rank 0 come to all of
 * this one. An error in the exchange is the same on all ranks of a group. */
int ct_inter_swap(struct ct_comm *comm, const void *send, size_t send_bytes, void *recv,
                  size_t recv_bytes);

/* What both groups agree on: a new context number, and a word of each rank 0. */
struct ct_inter_deal {
    uint64_t id;
    uint32_t mine, theirs;
};
int ct_inter_agree(struct ct_comm *comm, uint32_t word, struct ct_inter_deal *deal);

/* The inter-communicator part of ct_comm_create. */
int ct_inter_create(struct ct_comm *comm, struct ct_group *group, int bad, struct ct_comm **out);

#endif
