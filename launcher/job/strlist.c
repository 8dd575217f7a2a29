/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of strings; see strlist.h. */
#include "config.h"
#include "launcher/job/strlist.h"

#include <stdlib.h>
#include <string.h>

size_t ct_strlist_count(char *const *list)
{
    size_t n = 0;
    while (list != NULL && list[n] != NULL) {
        n++;
    }
    return n;
}

void ct_strlist_free(char **list)
{
    for (char **s = list; s != NULL && *s != NULL; s++) {
        free(*s);
    }
    free(list);
}

char **ct_strlist_copy(char *const *list, size_t n)
{
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++) {
        copy[i] = strdup(list[i]);
        if (copy[i] == NULL) {
            ct_strlist_free(copy);
            return NULL;
        }
    }
    return copy;
}

bool ct_strlist_add(char ***list, const char *text)
{
    size_t n = ct_strlist_count(*list);
    char  *copy = strdup(text);
    char **more = copy != NULL ? realloc(*list, (n + 2) * sizeof *more) : NULL;
    if (more == NULL) {
        free(copy);
        return false;
    }
    more[n] = copy;
    more[n + 1] = NULL;
    *list = more;
    return true;
}

bool ct_strlist_add_all(char ***list, char *const *more)
{
    for (char *const *s = more; s != NULL && *s != NULL; s++) {
        if (!ct_strlist_add(list, *s)) {
            return false;
        }
    }
    return true;
}

bool ct_strlist_set(char ***list, const char *setting)
{
    size_t len = strcspn(setting, "=") + 1;
    for (char **s = *list; s != NULL && *s != NULL; s++) {
        if (strncmp(*s, setting, len) == 0) {
            char *copy = strdup(setting);
            if (copy == NULL) {
                return false;
            }
            free(*s);
            *s = copy;
            return true;
        }
    }
    return ct_strlist_add(list, setting);
}
