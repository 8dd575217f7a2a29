/* SPDX-License-Identifier: BSD-3-Clause */
/* Job descriptions, to and from messages; see jobdesc.h. */
#include "config.h"
#include "launcher/job/jobdesc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auth.h"
#include "base/base.h"
#include "launcher/job/ranklist.h"
#include "launcher/job/strlist.h"
#include "launcher/launcher.h"

/* ---- questions ------------------------------------------------------------------------------- */

uint32_t ct_jobdesc_app_first(const struct ct_jobdesc *d, uint32_t app)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < app; i++) {
        rank += d->apps[i].ranks;
    }
    return rank;
}

uint32_t ct_jobdesc_ranks(const struct ct_jobdesc *d)
{
    return ct_jobdesc_app_first(d, d->napps);
}

/* Gives each rank its node: blocks, or one rank to each node in turn. */
static void assign_nodes(const struct ct_jobdesc *d, uint32_t *given, uint32_t n)
{
    const struct ct_rank_map *m = &d->ranks;
    for (uint32_t rank = 0, node = 0; rank < n; rank++) {
        while (given[node] == d->nodes[node].ranks) {
            node = (node + 1) % d->nnodes;
        }
        m->node_of[rank] = node;
        m->local_of[rank] = given[node]++;
        m->order[m->first[node] + m->local_of[rank]] = rank;
        node = d->ranks_in_turn ? (node + 1) % d->nnodes : node;
    }
}

bool ct_jobdesc_map(struct ct_jobdesc *d)
{
    uint32_t  n = ct_jobdesc_ranks(d);
    uint32_t *given = calloc((size_t)d->nnodes + 1, sizeof *given);
    d->ranks.node_of = calloc(3 * (size_t)n + d->nnodes + 1, sizeof(uint32_t));
    bool ok = given != NULL && d->ranks.node_of != NULL;
    if (ok) {
        d->ranks.local_of = d->ranks.node_of + n;
        d->ranks.order = d->ranks.local_of + n;
        d->ranks.first = d->ranks.order + n;
        for (uint32_t i = 0; i < d->nnodes; i++) {
            d->ranks.first[i + 1] = d->ranks.first[i] + d->nodes[i].ranks;
        }
        assign_nodes(d, given, n);
    }
    free(given);
    return ok;
}

uint32_t ct_jobdesc_app_of(const struct ct_jobdesc *d, uint32_t rank)
{
    uint32_t app = 0;
    while (app + 1 < d->napps && rank >= d->apps[app].ranks) {
        rank -= d->apps[app].ranks;
        app++;
    }
    return app;
}

/* The text with %r, %l, %n and %% replaced. The caller frees it. */
static char *jobdesc_expand_rank_env(const struct ct_jobdesc *d, const char *text, uint32_t rank)
{
    char  *out = NULL;
    size_t len = 0;
    FILE  *f = open_memstream(&out, &len);
    if (f == NULL) {
        return NULL;
    }
    for (const char *c = text; *c != '\0'; c++) {
        uint32_t number = c[0] != '%'   ? CT_MAX_RANKS
                          : c[1] == 'r' ? rank
                          : c[1] == 'l' ? d->ranks.local_of[rank]
                          : c[1] == 'n' ? d->ranks.node_of[rank]
                                        : CT_MAX_RANKS;
        if (number != CT_MAX_RANKS) {
            fprintf(f, "%u", number);
            c++;
        } else {
            c += c[0] == '%' && c[1] == '%';
            fputc(*c, f);
        }
    }
    return fclose(f) == 0 ? out : NULL;
}

static bool set_all(char ***env, char *const *more)
{
    for (char *const *s = more; s != NULL && *s != NULL; s++) {
        if (!ct_strlist_set(env, *s)) {
            return false;
        }
    }
    return true;
}

/* The numbers of the rank, under the names that scripts read. */
static bool set_numbers(const struct ct_jobdesc *d, uint32_t rank, char ***env)
{
    const struct {
        const char *name;
        uint32_t    value;
    } numbers[] = {{CT_ENV_RANK, rank},
                   {CT_ENV_SIZE, ct_jobdesc_ranks(d)},
                   {CT_ENV_LOCAL_RANK, d->ranks.local_of[rank]},
                   {CT_ENV_LOCAL_SIZE, d->nodes[d->ranks.node_of[rank]].ranks}};
    for (size_t i = 0; i < CT_ARRAY_LEN(numbers); i++) {
        char setting[64];
        snprintf(setting, sizeof setting, "%s=%u", numbers[i].name, numbers[i].value);
        if (!ct_strlist_set(env, setting)) {
            return false;
        }
    }
    return true;
}

char **ct_jobdesc_env(const struct ct_jobdesc *d, uint32_t rank)
{
    char **env = calloc(1, sizeof *env);
    bool   ok = env != NULL && set_all(&env, d->env) &&
              set_all(&env, d->apps[ct_jobdesc_app_of(d, rank)].env);
    for (char **s = d->rank_env; ok && s != NULL && *s != NULL; s++) {
        if (ct_ranklist_has(*s, rank)) {
            char *setting = jobdesc_expand_rank_env(d, strchr(*s, ':') + 1, rank);
            ok = setting != NULL && ct_strlist_set(&env, setting);
            free(setting);
        }
    }
    if (!ok || !set_numbers(d, rank, &env)) {
        ct_strlist_free(env);
        return NULL;
    }
    return env;
}

bool ct_jobdesc_is_debugged(const struct ct_jobdesc *d, uint32_t rank)
{
    return ct_strlist_count(d->debugger) > 0 && ct_ranklist_has(d->debug_ranks, rank);
}

bool ct_jobdesc_has_terminal(const struct ct_jobdesc *d, uint32_t rank)
{
    return d->debug_terminal && rank == ct_ranklist_first(d->debug_ranks);
}

char **ct_jobdesc_command(const struct ct_jobdesc *d, uint32_t rank)
{
    const struct ct_app *app = &d->apps[ct_jobdesc_app_of(d, rank)];
    bool                 debugged = ct_jobdesc_is_debugged(d, rank);
    char               **list = calloc(1, sizeof *list);
    bool ok = list != NULL && ct_strlist_add_all(&list, debugged ? d->debugger : app->argv);
    if (ok && debugged) {
        ok = ct_strlist_add(&list, app->path) && ct_strlist_add_all(&list, app->argv + 1);
    }
    if (!ok) {
        ct_strlist_free(list);
        return NULL;
    }
    return list;
}

/* ---- to messages ----------------------------------------------------------------------------- */

void ct_jobdesc_pack_list(struct evbuffer *out, char *const *list)
{
    size_t n = ct_strlist_count(list);
    ct_pack_u32(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        ct_pack_text(out, list[i]);
    }
}

void ct_jobdesc_pack(const struct ct_jobdesc *d, struct evbuffer *out)
{
    ct_pack_text(out, d->job);
    ct_pack_u32(out, d->napps);
    for (uint32_t i = 0; i < d->napps; i++) {
        ct_pack_u32(out, d->apps[i].ranks);
        ct_pack_text(out, d->apps[i].path);
        ct_pack_text(out, d->apps[i].wdir);
        ct_jobdesc_pack_list(out, d->apps[i].argv);
        ct_jobdesc_pack_list(out, d->apps[i].env);
    }
    ct_jobdesc_pack_list(out, d->env);
    ct_jobdesc_pack_list(out, d->rank_env);
    ct_pack_u32(out, d->nnodes);
    for (uint32_t i = 0; i < d->nnodes; i++) {
        ct_pack_text(out, d->nodes[i].host);
        ct_pack_u32(out, d->nodes[i].ranks);
    }
    ct_pack_u32(out, d->slots);
    ct_pack_u32(out, d->ranks_in_turn);
    ct_jobdesc_pack_list(out, d->agent);
    ct_pack_u32(out, d->agent_shell);
    ct_pack_text(out, d->daemon != NULL ? d->daemon : "");
    ct_pack_u32(out, d->fan_out);
    ct_jobdesc_pack_list(out, d->forward);
    ct_pack_text(out, d->cwd != NULL ? d->cwd : "");
    ct_pack_text(out, d->key);
    ct_pack_text(out, d->nspace);
    ct_pack_text(out, d->parent_nspace != NULL ? d->parent_nspace : "");
    ct_pack_u32(out, d->parent_rank);
    ct_pack_u32(out, d->first_process);
    ct_pack_bytes(out, d->family, d->family_len);
    ct_pack_u32(out, d->map);
    ct_pack_u32(out, d->pe);
    ct_pack_u32(out, d->bind);
    ct_pack_u32(out, d->gpus);
    ct_jobdesc_pack_list(out, d->debugger);
    ct_pack_text(out, d->debug_ranks);
    ct_pack_u32(out, d->debug_terminal);
    ct_pack_u32(out, d->rows);
    ct_pack_u32(out, d->columns);
    ct_pack_u32(out, (uint32_t)d->stdin_to);
    ct_pack_text(out, d->output_dir);
    ct_pack_u32(out, d->output_hidden);
    ct_pack_u32(out, d->one_sink);
    ct_pack_u32(out, d->verbose);
    ct_pack_u32(out, d->tell_ranks);
    ct_pack_u32(out, d->progress);
    ct_pack_u32(out, d->oversubscribe);
    ct_pack_u32(out, d->recovery);
}

/* ---- from messages --------------------------------------------------------------------------- */

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

static bool unpack_bool(struct ct_unpack *in)
{
    return ct_unpack_u32(in) != 0;
}

/* A value of an enum whose last is `most`. */
static uint32_t unpack_enum(struct ct_unpack *in, uint32_t most)
{
    uint32_t v = ct_unpack_u32(in);
    if (v > most) {
        in->bad = true;
    }
    return in->bad ? 0 : v;
}

char **ct_jobdesc_unpack_list(struct ct_unpack *in)
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

static void unpack_apps(struct ct_jobdesc *d, struct ct_unpack *in)
{
    uint64_t total = 0;
    uint32_t n = unpack_count(in, 22);
    d->apps = calloc((size_t)n + 1, sizeof *d->apps);
    if (d->apps == NULL) {
        in->bad = true;
        return;
    }
    d->napps = n;
    for (uint32_t i = 0; i < n; i++) {
        struct ct_app *a = &d->apps[i];
        a->ranks = ct_unpack_u32(in);
        a->path = unpack_copy(in);
        a->wdir = unpack_copy(in);
        a->argv = ct_jobdesc_unpack_list(in);
        a->env = ct_jobdesc_unpack_list(in);
        total += a->ranks;
        if (a->ranks == 0 || a->argv == NULL || a->argv[0] == NULL) {
            in->bad = true;
        }
    }
    if (total == 0 || total > CT_MAX_RANKS) {
        in->bad = true;
    }
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
    if (d->me >= n || d->span == 0 || d->span > n - d->me || total != ct_jobdesc_ranks(d)) {
        in->bad = true;
    }
    d->slots = ct_unpack_u32(in);
    d->ranks_in_turn = unpack_bool(in);
}

static void unpack_ways(struct ct_jobdesc *d, struct ct_unpack *in)
{
    d->agent = ct_jobdesc_unpack_list(in);
    d->agent_shell = unpack_bool(in);
    d->daemon = unpack_copy(in);
    d->fan_out = ct_unpack_u32(in);
    d->forward = ct_jobdesc_unpack_list(in);
    d->cwd = unpack_copy(in);
    d->key = unpack_copy(in);
    d->nspace = unpack_copy(in);
    d->parent_nspace = unpack_copy(in);
    d->parent_rank = ct_unpack_u32(in);
    d->first_process = ct_unpack_u32(in);
    const void *family = ct_unpack_bytes(in, &d->family_len);
    d->family = malloc(d->family_len + 1);
    if (d->family == NULL) {
        in->bad = true;
        return;
    }
    memcpy(d->family, family, d->family_len);
    if (d->fan_out == 0 || d->fan_out > CT_MAX_FAN_OUT) {
        in->bad = true;
    }
    for (char **s = d->forward; s != NULL && *s != NULL; s++) {
        in->bad |= strchr(*s, '=') == NULL;
    }
}

/* Every rank_env has a valid list before its colon, and debug_ranks is one. */
static void check_lists(struct ct_jobdesc *d, struct ct_unpack *in)
{
    uint32_t highest;
    if (!ct_ranklist_is_valid(d->debug_ranks != NULL ? d->debug_ranks : "", &highest)) {
        in->bad = true;
    }
    for (char **s = d->rank_env; s != NULL && *s != NULL; s++) {
        if (strchr(*s, ':') == NULL || !ct_ranklist_is_valid(*s, &highest)) {
            in->bad = true;
        }
    }
}

void ct_jobdesc_unpack(struct ct_jobdesc *d, struct ct_unpack *in)
{
    *d = (struct ct_jobdesc){0};
    d->me = ct_unpack_u32(in);
    d->span = ct_unpack_u32(in);
    d->job = unpack_copy(in);
    unpack_apps(d, in);
    d->env = ct_jobdesc_unpack_list(in);
    d->rank_env = ct_jobdesc_unpack_list(in);
    unpack_nodes(d, in);
    unpack_ways(d, in);
    d->map = (enum ct_map)unpack_enum(in, CT_MAP_L3CACHE);
    d->pe = ct_unpack_u32(in);
    d->bind = (enum ct_bind)unpack_enum(in, CT_BIND_L3CACHE);
    d->gpus = unpack_enum(in, CT_MAX_GPUS_A_RANK);
    d->debugger = ct_jobdesc_unpack_list(in);
    d->debug_ranks = unpack_copy(in);
    d->debug_terminal = unpack_bool(in);
    d->rows = ct_unpack_u32(in);
    d->columns = ct_unpack_u32(in);
    d->stdin_to = (int32_t)ct_unpack_u32(in);
    d->output_dir = unpack_copy(in);
    d->output_hidden = unpack_bool(in);
    d->one_sink = unpack_bool(in);
    d->verbose = unpack_bool(in);
    d->tell_ranks = unpack_bool(in);
    d->progress = unpack_bool(in);
    d->oversubscribe = unpack_bool(in);
    d->recovery = unpack_bool(in);
    check_lists(d, in);
    if (!in->bad && !ct_jobdesc_map(d)) {
        in->bad = true;
    }
}

/* A secret: nothing of it stays in the memory. */
static void wipe_text(char *text)
{
    if (text != NULL) {
        ct_auth_wipe(text, strlen(text));
    }
    free(text);
}

void ct_jobdesc_fini(struct ct_jobdesc *d)
{
    for (uint32_t i = 0; i < d->napps; i++) {
        free(d->apps[i].path);
        free(d->apps[i].wdir);
        ct_strlist_free(d->apps[i].argv);
        ct_strlist_free(d->apps[i].env);
    }
    for (uint32_t i = 0; i < d->nnodes; i++) {
        free(d->nodes[i].host);
    }
    free(d->apps);
    free(d->nodes);
    ct_strlist_free(d->env);
    ct_strlist_free(d->rank_env);
    ct_strlist_free(d->debugger);
    free(d->debug_ranks);
    ct_strlist_free(d->agent);
    ct_strlist_free(d->forward);
    free(d->ranks.node_of);
    free(d->daemon);
    free(d->cwd);
    wipe_text(d->key);
    free(d->store);
    wipe_text(d->nspace);
    wipe_text(d->parent_nspace);
    if (d->family != NULL) {
        ct_auth_wipe(d->family, d->family_len); /* names are secrets */
    }
    free(d->family);
    free(d->job);
    free(d->output_dir);
    *d = (struct ct_jobdesc){0};
}
