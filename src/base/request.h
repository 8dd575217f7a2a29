/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every pending operation has in common, whichever floor it belongs to; embedded first in the
 * floor's own. A user's ctran_request_t points to one.
 */
#ifndef CT_BASE_REQUEST_H
#define CT_BASE_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_process;
struct ct_request;
struct ctran_status;
struct ct_waiter;

enum { CT_REQUEST_MAGIC = 0x52657173 };

struct ct_request {
    uint32_t magic; /* CT_REQUEST_MAGIC while it is a user's handle */
    /* All other fields are final once set: by ct_request_complete, or by the maker of a request
     * that is done from the start. */
    _Atomic bool done;
    bool         orphan;    /* the user let go of it: it releases itself when done */
    bool         cancelled; /* done, and nothing was received */
    bool         inactive;  /* see start */
    int          error;
    /* What a status reports. */
    int32_t source, tag;
    size_t  len_bytes;
    /* The waiter that the completion wakes, under the domain's lock; NULL: none. */
    struct ct_waiter *waiter;
    /* Gives a finished request back to its pool. */
    void (*release)(struct ct_process *p, struct ct_request *req);
    /* Starts a persistent request; NULL: it is none. One that is inactive has not been started, or
     * its completion has been told; it is done, too. */
    int (*start)(struct ct_process *p, struct ct_request *req);
    /* Asks a request to end without effect, which it may not heed, as where it is done; NULL: its
     * kind cannot be asked. */
    int (*cancel)(struct ct_request *req);
    /* Fills a status that is empty, and returns the operation's error; NULL: what is above says
     * both. Called without a lock. */
    int (*query)(struct ct_request *req, struct ctran_status *status);
    /* The error handler of this communicator answers for it (a struct ct_comm); NULL: self's. */
    void *owner;
    /* The datatype of the memory (a struct ct_dtype), held while the request is pending; NULL: no
     * datatype is held. */
    const void *type;
};

/* Whether it is done: if so, what it says may be read. */
static inline bool ct_request_is_done(const struct ct_request *req)
{
    return atomic_load_explicit(&req->done, memory_order_acquire);
}

/* By its owner alone, before it starts or where there is nothing to do. */
static inline void ct_request_set_done(struct ct_request *req, bool done)
{
    atomic_store_explicit(&req->done, done, memory_order_relaxed);
}

#endif
