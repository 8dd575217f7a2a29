/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions (MPI-4.1 sec. 11.3): with a session, a part of the program uses the library
 * independently of other parts. A session is a handle with an error handler. Objects that are made
 * from a session outlive it. (The launcher's struct ct_session is a job's folder.)
 *
 * Sessions may be opened and closed by any thread at any time; one lock guards their list, none of
 * it is on a hot path, and their memory goes with the process.
 */
#ifndef CT_BASE_SESSION_H
#define CT_BASE_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "ctran.h"

enum { CT_MPI_SESSION_MAGIC = 0x53657373 };

struct ct_mpi_session {
    uint32_t              magic;
    uint64_t              number;     /* from 1 on, and no other session's ever */
    struct ct_errhandler *errhandler; /* held; see base/errhandler.h */
};

struct ct_mpi_sessions {
    pthread_mutex_t lock;
    struct ct_slab  pool; /* memory of closed ones stays readable: a stale handle is told */
    uint64_t        opened;
};

#define CT_MPI_SESSIONS_INIT                                                                       \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Takes the caller's reference to the handler; NULL when out of memory. */
struct ct_mpi_session *ct_mpi_session_open(struct ct_mpi_sessions *s,
                                           struct ct_errhandler   *errhandler);
void ct_mpi_session_close(struct ct_mpi_sessions *s, struct ct_mpi_session *session);

/* The object behind a handle; NULL for a null one, a closed one (most likely), or what is none. */
struct ct_mpi_session *ct_mpi_session_of(struct ct_mpi_sessions *s, ctran_session_t handle);

#endif
