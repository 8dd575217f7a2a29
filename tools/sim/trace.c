/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces: an array of events in Chrome's trace format, which Perfetto reads, too. A host is a
 * process, a rank of it has two tracks: what it sends off (until the last byte has left), and what
 * comes in (from sending to arrival).
 */
#include <inttypes.h>

#include "sim.h"

static uint32_t host_of(const struct sim_trace *t, uint32_t rank)
{
    return rank / t->cluster->shape.gpus;
}

void sim_trace_begin(struct sim_trace *t, const struct sim_case *c, FILE *to)
{
    char radix[16];
    *t = (struct sim_trace){.to = to, .cluster = c->cluster};
    sim_case_radix(c, radix, sizeof radix);
    fprintf(to,
            "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"collective\": \"%s\", "
            "\"algorithm\": \"%s\", \"radix\": %s, \"ranks\": %u, \"bytes\": %" PRIu64
            "}, \"traceEvents\": [",
            ct_algo_coll_name(c->coll), c->algo->name, radix, c->n, c->bytes);
}

static void slice(struct sim_trace *t, const struct sim_message *m, bool out)
{
    uint32_t rank = out ? m->from : m->to, peer = out ? m->to : m->from;
    uint64_t end = out ? m->left_ps : m->arrived_ps;
    fprintf(t->to,
            "%s\n{\"ph\": \"X\", \"name\": \"%s %u\", \"cat\": \"%s\", \"pid\": %u, \"tid\": %u, "
            "\"ts\": %.6f, \"dur\": %.6f, \"args\": {\"bytes\": %" PRIu64
            ", \"round\": %u, \"chunk\": %u}}",
            t->written++ == 0 ? "" : ",", out ? "to" : "from", peer, out ? "out" : "in",
            host_of(t, rank), 2 * rank + !out, (double)m->posted_ps / SIM_PS_PER_US,
            (double)(end - m->posted_ps) / SIM_PS_PER_US, m->bytes, m->round, m->chunk);
}

void sim_trace_message(void *trace, const struct sim_message *m)
{
    slice(trace, m, true);
    slice(trace, m, false);
}

bool sim_trace_end(struct sim_trace *t, uint32_t ranks)
{
    for (uint32_t track = 0; track < 2 * ranks; track++) {
        fprintf(t->to,
                "%s\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": %u, \"tid\": %u, "
                "\"args\": {\"name\": \"rank %u %s\"}}",
                t->written++ == 0 ? "" : ",", host_of(t, track / 2), track, track / 2,
                track % 2 == 0 ? "out" : "in");
    }
    fprintf(t->to, "\n]}\n");
    return fflush(t->to) == 0 && ferror(t->to) == 0;
}
