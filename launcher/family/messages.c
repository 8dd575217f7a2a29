/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of the family in a message; see messages.h. Used by heads, and by daemons in
 * pmix/family.c. */
#include "config.h"
#include "launcher/family/messages.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

void ct_family_job_pack(struct evbuffer *body, const char *nspace, const struct ct_jobdesc *d)
{
    ct_pack_text(body, nspace);
    ct_pack_u32(body, d->first_process);
    ct_pack_u32(body, d->napps);
    for (uint32_t i = 0; i < d->napps; i++) {
        ct_pack_u32(body, d->apps[i].ranks);
    }
    ct_pack_u32(body, d->ranks_in_turn);
    ct_pack_u32(body, d->nnodes);
    for (uint32_t i = 0; i < d->nnodes; i++) {
        ct_pack_text(body, d->nodes[i].host);
        ct_pack_u32(body, d->nodes[i].ranks);
    }
}

bool ct_family_job_unpack(struct ct_jobdesc *d, struct ct_unpack *in)
{
    uint64_t ranks = 0, placed = 0;
    *d = (struct ct_jobdesc){0};
    d->first_process = ct_unpack_u32(in);
    uint32_t n = ct_unpack_u32(in);
    d->apps = n <= in->left / 4 ? calloc((size_t)n + 1, sizeof *d->apps) : NULL;
    for (; d->apps != NULL && d->napps < n; d->napps++) {
        d->apps[d->napps].ranks = ct_unpack_u32(in);
        ranks += d->apps[d->napps].ranks;
    }
    d->ranks_in_turn = ct_unpack_u32(in) != 0;
    n = ct_unpack_u32(in);
    d->nodes = n <= in->left / 9 ? calloc((size_t)n + 1, sizeof *d->nodes) : NULL;
    for (; d->nodes != NULL && d->nnodes < n; d->nnodes++) {
        d->nodes[d->nnodes].host = strdup(ct_unpack_text(in));
        d->nodes[d->nnodes].ranks = ct_unpack_u32(in);
        placed += d->nodes[d->nnodes].ranks;
        in->bad |= d->nodes[d->nnodes].host == NULL;
    }
    in->bad |= d->apps == NULL || d->nodes == NULL || ranks == 0 || ranks > CT_MAX_RANKS ||
               placed != ranks;
    in->bad = in->bad || !ct_jobdesc_map(d);
    return !in->bad;
}
