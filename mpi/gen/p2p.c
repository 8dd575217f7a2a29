/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between two processes (chapter 3). Written by generate.py; do not edit. */
/* clang-format off */
#include "mpi/front.h"

int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return ctran_bsend(buf, count, datatype, dest, tag, comm);
}
NAME(Bsend)

int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return ctran_bsend(buf, count, datatype, dest, tag, comm);
}
NAME(Bsend_c)

int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return ctran_bsend_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Bsend_init)

int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return ctran_bsend_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Bsend_init_c)

int PMPI_Buffer_attach(void *buffer, int size)
{
    return ctran_buffer_attach(buffer, size);
}
NAME(Buffer_attach)

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    return ctran_buffer_attach(buffer, size);
}
NAME(Buffer_attach_c)

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    ctran_count_t w_size = size != NULL ? *size : 0;
    const int rc = ctran_buffer_detach(buffer_addr, size != NULL ? &w_size : NULL);
    if (rc == MPI_SUCCESS) {
        *size = ct_narrow(w_size);
    }
    return rc;
}
NAME(Buffer_detach)

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    return ctran_buffer_detach(buffer_addr, size);
}
NAME(Buffer_detach_c)

int PMPI_Buffer_flush(void)
{
    return ctran_buffer_flush();
}
NAME(Buffer_flush)

int PMPI_Buffer_iflush(MPI_Request *request)
{
    return ctran_buffer_iflush(request);
}
NAME(Buffer_iflush)

int PMPI_Cancel(MPI_Request *request)
{
    return ctran_cancel(request);
}
NAME(Cancel)

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
    return ctran_comm_attach_buffer(comm, buffer, size);
}
NAME(Comm_attach_buffer)

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    return ctran_comm_attach_buffer(comm, buffer, size);
}
NAME(Comm_attach_buffer_c)

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
    ctran_count_t w_size = size != NULL ? *size : 0;
    const int rc = ctran_comm_detach_buffer(comm, buffer_addr, size != NULL ? &w_size : NULL);
    if (rc == MPI_SUCCESS) {
        *size = ct_narrow(w_size);
    }
    return rc;
}
NAME(Comm_detach_buffer)

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    return ctran_comm_detach_buffer(comm, buffer_addr, size);
}
NAME(Comm_detach_buffer_c)

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    return ctran_comm_flush_buffer(comm);
}
NAME(Comm_flush_buffer)

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    return ctran_comm_iflush_buffer(comm, request);
}
NAME(Comm_iflush_buffer)

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    ctran_count_t w_count = count != NULL ? *count : 0;
    const int rc = ctran_get_count((const ctran_status_t *)status, datatype, count != NULL ?
        &w_count : NULL);
    if (rc == MPI_SUCCESS) {
        *count = ct_narrow(w_count);
    }
    return rc;
}
NAME(Get_count)

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return ctran_get_count((const ctran_status_t *)status, datatype, count);
}
NAME(Get_count_c)

int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return ctran_ibsend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Ibsend)

int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return ctran_ibsend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Ibsend_c)

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    return ctran_improbe(source, tag, comm, flag, message, (ctran_status_t *)status);
}
NAME(Improbe)

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                MPI_Request *request)
{
    return ctran_imrecv(buf, count, datatype, message, request);
}
NAME(Imrecv)

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    return ctran_imrecv(buf, count, datatype, message, request);
}
NAME(Imrecv_c)

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return ctran_iprobe(source, tag, comm, flag, (ctran_status_t *)status);
}
NAME(Iprobe)

int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return ctran_irecv(buf, count, datatype, source, tag, comm, request);
}
NAME(Irecv)

int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return ctran_irecv(buf, count, datatype, source, tag, comm, request);
}
NAME(Irecv_c)

int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return ctran_irsend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Irsend)

int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return ctran_irsend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Irsend_c)

int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return ctran_isend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Isend)

int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return ctran_isend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Isend_c)

int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request *request)
{
    return ctran_isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
        recvtype, source, recvtag, comm, request);
}
NAME(Isendrecv)

int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return ctran_isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
        recvtype, source, recvtag, comm, request);
}
NAME(Isendrecv_c)

int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return ctran_isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
        request);
}
NAME(Isendrecv_replace)

int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request *request)
{
    return ctran_isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
        request);
}
NAME(Isendrecv_replace_c)

int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return ctran_issend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Issend)

int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return ctran_issend(buf, count, datatype, dest, tag, comm, request);
}
NAME(Issend_c)

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return ctran_mprobe(source, tag, comm, message, (ctran_status_t *)status);
}
NAME(Mprobe)

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
               MPI_Status *status)
{
    return ctran_mrecv(buf, count, datatype, message, (ctran_status_t *)status);
}
NAME(Mrecv)

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    return ctran_mrecv(buf, count, datatype, message, (ctran_status_t *)status);
}
NAME(Mrecv_c)

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return ctran_probe(source, tag, comm, (ctran_status_t *)status);
}
NAME(Probe)

int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    return ctran_recv(buf, count, datatype, source, tag, comm, (ctran_status_t *)status);
}
NAME(Recv)

int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    return ctran_recv(buf, count, datatype, source, tag, comm, (ctran_status_t *)status);
}
NAME(Recv_c)

int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return ctran_recv_init(buf, count, datatype, source, tag, comm, request);
}
NAME(Recv_init)

int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return ctran_recv_init(buf, count, datatype, source, tag, comm, request);
}
NAME(Recv_init_c)

int PMPI_Request_free(MPI_Request *request)
{
    return ctran_request_free(request);
}
NAME(Request_free)

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    return ctran_request_get_status(request, flag, (ctran_status_t *)status);
}
NAME(Request_get_status)

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                MPI_Status *array_of_statuses)
{
    return ctran_request_get_status_all(count, array_of_requests, flag, (ctran_status_t
        *)array_of_statuses);
}
NAME(Request_get_status_all)

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
                                int *flag, MPI_Status *status)
{
    return ctran_request_get_status_any(count, array_of_requests, indx, flag, (ctran_status_t
        *)status);
}
NAME(Request_get_status_any)

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                 int array_of_indices[], MPI_Status *array_of_statuses)
{
    return ctran_request_get_status_some(incount, array_of_requests, outcount, array_of_indices,
        (ctran_status_t *)array_of_statuses);
}
NAME(Request_get_status_some)

int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return ctran_rsend(buf, count, datatype, dest, tag, comm);
}
NAME(Rsend)

int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return ctran_rsend(buf, count, datatype, dest, tag, comm);
}
NAME(Rsend_c)

int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return ctran_rsend_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Rsend_init)

int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return ctran_rsend_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Rsend_init_c)

int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return ctran_send(buf, count, datatype, dest, tag, comm);
}
NAME(Send)

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    return ctran_send(buf, count, datatype, dest, tag, comm);
}
NAME(Send_c)

int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request)
{
    return ctran_send_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Send_init)

int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return ctran_send_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Send_init_c)

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status *status)
{
    return ctran_sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
        source, recvtag, comm, (ctran_status_t *)status);
}
NAME(Sendrecv)

int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return ctran_sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
        source, recvtag, comm, (ctran_status_t *)status);
}
NAME(Sendrecv_c)

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                          int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return ctran_sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
        (ctran_status_t *)status);
}
NAME(Sendrecv_replace)

int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return ctran_sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm,
        (ctran_status_t *)status);
}
NAME(Sendrecv_replace_c)

int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return ctran_ssend(buf, count, datatype, dest, tag, comm);
}
NAME(Ssend)

int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return ctran_ssend(buf, count, datatype, dest, tag, comm);
}
NAME(Ssend_c)

int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return ctran_ssend_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Ssend_init)

int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return ctran_ssend_init(buf, count, datatype, dest, tag, comm, request);
}
NAME(Ssend_init_c)

int PMPI_Start(MPI_Request *request)
{
    return ctran_start(request);
}
NAME(Start)

int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
    return ctran_startall(count, array_of_requests);
}
NAME(Startall)

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    return ctran_test(request, flag, (ctran_status_t *)status);
}
NAME(Test)

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    return ctran_test_cancelled((const ctran_status_t *)status, flag);
}
NAME(Test_cancelled)

int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                 MPI_Status *array_of_statuses)
{
    return ctran_testall(count, array_of_requests, flag, (ctran_status_t *)array_of_statuses);
}
NAME(Testall)

int PMPI_Testany(int count, MPI_Request array_of_requests[], int *indx, int *flag,
                 MPI_Status *status)
{
    return ctran_testany(count, array_of_requests, indx, flag, (ctran_status_t *)status);
}
NAME(Testany)

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    return ctran_testsome(incount, array_of_requests, outcount, array_of_indices, (ctran_status_t
        *)array_of_statuses);
}
NAME(Testsome)

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return ctran_wait(request, (ctran_status_t *)status);
}
NAME(Wait)

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status *array_of_statuses)
{
    return ctran_waitall(count, array_of_requests, (ctran_status_t *)array_of_statuses);
}
NAME(Waitall)

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status)
{
    return ctran_waitany(count, array_of_requests, indx, (ctran_status_t *)status);
}
NAME(Waitany)

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses)
{
    return ctran_waitsome(incount, array_of_requests, outcount, array_of_indices, (ctran_status_t
        *)array_of_statuses);
}
NAME(Waitsome)
