/* SPDX-License-Identifier: BSD-3-Clause */
/* ctran_sim: the command line. See ctran_sim(1). */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <config.h>

#include "coll/coll.h"
#include "sim.h"

enum { LIST = 64, JSON_LINKS = 8 };

struct options {
    const char            *colls, *algos, *cluster_file, *trace, *plot;
    uint64_t               bytes[LIST], ranks[LIST];
    uint32_t               nbytes, nranks;
    struct ct_level_config config;
    struct ct_levels      *levels[LIST]; /* of so many ranks */
    struct sim_case        common;
    struct sim_cluster     cluster;
    struct sim_picks       picks;
    double                 within; /* 0: no run is given up */
    bool                   json, each, has_links;
};

static const char usage_text[] =
    "usage: ctran_sim --coll NAME,... [OPTION...]\n"
    "  --coll NAME,...       collectives, or all\n"
    "  --algo NAME,...       algorithms (all), as ring, or as knomial:4 of that radix\n"
    "  --ranks N,...         ranks, at most 1048576 (all of the cluster)\n"
    "  --bytes B,...         as the call counts them: one rank's block, or the vector (1024)\n"
    "  --cluster FILE        what the ranks run on, see ctran_sim(1)\n"
    "  --levels LEVELS       which ranks hierarchies take for close together (CTRAN_COLL_LEVELS'\n"
    "                        default): some of node,nvlink,rack,zone,dc; 4x2; or off\n"
    "  --root R              of bcast, reduce, gather and scatter (0)\n"
    "  --element B           bytes of an element, which is never cut (1)\n"
    "  --chunk-size S        bytes of a chunk (CTRAN_CHUNK_SIZE's default); 0: uncut\n"
    "  --chunks C            in flight at a time (CTRAN_CHUNKS' default)\n"
    "  --repeat N            calls of each rank, one after the other (1); times are of one\n"
    "  --starts N            orders in which ranks that share cores begin (1); the mean counts\n"
    "  --within X            give up what takes X times as long as one before it of the same\n"
    "                        collective, ranks and bytes\n"
    "  --inplace, --ordered  the buffers are one; the operator does not commute\n"
    "  --links N             print the N links that were busy longest (0; with --json 8)\n"
    "  --full                simulate all ranks, even where some could stand for all\n"
    "  --json [--each]       print one JSON object; with the counts of each rank\n"
    "  --trace FILE          write what happens, of one run, for Perfetto\n"
    "  --plot FILE           draw the times, as SVG\n";

static int usage(const char *what, const char *why)
{
    fprintf(stderr, "ctran_sim: %s%s%s; ctran_sim --help lists the options\n", what,
            why[0] != '\0' ? ": " : "", why);
    return 2;
}

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "ctran_sim: %s%s%s\n", what, why[0] != '\0' ? ": " : "", why);
    return 1;
}

enum {
    COLL = 256,
    ALGO,
    RANKS,
    BYTES,
    CLUSTER,
    LEVELS,
    ROOT,
    ELEMENT,
    CHUNK_SIZE,
    CHUNKS,
    REPEAT,
    STARTS,
    WITHIN,
    INPLACE,
    ORDERED,
    LINKS,
    FULL,
    JSON,
    EACH,
    TRACE,
    PLOT
};

static const struct option known[] = {
    {"coll", required_argument, NULL, COLL},
    {"algo", required_argument, NULL, ALGO},
    {"ranks", required_argument, NULL, RANKS},
    {"bytes", required_argument, NULL, BYTES},
    {"cluster", required_argument, NULL, CLUSTER},
    {"levels", required_argument, NULL, LEVELS},
    {"root", required_argument, NULL, ROOT},
    {"element", required_argument, NULL, ELEMENT},
    {"chunk-size", required_argument, NULL, CHUNK_SIZE},
    {"chunks", required_argument, NULL, CHUNKS},
    {"repeat", required_argument, NULL, REPEAT},
    {"starts", required_argument, NULL, STARTS},
    {"within", required_argument, NULL, WITHIN},
    {"inplace", no_argument, NULL, INPLACE},
    {"ordered", no_argument, NULL, ORDERED},
    {"links", required_argument, NULL, LINKS},
    {"full", no_argument, NULL, FULL},
    {"json", no_argument, NULL, JSON},
    {"each", no_argument, NULL, EACH},
    {"trace", required_argument, NULL, TRACE},
    {"plot", required_argument, NULL, PLOT},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* What the value of an option may be, where not any text will do. */
static const char *const wanted[] = {
    [RANKS - COLL] = "up to 64 numbers from 1 to 1048576, as in 8,64,1K",
    [BYTES - COLL] = "up to 64 numbers from 0 to 16T, as in 8,64K,1M",
    [LEVELS - COLL] = "some of node,nvlink,rack,zone,dc; numbers, as in 4x2; or off",
    [ROOT - COLL] = "a rank from 0 to 1048575",
    [ELEMENT - COLL] = "a number of bytes from 1 to 1M",
    [CHUNK_SIZE - COLL] = "a number of bytes from 0 to 1G",
    [CHUNKS - COLL] = "a number from 1 to 64",
    [REPEAT - COLL] = "a number from 1 to 1000",
    [STARTS - COLL] = "a number from 1 to 99",
    [WITHIN - COLL] = "a factor from 1 to 1e9",
    [LINKS - COLL] = "a number from 0 to 64",
    [PLOT - COLL] = NULL,
};
_Static_assert(SIM_RANKS == 1 << 20 && LIST == 64 && SIM_CHUNKS == 64 && SIM_STARTS == 99 &&
                   SIM_LINKS == 64,
               "the ranges that `wanted` names");

/* An option's value that makes no sense. */
static int refuse(int c, const char *name, const char *value)
{
    fprintf(stderr, "ctran_sim: --%s: %s: wanted: %s\n", name, value, wanted[c - COLL]);
    return 2;
}

static bool take_list(const char *text, uint64_t low, uint64_t high, uint64_t *out, uint32_t *n)
{
    char item[32];
    *n = 0;
    for (size_t len; *n < LIST; text += len + 1) {
        len = strcspn(text, ",");
        (void)snprintf(item, sizeof item, "%.*s", (int)ct_min_size(len, 31), text);
        if (!sim_take_bytes(item, &out[*n]) || out[*n] < low || out[*n] > high) {
            return false;
        }
        ++*n;
        if (text[len] == '\0') {
            return true;
        }
    }
    return false;
}

static bool take_one(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    return sim_take_bytes(text, out) && *out >= low && *out <= high;
}

static bool take_count(const char *text, uint64_t low, uint64_t high, uint32_t *out)
{
    uint64_t v;
    bool     good = take_one(text, low, high, &v);
    *out = good ? (uint32_t)v : 0;
    return good;
}

static bool take_factor(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && *out >= 1 && *out <= 1e9;
}

/* False: what the option got makes no sense. */
static bool take(struct options *o, int c, const char *text)
{
    enum { BYTES_MOST = 1 << 30 };
    const uint64_t most = (uint64_t)BYTES_MOST << 14; /* 16 TiB */
    switch (c) {
    case COLL:
        o->colls = text;
        return true;
    case ALGO:
        o->algos = text;
        return true;
    case RANKS:
        return take_list(text, 1, SIM_RANKS, o->ranks, &o->nranks);
    case BYTES:
        return take_list(text, 0, most, o->bytes, &o->nbytes);
    case CLUSTER:
        o->cluster_file = text;
        return true;
    case LEVELS:
        return ct_level_config_read(text, &o->config);
    case ROOT:
        return take_count(text, 0, SIM_RANKS - 1, &o->common.root);
    case ELEMENT:
        return take_one(text, 1, 1 << 20, &o->common.element);
    case CHUNK_SIZE:
        return take_one(text, 0, BYTES_MOST, &o->common.chunk_bytes);
    case CHUNKS:
        return take_count(text, 1, SIM_CHUNKS, &o->common.chunks);
    case REPEAT:
        return take_count(text, 1, 1000, &o->common.repeat);
    case STARTS:
        return take_count(text, 1, SIM_STARTS, &o->common.starts);
    case WITHIN:
        return take_factor(text, &o->within);
    case INPLACE:
        return o->common.inplace = true;
    case ORDERED:
        return o->common.ordered = true;
    case LINKS:
        o->has_links = take_count(text, 0, SIM_LINKS, &o->common.links);
        return o->has_links;
    case FULL:
        return o->common.full = true;
    case JSON:
        return o->json = true;
    case EACH:
        return o->each = true;
    case TRACE:
        o->trace = text;
        return true;
    default:
        o->plot = text;
        return true;
    }
}

/* What the library does unless told otherwise. */
static void set_defaults(struct options *o)
{
    *o = (struct options){.algos = "all", .bytes = {1024}, .nbytes = 1};
    o->common.element = o->common.repeat = o->common.starts = 1;
    const struct ct_var *vars = ct_config_vars();
    (void)sim_take_bytes(vars[CT_VAR_IX_chunk_size].def, &o->common.chunk_bytes);
    (void)take_count(vars[CT_VAR_IX_chunks].def, 1, SIM_CHUNKS, &o->common.chunks);
    (void)ct_level_config_read(vars[CT_VAR_IX_coll_levels].def, &o->config);
    sim_cluster_default(&o->cluster);
}

/* The first name of a list that is none of a collective; false: there is none. */
static bool find_unknown(const char *list, char *name, size_t cap)
{
    for (size_t len; strcmp(list, "all") != 0; list += len + 1) {
        len = strcspn(list, ",");
        (void)snprintf(name, cap, "%.*s", (int)ct_min_size(len, cap - 1), list);
        if (ct_algo_coll_by_name(name) == 0) {
            return true;
        }
        if (list[len] == '\0') {
            break;
        }
    }
    return false;
}

static struct sim_case case_of(const struct options *o, const struct ct_pick *pick, uint32_t ranks,
                               uint32_t bytes)
{
    struct sim_case c = o->common;
    c.cluster = &o->cluster;
    c.levels = o->levels[ranks];
    c.algo = pick->algo;
    c.coll = pick->algo->colls;
    c.radix = pick->radix;
    c.n = (uint32_t)o->ranks[ranks];
    c.bytes = o->bytes[bytes];
    c.links = o->has_links || !o->json ? c.links : JSON_LINKS;
    return c;
}

/* All that is asked for and can be; returns how many. rows may be NULL. */
static size_t list_cases(const struct options *o, struct sim_row *rows)
{
    size_t k = 0;
    for (size_t p = 0; p < o->picks.n; p++) {
        for (uint32_t i = 0; i < o->nranks; i++) {
            const struct sim_case first = case_of(o, &o->picks.pick[p], i, 0);
            const bool            fits = sim_pick_fits(&o->picks.pick[p], &first);
            for (uint32_t b = 0; b < o->nbytes && fits; b++, k++) {
                if (rows != NULL) {
                    rows[k].what = case_of(o, &o->picks.pick[p], i, b);
                }
            }
        }
    }
    return k;
}

/* A radix that was asked for and is larger than its algorithm takes. */
static int check_radices(const struct options *o)
{
    char what[128], why[64];
    for (size_t p = 0; p < o->picks.n; p++) {
        const struct ct_pick *pick = &o->picks.pick[p];
        for (uint32_t i = 0; i < o->nranks; i++) {
            const struct sim_case c = case_of(o, pick, i, 0);
            const uint32_t        most = sim_pick_most(pick, &c);
            if (most > 0 && most < pick->radix) {
                (void)snprintf(what, sizeof what, "%s of %s on %u ranks", pick->algo->name,
                               ct_algo_coll_name(c.coll), c.n);
                (void)snprintf(why, sizeof why, "radix %u is too large; the most is %u",
                               pick->radix, most);
                (void)complain(what, why);
                return 2;
            }
        }
    }
    return 0;
}

/* Collectives and algorithms. */
static int check_names(struct options *o)
{
    char name[64], why[1024];
    if (o->colls == NULL) {
        return usage("--coll is missing", "");
    }
    if (find_unknown(o->colls, name, sizeof name)) {
        return usage("there is no such collective", name);
    }
    const int rc = sim_picks_read(&o->picks, o->colls, o->algos, why, sizeof why);
    if (rc != CTRAN_SUCCESS) {
        return rc == CTRAN_ERR_NO_MEM ? complain(why, "") : usage("--algo", why);
    }
    return 0;
}

static int check(struct options *o)
{
    char     name[64], why[512];
    uint32_t all;
    int      status = check_names(o);
    if (status != 0) {
        return status;
    }
    if (o->each && !o->json) {
        return usage("--each goes with --json", "");
    }
    if (o->within > 0 && (o->each || o->plot != NULL)) {
        return usage("--within goes without --each and --plot", "");
    }
    if (o->cluster_file != NULL) {
        int rc = sim_cluster_read(&o->cluster, o->cluster_file, why, sizeof why);
        if (rc != CTRAN_SUCCESS) {
            (void)complain(why, "");
            return rc == CTRAN_ERR_NO_MEM ? 1 : 2;
        }
    }
    all = ct_cluster_ranks(&o->cluster.shape);
    if (o->nranks == 0) {
        o->ranks[o->nranks++] = all;
    }
    for (uint32_t i = 0; i < o->nranks; i++) {
        if (o->ranks[i] > all || o->ranks[i] <= o->common.root) {
            (void)snprintf(why, sizeof why, "cluster %s has %u, and the root is %u",
                           o->cluster.name, all, o->common.root);
            (void)snprintf(name, sizeof name, "%llu ranks", (unsigned long long)o->ranks[i]);
            (void)complain(name, why);
            return 2;
        }
    }
    for (uint32_t b = 0; b < o->nbytes; b++) {
        if (o->bytes[b] % o->common.element != 0) {
            return usage("--bytes is not a multiple of --element", "");
        }
    }
    return 0;
}

/* Which of the ranks stand together, for each number of them. */
static int find_levels(struct options *o)
{
    size_t most = 1;
    for (uint32_t i = 0; i < o->nranks; i++) {
        most = ct_max_size(most, o->ranks[i]);
    }
    struct ct_location *locations = malloc(most * sizeof *locations);
    int rc = locations != NULL ? ct_cluster_locations(&o->cluster.shape, (uint32_t)most, locations)
                               : CTRAN_ERR_NO_MEM;
    for (uint32_t i = 0; i < o->nranks && rc == CTRAN_SUCCESS; i++) {
        rc = ct_level_config_make(&o->config, (uint32_t)o->ranks[i], locations, &o->levels[i]);
    }
    free(locations);
    return rc == CTRAN_SUCCESS ? 0 : complain("no memory", "");
}

static FILE *open_for(const char *path)
{
    FILE *to = fopen(path, "w");
    if (to == NULL) {
        (void)complain(path, strerror(errno));
    }
    return to;
}

static int run_one(const struct options *o, struct sim_row *row)
{
    char             why[256];
    struct sim_trace trace;
    struct sim_watch watch = {sim_trace_message, &trace};
    FILE            *to = o->trace != NULL ? open_for(o->trace) : NULL;
    if (o->trace != NULL && to == NULL) {
        return 1;
    }
    if (to != NULL) {
        sim_trace_begin(&trace, &row->what, to);
    }
    int  rc = sim_run_starts(&row->what, to != NULL ? &watch : NULL, &row->result, why, sizeof why);
    bool good = rc == CTRAN_SUCCESS;
    if (to != NULL) {
        good = sim_trace_end(&trace, row->what.n) && good;
        good = fclose(to) == 0 && good;
    }
    if (!good) {
        const int status = rc == CTRAN_SUCCESS ? complain(o->trace, "cannot be written")
                                               : complain(row->what.algo->name, why);
        return rc == CTRAN_ERR_ARG ? 2 : status;
    }
    if (!o->each) {
        free(row->result.each);
        row->result.each = NULL;
    }
    return 0;
}

static int draw(const struct options *o, const struct sim_row *rows, size_t n)
{
    FILE *to = open_for(o->plot);
    bool  good = to != NULL && sim_plot(rows, n, to);
    if (to != NULL) {
        good = fclose(to) == 0 && good;
    }
    return good ? 0 : complain(o->plot, "cannot be written");
}

/* How long row k may take, by the fastest before it that does the same; 0: any time. */
static uint64_t most_of(const struct options *o, const struct sim_row *rows, size_t k)
{
    uint64_t best = 0;
    for (size_t i = 0; i < k && o->within > 0; i++) {
        const struct sim_case *a = &rows[i].what, *b = &rows[k].what;
        const uint64_t         ps = rows[i].result.given_up ? 0 : rows[i].result.time_ps;
        if (a->coll == b->coll && a->n == b->n && a->bytes == b->bytes && ps > 0) {
            best = best == 0 || ps < best ? ps : best;
        }
    }
    const double most = (double)best * o->within;
    return most < (double)SIM_TOO_LATE ? (uint64_t)most : 0;
}

static int run(const struct options *o)
{
    struct sim_alive alive;
    size_t           n = list_cases(o, NULL), done = 0;
    struct sim_row  *rows = calloc(n + 1, sizeof *rows);
    int              status = 0;
    if (rows == NULL) {
        return complain("no memory", "");
    }
    (void)list_cases(o, rows);
    sim_alive_begin(&alive, n);
    while (status == 0 && done < n) {
        rows[done].what.most_ps = most_of(o, rows, done);
        rows[done].what.alive = &alive;
        sim_alive_run(&alive, &rows[done].what);
        status = run_one(o, &rows[done++]);
    }
    sim_alive_end(&alive);
    if (status == 0 && o->json) {
        sim_report_json(rows, n, o->each);
    } else if (status == 0) {
        sim_report_text(rows, n);
    }
    if (status == 0 && o->plot != NULL) {
        status = draw(o, rows, n);
    }
    for (size_t i = 0; i < done; i++) {
        free(rows[i].result.each);
    }
    free(rows);
    return fflush(stdout) == 0 ? status : complain("standard output", strerror(errno));
}

static int count_and_run(const struct options *o)
{
    const size_t n = list_cases(o, NULL);
    if (n == 0) {
        (void)complain("none of these algorithms serves so many ranks, this root or operator, or "
                       "the levels of the cluster",
                       "");
        return 2;
    }
    if (o->trace != NULL && n > 1) {
        return usage("--trace goes with one collective, algorithm, size and number of ranks", "");
    }
    return run(o);
}

int main(int argc, char **argv)
{
    static struct options o;
    ct_stdfd_fill();
    set_defaults(&o);
    for (int c, index = 0; (c = getopt_long(argc, argv, "", known, &index)) != -1;) {
        if (c == 'h') {
            fputs(usage_text, stdout);
            return 0;
        }
        if (c == 'V') {
            puts("ctran_sim " PACKAGE_VERSION);
            return 0;
        }
        if (c == '?') {
            return usage("unknown option, or one without its value", "");
        }
        if (!take(&o, c, optarg)) {
            return refuse(c, known[index].name, optarg);
        }
    }
    if (optind < argc) {
        return usage("an argument that is no option", argv[optind]);
    }
    int status = check(&o);
    status = status == 0 ? find_levels(&o) : status;
    status = status == 0 ? check_radices(&o) : status;
    status = status == 0 ? count_and_run(&o) : status;
    for (uint32_t i = 0; i < o.nranks; i++) {
        ct_levels_free(o.levels[i]);
    }
    free(o.picks.pick);
    return status;
}
