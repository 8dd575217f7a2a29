/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of verdicts: lists of ranks, communicators, processes. Used by judge.c and the printers. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/analyze/words.h"

void an_text_add(struct an_text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    if (t->len + (size_t)n + 1 > t->room) {
        t->room = 2 * (t->len + (size_t)n + 1);
        t->at = realloc(t->at, t->room);
        if (t->at == NULL) {
            fprintf(stderr, "ctran_analyze: out of memory\n");
            exit(1);
        }
    }
    (void)vsnprintf(t->at + t->len, t->room - t->len, fmt, again);
    t->len += (size_t)n;
    va_end(again);
    va_end(ap);
}

/* ranks are in order */
void an_text_ranks(struct an_text *t, const uint32_t *ranks, uint32_t n)
{
    enum { SHOWN = 16 };
    an_text_add(t, "%s ", n == 1 ? "rank" : "ranks");
    uint32_t runs = 0, i = 0;
    while (i < n && runs < SHOWN) {
        uint32_t last = i;
        while (last + 1 < n && ranks[last + 1] == ranks[last] + 1) {
            last++;
        }
        an_text_add(t, "%s%" PRIu32, runs > 0 ? "," : "", ranks[i]);
        if (last > i) {
            an_text_add(t, "%s%" PRIu32, last == i + 1 ? "," : "-", ranks[last]);
        }
        i = last + 1;
        runs++;
    }
    if (i < n) {
        an_text_add(t, ",... (%" PRIu32 " in all)", n);
    }
}

void an_text_comm(struct an_text *t, const struct an_job *job, uint32_t comm)
{
    an_text_add(t, "communicator %" PRIx64 " (%s%" PRIu32 " ranks)", job->comms[comm]->id,
                job->comms[comm]->n == job->size ? "all " : "", job->comms[comm]->n);
}

void an_text_call(struct an_text *t, const struct an_job *job, const char *operation, uint32_t comm,
                  uint64_t number)
{
    an_text_add(t, "%s, call %" PRIu64 " of ", operation, number + 1);
    an_text_comm(t, job, comm);
}

void an_text_seconds(struct an_text *t, uint64_t ns)
{
    an_text_add(t, "%.3g s", (double)ns / 1e9);
}

static void text_ended(struct an_text *t, uint32_t wait_status)
{
    const int status = (int)wait_status;
    if (WIFSIGNALED(status)) {
        an_text_add(t, "was killed by signal %d", WTERMSIG(status));
    } else {
        an_text_add(t, "has ended with exit status %d", WEXITSTATUS(status));
    }
}

/* The collective call that a rank ended last. */
static const struct an_call *last_call(const struct an_job *job, const struct an_rank *r)
{
    const struct an_call *last = NULL;
    for (uint32_t i = 0; i < r->ncalls; i++) {
        const struct an_call *c = &job->calls[r->first_call + i];
        if (c->over && (last == NULL || c->start_ns > last->start_ns)) {
            last = c;
        }
    }
    return last;
}

/* The collective call that a rank is in; NULL: none that blocks. */
static const struct an_call *call_now(const struct an_job *job, const struct an_rank *r)
{
    const struct an_call *now = NULL;
    for (uint32_t i = 0; i < r->ncalls; i++) {
        const struct an_call *c = &job->calls[r->first_call + i];
        if (!c->over && (c->flags & CT_TRACE_BLOCKING) != 0) {
            now = c;
        }
    }
    return now;
}

static void text_wait_item(struct an_text *t, const struct ct_trace_wait_item *item)
{
    static const char *const what[] = {"something", "a send to", "a message of", "a collective",
                                       "something"};
    an_text_add(t, "%s", what[item->kind < CT_ARRAY_LEN(what) ? item->kind : 0]);
    if (item->kind == CT_TRACE_SEND || item->kind == CT_TRACE_RECV) {
        if (item->peer >= 0) {
            an_text_add(t, " rank %" PRId32, item->peer);
        } else {
            an_text_add(t, " any rank");
        }
        if (item->tag >= 0) {
            an_text_add(t, " with tag %" PRId32, item->tag);
        }
    }
}

void an_text_doing(struct an_text *t, const struct an_job *job, uint32_t rank)
{
    const struct an_rank            *r = &job->ranks[rank];
    const struct an_wait            *w = NULL;
    const struct ct_trace_wait_item *item = an_item(job, rank, 0, &w);
    const struct an_call            *now = call_now(job, r);
    if (r->state == AN_ENDED) {
        text_ended(t, r->detail);
    } else if (r->state == AN_STOPPED) {
        an_text_add(t, "is stopped by a signal or a debugger");
    } else if (r->state == AN_ABSENT) {
        an_text_add(t, "has not called ctran_init, or has no trace");
    } else if (r->state == AN_LEFT) {
        an_text_add(t, "has called ctran_finalize");
    } else if (r->state == AN_NO_DUMP) {
        an_text_add(t, "has left no dump: it is dead, or its dump is missing");
    } else if (item != NULL) {
        an_text_add(t, "waits in %s for ", an_name(job, w->name));
        text_wait_item(t, item);
    } else if (now != NULL) {
        an_text_add(t, "is in ");
        an_text_call(t, job, an_name(job, now->name), now->comm, now->number);
    } else if (r->nwaits > 0) {
        an_text_add(t, "waits in %s", an_name(job, job->waits[r->first_wait].name));
    } else {
        an_text_add(t, "is in no call that waits%s",
                    r->detail == 'R'   ? " and uses a CPU"
                    : r->detail == 'S' ? " and sleeps"
                    : r->detail == 'D' ? " and is blocked in the kernel"
                                       : "");
    }
}

void an_text_rank(struct an_text *t, const struct an_job *job, uint32_t rank)
{
    const struct an_rank *r = &job->ranks[rank];
    const struct an_call *last = last_call(job, r);
    an_text_add(t, "rank %" PRIu32, rank);
    if (r->host[0] != '\0') {
        an_text_add(t, " (host %s, pid %" PRIu32 ")", r->host, r->pid);
    }
    an_text_add(t, " ");
    an_text_doing(t, job, rank);
    if (last != NULL && r->taken_ns > last->start_ns) {
        an_text_add(t, "; the last collective call that it ended is ");
        an_text_call(t, job, an_name(job, last->name), last->comm, last->number);
        an_text_add(t, ", which it began ");
        an_text_seconds(t, r->taken_ns - last->start_ns);
        an_text_add(t, " ago");
    }
    if (r->lost > 0) {
        an_text_add(t, "; %" PRIu32 " calls had no room in its trace", r->lost);
    }
    an_text_add(t, "\n");
}
