/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as a page: the verdicts, and a matrix with a row for each rank and a column for each
 * communicator that has a call under way. The page stands alone: no script, nothing to load. Ranks
 * that look alike in all columns are one row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/analyze/words.h"

enum { COLUMNS = 64, ROWS = 2048 };

static void put_escaped(FILE *out, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        switch (*text) {
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\n':
            (void)fputs("<br>\n", out);
            break;
        default:
            (void)fputc(*text, out);
        }
    }
}

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>ctran_analyze</title>\n"
    "<style>\n"
    "body{font:14px/1.45 system-ui,sans-serif;margin:2em;color:#1a1a1a;background:#fff}\n"
    "h1{font-size:1.4em}h2{font-size:1.15em;margin-top:1.6em}\n"
    ".v{border-left:5px solid #b00020;padding:.3em .8em;margin:.8em 0;background:#faf5f5}\n"
    ".v b{font-size:1.05em}.v small{color:#555}\n"
    "table{border-collapse:collapse;font-size:12px}\n"
    "th,td{border:1px solid #ccc;padding:2px 6px;text-align:left;white-space:nowrap}\n"
    "thead th{position:sticky;top:0;background:#eee}\n"
    ".in{background:#cfe3fb}.no{background:#f7c6c6;font-weight:bold}.over{background:#e2f2e0}\n"
    ".none{background:#fff}.who{background:#b00020;color:#fff}\n"
    "p.key span{padding:1px 8px;border:1px solid #ccc;margin-right:.6em}\n"
    "</style></head><body>\n";

/* ---- columns --------------------------------------------------------------------------------- */

struct column {
    uint32_t comm;
    uint64_t number;
    uint32_t inside;
};

/* The call of each communicator that most ranks are in; the fullest first. */
static uint32_t find_columns(const struct an_job *job, struct column *out)
{
    uint32_t  n = 0, *count = an_alloc(job->ncomms, sizeof *count);
    uint64_t *oldest = an_alloc(job->ncomms, sizeof *oldest);
    memset(oldest, 0xff, job->ncomms * sizeof *oldest);
    for (uint32_t i = 0; i < job->ncalls; i++) {
        const struct an_call *c = &job->calls[i];
        if (!c->over) {
            count[c->comm]++;
            oldest[c->comm] = c->number < oldest[c->comm] ? c->number : oldest[c->comm];
        }
    }
    while (n < COLUMNS) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < job->ncomms; i++) {
            best = count[i] > count[best] ? i : best;
        }
        if (job->ncomms == 0 || count[best] == 0) {
            break;
        }
        out[n++] = (struct column){best, oldest[best], count[best]};
        count[best] = 0;
    }
    free(count);
    free(oldest);
    return n;
}

/* ---- cells ----------------------------------------------------------------------------------- */

enum cell { CELL_NONE, CELL_NO, CELL_IN, CELL_OVER };

static enum cell cell_of(const struct an_job *job, uint32_t rank, const struct column *col)
{
    const struct an_place *p = an_place_of(job, rank, col->comm);
    if (p == NULL) {
        return CELL_NONE;
    }
    if (p->started <= col->number) {
        return CELL_NO;
    }
    const struct an_call *c = an_call_of(job, rank, col->comm, col->number);
    return c != NULL && !c->over ? CELL_IN : CELL_OVER;
}

static void put_cell(FILE *out, enum cell cell)
{
    static const char *const classes[] = {"none", "no", "in", "over"};
    static const char *const words[] = {"", "not called", "in it", "past it"};
    fprintf(out, "<td class=\"%s\">%s</td>", classes[cell], words[cell]);
}

static bool is_blamed(const struct an_report *r, uint32_t rank)
{
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->verdicts[i].nranks; k++) {
            if (r->verdicts[i].ranks[k] == rank && r->verdicts[i].kind != AN_STALLED) {
                return true;
            }
        }
    }
    return false;
}

/* What a rank does, and its cells, as one text: rows with the same text are one. */
static char *row_text(const struct an_report *r, uint32_t rank, const struct column *cols,
                      uint32_t ncols)
{
    char          *at = NULL;
    size_t         len = 0;
    FILE          *row = open_memstream(&at, &len);
    struct an_text doing = {NULL, 0, 0};
    if (row == NULL) {
        return NULL;
    }
    an_text_doing(&doing, r->job, rank);
    fprintf(row, "<td>");
    put_escaped(row, doing.at);
    fprintf(row, "</td>");
    for (uint32_t i = 0; i < ncols; i++) {
        put_cell(row, cell_of(r->job, rank, &cols[i]));
    }
    (void)fclose(row);
    free(doing.at);
    return at;
}

static void put_row(FILE *out, uint32_t first, uint32_t last, bool blamed, const char *text)
{
    fprintf(out, "<tr><th%s>%" PRIu32, blamed ? " class=\"who\"" : "", first);
    if (last > first) {
        fprintf(out, "-%" PRIu32, last);
    }
    fprintf(out, "</th>%s</tr>\n", text);
}

static void put_rows(FILE *out, const struct an_report *r, const struct column *cols,
                     uint32_t ncols)
{
    uint32_t first = 0, rows = 0;
    bool     blamed = false;
    char    *before = NULL;
    for (uint32_t rank = 0; rank < r->job->size && rows < ROWS; rank++) {
        char      *text = row_text(r, rank, cols, ncols);
        const bool now = is_blamed(r, rank);
        if (before == NULL || text == NULL || strcmp(text, before) != 0 || now != blamed) {
            if (before != NULL) {
                put_row(out, first, rank - 1, blamed, before);
                rows++;
            }
            free(before);
            before = text;
            blamed = now;
            first = rank;
        } else {
            free(text);
        }
    }
    if (before != NULL && rows < ROWS) {
        put_row(out, first, r->job->size - 1, blamed, before);
    }
    free(before);
    if (rows == ROWS) {
        fprintf(out, "<tr><th>...</th><td>The first %d rows are shown.</td></tr>\n", ROWS);
    }
}

static void put_matrix(FILE *out, const struct an_report *r)
{
    struct column  cols[COLUMNS];
    const uint32_t n = find_columns(r->job, cols);
    fprintf(out, "<h2>Ranks and communicators</h2>\n<p class=\"key\"><span class=\"in\">in the "
                 "call</span><span class=\"no\">not called</span><span class=\"over\">past "
                 "it</span><span class=\"who\">named above</span></p>\n"
                 "<table><thead><tr><th>ranks</th><th>what they do</th>");
    for (uint32_t i = 0; i < n; i++) {
        fprintf(out, "<th>communicator %" PRIx64 "<br>%" PRIu32 " ranks<br>call %" PRIu64 "</th>",
                r->job->comms[cols[i].comm]->id, r->job->comms[cols[i].comm]->n,
                cols[i].number + 1);
    }
    fprintf(out, "</tr></thead><tbody>\n");
    put_rows(out, r, cols, n);
    fprintf(out, "</tbody></table>\n");
}

void an_print_html(const struct an_report *r, FILE *out)
{
    enum { SHOWN = 50 };
    fprintf(out, "%s<h1>Job ", head);
    put_escaped(out, r->job->id);
    fprintf(out, "</h1>\n<p>%" PRIu32 " ranks, %" PRIu32 " dumps, %" PRIu32 " communicators</p>\n",
            r->job->size, r->job->ndumps, r->job->ncomms);
    fprintf(out, "<h2>What holds the job up</h2>\n");
    if (r->n == 0) {
        fprintf(out, "<p>Nothing.</p>\n");
    }
    for (uint32_t i = 0; i < r->n && i < SHOWN; i++) {
        const struct an_verdict *v = &r->verdicts[i];
        fprintf(out, "<div class=\"v\"><b>");
        put_escaped(out, v->title.at);
        fprintf(out, "</b><br>\n<small>%s, %" PRIu32 " ranks wait behind this</small><br>\n",
                an_kind_name(v->kind), v->behind);
        put_escaped(out, v->evidence.at);
        fprintf(out, "</div>\n");
    }
    put_matrix(out, r);
    fprintf(out, "</body></html>\n");
}
