/* SPDX-License-Identifier: BSD-3-Clause */
/* ctranrun --analyze and --trace-dump: the traces of a running job, for ctran_analyze or as they
 * are. */
#ifndef CT_LAUNCHER_STATUS_ANALYZE_H
#define CT_LAUNCHER_STATUS_ANALYZE_H

/* Gets the traces of all ranks of `job` from its daemon on this machine, and has ctran_analyze say
 * what holds the job up. Returns the exit status of ctran_analyze, or CT_EXIT_INTERNAL after one
 * line on standard error. */
int ct_analyze_run(const char *job);

/* Writes the traces to standard output, as a file of dumps. */
int ct_trace_dump_run(const char *job);

#endif
