/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors on demand, as in emu/cuda. EMU_VERBS_FAIL is a list, separated by commas, of NAME=ERRNO
 * (each call of NAME fails) and NAME:K=ERRNO (the K-th call, counted from 1, fails):
 * ibv_reg_mr:3=12,ibv_create_qp=12. The call does nothing else then. NAME is a function of
 * <infiniband/verbs.h> that makes, changes or destroys an object. A test may set another list
 * while it runs: dlsym "emu_verbs_fail".
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
    int           code;
};

static struct rule     rules[MAX_RULES];
static atomic_uint     count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One element of the list; what follows it, or NULL if it makes no sense. */
static const char *parse(const char *text, struct rule *rule)
{
    int used = 0;
    *rule = (struct rule){0};
    if (sscanf(text, "%63[a-z_0-9]%n", rule->name, &used) != 1) {
        return NULL;
    }
    text += used;
    if (sscanf(text, ":%lu%n", &rule->nth, &used) == 1) {
        text += used;
    }
    if (sscanf(text, "=%d%n", &rule->code, &used) != 1 || rule->code <= 0) {
        return NULL;
    }
    text += used;
    return *text == ',' ? text + 1 : *text == '\0' ? text : NULL;
}

void emu_inject_set(const char *list)
{
    pthread_mutex_lock(&lock);
    unsigned n = 0;
    for (const char *at = list; at != NULL && *at != '\0'; n++) {
        at = n < MAX_RULES ? parse(at, &rules[n]) : NULL;
        if (at == NULL) {
            fprintf(stderr, "emulated verbs: EMU_VERBS_FAIL is \"%s\"; give NAME[:K]=ERRNO,...\n",
                    list);
            exit(1);
        }
    }
    atomic_store(&count, n);
    pthread_mutex_unlock(&lock);
}

void emu_verbs_fail(const char *list)
{
    emu_inject_set(list);
}

int emu_inject(const char *call)
{
    if (atomic_load_explicit(&count, memory_order_relaxed) == 0) {
        return 0;
    }
    int code = 0;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < atomic_load(&count); i++) {
        if (strcmp(call, rules[i].name) == 0 &&
            (++rules[i].seen == rules[i].nth || !rules[i].nth)) {
            code = rules[i].code;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}
