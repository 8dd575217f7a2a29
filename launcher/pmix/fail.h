/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains why the PMIx server cannot do something. */
#ifndef CT_LAUNCHER_PMIX_FAIL_H
#define CT_LAUNCHER_PMIX_FAIL_H

#include <pmix_common.h>
#include <stddef.h>

/* Writes one line into `why`: `step` ("start the PMIx server") failed with rc; and what to do, if
 * the cause is known. */
void ct_pmix_fail_explain(const char *step, pmix_status_t rc, char *why, size_t cap);

#endif
