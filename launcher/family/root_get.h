/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about ranks of other jobs, at the root (PMIx_Get). Used by root.c. */
#ifndef CT_LAUNCHER_FAMILY_ROOT_GET_H
#define CT_LAUNCHER_FAMILY_ROOT_GET_H

#include "launcher/family/state.h"

/* Handle FAMILY_GET and FAMILY_FOUND of a job. Set in->bad if the message makes no sense. */
void ct_family_get(struct ct_family *fam, struct ct_family_job *from, struct ct_unpack *in);
void ct_family_found(struct ct_family *fam, const struct ct_family_job *from, struct ct_unpack *in);

/* A rank has ended, a job is gone: questions about these are answered. */
void ct_family_get_ended(struct ct_family *fam, const struct ct_family_job *m, uint32_t rank);
void ct_family_get_gone(struct ct_family *fam, const struct ct_family_job *m);

/* Forgets all questions. */
void ct_family_get_fini(struct ct_family *fam);

#endif
