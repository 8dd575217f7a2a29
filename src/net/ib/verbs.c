/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of verbs.h, filled once. Two threads that fill it at a time write the same. */
#include "net/ib/verbs.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

static struct ct_ib_verbs table;

static bool find_all(void *library)
{
    bool all = true;
#define CT_IB_FIND(result, name, args)                                                             \
    *(void **)&table.name = dlsym(library, "ibv_" #name);                                          \
    all = all && table.name != NULL;
    CT_IB_VERBS(CT_IB_FIND)
#undef CT_IB_FIND
#define CT_IB_FIND(result, name, args) *(void **)&table.name = dlsym(library, "ibv_" #name);
    CT_IB_VERBS_OPTIONAL(CT_IB_FIND)
#undef CT_IB_FIND
    return all;
}

/* The library stays loaded: its providers leave threads and handlers behind. */
const struct ct_ib_verbs *ct_ib_verbs_load(const char **why)
{
    void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *why = "there is no libibverbs.so.1 on this host";
        return NULL;
    }
    if (!find_all(library)) {
        *why = "libibverbs.so.1 lacks functions: it is too old";
        return NULL;
    }
    return &table;
}
