/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors on demand. EMU_CUDA_FAIL is a list, separated by commas, of NAME=CODE (each call of
 * NAME fails) and NAME:K=CODE (the K-th call, counted from 1, fails):
 * cuMemAlloc:3=2,cuIpcOpenMemHandle=217. NAME is without _v2; CODE is the number of a CUresult.
 * The call does nothing else then. A test may set another list while it runs:
 * cuGetProcAddress("emu_inject", ...) yields a void (*)(const char *).
 */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 32, MAX_NAME = 64 };

struct rule {
    char          name[MAX_NAME];
    unsigned long nth; /* 0: each */
    unsigned long seen;
    CUresult      code;
};

static struct rule     rules[MAX_RULES];
static atomic_uint     count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One element of the list; what follows it, or NULL if it makes no sense. */
static const char *parse(const char *text, struct rule *rule)
{
    const size_t len = strcspn(text, ":=,");
    if (len == 0 || len >= MAX_NAME) {
        return NULL;
    }
    memcpy(rule->name, text, len);
    rule->name[len] = '\0';
    rule->nth = rule->seen = 0;
    char *end = (char *)text + len;
    if (*end == ':') {
        rule->nth = strtoul(end + 1, &end, 10);
    }
    if (*end != '=') {
        return NULL;
    }
    rule->code = (CUresult)strtoul(end + 1, &end, 10);
    return *end == ',' ? end + 1 : *end == '\0' ? end : NULL;
}

void emu_inject_set(const char *list)
{
    pthread_mutex_lock(&lock);
    unsigned n = 0;
    for (const char *at = list; at != NULL && *at != '\0'; n++) {
        at = n < MAX_RULES ? parse(at, &rules[n]) : NULL;
        if (at == NULL) {
            fprintf(stderr, "emulated CUDA: EMU_CUDA_FAIL is \"%s\"; give NAME[:K]=CODE,...\n",
                    list);
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

CUresult emu_inject(const char *call)
{
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0) {
        return CUDA_SUCCESS;
    }
    CUresult code = CUDA_SUCCESS;
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
