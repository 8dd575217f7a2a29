/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers: the three constants, which are their own objects and never end, and functions of
 * the program, each for one kind of object. A handler lives as long as the program has a handle to
 * it or an object uses it.
 *
 * They may be made and freed by any thread at any time, before ctran_init and after ctran_finalize
 * too: so one lock guards them all, and the places where objects keep theirs, and their memory goes
 * with the process. None of it is on a hot path. The call of a handler is api's.
 */
#ifndef CT_BASE_ERRHANDLER_H
#define CT_BASE_ERRHANDLER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"
#include "ctran.h"

enum { CT_ERRHANDLER_MAGIC = 0x45727248 };

enum ct_errhandler_kind { CT_ERRHANDLER_COMM, CT_ERRHANDLER_SESSION, CT_ERRHANDLER_WIN };

/* A function of the program's, of the type that its kind has. */
typedef void ct_errhandler_fn(void);

struct ct_errhandler {
    uint32_t                magic;
    uint32_t                refs;    /* uses, and the user's */
    uint32_t                handles; /* of these, the user's */
    enum ct_errhandler_kind kind;
    ct_errhandler_fn       *fn;
};

struct ct_errhandlers {
    pthread_mutex_t lock;
    struct ct_slab  pool; /* memory of freed ones stays readable: a stale handle is told */
};

#define CT_ERRHANDLERS_INIT                                                                        \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Whether it is one of the constants. */
static inline bool ct_errhandler_is_fixed(const struct ct_errhandler *h)
{
    return h == CTRAN_ERRORS_ARE_FATAL || h == CTRAN_ERRORS_ABORT || h == CTRAN_ERRORS_RETURN;
}

/* A handler with one handle of the user's; NULL when out of memory. */
struct ct_errhandler *ct_errhandler_make(struct ct_errhandlers *s, enum ct_errhandler_kind kind,
                                         ct_errhandler_fn *fn);
/* What is behind a handle; NULL for a null one, a freed one (most likely), or what is none. A
 * constant is of any kind. */
struct ct_errhandler *ct_errhandler_of(struct ct_errhandlers *s, ctran_errhandler_t handle);
/* Whether objects of this kind may have it. */
static inline bool ct_errhandler_fits(const struct ct_errhandler *h, enum ct_errhandler_kind kind)
{
    return ct_errhandler_is_fixed(h) || h->kind == kind;
}

/* Gives a reference back; the last one frees. */
void ct_errhandler_drop(struct ct_errhandlers *s, struct ct_errhandler *h);
/* Takes a handle of the user's back. */
void ct_errhandler_release(struct ct_errhandlers *s, struct ct_errhandler *h);

/* An object's handler, which is at `place`: held for the caller, with a handle for the user, or
 * another one. */
struct ct_errhandler *ct_errhandler_hold_at(struct ct_errhandlers       *s,
                                            struct ct_errhandler *const *place);
ctran_errhandler_t    ct_errhandler_give_at(struct ct_errhandlers       *s,
                                            struct ct_errhandler *const *place);
void                  ct_errhandler_set_at(struct ct_errhandlers *s, struct ct_errhandler **place,
                                           struct ct_errhandler *h);

#endif
