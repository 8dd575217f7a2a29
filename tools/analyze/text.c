/* SPDX-License-Identifier: BSD-3-Clause */
/* A report for people in a terminal. */
#include <inttypes.h>

#include "tools/analyze/words.h"

static void print_indented(FILE *out, const char *text)
{
    bool begins = true;
    for (; text != NULL && *text != '\0'; text++) {
        if (begins) {
            (void)fputs("    ", out);
        }
        (void)fputc(*text, out);
        begins = *text == '\n';
    }
}

void an_print_text(const struct an_report *r, FILE *out)
{
    enum { SHOWN = 20 };
    const struct an_job *job = r->job;
    fprintf(out, "job %s: %" PRIu32 " ranks, %" PRIu32 " dumps, %" PRIu32 " communicators\n",
            job->id, job->size, job->ndumps, job->ncomms);
    if (r->n == 0) {
        fprintf(out, "Nothing holds the job up: no call has waited for %.3g s or more.\n",
                (double)job->min_age_ns / 1e9);
    }
    for (uint32_t i = 0; i < r->n && i < SHOWN; i++) {
        const struct an_verdict *v = &r->verdicts[i];
        fprintf(out, "%" PRIu32 ". %s: %s\n", i + 1, an_kind_name(v->kind), v->title.at);
        print_indented(out, v->evidence.at);
        if (v->behind > 0) {
            fprintf(out, "    %" PRIu32 " %s\n", v->behind,
                    v->behind == 1 ? "rank waits behind this" : "ranks wait behind this");
        }
    }
    if (r->n > SHOWN) {
        fprintf(out, "%" PRIu32 " more are not shown; --json has all\n", r->n - SHOWN);
    }
}
