/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of ep share of one-sided operations (rma.h). */
#ifndef CT_EP_RMA_OWN_H
#define CT_EP_RMA_OWN_H

#include "ep/region_own.h"
#include "ep/rma.h"

struct ct_ep_rkey {
    struct ct_ep       *ep;
    uint64_t            key, len_bytes;
    uint32_t            access;
    struct ct_net_rkey *net; /* NULL: messages alone reach it */
};

/* Of an endpoint, from the first operation on that has to wait or goes by messages. */
struct ct_ep_rma_queue {
    struct ct_ep  *ep;
    struct ct_list waiting; /* struct ct_ep_rma, in order: not handed over, or not wholly */
    struct ct_list sent;    /* likewise: messages that wait for answers */
    uint32_t       unanswered;
    uint64_t       last_id;

    struct ct_ep_rma *starting;  /* the one that is inside of ct_ep_rma */
    struct ct_ep_op   request;   /* the message of the first that waits, */
    bool              requested; /* while it waits for room */

    /* Of this process as a target. */
    struct ct_list       replies; /* those that wait for the one before */
    uint32_t             nreplies;
    struct ct_ep_op      reply;
    bool                 replying;     /* it waits for room, */
    struct ct_ep_region *reply_region; /* with bytes of this one; NULL: none */
    struct ct_list       reading;      /* among those that have such an answer */
};

/* The queue, made if need be; NULL when out of memory. */
struct ct_ep_rma_queue *ct_ep_rma_queue_get(struct ct_ep *ep) CT_IN_DOMAIN;

/* Ends an operation that is in no list any more. */
void ct_ep_rma_end(struct ct_ep_rma_queue *q, struct ct_ep_rma *op, int status) CT_IN_DOMAIN;
/* Goes on with what waits. Returns how many operations went. */
unsigned ct_ep_rma_pump(struct ct_ep_rma_queue *q) CT_IN_DOMAIN;

/* rma_am.c. Sends the next message of the operation, the first that waits. CTRAN_SUCCESS: it waits
 * no more; CT_AGAIN: it does, for room or answers. */
int  ct_ep_rma_send(struct ct_ep_rma_queue *q, struct ct_ep_rma *op) CT_IN_DOMAIN;
void ct_ep_rma_register(struct ct_process *p);
/* A region is withdrawn: an answer that waits for room does not touch its memory. */
void ct_ep_rma_withdrawn(struct ct_ep_region *region) CT_IN_DOMAIN;
/* Forgets answers to a peer that has failed. */
void ct_ep_rma_drop_replies(struct ct_ep_rma_queue *q) CT_IN_DOMAIN;

/* The peer has failed: its operations end. */
void ct_ep_rma_fail(struct ct_ep *ep) CT_IN_DOMAIN;
/* At the end of all. */
void ct_ep_rma_fini(struct ct_ep *ep) CT_IN_DOMAIN;

/* Whether operations wait. */
static inline bool ct_ep_rma_waits(const struct ct_ep *ep) CT_IN_DOMAIN
{
    return CT_UNLIKELY(ep->rma != NULL) && !ct_list_empty(&ep->rma->waiting);
}

#endif
