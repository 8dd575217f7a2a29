/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables: what the library counts (front/front.h), as MPI_UNSIGNED_LONG. All count
 * from the start on, for everybody: they can be read at any time, and neither started, stopped,
 * written nor reset. A session is a piece of memory that only tells itself from others; a handle is
 * the variable's number from 1 on, so that MPI_T_PVAR_ALL_HANDLES is kept free: from 2.
 */
#include <string.h>

#include "mpi/tool.h"

enum { FIRST_HANDLE = 2, SESSION_MAGIC = 0x50767365 };

struct MPI_ABI_T_pvar_session {
    uint32_t magic;
};

static bool is_index(int index)
{
    return index >= 0 && index < ct_front_counters();
}

static int class_of(const struct ct_front_counter *counter)
{
    return counter->is_level ? MPI_T_PVAR_CLASS_LEVEL : MPI_T_PVAR_CLASS_COUNTER;
}

static int check_session(MPI_T_pvar_session session)
{
    return ct_tool_check(session != MPI_T_PVAR_SESSION_NULL && session->magic == SESSION_MAGIC,
                         MPI_T_ERR_INVALID_SESSION);
}

/* The index behind a handle, -1: it is none. */
static int index_of(MPI_T_pvar_handle handle)
{
    const uintptr_t number = (uintptr_t)handle;
    return number >= FIRST_HANDLE && number - FIRST_HANDLE < (uintptr_t)ct_front_counters()
               ? (int)(number - FIRST_HANDLE)
               : -1;
}

static int check_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    const int rc = check_session(session);
    return rc == MPI_SUCCESS && index_of(handle) < 0 ? MPI_T_ERR_INVALID_HANDLE : rc;
}

int PMPI_T_pvar_get_num(int *num_pvar)
{
    const int rc = ct_tool_check(num_pvar != NULL, MPI_T_ERR_INVALID);
    if (rc == MPI_SUCCESS) {
        *num_pvar = ct_front_counters();
    }
    return rc;
}
NAME(T_pvar_get_num)

int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    const int rc = ct_tool_check(is_index(pvar_index), MPI_T_ERR_INVALID_INDEX);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    const struct ct_front_counter *counter = ct_front_counter(pvar_index);
    ct_tool_text(counter->name, name, name_len);
    ct_tool_text(counter->help, desc, desc_len);
    ct_tool_number(MPI_T_VERBOSITY_USER_DETAIL, verbosity);
    ct_tool_number(class_of(counter), var_class);
    ct_tool_number(MPI_T_BIND_NO_OBJECT, bind);
    ct_tool_number(1, readonly);
    ct_tool_number(1, continuous);
    ct_tool_number(0, atomic);
    if (datatype != NULL) {
        *datatype = MPI_UNSIGNED_LONG;
    }
    if (enumtype != NULL) {
        *enumtype = MPI_T_ENUM_NULL;
    }
    return rc;
}
NAME(T_pvar_get_info)

int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    const int rc = ct_tool_check(name != NULL && pvar_index != NULL, MPI_T_ERR_INVALID);
    for (int i = 0; rc == MPI_SUCCESS && i < ct_front_counters(); i++) {
        const struct ct_front_counter *counter = ct_front_counter(i);
        if (strcmp(name, counter->name) == 0 && class_of(counter) == var_class) {
            *pvar_index = i;
            return rc;
        }
    }
    return rc != MPI_SUCCESS ? rc : MPI_T_ERR_INVALID_NAME;
}
NAME(T_pvar_get_index)

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    const int rc = ct_tool_check(session != NULL, MPI_T_ERR_INVALID);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    MPI_T_pvar_session made = malloc(sizeof *made);
    if (made == NULL) {
        return MPI_T_ERR_OUT_OF_SESSIONS;
    }
    made->magic = SESSION_MAGIC;
    *session = made;
    return rc;
}
NAME(T_pvar_session_create)

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    const int rc = check_session(session != NULL ? *session : MPI_T_PVAR_SESSION_NULL);
    if (rc == MPI_SUCCESS) {
        (*session)->magic = 0;
        free(*session);
        *session = MPI_T_PVAR_SESSION_NULL;
    }
    return rc;
}
NAME(T_pvar_session_free)

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    int rc = check_session(session);
    (void)obj_handle;
    rc = rc == MPI_SUCCESS && !is_index(pvar_index) ? MPI_T_ERR_INVALID_INDEX : rc;
    rc = rc == MPI_SUCCESS && handle == NULL ? MPI_T_ERR_INVALID : rc;
    if (rc == MPI_SUCCESS) {
        *handle = (MPI_T_pvar_handle)((uintptr_t)pvar_index + FIRST_HANDLE);
        ct_tool_number(1, count);
    }
    return rc;
}
NAME(T_pvar_handle_alloc)

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    const int rc = check_handle(session, handle != NULL ? *handle : MPI_T_PVAR_HANDLE_NULL);
    if (rc == MPI_SUCCESS) {
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    return rc;
}
NAME(T_pvar_handle_free)

/* MPI_T_PVAR_ALL_HANDLES means those that can be started; there are none. */
static int refuse(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int error)
{
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        return check_session(session);
    }
    const int rc = check_handle(session, handle);
    return rc == MPI_SUCCESS ? error : rc;
}

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}
NAME(T_pvar_start)

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP);
}
NAME(T_pvar_stop)

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_WRITE);
}
NAME(T_pvar_reset)

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    (void)buf;
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_WRITE);
}
NAME(T_pvar_write)

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    (void)buf;
    return refuse(session, handle, MPI_T_ERR_PVAR_NO_ATOMIC);
}
NAME(T_pvar_readreset)

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    int rc = check_handle(session, handle);
    rc = rc == MPI_SUCCESS && buf == NULL ? MPI_T_ERR_INVALID : rc;
    if (rc == MPI_SUCCESS) {
        *(unsigned long *)buf = (unsigned long)ct_front_counter_value(index_of(handle));
    }
    return rc;
}
NAME(T_pvar_read)
