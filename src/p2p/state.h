/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of p2p share. */
#ifndef CT_P2P_STATE_H
#define CT_P2P_STATE_H

#include "p2p/match.h"

/* The memory of buffered sends. */
struct ct_p2p_buffer {
    void          *base; /* NULL: none */
    size_t         size_bytes;
    struct ct_list entries; /* messages in it, by address */
};

struct ct_p2p {
    struct ct_match      match;
    struct ct_p2p_buffer buffer;
    struct ct_slab       reqs;   /* struct ct_p2p_req, for ct_p2p_req_get */
    struct ct_p2p_req   *active; /* uthash by id: operations in a rendezvous */
    uint64_t             next_id;
    ct_p2p_member        member;
    struct ct_ep       **lost; /* peers that have failed */
    size_t               nlost;
};

/* The message headers of each type. */
struct ct_wire_eager {
    struct ct_p2p_key key; /* the payload follows */
};
struct ct_wire_rts { /* "I have a message for you" */
    struct ct_p2p_key key;
    uint64_t          len_bytes;
    uint64_t          sender_id;
    uint64_t          addr; /* where it lies in the sender, 0 if in several pieces */
};
struct ct_wire_cts { /* "send me its first want_bytes as CT_EP_DATA" */
    uint64_t sender_id, receiver_id, want_bytes;
};
struct ct_wire_data { /* the payload is the piece at `offset` */
    uint64_t receiver_id, offset;
};
struct ct_wire_fin { /* "I have it" */
    uint64_t sender_id;
};
struct ct_wire_nak { /* "there is no such send any more" */
    uint64_t receiver_id;
};
struct ct_wire_withdraw { /* "forget it, and tell me so": the answer is FIN */
    uint64_t sender_id;
};

/* Completes a request with `error`; a receive reports what it moved. */
void ct_p2p_complete(struct ct_p2p_req *req, int error);

/* Hands req's message over; when it was taken, at once or later, `taken` is called. */
void ct_p2p_post_op(struct ct_p2p_req *req, enum ct_ep_type type, const void *hdr, size_t hdr_len,
                    void (*taken)(struct ct_ep_op *op, int status));

/* The error of a receive of (ep, ctx) whose sender has failed: the one named, or with NULL any that
 * could send in ctx. */
int ct_p2p_sender_lost(const struct ct_process *p, const struct ct_ep *ep, uint64_t ctx);

/* rendezvous.c: the two ends, and their handlers. */
void ct_rndv_send(struct ct_p2p_req *req);
void ct_rndv_recv(struct ct_p2p_req *req, struct ct_ep *from, size_t len_bytes, uint64_t sender_id,
                  uint64_t sender_addr);
void ct_rndv_leave(struct ct_p2p_req *req);
/* Takes an announced send back; it ends with `error` when the receiver has let go of it. */
void ct_rndv_withdraw(struct ct_p2p_req *req, int error);
void ct_rndv_register(struct ct_process *p);

#endif
