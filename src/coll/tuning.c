/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of tables, and how a row is written. What it reads was written by people: each error
 * says where, what was found and what may stand there. */
#define CT_FOLDER "coll"
#include "coll/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

static const struct {
    const char      *name;
    enum ct_var_type type; /* SIZE: suffixes K, M and G are allowed */
} facts[CT_FACTS] = {
    [CT_FACT_RANKS] = {"ranks", CT_VAR_INT},  [CT_FACT_NODES] = {"nodes", CT_VAR_INT},
    [CT_FACT_LOCAL] = {"local", CT_VAR_INT},  [CT_FACT_BYTES] = {"bytes", CT_VAR_SIZE},
    [CT_FACT_TOTAL] = {"total", CT_VAR_SIZE},
};

struct parser {
    const char     *source;
    uint32_t        line;
    struct ct_rule *rule;
    uint32_t        n, room;
    char           *why;
    size_t          cap;
};

/* CTRAN_ERR_CONFIG, with source and line before the text. */
static int refuse(const struct parser *p, const char *fmt, ...) CT_PRINTF(2, 3);
static int refuse(const struct parser *p, const char *fmt, ...)
{
    va_list args;
    int     at = snprintf(p->why, p->cap, "%s:%" PRIu32 ": ", p->source, p->line);
    va_start(args, fmt);
    if (at >= 0 && (size_t)at < p->cap) {
        vsnprintf(p->why + at, p->cap - (size_t)at, fmt, args);
    }
    va_end(args);
    return CTRAN_ERR_CONFIG;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The next word of the line at *at, ended there; NULL at its end. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t\r\f\v");
    char *end = word + strcspn(word, " \t\r\f\v");
    *at = end + (*end != '\0');
    *end = '\0';
    return *word != '\0' ? word : NULL;
}

static bool starts_with(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* The fact that the word is a condition on, and where its relation begins; CT_FACTS: none. */
static enum ct_fact fact_of(const char *word, const char **relation)
{
    size_t len = strcspn(word, "<>=");
    int    f = 0;
    while (f < CT_FACTS && (strlen(facts[f].name) != len || !starts_with(word, facts[f].name))) {
        f++;
    }
    *relation = word + len;
    return (enum ct_fact)f;
}

/* A condition into the row: all of those on one fact have to hold. */
static int take_condition(const struct parser *p, struct ct_rule *rule, const char *word)
{
    const char        *relation;
    const enum ct_fact f = fact_of(word, &relation);
    const bool         most = relation[0] == '<', least = relation[0] == '>';
    int64_t            n;
    if (f == CT_FACTS) {
        return refuse(p,
                      "found \"%.64s\", expected a condition on ranks, nodes, local, bytes or "
                      "total",
                      word);
    }
    if ((most || least) && relation[1] != '=') {
        return refuse(p, "found \"%.64s\", expected %s<=N, %s>=N or %s=N", word, facts[f].name,
                      facts[f].name, facts[f].name);
    }
    relation += most || least ? 2 : 1;
    if (!ct_config_number(facts[f].type, relation, &n) || n < 0) {
        return refuse(p, "\"%.64s\" in \"%.64s\" is no number%s", relation, word,
                      facts[f].type == CT_VAR_SIZE ? " of bytes, as in 512, 64K, 1M or 2G" : "");
    }
    if (!least && (uint64_t)n < rule->most[f]) {
        rule->most[f] = (uint64_t)n;
    }
    if (!most && (uint64_t)n > rule->least[f]) {
        rule->least[f] = (uint64_t)n;
    }
    if (rule->least[f] > rule->most[f]) {
        return refuse(p, "conditions on %s that cannot hold together", facts[f].name);
    }
    return CTRAN_SUCCESS;
}

/* What may follow the algorithm. */
static int take_setting(const struct parser *p, struct ct_pick *pick, const char *word)
{
    int64_t n;
    if (starts_with(word, "chunk=") && ct_config_number(CT_VAR_SIZE, word + 6, &n) && n >= 256 &&
        n <= 1 << 30) {
        pick->chunk_bytes = (size_t)n;
        return CTRAN_SUCCESS;
    }
    if (starts_with(word, "chunks=") && ct_config_number(CT_VAR_INT, word + 7, &n) && n >= 1 &&
        n <= 64) {
        pick->chunks = (uint32_t)n;
        return CTRAN_SUCCESS;
    }
    return refuse(p,
                  "found \"%.64s\" after the algorithm, expected chunk=SIZE (256 to 1G), "
                  "chunks=N (1 to 64) or the end of the line",
                  word);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int parse_conditions(const struct parser *p, struct ct_rule *rule, char **at, char **word)
{
    int rc = CTRAN_SUCCESS;
    while ((*word = next_word(at)) != NULL && rc == CTRAN_SUCCESS) {
        if (strcmp(*word, "shm") == 0) {
            rule->shm = true;
        } else if (strpbrk(*word, "<>=") != NULL) {
            rc = take_condition(p, rule, *word);
        } else {
            break;
        }
    }
    return rc;
}

static int parse_rule(const struct parser *p, char *line, struct ct_rule *rule)
{
    char  why[768] = "";
    char *word = next_word(&line);
    *rule = (struct ct_rule){.line = p->line, .coll = ct_coll_parse(word, why, sizeof why)};
    if (rule->coll == 0) {
        return refuse(p, "%s", why);
    }
    memset(rule->most, 0xff, sizeof rule->most);
    int rc = parse_conditions(p, rule, &line, &word);
    if (rc != CTRAN_SUCCESS) {
        return rc;
    }
    if (word == NULL) {
        return refuse(p, "a row without an algorithm; expected COLLECTIVE [CONDITION]... "
                         "ALGORITHM[:RADIX] [chunk=SIZE] [chunks=N]");
    }
    if (!ct_pick_parse(rule->coll, word, &rule->pick, why, sizeof why)) {
        return refuse(p, "%s", why);
    }
    while (rc == CTRAN_SUCCESS && (word = next_word(&line)) != NULL) {
        rc = take_setting(p, &rule->pick, word);
    }
    return rc;
}

static int add_rule(struct parser *p, char *line)
{
    if (p->n == CT_TUNING_RULES) {
        return refuse(p, "more than %d rows", CT_TUNING_RULES);
    }
    if (p->n == p->room) {
        uint32_t        room = p->room > 0 ? 2 * p->room : 64;
        struct ct_rule *more = realloc(p->rule, room * sizeof *more);
        if (more == NULL) {
            snprintf(p->why, p->cap, "out of memory");
            return CTRAN_ERR_NO_MEM;
        }
        p->rule = more;
        p->room = room;
    }
    int rc = parse_rule(p, line, &p->rule[p->n]);
    p->n += rc == CTRAN_SUCCESS;
    return rc;
}

/* Line after line; what follows # is a comment. */
static int parse_lines(struct parser *p, const char *text)
{
    char line[CT_TUNING_LINE];
    int  rc = CTRAN_SUCCESS;
    while (rc == CTRAN_SUCCESS && *text != '\0') {
        size_t whole = strcspn(text, "\n"), len = strcspn(text, "#\n");
        p->line++;
        if (len >= sizeof line) {
            return refuse(p, "a line of more than %d bytes", CT_TUNING_LINE - 1);
        }
        memcpy(line, text, len);
        line[len] = '\0';
        if (line[strspn(line, " \t\r\f\v")] != '\0') {
            rc = add_rule(p, line);
        }
        text += whole + (text[whole] == '\n');
    }
    return rc;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The rows of each collective together, in their order. */
static void sort_rules(struct ct_tuning *t, const struct parser *p)
{
    uint32_t n = 0;
    for (unsigned k = 0; k < CT_COLL_KINDS; k++) {
        t->begin[k] = n;
        for (uint32_t i = 0; i < p->n; i++) {
            if (ct_coll_index(p->rule[i].coll) == k) {
                t->rule[n++] = p->rule[i];
            }
        }
    }
    t->begin[CT_COLL_KINDS] = n;
}

static void digest_rules(struct ct_tuning *t)
{
    char text[CT_TUNING_LINE];
    t->digest = CT_FNV1A_START;
    for (uint32_t i = 0; i < t->begin[CT_COLL_KINDS]; i++) {
        const struct ct_rule *r = &t->rule[i];
        ct_rule_format(r, text, sizeof text);
        t->digest = ct_fnv1a(t->digest, text, strlen(text) + 1);
        for (int f = CT_FACT_NODES; f <= CT_FACT_LOCAL; f++) {
            t->asks_placement |= r->least[f] > 0 || r->most[f] < UINT64_MAX;
        }
    }
}

int ct_tuning_parse(struct ct_tuning **out, const char *text, const char *source, char *why,
                    size_t cap)
{
    struct parser     p = {.source = source, .why = why, .cap = cap};
    struct ct_tuning *t = calloc(1, sizeof *t);
    int               rc = t != NULL ? parse_lines(&p, text) : CTRAN_ERR_NO_MEM;
    if (rc == CTRAN_SUCCESS) {
        t->rule = calloc(p.n + 1, sizeof *t->rule);
        rc = t->rule != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    }
    if (rc == CTRAN_SUCCESS) {
        snprintf(t->source, sizeof t->source, "%s", source);
        sort_rules(t, &p);
        digest_rules(t);
        *out = t;
    } else {
        ct_tuning_free(t);
    }
    free(p.rule);
    return rc;
}

int ct_tuning_read(struct ct_tuning **out, const char *path, char *why, size_t cap)
{
    char *text = ct_textfile_read(path, CT_TUNING_BYTES);
    if (text == NULL) {
        int rc = errno == ENOMEM ? CTRAN_ERR_NO_MEM : CTRAN_ERR_CONFIG;
        snprintf(why, cap, "\"%s\" cannot be read: %s", path, ct_textfile_why(errno));
        return rc;
    }
    int rc = ct_tuning_parse(out, text, path, why, cap);
    free(text);
    return rc;
}

void ct_tuning_free(struct ct_tuning *tuning)
{
    if (tuning != NULL) {
        free(tuning->rule);
        free(tuning);
    }
}

/* ---- rows as text ---------------------------------------------------------------------------- */

static void append(char *out, size_t cap, const char *fmt, ...) CT_PRINTF(3, 4);
static void append(char *out, size_t cap, const char *fmt, ...)
{
    va_list args;
    size_t  at = strlen(out);
    va_start(args, fmt);
    vsnprintf(out + at, cap - at, fmt, args);
    va_end(args);
}

/* " bytes<=64K". */
static void append_number(char *out, size_t cap, const char *what, enum ct_var_type type,
                          uint64_t n)
{
    static const char suffixes[] = "KMG";
    int               k = -1;
    while (type == CT_VAR_SIZE && n > 0 && n % 1024 == 0 && k < 2) {
        n /= 1024;
        k++;
    }
    append(out, cap, " %s%" PRIu64 "%.*s", what, n, k >= 0 ? 1 : 0, &suffixes[k >= 0 ? k : 0]);
}

static void append_fact(char *out, size_t cap, enum ct_fact f, const struct ct_rule *rule)
{
    char what[16];
    if (rule->least[f] == rule->most[f]) {
        snprintf(what, sizeof what, "%s=", facts[f].name);
        append_number(out, cap, what, facts[f].type, rule->most[f]);
        return;
    }
    if (rule->least[f] > 0) {
        snprintf(what, sizeof what, "%s>=", facts[f].name);
        append_number(out, cap, what, facts[f].type, rule->least[f]);
    }
    if (rule->most[f] < UINT64_MAX) {
        snprintf(what, sizeof what, "%s<=", facts[f].name);
        append_number(out, cap, what, facts[f].type, rule->most[f]);
    }
}

void ct_rule_format(const struct ct_rule *rule, char *out, size_t cap)
{
    snprintf(out, cap, "%s%s", ct_algo_coll_name(rule->coll), rule->shm ? " shm" : "");
    for (int f = 0; f < CT_FACTS; f++) {
        append_fact(out, cap, (enum ct_fact)f, rule);
    }
    append(out, cap, " %s", rule->pick.algo->name);
    if (rule->pick.radix != CT_RADIX_DEFAULT) {
        append(out, cap, ":%" PRIu32, rule->pick.radix);
    }
    if (rule->pick.chunk_bytes > 0) {
        append_number(out, cap, "chunk=", CT_VAR_SIZE, rule->pick.chunk_bytes);
    }
    if (rule->pick.chunks > 0) {
        append_number(out, cap, "chunks=", CT_VAR_INT, rule->pick.chunks);
    }
}
