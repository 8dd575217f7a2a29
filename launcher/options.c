/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line; see options.h. One table declares every option for the parser and for --help.
 * A message about a bad one says what was asked, what is expected, and leaves nothing started.
 * Used by ctranrun.c.
 */
#include "config.h"
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "launcher.h"

/* A reader takes the option as it was written, and its value; it returns false after a message. */
typedef bool (*take_fn)(struct ct_options *o, const char *opt, const char *value);

struct option_row {
    const char *names[3];
    const char *value; /* NULL: takes none */
    take_fn     take;  /* NULL: --help and --version */
    const char *help;
};

static bool complain(const char *fmt, ...) CT_PRINTF(1, 2);
static bool complain(const char *fmt, ...)
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

static bool take_ranks(struct ct_options *o, const char *opt, const char *value)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || n < 1 || n > CT_MAX_RANKS) {
        return complain("%s \"%s\": expected a number of ranks from 1 to %d, as in -n 4", opt,
                        value, CT_MAX_RANKS);
    }
    o->ranks = (uint32_t)n;
    return true;
}

bool ct_options_add_env(struct ct_options *o, const char *name, const char *value)
{
    char **more = realloc(o->env, (o->nenv + 2) * sizeof *more);
    if (more == NULL) {
        return false;
    }
    o->env = more;
    if (asprintf(&o->env[o->nenv], "%s%s%s", name, value != NULL ? "=" : "",
                 value != NULL ? value : "") < 0) {
        o->env[o->nenv] = NULL;
        return false;
    }
    o->env[++o->nenv] = NULL;
    return true;
}

static bool take_env(struct ct_options *o, const char *opt, const char *value)
{
    const char *eq = strchr(value, '=');
    if (*value == '\0' || eq == value) {
        return complain("%s \"%s\": expected NAME or NAME=VALUE", opt, value);
    }
    if (eq != NULL) {
        return ct_options_add_env(o, value, NULL) || complain("out of memory");
    }
    const char *now = getenv(value);
    if (now == NULL) {
        return complain("%s %s: there is no such variable in the environment; set it, or give a "
                        "value: %s %s=VALUE",
                        opt, value, opt, value);
    }
    return ct_options_add_env(o, value, now) || complain("out of memory");
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

static bool take_set(struct ct_options *o, const char *opt, const char *value)
{
    const char *eq = strchr(value, '=');
    char       *name, *all;
    if (eq == NULL || eq == value || strchr(value, '\n') != NULL) {
        return complain("%s \"%s\": expected NAME=VALUE on one line, as in %s EAGER_LIMIT=64K", opt,
                        value, opt);
    }
    if (asprintf(&name, "%s%.*s", strncmp(value, "CTRAN_", 6) == 0 ? "" : "CTRAN_",
                 (int)(eq - value), value) < 0) {
        return complain("out of memory");
    }
    for (char *c = name; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    bool ok = check_setting(name, eq + 1);
    if (ok && asprintf(&all, "%s%s=%s\n", o->set != NULL ? o->set : "", name, eq + 1) >= 0) {
        free(o->set);
        o->set = all;
    }
    free(name);
    return ok;
}

static bool take_wdir(struct ct_options *o, const char *opt, const char *value)
{
    struct stat st;
    if (stat(value, &st) != 0 || !S_ISDIR(st.st_mode)) {
        return complain("%s \"%s\": %s; give a directory that exists", opt, value,
                        errno != 0 && stat(value, &st) != 0 ? strerror(errno) : "not a directory");
    }
    o->wdir = value;
    return true;
}

static bool take_timeout(struct ct_options *o, const char *opt, const char *value)
{
    char  *end;
    double seconds = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(seconds) || seconds < 0.001 || seconds > 1e8) {
        return complain("%s \"%s\": expected a number of seconds above 0, as in %s 60", opt, value,
                        opt);
    }
    o->timeout_ms = (uint64_t)(seconds * 1000.0);
    return true;
}

static bool take_bind(struct ct_options *o, const char *opt, const char *value)
{
    if (strcmp(value, "none") != 0 && strcmp(value, "core") != 0) {
        return complain("%s \"%s\": expected none or core", opt, value);
    }
    o->bind = strcmp(value, "core") == 0 ? CT_BIND_CORE : CT_BIND_NONE;
    return true;
}

static bool take_tag(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->tag_output = true;
    return true;
}

static bool take_verbose(struct ct_options *o, const char *opt, const char *value)
{
    (void)opt;
    (void)value;
    o->verbose = true;
    return true;
}

static const struct option_row rows[] = {
    {{"-n", "-np", "--np"}, "N", take_ranks, "start N ranks (default 1)"},
    {{"-x"}, "NAME[=VALUE]", take_env, "put a variable into the ranks' environment"},
    {{"--set"}, "NAME=VALUE", take_set, "set a variable of the library, CTRAN_NAME"},
    {{"--wdir"}, "DIR", take_wdir, "start the ranks in this directory"},
    {{"--tag-output"}, NULL, take_tag, "put [rank] before every line the ranks print"},
    {{"--timeout"}, "SECONDS", take_timeout, "end the job after this time, with status 124"},
    {{"--bind-to"},
     "none|core",
     take_bind,
     "bind each rank to a core; default: core if there are enough"},
    {{"-v", "--verbose"}, NULL, take_verbose, "tell what is started, where, and how fast"},
    {{"--version"}, NULL, NULL, "print the version"},
    {{"-h", "--help"}, NULL, NULL, "print this text"},
};

static void print_help(void)
{
    printf("usage: ctranrun [OPTION]... PROGRAM [ARGUMENT]...\n"
           "Starts the ranks of a parallel program on this machine.\n\n");
    for (size_t i = 0; i < CT_ARRAY_LEN(rows); i++) {
        char   left[64];
        size_t len = 0;
        for (size_t k = 0; k < CT_ARRAY_LEN(rows[i].names) && rows[i].names[k] != NULL; k++) {
            len += (size_t)snprintf(left + len, sizeof left - len, "%s%s", k > 0 ? ", " : "",
                                    rows[i].names[k]);
        }
        snprintf(left + len, sizeof left - len, " %s", rows[i].value != NULL ? rows[i].value : "");
        printf("  %-24s %s\n", left, rows[i].help);
    }
    printf("\nOptions end at PROGRAM. See ctranrun(1); ctran_info --all lists the variables.\n");
}

/* The row of an option; name_len leaves out "=value". */
static const struct option_row *find_row(const char *arg, size_t name_len)
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

/* Takes the option at argv[*at] and moves on. Returns -1 to go on, or an exit status. */
static int take_option(struct ct_options *o, int argc, char **argv, int *at)
{
    const char *arg = argv[(*at)++], *eq = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    size_t      name_len = eq != NULL ? (size_t)(eq - arg) : strlen(arg);
    const struct option_row *row = find_row(arg, name_len);
    char                     name[64];
    snprintf(name, sizeof name, "%.*s", (int)name_len, arg);
    if (row == NULL) {
        complain("unknown option %s; ctranrun --help lists the options", arg);
        return CT_EXIT_USAGE;
    }
    if (eq != NULL && row->value == NULL) {
        complain("%s takes no value, \"%s\" was given", name, eq + 1);
        return CT_EXIT_USAGE;
    }
    if (row->take == NULL && strcmp(row->names[0], "--version") == 0) {
        printf("ctranrun %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (row->take == NULL) {
        print_help();
        return 0;
    }
    const char *value = eq != NULL ? eq + 1 : NULL;
    if (row->value != NULL && value == NULL) {
        if (*at >= argc) {
            complain("%s needs a value: %s %s", name, name, row->value);
            return CT_EXIT_USAGE;
        }
        value = argv[(*at)++];
    }
    return row->take(o, name, value) ? -1 : CT_EXIT_USAGE;
}

int ct_options_parse(struct ct_options *o, int argc, char **argv)
{
    int at = 1, status = -1;
    *o = (struct ct_options){.ranks = 1, .wdir = ""};
    o->env = calloc(1, sizeof *o->env);
    if (o->env == NULL) {
        complain("out of memory");
        return CT_EXIT_INTERNAL;
    }
    while (status < 0 && at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0) {
        status = take_option(o, argc, argv, &at);
    }
    if (status >= 0) {
        return status;
    }
    at += at < argc && strcmp(argv[at], "--") == 0;
    if (at >= argc) {
        complain("no program was given; usage: ctranrun [OPTION]... PROGRAM [ARGUMENT]...");
        return CT_EXIT_USAGE;
    }
    o->argv = argv + at;
    return -1;
}

void ct_options_fini(struct ct_options *o)
{
    for (uint32_t i = 0; i < o->nenv; i++) {
        free(o->env[i]);
    }
    free(o->env);
    free(o->set);
}
