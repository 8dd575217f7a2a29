/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool information interface: its beginning and end, and enumerations: the variables whose
 * values are words. */
#include "mpi/tool.h"

#include <string.h>

atomic_int ct_tool_users;

int PMPI_T_init_thread(int required, int *provided)
{
    (void)required;
    ct_tool_number(MPI_THREAD_MULTIPLE, provided);
    atomic_fetch_add(&ct_tool_users, 1);
    return MPI_SUCCESS;
}
NAME(T_init_thread)

int PMPI_T_finalize(void)
{
    const int rc = ct_tool_check(true, 0);
    if (rc == MPI_SUCCESS) {
        atomic_fetch_sub(&ct_tool_users, 1);
    }
    return rc;
}
NAME(T_finalize)

void ct_tool_text(const char *text, char *out, int *len)
{
    const size_t all = strlen(text) + 1;
    if (len == NULL) {
        return;
    }
    if (out != NULL && *len > 0) {
        const size_t n = all < (size_t)*len ? all : (size_t)*len;
        memcpy(out, text, n - 1);
        out[n - 1] = '\0';
    }
    *len = (int)all;
}

/* ---- enumerations ---------------------------------------------------------------------------- */

/* The variable behind a handle; NULL: it is none with words. */
static const struct ct_var *words_of(MPI_T_enum enumtype)
{
    const uintptr_t number = (uintptr_t)enumtype;
    if (number == 0 || number > (uintptr_t)ct_front_vars()) {
        return NULL;
    }
    const struct ct_var *var = ct_front_var((int)number - 1);
    return var->type == CT_VAR_ENUM ? var : NULL;
}

/* Word i of "a|b|c", and its length; NULL: there are fewer. */
static const char *word_at(const char *words, int i, size_t *len)
{
    for (; i > 0 && words != NULL; i--) {
        words = strchr(words, '|');
        words = words != NULL ? words + 1 : NULL;
    }
    *len = words != NULL ? strcspn(words, "|") : 0;
    return words;
}

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct ct_var *var = words_of(enumtype);
    const int            rc = ct_tool_check(var != NULL, MPI_T_ERR_INVALID_HANDLE);
    int                  n = 0;
    size_t               len;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    while (word_at(var->unit, n, &len) != NULL) {
        n++;
    }
    ct_tool_number(n, num);
    ct_tool_text(var->name, name, name_len);
    return rc;
}
NAME(T_enum_get_info)

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct ct_var *var = words_of(enumtype);
    int                  rc = ct_tool_check(var != NULL, MPI_T_ERR_INVALID_HANDLE);
    char                 text[64];
    size_t               len;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    const char *word = indx >= 0 ? word_at(var->unit, indx, &len) : NULL;
    if (word == NULL) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    snprintf(text, sizeof text, "%.*s", (int)len, word);
    ct_tool_number(indx, value);
    ct_tool_text(text, name, name_len);
    return MPI_SUCCESS;
}
NAME(T_enum_get_item)
