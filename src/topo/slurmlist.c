/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm's lists; see slurmlist.h. Used by labels, and by the launcher. */
#include "topo/slurmlist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 256, MOST_DIGITS = 9 };

struct names {
    char   **all; /* NULL at the end */
    size_t   room;
    uint32_t n, most;
};

static bool add_name(struct names *l, const char *name)
{
    if (l->n == l->most) {
        return false;
    }
    if (l->n + 2 > l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 16;
        char **more = realloc(l->all, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        l->all = more;
        l->room = room;
    }
    l->all[l->n] = strdup(name);
    l->all[l->n + 1] = NULL;
    return l->all[l->n++] != NULL;
}

/* Digits as a number, with how many there are; moves on. */
static bool slurmlist_take_number(const char **at, uint32_t *out, int *digits)
{
    *out = 0;
    for (*digits = 0; isdigit((unsigned char)**at) && *digits < MOST_DIGITS; (*digits)++) {
        *out = 10 * *out + (uint32_t)(*(*at)++ - '0');
    }
    return *digits > 0 && !isdigit((unsigned char)**at);
}

static bool slurmlist_expand(struct names *l, const char *prefix, const char *rest, size_t len);

/* The ranges between brackets, "1-3,07": each number, as wide as it is written, goes between what
 * stands before and after the brackets. */
static bool expand_ranges(struct names *l, const char *prefix, const char *ranges, const char *rest,
                          size_t len)
{
    do {
        uint32_t first, last;
        int      width, last_width;
        if (!slurmlist_take_number(&ranges, &first, &width)) {
            return false;
        }
        last = first;
        if (*ranges == '-') {
            ranges++;
            if (!slurmlist_take_number(&ranges, &last, &last_width) || last < first) {
                return false;
            }
        }
        for (uint32_t i = first; i <= last; i++) {
            char name[MOST_NAME];
            int  n = snprintf(name, sizeof name, "%s%0*u", prefix, width, i);
            if (n >= MOST_NAME || !slurmlist_expand(l, name, rest, len)) {
                return false;
            }
        }
    } while (*ranges == ',' && ranges++ != NULL);
    return *ranges == ']';
}

/* One item of the list, of which `prefix` is done and `len` characters are left. */
static bool slurmlist_expand(struct names *l, const char *prefix, const char *rest, size_t len)
{
    const char *open = memchr(rest, '[', len), *close = memchr(rest, ']', len);
    char        name[MOST_NAME];
    size_t      plain = open != NULL ? (size_t)(open - rest) : len;
    int         n = snprintf(name, sizeof name, "%s%.*s", prefix, (int)plain, rest);
    if (n >= MOST_NAME || n == 0 || (open == NULL) != (close == NULL) || close < open) {
        return false;
    }
    return open == NULL
               ? add_name(l, name)
               : expand_ranges(l, name, open + 1, close + 1, len - (size_t)(close + 1 - rest));
}

void ct_slurmlist_free(char **names)
{
    for (char **s = names; s != NULL && *s != NULL; s++) {
        free(*s);
    }
    free(names);
}

char **ct_slurmlist_hosts(const char *text, uint32_t most)
{
    struct names l = {.most = most};
    bool         ok = *text != '\0';
    while (ok && *text != '\0') {
        size_t len = 0;
        for (bool inside = false; text[len] != '\0' && (inside || text[len] != ','); len++) {
            inside = text[len] == '[' || (inside && text[len] != ']');
        }
        ok = len > 0 && slurmlist_expand(&l, "", text, len);
        text += len;
        ok = ok && (*text == '\0' || text[1] != '\0');
        text += *text == ',';
    }
    if (!ok) {
        ct_slurmlist_free(l.all);
        return NULL;
    }
    return l.all;
}

uint32_t ct_slurmlist_tasks(const char *text, uint32_t i)
{
    while (true) {
        uint32_t tasks, times = 1;
        int      digits;
        if (!slurmlist_take_number(&text, &tasks, &digits)) {
            return 0;
        }
        if (strncmp(text, "(x", 2) == 0) {
            text += 2;
            if (!slurmlist_take_number(&text, &times, &digits) || *text++ != ')') {
                return 0;
            }
        }
        if (i < times) {
            return *text == ',' || *text == '\0' ? tasks : 0;
        }
        i -= times;
        if (*text++ != ',') {
            return 0;
        }
    }
}
