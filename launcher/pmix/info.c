/* SPDX-License-Identifier: BSD-3-Clause */
/* The job in PMIx's terms; see info.h. Used by server.c. */
#include "config.h"
#include "launcher/pmix/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_server.h>

#include "base/base.h"

/* A growing list of attributes. */
struct infos {
    pmix_info_t *all;
    size_t       n, cap;
};

static bool infos_init(struct infos *l, size_t cap)
{
    *l = (struct infos){.cap = cap};
    PMIX_INFO_CREATE(l->all, cap);
    return l->all != NULL;
}

static void pmix_info_add(struct infos *l, const char *key, const void *value,
                          pmix_data_type_t type)
{
    if (l->n < l->cap) {
        PMIX_INFO_LOAD(&l->all[l->n], key, value, type);
        l->n++;
    }
}

static void add_u32(struct infos *l, const char *key, uint32_t v)
{
    pmix_info_add(l, key, &v, PMIX_UINT32);
}

static void pmix_info_add_rank(struct infos *l, const char *key, pmix_rank_t v)
{
    pmix_info_add(l, key, &v, PMIX_PROC_RANK);
}

/* "4,5,6,7": the ranks of a node. The caller frees it. */
static char *pmix_info_list_ranks(const struct ct_jobdesc *d, uint32_t node)
{
    uint32_t n = d->nodes[node].ranks;
    size_t   cap = 7 * (size_t)n + 1, len = 0; /* ranks have at most five digits */
    char    *text = calloc(1, cap);
    for (uint32_t i = 0; text != NULL && i < n; i++) {
        len += (size_t)snprintf(text + len, cap - len, "%s%u", i > 0 ? "," : "",
                                ct_jobdesc_rank(d, node, i));
    }
    return text;
}

/* The nodes' names with ',' and their ranks with ';' between them. The caller frees both. */
static bool list_nodes(const struct ct_jobdesc *d, char **hosts, char **ranks)
{
    size_t hosts_len = 0, ranks_len = 0;
    FILE  *h = open_memstream(hosts, &hosts_len), *r = open_memstream(ranks, &ranks_len);
    if (h == NULL || r == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < d->nnodes; i++) {
        char *list = pmix_info_list_ranks(d, i);
        fprintf(h, "%s%s", i > 0 ? "," : "", d->nodes[i].host);
        fprintf(r, "%s%s", i > 0 ? ";" : "", list != NULL ? list : "");
        free(list);
    }
    bool ok = fclose(h) == 0;
    return fclose(r) == 0 && ok;
}

static bool add_maps(struct infos *l, const struct ct_jobdesc *d)
{
    char *hosts = NULL, *ranks = NULL, *node_map = NULL, *proc_map = NULL;
    bool  ok = list_nodes(d, &hosts, &ranks) &&
              PMIx_generate_regex(hosts, &node_map) == PMIX_SUCCESS &&
              PMIx_generate_ppn(ranks, &proc_map) == PMIX_SUCCESS;
    if (ok) {
        pmix_info_add(l, PMIX_NODE_MAP, node_map, PMIX_REGEX);
        pmix_info_add(l, PMIX_PROC_MAP, proc_map, PMIX_REGEX);
        pmix_info_add(l, PMIX_NODE_LIST, hosts, PMIX_STRING);
    }
    free(hosts);
    free(ranks);
    free(node_map);
    free(proc_map);
    return ok;
}

static bool has_parent(const struct ct_jobdesc *d)
{
    return d->parent_nspace != NULL && d->parent_nspace[0] != '\0';
}

/* It is asked for of the job and of its processes. */
static void add_parent(struct infos *l, const struct ct_jobdesc *d)
{
    pmix_proc_t parent;
    PMIX_LOAD_PROCID(&parent, d->parent_nspace, d->parent_rank);
    pmix_info_add(l, PMIX_PARENT_ID, &parent, PMIX_PROC);
}

static void add_job(struct infos *l, const char *nspace, const struct ct_jobdesc *d,
                    const char *tmpdir)
{
    uint32_t n = ct_jobdesc_ranks(d);
    bool     yes = true;
    pmix_info_add(l, PMIX_JOBID, nspace, PMIX_STRING);
    add_u32(l, PMIX_JOB_SIZE, n);
    add_u32(l, PMIX_UNIV_SIZE, (uint32_t)ct_max_size(n, d->slots));
    add_u32(l, PMIX_MAX_PROCS, n);
    add_u32(l, PMIX_JOB_NUM_APPS, d->napps);
    add_u32(l, PMIX_NUM_NODES, d->nnodes);
    if (tmpdir != NULL) {
        pmix_info_add(l, PMIX_TMPDIR, tmpdir, PMIX_STRING);
        pmix_info_add(l, PMIX_NSDIR, tmpdir, PMIX_STRING);
        pmix_info_add(l, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL);
    }
    if (has_parent(d)) {
        add_parent(l, d);
        pmix_info_add(l, PMIX_SPAWNED, &yes, PMIX_BOOL);
    }
    if (d->recovery) {
        pmix_info_add(l, PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL);
    }
}

/* What is true for the node of this daemon. */
static void add_this_node(struct infos *l, const struct ct_jobdesc *d)
{
    char *peers = pmix_info_list_ranks(d, d->me);
    pmix_info_add(l, PMIX_HOSTNAME, d->nodes[d->me].host, PMIX_STRING);
    add_u32(l, PMIX_NODEID, d->me);
    add_u32(l, PMIX_LOCAL_SIZE, d->nodes[d->me].ranks);
    add_u32(l, PMIX_NODE_SIZE, d->nodes[d->me].ranks);
    pmix_info_add_rank(l, PMIX_LOCALLDR, ct_jobdesc_rank(d, d->me, 0));
    if (peers != NULL) {
        pmix_info_add(l, PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    }
    free(peers);
}

/* One rank's data, as an array in one attribute. */
static bool pmix_info_add_proc(struct infos *l, const struct ct_jobdesc *d, uint32_t node,
                               uint32_t local)
{
    struct infos p;
    uint32_t     rank = ct_jobdesc_rank(d, node, local);
    uint32_t     app = ct_jobdesc_app_of(d, rank), app_first = ct_jobdesc_app_first(d, app);
    uint16_t     local16 = (uint16_t)local;
    if (!infos_init(&p, 12)) {
        return false;
    }
    pmix_info_add_rank(&p, PMIX_RANK, rank);
    pmix_info_add_rank(&p, PMIX_GLOBAL_RANK, d->first_process + rank);
    pmix_info_add_rank(&p, PMIX_APP_RANK, rank - app_first);
    pmix_info_add_rank(&p, PMIX_APPLDR, app_first);
    add_u32(&p, PMIX_APP_SIZE, d->apps[app].ranks);
    pmix_info_add(&p, PMIX_LOCAL_RANK, &local16, PMIX_UINT16);
    pmix_info_add(&p, PMIX_NODE_RANK, &local16, PMIX_UINT16);
    add_u32(&p, PMIX_NODEID, node);
    pmix_info_add(&p, PMIX_HOSTNAME, d->nodes[node].host, PMIX_STRING);
    add_u32(&p, PMIX_APPNUM, app);
    add_u32(&p, PMIX_REINCARNATION, 0);
    if (has_parent(d)) {
        add_parent(&p, d);
    }
    pmix_data_array_t array = {.type = PMIX_INFO, .size = p.n, .array = p.all};
    pmix_info_add(l, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(p.all, p.cap);
    return true;
}

/* What is true for one program, as an array in one attribute. */
static bool pmix_info_add_app(struct infos *l, const struct ct_jobdesc *d, uint32_t app)
{
    const struct ct_app *a = &d->apps[app];
    struct infos         p;
    if (!infos_init(&p, 5)) {
        return false;
    }
    add_u32(&p, PMIX_APPNUM, app);
    add_u32(&p, PMIX_APP_SIZE, a->ranks);
    pmix_info_add_rank(&p, PMIX_APPLDR, ct_jobdesc_app_first(d, app));
    if (a->argv != NULL) {
        pmix_info_add(&p, PMIX_APP_ARGV, a->argv[0], PMIX_STRING);
        pmix_info_add(&p, PMIX_WDIR, a->wdir, PMIX_STRING);
    }
    pmix_data_array_t array = {.type = PMIX_INFO, .size = p.n, .array = p.all};
    pmix_info_add(l, PMIX_APP_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(p.all, p.cap);
    return true;
}

/* without a directory no rank of the program is here */
static pmix_status_t register_job(const char *nspace, const struct ct_jobdesc *d,
                                  const char *tmpdir)
{
    struct infos l;
    bool         ok = infos_init(&l, 32 + (size_t)ct_jobdesc_ranks(d) + d->napps);
    if (ok) {
        add_job(&l, nspace, d, tmpdir);
        if (tmpdir != NULL) {
            add_this_node(&l, d);
        }
        ok = add_maps(&l, d);
    }
    for (uint32_t app = 0; ok && app < d->napps; app++) {
        ok = pmix_info_add_app(&l, d, app);
    }
    for (uint32_t node = 0; ok && node < d->nnodes; node++) {
        for (uint32_t i = 0; ok && i < d->nodes[node].ranks; i++) {
            ok = pmix_info_add_proc(&l, d, node, i);
        }
    }
    pmix_status_t rc = PMIX_ERR_NOMEM;
    if (ok) {
        int here = tmpdir != NULL ? (int)d->nodes[d->me].ranks : 0;
        rc = PMIx_server_register_nspace(nspace, here, l.all, l.n, NULL, NULL);
    }
    PMIX_INFO_FREE(l.all, l.cap);
    return rc;
}

pmix_status_t ct_pmix_info_register(const char *nspace, const struct ct_jobdesc *d,
                                    const char *tmpdir)
{
    return register_job(nspace, d, tmpdir);
}

pmix_status_t ct_pmix_info_register_other_job(const char *nspace, const struct ct_jobdesc *d)
{
    pmix_status_t rc = register_job(nspace, d, NULL);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}
