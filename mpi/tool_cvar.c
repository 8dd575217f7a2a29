/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables: those of the configuration. */
#include <string.h>

#include "mpi/tool.h"

enum { TEXT_MAX = MPI_MAX_INFO_VAL };

static bool is_index(int index)
{
    return index >= 0 && index < ct_front_vars();
}

static MPI_Datatype type_of(const struct ct_var *var)
{
    switch (var->type) {
    case CT_VAR_BOOL:
    case CT_VAR_ENUM:
        return MPI_INT;
    case CT_VAR_STR:
        return MPI_CHAR;
    default:
        return MPI_COUNT;
    }
}

int PMPI_T_cvar_get_num(int *num_cvar)
{
    const int rc = ct_tool_check(num_cvar != NULL, MPI_T_ERR_INVALID);
    if (rc == MPI_SUCCESS) {
        *num_cvar = ct_front_vars();
    }
    return rc;
}
NAME(T_cvar_get_num)

int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *scope)
{
    const int rc = ct_tool_check(is_index(cvar_index), MPI_T_ERR_INVALID_INDEX);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    const struct ct_var *var = ct_front_var(cvar_index);
    ct_tool_text(var->name, name, name_len);
    ct_tool_text(var->help, desc, desc_len);
    ct_tool_number(MPI_T_VERBOSITY_USER_BASIC, verbosity);
    ct_tool_number(MPI_T_BIND_NO_OBJECT, bind);
    ct_tool_number(MPI_T_SCOPE_READONLY, scope);
    if (datatype != NULL) {
        *datatype = type_of(var);
    }
    if (enumtype != NULL) {
        *enumtype =
            var->type == CT_VAR_ENUM ? (MPI_T_enum)((uintptr_t)cvar_index + 1) : MPI_T_ENUM_NULL;
    }
    return rc;
}
NAME(T_cvar_get_info)

int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    const int rc = ct_tool_check(name != NULL && cvar_index != NULL, MPI_T_ERR_INVALID);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    for (int i = 0; i < ct_front_vars(); i++) {
        if (strcmp(name, ct_front_var(i)->name) == 0) {
            *cvar_index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}
NAME(T_cvar_get_index)

int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    int rc = ct_tool_check(is_index(cvar_index), MPI_T_ERR_INVALID_INDEX);
    (void)obj_handle;
    rc = rc == MPI_SUCCESS && handle == NULL ? MPI_T_ERR_INVALID : rc;
    if (rc == MPI_SUCCESS) {
        *handle = (MPI_T_cvar_handle)((uintptr_t)cvar_index + 1);
        ct_tool_number(ct_front_var(cvar_index)->type == CT_VAR_STR ? TEXT_MAX : 1, count);
    }
    return rc;
}
NAME(T_cvar_handle_alloc)

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    const int rc = ct_tool_check(handle != NULL && *handle != MPI_T_CVAR_HANDLE_NULL,
                                 MPI_T_ERR_INVALID_HANDLE);
    if (rc == MPI_SUCCESS) {
        *handle = MPI_T_CVAR_HANDLE_NULL;
    }
    return rc;
}
NAME(T_cvar_handle_free)

/* The index behind a handle, -1: it is none. */
static int index_of(MPI_T_cvar_handle handle)
{
    const uintptr_t number = (uintptr_t)handle;
    return number > 0 && number <= (uintptr_t)ct_front_vars() ? (int)number - 1 : -1;
}

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    const int i = index_of(handle);
    int       rc = ct_tool_check(i >= 0, MPI_T_ERR_INVALID_HANDLE);
    char      text[TEXT_MAX];
    int64_t   number;
    rc = rc == MPI_SUCCESS && buf == NULL ? MPI_T_ERR_INVALID : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    const MPI_Datatype type = type_of(ct_front_var(i));
    ct_front_var_value(i, &number, text, sizeof text);
    if (type == MPI_INT) {
        *(int *)buf = (int)number;
    } else if (type == MPI_COUNT) {
        *(MPI_Count *)buf = number;
    } else {
        strcpy(buf, text);
    }
    return rc;
}
NAME(T_cvar_read)

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    const int rc = ct_tool_check(index_of(handle) >= 0, MPI_T_ERR_INVALID_HANDLE);
    (void)buf;
    return rc == MPI_SUCCESS ? MPI_T_ERR_CVAR_SET_NEVER : rc;
}
NAME(T_cvar_write)
