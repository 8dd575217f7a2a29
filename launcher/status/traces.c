/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of a node; see traces.h. Used by server.c and ctrand.c. */
#include "config.h"
#include "launcher/status/traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/status/tracefile.h"
#include "trace/trace.h"

/* What the daemon knows of the process, which a dead or stopped one does not tell. */
static void note_process(struct ct_trace_header *h, const struct ct_proc *p,
                         const struct ct_usage *use)
{
    const char letter = use->state;
    h->process_detail = (uint32_t)(unsigned char)letter;
    if (p->ended) {
        h->process = CT_TRACE_PROCESS_ENDED;
        h->process_detail = (uint32_t)p->wait_status;
    } else if (letter == 'T' || letter == 't') {
        h->process = CT_TRACE_PROCESS_STOPPED;
    } else if (h->life == CT_TRACE_LIFE_NONE) {
        h->process = CT_TRACE_PROCESS_ABSENT;
    } else {
        h->process = CT_TRACE_PROCESS_RUNS;
    }
}

static size_t make_dump(const struct ct_jobdesc *d, const struct ct_procs *procs, uint32_t i,
                        const struct ct_usage *use, void *out)
{
    struct ct_trace_header *h = out;
    size_t                  len = ct_tracefile_read(procs->trace_fd, i, out);
    if (len == 0) {
        ct_trace_pack_blank(h, procs->ranks[i], ct_jobdesc_ranks(d));
        h->taken = ct_trace_pack_moment();
        len = sizeof *h;
    }
    h->rank = procs->ranks[i]; /* whatever the process has written there */
    h->size = ct_jobdesc_ranks(d);
    h->owner = (uint32_t)procs->all[i].pid;
    snprintf(h->job, sizeof h->job, "%s", d->job);
    snprintf(h->host, sizeof h->host, "%s", d->nodes[d->me].host);
    snprintf(h->why, sizeof h->why, "ctranrun --analyze");
    note_process(h, &procs->all[i], use);
    return len;
}

void ct_traces_each(const struct ct_jobdesc *d, const struct ct_procs                        *procs,
                    void (*fn)(void *arg, uint32_t rank, const void *dump, size_t len), void *arg)
{
    void            *dump = malloc(ct_tracefile_most());
    struct ct_usage *use = calloc((size_t)procs->n + 1, sizeof *use);
    if (dump != NULL && use != NULL) {
        for (uint32_t i = 0; i < procs->n; i++) {
            use[i].pid = procs->all[i].ended ? 0 : procs->all[i].pid;
        }
        ct_reaper_usage(use, procs->n);
        for (uint32_t i = 0; i < procs->n; i++) {
            fn(arg, procs->ranks[i], dump, make_dump(d, procs, i, &use[i], dump));
        }
    }
    free(dump);
    free(use);
}

/* ---- from node to node ----------------------------------------------------------------------- */

void ct_traces_ask(const struct ct_jobdesc *d, struct ct_conn *parent, uint32_t request)
{
    struct evbuffer *body = evbuffer_new();
    ct_pack_u32(body, d->me);
    ct_pack_u32(body, request);
    ct_conn_send(parent, CT_MSG_TRACES_ASK, body);
    evbuffer_free(body);
}

struct asker {
    const struct ct_jobdesc *desc;
    struct ct_conn          *parent;
    uint32_t                 node, request;
};

static void answer_asker(void *arg, uint32_t rank, const void *dump, size_t len)
{
    const struct asker *a = arg;
    struct evbuffer    *body = evbuffer_new();
    ct_pack_u32(body, a->node);
    ct_pack_u32(body, a->request);
    ct_pack_u32(body, a->desc->me);
    ct_pack_u32(body, rank);
    ct_pack_bytes(body, dump, len);
    ct_conn_send(a->parent, CT_MSG_TRACES, body);
    evbuffer_free(body);
}

void ct_traces_take_ask(const struct ct_jobdesc *d, const struct ct_procs *procs,
                        struct ct_conn *parent, struct ct_unpack *in)
{
    struct asker a = {.desc = d, .parent = parent};
    a.node = ct_unpack_u32(in);
    a.request = ct_unpack_u32(in);
    in->bad |= a.node >= d->nnodes;
    if (in->bad || a.node == d->me) {
        return;
    }
    ct_traces_each(d, procs, answer_asker, &a);
    answer_asker(&a, UINT32_MAX, "", 0);
}
