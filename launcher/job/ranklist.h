/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as the command line names them: "0,2-5", or "all". Such a list stays the text that it was;
 * it ends with the string or at a ':'. Used by head and daemon.
 */
#ifndef CT_LAUNCHER_JOB_RANKLIST_H
#define CT_LAUNCHER_JOB_RANKLIST_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it is a list of ranks. *highest is the largest rank it names, 0 for "all". */
bool ct_ranklist_is_valid(const char *list, uint32_t *highest);

/* Whether a valid list has the rank. */
bool ct_ranklist_has(const char *list, uint32_t rank);

/* The ranks of a valid list among the first n. */
uint32_t ct_ranklist_count(const char *list, uint32_t n);

/* The lowest of them. */
uint32_t ct_ranklist_first(const char *list);

#endif
