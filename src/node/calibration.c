/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of calibration.h, their guesses, the key of a machine, and the text of a file.
 * Invariant: a text is taken as a whole or not at all.
 */
#include "node/calibration.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ctran.h"
#include "node/caches.h"

const struct ct_figure_info ct_figure_info[CT_FIGURES] = {
#define FIGURE(name, unit, guess, least, most, help) {#name, unit, help, guess, least, most},
    CT_CALIBRATION_MAP(FIGURE)
#undef FIGURE
};

static const char title[] = "ctran calibration 1";

void ct_calibration_guess(struct ct_calibration *c)
{
    *c = (struct ct_calibration){.caches = {CT_CACHE_NEAR, CT_CACHE_PRIVATE, 0}};
    for (int i = 0; i < CT_FIGURES; i++) {
        c->figure[i] = ct_figure_info[i].guess;
    }
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* The processor as the kernel names it, from the first part of /proc/cpuinfo: the whole of it takes
 * long where there are many cores. */
static void find_processor(char *out, size_t cap)
{
    static const char *const names[] = {"model name", "CPU part", "cpu"};
    char                     text[2048] = "", *at = NULL;
    FILE                    *f = fopen("/proc/cpuinfo", "re");
    if (f != NULL) {
        text[fread(text, 1, sizeof text - 1, f)] = '\0';
        (void)fclose(f); /* read only */
    }
    for (size_t i = 0; i < CT_ARRAY_LEN(names) && at == NULL; i++) {
        at = strstr(text, names[i]);
    }
    at = at != NULL ? strchr(at, ':') : NULL;
    at = at != NULL ? at + 1 + strspn(at + 1, " ") : NULL;
    snprintf(out, cap, "%.*s", at != NULL ? (int)ct_min_size(strcspn(at, "\n"), 64) : 7,
             at != NULL ? at : "unknown");
}

void ct_calibration_key(const struct ct_caches *caches, char out[CT_CALIBRATION_KEY])
{
    struct utsname kernel;
    char           processor[80];
    find_processor(processor, sizeof processor);
    if (uname(&kernel) != 0) {
        memset(&kernel, 0, sizeof kernel);
    }
    snprintf(out, CT_CALIBRATION_KEY, "%s, %ld cores, caches %zu %zu %zu, %.32s %.64s, ctran %.32s",
             processor, sysconf(_SC_NPROCESSORS_ONLN), caches->near_bytes, caches->private_bytes,
             caches->share_bytes, kernel.machine, kernel.release, ct_version_string());
    for (char *at = out; *at != '\0'; at++) {
        *at = *at < ' ' || *at > '~' ? '?' : *at;
    }
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Adds to a text of *len bytes; false: there is no room. */
static bool calibration_add(char *out, size_t cap, size_t *len, const char *fmt, ...)
    CT_PRINTF(4, 5);
static bool calibration_add(char *out, size_t cap, size_t *len, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(out + *len, cap - *len, fmt, args);
    va_end(args);
    const bool fits = n >= 0 && (size_t)n < cap - *len;
    *len += fits ? (size_t)n : 0;
    return fits;
}

size_t ct_calibration_format(const struct ct_calibration *c, const char *key, char *out, size_t cap)
{
    size_t len = 0;
    bool   fits = calibration_add(out, cap, &len, "%s\nmachine %s\ntime %" PRId64 "\n", title, key,
                                  c->when_s);
    for (int i = 0; i < CT_FIGURES && fits; i++) {
        if ((c->measured >> i & 1) != 0) {
            fits = calibration_add(out, cap, &len, "%s %" PRIu64 "\n", ct_figure_info[i].name,
                                   c->figure[i]);
        }
    }
    fits = fits && calibration_add(out, cap, &len, "digest %016" PRIx64 "\n",
                                   ct_fnv1a(CT_FNV1A_START, out, len));
    return fits ? len : 0;
}

struct text {
    const char *begin, *at;
    unsigned    line;
    char       *why;
    size_t      cap;
};

static int calibration_refuse(const struct text *t, const char *fmt, ...) CT_PRINTF(2, 3);
static int calibration_refuse(const struct text *t, const char *fmt, ...)
{
    va_list args;
    int     n = snprintf(t->why, t->cap, "line %u: ", t->line);
    va_start(args, fmt);
    if (n >= 0 && (size_t)n < t->cap) {
        vsnprintf(t->why + n, t->cap - (size_t)n, fmt, args);
    }
    va_end(args);
    return CTRAN_ERR_CONFIG;
}

/* The next line, which has to end with a newline and to begin with `word` and a space; NULL: it is
 * another one. What follows has *len bytes. */
static const char *calibration_take_line(struct text *t, const char *word, size_t *len)
{
    const size_t n = strlen(word), all = strcspn(t->at, "\n");
    if (t->at[all] != '\n' || all <= n || strncmp(t->at, word, n) != 0 || t->at[n] != ' ') {
        return NULL;
    }
    const char *rest = t->at + n + 1;
    *len = all - n - 1;
    t->at += all + 1;
    t->line++;
    return rest;
}

/* Digits alone, as _format writes them. */
static bool calibration_take_number(const char *at, size_t len, uint64_t *out)
{
    enum { MOST = 18 }; /* such numbers are less than INT64_MAX */
    *out = 0;
    for (size_t i = 0; i < len && len <= MOST && at[i] >= '0' && at[i] <= '9'; i++) {
        *out = *out * 10 + (uint64_t)(at[i] - '0');
    }
    return len > 0 && len <= MOST && strspn(at, "0123456789") >= len;
}

static int parse_head(struct text *t, struct ct_calibration *c, const char *key)
{
    const size_t n = sizeof title - 1;
    size_t       len;
    uint64_t     when;
    if (strncmp(t->at, title, n) != 0 || t->at[n] != '\n') {
        return calibration_refuse(t, "found \"%.*s\", expected \"%s\"",
                                  (int)ct_min_size(strcspn(t->at, "\n"), 40), t->at, title);
    }
    t->at += n + 1;
    t->line++;
    const char *machine = calibration_take_line(t, "machine", &len);
    if (machine == NULL || len != strlen(key) || strncmp(machine, key, len) != 0) {
        return calibration_refuse(t, "it is of another machine, kernel or version of ctran");
    }
    const char *time = calibration_take_line(t, "time", &len);
    if (time == NULL || !calibration_take_number(time, len, &when)) {
        return calibration_refuse(t, "expected \"time\" and seconds");
    }
    c->when_s = (int64_t)when;
    return CTRAN_SUCCESS;
}

/* Figures come in their order, each once at most. */
static int parse_figures(struct text *t, struct ct_calibration *c)
{
    for (int i = 0; i < CT_FIGURES; i++) {
        const struct ct_figure_info *info = &ct_figure_info[i];
        size_t                       len;
        const char                  *number = calibration_take_line(t, info->name, &len);
        if (number == NULL) {
            continue;
        }
        if (!calibration_take_number(number, len, &c->figure[i]) || c->figure[i] < info->least ||
            c->figure[i] > info->most) {
            return calibration_refuse(t, "%s is %.*s, expected %" PRIu64 " to %" PRIu64 " %s",
                                      info->name, (int)ct_min_size(len, 32), number, info->least,
                                      info->most, info->unit);
        }
        c->measured |= UINT32_C(1) << i;
    }
    return CTRAN_SUCCESS;
}

static int parse_digest(struct text *t)
{
    const uint64_t own = ct_fnv1a(CT_FNV1A_START, t->begin, (size_t)(t->at - t->begin));
    char           want[24];
    size_t         len;
    snprintf(want, sizeof want, "%016" PRIx64, own);
    const char *digest = calibration_take_line(t, "digest", &len);
    if (digest == NULL) {
        return calibration_refuse(
            t,
            "found \"%.*s\", expected a figure of this version in its place, or "
            "\"digest\"",
            (int)ct_min_size(strcspn(t->at, "\n"), 40), t->at);
    }
    if (len != strlen(want) || strncmp(digest, want, len) != 0 || *t->at != '\0') {
        return calibration_refuse(t, "the digest is not that of the text: the file is damaged");
    }
    return CTRAN_SUCCESS;
}

int ct_calibration_parse(struct ct_calibration *c, const char *text, const char *key, char *why,
                         size_t cap)
{
    struct text           t = {.begin = text, .at = text, .line = 1, .why = why, .cap = cap};
    struct ct_calibration found = *c;
    found.measured = 0;
    int rc = parse_head(&t, &found, key);
    rc = rc == CTRAN_SUCCESS ? parse_figures(&t, &found) : rc;
    rc = rc == CTRAN_SUCCESS ? parse_digest(&t) : rc;
    if (rc == CTRAN_SUCCESS) {
        found.origin = CT_CALIBRATION_FILE;
        *c = found;
    }
    return rc;
}
