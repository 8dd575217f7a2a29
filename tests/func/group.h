/* SPDX-License-Identifier: BSD-3-Clause */
/* The subjects of the program `group` that lie in files of their own. */
#ifndef CT_TESTS_FUNC_GROUP_H
#define CT_TESTS_FUNC_GROUP_H

#include "check.h"

extern ctran_group_t group_world; /* of CTRAN_COMM_WORLD */

/* group_comm.c */
void created(void);
void created_by_members(void);
void hosts(void);
void names(void);
void bad_creations(void);

/* group_attr.c */
void attributes(void);
void attributes_handed_on(void);
void attributes_refused(void);
void attributes_at_end(void);
/* 0 if finalize did what attributes_at_end asked for. */
int attributes_after_end(void);

#endif
