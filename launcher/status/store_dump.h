/* SPDX-License-Identifier: BSD-3-Clause */
/* ctranrun --store-dump: what a job's store holds, and what a start that hangs waits for. */
#ifndef CT_LAUNCHER_STATUS_STORE_DUMP_H
#define CT_LAUNCHER_STATUS_STORE_DUMP_H

/* Prints the store of a job of this user that runs on this machine; NULL: of each such job. Returns
 * the exit status of ctranrun. */
int ct_store_dump_run(const char *job);

#endif
