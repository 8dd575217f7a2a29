/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of buffered sends: one for the process, for each session and for each communicator.
 * The calls for the three kinds of owners differ only in the owner and in the error handler that
 * they use.
 */
#define CT_FOLDER "api"
#include "api/api.h"

struct owner {
    struct ct_process     *p;
    const char            *call, *of; /* "the process", ... */
    uint64_t               number;    /* as in p2p.h */
    struct ct_comm        *comm;
    struct ct_mpi_session *session; /* NULL: comm's handler answers */
};

static int of_process(const char *call, struct owner *o)
{
    struct ct_comm *self;
    int             rc = ct_check_self(call, &self);
    if (rc == CTRAN_SUCCESS) {
        *o = (struct owner){.p = self->p,
                            .call = call,
                            .of = "the process",
                            .number = CT_BUFFER_PROCESS,
                            .comm = self};
    }
    return rc;
}

static int of_comm(const char *call, ctran_comm_t handle, struct owner *o)
{
    struct ct_comm *comm;
    int             rc = ct_check_comm(call, handle, &comm);
    if (rc == CTRAN_SUCCESS) {
        *o = (struct owner){
            .p = comm->p, .call = call, .of = "the communicator", .number = comm->id, .comm = comm};
    }
    return rc;
}

static uint64_t number_of(const struct ct_mpi_session *session)
{
    return CT_BUFFER_SESSION | session->number;
}

static int of_session(const char *call, ctran_session_t handle, struct owner *o)
{
    struct ct_mpi_session *session;
    int                    rc = ct_check_session(call, handle, &session);
    if (rc == CTRAN_SUCCESS) {
        *o = (struct owner){.p = ct_api_process(),
                            .call = call,
                            .of = "the session",
                            .number = number_of(session),
                            .session = session};
    }
    return rc;
}

static int raise(const struct owner *o, int error, const char *text)
{
    return o->session != NULL ? ct_api_raise_by(&o->session->errhandler, o->session, error, o->call,
                                                "%s%s", o->of, text)
                              : ct_api_raise(o->comm, error, o->call, "%s%s", o->of, text);
}

static int no_buffer(const struct owner *o)
{
    return raise(o, CTRAN_ERR_BUFFER, " has no buffer attached");
}

/* ---- what they do ---------------------------------------------------------------------------- */

static int attach(const struct owner *o, void *buffer, ctran_count_t size)
{
    const bool automatic = buffer == CTRAN_BUFFER_AUTOMATIC;
    if (size < 0 && !automatic) {
        return raise(o, CTRAN_ERR_ARG, ": size is negative");
    }
    if (buffer == NULL) {
        return raise(o, CTRAN_ERR_BUFFER, ": the buffer is NULL");
    }
    if (!automatic && ct_memory_of(o->p, buffer) != NULL) {
        return raise(o, CTRAN_ERR_BUFFER,
                     ": the buffer is in a device's memory, and must be in the host's (the "
                     "messages that it is for may be in either)");
    }
    int rc = ct_p2p_buffer_attach(o->p, o->number, buffer, automatic ? 0 : (size_t)size);
    return rc == CTRAN_SUCCESS ? rc
           : rc == CTRAN_ERR_BUFFER
               ? raise(o, rc, " has a buffer attached already: detach that first")
               : raise(o, rc, ": no memory to note its buffer");
}

static int detach(const struct owner *o, void *buffer_addr, ctran_count_t *size)
{
    void  *base;
    size_t size_bytes;
    if (buffer_addr == NULL || size == NULL) {
        return raise(o, CTRAN_ERR_ARG,
                     buffer_addr == NULL ? ": buffer_addr is NULL" : ": size is NULL");
    }
    if (ct_p2p_buffer_detach(o->p, o->number, &base, &size_bytes) != CTRAN_SUCCESS) {
        return no_buffer(o);
    }
    memcpy(buffer_addr, &base, sizeof base);
    *size = (ctran_count_t)size_bytes;
    return CTRAN_SUCCESS;
}

static int flush(const struct owner *o)
{
    return ct_p2p_buffer_flush(o->p, o->number) == CTRAN_SUCCESS ? CTRAN_SUCCESS : no_buffer(o);
}

static int iflush(const struct owner *o, ctran_request_t *request)
{
    if (request == NULL) {
        return raise(o, CTRAN_ERR_ARG, ": request is NULL");
    }
    int rc = ct_p2p_buffer_iflush(o->p, o->number, request);
    return rc == CTRAN_SUCCESS      ? rc
           : rc == CTRAN_ERR_NO_MEM ? raise(o, rc, ": no memory for a request")
                                    : no_buffer(o);
}

/* ---- the process's --------------------------------------------------------------------------- */

int ctran_buffer_attach(void *buffer, ctran_count_t size)
{
    struct owner o;
    int          rc = of_process("ctran_buffer_attach", &o);
    return rc == CTRAN_SUCCESS ? attach(&o, buffer, size) : rc;
}

int ctran_buffer_detach(void *buffer_addr, ctran_count_t *size)
{
    struct owner o;
    int          rc = of_process("ctran_buffer_detach", &o);
    return rc == CTRAN_SUCCESS ? detach(&o, buffer_addr, size) : rc;
}

int ctran_buffer_flush(void)
{
    struct owner o;
    int          rc = of_process("ctran_buffer_flush", &o);
    return rc == CTRAN_SUCCESS ? flush(&o) : rc;
}

int ctran_buffer_iflush(ctran_request_t *request)
{
    struct owner o;
    int          rc = of_process("ctran_buffer_iflush", &o);
    return rc == CTRAN_SUCCESS ? iflush(&o, request) : rc;
}

/* ---- a communicator's ------------------------------------------------------------------------ */

int ctran_comm_attach_buffer(ctran_comm_t comm, void *buffer, ctran_count_t size)
{
    struct owner o;
    int          rc = of_comm("ctran_comm_attach_buffer", comm, &o);
    return rc == CTRAN_SUCCESS ? attach(&o, buffer, size) : rc;
}

int ctran_comm_detach_buffer(ctran_comm_t comm, void *buffer_addr, ctran_count_t *size)
{
    struct owner o;
    int          rc = of_comm("ctran_comm_detach_buffer", comm, &o);
    return rc == CTRAN_SUCCESS ? detach(&o, buffer_addr, size) : rc;
}

int ctran_comm_flush_buffer(ctran_comm_t comm)
{
    struct owner o;
    int          rc = of_comm("ctran_comm_flush_buffer", comm, &o);
    return rc == CTRAN_SUCCESS ? flush(&o) : rc;
}

int ctran_comm_iflush_buffer(ctran_comm_t comm, ctran_request_t *request)
{
    struct owner o;
    int          rc = of_comm("ctran_comm_iflush_buffer", comm, &o);
    return rc == CTRAN_SUCCESS ? iflush(&o, request) : rc;
}

/* ---- a session's ----------------------------------------------------------------------------- */

int ctran_session_attach_buffer(ctran_session_t session, void *buffer, ctran_count_t size)
{
    struct owner o;
    int          rc = of_session("ctran_session_attach_buffer", session, &o);
    return rc == CTRAN_SUCCESS ? attach(&o, buffer, size) : rc;
}

int ctran_session_detach_buffer(ctran_session_t session, void *buffer_addr, ctran_count_t *size)
{
    struct owner o;
    int          rc = of_session("ctran_session_detach_buffer", session, &o);
    return rc == CTRAN_SUCCESS ? detach(&o, buffer_addr, size) : rc;
}

int ctran_session_flush_buffer(ctran_session_t session)
{
    struct owner o;
    int          rc = of_session("ctran_session_flush_buffer", session, &o);
    return rc == CTRAN_SUCCESS ? flush(&o) : rc;
}

int ctran_session_iflush_buffer(ctran_session_t session, ctran_request_t *request)
{
    struct owner o;
    int          rc = of_session("ctran_session_iflush_buffer", session, &o);
    return rc == CTRAN_SUCCESS ? iflush(&o, request) : rc;
}

/* ---- for other files ------------------------------------------------------------------------- */

void ct_api_buffer_owners(const struct ct_comm *comm, uint64_t owners[CT_BUFFER_OWNERS])
{
    const uint64_t session = atomic_load_explicit(&comm->group->session, memory_order_relaxed);
    owners[0] = comm->id;
    owners[1] = session != 0 ? CT_BUFFER_SESSION | session : CT_BUFFER_PROCESS;
    owners[2] = CT_BUFFER_PROCESS;
}

static void end(struct ct_process *p, uint64_t owner)
{
    void  *base;
    size_t size_bytes;
    (void)ct_p2p_buffer_detach(p, owner, &base, &size_bytes); /* where there is one */
}

void ct_api_end_comm_buffer(const struct ct_comm *comm)
{
    end(comm->p, comm->id);
}

void ct_api_end_session_buffer(const struct ct_mpi_session *session)
{
    end(ct_api_process(), number_of(session));
}

void ct_api_end_world_buffers(struct ct_process *p)
{
    end(p, ct_comm_world(p)->id);
    end(p, ct_comm_self(p)->id);
    end(p, CT_BUFFER_PROCESS);
}
