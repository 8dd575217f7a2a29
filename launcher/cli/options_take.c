/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options; see options_take.h. Used by options.c, by way of its table. */
#include "config.h"
#include "launcher/cli/options_take.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "launcher/job/job.h"
#include "launcher/launcher.h"

bool ct_options_complain(const char *fmt, ...)
{
    char    line[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    for (char *c = line; *c != '\0'; c++) {
        *c = *c == '\n' ? ' ' : *c; /* one line, whatever was asked */
    }
    fprintf(stderr, "ctranrun: %s\n", line);
    return false;
}

static bool no_memory(void)
{
    return ct_options_complain("out of memory");
}

static struct ct_app *this_app(struct ct_options *o)
{
    return &o->desc.apps[o->desc.napps - 1];
}

/* A whole number from 1 to most. */
static bool option_read_number(const char *text, long most, long *out)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, 10);
    return isdigit((unsigned char)text[0]) && errno == 0 && *end == '\0' && *out >= 1 &&
           *out <= most;
}

/* Returns the index of a word in a list that ends with NULL, -1: it is not there. */
static int find_word(const char *word, size_t len, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == len && strncmp(word, words[i], len) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- what is started ------------------------------------------------------------------------- */

bool ct_take_ranks(struct ct_options *o, const char *opt, const char *value)
{
    long n;
    if (!option_read_number(value, CT_MAX_RANKS, &n)) {
        return ct_options_complain("%s \"%s\": expected a number of ranks from 1 to %d, as in -n 4",
                                   opt, value, CT_MAX_RANKS);
    }
    this_app(o)->ranks = (uint32_t)n;
    o->ranks_given = true;
    return true;
}

/* Whether the library takes this setting; if not, a line has been written. */
static bool check_setting(const char *name, const char *value)
{
    struct ct_log    log;
    struct ct_config scratch = {0};
    ct_log_init(&log, CT_LOG_ERROR, "ctranrun");
    int rc = ct_config_set(&scratch, &log, name, value, CT_ORIGIN_SET);
    ct_config_fini(&scratch);
    return rc == CTRAN_SUCCESS;
}

/* Checks a variable of the environment, NAME=VALUE. A variable that the library does not know is no
 * error there. */
static bool check_variable(const char *setting)
{
    const size_t len = strcspn(setting, "=");
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        const char *name = ct_config_vars()[i].name;
        if (strlen(name) == len && strncmp(name, setting, len) == 0) {
            return check_setting(name, setting + len + 1);
        }
    }
    return true;
}

bool ct_take_env(struct ct_options *o, const char *opt, const char *value)
{
    const char *eq = strchr(value, '=');
    char       *setting = NULL;
    if (*value == '\0' || eq == value) {
        return ct_options_complain("%s \"%s\": expected NAME or NAME=VALUE", opt, value);
    }
    const char *now = eq == NULL ? getenv(value) : "";
    if (now == NULL) {
        return ct_options_complain(
            "%s %s: there is no such variable in the environment; set it, or "
            "give a value: %s %s=VALUE",
            opt, value, opt, value);
    }
    if (asprintf(&setting, "%s%s%s", value, eq == NULL ? "=" : "", now) < 0) {
        return no_memory();
    }
    bool ok =
        check_variable(setting) && (ct_strlist_set(&this_app(o)->env, setting) || no_memory());
    free(setting);
    return ok;
}

/* NAME=VALUE for the ranks of all programs: MPICH's -genv. */
bool ct_take_env_all(struct ct_options *o, const char *opt, const char *value)
{
    if (value[0] == '=') {
        return ct_options_complain("%s \"%s\": expected NAME and VALUE", opt, value);
    }
    return ct_strlist_set(&o->desc.env, value) || no_memory();
}

bool ct_take_rank_env(struct ct_options *o, const char *opt, const char *value)
{
    uint32_t    highest;
    const char *colon = strchr(value, ':');
    const char *eq = colon != NULL ? strchr(colon, '=') : NULL;
    if (eq == NULL || eq == colon + 1 || !ct_ranklist_is_valid(value, &highest)) {
        return ct_options_complain("%s \"%s\": expected RANKS:NAME=VALUE, as in %s 0,2-5:A=1 or "
                                   "%s all:FILE=log.%%r",
                                   opt, value, opt, opt);
    }
    const bool final = strchr(eq, '%') == NULL; /* else it is another value for each rank */
    return (!final || check_variable(colon + 1)) &&
           (ct_strlist_add(&o->desc.rank_env, value) || no_memory());
}

/* Replaces *text by a copy of the value. */
static bool option_replace(char **text, const char *with)
{
    free(*text);
    *text = strdup(with);
    return *text != NULL || no_memory();
}

bool ct_take_wdir(struct ct_options *o, const char *opt, const char *value)
{
    struct stat st;
    if (stat(value, &st) != 0) {
        return ct_options_complain("%s \"%s\": %s; give a directory that exists", opt, value,
                                   strerror(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        return ct_options_complain("%s \"%s\": not a directory; give a directory that exists", opt,
                                   value);
    }
    return option_replace(&this_app(o)->wdir, value);
}

bool ct_take_set(struct ct_options *o, const char *opt, const char *value)
{
    const char *eq = strchr(value, '=');
    char       *all;
    if (eq == NULL || eq == value || strchr(value, '\n') != NULL) {
        return ct_options_complain("%s \"%s\": expected NAME=VALUE on one line, as in %s "
                                   "EAGER_LIMIT=64K",
                                   opt, value, opt);
    }
    char *name = ct_config_full_name(value, (size_t)(eq - value));
    if (name == NULL) {
        return no_memory();
    }
    bool ok = check_setting(name, eq + 1);
    if (ok && asprintf(&all, "%s%s=%s\n", o->set != NULL ? o->set : "", name, eq + 1) >= 0) {
        free(o->set);
        o->set = all;
    }
    free(name);
    return ok;
}

/* As MPI-4.1 sec. 11.5 spells it, or as the variable does. */
bool ct_take_initial_errhandler(struct ct_options *o, const char *opt, const char *value)
{
    static const char *const words[] = {
        "fatal",  "INITIAL_ERRHANDLER=fatal",  "mpi_errors_are_fatal", "INITIAL_ERRHANDLER=fatal",
        "abort",  "INITIAL_ERRHANDLER=abort",  "mpi_errors_abort",     "INITIAL_ERRHANDLER=abort",
        "return", "INITIAL_ERRHANDLER=return", "mpi_errors_return",    "INITIAL_ERRHANDLER=return",
    };
    for (size_t i = 0; i < CT_ARRAY_LEN(words); i += 2) {
        if (strcmp(value, words[i]) == 0) {
            return ct_take_set(o, opt, words[i + 1]);
        }
    }
    return ct_options_complain("%s \"%s\": expected fatal, abort or return, or MPI's "
                               "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
                               opt, value);
}

bool ct_options_check_environment(void)
{
    struct ct_log    log;
    struct ct_config cfg;
    ct_log_init(&log, CT_LOG_ERROR, "ctranrun"); /* the ranks report unknown names */
    int rc = ct_config_load(&cfg, &log);
    ct_config_fini(&cfg);
    return rc == CTRAN_SUCCESS;
}

static bool take_seconds(uint64_t *out_ms, const char *opt, const char *value)
{
    char  *end;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(seconds) || seconds < 0.001 || seconds > 1e8) {
        return ct_options_complain("%s \"%s\": expected a number of seconds above 0, as in %s 60",
                                   opt, value, opt);
    }
    *out_ms = (uint64_t)(seconds * 1000.0);
    return true;
}

bool ct_take_timeout(struct ct_options *o, const char *opt, const char *value)
{
    return take_seconds(&o->timeout_ms, opt, value);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

bool ct_take_hosts(struct ct_options *o, const char *opt, const char *value)
{
    if (*value == '\0') {
        return ct_options_complain("%s: expected hosts, as in %s a:4,b:4", opt, opt);
    }
    o->host_list = value;
    return true;
}

bool ct_take_hostfile(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    o->hostfile = value;
    return true;
}

bool ct_take_ppn(struct ct_options *o, const char *opt, const char *value)
{
    long n;
    if (!option_read_number(value, CT_MAX_RANKS, &n)) {
        return ct_options_complain("%s \"%s\": expected a number of ranks from 1 to %d", opt, value,
                                   CT_MAX_RANKS);
    }
    o->ppn = (uint32_t)n;
    return true;
}

/* The ranks read it, too, on their hosts. */
bool ct_take_topology(struct ct_options *o, const char *opt, const char *value)
{
    char path[PATH_MAX], *setting;
    if (realpath(value, path) == NULL) {
        return ct_options_complain("%s \"%s\": %s", opt, value, strerror(errno));
    }
    bool ok = asprintf(&setting, "TOPOLOGY_FILE=%s", path) >= 0;
    if (!ok) {
        return no_memory();
    }
    ok = ct_take_set(o, opt, setting);
    free(setting);
    return ok;
}

bool ct_take_host_order(struct ct_options *o, const char *opt, const char *value)
{
    static const char *const orders[] = {"given", "topology", NULL};
    int                      order = find_word(value, strlen(value), orders);
    if (order < 0) {
        return ct_options_complain("%s \"%s\": expected given or topology", opt, value);
    }
    o->host_order = (enum ct_host_order)(CT_ORDER_GIVEN + order);
    return true;
}

bool ct_take_fan_out(struct ct_options *o, const char *opt, const char *value)
{
    long n;
    if (!option_read_number(value, CT_MAX_FAN_OUT, &n)) {
        return ct_options_complain("%s \"%s\": expected a number of daemons from 1 to %d", opt,
                                   value, CT_MAX_FAN_OUT);
    }
    o->fan_out = (uint32_t)n;
    return true;
}

bool ct_take_launch_timeout(struct ct_options *o, const char *opt, const char *value)
{
    return take_seconds(&o->launch_timeout_ms, opt, value);
}

/* ---- debugging ------------------------------------------------------------------------------- */

/* Takes the next word as a shell would: blanks end it, quotes and backslashes keep blanks. Moves
 * on. Returns false if a quote does not end. */
static bool take_word(const char **at, char *out)
{
    char quote = '\0';
    for (; **at != '\0' && (quote != '\0' || !isspace((unsigned char)**at)); (*at)++) {
        char c = **at;
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        } else {
            *at += c == '\\' && quote != '\'' && (*at)[1] != '\0';
            *out++ = **at;
        }
    }
    *out = '\0';
    return quote == '\0';
}

/* Replaces a list by the words of a command. */
static bool take_words(char ***out, const char *opt, const char *value, const char *example)
{
    const char *at = value + strspn(value, " \t\n");
    char       *word = malloc(strlen(value) + 1);
    bool        ok = word != NULL, whole = true;
    ct_strlist_free(*out);
    *out = NULL;
    while (ok && whole && *at != '\0') {
        whole = take_word(&at, word);
        ok = ct_strlist_add(out, word);
        at += strspn(at, " \t\n");
    }
    free(word);
    if (!ok) {
        return no_memory();
    }
    return (whole && *out != NULL) ||
           ct_options_complain("%s \"%s\": expected a command%s, as in %s \"%s\"", opt, value,
                               whole ? "" : " whose quotes end", opt, example);
}

bool ct_take_debugger(struct ct_options *o, const char *opt, const char *value)
{
    return take_words(&o->desc.debugger, opt, value, "gdb --args");
}

bool ct_take_agent(struct ct_options *o, const char *opt, const char *value)
{
    return take_words(&o->desc.agent, opt, value, "ssh -p 2222");
}

bool ct_take_debug_ranks(struct ct_options *o, const char *opt, const char *value)
{
    uint32_t highest;
    if (strchr(value, ':') != NULL || !ct_ranklist_is_valid(value, &highest)) {
        return ct_options_complain("%s \"%s\": expected ranks, as in %s 0,2-5, or all", opt, value,
                                   opt);
    }
    return option_replace(&o->desc.debug_ranks, value);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Reads what follows the unit: ":pe=N", and Open MPI's ":oversubscribe". */
static bool take_modifiers(struct ct_options *o, const char *at, long *pe)
{
    while (*at == ':') {
        size_t len = strcspn(++at, ":");
        char   number[16] = "";
        if (len == strlen("oversubscribe") && strncasecmp(at, "oversubscribe", len) == 0) {
            o->desc.oversubscribe = true;
        } else if (strncasecmp(at, "pe=", 3) == 0 && len - 3 < sizeof number) {
            snprintf(number, sizeof number, "%.*s", (int)len - 3, at + 3);
            if (!option_read_number(number, CT_MAX_RANKS, pe)) {
                return false;
            }
        } else {
            return false;
        }
        at += len;
    }
    return true;
}

/* Reads Open MPI's ppr:N:node, which is --ppn N here. */
static bool take_ppr(struct ct_options *o, const char *opt, const char *value)
{
    char   n[16] = "";
    size_t len = strcspn(value + 4, ":");
    if (strcmp(value + 4 + len, ":node") != 0 || len >= sizeof n) {
        return ct_options_complain(
            "%s \"%s\": of ppr only ppr:N:node is known, which is --ppn N; for "
            "parts of a host use --ppn N with %s package, numa or l3cache",
            opt, value, opt);
    }
    snprintf(n, sizeof n, "%.*s", (int)len, value + 4);
    return ct_take_ppn(o, opt, n);
}

bool ct_take_map(struct ct_options *o, const char *opt, const char *value)
{
    static const char *const units[] = {"slot", "node",    "core",    "numa",   "hwthread",
                                        "gpu",  "package", "l3cache", "socket", NULL};
    size_t                   len = strcspn(value, ":");
    long                     pe = 0;
    int                      unit = find_word(value, len, units);
    if (strncmp(value, "ppr:", 4) == 0) {
        return take_ppr(o, opt, value);
    }
    if (unit < 0 || !take_modifiers(o, value + len, &pe)) {
        return ct_options_complain(
            "%s \"%s\": expected slot, node, core, numa, package, l3cache, hwthread or gpu, and "
            ":pe=N after it if ranks are to have more than one, as in %s core:pe=2",
            opt, value, opt);
    }
    o->desc.map =
        strcmp(units[unit], "socket") == 0 ? CT_MAP_PACKAGE : (enum ct_map)(CT_MAP_SLOT + unit);
    o->desc.pe = (uint32_t)pe;
    return true;
}

bool ct_take_gpus(struct ct_options *o, const char *opt, const char *value)
{
    long n;
    if (!option_read_number(value, CT_MAX_GPUS_A_RANK, &n)) {
        return ct_options_complain("%s \"%s\": expected a number of GPUs from 1 to %d", opt, value,
                                   CT_MAX_GPUS_A_RANK);
    }
    o->desc.gpus = (uint32_t)n;
    return true;
}

bool ct_take_bind(struct ct_options *o, const char *opt, const char *value)
{
    static const char *const units[] = {"none",    "core",    "numa",   "hwthread",
                                        "package", "l3cache", "socket", NULL};
    size_t                   len = strcspn(value, ":");
    bool                     overload = strcmp(value + len, ":overload-allowed") == 0;
    int                      unit = find_word(value, len, units);
    if (unit < 0 || (value[len] != '\0' && !overload)) {
        return ct_options_complain(
            "%s \"%s\": expected none, core, numa, package, l3cache or hwthread", opt, value);
    }
    o->desc.bind =
        strcmp(units[unit], "socket") == 0 ? CT_BIND_PACKAGE : (enum ct_bind)(CT_BIND_NONE + unit);
    o->desc.oversubscribe |= overload; /* Open MPI's word for package */
    return true;
}

/* ---- input and output ------------------------------------------------------------------------ */

bool ct_take_stdin(struct ct_options *o, const char *opt, const char *value)
{
    char *end;
    errno = 0;
    long rank = strtol(value, &end, 10);
    if (strcmp(value, "none") == 0) {
        rank = CT_STDIN_NONE;
    } else if (strcmp(value, "all") == 0) {
        rank = CT_STDIN_ALL;
    } else if (!isdigit((unsigned char)*value) || errno != 0 || *end != '\0' ||
               rank >= CT_MAX_RANKS) {
        return ct_options_complain("%s \"%s\": expected a rank, all or none", opt, value);
    }
    o->desc.stdin_to = (int32_t)rank;
    o->stdin_given = true;
    return true;
}

bool ct_take_output_dir(struct ct_options *o, const char *opt, const char *value)
{
    static const char hidden[] = ":nocopy";
    size_t            len = strlen(value), tail = sizeof hidden - 1;
    char              path[PATH_MAX], here[PATH_MAX];
    o->desc.output_hidden = len >= tail && strcmp(value + len - tail, hidden) == 0;
    len -= o->desc.output_hidden ? tail : 0;
    if (len == 0 || (value[0] != '/' && getcwd(here, sizeof here) == NULL)) {
        return ct_options_complain("%s \"%s\": expected a directory", opt, value);
    }
    int n = snprintf(path, sizeof path, "%s%s%.*s", value[0] == '/' ? "" : here,
                     value[0] == '/' ? "" : "/", (int)len, value);
    if ((size_t)n >= sizeof path) {
        return ct_options_complain("%s \"%s\": %s", opt, value, strerror(ENAMETOOLONG));
    }
    return option_replace(&o->desc.output_dir, path);
}

/* ---- other things to do than start a job ----------------------------------------------------- */

static bool option_take_job(struct ct_options *o, const char *opt, const char *value,
                            enum ct_action action)
{
    if (value != NULL && (*value == '\0' || strspn(value, "0123456789abcdef") != strlen(value))) {
        return ct_options_complain(
            "%s \"%s\": expected the id of a job, hexadecimal digits as in %s "
            "4f2a91",
            opt, value, opt);
    }
    o->action = action;
    o->word = value;
    return true;
}

bool ct_take_status(struct ct_options *o, const char *opt, const char *value)
{
    return option_take_job(o, opt, value, CT_ACTION_STATUS);
}

bool ct_take_store_dump(struct ct_options *o, const char *opt, const char *value)
{
    return option_take_job(o, opt, value, CT_ACTION_STORE_DUMP);
}

bool ct_take_analyze(struct ct_options *o, const char *opt, const char *value)
{
    return option_take_job(o, opt, value, CT_ACTION_ANALYZE);
}

bool ct_take_trace_dump(struct ct_options *o, const char *opt, const char *value)
{
    return option_take_job(o, opt, value, CT_ACTION_TRACE_DUMP);
}

bool ct_take_completion(struct ct_options *o, const char *opt, const char *value)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    if (find_word(value, strlen(value), shells) < 0) {
        return ct_options_complain("%s \"%s\": expected bash, zsh or fish", opt, value);
    }
    o->action = CT_ACTION_COMPLETION;
    o->word = value;
    return true;
}

/* ---- words without a value ------------------------------------------------------------------- */

bool ct_take_report(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->desc.tell_ranks = true;
    return true;
}

bool ct_take_oversubscribe(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->desc.oversubscribe = true;
    return true;
}

bool ct_take_tag(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->tag_output = true;
    return true;
}

bool ct_take_dry_run(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->dry_run = true;
    return true;
}

bool ct_take_recovery(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->desc.recovery = true;
    return true;
}

bool ct_take_verbose(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->desc.verbose = o->desc.tell_ranks = true;
    return true;
}

bool ct_take_version(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->action = CT_ACTION_VERSION;
    return true;
}

bool ct_take_help(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->action = CT_ACTION_HELP;
    return true;
}
