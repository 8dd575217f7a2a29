/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ctran_info - what this build of ctran is, what it finds on this machine, and what every
 * variable is set to, and by whom. Starts no job; --calibrate alone changes something. The
 * same facts come as text or, with --json, for programs; --vars-mdoc writes the list that
 * ctran-vars(7) holds.
 */
#include "config.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>
#include <pmix.h>

#include "base/base.h"
#include "coll/algo/algo.h"
#include "net/net.h"
#include "tools/calibration.h"
#include "tools/choices.h"
#include "tools/gpus.h"
#include "tools/protocols.h"
#include "tools/topology/pictures.h"
#include "tools/topology/text.h"
#include "tools/topology/topology.h"

/* ---- the build --------------------------------------------------------------------- */

static const struct {
    const char *name, *what;
    bool        have;
} features[] = {
    {"nvcc", "GPU kernels", CT_HAVE_NVCC},
    {"verbs", "InfiniBand and RoCE by libibverbs", CT_HAVE_VERBS},
};

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void format_hwloc_version(char *out, size_t cap)
{
    unsigned v = hwloc_get_api_version();
    snprintf(out, cap, "%u.%u.%u", v >> 16, v >> 8 & 0xff, v & 0xff);
}

static void print_build(void)
{
    char hwloc[32];
    format_hwloc_version(hwloc, sizeof hwloc);
    printf("ctran %s, MPI %d.%d semantics\n\n", PACKAGE_VERSION, CTRAN_VERSION, CTRAN_SUBVERSION);
    printf("build\n");
    printf("  compiler    %s\n", COMPILER);
    printf("  flags       %s\n", CT_FLAGS);
    printf("  libraries   %s; hwloc API %s\n", PMIx_Get_version(), hwloc);
    for (size_t i = 0; i < CT_ARRAY_LEN(features); i++) {
        printf("  %-10s  %s (%s)\n", features[i].name, features[i].have ? "yes" : "no",
               features[i].what);
    }
}

static void print_transports(void)
{
    printf("\ntransports\n");
    for (const struct ct_net_ops *const *net = ct_net_table; *net != NULL; net++) {
        printf("  %-10s  %s\n", (*net)->name, (*net)->description);
    }
}

/* As CTRAN_COLL_ALGORITHM names them: a line a collective. */
static void print_algorithms(void)
{
    printf("\nalgorithms\n");
    for (uint32_t coll = 1; ct_algo_coll_name(coll) != NULL; coll <<= 1) {
        printf("  %-14s", ct_algo_coll_name(coll));
        for (const struct ct_algo *const *algo = ct_algo_table; *algo != NULL; algo++) {
            if ((*algo)->colls == coll) {
                printf(" %s", (*algo)->name);
            }
        }
        printf("\n");
    }
}

/* ---- the machine ------------------------------------------------------------------- */

static bool print_machine(const struct ct_config *cfg, const struct ct_log *log)
{
    static struct view v;
    bool               good = topology_load(&v, NULL, cfg, log);
    printf("\nmachine\n");
    topology_summary(&v, stdout);
    return good;
}

/* ---- variables --------------------------------------------------------------------- */

/* What values the variable takes, in words. */
static void format_range(const struct ct_var *v, char *out, size_t cap)
{
    switch (v->type) {
    case CT_VAR_BOOL:
        snprintf(out, cap, "0 or 1");
        break;
    case CT_VAR_ENUM:
        snprintf(out, cap, "one of %s", v->unit);
        break;
    case CT_VAR_STR:
        snprintf(out, cap, "text");
        break;
    default:
        snprintf(out, cap, "%" PRId64 " to %" PRId64 "%s%s%s", v->min, v->max,
                 v->unit[0] ? " " : "", v->unit,
                 v->type == CT_VAR_SIZE   ? ", suffix K, M or G allowed"
                 : v->type == CT_VAR_TIME ? ", suffix ms, s or m allowed"
                                          : "");
    }
}

static const char *scope_text(const struct ct_var *v)
{
    return strcmp(v->scope, "job") == 0 ? "the same on all ranks" : "each rank its own";
}

static void print_var(const struct ct_config *cfg, int index)
{
    const struct ct_var *v = &ct_config_vars()[index];
    char                 value[4096], range[256];
    ct_config_format(cfg, index, value, sizeof value);
    format_range(v, range, sizeof range);
    printf("%s = %s  (%s)\n", v->name, value[0] ? value : "\"\"",
           ct_config_origin_name(cfg->origin[index]));
    printf("    %s\n", v->help);
    printf("    %s; default %s; %s\n", range, v->def[0] ? v->def : "\"\"", scope_text(v));
}

static void print_vars(const struct ct_config *cfg)
{
    printf("\nvariables, from %s/ctran.conf, ~/.config/ctran.conf, the file in %s, the\n"
           "environment and ctranrun --set; what comes later wins\n\n",
           CT_SYSCONFDIR, CT_ENV_CONFIG);
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        print_var(cfg, i);
    }
}

static bool print_full_name(const struct ct_config *cfg, const char *name)
{
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        if (strcmp(ct_config_vars()[i].name, name) == 0) {
            print_var(cfg, i);
            return true;
        }
    }
    const char *near = ct_config_nearest(name);
    fprintf(stderr, "ctran_info: %s: no such variable%s%s; --all lists them\n", name,
            near != NULL ? "; did you mean " : "", near != NULL ? near : "");
    return false;
}

/* Names are those that ctranrun --set takes. */
static bool print_named_var(const struct ct_config *cfg, const char *name)
{
    char *full = ct_config_full_name(name, strlen(name));
    if (full == NULL) {
        fprintf(stderr, "ctran_info: no memory\n");
        return false;
    }
    bool good = print_full_name(cfg, full);
    free(full);
    return good;
}

/* ---- for programs ------------------------------------------------------------------ */

static void json_build(void)
{
    char hwloc[32];
    format_hwloc_version(hwloc, sizeof hwloc);
    printf("  \"mpi\": \"%d.%d\",\n  \"build\": {", CTRAN_VERSION, CTRAN_SUBVERSION);
    json_text(stdout, "compiler", COMPILER, ", ");
    json_text(stdout, "flags", CT_FLAGS, ", ");
    json_text(stdout, "pmix", PMIx_Get_version(), ", ");
    json_text(stdout, "hwloc_api", hwloc, "");
    for (size_t i = 0; i < CT_ARRAY_LEN(features); i++) {
        printf(", \"%s\": %s", features[i].name, features[i].have ? "true" : "false");
    }
    printf("},\n");
}

static void json_algorithms(void)
{
    const char *separator = "";
    printf("  \"algorithms\": [");
    for (const struct ct_algo *const *algo = ct_algo_table; *algo != NULL; algo++) {
        printf("%s{", separator);
        json_text(stdout, "collective", ct_algo_coll_name((*algo)->colls), ", ");
        json_text(stdout, "name", (*algo)->name, "}");
        separator = ", ";
    }
    printf("],\n");
}

static void json_transports(void)
{
    printf("  \"transports\": [");
    for (const struct ct_net_ops *const *net = ct_net_table; *net != NULL; net++) {
        printf("%s{", net == ct_net_table ? "" : ", ");
        json_text(stdout, "name", (*net)->name, ", ");
        json_text(stdout, "description", (*net)->description, "}");
    }
    printf("],\n");
}

static bool json_machine(const struct ct_config *cfg, const struct ct_log *log)
{
    static struct view v;
    bool               good = topology_load(&v, NULL, cfg, log);
    printf("  \"machine\": ");
    if (topology_is_there(&v)) {
        machine_json(&v, stdout, 2);
    } else {
        printf("null");
    }
    printf(",\n");
    return good;
}

static void json_var(const struct ct_config *cfg, int index)
{
    static const char *const types[] = {"bool", "int", "size", "time", "text", "choice"};
    const struct ct_var     *v = &ct_config_vars()[index];
    char                     value[4096];
    ct_config_format(cfg, index, value, sizeof value);
    printf("    {");
    json_text(stdout, "name", v->name, ", ");
    json_text(stdout, "value", value, ", ");
    json_text(stdout, "origin", ct_config_origin_name(cfg->origin[index]), ", ");
    json_text(stdout, "default", v->def, ", ");
    json_text(stdout, "type", types[v->type], ", ");
    if (v->type == CT_VAR_ENUM) {
        json_text(stdout, "choices", v->unit, ", ");
    } else if (v->type == CT_VAR_INT || v->type == CT_VAR_SIZE || v->type == CT_VAR_TIME) {
        json_text(stdout, "unit", v->unit, ", ");
        printf("\"min\": %" PRId64 ", \"max\": %" PRId64 ", ", v->min, v->max);
    }
    json_text(stdout, "scope", v->scope, ", ");
    json_text(stdout, "help", v->help, index + 1 < CT_VAR_COUNT ? "},\n" : "}\n");
}

static bool print_json(const struct ct_config *cfg, const struct ct_log *log)
{
    printf("{\n  ");
    json_text(stdout, "version", PACKAGE_VERSION, ",\n");
    json_build();
    json_transports();
    json_algorithms();
    bool good = json_machine(cfg, log);
    printf("  \"variables\": [\n");
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        json_var(cfg, i);
    }
    printf("  ]\n}\n");
    return good;
}

/* ---- for the manual page ----------------------------------------------------------- */

/* Text as mdoc input, where backslashes and minus signs are special. */
static void mdoc_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || *text == '-') {
            printf("\\%c", *text == '-' ? '-' : 'e');
        } else {
            putchar(*text);
        }
    }
}

static void print_vars_mdoc(void)
{
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        const struct ct_var *v = &ct_config_vars()[i];
        char                 range[256];
        format_range(v, range, sizeof range);
        printf(".It Ev %s\n", v->name);
        putchar(toupper((unsigned char)v->help[0]));
        mdoc_text(v->help + 1);
        printf(".\nValue: ");
        mdoc_text(range);
        printf("; %s.\n", scope_text(v));
        if (v->def[0] != '\0') {
            printf("Default:\n.Ql ");
            mdoc_text(v->def);
            printf(" .\n");
        }
    }
}

/* ---- command line ------------------------------------------------------------------ */

enum action {
    DO_SUMMARY,
    DO_ALL,
    DO_JSON,
    DO_VAR,
    DO_TOPOLOGY,
    DO_COLL,
    DO_TUNING,
    DO_GPUS,
    DO_CALIBRATION,
    DO_CALIBRATE,
    DO_PROTOCOLS,
    DO_MDOC,
    DO_VERSION,
    DO_HELP,
    DO_BAD,
    /* Options that do nothing alone: of --topology, and of --coll. */
    OF_SVG,
    OF_SYNTHETIC,
    OF_CLUSTER,
    OF_RANKS,
    OF_NODES,
    OF_SIZE,
    OF_ROOT,
    OF_ORDERED,
    OF_NONBLOCKING,
    OF_END
};

struct command {
    enum action             action;
    const char             *name; /* of --var */
    struct topology_request topology;
    struct choices_request  choices;
};

static void print_usage(void)
{
    fputs(
        "usage: ctran_info [--all | --json | --var NAME]\n"
        "       ctran_info --topology [--json] [--svg FILE] [--synthetic NAME|FILE]\n"
        "                  [--cluster FILE|DESCRIPTION]\n"
        "       ctran_info --coll NAME|all --ranks N [--nodes N] [--size BYTES]\n"
        "                  [--root N] [--ordered] [--nonblocking] [--json]\n"
        "       ctran_info --tuning | --protocols | --gpus | --calibration | --calibrate\n"
        "Shows this build of ctran and what it finds on this machine.\n"
        "  --all        also every variable: value, origin, meaning, range, default\n"
        "  --json       the same for programs\n"
        "  --var NAME   this variable only, with or without CTRAN_\n"
        "  --topology   this machine: its tree, the NIC of each GPU, what is near what\n"
        "    --svg FILE        as a picture; - is the standard output\n"
        "    --synthetic NAME  of a machine that one does not have (dgx-h100, p4d, gb200,\n"
        "                      grace, cpu2s, laptop, broken, or an XML file of hwloc)\n"
        "    --cluster WHAT    of a cluster: a labels file, or \"racks=4 hosts=16 gpus=8\"\n"
        "  --coll NAME  which algorithm of a collective runs, why, and which could; all: of each\n"
        "    --ranks N         on so many ranks\n"
        "    --nodes N         of so many hosts (1)\n"
        "    --size BYTES      for a whole vector of so many, as in 8, 64K, 1M\n"
        "    --root N          from or to this rank (0)\n"
        "    --ordered         with an operator that does not commute\n"
        "    --nonblocking     in a nonblocking or persistent call\n"
        "  --tuning     the table by which they are chosen; see ctran-tuning(7)\n"
        "  --protocols  how point-to-point messages travel, by length and memory, and why\n"
        "  --gpus       the GPUs as the CUDA driver shows them: peers, what can be shared, "
        "streams\n"
        "  --calibration  what this machine's memory and kernel cost, and who measured that when\n"
        "  --calibrate  measures it now, and keeps it for all jobs\n"
        "  --vars-mdoc  the list of variables as ctran-vars(7) has it\n"
        "  --version    the version only\n"
        "  --help       print this\n",
        stdout);
}

static bool takes_json(enum action action)
{
    return action == DO_TOPOLOGY || action == DO_COLL;
}

/* One action, but --json may stand beside --topology and --coll. False: that is too many. */
static bool set_action(struct command *cmd, enum action action)
{
    bool json_beside = (takes_json(cmd->action) && action == DO_JSON) ||
                       (cmd->action == DO_JSON && takes_json(action));
    if (cmd->action != DO_SUMMARY && (!json_beside || cmd->topology.json)) {
        fprintf(stderr, "ctran_info: one option at a time, but for those of --topology and "
                        "--coll\n");
        return false;
    }
    cmd->topology.json = cmd->choices.json = json_beside;
    cmd->action = json_beside && action == DO_JSON ? cmd->action : action;
    return true;
}

static bool set_option(struct command *cmd, int option, const char *value)
{
    const char **const of[OF_END] = {
        [OF_SVG] = &cmd->topology.svg,         [OF_SYNTHETIC] = &cmd->topology.synthetic,
        [OF_CLUSTER] = &cmd->topology.cluster, [OF_RANKS] = &cmd->choices.ranks,
        [OF_NODES] = &cmd->choices.nodes,      [OF_SIZE] = &cmd->choices.size,
        [OF_ROOT] = &cmd->choices.root};
    if (option == OF_ORDERED || option == OF_NONBLOCKING) {
        *(option == OF_ORDERED ? &cmd->choices.ordered : &cmd->choices.nonblocking) = true;
        return true;
    }
    if (of[option] == NULL) {
        cmd->name = value;
        cmd->choices.coll = option == DO_COLL ? value : cmd->choices.coll;
        return set_action(cmd, (enum action)option);
    }
    if (*of[option] != NULL) {
        fprintf(stderr, "ctran_info: an option of --topology or --coll is given twice\n");
        return false;
    }
    *of[option] = value;
    return true;
}

static bool parse(int argc, char **argv, struct command *cmd)
{
    static const struct option table[] = {
        {"all", no_argument, NULL, DO_ALL},
        {"json", no_argument, NULL, DO_JSON},
        {"var", required_argument, NULL, DO_VAR},
        {"topology", no_argument, NULL, DO_TOPOLOGY},
        {"svg", required_argument, NULL, OF_SVG},
        {"synthetic", required_argument, NULL, OF_SYNTHETIC},
        {"cluster", required_argument, NULL, OF_CLUSTER},
        {"coll", required_argument, NULL, DO_COLL},
        {"ranks", required_argument, NULL, OF_RANKS},
        {"nodes", required_argument, NULL, OF_NODES},
        {"size", required_argument, NULL, OF_SIZE},
        {"root", required_argument, NULL, OF_ROOT},
        {"ordered", no_argument, NULL, OF_ORDERED},
        {"nonblocking", no_argument, NULL, OF_NONBLOCKING},
        {"tuning", no_argument, NULL, DO_TUNING},
        {"protocols", no_argument, NULL, DO_PROTOCOLS},
        {"gpus", no_argument, NULL, DO_GPUS},
        {"calibration", no_argument, NULL, DO_CALIBRATION},
        {"calibrate", no_argument, NULL, DO_CALIBRATE},
        {"vars-mdoc", no_argument, NULL, DO_MDOC},
        {"version", no_argument, NULL, DO_VERSION},
        {"help", no_argument, NULL, DO_HELP},
        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == '?' || !set_option(cmd, c, optarg)) {
            return false;
        }
    }
    const struct topology_request *t = &cmd->topology;
    if (cmd->action != DO_TOPOLOGY &&
        (t->svg != NULL || t->synthetic != NULL || t->cluster != NULL)) {
        fprintf(stderr, "ctran_info: --svg, --synthetic and --cluster go with --topology\n");
        return false;
    }
    const struct choices_request *c = &cmd->choices;
    if (cmd->action == DO_COLL && c->ranks == NULL) {
        fprintf(stderr, "ctran_info: --coll needs --ranks N\n");
        return false;
    }
    if (cmd->action != DO_COLL && (c->ranks != NULL || c->nodes != NULL || c->size != NULL ||
                                   c->root != NULL || c->ordered || c->nonblocking)) {
        fprintf(stderr, "ctran_info: --ranks, --nodes, --size, --root, --ordered and --nonblocking "
                        "go with --coll\n");
        return false;
    }
    if (optind < argc) {
        fprintf(stderr, "ctran_info: unexpected argument \"%s\"\n", argv[optind]);
        return false;
    }
    return true;
}

static bool act(const struct command *cmd, const struct ct_config *cfg, const struct ct_log *log)
{
    bool good = true;
    switch (cmd->action) {
    case DO_JSON:
        return print_json(cfg, log);
    case DO_VAR:
        return print_named_var(cfg, cmd->name);
    case DO_TOPOLOGY:
        return topology_show(&cmd->topology, cfg, log);
    case DO_COLL:
        return choices_show(&cmd->choices, cfg, log);
    case DO_TUNING:
        return choices_table(cfg, log);
    case DO_GPUS:
        return gpus_show(cfg, log);
    case DO_CALIBRATION:
        return calibration_show(cfg, log);
    case DO_CALIBRATE:
        return calibration_measure(cfg, log);
    case DO_PROTOCOLS:
        protocols_show(cfg);
        return true;
    case DO_ALL:
    case DO_SUMMARY:
        print_build();
        print_transports();
        print_algorithms();
        good = print_machine(cfg, log);
        if (cmd->action == DO_ALL) {
            print_vars(cfg);
        } else {
            printf("\nctran_info --all also lists all variables, --topology shows the machine\n");
        }
        return good;
    case DO_MDOC:
        print_vars_mdoc();
        return true;
    case DO_VERSION:
        printf("ctran_info %s\n", PACKAGE_VERSION);
        return true;
    case DO_HELP:
        print_usage();
        return true;
    default:
        fprintf(stderr, "ctran_info: --help lists the options\n");
        return false;
    }
}

int main(int argc, char **argv)
{
    struct command   cmd = {.action = DO_SUMMARY};
    struct ct_log    log;
    struct ct_config cfg;
    ct_stdfd_fill();
    if (!parse(argc, argv, &cmd)) {
        cmd.action = DO_BAD;
    }
    bool shows_values = cmd.action <= DO_TUNING || cmd.action == DO_CALIBRATION ||
                        cmd.action == DO_CALIBRATE;

    /* A bad value has been logged when load returns; what is good is shown all the same. */
    ct_log_init(&log, shows_values ? CT_LOG_WARN : CT_LOG_NONE, "ctran_info");
    bool good = ct_config_load(&cfg, &log) == CTRAN_SUCCESS || !shows_values;
    good = act(&cmd, &cfg, &log) && good;
    ct_config_fini(&cfg);
    ct_log_fini(&log);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "ctran_info: output cannot be written\n");
        good = false;
    }
    return cmd.action == DO_BAD ? 2 : good ? 0 : 1;
}
