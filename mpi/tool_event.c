/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: there are none, and no sources of them, so that no index and no handle is valid. */
#include "mpi/tool.h"

#define NO_INDEX  ct_tool_check(false, MPI_T_ERR_INVALID_INDEX)
#define NO_HANDLE ct_tool_check(false, MPI_T_ERR_INVALID_HANDLE)

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int none(int *num)
{
    const int rc = ct_tool_check(num != NULL, MPI_T_ERR_INVALID);
    if (rc == MPI_SUCCESS) {
        *num = 0;
    }
    return rc;
}

int PMPI_T_event_get_num(int *num_events)
{
    return none(num_events);
}
NAME(T_event_get_num)

int PMPI_T_source_get_num(int *num_sources)
{
    return none(num_sources);
}
NAME(T_source_get_num)

int PMPI_T_event_get_index(const char *name, int *event_index)
{
    return ct_tool_check(name == NULL || event_index == NULL, MPI_T_ERR_INVALID_NAME) == MPI_SUCCESS
               ? MPI_T_ERR_INVALID
               : ct_tool_check(false, MPI_T_ERR_INVALID_NAME);
}
NAME(T_event_get_index)

int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    return NO_INDEX;
}
NAME(T_event_get_info)

int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    return NO_INDEX;
}
NAME(T_event_handle_alloc)

int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                           MPI_Count *max_ticks, MPI_Info *info)
{
    return NO_INDEX;
}
NAME(T_source_get_info)

int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    return NO_INDEX;
}
NAME(T_source_get_timestamp)

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    return NO_HANDLE;
}
NAME(T_event_callback_get_info)

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    return NO_HANDLE;
}
NAME(T_event_callback_set_info)

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    return NO_HANDLE;
}
NAME(T_event_copy)

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    return NO_HANDLE;
}
NAME(T_event_get_source)

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    return NO_HANDLE;
}
NAME(T_event_get_timestamp)

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    return NO_HANDLE;
}
NAME(T_event_handle_free)

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    return NO_HANDLE;
}
NAME(T_event_handle_get_info)

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    return NO_HANDLE;
}
NAME(T_event_handle_set_info)

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    return NO_HANDLE;
}
NAME(T_event_read)

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    return NO_HANDLE;
}
NAME(T_event_register_callback)

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration        event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    return NO_HANDLE;
}
NAME(T_event_set_dropped_handler)
