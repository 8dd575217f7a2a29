/* SPDX-License-Identifier: BSD-3-Clause */
/* A report as JSON; ctran_analyze(1) lists the fields. And the timeline, in the form that Chrome
 * and Perfetto read. */
#include <inttypes.h>
#include <stdlib.h>

#include "tools/analyze/words.h"

/* A string in quotes; texts of dumps are printable, so these letters are all that needs care. */
static void put_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fprintf(out, "\\%c", *text);
        } else if (*text == '\n') {
            (void)fputs("\\n", out);
        } else {
            (void)fputc(*text, out);
        }
    }
    (void)fputc('"', out);
}

static void put_verdict(FILE *out, const struct an_job *job, const struct an_verdict *v)
{
    fprintf(out, "{\"kind\": \"%s\", \"title\": ", an_kind_name(v->kind));
    put_string(out, v->title.at);
    fprintf(out, ", \"ranks\": [");
    for (uint32_t i = 0; i < v->nranks; i++) {
        fprintf(out, "%s%" PRIu32, i > 0 ? ", " : "", v->ranks[i]);
    }
    fprintf(out, "], \"behind\": %" PRIu32 ", \"operation\": ", v->behind);
    put_string(out, v->operation);
    if (v->comm != AN_NONE) {
        fprintf(out, ", \"communicator\": \"%" PRIx64 "\", \"call\": %" PRIu64,
                job->comms[v->comm]->id, v->number + 1);
    }
    fprintf(out, ", \"evidence\": ");
    put_string(out, v->evidence.at);
    fprintf(out, "}");
}

void an_print_json(const struct an_report *r, FILE *out)
{
    const struct an_job *job = r->job;
    fprintf(out, "{\"version\": 1, \"job\": ");
    put_string(out, job->id);
    fprintf(out, ", \"ranks\": %" PRIu32 ", \"dumps\": %" PRIu32 ", \"verdicts\": [\n", job->size,
            job->ndumps);
    for (uint32_t i = 0; i < r->n; i++) {
        put_verdict(out, job, &r->verdicts[i]);
        fprintf(out, "%s\n", i + 1 < r->n ? "," : "");
    }
    fprintf(out, "]}\n");
}

/* ---- timeline -------------------------------------------------------------------------------- */

static void put_call(FILE *out, const struct an_job *job, uint32_t rank, const struct an_call *c,
                     uint64_t zero_ns)
{
    const uint64_t end = c->end_ns != 0 ? c->end_ns
                         : c->over      ? c->start_ns
                                        : job->ranks[rank].taken_ns;
    fprintf(out, ",\n{\"ph\": \"X\", \"pid\": %" PRIu32 ", \"tid\": 0, \"ts\": %.3f, \"dur\": %.3f",
            rank, (double)(c->start_ns - zero_ns) / 1e3,
            end > c->start_ns ? (double)(end - c->start_ns) / 1e3 : 0.0);
    fprintf(out, ", \"cat\": \"collective\", \"name\": ");
    put_string(out, an_name(job, c->name));
    fprintf(out, ", \"args\": {\"communicator\": \"%" PRIx64 "\", \"call\": %" PRIu64,
            job->comms[c->comm]->id, c->number + 1);
    if (c->bytes != CT_TRACE_UNKNOWN) {
        fprintf(out, ", \"bytes\": %" PRIu64, c->bytes);
    }
    if (c->root >= 0) {
        fprintf(out, ", \"root\": %" PRId32, c->root);
    }
    if (c->algorithm != 0) {
        fprintf(out, ", \"algorithm\": ");
        put_string(out, an_name(job, c->algorithm));
    }
    fprintf(out, ", \"over\": %s}}", c->over ? "true" : "false");
}

void an_print_timeline(const struct an_job *job, FILE *out)
{
    uint64_t zero = UINT64_MAX;
    for (uint32_t i = 0; i < job->ncalls; i++) {
        zero = job->calls[i].start_ns < zero ? job->calls[i].start_ns : zero;
    }
    fprintf(out, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n{\"ph\": \"M\", \"pid\": 0, "
                 "\"name\": \"process_name\", \"args\": {\"name\": \"rank 0\"}}");
    for (uint32_t r = 0; r < job->size; r++) {
        const struct an_rank *rank = &job->ranks[r];
        fprintf(out,
                ",\n{\"ph\": \"M\", \"pid\": %" PRIu32
                ", \"name\": \"process_name\", \"args\": {\"name\": \"rank %" PRIu32 " ",
                r, r);
        for (const char *h = rank->host; *h != '\0'; h++) {
            (void)fputc(*h == '"' || *h == '\\' ? '?' : *h, out);
        }
        fprintf(out,
                "\"}},\n{\"ph\": \"M\", \"pid\": %" PRIu32
                ", \"name\": \"process_sort_index\", \"args\": {\"sort_index\": %" PRIu32 "}}",
                r, r);
        for (uint32_t i = 0; i < rank->ncalls; i++) {
            put_call(out, job, r, &job->calls[rank->first_call + i], zero);
        }
    }
    fprintf(out, "\n]}\n");
}
