/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a job's records, once on each node, in memory that its ranks share.
 *
 * The first rank makes the table, under a name that only ranks of the job on this node can compute;
 * the others find it; the last one to leave removes the name. Each rank writes its own record, and
 * sleeps until all records are there, or the one that it needs. Nothing is sent and no process is
 * asked; a rank that is never looked up costs one record. Records are written once and not changed,
 * so they are read in place without a lock.
 *
 * A file that a crashed job left under this name is recognised by its lock (node/shmfile.h).
 */
#ifndef CT_PMI_RECORDS_H
#define CT_PMI_RECORDS_H

#include "pmi/pmi.h"

struct ct_records;

/* Finds or makes the table of this node's part of the job. `tag` tells the job from others of its
 * name. CTRAN_ERR_VERSION: it is another build's. Logged. */
int ct_records_open(struct ct_records **records, const struct ct_job *job, uint64_t tag);
/* What is borrowed from it ends here. */
void ct_records_close(struct ct_records *c);

/* The memory of the shared allgather that the ranks of the node have, of their CPU placement, of
 * the calibration and of what one of them says for all, in the table. */
void                         *ct_records_allgather(const struct ct_records *c);
struct ct_placement_core     *ct_records_placement(const struct ct_records *c);
struct ct_calibration_shared *ct_records_calibration(const struct ct_records *c);
struct ct_log_once           *ct_records_log_once(const struct ct_records *c);

/* From now on waits for all records, of the node or the job, also end with events that the job
 * cannot start: then they return CTRAN_ERR_PENDING, not logged. */
void ct_records_heed(struct ct_records *c, struct ct_job_events *events);

/* Writes the caller's record. CTRAN_ERR_BOOTSTRAP (logged): it is too long. */
int ct_records_put(struct ct_records *c, const void *record, size_t len_bytes);
/* _meet waits for the records of all ranks, the other for the record of one rank. After
 * CTRAN_BOOTSTRAP_TIMEOUT both return CTRAN_ERR_BOOTSTRAP, with a message that names the missing
 * ranks. */
int ct_records_meet(struct ct_records *c);
int ct_records_get(struct ct_records *c, uint32_t rank, const void **record, size_t *len_bytes);
/* Logs which ranks of this node have not come, after a wait that had to end. Whether there are any.
 */
bool ct_records_blame(const struct ct_records *c);

/* In a job of several nodes one rank of each (nodes.h) waits for the records of its own node, as
 * above; brings those of the others, CTRAN_ERR_BOOTSTRAP: there is no such rank, or it has one; and
 * says that all are there, or why not. */
int  ct_records_meet_here(struct ct_records *c);
int  ct_records_bring(struct ct_records *c, uint32_t rank, const void *record, size_t len_bytes);
void ct_records_complete(struct ct_records *c, int status);

/* The key that rank 0 has made for the job. It is put before that rank's record, for which get_key
 * waits. CTRAN_ERR_BOOTSTRAP, logged. */
void ct_records_put_key(struct ct_records *c, const struct ct_auth_key *key);
int  ct_records_get_key(struct ct_records *c, struct ct_auth_key *key);

#endif
