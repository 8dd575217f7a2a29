/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line; see options.h. One table declares every option for the parser, for --help and
 * for the completion of shells. A message about a bad option tells what was given and what is
 * expected; nothing is started then. Used by ctranrun.c.
 */
#include "config.h"
#include "launcher/cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/cli/foreign.h"
#include "launcher/cli/options_take.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"

static const struct ct_option_row rows[] = {
    {{"-n", "-np", "--np"}, "N", ct_take_ranks, "start N ranks (default 1)"},
    {{"-H", "-host", "--host"},
     "HOST[:N],...",
     ct_take_hosts,
     "run on these hosts, N ranks on each"},
    {{"--hostfile", "-f", "--machinefile"}, "FILE", ct_take_hostfile, "run on the hosts in a file"},
    {{"--ppn"}, "N", ct_take_ppn, "start N ranks on each host"},
    {{"--topology"}, "FILE", ct_take_topology, "read from FILE where the hosts stand"},
    {{"--host-order"},
     "given|topology",
     ct_take_host_order,
     "keep the hosts' order, or put close ones together"},
    {{"--launch-agent"},
     "COMMAND",
     ct_take_agent,
     "reach other hosts by COMMAND HOST ... (default ssh)"},
    {{"--launch-timeout"},
     "SECONDS",
     ct_take_launch_timeout,
     "how long hosts may take to be ready (default 60)"},
    {{"--fan-out"}, "K", ct_take_fan_out, "let each daemon start at most K others (default 32)"},
    {{"-x"}, "NAME[=VALUE]", ct_take_env, "put a variable into the environment of the ranks"},
    {{"--env-rank"},
     "RANKS:NAME=VALUE",
     ct_take_rank_env,
     "put a variable into that of RANKS; %r is the rank"},
    {{"--wdir"}, "DIR", ct_take_wdir, "start the ranks in this directory"},
    {{"--set"}, "NAME=VALUE", ct_take_set, "set a variable of the library, CTRAN_NAME"},
    {{"--initial-errhandler", "-initial-errhandler"},
     "fatal|abort|return",
     ct_take_initial_errhandler,
     "what errors do until the program sets a handler"},
    {{"--map-by"},
     "slot|node|core|numa|package|l3cache|hwthread|gpu[:pe=N]",
     ct_take_map,
     "give ranks their places in this order"},
    {{"--gpus-per-rank"}, "N", ct_take_gpus, "give each rank N GPUs that no other rank has"},
    {{"--bind-to"},
     "none|core|numa|package|l3cache|hwthread",
     ct_take_bind,
     "hold each rank to its place; default: a core if all fit"},
    {{"--oversubscribe"},
     NULL,
     ct_take_oversubscribe,
     "let hosts have more ranks than slots, cores more than one rank"},
    {{"--report-bindings"}, NULL, ct_take_report, "print the place of each rank"},
    {{"--stdin"}, "RANK|all|none", ct_take_stdin, "who reads the standard input (default: rank 0)"},
    {{"--tag-output"}, NULL, ct_take_tag, "put [rank] before every line the ranks print"},
    {{"--output-dir"},
     "DIR[:nocopy]",
     ct_take_output_dir,
     "keep the output of each rank in files too"},
    {{"--debugger"}, "COMMAND", ct_take_debugger, "run ranks under COMMAND, as in \"gdb --args\""},
    {{"--debug-ranks"},
     "RANKS",
     ct_take_debug_ranks,
     "the ranks under --debugger: 0,2-5 or all (default 0)"},
    {{"--timeout"}, "SECONDS", ct_take_timeout, "end the job after this time, with status 124"},
    {{"--dry-run"}, NULL, ct_take_dry_run, "print what would be started, and start nothing"},
    {{"--enable-recovery"}, NULL, ct_take_recovery, "let the job outlive the death of ranks"},
    {{"-v", "--verbose"}, NULL, ct_take_verbose, "print what is started, where, and how fast"},
    {{"--status"},
     "[JOB]",
     ct_take_status,
     "list your jobs, or the ranks of JOB, and start nothing"},
    {{"--store-dump"},
     "[JOB]",
     ct_take_store_dump,
     "show what the store of your jobs, or of JOB, holds"},
    {{"--analyze"}, "JOB", ct_take_analyze, "say which rank holds JOB up, where and why"},
    {{"--trace-dump"}, "JOB", ct_take_trace_dump, "write the traces of JOB for ctran_analyze"},
    {{"--completion"}, "bash|zsh|fish", ct_take_completion, "print the completion for a shell"},
    {{"--version"}, NULL, ct_take_version, "print the version"},
    {{"-h", "--help"}, NULL, ct_take_help, "print this text"},
};

const struct ct_option_row *ct_options_rows(size_t *n)
{
    *n = CT_ARRAY_LEN(rows);
    return rows;
}

/* ---- --help ---------------------------------------------------------------------------------- */

void ct_options_print_help(void)
{
    printf("usage: ctranrun [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM ...]...\n"
           "Starts the ranks of a parallel program, on this machine or on others.\n\n");
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        char   left[64];
        size_t len = 0;
        for (size_t k = 0; k < CT_ARRAY_LEN(rows[i].names) && rows[i].names[k] != NULL; k++) {
            len += (size_t)snprintf(left + len, sizeof left - len, "%s%s", k > 0 ? ", " : "",
                                    rows[i].names[k]);
        }
        len += (size_t)snprintf(left + len, sizeof left - len, " %s",
                                rows[i].value != NULL ? rows[i].value : "");
        printf("  %-27s%s%s\n", left, len > 26 ? "\n                             " : "",
               rows[i].help);
    }
    printf("\nOptions end at PROGRAM. -n, -x and --wdir are for one program, and after ':' comes\n"
           "another. See ctranrun(1); ctran_info --all lists the variables.\n");
}

/* ---- the parser ------------------------------------------------------------------------------ */

/* The row of an option; name_len leaves out "=value". */
static const struct ct_option_row *find_row(const char *arg, size_t name_len)
{
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        for (size_t k = 0; k < CT_ARRAY_LEN(rows[i].names) && rows[i].names[k] != NULL; k++) {
            if (strlen(rows[i].names[k]) == name_len &&
                strncmp(arg, rows[i].names[k], name_len) == 0) {
                return &rows[i];
            }
        }
    }
    return NULL;
}

/* Returns the row of an option that is written with one dash instead of two, as other launchers
 * allow. */
static const struct ct_option_row *find_with_two(const char *arg, size_t name_len)
{
    char name[64];
    if (strncmp(arg, "--", 2) == 0 || name_len < 3 || name_len + 2 > sizeof name) {
        return NULL;
    }
    snprintf(name, sizeof name, "-%.*s", (int)name_len, arg);
    return find_row(name, name_len + 1);
}

/* Prints that there is no such option, and names the nearest option, if at most a third of its
 * letters differ. */
static bool is_unknown(const char *arg, const char *name)
{
    size_t            letters = strlen(name + strspn(name, "-"));
    struct ct_nearest near = {name, NULL, (unsigned)(letters / 3 + 1)};
    for (size_t i = 0; letters > 2 && i < CT_ARRAY_LEN(rows); i++) {
        for (size_t k = 0; k < CT_ARRAY_LEN(rows[i].names) && rows[i].names[k] != NULL; k++) {
            ct_nearest_try(&near, rows[i].names[k]);
        }
    }
    return ct_options_complain("unknown option %s%s%s; ctranrun --help lists the options", arg,
                               near.name != NULL ? "; did you mean " : "",
                               near.name != NULL ? near.name : "");
}

/* Returns the value of an option: `given` after its "=", or the next `n` words with "=" between
 * them, and moves on. NULL: there are too few words. *end, to be freed, holds a value that was put
 * together. */
static const char *options_take_value(const char *given, unsigned n, int argc, char **argv, int *at,
                                      char **end)
{
    *end = NULL;
    if (given != NULL || n == 0) {
        return given;
    }
    if ((unsigned)(argc - *at) < n) {
        return NULL;
    }
    *at += (int)n;
    if (n == 1) {
        return argv[*at - 1];
    }
    return asprintf(end, "%s=%s", argv[*at - 2], argv[*at - 1]) >= 0 ? *end : NULL;
}

/* Takes another launcher's option, or prints what to write instead. */
static bool take_foreign(struct ct_options *o, const struct ct_foreign *f, const char *name,
                         const char *given, int argc, char **argv, int *at)
{
    char *made;
    if (f->advice != NULL) {
        return ct_options_complain("%s is no option of ctranrun: %s", name, f->advice);
    }
    const struct ct_option_row *row = f->ours != NULL ? find_row(f->ours, strlen(f->ours)) : NULL;
    const char                 *value = options_take_value(given, f->values, argc, argv, at, &made);
    bool all_ranks = f->values == 2 && row != NULL && row->take == ct_take_rank_env;
    bool ok = true;
    if (f->values > 0 && value == NULL) {
        ok = ct_options_complain("%s needs %s after it", name,
                                 f->values == 2 ? "NAME and VALUE" : row->value);
    } else if (f->values == 0 && given != NULL) {
        ok = ct_options_complain("%s takes no value, \"%s\" was given", name, given);
    } else if (row != NULL) {
        ok = all_ranks ? ct_take_env_all(o, name, value) : row->take(o, name, value);
    }
    free(made);
    return ok;
}

/* Takes the option at argv[*at] and moves on. */
static bool take_option(struct ct_options *o, int argc, char **argv, int *at)
{
    const char *arg = argv[(*at)++], *eq = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    size_t      name_len = eq != NULL ? (size_t)(eq - arg) : strlen(arg);
    const struct ct_option_row *row = find_row(arg, name_len);
    const char                 *value = eq != NULL ? eq + 1 : NULL;
    char                        name[64], *made;
    snprintf(name, sizeof name, "%.*s", (int)name_len, arg);
    row = row != NULL ? row : find_with_two(arg, name_len);
    if (row == NULL) {
        const struct ct_foreign *f = ct_foreign_find(arg, name_len);
        return f != NULL ? take_foreign(o, f, name, value, argc, argv, at) : is_unknown(arg, name);
    }
    if (value != NULL && row->value == NULL) {
        return ct_options_complain("%s takes no value, \"%s\" was given", name, value);
    }
    value = options_take_value(value, row->value != NULL ? 1 : 0, argc, argv, at, &made);
    if (row->value != NULL && value == NULL && row->value[0] != '[') {
        return ct_options_complain("%s needs a value: %s %s", name, name, row->value);
    }
    return row->take(o, name, value);
}

static bool begin_app(struct ct_options *o)
{
    struct ct_jobdesc *d = &o->desc;
    struct ct_app     *more = realloc(d->apps, (d->napps + 1) * sizeof *more);
    if (more == NULL) {
        return ct_options_complain("out of memory");
    }
    d->apps = more;
    d->apps[d->napps] = (struct ct_app){.ranks = 1, .wdir = strdup("")};
    return d->apps[d->napps++].wdir != NULL || ct_options_complain("out of memory");
}

/* Takes one program with its options, up to the end or past a ":". */
static bool take_app(struct ct_options *o, int argc, char **argv, int *at)
{
    bool ok = begin_app(o);
    while (ok && o->action == CT_ACTION_RUN && *at < argc && argv[*at][0] == '-' &&
           strcmp(argv[*at], "--") != 0) {
        ok = take_option(o, argc, argv, at);
    }
    if (!ok || o->action != CT_ACTION_RUN) {
        return ok;
    }
    *at += *at < argc && strcmp(argv[*at], "--") == 0;
    int begin = *at;
    while (*at < argc && strcmp(argv[*at], ":") != 0) {
        (*at)++;
    }
    if (*at == begin) {
        return ct_options_complain("no program was given%s; usage: ctranrun [OPTION]... PROGRAM "
                                   "[ARGUMENT]...",
                                   begin < argc        ? " before \":\""
                                   : o->desc.napps > 1 ? " after \":\""
                                                       : "");
    }
    o->desc.apps[o->desc.napps - 1].argv = ct_strlist_copy(argv + begin, (size_t)(*at - begin));
    return o->desc.apps[o->desc.napps - 1].argv != NULL || ct_options_complain("out of memory");
}

/* Makes the directory and those above it. Returns false with errno set. */
static bool make_dirs(char *path)
{
    for (char *c = path + 1; *c != '\0'; c++) {
        if (*c == '/') {
            *c = '\0';
            bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
            *c = '/';
            if (!ok) {
                return false;
            }
        }
    }
    struct stat st;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return false;
    }
    errno = stat(path, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    return errno == 0 && access(path, W_OK | X_OK) == 0;
}

/* Whether a setting gives a variable of GPUs (by which ranks get theirs) another value than it has
 * in this process. */
static bool gives_gpus(const char *setting)
{
    static const char *const names[] = {
        "CUDA_VISIBLE_DEVICES=", "CUDA_DEVICE_ORDER=", "CTRAN_GPU_MAP=", "CTRAN_NIC_MAP="};
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        size_t len = strlen(names[i]);
        if (strncmp(setting, names[i], len) == 0) {
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)len - 1, names[i]);
            const char *ours = getenv(name);
            return ours == NULL || strcmp(ours, setting + len) != 0;
        }
    }
    return false;
}

/* A GPU variable that only ranks get is refused: the daemons choose the GPUs and do not see it. */
static bool check_gpus(const struct ct_jobdesc *d)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < d->napps; i++) {
        for (char **s = d->apps[i].env; s != NULL && *s != NULL; s++) {
            found = gives_gpus(*s) ? *s : found;
        }
    }
    for (char **s = d->rank_env; s != NULL && *s != NULL; s++) {
        found = gives_gpus(strchr(*s, ':') + 1) ? strchr(*s, ':') + 1 : found;
    }
    return found == NULL ||
           ct_options_complain("-x or --env-rank sets %.*s, which --map-by gpu and --gpus-per-rank "
                               "set or go by; set the variable in the environment of ctranrun",
                               (int)strcspn(found, "="), found);
}

bool ct_options_check(struct ct_options *o)
{
    uint32_t highest, n = ct_jobdesc_ranks(&o->desc);
    for (char **s = o->desc.rank_env; s != NULL && *s != NULL; s++) {
        if (ct_ranklist_is_valid(*s, &highest) && highest >= n) {
            return ct_options_complain("--env-rank \"%s\": there is no rank %u, only 0 to %u", *s,
                                       highest, n - 1);
        }
    }
    if (ct_ranklist_is_valid(o->desc.debug_ranks, &highest) && highest >= n) {
        return ct_options_complain("--debug-ranks %s: there is no rank %u, only 0 to %u",
                                   o->desc.debug_ranks, highest, n - 1);
    }
    if (o->desc.debugger != NULL && !o->stdin_given) {
        o->desc.stdin_to = (int32_t)ct_ranklist_first(o->desc.debug_ranks);
    }
    if (o->desc.stdin_to >= 0 && (uint32_t)o->desc.stdin_to >= n) {
        return ct_options_complain("--stdin %d: there is no such rank, only 0 to %u",
                                   o->desc.stdin_to, n - 1);
    }
    if (*o->desc.output_dir != '\0' && !o->dry_run && !make_dirs(o->desc.output_dir)) {
        return ct_options_complain("--output-dir \"%s\": %s; give a directory that can be made and "
                                   "written",
                                   o->desc.output_dir, strerror(errno));
    }
    return ct_options_check_environment() &&
           (!ct_jobdesc_wants_gpus(&o->desc) || check_gpus(&o->desc));
}

/* The option that asks a job; NULL: the action is none of these. */
static const char *name_of_question(enum ct_action action)
{
    switch (action) {
    case CT_ACTION_STATUS:
        return "--status";
    case CT_ACTION_STORE_DUMP:
        return "--store-dump";
    case CT_ACTION_ANALYZE:
        return "--analyze";
    case CT_ACTION_TRACE_DUMP:
        return "--trace-dump";
    default:
        return NULL;
    }
}

bool ct_options_parse(struct ct_options *o, int argc, char **argv)
{
    int  at = 1;
    bool ok = true;
    *o = (struct ct_options){.launch_timeout_ms = CT_LAUNCH_LIMIT_MS,
                             .desc = {.output_dir = strdup(""), .debug_ranks = strdup("0")}};
    do {
        ok = take_app(o, argc, argv, &at);
    } while (ok && o->action == CT_ACTION_RUN && at++ < argc);
    if (ok && at < argc && name_of_question(o->action) != NULL) {
        ok = ct_options_complain("%s takes one job at most, \"%s\" was given",
                                 name_of_question(o->action), argv[at]);
    }
    return ok;
}

void ct_options_fini(struct ct_options *o)
{
    ct_jobdesc_fini(&o->desc);
    free(o->set);
}
