/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own error codes. */
#include "base/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The entry of an added code that is still there; NULL for any other number. Under the lock. */
static struct ct_code *find(const struct ct_codes *codes, int code)
{
    if (code <= CTRAN_ERR_LASTCODE || code > CTRAN_ERR_LASTCODE + codes->n) {
        return NULL;
    }
    struct ct_code *entry = &codes->list[code - CTRAN_ERR_LASTCODE - 1];
    return entry->error_class != CTRAN_SUCCESS ? entry : NULL;
}

/* error_class CTRAN_SUCCESS: a class of its own. */
static int append(struct ct_codes *codes, int error_class, int *code)
{
    if (codes->n == INT32_MAX - CTRAN_ERR_LASTCODE) {
        return CTRAN_ERR_NO_MEM;
    }
    struct ct_code *list = realloc(codes->list, ((size_t)codes->n + 1) * sizeof *list);
    if (list == NULL) {
        return CTRAN_ERR_NO_MEM;
    }
    const int number = CTRAN_ERR_LASTCODE + 1 + codes->n;
    codes->list = list;
    list[codes->n++] = (struct ct_code){
        .error_class = error_class != CTRAN_SUCCESS ? error_class : number,
    };
    codes->last_used = number;
    *code = number;
    return CTRAN_SUCCESS;
}

int ct_codes_add_class(struct ct_codes *codes, int *error_class)
{
    pthread_mutex_lock(&codes->lock);
    int rc = append(codes, CTRAN_SUCCESS, error_class);
    pthread_mutex_unlock(&codes->lock);
    return rc;
}

int ct_codes_add(struct ct_codes *codes, int error_class, int *code)
{
    pthread_mutex_lock(&codes->lock);
    const struct ct_code *owner = find(codes, error_class);
    const bool            own = owner != NULL && owner->error_class == error_class;
    int rc = own || (ct_error_name(error_class) != NULL && error_class != CTRAN_SUCCESS)
                 ? append(codes, error_class, code)
                 : CTRAN_ERR_ARG;
    if (rc == CTRAN_SUCCESS && own) {
        find(codes, error_class)->codes++; /* the list may have moved */
    }
    pthread_mutex_unlock(&codes->lock);
    return rc;
}

static void remove_entry(struct ct_code *entry)
{
    free(entry->text);
    *entry = (struct ct_code){.error_class = CTRAN_SUCCESS};
}

int ct_codes_remove_class(struct ct_codes *codes, int error_class)
{
    pthread_mutex_lock(&codes->lock);
    struct ct_code *entry = find(codes, error_class);
    int             rc = CTRAN_SUCCESS;
    if (entry == NULL || entry->error_class != error_class) {
        rc = CTRAN_ERR_ARG;
    } else if (entry->codes > 0) {
        rc = CTRAN_ERR_OTHER;
    } else {
        remove_entry(entry);
    }
    pthread_mutex_unlock(&codes->lock);
    return rc;
}

int ct_codes_remove(struct ct_codes *codes, int code)
{
    pthread_mutex_lock(&codes->lock);
    struct ct_code *entry = find(codes, code);
    int             rc = CTRAN_ERR_ARG;
    if (entry != NULL && entry->error_class != code) {
        struct ct_code *owner = find(codes, entry->error_class);
        if (owner != NULL) {
            owner->codes--;
        }
        remove_entry(entry);
        rc = CTRAN_SUCCESS;
    }
    pthread_mutex_unlock(&codes->lock);
    return rc;
}

/* text NULL: takes it away. */
static int change_text(struct ct_codes *codes, int code, char *text)
{
    pthread_mutex_lock(&codes->lock);
    struct ct_code *entry = find(codes, code);
    int             rc = CTRAN_ERR_ARG;
    if (entry != NULL && (text != NULL || entry->text != NULL)) {
        char *old = entry->text;
        entry->text = text;
        text = old;
        rc = CTRAN_SUCCESS;
    }
    pthread_mutex_unlock(&codes->lock);
    free(text);
    return rc;
}

int ct_codes_set_text(struct ct_codes *codes, int code, const char *text)
{
    char *copy = strndup(text, CTRAN_MAX_ERROR_STRING - 1);
    return copy != NULL ? change_text(codes, code, copy) : CTRAN_ERR_NO_MEM;
}

int ct_codes_remove_text(struct ct_codes *codes, int code)
{
    return change_text(codes, code, NULL);
}

int ct_codes_class_of(struct ct_codes *codes, int code, int *error_class)
{
    if (ct_error_name(code) != NULL) {
        *error_class = code;
        return CTRAN_SUCCESS;
    }
    pthread_mutex_lock(&codes->lock);
    const struct ct_code *entry = find(codes, code);
    if (entry != NULL) {
        *error_class = entry->error_class;
    }
    pthread_mutex_unlock(&codes->lock);
    return entry != NULL ? CTRAN_SUCCESS : CTRAN_ERR_ARG;
}

int ct_codes_describe(struct ct_codes *codes, int code, bool named, char *out)
{
    const char *name = ct_error_name(code);
    if (name != NULL) {
        return snprintf(out, CTRAN_MAX_ERROR_STRING, "%s%s%s%s", named ? "CTRAN_" : "",
                        named ? name : "", named ? ": " : "", ct_error_text(code));
    }
    pthread_mutex_lock(&codes->lock);
    const struct ct_code *entry = find(codes, code);
    int                   len = -1;
    if (entry != NULL) {
        len = snprintf(out, CTRAN_MAX_ERROR_STRING, "%s", entry->text != NULL ? entry->text : "");
    }
    pthread_mutex_unlock(&codes->lock);
    return len;
}
