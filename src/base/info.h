/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects: strings under keys, in the order of their setting, by which the program hands
 * hints to calls. They may be made and used by any thread at any time, before ctran_init and after
 * ctran_finalize too: one lock guards them all, none of their calls is on a hot path, and their
 * memory goes with the process.
 */
#ifndef CT_BASE_INFO_H
#define CT_BASE_INFO_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "ctran.h"

enum { CT_INFO_MAGIC = 0x496e666f };

struct ct_info_pair {
    char *key, *value;
};

struct ct_info {
    uint32_t             magic;
    int                  n;
    struct ct_info_pair *pairs;
};

struct ct_infos {
    pthread_mutex_t lock;
    struct ct_slab  pool; /* memory of freed ones stays readable: a stale handle is told */
    struct ct_info *env;  /* CTRAN_INFO_ENV, from init to finalize */
};

#define CT_INFOS_INIT                                                                              \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* An empty object; a copy of `from`. NULL when out of memory. */
struct ct_info *ct_info_make(struct ct_infos *s);
struct ct_info *ct_info_dup(struct ct_infos *s, const struct ct_info *from);
void            ct_info_free(struct ct_infos *s, struct ct_info *info);

/* The object behind a handle; NULL for a null one, a freed one (most likely), or what is none. */
struct ct_info *ct_info_of(struct ct_infos *s, ctran_info_t handle);

/* Sets a value, over an old one where there is one. CTRAN_ERR_INFO_KEY, CTRAN_ERR_INFO_VALUE: NULL,
 * too long, or, a key, empty; CTRAN_ERR_NO_MEM. */
int ct_info_set(struct ct_infos *s, struct ct_info *info, const char *key, const char *value);
/* Returns the length of the value without its 0, or -1 if there is no such key. Writes up to cap -
 * 1 bytes and a 0 to `out`; nothing if cap is 0. */
int ct_info_get(struct ct_infos *s, const struct ct_info *info, const char *key, char *out,
                size_t cap);
/* CTRAN_ERR_INFO_NOKEY */
int ct_info_delete(struct ct_infos *s, struct ct_info *info, const char *key);

int ct_info_count(struct ct_infos *s, const struct ct_info *info);
/* Writes key number i, at most CTRAN_MAX_INFO_KEY bytes with its 0. CTRAN_ERR_ARG: there is no
 * such number. */
int ct_info_key(struct ct_infos *s, const struct ct_info *info, int i, char *out);

#endif
