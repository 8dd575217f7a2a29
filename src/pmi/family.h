/* SPDX-License-Identifier: BSD-3-Clause */
/* What pmix.c takes of family.c in PMIx's own types. All else is in pmi.h. */
#ifndef CT_PMI_FAMILY_H
#define CT_PMI_FAMILY_H

#include <pmix.h>

#include "pmi/pmi.h"

/* The record of a process of another job, a byte object, as it has shown it by ct_family_show. The
 * caller releases *v. A PMIx status. */
pmix_status_t ct_family_find(uint32_t id, pmix_value_t **v);

#endif
