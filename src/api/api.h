/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api - the thin entry points of ctran.h: they find the process, check arguments, call the floor
 * that does the work, and hand errors to the communicator's error handler. The only global state of
 * the library is here: the process that the public interface works for.
 */
#ifndef CT_API_API_H
#define CT_API_API_H

#include "coll/coll.h"
#include "pmi/pmi.h"

enum ct_api_state { CT_API_BEFORE, CT_API_RUNNING, CT_API_AFTER, CT_API_FORKED };

/* The process, if calls are possible now; else NULL after ct_api_refuse. */
struct ct_process *ct_api_enter(const char *call);
enum ct_api_state  ct_api_now(void);
/* The process in any state, for what is possible at any time. */
struct ct_process *ct_api_process(void);

/* A user of the library, the world or a session, begins: brings up what all share, if it is the
 * first, with its thread level. Errors are logged. And ends: the last one takes it down. life.c */
int  ct_api_use(const char *call, int thread_level, struct ct_process **out);
void ct_api_unuse(struct ct_process *p);
bool ct_api_is_last_user(void);

/* Hands `error` to comm's handler with what went wrong, and returns it, or the code that a function
 * of the program made of it, if that returns: never CTRAN_SUCCESS. fmt says what was asked, what
 * was found, what to do. */
int ct_api_raise(struct ct_comm *comm, int error, const char *call, const char *fmt, ...)
    CT_PRINTF(4, 5) CT_COLD;
/* Like ct_api_raise by the handler at `place`: a session's, or one that a call is given for an
 * object that is not there yet, session NULL. */
int ct_api_raise_by(struct ct_errhandler *const *place, struct ct_mpi_session *session, int error,
                    const char *call, const char *fmt, ...) CT_PRINTF(5, 6) CT_COLD;
/* Like ct_api_raise_by for an error whose cause has been logged where it was found: its text is the
 * code's. By the handler at `place` it is about a session that could not be opened. */
int ct_api_pass(struct ct_comm *comm, int error, const char *call);
int ct_api_pass_by(struct ct_errhandler *const *place, int error, const char *call);
/* "call: the text of the error". */
enum { CT_API_TEXT_MAX = CTRAN_MAX_ERROR_STRING + 1024 };
void ct_api_name_error(struct ct_process *p, int error, const char *call,
                       char out[CT_API_TEXT_MAX]);

/* Errors of calls that are possible at any time. While the library is in use they are
 * CTRAN_COMM_SELF's, else the initial error handler's; a forked child only gets the code back.
 * errors_outside.c */
int ct_api_raise_anytime(int error, const char *call, const char *fmt, ...) CT_PRINTF(3, 4) CT_COLD;
int ct_api_pass_anytime(int error, const char *call) CT_COLD;
/* The error of a call that is not possible now: CTRAN_ERR_OTHER, if the handler returns. */
int ct_api_refuse(const char *call) CT_COLD;
/* Ends the job because of an error at the start whose cause has been logged. */
_Noreturn void ct_api_die_told(struct ct_process *p, int error, const char *call);
/* Only the message of ct_api_refuse. */
void ct_api_log_refusal(const char *call) CT_COLD;

/* For the front end of MPI's names. ctran_op_create for a function with int counts. op.c */
int ct_api_op_create_short(ct_op_short_fn *fn, int commute, ctran_op_t *op);
/* Makes the request of a collective free `memory` (from malloc) when the request ends. Used for
 * arrays that the library made from the program's arguments and that the collective reads. Once a
 * request, by the thread that made it, before the user has it. false: the request is of another
 * kind, and the memory the caller's. coll_call.c */
bool ct_api_keep(struct ct_request *req, void *memory);
/* The alignment that info asks for, in bytes. memory.c */
size_t ct_api_alignment_of(struct ct_process *p, const struct ct_info *info);

/* A window needs this process's progress at any time: starts the progress thread, unless
 * CTRAN_PROGRESS_THREAD forbids that. Errors are logged. */
int ct_api_need_thread(struct ct_process *p);

/* Process sets. The number of a name; CT_PSETS: there is none. session_pset.c */
enum { CT_PSET_WORLD, CT_PSET_SELF, CT_PSETS };
int ct_api_find_pset(const char *name);

/* The ranks of a job that ranks of another have spawned meet these, in the first world: collective
 * over the world. Errors are logged. spawn.c */
int ct_api_meet_parent(struct ct_process *p);

/* CTRAN_INFO_ENV's beginning and end. */
int  ct_api_make_env(struct ct_process *p);
void ct_api_free_env(struct ct_process *p);
/* Ends the job. Does not return. */
_Noreturn void ct_api_die(struct ct_process *p, int status, const char *text);

/* The call begins to wait, for what ranks of `comm` do; ct_blocked_end is due. `peer` and `tag` as
 * in the call, CT_BLOCKED_NONE: it has none. */
static inline void ct_api_block(struct ct_blocked *b, const char *call, const struct ct_comm *comm,
                                int peer, int tag)
{
    ct_blocked_begin(b, comm->p->trace, call, comm->id,
                     peer == CTRAN_ANY_SOURCE ? CT_BLOCKED_ANY : peer,
                     tag == CTRAN_ANY_TAG ? CT_BLOCKED_ANY : tag);
}
/* A collective call in the trace; what it is given is known on all ranks alike. NULL: it is not
 * recorded. trace.c */
struct ct_trace_call *ct_api_trace_begin(struct ct_comm *comm, const struct ct_trace_what *what);
static inline struct ct_trace_call *ct_api_trace(struct ct_comm             *comm,
                                                 const struct ct_trace_what *what)
{
    return comm->p->trace != NULL ? ct_api_trace_begin(comm, what) : NULL;
}
/* A call that waits for all members of a communicator and is no collective of MPI's chapter 6. */
struct ct_api_meeting {
    struct ct_blocked     b;
    struct ct_process    *p;
    struct ct_trace_call *trace;
};
void ct_api_meet(struct ct_api_meeting *m, const char *call, struct ct_comm *comm);
void ct_api_met(struct ct_api_meeting *m, int rc);
/* A request that is pending, for the list of what a wait waits for. */
void ct_api_list_request(struct ct_blocked *b, const struct ct_request *base,
                         const struct ct_comm *comm);
/* Peer and tag of a request that is not done, if it is a send or a receive. */
void ct_api_describe_request(const struct ct_request *base, const struct ct_comm *comm, int *peer,
                             int *tag);
/* Waits for a send or receive of a call, which is described if it is not over yet. */
int ct_api_wait(const char *call, const struct ct_comm *comm, int peer, int tag,
                struct ct_request *req);

/* ---- arguments. Each raises what is wrong and returns it; CTRAN_SUCCESS sets the outputs. --- */

/* The communicator behind a handle, in a process where calls are possible. */
int ct_check_comm(const char *call, ctran_comm_t handle, struct ct_comm **out);
/* Like ct_check_comm for a call that leaves a result at `out`, its argument `name`. */
int ct_check_comm_for(const char *call, ctran_comm_t handle, struct ct_comm **comm, const void *out,
                      const char *name);
/* Where a result goes: not NULL. */
static inline int ct_check_out(struct ct_comm *comm, const char *call, const void *out,
                               const char *name)
{
    return CT_LIKELY(out != NULL) ? CTRAN_SUCCESS
                                  : ct_api_raise(comm, CTRAN_ERR_ARG, call, "%s is NULL", name);
}
/* The communicator whose error handler serves errors of no communicator: CTRAN_COMM_SELF, also in
 * programs without a world. */
int ct_check_self(const char *call, struct ct_comm **out);
/* Like ct_check_self for calls that an intercommunicator has no part in. */
int ct_check_intra(const char *call, ctran_comm_t handle, struct ct_comm **out);
/* Like ct_check_intra for one with a topology of this kind (CTRAN_CART, ...). */
int ct_check_topo(const char *call, ctran_comm_t handle, int kind, struct ct_comm **out);
/* A new communicator, NULL where the caller is no member, becomes the user's; or rc is raised. */
int ct_api_give_comm(struct ct_comm *comm, int rc, const struct ct_comm *made, const char *call,
                     ctran_comm_t *newcomm);
/* The session behind a handle. */
int ct_check_session(const char *call, ctran_session_t handle, struct ct_mpi_session **out);
/* The object behind a handle of hints; NULL for CTRAN_INFO_NULL. */
int ct_check_info(struct ct_comm *comm, const char *call, ctran_info_t handle,
                  struct ct_info **info);
/* Like ct_check_info where hints are taken from it: CTRAN_ERR_INFO_VALUE for a list of algorithms
 * that makes no sense. Local; before anything is made, so that it fails on all ranks or on none. */
int ct_check_hints(struct ct_comm *comm, const char *call, ctran_info_t handle,
                   struct ct_info **info);
/* Gives what was made, unless it is NULL, the hints; after an error there is none. */
int ct_api_take_hints(struct ct_comm **made, const struct ct_info *info);
/* An error handler for objects of a kind. */
int ct_check_errhandler(struct ct_comm *comm, const char *call, ctran_errhandler_t errhandler,
                        enum ct_errhandler_kind kind);
/* What is wrong with it; NULL: nothing. */
const char *ct_errhandler_wrong(ctran_errhandler_t errhandler, enum ct_errhandler_kind kind);
/* Any datatype, committed or not. */
int ct_check_type(struct ct_comm *comm, const char *call, ctran_datatype_t datatype,
                  const struct ct_dtype **out);
/* Like ct_check_type for calls without a communicator. *self handles their errors. */
int ct_check_own_type(const char *call, ctran_datatype_t datatype, struct ct_comm **self,
                      const struct ct_dtype **out);
/* Like ct_check_own_type for the type that a new one, to be left at `newtype`, is made of. */
int ct_check_old_type(const char *call, ctran_datatype_t oldtype, const ctran_datatype_t *newtype,
                      struct ct_comm **self, const struct ct_dtype **old);
/* A new datatype becomes the user's; or rc is raised. */
int ct_api_give_type(struct ct_comm *self, int rc, const struct ct_dtype *const *made,
                     const char *call, ctran_datatype_t *newtype);
/* count elements of a committed datatype, and where they are. */
struct ct_span {
    void                  *buf;
    size_t                 count, bytes; /* of data */
    const struct ct_dtype *type;
};
/* Where its data are, and of what kind that memory is: that of its first byte; a type with absolute
 * addresses may have several. transfer.c */
void ct_span_find_memory(struct ct_process *p, const struct ct_dtype *type, struct ct_area *area);
static inline void ct_span_describe(struct ct_process *p, const struct ct_span *span,
                                    struct ct_area *area)
{
    ct_dtype_describe(span->type, span->buf, span->count, area);
    if (CT_UNLIKELY(p->memory_of != NULL)) {
        ct_span_find_memory(p, span->type, area);
    }
}
static inline struct ct_area ct_span_area(struct ct_process *p, const struct ct_span *span)
{
    struct ct_area area;
    ct_span_describe(p, span, &area);
    return area;
}
/* Raises that it could not be read or written. */
int ct_api_unreachable(struct ct_comm *comm, const char *call);
/* The rest of the two below, where all is not as usual. */
int ct_check_count_slowly(struct ct_comm *comm, const char *call, ctran_count_t count,
                          const struct ct_span *span);
int ct_check_no_buffer(struct ct_comm *comm, const char *call, const void *buf,
                       const struct ct_span *span);
/* Only count and type, where the buffer may be CTRAN_IN_PLACE or does not matter. */
static inline int ct_check_count(struct ct_comm *comm, const char *call, ctran_count_t count,
                                 ctran_datatype_t datatype, struct ct_span *out)
{
    if (CT_UNLIKELY(datatype == CTRAN_DATATYPE_NULL && count == 0)) {
        datatype = CTRAN_BYTE; /* of nothing: arrays of types have holes */
    }
    out->type = ct_dtype_get(datatype);
    if (CT_UNLIKELY(out->type == NULL)) {
        return ct_check_type(comm, call, datatype, &out->type);
    }
    out->buf = NULL;
    out->count = (size_t)count;
    const bool usual = count >= 0 &&
                       !__builtin_mul_overflow(out->count, out->type->size_bytes, &out->bytes) &&
                       out->type->contiguous && out->type->committed;
    return CT_LIKELY(usual) ? CTRAN_SUCCESS : ct_check_count_slowly(comm, call, count, out);
}
static inline int ct_check_span(struct ct_comm *comm, const char *call, const void *buf,
                                ctran_count_t count, ctran_datatype_t datatype, struct ct_span *out)
{
    int rc = ct_check_count(comm, call, count, datatype, out);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        out->buf = (void *)buf;
        if (CT_UNLIKELY(out->bytes > 0 && (buf == NULL || buf == CTRAN_IN_PLACE))) {
            rc = ct_check_no_buffer(comm, call, buf, out);
        }
    }
    return rc;
}
/* Like ct_check_span for an address that was computed from a buffer: it may by chance have the
 * value of CTRAN_IN_PLACE. */
static inline int ct_check_placed(struct ct_comm *comm, const char *call, const void *at,
                                  ctran_count_t count, ctran_datatype_t datatype,
                                  struct ct_span *out)
{
    int rc = ct_check_count(comm, call, count, datatype, out);
    if (CT_LIKELY(rc == CTRAN_SUCCESS)) {
        out->buf = (void *)at;
        if (CT_UNLIKELY(out->bytes > 0 && at == NULL)) {
            rc = ct_check_no_buffer(comm, call, at, out);
        }
    }
    return rc;
}
/* Whether its displacements are addresses, as CTRAN_BOTTOM wants them. */
bool ct_type_is_absolute(const struct ct_dtype *type);
/* The block of rank r of a call that was given NULL for a buffer and so, as CTRAN_BOTTOM, has
 * addresses for displacements: it begins in memory of this process. */
int ct_check_there(struct ct_comm *comm, const char *call, const struct ct_area *area, uint32_t r);
/* The data of both are in different places. With gaps in them only the obvious is found. */
int ct_check_disjoint(struct ct_comm *comm, const char *call, const struct ct_span *a,
                      const struct ct_span *b);
/* An operator of any kind; and one that reduces elements of `type`. */
int ct_check_op_handle(struct ct_comm *comm, const char *call, ctran_op_t handle,
                       const struct ct_op **out);
int ct_check_op(struct ct_comm *comm, const char *call, ctran_op_t handle,
                const struct ct_dtype *type, const struct ct_op **out);
int ct_check_root(struct ct_comm *comm, const char *call, int root);
/* One count a rank; *out has their sum. */
int ct_check_counts(struct ct_comm *comm, const char *call, const ctran_count_t *counts,
                    ctran_datatype_t datatype, struct ct_span *out);
/* A vector of one such block a rank must be addressable. */
int ct_check_blocks(struct ct_comm *comm, const char *call, struct ct_span *block);

/* ---- transfers ------------------------------------------------------------------------------- */

enum ct_transfer_mode { CT_TRANSFER_SEND, CT_TRANSFER_SSEND, CT_TRANSFER_RECV };

/* A send or receive with its arguments checked. */
struct ct_transfer {
    struct ct_comm       *comm;
    struct ct_ep         *ep;   /* NULL: any source, or CTRAN_PROC_NULL */
    bool                  null; /* CTRAN_PROC_NULL: nothing is to be done */
    enum ct_transfer_mode mode;
    struct ct_p2p_key     key;
    struct ct_area        area;
    /* the type that the area's pieces belong to; NULL: the area is one block */
    const struct ct_dtype *type;
};

int ct_check_transfer(const char *call, const void *buf, ctran_count_t count,
                      ctran_datatype_t datatype, int peer, int tag, ctran_comm_t handle,
                      enum ct_transfer_mode mode, struct ct_transfer *t);
/* Sets the memory of one. */
void ct_transfer_describe(struct ct_transfer *t, const struct ct_span *span);
/* Only peer and tag; t->comm is set. */
int ct_check_key(const char *call, int peer, int tag, bool is_recv, struct ct_transfer *t);
/* Starts one that is not null. */
void ct_transfer_start(struct ct_transfer *t, struct ct_p2p_req *req);
/* Whether it could be done at once, as most short sends can; not for one that is null. */
bool ct_transfer_at_once(const struct ct_transfer *t);
/* Starts any as a request of the user's. */
int ct_transfer_start_user(struct ct_transfer *t, const char *call, ctran_request_t *request);

/* ---- buffers of buffered sends, buffer.c ----------------------------------------------------- */

/* The owners of attached buffers that may serve a buffered send in comm: comm, its session, the
 * process. */
void ct_api_buffer_owners(const struct ct_comm *comm, uint64_t owners[CT_BUFFER_OWNERS]);
/* What goes away detaches its buffer; the world's end detaches the process's, too (MPI-4.1
 * sec. 3.6, 11.2.2). These wait until the messages in it have been sent. */
void ct_api_end_comm_buffer(const struct ct_comm *comm);
void ct_api_end_session_buffer(const struct ct_mpi_session *session);
void ct_api_end_world_buffers(struct ct_process *p);

/* ---- requests -------------------------------------------------------------------------------- */

/* A request that is complete from the start, as for CTRAN_PROC_NULL; NULL when out of memory. */
struct ct_request *ct_api_null_request(struct ct_process *p);
/* Makes a started request the user's: it holds comm, and type where it is not NULL, until it is
 * released. */
void ct_api_adopt(struct ct_request *req, struct ct_comm *comm, const struct ct_dtype *type);
/* Lets go of both: the end of a request's release. */
void ct_api_disown(struct ct_comm *comm, const struct ct_dtype *type);
/* A status has the bytes that came in ctran_internal[0] and [1], and in this one: */
enum { CT_STATUS_CANCELLED = 2 };
/* Fills a status that may be CTRAN_STATUS_IGNORE; req NULL: the empty status. */
void ct_api_status(ctran_status_t *status, const struct ct_request *req);
/* Like ct_api_status for one that is done; returns its error. */
int ct_api_outcome(struct ct_request *req, ctran_status_t *status);
/* Releases a generalized request, which alone has a `query`, and returns the error of the program's
 * function that frees it. grequest.c */
int ct_grequest_end(struct ct_request *req);
/* The status of a receive from CTRAN_PROC_NULL. */
void ct_api_null_status(ctran_status_t *status);

#endif
