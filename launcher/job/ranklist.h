/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks as the command line names them: "0,2-5", or "all". Such a list stays a text. It ends with
 * the string or at a ':'. Used by head and daemon.
 */
#ifndef CT_LAUNCHER_JOB_RANKLIST_H
#define CT_LAUNCHER_JOB_RANKLIST_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the text is a list of ranks. *highest becomes the largest rank that the list names, 0 for
 * "all". */
bool ct_ranklist_is_valid(const char *list, uint32_t *highest);

/* Whether a valid list names the rank. */
bool ct_ranklist_has(const char *list, uint32_t rank);

/* Returns how many of the ranks 0 to n - 1 a valid list names. */
uint32_t ct_ranklist_count(const char *list, uint32_t n);

/* Returns the lowest rank that a valid list names. */
uint32_t ct_ranklist_first(const char *list);

#endif
