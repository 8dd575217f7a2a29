/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors on demand; common.h has the contract. A count of rules that is 0 costs a call one load. */
#include "common.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 32, MAX_NAME = 64 };

struct rule {
    char          name[MAX_NAME];
    unsigned long nth; /* 0: each */
    unsigned long seen;
    int           code;
};

static struct rule     rules[MAX_RULES];
static atomic_uint     count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A number of at least 1 behind the character `mark`; what follows it, or NULL if there is none. */
static const char *parse_behind(const char *text, char mark, unsigned long *out)
{
    char *end;
    if (*text != mark || !isdigit((unsigned char)text[1])) {
        return NULL;
    }
    *out = strtoul(text + 1, &end, 10);
    return *out > 0 ? end : NULL;
}

/* One element of the list; what follows it, or NULL if it makes no sense. */
static const char *parse(const char *text, struct rule *rule)
{
    const size_t  len = strcspn(text, ":=,");
    unsigned long code;
    if (len == 0 || len >= MAX_NAME) {
        return NULL;
    }
    *rule = (struct rule){0};
    memcpy(rule->name, text, len);
    text += len;
    if (*text == ':') {
        text = parse_behind(text, ':', &rule->nth);
    }
    text = text != NULL ? parse_behind(text, '=', &code) : NULL;
    if (text == NULL || code > INT_MAX) {
        return NULL;
    }
    rule->code = (int)code;
    return *text == ',' ? text + 1 : *text == '\0' ? text : NULL;
}

void emu_inject_set(const char *list)
{
    pthread_mutex_lock(&lock);
    unsigned n = 0;
    for (const char *at = list; at != NULL && *at != '\0'; n++) {
        at = n < MAX_RULES ? parse(at, &rules[n]) : NULL;
        if (at == NULL) {
            fprintf(stderr, "%s: %s is \"%s\"; give NAME[:K]=CODE,..., %d at most\n", emu_title,
                    emu_fail_variable, list, MAX_RULES);
            exit(1);
        }
    }
    atomic_store(&count, n);
    pthread_mutex_unlock(&lock);
}

bool emu_is_named(const char *call, const char *name)
{
    const size_t len = strlen(name);
    return strncmp(call, name, len) == 0 &&
           (call[len] == '\0' || (call[len] == '_' && call[len + 1] == 'v'));
}

int emu_inject(const char *call)
{
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0) {
        return 0;
    }
    int code = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < atomic_load(&count); i++) {
        if (emu_is_named(call, rules[i].name) &&
            (++rules[i].seen == rules[i].nth || !rules[i].nth)) {
            code = rules[i].code;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}
