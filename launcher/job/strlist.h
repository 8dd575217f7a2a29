/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of strings that end with NULL: arguments and environments. A list and its strings are
 * malloc'd. NULL is an empty list. Used by head and daemon.
 */
#ifndef CT_LAUNCHER_JOB_STRLIST_H
#define CT_LAUNCHER_JOB_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

size_t ct_strlist_count(char *const *list);
void   ct_strlist_free(char **list);

/* Returns copies of the first n strings. NULL when out of memory. */
char **ct_strlist_copy(char *const *list, size_t n);

/* Append copies; ct_strlist_set replaces an earlier NAME=... of the same name. Return false when
 * out of memory; then the list is as it was. */
bool ct_strlist_add(char ***list, const char *text);
bool ct_strlist_add_all(char ***list, char *const *more);
bool ct_strlist_set(char ***list, const char *setting);

#endif
