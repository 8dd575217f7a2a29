/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every pending operation has in common, whichever floor it belongs to; embedded first in the
 * floor's own. A user's ctran_request_t points to one.
 */
#ifndef CT_BASE_REQUEST_H
#define CT_BASE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_process;
struct ct_request;

enum { CT_REQUEST_MAGIC = 0x52657173 };

struct ct_request {
    uint32_t magic;     /* CT_REQUEST_MAGIC while it is a user's handle */
    bool     done;      /* the rest of this struct is final */
    bool     orphan;    /* the user let go of it: it releases itself when done */
    bool     cancelled; /* done, and nothing was received */
    int      error;
    /* What a status reports. */
    int32_t source, tag;
    size_t  len_bytes;
    /* Gives a finished request back to its pool. */
    void (*release)(struct ct_process *p, struct ct_request *req);
    /* Starts a persistent request; NULL: it is none. One that is inactive has not been started, or
     * its completion has been told; it is done, too. */
    int (*start)(struct ct_process *p, struct ct_request *req);
    bool inactive;
    /* Asks a request that is not done to end without effect, which it may not heed; NULL: its kind
     * cannot be asked. */
    void (*cancel)(struct ct_request *req);
    /* The error handler of this communicator answers for it (a struct ct_comm); NULL: self's. */
    void *owner;
};

#endif
