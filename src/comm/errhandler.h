/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: the three constants, which are their own objects and never end, and functions of
 * the program. A handler lives as long as the program has a handle to it or an object uses it. Used
 * by communicators and the public calls; the call of a handler is api's.
 */
#ifndef CT_COMM_ERRHANDLER_H
#define CT_COMM_ERRHANDLER_H

#include "base/base.h"

enum { CT_ERRHANDLER_MAGIC = 0x45727248 };

extern struct ct_guard ct_comms_guard; /* comms.h */
struct ct_comm;

struct ct_errhandler {
    uint32_t                        magic;
    uint32_t refs                   CT_GUARDED_BY(ct_comms_guard); /* uses, and the user's */
    uint32_t handles                CT_GUARDED_BY(ct_comms_guard); /* of these, the user's */
    struct ct_process              *p;
    ctran_comm_errhandler_function *fn;
    struct ct_list node             CT_GUARDED_BY(ct_comms_guard); /* among the process's */
};

/* Whether it is one of the constants. */
static inline bool ct_errhandler_is_fixed(const struct ct_errhandler *h)
{
    return h == CTRAN_ERRORS_ARE_FATAL || h == CTRAN_ERRORS_ABORT || h == CTRAN_ERRORS_RETURN;
}

/* A handler with one handle of the user's; NULL when out of memory. */
struct ct_errhandler *ct_errhandler_make(struct ct_process *p, ctran_comm_errhandler_function *fn);
/* What is behind a handle; NULL for a null one, a freed one (most likely), or what is none. */
struct ct_errhandler *ct_errhandler_of(struct ct_process *p, ctran_errhandler_t handle);

/* Gives a reference back; the last one frees. */
void ct_errhandler_drop(struct ct_process *p, struct ct_errhandler *h);
/* Takes a handle of the user's back. */
void ct_errhandler_release(struct ct_process *p, struct ct_errhandler *h);

/* A communicator's handler: held for the caller, with a handle for the user, or another one. */
struct ct_errhandler *ct_comm_errhandler_hold(struct ct_comm *comm);
ctran_errhandler_t    ct_comm_errhandler_give(struct ct_comm *comm);
void                  ct_comm_errhandler_set(struct ct_comm *comm, struct ct_errhandler *h);

#endif
