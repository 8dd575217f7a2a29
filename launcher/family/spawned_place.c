/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and places of a spawned job; see spawned_place.h. Used by spawned.c. */
#include "config.h"
#include "launcher/family/spawned_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"

/* Whether the name is in the list, which has ',' between names. */
static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t here = strcspn(at, ",");
        if (here == len && memcmp(at, name, len) == 0) {
            return true;
        }
        at += here + (at[here] == ',');
    }
    return false;
}

static uint32_t spawned_place_count_names(const char *list)
{
    uint32_t n = *list != '\0';
    for (; *list != '\0'; list++) {
        n += *list == ',';
    }
    return n;
}

static uint64_t count_ranks(const struct ct_spawned_place *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->napps; i++) {
        n += p->apps[i].ranks;
    }
    return n;
}

/* So many of the ranks that are left go to a node, with so many nodes to come. */
static uint32_t spawned_place_share(uint64_t left, uint32_t nodes, uint32_t ppn)
{
    uint64_t even = (left + nodes - 1) / nodes;
    return (uint32_t)(ppn == 0 ? even : left < ppn ? left : ppn);
}

static bool spawned_place_place(struct ct_spawned_place *p, const struct ct_jobdesc *d,
                                uint32_t local, const char *hosts, uint32_t ppn)
{
    uint64_t left = count_ranks(p);
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < d->nnodes; i++) {
        nodes += *hosts == '\0' || is_listed(hosts, d->nodes[i].host);
    }
    if (nodes == 0 || (*hosts != '\0' && nodes < spawned_place_count_names(hosts)) ||
        (ppn > 0 && left > (uint64_t)ppn * nodes)) {
        return false;
    }
    p->nodes = calloc(nodes, sizeof *p->nodes);
    for (uint32_t i = 0; p->nodes != NULL && i < d->nnodes && left > 0; i++) {
        if (*hosts != '\0' && !is_listed(hosts, d->nodes[i].host)) {
            continue;
        }
        struct ct_node node = {.host = strdup(d->nodes[i].host),
                               .ranks = spawned_place_share(left, nodes--, ppn)};
        p->local = i == local ? p->nnodes : p->local;
        p->nodes[p->nnodes++] = node;
        left -= node.ranks;
        if (node.host == NULL) {
            return false;
        }
    }
    return p->nodes != NULL;
}

/* Returns false when out of memory; the message makes sense then. */
static bool read_app(struct ct_app *a, struct ct_unpack *in)
{
    a->ranks = ct_unpack_u32(in);
    const char *file = ct_unpack_text(in);
    a->wdir = strdup(ct_unpack_text(in));
    a->argv = ct_jobdesc_unpack_list(in);
    a->env = ct_jobdesc_unpack_list(in);
    a->path = strdup(file);
    in->bad |= a->ranks == 0 || *file == '\0' || a->argv == NULL || a->argv[0] == NULL;
    for (char **s = a->env; s != NULL && *s != NULL; s++) {
        in->bad |= strchr(*s, '=') == NULL;
    }
    return a->wdir != NULL && a->path != NULL;
}

bool ct_spawned_place_read(struct ct_spawned_place *p, const struct ct_jobdesc *desc,
                           uint32_t local, struct ct_unpack *in)
{
    *p = (struct ct_spawned_place){.local = CT_NO_NODE};
    const char *hosts = ct_unpack_text(in);
    uint32_t    ppn = ct_unpack_u32(in), n = ct_unpack_u32(in);
    in->bad |= n == 0 || n > CT_SPAWN_APPS_MAX;
    p->apps = in->bad ? NULL : calloc(n, sizeof *p->apps);
    if (p->apps == NULL) {
        return false;
    }
    bool ok = true;
    for (; p->napps < n && !in->bad && ok; p->napps++) {
        ok = read_app(&p->apps[p->napps], in);
    }
    return !in->bad && ok && count_ranks(p) <= CT_MAX_RANKS &&
           spawned_place_place(p, desc, local, hosts, ppn);
}

void ct_spawned_place_fini(struct ct_spawned_place *p)
{
    for (uint32_t i = 0; i < p->napps; i++) {
        free(p->apps[i].path);
        free(p->apps[i].wdir);
        ct_strlist_free(p->apps[i].argv);
        ct_strlist_free(p->apps[i].env);
    }
    for (uint32_t i = 0; i < p->nnodes; i++) {
        free(p->nodes[i].host);
    }
    free(p->apps);
    free(p->nodes);
}

uint32_t ct_spawned_place_ranks(const struct ct_spawned_place *p)
{
    return (uint32_t)count_ranks(p); /* at most CT_MAX_RANKS, as read */
}
