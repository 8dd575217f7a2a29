/* SPDX-License-Identifier: BSD-3-Clause */
/* --store-dump: what a job's store holds, and what a start that is stuck waits for. */
#ifndef CT_LAUNCHER_STATUS_STORE_DUMP_H
#define CT_LAUNCHER_STATUS_STORE_DUMP_H

/* Prints it of a job of this user that runs on this machine; NULL: of each. Returns ctranrun's
 * status. */
int ct_store_dump_run(const char *job);

#endif
