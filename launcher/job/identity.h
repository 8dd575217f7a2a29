/* SPDX-License-Identifier: BSD-3-Clause */
/* The names and the secrets of a job: its id, its name for PMIx, the key of its processes. */
#ifndef CT_LAUNCHER_JOB_IDENTITY_H
#define CT_LAUNCHER_JOB_IDENTITY_H

#include <stddef.h>

/* Writes a new random job id into `out`: six hexadecimal digits. Does not fail. */
void ct_job_make_id(char *out, size_t cap);

/* Returns a new name for PMIx of the job `id`. The name is a secret of the job family. The caller
 * frees it. NULL: no memory, or no randomness. */
char *ct_job_make_name(const char *id);

/* Returns a new key of a job, in hexadecimal digits. The caller frees it. NULL: no memory, or no
 * randomness. */
char *ct_job_make_key(void);

#endif
