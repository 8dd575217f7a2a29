/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One operation whose messages are copied by copy engines: its ends, matched with those of the
 * peers (meet.c), and what is put on the stream for them (exchange.c).
 */
#ifndef CT_STREAM_EXCHANGE_H
#define CT_STREAM_EXCHANGE_H

#include "stream/context.h"
#include "stream/memops.h"

/* The end of a message with another rank. */
struct ct_exchange_end {
    const struct ct_stream_msg *msg;
    bool                        first;  /* this rank came first, or is taken for it */
    bool                        stays;  /* came first, and waits a moment for the other */
    bool                        kernel; /* by kernel: of sends and receives alone; all below but
                                           `bytes` is of copies */
    bool                        direct; /* by a kernel that writes to the receiver's memory: of such
                                           alone; without a token, and the sender is the second */
    uint64_t                    number;
    struct ct_offer             mine;  /* what it has offered */
    size_t                      bytes; /* to be copied, by the second; of the first by kernel */
    struct ct_token            *token;
    /* Where it came second: */
    struct ct_mem_import *import;
    CUdeviceptr           there; /* the peer's memory */
};

/* A message from this rank to itself. */
struct ct_exchange_own {
    CUdeviceptr from, to;
    size_t      bytes;
};

struct ct_exchange {
    struct ct_stream_context    *c;
    const struct ct_stream_call *call;
    CUstream                     stream;
    int                          ordinal; /* the stream's device */
    struct ct_graph             *graph;   /* NULL: eager */
    const uint32_t *finishes; /* operations that are over with it; NULL: captured, or not the last
                                 round */
    int             rc;       /* the first error */
    struct ct_exchange_end *ends;
    size_t                  n;
    struct ct_exchange_own *own;
    size_t                  nown;
    struct ct_mem_export   *exports; /* of each message of the call */
};

/* Whether each message of this rank to itself has both its ends in the call, and they fit; either
 * way that it goes. CTRAN_ERR_RANK, CTRAN_ERR_TAG, CTRAN_ERR_TRUNCATE: logged. */
int ct_exchange_check_own(const struct ct_stream_context *c, const struct ct_stream_call *call);
/* Whether this rank's ends, where they are first, go by kernels: then they have no tokens. */
bool ct_exchange_is_small(const struct ct_exchange *x);
/* Describes the memory of all messages, before any peer learns of a message. An error leaves
 * nothing. */
int ct_exchange_open(struct ct_exchange *x);
/* Matches those of round `round`: up to CT_TOKEN_LANES messages to each peer and from each. Which
 * there are is in x->ends; an error is in x->rc, too. Returns whether there are more. */
bool ct_exchange_meet(struct ct_exchange *x, unsigned round);
void ct_exchange_submit(struct ct_exchange *x);
void ct_exchange_close(struct ct_exchange *x);

/* ---- what exchange.c and chain.c share, copy.c ----------------------------------------------- */

/* ---- what exchange.c and chain.c share, copy.c ----------------------------------------------- */
void        ct_exchange_check(struct ct_exchange *x, CUresult r, const char *call);
CUdeviceptr ct_exchange_address(const struct ct_exchange *x, const _Atomic uint32_t *word);
void        ct_exchange_flush(struct ct_exchange *x, struct ct_memops *m);
/* By the second to come: bytes of the message from `at` on, no more than it has. */
void ct_exchange_copy(struct ct_exchange *x, const struct ct_exchange_end *e, size_t at,
                      size_t bytes, CUstream stream);

#endif
