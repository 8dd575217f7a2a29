/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of the family in a message; see jobs.h. Used by jobs.c and, in the daemon,
 * pmix/family.c. */
#include "config.h"
#include "launcher/family/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/launcher.h"

bool ct_family_job_unpack(struct ct_jobdesc *d, struct ct_unpack *in)
{
    uint64_t ranks = 0, placed = 0;
    *d = (struct ct_jobdesc){0};
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
