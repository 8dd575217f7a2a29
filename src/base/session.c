/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions as objects. */
#include "base/session.h"

struct ct_mpi_session *ct_mpi_session_open(struct ct_mpi_sessions *s,
                                           struct ct_errhandler   *errhandler)
{
    pthread_mutex_lock(&s->lock);
    if (s->pool.obj_size == 0) {
        ct_slab_init(&s->pool, sizeof(struct ct_mpi_session), 8);
    }
    struct ct_mpi_session *session = ct_slab_get(&s->pool);
    if (session != NULL) {
        *session = (struct ct_mpi_session){
            .magic = CT_MPI_SESSION_MAGIC, .number = ++s->opened, .errhandler = errhandler};
    }
    pthread_mutex_unlock(&s->lock);
    return session;
}

void ct_mpi_session_close(struct ct_mpi_sessions *s, struct ct_mpi_session *session)
{
    pthread_mutex_lock(&s->lock);
    session->magic = 0;
    ct_slab_put(&s->pool, session);
    pthread_mutex_unlock(&s->lock);
}

struct ct_mpi_session *ct_mpi_session_of(struct ct_mpi_sessions *s, ctran_session_t handle)
{
    if ((uintptr_t)handle < 0x1000 || (uintptr_t)handle % _Alignof(struct ct_mpi_session) != 0) {
        return NULL;
    }
    pthread_mutex_lock(&s->lock);
    const bool ok = handle->magic == CT_MPI_SESSION_MAGIC;
    pthread_mutex_unlock(&s->lock);
    return ok ? handle : NULL;
}
