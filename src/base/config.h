/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration: the variables of vars.def, read from (weakest first) their defaults, the site file
 * SYSCONFDIR/ctran.conf, the user's file ~/.config/ctran.conf, the file that CTRAN_CONFIG names,
 * the environment, and ctranrun --set (which hands its settings down in CTRAN_SET, one NAME=VALUE a
 * line). A file has a NAME = VALUE a line; # starts a comment. No other file calls getenv for a
 * CTRAN_ variable.
 */
#ifndef CT_BASE_CONFIG_H
#define CT_BASE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"

enum ct_var_type { CT_VAR_BOOL, CT_VAR_INT, CT_VAR_SIZE, CT_VAR_TIME, CT_VAR_STR, CT_VAR_ENUM };

enum ct_var_origin {
    CT_ORIGIN_DEFAULT,
    CT_ORIGIN_SITE,
    CT_ORIGIN_USER,
    CT_ORIGIN_FILE,
    CT_ORIGIN_ENV,
    CT_ORIGIN_SET,
};

/* One row of the list. */
struct ct_var {
    const char      *name; /* "CTRAN_EAGER_LIMIT" */
    enum ct_var_type type;
    const char      *def;
    int64_t          min, max;
    const char      *unit; /* ENUM: its choices, "a|b|c" */
    const char      *scope, *help;
    size_t           offset; /* of its field in struct ct_config */
};

#define CT_FIELD_BOOL bool
#define CT_FIELD_INT  int64_t
#define CT_FIELD_SIZE int64_t
#define CT_FIELD_TIME int64_t
#define CT_FIELD_STR  char *
#define CT_FIELD_ENUM int

/* Indices, in the list's order: CT_VAR_IX_eager_limit. */
enum {
#define VAR(NAME, field, type, def, min, max, unit, scope, help) CT_VAR_IX_##field,
#include "base/vars.def"
#undef VAR
    CT_VAR_COUNT
};

/* The values in force: one field a variable (ENUM: index of the choice). Strings are owned. */
struct ct_config {
#define VAR(NAME, field, type, def, min, max, unit, scope, help) CT_FIELD_##type field;
#include "base/vars.def"
#undef VAR
    enum ct_var_origin origin[CT_VAR_COUNT];
};

/* The list, in its order: CT_VAR_COUNT rows. */
const struct ct_var *ct_config_vars(void);

/* Reads all sources. A bad value is logged and gives CTRAN_ERR_CONFIG; an unknown CTRAN_ name in
 * the environment or a file is logged as a warning with the nearest name. On error *cfg holds
 * what was good so far; ct_config_fini is due in either case. */
int  ct_config_load(struct ct_config *cfg, const struct ct_log *log);
void ct_config_fini(struct ct_config *cfg);

/* Sets one variable by name, as `origin` says; used by the sources and by tests.
 * CTRAN_ERR_CONFIG (logged) on an unknown name or a bad value, the old value then stays. */
int ct_config_set(struct ct_config *cfg, const struct ct_log *log, const char *name,
                  const char *value, enum ct_var_origin origin);

/* A number as INT, SIZE and TIME take it: "64K" is 65536 for a SIZE. false: it is none. */
bool ct_config_number(enum ct_var_type type, const char *text, int64_t *out);

/* A variable of another library in the environment; NULL: it is not set, or empty. */
const char *ct_config_foreign(const char *name);

/* The value in force, as text that ct_config_set would accept. */
void        ct_config_format(const struct ct_config *cfg, int index, char *out, size_t cap);
const char *ct_config_origin_name(enum ct_var_origin origin);

/* A variable's name as a command line may have it, which is len_bytes long: "eager_limit" is
 * "CTRAN_EAGER_LIMIT". The caller frees it. NULL when out of memory. */
char *ct_config_full_name(const char *name, size_t len_bytes);

/* The variable whose name is nearest to `name`; NULL if no name is near. */
const char *ct_config_nearest(const char *name);

/* Names that only the launcher and its daemon use; known here, so that no rank warns of them. */
#define CT_ENV_CONFIG "CTRAN_CONFIG"
#define CT_ENV_SET    "CTRAN_SET"
#define CT_ENV_JOB    "CTRAN_JOB_ID"
/* Likewise; it is secret, and never printed. */
#define CT_ENV_KEY "CTRAN_JOB_KEY"
/* Where the launcher's store is: the job's PMIx namespace, a bar, addresses, as in
 * "ctran-JOB-...|A:1,B:1"; "" or missing: it has none. */
#define CT_ENV_STORE "CTRAN_JOB_STORE"
/* The file in which waiting ranks say so (base/blocked.h): "NAMESPACE|PATH". */
#define CT_ENV_STATUS "CTRAN_JOB_STATUS"
/* The file in which ranks keep their traces (trace/trace.h): "NAMESPACE|PATH". */
#define CT_ENV_TRACE "CTRAN_JOB_TRACE"
/* The port at which those who have spawned this job wait for it; pmi/family.c. */
#define CT_ENV_PARENT_PORT "CTRAN_PARENT_PORT"
/* Numbers of a rank, for scripts. The library asks PMIx, and reads the size only before it has
 * joined the job (pmi/job.c). */
#define CT_ENV_RANK       "CTRAN_RANK"
#define CT_ENV_SIZE       "CTRAN_SIZE"
#define CT_ENV_LOCAL_RANK "CTRAN_LOCAL_RANK"
#define CT_ENV_LOCAL_SIZE "CTRAN_LOCAL_SIZE"

#endif
