/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm would run, and why; see choices.h. The library itself is asked. */
#include "tools/choices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "tools/topology/text.h"

/* What is shown where no size is asked for. */
static const size_t usual_sizes[] = {8, 1 << 10, 32 << 10, 1 << 20, 32 << 20};

struct question {
    struct ct_process p;
    struct ct_shape   shape;
    struct ct_levels *levels; /* shape's */
    uint32_t          colls;  /* bits */
    size_t            size;
    uint32_t          root;
    bool              ordered, nonblocking;
    bool              all_sizes, json;
    bool              shm_colls; /* there may be one: over it is another answer */
    const char       *separator;
};

/* ---- the question ---------------------------------------------------------------------------- */

static bool number(const char *what, const char *text, enum ct_var_type type, int64_t least,
                   int64_t most, int64_t *out)
{
    if (!ct_config_number(type, text, out) || *out < least || *out > most) {
        fprintf(stderr, "ctran_info: %s \"%s\": a number from %" PRId64 " to %" PRId64 "%s\n", what,
                text, least, most,
                type == CT_VAR_SIZE ? ", K, M and G allowed, was expected" : " was expected");
        return false;
    }
    return true;
}

static bool read_collective(struct question *q, const char *name)
{
    char why[1024];
    if (strcmp(name, "all") == 0) {
        q->colls = UINT32_MAX;
        return true;
    }
    q->colls = ct_coll_parse(name, why, sizeof why);
    if (q->colls == 0) {
        fprintf(stderr, "ctran_info: --coll: %s, or all\n", why);
    }
    return q->colls != 0;
}

static bool read_request(struct question *q, const struct choices_request *r)
{
    int64_t ranks, nodes = 1, size = 0, root = 0;
    if (!read_collective(q, r->coll) ||
        !number("--ranks", r->ranks, CT_VAR_INT, 1, 1 << 24, &ranks) ||
        (r->nodes != NULL && !number("--nodes", r->nodes, CT_VAR_INT, 1, ranks, &nodes)) ||
        (r->size != NULL && !number("--size", r->size, CT_VAR_SIZE, 0, INT64_MAX, &size)) ||
        (r->root != NULL && !number("--root", r->root, CT_VAR_INT, 0, ranks - 1, &root))) {
        return false;
    }
    q->shape = (struct ct_shape){.n = (uint32_t)ranks,
                                 .nodes = (uint32_t)nodes,
                                 .local = (uint32_t)ct_div_up((size_t)ranks, (size_t)nodes)};
    q->size = (size_t)size;
    q->root = (uint32_t)root;
    q->ordered = r->ordered;
    q->nonblocking = r->nonblocking;
    q->all_sizes = r->size == NULL;
    q->json = r->json;
    q->shm_colls = nodes == 1 && ranks > 1 && ranks <= CT_SHM_COLL_RANKS && q->p.cfg.coll_shm > 0 &&
                   !r->nonblocking; /* who waits there waits in the call */
    return true;
}

/* Which ranks stand together, on hosts that are filled in order of ranks, in one rack. */
static bool find_levels(struct question *q)
{
    struct ct_shape       *shape = &q->shape;
    struct ct_level_config config;
    if (!ct_level_config_read(q->p.cfg.coll_levels, &config) || config.n == 0 || shape->n <= 2) {
        return true;
    }
    struct ct_location *locations = malloc(shape->n * sizeof *locations);
    for (uint32_t r = 0; locations != NULL && r < shape->n; r++) {
        const uint32_t host = 1 + (uint32_t)((uint64_t)r * shape->nodes / shape->n);
        locations[r] =
            (struct ct_location){.node = host, .nvlink = host, .rack = 1, .zone = 1, .dc = 1};
    }
    const bool good = locations != NULL && ct_level_config_make(&config, shape->n, locations,
                                                                &q->levels) == CTRAN_SUCCESS;
    free(locations);
    shape->levels = q->levels;
    shape->flat = q->p.cfg.reproducible ? CT_SUMS : 0;
    if (!good) {
        fprintf(stderr, "ctran_info: no memory for %" PRIu32 " ranks\n", shape->n);
    }
    return good;
}

/* The process borrows settings and log; false after a message of the library. */
static bool start(struct question *q, const struct ct_config *cfg, const struct ct_log *log)
{
    *q = (struct question){.p = {.cfg = *cfg, .log = *log}, .separator = ""};
    return ct_policy_init(&q->p) == CTRAN_SUCCESS;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void format_size(size_t bytes, char *out, size_t cap)
{
    static const char suffixes[] = "KMG";
    int               k = -1;
    while (bytes >= 1024 && bytes % 1024 == 0 && k < 2) {
        bytes /= 1024;
        k++;
    }
    snprintf(out, cap, "%zu%.*s", bytes, k >= 0 ? 1 : 0, &suffixes[k >= 0 ? k : 0]);
}

static const char *const by_names[] = {[CT_BY_HINT] = "hint",
                                       [CT_BY_VARIABLE] = "CTRAN_COLL_ALGORITHM",
                                       [CT_BY_RULE] = "row",
                                       [CT_BY_FIT] = "fit"};

/* Calls tell for each algorithm that could serve. */
static void each_fitting(const struct question *q, const struct ct_select *what,
                         void (*tell)(const struct ct_algo *algo, bool first))
{
    bool first = true;
    for (const struct ct_algo *const *a = ct_algo_table; *a != NULL; a++) {
        struct ct_pick pick = {.algo = *a, .radix = CT_RADIX_DEFAULT};
        if (((*a)->colls & what->coll) != 0 && ct_pick_fits(&pick, &q->shape, what)) {
            tell(*a, first);
            first = false;
        }
    }
}

static void tell_text(const struct ct_algo *algo, bool first)
{
    printf("%s%s", first ? "" : ", ", algo->name);
}

static void tell_json(const struct ct_algo *algo, bool first)
{
    printf("%s{", first ? "" : ", ");
    json_text(stdout, "name", algo->name, "");
    printf(", \"shm\": %s, \"radix\": %s}", (algo->traits & CT_BY_SHM) != 0 ? "true" : "false",
           (algo->traits & CT_RADIX) != 0 ? "true" : "false");
}

static void show_text(const struct question *q, const struct ct_select *what,
                      const struct ct_choice *c)
{
    char size[32], row[CT_TUNING_LINE], name[96];
    format_size(what->bytes, size, sizeof size);
    snprintf(name, sizeof name, c->pick->radix != CT_RADIX_DEFAULT ? "%s:%" PRIu32 : "%s",
             c->pick->algo->name, c->pick->radix);
    printf("%-14s %6s  %-11s %-24s", ct_algo_coll_name(what->coll),
           what->coll == CT_BARRIER ? "" : size, what->shm ? "with shm" : "", name);
    if (c->by == CT_BY_RULE) {
        ct_rule_format(c->rule, row, sizeof row);
        printf("%s:%" PRIu32 ": %s\n", ct_policy_tuning(&q->p, what->coll)->source, c->rule->line,
               row);
    } else {
        printf("%s\n", c->by == CT_BY_FIT ? "no row holds; the first that fits" : by_names[c->by]);
    }
}

static void show_json(struct question *q, const struct ct_select *what, const struct ct_choice *c)
{
    char row[CT_TUNING_LINE];
    printf("%s\n    {", q->separator);
    q->separator = ",";
    json_text(stdout, "collective", ct_algo_coll_name(what->coll), ", ");
    printf("\"bytes\": %zu, \"with_shm\": %s, ", what->bytes, what->shm ? "true" : "false");
    json_text(stdout, "algorithm", c->pick->algo->name, ", ");
    printf("\"radix\": %" PRIu32 ", \"chunk_bytes\": %zu, \"chunks\": %" PRIu32 ", ",
           c->pick->radix,
           c->pick->chunk_bytes > 0 ? c->pick->chunk_bytes : (size_t)q->p.cfg.chunk_size,
           c->pick->chunks > 0 ? c->pick->chunks : (uint32_t)q->p.cfg.chunks);
    json_text(stdout, "by", by_names[c->by], ", ");
    if (c->by == CT_BY_RULE) {
        ct_rule_format(c->rule, row, sizeof row);
        json_text(stdout, "source", ct_policy_tuning(&q->p, what->coll)->source, ", ");
        printf("\"line\": %" PRIu32 ", ", c->rule->line);
        json_text(stdout, "row", row, ", ");
    }
    printf("\"fits\": [");
    each_fitting(q, what, tell_json);
    printf("]}");
}

static bool answer(struct question *q, const struct ct_chooser *c, const struct ct_select *what)
{
    struct ct_choice choice;
    if (!ct_chooser_pick(&q->p, c, what, &choice)) {
        return false;
    }
    if (q->json) {
        show_json(q, what, &choice);
    } else {
        show_text(q, what, &choice);
    }
    return true;
}

/* Whether a rank's input fits on a shm_coll, where there may be one; as find_shm_coll has it. */
static bool fits_shm(const struct question *q, uint32_t coll, size_t bytes)
{
    size_t input = (coll & (CT_GATHER | CT_ALLGATHER)) != 0 ? bytes / q->shape.n : bytes;
    bool   takes = input <= CT_SHM_COLL_BYTES || q->p.cfg.coll_shm_bytes > 0;
    return q->shm_colls && takes && (bytes > 0 || coll == CT_BARRIER);
}

/* What a call of the collective is like, of those that are asked about. */
static struct ct_select call_of(const struct question *q, uint32_t coll, size_t bytes)
{
    const uint32_t rooted = CT_BCAST | CT_REDUCE | CT_GATHER | CT_SCATTER;
    return (struct ct_select){.coll = coll,
                              .bytes = coll == CT_BARRIER ? 0 : bytes,
                              .ordered = q->ordered && (coll & CT_SUMS) != 0,
                              .root = (coll & rooted) != 0 ? q->root : 0};
}

static bool answer_size(struct question *q, const struct ct_chooser *c, uint32_t coll, size_t bytes)
{
    struct ct_select what = call_of(q, coll, bytes);
    bool             good = answer(q, c, &what);
    if (good && fits_shm(q, coll, what.bytes)) {
        what.shm = true;
        good = answer(q, c, &what);
    }
    return good;
}

static bool answer_collective(struct question *q, const struct ct_chooser *c, uint32_t coll)
{
    size_t n = q->all_sizes && coll != CT_BARRIER ? CT_ARRAY_LEN(usual_sizes) : 1;
    bool   good = true;
    for (size_t i = 0; i < n && good; i++) {
        good = answer_size(q, c, coll, q->all_sizes ? usual_sizes[i] : q->size);
    }
    if (good && !q->json) {
        const struct ct_select what = call_of(q, coll, q->size);
        printf("  fit: ");
        each_fitting(q, &what, tell_text);
        printf("\n");
    }
    return good;
}

static void show_question(const struct question *q)
{
    if (q->json) {
        printf("{\"ranks\": %" PRIu32 ", \"nodes\": %" PRIu32 ", \"root\": %" PRIu32
               ", \"ordered\": %s, \"nonblocking\": %s, \"choices\": [",
               q->shape.n, q->shape.nodes, q->root, q->ordered ? "true" : "false",
               q->nonblocking ? "true" : "false");
        return;
    }
    printf("On %" PRIu32 " ranks of %" PRIu32 " hosts, for a vector of so many bytes", q->shape.n,
           q->shape.nodes);
    if (q->root != 0) {
        printf(", with rank %" PRIu32 " as the root", q->root);
    }
    printf("%s%s:\n", q->ordered ? ", with an operator that does not commute" : "",
           q->nonblocking ? ", not blocking" : "");
}

static bool answer_all(struct question *q)
{
    struct ct_chooser *c = ct_chooser_make(&q->p, &q->shape, NULL);
    bool               good = c != NULL;
    show_question(q);
    for (uint32_t coll = 1; good && ct_algo_coll_name(coll) != NULL; coll <<= 1) {
        if ((q->colls & coll) != 0) {
            good = answer_collective(q, c, coll);
        }
    }
    printf(q->json ? "\n]}\n" : "");
    ct_chooser_drop(&q->p, c);
    return good;
}

bool choices_show(const struct choices_request *r, const struct ct_config *cfg,
                  const struct ct_log *log)
{
    struct question q;
    bool good = start(&q, cfg, log) && read_request(&q, r) && find_levels(&q) && answer_all(&q);
    ct_levels_free(q.levels);
    ct_policy_fini(&q.p);
    return good;
}

bool choices_table(const struct ct_config *cfg, const struct ct_log *log)
{
    struct question q;
    char            row[CT_TUNING_LINE];
    bool            good = start(&q, cfg, log);
    if (good) {
        const struct ct_tuning *t = ct_policy_tuning(&q.p, CT_BCAST);
        printf("# %s, digest %016" PRIx64 "\n", t->source, t->digest);
        for (uint32_t i = 0; i < t->begin[CT_COLL_KINDS]; i++) {
            ct_rule_format(&t->rule[i], row, sizeof row);
            printf("%s\n", row);
        }
    }
    ct_policy_fini(&q.p);
    return good;
}
