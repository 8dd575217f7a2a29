/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Categories: variables whose names begin with the same word after CTRAN_, where there are several.
 * Category number i is that of the i-th variable that is the first of its word. All are found anew
 * at each call, as nobody asks often.
 */
#include <string.h>

#include "mpi/tool.h"

enum { PREFIX = 6 }; /* CTRAN_ */

static size_t word_len(int i)
{
    return strcspn(ct_front_var(i)->name + PREFIX, "_");
}

static bool are_alike(int i, int k)
{
    const size_t len = word_len(i);
    return len == word_len(k) &&
           memcmp(ct_front_var(i)->name + PREFIX, ct_front_var(k)->name + PREFIX, len) == 0;
}

/* The members of the category that begins with variable `first`, up to `len` of them into indices;
 * 0: no category begins there. */
static int members(int first, int len, int indices[])
{
    int n = 0;
    for (int i = 0; i < ct_front_vars(); i++) {
        if (!are_alike(first, i)) {
            continue;
        }
        if (i < first) {
            return 0;
        }
        if (n < len) {
            indices[n] = i;
        }
        n++;
    }
    return n > 1 ? n : 0;
}

/* The first variable of a category, -1: there are fewer. */
static int first_of(int category)
{
    for (int i = 0; category >= 0 && i < ct_front_vars(); i++) {
        if (members(i, 0, NULL) > 0 && category-- == 0) {
            return i;
        }
    }
    return -1;
}

static void name_of(int first, char out[MPI_MAX_OBJECT_NAME])
{
    snprintf(out, MPI_MAX_OBJECT_NAME, "%.*s", (int)(PREFIX + word_len(first)),
             ct_front_var(first)->name);
}

int PMPI_T_category_get_num(int *num_cat)
{
    const int rc = ct_tool_check(num_cat != NULL, MPI_T_ERR_INVALID);
    int       n = 0;
    if (rc == MPI_SUCCESS) {
        while (first_of(n) >= 0) {
            n++;
        }
        *num_cat = n;
    }
    return rc;
}
NAME(T_category_get_num)

int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    const int first = first_of(cat_index);
    const int rc = ct_tool_check(first >= 0, MPI_T_ERR_INVALID_INDEX);
    char      own[MPI_MAX_OBJECT_NAME];
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    name_of(first, own);
    ct_tool_text(own, name, name_len);
    ct_tool_text("variables whose names begin so", desc, desc_len);
    ct_tool_number(members(first, 0, NULL), num_cvars);
    ct_tool_number(0, num_pvars);
    ct_tool_number(0, num_categories);
    return rc;
}
NAME(T_category_get_info)

int PMPI_T_category_get_index(const char *name, int *cat_index)
{
    const int rc = ct_tool_check(name != NULL && cat_index != NULL, MPI_T_ERR_INVALID);
    char      own[MPI_MAX_OBJECT_NAME];
    for (int i = 0; rc == MPI_SUCCESS && first_of(i) >= 0; i++) {
        name_of(first_of(i), own);
        if (strcmp(own, name) == 0) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    }
    return rc != MPI_SUCCESS ? rc : MPI_T_ERR_INVALID_NAME;
}
NAME(T_category_get_index)

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    const int first = first_of(cat_index);
    const int rc = ct_tool_check(first >= 0, MPI_T_ERR_INVALID_INDEX);
    if (rc == MPI_SUCCESS && len > 0 && indices != NULL) {
        (void)members(first, len, indices);
    }
    return rc;
}
NAME(T_category_get_cvars)

/* What no category has. */
static int none_in(int cat_index)
{
    return ct_tool_check(first_of(cat_index) >= 0, MPI_T_ERR_INVALID_INDEX);
}

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    (void)len, (void)indices;
    return none_in(cat_index);
}
NAME(T_category_get_pvars)

int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    (void)len, (void)indices;
    return none_in(cat_index);
}
NAME(T_category_get_categories)

int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
    (void)len, (void)indices;
    return none_in(cat_index);
}
NAME(T_category_get_events)

int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
    const int rc = none_in(cat_index);
    if (rc == MPI_SUCCESS) {
        ct_tool_number(0, num_events);
    }
    return rc;
}
NAME(T_category_get_num_events)

int PMPI_T_category_changed(int *update_number)
{
    const int rc = ct_tool_check(update_number != NULL, MPI_T_ERR_INVALID);
    if (rc == MPI_SUCCESS) {
        *update_number = 0;
    }
    return rc;
}
NAME(T_category_changed)
