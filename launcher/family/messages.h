/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the messages of a job family hold. Heads of jobs of one family send each other
 *
 *     FAMILY:         text name of the receiving job ("": the root), text name of the sending job,
 *                     u32 enum ct_msg_type, the payload of that type
 *
 * The root's head keeps what is one thing for all jobs of the family (root.h). Ranks of several
 * jobs meet (PMIx_Connect, PMIx_Disconnect): each daemon with ranks that take part sends
 * FAMILY_MEET when all these ranks have come. All daemons get FAMILY_MET when the last FAMILY_MEET
 * has come, or when one cannot come any more. A daemon whose ranks wait no longer sends
 * FAMILY_GIVE_UP. PMIx_Get of a rank of another job: FAMILY_GET goes to the root, which asks the
 * daemon of that rank by FAMILY_FETCH. Every request is answered, at the latest when the job in
 * question is gone.
 *
 *     FAMILY_MEET:    u32 node, u32 number, u32 enum ct_family_kind, u32 n, n times: text job, u32
 *                     rank (CT_FAMILY_ALL: all ranks). All nodes send the ranks in one order.
 *     FAMILY_GIVE_UP: u32 node, u32 number of the FAMILY_MEET; the meeting may be over already
 *     FAMILY_MET:     u32 node, u32 number, u32 enum ct_family_status
 *     FAMILY_GET:     u32 node, u32 number, text job, u32 rank (CT_FAMILY_ALL: the job itself)
 *     FAMILY_FETCH:   u32 node, u32 number (the root's), u32 rank
 *     FAMILY_FOUND:   u32 number, u32 status (0: found), bytes
 *     FAMILY_DATA:    u32 node, u32 number, u32 enum ct_family_status, bytes
 *     FAMILY_JOB:     text name of a job, the job as ct_family_job_pack writes it
 *     FAMILY_GONE:    text name of a job, which is over
 */
#ifndef CT_LAUNCHER_FAMILY_MESSAGES_H
#define CT_LAUNCHER_FAMILY_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/job/job.h"
#include "launcher/msg/msg.h"

/* What ranks of several jobs meet for. */
enum ct_family_kind { CT_FAMILY_CONNECT, CT_FAMILY_DISCONNECT, CT_FAMILY_KINDS };

/* How a meeting or a question ended. */
enum ct_family_status { CT_FAMILY_OK, CT_FAMILY_NOT_FOUND, CT_FAMILY_LOST, CT_FAMILY_NO_MEMORY };

/* All ranks of a job. */
#define CT_FAMILY_ALL UINT32_MAX

/* Appends a job: text name, u32 first_process, u32 programs, each: u32 ranks; u32 ranks_in_turn,
 * u32 nodes, each: text host, u32 ranks. */
void ct_family_job_pack(struct evbuffer *body, const char *nspace, const struct ct_jobdesc *d);

/* Reads a job, from behind its name on. Returns false if the message makes no sense, or there is no
 * memory. ct_jobdesc_fini is due in any case. */
bool ct_family_job_unpack(struct ct_jobdesc *d, struct ct_unpack *in);

#endif
