/* SPDX-License-Identifier: BSD-3-Clause */
/* Job descriptions to and from messages; see jobdesc.h. */
#include "config.h"
#include "jobdesc.h"

#include <stdlib.h>
#include <string.h>

#include "launcher.h"

uint32_t ct_jobdesc_first(const struct ct_jobdesc *d, uint32_t node)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < node; i++) {
        rank += d->nodes[i].ranks;
    }
    return rank;
}

uint32_t ct_jobdesc_ranks(const struct ct_jobdesc *d)
{
    return ct_jobdesc_first(d, d->nnodes);
}

static void pack_list(struct evbuffer *out, char *const *list)
{
    uint32_t n = 0;
    while (list[n] != NULL) {
        n++;
    }
    ct_pack_u32(out, n);
    for (uint32_t i = 0; i < n; i++) {
        ct_pack_text(out, list[i]);
    }
}

void ct_jobdesc_pack(const struct ct_jobdesc *d, struct evbuffer *out)
{
    ct_pack_text(out, d->job);
    ct_pack_text(out, d->path);
    ct_pack_text(out, d->wdir);
    pack_list(out, d->argv);
    pack_list(out, d->env);
    ct_pack_u32(out, d->nnodes);
    for (uint32_t i = 0; i < d->nnodes; i++) {
        ct_pack_text(out, d->nodes[i].host);
        ct_pack_u32(out, d->nodes[i].ranks);
    }
    ct_pack_u32(out, d->me);
    ct_pack_u32(out, d->bind);
    ct_pack_u32(out, d->one_sink);
    ct_pack_u32(out, d->verbose);
}

static char *unpack_copy(struct ct_unpack *in)
{
    char *copy = strdup(ct_unpack_text(in));
    if (copy == NULL) {
        in->bad = true;
    }
    return copy;
}

/* A number of things that take at least `each` bytes, so a false one cannot ask for memory. */
static uint32_t unpack_count(struct ct_unpack *in, size_t each)
{
    uint32_t n = ct_unpack_u32(in);
    if (n > in->left / each) {
        in->bad = true;
    }
    return in->bad ? 0 : n;
}

static char **unpack_list(struct ct_unpack *in)
{
    uint32_t n = unpack_count(in, 5);
    char   **list = calloc((size_t)n + 1, sizeof *list);
    if (list == NULL) {
        in->bad = true;
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++) {
        list[i] = unpack_copy(in);
    }
    return list;
}

static void unpack_nodes(struct ct_jobdesc *d, struct ct_unpack *in)
{
    uint64_t total = 0;
    uint32_t n = unpack_count(in, 9);
    d->nodes = calloc((size_t)n + 1, sizeof *d->nodes);
    if (d->nodes == NULL) {
        in->bad = true;
        return;
    }
    d->nnodes = n;
    for (uint32_t i = 0; i < n; i++) {
        d->nodes[i].host = unpack_copy(in);
        d->nodes[i].ranks = ct_unpack_u32(in);
        total += d->nodes[i].ranks;
    }
    d->me = ct_unpack_u32(in);
    if (d->me >= n || total == 0 || total > CT_MAX_RANKS) {
        in->bad = true;
    }
}

void ct_jobdesc_unpack(struct ct_jobdesc *d, struct ct_unpack *in)
{
    *d = (struct ct_jobdesc){0};
    d->job = unpack_copy(in);
    d->path = unpack_copy(in);
    d->wdir = unpack_copy(in);
    d->argv = unpack_list(in);
    d->env = unpack_list(in);
    unpack_nodes(d, in);
    uint32_t bind = ct_unpack_u32(in);
    d->bind = (enum ct_bind)bind;
    d->one_sink = ct_unpack_u32(in) != 0;
    d->verbose = ct_unpack_u32(in) != 0;
    if (bind > CT_BIND_CORE || d->argv == NULL || d->argv[0] == NULL) {
        in->bad = true;
    }
}

static void free_list(char **list)
{
    for (char **s = list; s != NULL && *s != NULL; s++) {
        free(*s);
    }
    free(list);
}

void ct_jobdesc_fini(struct ct_jobdesc *d)
{
    for (uint32_t i = 0; i < d->nnodes; i++) {
        free(d->nodes[i].host);
    }
    free(d->nodes);
    free_list(d->argv);
    free_list(d->env);
    free(d->job);
    free(d->path);
    free(d->wdir);
    *d = (struct ct_jobdesc){0};
}
