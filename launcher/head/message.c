/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of ctranrun's own on standard error, and the words in them for ranks and nodes. Used by the
 * other files of the head.
 */
#include "config.h"
#include "launcher/head/state.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/base.h"

void ct_head_message(struct ct_head *h, const char *fmt, ...)
{
    char    line[4096];
    va_list ap;
    int     len = snprintf(line, sizeof line, "ctranrun: job %s: ", h->job);
    va_start(ap, fmt);
    int more = vsnprintf(line + len, sizeof line - (size_t)len - 1, fmt, ap);
    va_end(ap);
    size_t total = ct_min_size((size_t)len + (size_t)(more > 0 ? more : 0), sizeof line - 2);
    for (size_t i = 0; i < total; i++) {
        line[i] = line[i] == '\n' ? ' ' : line[i]; /* a rank's message may hold anything */
    }
    line[total] = '\n';
    line[total + 1] = '\0';
    ct_output_message(h->out, line);
}

const char *ct_head_host(const struct ct_head *h, uint32_t rank)
{
    const struct ct_jobdesc *d = h->args->desc;
    return rank < ct_jobdesc_ranks(d) ? d->nodes[d->ranks.node_of[rank]].host : "(none)";
}

/* The node of a message, which must exist. */
uint32_t ct_head_take_node(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t node = ct_unpack_u32(in);
    in->bad |= node >= h->args->desc->nnodes;
    return in->bad ? 0 : node;
}

/* "host b: " in a job of several nodes; the node's message follows. */
const char *ct_head_prefix(struct ct_head *h, struct ct_unpack *in)
{
    uint32_t node = ct_head_take_node(h, in);
    h->prefix[0] = '\0';
    if (h->args->desc->nnodes > 1) {
        snprintf(h->prefix, sizeof h->prefix, "host %s: ", h->args->desc->nodes[node].host);
    }
    return h->prefix;
}
