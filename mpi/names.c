/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts in which ctran's names of constants stand: here they are MPI's. A name that the program
 * gave to a predefined object stays what it is, unless it begins with CTRAN_.
 */
#include <string.h>

#include "mpi/front.h"

/* "CTRAN_COMM_WORLD" becomes "MPI_COMM_WORLD". */
static void rename_constant(char *text, int *len)
{
    enum { OWN = 6, MPI = 4 };
    if (strncmp(text, "CTRAN_", OWN) == 0) {
        memmove(text + MPI, text + OWN, strlen(text + OWN) + 1);
        memcpy(text, "MPI_", MPI);
        *len -= OWN - MPI;
    }
}

/* Handles of predefined objects are small numbers. */
static bool is_predefined(const void *handle)
{
    return (uintptr_t)handle < 0x1000;
}

int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    const int  rc = ctran_comm_get_name(comm, comm_name, resultlen);
    const bool is_parent = rc == MPI_SUCCESS && strcmp(comm_name, "CTRAN_COMM_PARENT") == 0;
    if (rc == MPI_SUCCESS && (is_predefined(comm) || is_parent)) {
        rename_constant(comm_name, resultlen);
    }
    return rc;
}
NAME(Comm_get_name)

int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    const int rc = ctran_type_get_name(datatype, type_name, resultlen);
    if (rc == MPI_SUCCESS && is_predefined(datatype)) {
        rename_constant(type_name, resultlen);
    }
    return rc;
}
NAME(Type_get_name)

int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    const int rc = ctran_win_get_name(win, win_name, resultlen);
    if (rc == MPI_SUCCESS && is_predefined(win)) {
        rename_constant(win_name, resultlen);
    }
    return rc;
}
NAME(Win_get_name)

/* The value of "thread_level". */
int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    static const char key[] = "thread_level";
    char              value[MPI_MAX_INFO_VAL];
    int               len = sizeof value, flag = 0;
    int               rc = ctran_session_get_info(session, info_used);
    if (rc == MPI_SUCCESS) {
        rc = ctran_info_get_string(*info_used, key, &len, value, &flag);
    }
    if (rc == MPI_SUCCESS && flag) {
        rename_constant(value, &len);
        rc = ctran_info_set(*info_used, key, value);
    }
    return rc;
}
NAME(Session_get_info)

/* ---- errors: those of the tool interface are unknown to ctran -------------------------------- */

static const char *const tool_errors[] = {
    "MPI_T_ERR_CANNOT_INIT: the tool interface cannot be initialized",
    "MPI_T_ERR_NOT_ACCESSIBLE: the information is not accessible",
    "MPI_T_ERR_NOT_INITIALIZED: the tool interface is not initialized",
    "MPI_T_ERR_NOT_SUPPORTED: the tool interface has no such function here",
    "MPI_T_ERR_MEMORY: out of memory",
    "MPI_T_ERR_INVALID: invalid argument",
    "MPI_T_ERR_INVALID_INDEX: invalid index",
    "MPI_T_ERR_INVALID_ITEM: invalid index of an item",
    "MPI_T_ERR_INVALID_SESSION: invalid session",
    "MPI_T_ERR_INVALID_HANDLE: invalid handle",
    "MPI_T_ERR_INVALID_NAME: nothing has this name",
    "MPI_T_ERR_OUT_OF_HANDLES: no more handles",
    "MPI_T_ERR_OUT_OF_SESSIONS: no more sessions",
    "MPI_T_ERR_CVAR_SET_NOT_NOW: the variable cannot be set now",
    "MPI_T_ERR_CVAR_SET_NEVER: the variable cannot be set",
    "MPI_T_ERR_PVAR_NO_WRITE: the variable cannot be written or reset",
    "MPI_T_ERR_PVAR_NO_STARTSTOP: the variable cannot be started or stopped",
    "MPI_T_ERR_PVAR_NO_ATOMIC: the variable cannot be read and reset at once",
};

/* NULL: it is none of them. */
static const char *tool_error(int code)
{
    return code >= MPI_T_ERR_CANNOT_INIT && code <= MPI_T_ERR_PVAR_NO_ATOMIC
               ? tool_errors[code - MPI_T_ERR_CANNOT_INIT]
               : NULL;
}

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    const char *text = tool_error(errorcode);
    if (text != NULL && string != NULL && resultlen != NULL) {
        strcpy(string, text);
        *resultlen = (int)strlen(text);
        return MPI_SUCCESS;
    }
    const int rc = ctran_error_string(errorcode, string, resultlen);
    if (rc == MPI_SUCCESS && errorcode <= MPI_ERR_ABI) {
        rename_constant(string, resultlen);
    }
    return rc;
}
NAME(Error_string)

int PMPI_Error_class(int errorcode, int *errorclass)
{
    if (tool_error(errorcode) != NULL && errorclass != NULL) {
        *errorclass = errorcode;
        return MPI_SUCCESS;
    }
    return ctran_error_class(errorcode, errorclass);
}
NAME(Error_class)

/* What has a text of the program's is not removed before that. */
static int check_textless(const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int  len = 0;
    if (code > MPI_ERR_LASTCODE && ctran_error_string(code, text, &len) == MPI_SUCCESS && len > 0) {
        return ct_front_raise(MPI_COMM_NULL, MPI_ERR_OTHER, call,
                              "it has a text: MPI_Remove_error_string comes first");
    }
    return MPI_SUCCESS;
}

int PMPI_Remove_error_code(int errorcode)
{
    const int rc = check_textless("MPI_Remove_error_code", errorcode);
    return rc == MPI_SUCCESS ? ctran_remove_error_code(errorcode) : rc;
}
NAME(Remove_error_code)

int PMPI_Remove_error_class(int errorclass)
{
    const int rc = check_textless("MPI_Remove_error_class", errorclass);
    return rc == MPI_SUCCESS ? ctran_remove_error_class(errorclass) : rc;
}
NAME(Remove_error_class)
