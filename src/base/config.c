/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of variables and the order of their sources. */
#define CT_FOLDER "base"
#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/nearest.h"

extern char **environ;

#ifndef CT_SYSCONFDIR
#define CT_SYSCONFDIR "/etc"
#endif

static const struct ct_var vars[CT_VAR_COUNT] = {
#define VAR(NAME, field, type_, def_, min_, max_, unit_, scope_, help_)                            \
    {.name = "CTRAN_" #NAME,                                                                       \
     .type = CT_VAR_##type_,                                                                       \
     .def = def_,                                                                                  \
     .min = min_,                                                                                  \
     .max = max_,                                                                                  \
     .unit = unit_,                                                                                \
     .scope = #scope_,                                                                             \
     .help = help_,                                                                                \
     .offset = offsetof(struct ct_config, field)},
#include "base/vars.def"
#undef VAR
};

const struct ct_var *ct_config_vars(void)
{
    return vars;
}

const char *ct_config_origin_name(enum ct_var_origin origin)
{
    static const char *const names[] = {"default",      "site file",   "user file",
                                        "CTRAN_CONFIG", "environment", "ctranrun --set"};
    return names[origin];
}

static void *field(const struct ct_config *cfg, const struct ct_var *v)
{
    return (char *)cfg + v->offset;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool parse_bool(const char *s, bool *out)
{
    static const char *const yes[] = {"1", "yes", "true", "on"};
    static const char *const no[] = {"0", "no", "false", "off"};
    for (size_t i = 0; i < CT_ARRAY_LEN(yes); i++) {
        if (strcasecmp(s, yes[i]) == 0 || strcasecmp(s, no[i]) == 0) {
            *out = strcasecmp(s, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

/* The factor that a suffix stands for, 0 for an unknown one. */
static int64_t suffix_factor(enum ct_var_type type, const char *s)
{
    static const struct {
        enum ct_var_type type;
        const char      *suffix;
        int64_t          factor;
    } table[] = {
        {CT_VAR_SIZE, "K", 1 << 10}, {CT_VAR_SIZE, "M", 1 << 20}, {CT_VAR_SIZE, "G", 1 << 30},
        {CT_VAR_TIME, "ms", 1},      {CT_VAR_TIME, "s", 1000},    {CT_VAR_TIME, "m", 60000},
    };
    if (*s == '\0') {
        return 1;
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(table); i++) {
        if (table[i].type == type && strcasecmp(s, table[i].suffix) == 0) {
            return table[i].factor;
        }
    }
    return 0;
}

bool ct_config_number(enum ct_var_type type, const char *s, int64_t *out)
{
    char *end;
    errno = 0;
    long long n = strtoll(s, &end, 10);
    int64_t   factor = end == s ? 0 : suffix_factor(type, end);
    return errno == 0 && factor != 0 && !__builtin_mul_overflow((int64_t)n, factor, out);
}

static bool parse_number(const struct ct_var *v, const char *s, int64_t *out)
{
    return ct_config_number(v->type, s, out) && *out >= v->min && *out <= v->max;
}

static bool parse_enum(const struct ct_var *v, const char *s, int *out)
{
    int         index = 0;
    size_t      len = strlen(s);
    const char *choice = v->unit;
    while (true) {
        size_t n = strcspn(choice, "|");
        if (n == len && strncasecmp(choice, s, n) == 0) {
            *out = index;
            return true;
        }
        if (choice[n] == '\0') {
            return false;
        }
        choice += n + 1;
        index++;
    }
}

static bool parse(struct ct_config *cfg, const struct ct_var *v, const char *s)
{
    switch (v->type) {
    case CT_VAR_BOOL:
        return parse_bool(s, field(cfg, v));
    case CT_VAR_ENUM:
        return parse_enum(v, s, field(cfg, v));
    case CT_VAR_STR: {
        char **str = field(cfg, v), *copy = strdup(s);
        if (copy != NULL) {
            free(*str);
            *str = copy;
        }
        return copy != NULL;
    }
    case CT_VAR_INT:
    case CT_VAR_SIZE:
    case CT_VAR_TIME: {
        int64_t n;
        if (!parse_number(v, s, &n)) {
            return false;
        }
        *(int64_t *)field(cfg, v) = n;
        return true;
    }
    }
    return false;
}

/* What a value of v looks like, for the message about a bad one. */
static void describe(const struct ct_var *v, char *out, size_t cap)
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
        snprintf(out, cap, "a number of %s from %" PRId64 " to %" PRId64 "%s",
                 v->unit[0] ? v->unit : "units", v->min, v->max,
                 v->type == CT_VAR_SIZE   ? ", suffix K, M or G allowed"
                 : v->type == CT_VAR_TIME ? ", suffix ms, s or m allowed"
                                          : "");
    }
}

static int find(const char *name)
{
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        if (strcmp(vars[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *ct_config_foreign(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

char *ct_config_full_name(const char *name, size_t len_bytes)
{
    const bool has_prefix = len_bytes >= 6 && strncasecmp(name, "CTRAN_", 6) == 0;
    char      *full;
    if (asprintf(&full, "%s%.*s", has_prefix ? "" : "CTRAN_", (int)len_bytes, name) < 0) {
        return NULL;
    }
    for (char *c = full; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
    return full;
}

int ct_config_set(struct ct_config *cfg, const struct ct_log *log, const char *name,
                  const char *value, enum ct_var_origin origin)
{
    int i = find(name);
    if (i < 0) {
        const char *near = ct_config_nearest(name);
        ct_error(log, "%s: no such variable%s%s; ctran_info --all lists them", name,
                 near ? "; did you mean " : "", near ? near : "");
        return CTRAN_ERR_CONFIG;
    }
    if (!parse(cfg, &vars[i], value)) {
        char want[256];
        describe(&vars[i], want, sizeof want);
        ct_error(log, "%s=\"%s\" (from %s) is no valid value: expected %s", name, value,
                 ct_config_origin_name(origin), want);
        return CTRAN_ERR_CONFIG;
    }
    cfg->origin[i] = origin;
    return CTRAN_SUCCESS;
}

void ct_config_format(const struct ct_config *cfg, int index, char *out, size_t cap)
{
    const struct ct_var *v = &vars[index];
    switch (v->type) {
    case CT_VAR_BOOL:
        snprintf(out, cap, "%d", *(bool *)field(cfg, v));
        break;
    case CT_VAR_STR:
        snprintf(out, cap, "%s", *(char **)field(cfg, v));
        break;
    case CT_VAR_ENUM: {
        const char *choice = v->unit;
        for (int i = *(int *)field(cfg, v); i > 0; i--) {
            choice += strcspn(choice, "|") + 1;
        }
        snprintf(out, cap, "%.*s", (int)strcspn(choice, "|"), choice);
        break;
    }
    default:
        snprintf(out, cap, "%" PRId64, *(int64_t *)field(cfg, v));
    }
}

/* ---- near misses ----------------------------------------------------------------------------- */

const char *ct_config_nearest(const char *name)
{
    struct ct_nearest near = {name, NULL, 5};
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        ct_nearest_try(&near, vars[i].name);
    }
    return near.name;
}

static void warn_unknown(const struct ct_log *log, const char *name, const char *where)
{
    const char *near = ct_config_nearest(name);
    ct_warn(log, "%s in %s: no such variable, ignored%s%s", name, where,
            near ? "; did you mean " : "", near ? near : "");
}

/* ---- sources --------------------------------------------------------------------------------- */

static char *trim(char *s)
{
    while (isspace((unsigned char)*s)) {
        s++;
    }
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1])) {
        *--end = '\0';
    }
    return s;
}

/* One "NAME = VALUE" line; blank lines and comments are fine. */
static int load_line(struct ct_config *cfg, const struct ct_log *log, char *line,
                     enum ct_var_origin origin, const char *where)
{
    char *name = trim(line);
    if (*name == '\0' || *name == '#') {
        return CTRAN_SUCCESS;
    }
    char *eq = strchr(name, '=');
    if (eq == NULL) {
        ct_error(log, "%s: \"%s\" is not NAME = VALUE", where, name);
        return CTRAN_ERR_CONFIG;
    }
    *eq = '\0';
    name = trim(name);
    if (find(name) < 0) {
        warn_unknown(log, name, where);
        return CTRAN_SUCCESS;
    }
    return ct_config_set(cfg, log, name, trim(eq + 1), origin);
}

/* A file that cannot be read is an error only where the user named it. */
static int unreadable(const struct ct_log *log, const char *path, bool required)
{
    if (!required) {
        return CTRAN_SUCCESS;
    }
    ct_error(log, "%s names \"%s\", which cannot be read: %s", CT_ENV_CONFIG, path,
             strerror(errno));
    return CTRAN_ERR_CONFIG;
}

static int load_file(struct ct_config *cfg, const struct ct_log *log, const char *path,
                     enum ct_var_origin origin, bool required)
{
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return unreadable(log, path, required);
    }
    int    rc = CTRAN_SUCCESS, number = 0;
    char  *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, f) >= 0) {
        char where[4200];
        snprintf(where, sizeof where, "%s:%d", path, ++number);
        int err = load_line(cfg, log, line, origin, where);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    if (ferror(f)) { /* a folder can be opened, and fails here */
        int err = unreadable(log, path, required);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    free(line);
    fclose(f);
    return rc;
}

/* Whether a name is one of those that the launcher sets, and no variable of the library. */
static bool is_launchers(const char *name)
{
    static const char *const names[] = {CT_ENV_CONFIG, CT_ENV_SET,         CT_ENV_JOB,
                                        CT_ENV_KEY,    CT_ENV_STORE,       CT_ENV_STATUS,
                                        CT_ENV_TRACE,  CT_ENV_PARENT_PORT, CT_ENV_RANK,
                                        CT_ENV_SIZE,   CT_ENV_LOCAL_RANK,  CT_ENV_LOCAL_SIZE};
    for (size_t i = 0; i < CT_ARRAY_LEN(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int load_env(struct ct_config *cfg, const struct ct_log *log)
{
    int rc = CTRAN_SUCCESS;
    for (char **e = environ; e != NULL && *e != NULL; e++) {
        char        name[128];
        const char *eq = strchr(*e, '=');
        if (strncmp(*e, "CTRAN_", 6) != 0 || eq == NULL || (size_t)(eq - *e) >= sizeof name) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(eq - *e), *e);
        if (is_launchers(name)) {
            continue;
        }
        if (find(name) < 0) {
            warn_unknown(log, name, "the environment");
            continue;
        }
        int err = ct_config_set(cfg, log, name, eq + 1, CT_ORIGIN_ENV);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    return rc;
}

static int load_set(struct ct_config *cfg, const struct ct_log *log)
{
    const char *set = getenv(CT_ENV_SET);
    char       *copy = strdup(set != NULL ? set : ""), *save = NULL;
    int         rc = copy != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    if (copy == NULL) {
        return rc;
    }
    for (char *line = strtok_r(copy, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        int err = load_line(cfg, log, line, CT_ORIGIN_SET, "ctranrun --set");
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    free(copy);
    return rc;
}

int ct_config_load(struct ct_config *cfg, const struct ct_log *log)
{
    memset(cfg, 0, sizeof *cfg);
    int rc = CTRAN_SUCCESS;
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        if (!parse(cfg, &vars[i], vars[i].def)) {
            return CTRAN_ERR_NO_MEM;
        }
    }
    char        user[4096];
    const char *home = getenv("HOME"), *file = getenv(CT_ENV_CONFIG);
    int         err = load_file(cfg, log, CT_SYSCONFDIR "/ctran.conf", CT_ORIGIN_SITE, false);
    rc = rc != CTRAN_SUCCESS ? rc : err;
    if (home != NULL) {
        snprintf(user, sizeof user, "%s/.config/ctran.conf", home);
        err = load_file(cfg, log, user, CT_ORIGIN_USER, false);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    if (file != NULL && *file != '\0') {
        err = load_file(cfg, log, file, CT_ORIGIN_FILE, true);
        rc = rc != CTRAN_SUCCESS ? rc : err;
    }
    err = load_env(cfg, log);
    rc = rc != CTRAN_SUCCESS ? rc : err;
    err = load_set(cfg, log);
    return rc != CTRAN_SUCCESS ? rc : err;
}

void ct_config_fini(struct ct_config *cfg)
{
    for (int i = 0; i < CT_VAR_COUNT; i++) {
        if (vars[i].type == CT_VAR_STR) {
            free(*(char **)field(cfg, &vars[i]));
            *(char **)field(cfg, &vars[i]) = NULL;
        }
    }
}
