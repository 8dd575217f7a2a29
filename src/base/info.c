/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects. */
#include "base/info.h"

#include <stdlib.h>
#include <string.h>

/* ---- objects --------------------------------------------------------------------------------- */

struct ct_info *ct_info_make(struct ct_infos *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->pool.obj_size == 0) {
        ct_slab_init(&s->pool, sizeof(struct ct_info), 16);
    }
    struct ct_info *info = ct_slab_get(&s->pool);
    if (info != NULL) {
        *info = (struct ct_info){.magic = CT_INFO_MAGIC};
    }
    pthread_mutex_unlock(&s->lock);
    return info;
}

static void free_pair(struct ct_info_pair *pair)
{
    free(pair->key);
    free(pair->value);
}

void ct_info_free(struct ct_infos *s, struct ct_info *info)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < info->n; i++) {
        free_pair(&info->pairs[i]);
    }
    free(info->pairs);
    info->magic = 0;
    ct_slab_put(&s->pool, info);
    pthread_mutex_unlock(&s->lock);
}

struct ct_info *ct_info_of(struct ct_infos *s, ctran_info_t handle)
{
    if (handle == CTRAN_INFO_ENV) {
        return s->env;
    }
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_info) != 0 ||
        handle->magic != CT_INFO_MAGIC) {
        return NULL;
    }
    return handle;
}

/* ---- pairs; under the lock ------------------------------------------------------------------- */

static struct ct_info_pair *find(const struct ct_info *info, const char *key)
{
    for (int i = 0; i < info->n; i++) {
        if (strcmp(info->pairs[i].key, key) == 0) {
            return &info->pairs[i];
        }
    }
    return NULL;
}

/* Takes the copies, unless it returns false. */
static bool put(struct ct_info *info, char *key, char *value)
{
    struct ct_info_pair *pair = find(info, key);
    if (pair != NULL) {
        free_pair(pair);
        *pair = (struct ct_info_pair){key, value};
        return true;
    }
    struct ct_info_pair *pairs = realloc(info->pairs, ((size_t)info->n + 1) * sizeof *pairs);
    if (pairs != NULL) {
        info->pairs = pairs;
        pairs[info->n++] = (struct ct_info_pair){key, value};
    }
    return pairs != NULL;
}

static int put_copy(struct ct_info *info, const char *key, const char *value)
{
    struct ct_info_pair copy = {strdup(key), strdup(value)};
    if (copy.key == NULL || copy.value == NULL || !put(info, copy.key, copy.value)) {
        free_pair(&copy);
        return CTRAN_ERR_NO_MEM;
    }
    return CTRAN_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

struct ct_info *ct_info_dup(struct ct_infos *s, const struct ct_info *from)
{
    struct ct_info *info = ct_info_make(s);
    int             rc = info != NULL ? CTRAN_SUCCESS : CTRAN_ERR_NO_MEM;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < from->n && rc == CTRAN_SUCCESS; i++) {
        rc = put_copy(info, from->pairs[i].key, from->pairs[i].value);
    }
    pthread_mutex_unlock(&s->lock);
    if (rc != CTRAN_SUCCESS && info != NULL) {
        ct_info_free(s, info);
    }
    return rc == CTRAN_SUCCESS ? info : NULL;
}

int ct_info_set(struct ct_infos *s, struct ct_info *info, const char *key, const char *value)
{
    if (key == NULL || *key == '\0' || strnlen(key, CTRAN_MAX_INFO_KEY) == CTRAN_MAX_INFO_KEY) {
        return CTRAN_ERR_INFO_KEY;
    }
    if (value == NULL || strnlen(value, CTRAN_MAX_INFO_VAL) == CTRAN_MAX_INFO_VAL) {
        return CTRAN_ERR_INFO_VALUE;
    }
    pthread_mutex_lock(&s->lock);
    int rc = put_copy(info, key, value);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int ct_info_get(struct ct_infos *s, const struct ct_info *info, const char *key, char *out,
                size_t cap)
{
    int len = -1;
    pthread_mutex_lock(&s->lock);
    const struct ct_info_pair *pair = find(info, key);
    if (pair != NULL) {
        len = (int)strlen(pair->value);
        if (cap > 0) {
            size_t part = (size_t)len < cap ? (size_t)len : cap - 1;
            memcpy(out, pair->value, part);
            out[part] = '\0';
        }
    }
    pthread_mutex_unlock(&s->lock);
    return len;
}

int ct_info_delete(struct ct_infos *s, struct ct_info *info, const char *key)
{
    pthread_mutex_lock(&s->lock);
    struct ct_info_pair *pair = find(info, key);
    if (pair != NULL) {
        free_pair(pair);
        info->n--;
        memmove(pair, pair + 1, (size_t)(&info->pairs[info->n] - pair) * sizeof *pair);
    }
    pthread_mutex_unlock(&s->lock);
    return pair != NULL ? CTRAN_SUCCESS : CTRAN_ERR_INFO_NOKEY;
}

int ct_info_count(struct ct_infos *s, const struct ct_info *info)
{
    pthread_mutex_lock(&s->lock);
    int n = info->n;
    pthread_mutex_unlock(&s->lock);
    return n;
}

int ct_info_key(struct ct_infos *s, const struct ct_info *info, int i, char *out)
{
    int rc = CTRAN_ERR_ARG;
    pthread_mutex_lock(&s->lock);
    if (i >= 0 && i < info->n) {
        strcpy(out, info->pairs[i].key);
        rc = CTRAN_SUCCESS;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}
