/* SPDX-License-Identifier: BSD-3-Clause */
/* What the texts of verdicts are made of, besides what analyze.h has. */
#ifndef CT_TOOLS_ANALYZE_WORDS_H
#define CT_TOOLS_ANALYZE_WORDS_H

#include "tools/analyze/analyze.h"

/* "ctran_allreduce, call 18 of communicator 1a (8 ranks)" */
void an_text_call(struct an_text *t, const struct an_job *job, const char *operation, uint32_t comm,
                  uint64_t number);
void an_text_seconds(struct an_text *t, uint64_t ns);
/* What a rank does: "is stopped by a signal or a debugger". */
void an_text_doing(struct an_text *t, const struct an_job *job, uint32_t rank);
/* A line about a rank: where it runs, what it does, what it did last. */
void an_text_rank(struct an_text *t, const struct an_job *job, uint32_t rank);

#endif
