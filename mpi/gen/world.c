/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions and the start and end (chapter 11). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    return ctran_abort(comm, errorcode);
}
NAME(Abort)

int PMPI_Finalize(void)
{
    return ctran_finalize();
}
NAME(Finalize)

int PMPI_Finalized(int *flag)
{
    return ctran_finalized(flag);
}
NAME(Finalized)

int PMPI_Init(int *argc, char ***argv)
{
    return ctran_init(argc, argv);
}
NAME(Init)

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return ctran_init_thread(argc, argv, required, provided);
}
NAME(Init_thread)

int PMPI_Initialized(int *flag)
{
    return ctran_initialized(flag);
}
NAME(Initialized)

int PMPI_Is_thread_main(int *flag)
{
    return ctran_is_thread_main(flag);
}
NAME(Is_thread_main)

int PMPI_Query_thread(int *provided)
{
    return ctran_query_thread(provided);
}
NAME(Query_thread)

int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
    return ctran_session_attach_buffer(session, buffer, size);
}
NAME(Session_attach_buffer)

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    return ctran_session_attach_buffer(session, buffer, size);
}
NAME(Session_attach_buffer_c)

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    return ctran_session_call_errhandler(session, errorcode);
}
NAME(Session_call_errhandler)

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                   MPI_Errhandler *errhandler)
{
    return ctran_session_create_errhandler(session_errhandler_fn, errhandler);
}
NAME(Session_create_errhandler)

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
    ctran_count_t w_size = size != NULL ? *size : 0;
    const int rc = ctran_session_detach_buffer(session, buffer_addr, size != NULL ? &w_size : NULL);
    if (rc == MPI_SUCCESS) {
        *size = ct_narrow(w_size);
    }
    return rc;
}
NAME(Session_detach_buffer)

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    return ctran_session_detach_buffer(session, buffer_addr, size);
}
NAME(Session_detach_buffer_c)

int PMPI_Session_finalize(MPI_Session *session)
{
    return ctran_session_finalize(session);
}
NAME(Session_finalize)

int PMPI_Session_flush_buffer(MPI_Session session)
{
    return ctran_session_flush_buffer(session);
}
NAME(Session_flush_buffer)

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    return ctran_session_get_errhandler(session, errhandler);
}
NAME(Session_get_errhandler)

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
                              char *pset_name)
{
    return ctran_session_get_nth_pset(session, info, n, pset_len, pset_name);
}
NAME(Session_get_nth_pset)

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    return ctran_session_get_num_psets(session, info, npset_names);
}
NAME(Session_get_num_psets)

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    return ctran_session_get_pset_info(session, pset_name, info);
}
NAME(Session_get_pset_info)

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    return ctran_session_iflush_buffer(session, request);
}
NAME(Session_iflush_buffer)

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    return ctran_session_init(info, errhandler, session);
}
NAME(Session_init)

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    return ctran_session_set_errhandler(session, errhandler);
}
NAME(Session_set_errhandler)
