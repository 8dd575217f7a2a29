/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the PMIx server knows about the job when a process joins it. Used by pmix.c. */
#ifndef CT_PMI_FACTS_H
#define CT_PMI_FACTS_H

#include <pmix.h>

#include "pmi/pmi.h"

/* Fills in the facts of the job that the process `me` belongs to; *local_ranks, which the job
 * borrows, is the caller's to free, also after an error. CTRAN_ERR_BOOTSTRAP (logged),
 * CTRAN_ERR_NO_MEM. */
int ct_facts_read(const pmix_proc_t *me, struct ct_job *job, uint32_t **local_ranks);

/* What the launcher calls the host of a rank; false: it does not say. */
bool ct_facts_host_of(const pmix_proc_t *me, uint32_t rank, char *host, size_t cap);

/* Which process has spawned this job; false: none has. */
bool ct_facts_parent(const pmix_proc_t *me, pmix_proc_t *parent);

/* Whether this launcher lets the job outlive deaths, and tells of them. */
bool ct_facts_are_recoverable(const pmix_proc_t *me);

/* FNV-1a, from the number of what came before. */
uint64_t ct_facts_hash(uint64_t hash, const char *text);

#endif
