/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft - what communicators do about the failure of processes, as ULFM (the MPI Forum's user-level
 * failure mitigation) has it: which members are known to have failed, revocation, uniform
 * agreement, and the communicator of those that live. The floors below turn a death into errors of
 * the operations that it concerns (p2p/failure.c, rma/win.c); nothing here is on their path.
 *
 * Revocation (revoke.c) travels by messages between members, each of which hands it on to its
 * neighbours on a ring of those that live, with shortcuts. Agreement (agree.c) runs over a tree of
 * those that live and needs no call of a member that has given its part: messages drive it, in
 * whatever call the process makes progress. Shrink (shrink.c) is an agreement on who has failed.
 *
 * All of it takes the word of ep for who has failed: a process that the launcher has declared dead,
 * or that a transport cannot reach any more.
 */
#ifndef CT_FT_FT_H
#define CT_FT_FT_H

#include "comm/comm.h"

/* The process's part, from the beginning of the job on; and of a cycle, from an init to a finalize.
 */
int  ct_ft_init(struct ct_process *p);
void ct_ft_fini(struct ct_process *p);
int  ct_ft_begin(struct ct_process *p);
void ct_ft_end(struct ct_process *p);

/* ---- failed members: failed.c ---------------------------------------------------------------- */

/* The members (of both groups) that are known to have failed, in the order in which this process
 * learnt of them: a later answer begins with an earlier one. CTRAN_ERR_NO_MEM. */
int ct_ft_failed(struct ct_comm *comm, struct ct_group **out);
/* The first so many of these are acknowledged; those that were before stay so. Returns how many are
 * acknowledged. */
uint32_t ct_ft_ack(struct ct_comm *comm, uint32_t n);
/* The members that are acknowledged. CTRAN_ERR_NO_MEM. */
int ct_ft_acked(struct ct_comm *comm, struct ct_group **out);

/* ---- revocation: revoke.c -------------------------------------------------------------------- */

/* Operations on comm end with CTRAN_ERR_REVOKED, here now and on all members as soon as they make
 * progress. Idempotent. */
void ct_ft_revoke(struct ct_comm *comm);

/* ---- agreement: agree.c, shrink.c ------------------------------------------------------------ */

/* Starts one on a word of 32 bits. When the request is done, *flag is the AND of what the living
 * members gave (of an inter-communicator: those of the remote group), the same on all; the
 * request's error is CTRAN_ERR_PROC_FAILED if a member has failed that not all of them have
 * acknowledged, on all or on none. `flag` is borrowed until then. CTRAN_ERR_NO_MEM: nothing was
 * started. */
int ct_ft_agree(struct ct_comm *comm, int *flag, struct ct_request **request);

/* Starts to make the communicator of those members that are not known to have failed. *out is void
 * until the request is completed by the program, and then NULL's equal, a freed handle, if a group
 * of an inter-communicator has nobody left. */
int ct_ft_shrink(struct ct_comm *comm, struct ct_comm **out, struct ct_request **request);

/* Agreements that this process still keeps, for tests and reports: 0 once all members know of the
 * end of all of them. */
uint32_t ct_ft_kept(struct ct_process *p);

#endif
